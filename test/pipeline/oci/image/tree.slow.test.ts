import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Zstd } from '@hpcc-js/wasm-zstd';
import { packTar, type TarHeader } from 'modern-tar';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ImageTree, readTree, type TreeLimits } from '../../../../pipeline/oci/image/tree.ts';
import { headerOf, TAR_END } from '../../../../pipeline/oci/registry/archive/tar.ts';

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'portolan-tree-'));
});
afterEach(() => {
  expect(readdirSync(scratch)).toEqual([]);
  rmSync(scratch, { recursive: true });
});

type Item = string | (Partial<TarHeader> & { readonly name: string; readonly body?: string });

function tar(...items: readonly Item[]): Promise<Uint8Array> {
  return packTar(
    items.map((item) => {
      const { body = '', ...header } = typeof item === 'string' ? { name: item, body: item } : item;
      return { header: { type: 'file' as const, size: body.length, mode: 0o644, ...header }, body };
    }),
  );
}

/** An archive of one empty file whose name is in Latin-1. */
function latin1(name: string): Uint8Array {
  const header = headerOf('', 0);
  header.write(name, 0, 'latin1');
  header.write(' '.repeat(8), 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(sum.toString(8).padStart(7, '0'), 148);
  return Buffer.concat([header, TAR_END]);
}

async function* inPieces(
  bytes: Uint8Array,
  size = Math.max(100, Math.ceil(bytes.length / 20)),
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(layers: readonly Uint8Array[], limits?: TreeLimits): Promise<Record<string, string>> {
  const options = {
    scratch,
    wanted: (path: string) => !path.startsWith('unwanted'),
    ...(limits ? { limits } : {}),
  };
  const tree = await readTree(
    layers.map((layer) => inPieces(layer)),
    options,
  );
  const found = Object.fromEntries(
    [...tree.entries].map(([path, entry]) => [path, textOf(tree, path, entry)]),
  );
  tree.close();
  return found;
}

function textOf(
  tree: ImageTree,
  path: string,
  entry: NonNullable<ReturnType<ImageTree['entries']['get']>>,
): string {
  if (entry.kind === 'link') return `-> ${entry.target}`;
  return entry.kind === 'directory' ? `${path}/` : Buffer.from(tree.read(entry)).toString();
}

describe('stacking layers', () => {
  test('later layers win; names are written in many ways', async () => {
    const lower = await tar(
      { name: './configs/', type: 'directory' },
      { name: '/configs/a', body: 'old' },
      'b',
    );
    const upper = await tar({ name: 'configs//a', body: 'new' }, 'unwanted/c');
    expect(await read([lower, upper])).toEqual({ configs: 'configs/', 'configs/a': 'new', b: 'b' });
  });

  test('whiteouts take away what is below, and nothing of their own layer', async () => {
    const lower = await tar('configs/a', 'configs/sub/b', 'configs/sub/c', 'opaque/d', 'kept');
    const upper = await tar('configs/.wh.a', 'opaque/e', 'opaque/.wh..wh..opq', 'configs/.wh.sub');
    expect(await read([lower, upper])).toEqual({ kept: 'kept', 'opaque/e': 'opaque/e' });
  });

  test('a file in place of a folder takes away what was in it', async () => {
    const layers = [await tar('a/b/c', 'a/d', 'ab'), await tar({ name: 'a', body: 'file' })];
    expect(await read(layers)).toEqual({ a: 'file', ab: 'ab' });
  });

  test('hard links share content, symbolic links stay links', async () => {
    const layer = await tar(
      'a',
      { name: 'b', type: 'link', linkname: 'a' },
      { name: 'c', type: 'symlink', linkname: '/etc' },
    );
    expect(await read([layer])).toEqual({ a: 'a', b: 'a', c: '-> /etc' });
  });

  test('gzip, zstd in several frames, and no compression at all', async () => {
    const library = await Zstd.load();
    const [one, two, three] = await Promise.all([tar('one'), tar('two'), tar('three')]);
    const frames = [three.subarray(0, 300), three.subarray(300)].map((part) => library.compress(part));
    expect(await read([one, gzipSync(two), Buffer.concat(frames)])).toEqual({
      one: 'one',
      two: 'two',
      three: 'three',
    });
  });

  test('long names', async () => {
    const name = `${'d'.repeat(120)}/${'f'.repeat(150)}`;
    expect(await read([await tar({ name, body: 'x' })])).toEqual({ [name]: 'x' });
  });
});

describe('hostile layers', () => {
  const original = { name: 'unwanted/x', body: 'evil' };

  test('43: what takes the place of a file is never hidden by it', async () => {
    const lower = await tar('m/csv', 'm/crd', 'kept');
    const instead = (item: Partial<TarHeader>) => tar(original, { name: 'm', ...item });
    for (const item of [{ type: 'symlink', linkname: 'unwanted' }, { type: 'fifo' }] as const) {
      const found = await read([lower, await instead(item)]);
      expect(Object.keys(found).filter((path) => path.startsWith('m/'))).toEqual([]);
    }
    const within = await tar('m/csv', { name: 'm', type: 'symlink', linkname: 'unwanted' });
    expect(await read([within])).toEqual({ m: '-> unwanted' });
    const folder = await tar({ name: 'm', type: 'directory' }, 'm/other');
    expect(await read([lower, await instead({ type: 'symlink', linkname: 'unwanted' }), folder])).toEqual({
      kept: 'kept',
      m: 'm/',
      'm/other': 'm/other',
    });
  });

  test('43: a hard link to a file that is not read is no file that stays as it was', async () => {
    const link = { name: 'm/csv', type: 'link', linkname: original.name } as const;
    for (const layers of [[['m/csv', original, link]], [['m/csv'], [original, link]], [[link]]] as const) {
      const archives = await Promise.all(layers.map((items) => tar(...items)));
      await expect(read(archives)).rejects.toMatchObject({
        code: 'corrupt',
        message: '"m/csv" is a hard link to "unwanted/x", whose content Portolan does not read',
      });
    }
  });

  test('43: nothing is put behind a link: what else is there is not known', async () => {
    const link = await tar(original, { name: 'unwanted-m', type: 'symlink', linkname: 'unwanted' });
    const wanted = (path: string): boolean => path.startsWith('unwanted-m/');
    const layers = [link, await tar('unwanted-m/csv')].map((layer) => inPieces(layer));
    await expect(readTree(layers, { scratch, wanted })).rejects.toMatchObject({
      code: 'corrupt',
      message: 'the layers put "unwanted-m/csv" behind the symbolic link "unwanted-m"',
    });
  });

  test('180: nothing is put below a file: nodes and opm do not unpack that', async () => {
    const [file, below] = [await tar({ name: 'm', body: 'm' }), await tar('m/csv')];
    for (const layers of [[file, below], [await tar({ name: 'm', body: 'm' }, 'm/csv')]]) {
      await expect(read(layers)).rejects.toMatchObject({
        code: 'corrupt',
        message: 'the layers put "m/csv" below the file "m"',
      });
    }
    const folder = await tar({ name: 'm', type: 'directory' }, 'm/csv');
    expect(await read([file, folder])).toEqual({ m: 'm/', 'm/csv': 'm/csv' });
  });

  test('180: a wanted name that is not UTF-8 is refused: opm does not read it', async () => {
    expect(await read([latin1('unwanted\xe9')])).toEqual({});
    await expect(read([latin1('m/\xe9')])).rejects.toMatchObject({
      code: 'corrupt',
      message: 'a layer has "m/\uFFFD", a name that is not valid UTF-8',
    });
  });

  test.each(['../etc/passwd', 'configs/../../x'])('a path that leads out: %s', async (name) => {
    await expect(read([await tar({ name, body: 'x' })])).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('a name that JavaScript knows is a name like any other', async () => {
    const found = await read([await tar('__proto__', 'constructor')]);
    expect(Object.getOwnPropertyNames(found)).toEqual(['__proto__', 'constructor']);
  });

  test('very many whiteouts of very many files cost no more than both together', async () => {
    const files = Array.from({ length: 1000 }, (_, i) => ({ name: `d/${i}`, body: '' }));
    const whiteouts = Array.from({ length: 1000 }, () => ({ name: 'd/.wh..wh..opq', body: '' }));
    expect(Object.keys(await read([await tar(...files), await tar(...files, ...whiteouts)]))).toHaveLength(
      1000,
    );
  });

  test('more than the limit, decompressed', async () => {
    const bomb = gzipSync(await tar({ name: 'zeros', body: '\0'.repeat(1 << 20) }));
    expect(bomb.length).toBeLessThan(4000);
    const whole = { bytes: 2 ** 21, layerBytes: 2 ** 21, fileBytes: 2 ** 21, entries: 10 };
    expect(Object.keys(await read([bomb], whole))).toEqual(['zeros']);
    const message = (text: string) => ({ code: 'too-large', message: expect.stringContaining(text) });
    const reading = (limits: Partial<TreeLimits>) => expect(read([bomb, bomb], { ...whole, ...limits }));
    await reading({ bytes: 2 ** 20 }).rejects.toMatchObject(message('the limit per image is 1 MiB'));
    await reading({ layerBytes: 2 ** 20 }).rejects.toMatchObject(message('the limit per layer is 1 MiB'));
    await reading({ fileBytes: 1000 }).rejects.toMatchObject(
      message('"zeros" is larger (1 MiB) than Portolan reads: the limit per file is 1000 bytes'),
    );
    const many = await tar(...Array.from({ length: 11 }, (_, i) => `file-${i}`));
    await expect(read([many], whole)).rejects.toMatchObject(message('the limit per image is 10 files'));
  });

  test('a file that nobody wants may be larger than a wanted one', async () => {
    const limits = { bytes: 2 ** 21, layerBytes: 2 ** 21, fileBytes: 1000, entries: 10 };
    const layer = await tar({ name: 'unwanted', body: '\0'.repeat(10_000) }, 'a');
    expect(await read([layer], limits)).toEqual({ a: 'a' });
  });

  test.each([
    ['gzip that breaks off', (bytes: Uint8Array) => gzipSync(bytes).subarray(0, 60)],
    [
      'gzip that is damaged',
      (bytes: Uint8Array) => Buffer.concat([gzipSync(bytes).subarray(0, 40), Buffer.alloc(60, 7)]),
    ],
    ['an archive that breaks off', (bytes: Uint8Array) => bytes.subarray(0, 600)],
    ['no archive', () => Buffer.from('hello '.repeat(200))],
    ['zstd that is damaged', () => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3, 4, 5, 6, 7, 8])],
  ])('%s', async (_, damage) => {
    const layer = await tar({ name: 'a', body: 'x'.repeat(2000) });
    await expect(read([damage(layer)])).rejects.toMatchObject({ code: 'corrupt' });
  });
});

test('a long file that nobody wants, between wanted ones of the same piece, does not stop the reading', async () => {
  // Sizes of the first files of a real chart, ingress-nginx 4.12.1.
  const sizes = [646, 48_937, 3_260, 9_052, 3_537, 2_561, 913, 1_079, 3_000, 2_500, 20_000, 700];
  const items = sizes.map((size, i) => ({
    name: i === 1 || i === 2 ? `unwanted-${i}` : `wanted-${i}`,
    body: String(i % 10).repeat(size),
  }));
  const layer = gzipSync(await tar(...items));
  for (const size of [100, 16_384, layer.length]) {
    const wanted = (path: string): boolean => !path.startsWith('unwanted');
    const tree = await readTree([inPieces(layer, size)], { scratch, wanted });
    expect([...tree.entries.keys()]).toEqual(items.map(({ name }) => name).filter(wanted));
    tree.close();
  }
});

test('77: a few bytes of a layer are no large file, and many are', async () => {
  const archive = await tar({ name: 'configs/a.yaml', body: `#${' '.repeat(65 * 2 ** 20)}` });
  // Not the text itself: a failure would print it.
  const lengths = async (layer: Uint8Array): Promise<number[]> =>
    Object.values(await read([layer])).map(({ length }) => length);
  await expect(lengths(gzipSync(archive, { level: 1 }))).rejects.toThrow(
    '"configs/a.yaml" is larger than Portolan reads: the limit per file is 64 MiB, or 100 times the compressed layer',
  );
  expect(await lengths(archive)).toEqual([65 * 2 ** 20 + 1]);
  const other = await tar({ name: 'unwanted/a', body: ' '.repeat(65 * 2 ** 20) }, 'b');
  expect(await read([gzipSync(other, { level: 1 })])).toEqual({ b: 'b' });
});
