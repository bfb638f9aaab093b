import { expect, test } from 'vitest';
import { allOf, readingOf } from '../../../../pipeline/oci/registry/stream.ts';

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

test('a source that failed is opened again where it stopped', async () => {
  let opened = 0;
  const reading = readingOf({
    async *open(from) {
      opened++;
      yield Buffer.from('ab'.slice(from));
      if (opened === 1) throw new Error('the disk is gone');
      yield Buffer.from('cd');
    },
  });
  const first: string[] = [];
  const read = async (): Promise<void> => {
    for await (const piece of reading.open(0)) first.push(String(piece));
  };
  await expect(read()).rejects.toThrow('the disk is gone');
  expect(first).toEqual(['ab']);
  expect(String(await allOf(reading.open(0)))).toBe('abcd');
  expect(opened).toBe(2);
});
