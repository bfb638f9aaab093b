import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fragmentOf, sharedIn } from '../../playground/share.ts';
import { runs } from '../fakes/runs.ts';

test('a link brings back what it was made of', async () => {
  const texts = fc.dictionary(fc.string(), fc.string({ unit: 'binary' }));
  await fc.assert(
    fc.asyncProperty(
      fc.string(),
      texts,
      fc.option(texts, { nil: undefined }),
      async (name, files, before) => {
        const shared = JSON.parse(JSON.stringify({ name, files, ...(before ? { before } : {}) }));
        const fragment = await fragmentOf(shared);
        expect(fragment).toMatch(/^#share=[\w-]*$/);
        expect(await sharedIn(fragment)).toEqual(shared);
      },
    ),
    runs(100),
  );
});

test.each(['', '#', '#anything', '#share'])('%j holds nothing', async (fragment) => {
  expect(await sharedIn(fragment)).toBeUndefined();
});

const packed = (text: string | Buffer): string => `#share=${deflateRawSync(text).toString('base64url')}`;

test.each([
  ['cut', packed(JSON.stringify({ name: 'a', files: { a: 'b'.repeat(50) } })).slice(0, -4)],
  ['no base64', '#share=%%%'],
  ['not JSON', packed('{')],
  ['a number for a text', packed('{"name":"a","files":{"a":1}}')],
  ['a list of files', packed('{"name":"a","files":["a"]}')],
  ['40 MiB of zeros', packed(Buffer.alloc(40 * 1024 * 1024))],
])('a link that is damaged is refused: %s', async (_, fragment) => {
  await expect(sharedIn(fragment)).rejects.toThrow('the link is damaged');
});
