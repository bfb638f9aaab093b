import { expect, test } from 'vitest';
import { allOf } from '../../../../pipeline/oci/registry/stream.ts';

test('a stream beyond its limit is not read to its end', async () => {
  let pieces = 0;
  const endless = async function* () {
    for (;;) {
      pieces++;
      yield Buffer.alloc(10);
    }
  };
  await expect(allOf(endless(), { most: 25, what: 'the manifest' })).rejects.toMatchObject({
    code: 'too-large',
    message: 'the manifest has more than 25 bytes',
  });
  expect(pieces).toBe(3);
});
