import { expect, test } from 'vitest';
import { checkedBytes, digestOf } from '../../../pipeline/oci/digest.ts';

test('the last bytes are held back until all are checked, also before an empty piece', async () => {
  const wanted = { digest: digestOf(Buffer.from('hello')), size: 5 };
  const source = async function* (): AsyncGenerator<Uint8Array> {
    for (const piece of ['hell', '0', '']) yield Buffer.from(piece);
  };
  const passed: string[] = [];
  const read = async (): Promise<void> => {
    for await (const piece of checkedBytes(source(), wanted, 'the blob')) passed.push(String(piece));
  };
  await expect(read()).rejects.toMatchObject({ code: 'corrupt' });
  expect(passed).toEqual(['hell']);
});
