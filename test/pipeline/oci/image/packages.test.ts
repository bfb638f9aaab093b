/** Which files of a catalog are read, and which are asked for ahead. */
import { expect, test } from 'vitest';
import type { CatalogSource, SourceFile } from '../../../../catalog/source.ts';
import { openBuildCache } from '../../../../pipeline/oci/image/build-cache.ts';
import { readContents } from '../../../../pipeline/oci/image/packages.ts';

const COUNT = 150;
const name = (i: number): string => `p${String(i).padStart(3, '0')}`;

test('files of which nothing is remembered are brought some at a time, before they are read, and no others', async () => {
  const brought: string[][] = [];
  const files: SourceFile[] = Array.from({ length: COUNT }, (_, i) => ({
    path: `${name(i)}/catalog.json`,
    identity: `blob ${i}`,
    read: () => {
      expect(brought.flat()).toContain(name(i));
      return new TextEncoder().encode(JSON.stringify({ schema: 'olm.package', name: name(i) }));
    },
  }));
  const link: SourceFile = {
    path: 'a-link',
    identity: 'link',
    unreadable: 'a symbolic link',
    read: () => new Uint8Array(),
  };
  const source: CatalogSource = {
    files: async () => [link, ...files],
    bring: async (some) => void brought.push(some.map(({ path }) => path.split('/')[0] ?? '')),
  };
  const memory = openBuildCache(undefined);
  const known = [3, 70, 149].map((i) => name(i));
  for (const [i, { identity = '' }] of files.entries())
    if (known.includes(name(i))) memory.files.set(identity, { packages: [name(i)] });
  const { contents } = await readContents(source, memory.files, false);
  expect(contents.packages).toHaveLength(COUNT);
  expect(brought.map((some) => some.length)).toEqual([64, 64, COUNT - 3 - 128]);
  const all = files.map((_, i) => name(i)).filter((one) => !known.includes(one));
  expect(brought.flat()).toEqual(all);
  brought.length = 0;
  await readContents(source, memory.files, false);
  expect(brought).toEqual([]);
});

test('each of several files with the same errors is reported', async () => {
  const broken = ['a', 'b'].map(
    (folder): SourceFile => ({
      path: `${folder}/catalog.yaml`,
      identity: 'the same',
      read: () => new TextEncoder().encode('schema: [\n'),
    }),
  );
  const { findings } = await readContents(
    { files: async () => broken },
    openBuildCache(undefined).files,
    false,
  );
  expect(findings.map(({ location }) => location.file)).toEqual(['a/catalog.yaml', 'b/catalog.yaml']);
});
