import { expect, test } from 'vitest';
import { loadZstd } from '../../../../pipeline/oci/image/zstd-frames.ts';

test('results are copied at once, and stay as they are when the library is used again', async () => {
  const library = await loadZstd();
  // Another version of the library may keep this elsewhere: results would be right, and slow.
  expect((library as unknown as { _mainModule: object })._mainModule).toHaveProperty('heapView');
  const texts = ['one '.repeat(1000), 'two '.repeat(1000)].map((text) => Buffer.from(text));
  const compressed = texts.map((text) => library.compress(text, 6));
  expect(compressed.map((bytes) => Buffer.from(library.decompress(bytes)).toString())).toEqual(
    texts.map(String),
  );
  expect(compressed[0]?.byteOffset).toBe(0);
  expect(compressed[0]?.buffer.byteLength).toBe(compressed[0]?.length);
});
