import { packTar, type TarHeader } from 'modern-tar';
import { expect, test } from 'vitest';
import { treeSource, unpackBundle } from '../../../../pipeline/catalogs/render/image.ts';
import { readTree } from '../../../../pipeline/oci/image/tree.ts';
import { folder } from '../../../fakes/folder.ts';

const MIB = 2 ** 20;

async function* layerOf(items: readonly { header: TarHeader; body?: string }[]): AsyncGenerator<Uint8Array> {
  yield await packTar([...items]);
}

function file(name: string, size: number): { header: TarHeader; body: string } {
  return { header: { name, size, type: 'file' }, body: '#'.repeat(size) };
}

function link(name: string, type: 'link' | 'symlink', linkname: string): { header: TarHeader } {
  return { header: { name, type, linkname, size: 0 } };
}

test('80: many links to one file count as many files', async () => {
  for (const type of ['link', 'symlink'] as const) {
    const links = Array.from({ length: 9 }, (_, i) =>
      link(`configs/${i}.yaml`, type, type === 'link' ? 'configs/a.yaml' : 'a.yaml'),
    );
    const tree = await readTree([layerOf([file('configs/a.yaml', MIB), ...links])], {
      scratch: folder(),
      wanted: () => true,
    });
    expect(await treeSource(tree, 'configs', 10 * MIB).files()).toHaveLength(10);
    expect(() => treeSource(tree, 'configs', 9 * MIB)).toThrow('the limit is 9 MiB together');
    tree.close();
  }
});

test('80: a manifest of a bundle has at most 8 MiB, and all of them 32 MiB', async () => {
  const read = (...sizes: readonly number[]): Promise<number> => {
    const layer = layerOf([
      file('other', 20 * MIB),
      ...sizes.map((size, i) => file(`manifests/${i}.yaml`, size)),
    ]);
    return unpackBundle(
      {
        size: 1,
        unpack: async (wanted, use, { limits } = {}) => {
          const tree = await readTree([layer], { scratch: folder(), wanted, ...(limits ? { limits } : {}) });
          try {
            return await use(tree);
          } finally {
            tree.close();
          }
        },
      },
      async (source) => (await source.files()).length,
    );
  };
  expect(await read(8 * MIB, 8 * MIB, 8 * MIB, 8 * MIB)).toBe(4);
  await expect(read(8 * MIB + 1)).rejects.toMatchObject({ code: 'too-large' });
  await expect(read(8 * MIB, 8 * MIB, 8 * MIB, 8 * MIB, 1)).rejects.toMatchObject({ code: 'too-large' });
});

test('a link to a file outside of the catalog is refused, as docs/opm.md says: opm reads that file', async () => {
  const tree = (type: 'link' | 'symlink', target: string) =>
    readTree([layerOf([file('other/a.yaml', 1), link('configs/a.yaml', type, target)])], {
      scratch: folder(),
      wanted: (path) => path.startsWith('configs/'),
    });
  await expect(tree('link', 'other/a.yaml')).rejects.toMatchObject({ code: 'corrupt' });
  const found = await tree('symlink', '../other/a.yaml');
  const [one] = await treeSource(found, 'configs', MIB).files();
  expect(one?.unreadable).toBe('a link to "../other/a.yaml", which is not a file of the image');
  found.close();
});
