import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  DIRECTORY_MODE,
  FILE_MODE,
  type PlacedStretch,
  sealDigest,
  sealedParts,
  sizeOf,
  type Tree,
  type TreePart,
} from '../../../../catalog/fbc/cache/layout.ts';
import { cacheDigest, type TreeEntry } from '../../../fakes/cache-digest.ts';
import { runs } from '../../../fakes/runs.ts';

/** Seals parts and gives back the parts and the stretch that they make. */
function sealed(tree: Tree, parts: readonly TreePart[]): { parts: TreePart[]; placed: PlacedStretch } {
  const run = sealedParts(tree, parts);
  const written: TreePart[] = [];
  for (;;) {
    const { done, value } = run.next();
    if (done) return { parts: written, placed: { path: parts[0]?.path ?? '', stretch: value } };
    written.push(value);
  }
}

function entry({ path, kind, pieces }: TreePart): TreeEntry {
  const mode = kind === 'file' ? FILE_MODE : DIRECTORY_MODE;
  return { path, kind, mode, size: sizeOf(pieces), content: () => pieces };
}

const ROOT: TreeEntry = { path: '.', kind: 'directory', mode: DIRECTORY_MODE, size: 0 };
const names = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/), { maxLength: 6 });
const content = fc.array(fc.uint8Array({ maxLength: 700 }), { maxLength: 3 });

test('the digest put together from stretches is the one over all bytes', async () => {
  const catalogs = fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/), content, { maxKeys: 6 });
  await fc.assert(
    fc.asyncProperty(catalogs, catalogs, async (configs, cache) => {
      const folders = Object.entries(configs).map(([name, pieces]) =>
        sealed('configs', [
          { path: name, kind: 'directory', pieces: [] },
          { path: `${name}/catalog.json`, kind: 'file', pieces },
        ]),
      );
      const files = Object.entries(cache).map(([name, pieces]) =>
        sealed('cache', [
          { path: `${name}_a.json`, kind: 'file', pieces },
          { path: `${name}_b.json`, kind: 'file', pieces },
        ]),
      );
      const digest = sealDigest(
        folders.map(({ placed }) => placed),
        files.map(({ placed }) => placed),
      );
      expect(digest).toBe(
        await cacheDigest(
          [ROOT, ...folders.flatMap(({ parts }) => parts.map(entry))],
          [ROOT, ...files.flatMap(({ parts }) => parts.map(entry))],
        ),
      );
    }),
    runs(60),
  );
});

test('only a line of blanks is added, and only to the last file', () => {
  fc.assert(
    fc.property(names, content, (paths, pieces) => {
      fc.pre(paths.length > 0);
      const parts = paths.map((path): TreePart => ({ path, kind: 'file', pieces }));
      const written = sealed('cache', parts).parts;
      expect(written.slice(0, -1)).toEqual(parts.slice(0, -1));
      const [last, line] = [written.at(-1), written.at(-1)?.pieces.at(-1)];
      expect(last?.pieces.slice(0, -1)).toEqual(pieces);
      expect(Buffer.from(line ?? []).toString()).toMatch(/^[ \t]{12}\n$/);
    }),
  );
});

test('a package is sealed alike wherever it stands', () => {
  const part: TreePart = { path: 'etcd.json', kind: 'file', pieces: [Buffer.from('{}')] };
  expect(sealed('cache', [part])).toEqual(sealed('cache', [part]));
  expect(() => sealed('cache', [{ ...part, kind: 'directory' }])).toThrow(/no line can be added/);
});
