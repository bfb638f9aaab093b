import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { load } from '../../../../catalog/fbc/load.ts';
import { renderJson, renderOrder } from '../../../../catalog/fbc/render.ts';
import { type CatalogSource, sourceOf } from '../../../../catalog/source.ts';
import { PipelineError } from '../../../../pipeline/error.ts';
import { readBase } from '../../../../pipeline/oci/image/base.ts';
import {
  BUILD_DEFAULTS,
  type BuildOptions,
  type BuiltCatalog,
  buildCatalogImage,
} from '../../../../pipeline/oci/image/build.ts';
import type { Store } from '../../../../pipeline/oci/image/build-cache.ts';
import { decompressed } from '../../../../pipeline/oci/image/decompress.ts';
import type { CatalogImage } from '../../../../pipeline/oci/image/image.ts';
import { endPiece, openPiece, readExtents, scratchFile } from '../../../../pipeline/oci/image/layer-piece.ts';
import { readTree } from '../../../../pipeline/oci/image/tree.ts';
import { tarEntries } from '../../../../pipeline/oci/tar-stream.ts';
import type { BlobSource } from '../../../../pipeline/ports.ts';
import { fakeBase, reader } from '../../../fakes/base-image.ts';
import { verifyCache } from '../../../fakes/verify-cache.ts';

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'portolan-build-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

function packageText(name: string, versions: readonly string[]): string {
  const entries = versions.map((version, i) => {
    const replaces = i === 0 ? '' : `, replaces: ${name}.v${versions[i - 1]}`;
    return `{name: ${name}.v${version}${replaces}}`;
  });
  const bundles = versions.map(
    (version) => `schema: olm.bundle
package: ${name}
name: ${name}.v${version}
image: quay.io/example/${name}:v${version}
unknown: kept in the image
properties:
- {type: olm.package, value: {packageName: ${name}, version: ${version}}}
- {type: olm.csv.metadata, value: {displayName: "<${name}>"}}
`,
  );
  return [
    `schema: olm.package\nname: ${name}\ndefaultChannel: stable\n`,
    `schema: olm.channel\npackage: ${name}\nname: stable\nentries: [${entries.join(', ')}]\n`,
    ...bundles,
  ].join('---\n');
}

const CATALOG = {
  'etcd/catalog.yaml': packageText('etcd', ['1.0.0', '1.1.0']),
  // The folder is not called like its package.
  'other/catalog.yaml': packageText('prometheus', ['2.0.0']),
  'extra.yaml': 'schema: custom.root\nvalue: 1\n---\nschema: custom.x\npackage: etcd\nvalue: 2\n',
};

async function build(
  files: Readonly<Record<string, string>> | CatalogSource,
  options: Partial<BuildOptions> & { readonly base?: 'oci' | 'docker' } = {},
): Promise<BuiltCatalog> {
  const fake = options.base && fakeBase(options.base);
  const base = fake && (await readBase(fake.list, reader(fake)));
  const source =
    'files' in files && typeof files.files === 'function'
      ? (files as CatalogSource)
      : sourceOf(files as Record<string, string>);
  const { findings, built } = await buildCatalogImage(source, base, {
    ...BUILD_DEFAULTS,
    scratch,
    ...options,
  });
  expect(findings).toEqual([]);
  if (!built) throw new Error('nothing was built');
  return built;
}

function memoryStore(): Store {
  const kept = new Map<string, Uint8Array>();
  return { get: async (key) => kept.get(key), put: async (key, bytes) => void kept.set(key, bytes) };
}

/** Our layers of an image, as compressed bytes. */
function layersOf(image: CatalogImage): AsyncIterable<Uint8Array>[] {
  const manifest = JSON.parse(Buffer.from(image.manifests[0]?.bytes ?? []).toString()) as {
    layers: { digest: string }[];
  };
  return manifest.layers.flatMap(
    ({ digest }) => image.blobs.find((blob) => blob.digest === digest)?.open(0) ?? [],
  );
}

async function filesOf(image: CatalogImage): Promise<Map<string, string>> {
  const tree = await readTree(layersOf(image), { scratch, wanted: () => true });
  const files = [...tree.entries].filter(([, { kind }]) => kind === 'file');
  const texts = new Map(files.map(([path, entry]) => [path, Buffer.from(tree.read(entry)).toString()]));
  tree.close();
  return texts;
}

const digests = (image: CatalogImage): string[] => image.blobs.map(({ digest }) => digest);

describe('what is in the image', () => {
  test('FBC by package, and opm’s cache', async () => {
    const { image } = await build(CATALOG);
    expect([...(await filesOf(image)).keys()].sort()).toEqual([
      'configs/catalog.json',
      'configs/etcd/catalog.json',
      'configs/prometheus/catalog.json',
      'tmp/cache/cache/etcd_stable_etcd.v1.0.0.json',
      'tmp/cache/cache/etcd_stable_etcd.v1.1.0.json',
      expect.stringMatching(/^tmp\/cache\/cache\/metas\/custom.root\/[0-9a-f]+.json$/),
      expect.stringMatching(/^tmp\/cache\/cache\/metas\/custom.x\/etcd\/[0-9a-f]+.json$/),
      'tmp/cache/cache/packages.json',
      'tmp/cache/cache/prometheus_stable_prometheus.v2.0.0.json',
      'tmp/cache/digest',
    ]);
  });

  test('renders as the source renders, and keeps what rendering drops', async () => {
    const { image } = await build(CATALOG);
    const files = [...(await filesOf(image))].filter(([path]) => path.startsWith('configs/'));
    const render = async (source: CatalogSource): Promise<string> =>
      renderOrder((await load(source)).blobs)
        .map(renderJson)
        .join('');
    expect(await render(sourceOf(Object.fromEntries(files)))).toBe(await render(sourceOf(CATALOG)));
    expect(Object.fromEntries(files)['configs/etcd/catalog.json']).toContain('"unknown":"kept in the image"');
  });

  test.each(['gzip', 'zstd'] as const)('is sealed with the digest that opm computes (%s)', async (codec) => {
    const { image, cacheDigest } = await build(CATALOG, { codec });
    expect(await verifyCache(layersOf(image), scratch)).toEqual({
      recorded: cacheDigest,
      computed: cacheDigest,
    });
  });

  test('a layer that is missing, and an image without a cache, do not pass for sealed', async () => {
    const { image, slim, cacheDigest } = await build(CATALOG);
    const found = await verifyCache(layersOf(image).slice(1), scratch);
    expect(found.recorded).toBe(cacheDigest);
    expect(found.computed).not.toBe(cacheDigest);
    expect((await verifyCache(layersOf(slim), scratch)).recorded).toBeUndefined();
  });

  test('a slim image has the same FBC layers and no other', async () => {
    const { image, slim } = await build(CATALOG);
    const paths = [...(await filesOf(slim)).keys()];
    expect(paths.every((path) => path.startsWith('configs/'))).toBe(true);
    const shared = digests(slim).filter((digest) => digests(image).includes(digest));
    expect(shared).toHaveLength(3);
  });

  describe('on a base with files of its own', () => {
    const BELOW = [
      'configs/evil/catalog.json',
      'opt/opm',
      'tmp/cache/cache/old.json',
      'tmp/cache/digest',
      'tmp/x',
    ];
    /** A layer of a base with these files, as compressed bytes. */
    const layerBelow = async (): Promise<AsyncIterable<Uint8Array>> => {
      const piece = await openPiece(scratch, 'below', 'gzip');
      for (const path of BELOW) await piece.add({ path, kind: 'file', pieces: [Buffer.from('of the base')] });
      const { digest, size } = await piece.finish();
      const end = await endPiece(scratch, 'gzip');
      const extents = [
        { path: scratchFile(scratch, digest), offset: 0, size },
        { path: scratchFile(scratch, end.digest), offset: 0, size: end.size },
      ];
      return readExtents(extents);
    };

    test.each([
      ['oci', 'gzip'],
      ['oci', 'zstd'],
      ['docker', 'gzip'],
    ] as const)(
      '189: what it has in the folders of the catalog and its cache is gone (%s, %s)',
      async (base, codec) => {
        const memory = { store: memoryStore(), key: 'k' };
        const { image, cacheDigest, layers } = await build(CATALOG, { base, codec, memory });
        const stacked = async (): Promise<AsyncIterable<Uint8Array>[]> => [
          await layerBelow(),
          ...layersOf(image),
        ];
        const ours = [...(await filesOf((await build(CATALOG)).image)).keys()];
        const tree = await readTree(await stacked(), { scratch, wanted: () => true });
        const files = [...tree.entries].filter(([, { kind }]) => kind === 'file').map(([path]) => path);
        tree.close();
        expect(files.sort()).toEqual([...ours, 'opt/opm', 'tmp/x'].sort());
        expect(await verifyCache(await stacked(), scratch)).toEqual({
          recorded: cacheDigest,
          computed: cacheDigest,
        });
        expect(layersOf(image)).toHaveLength(layers);
        const again = await build(CATALOG, { base, codec, memory });
        expect(again.image.manifestList.digest).toBe(image.manifestList.digest);
        expect(again.made).toBe(1);
      },
    );

    test('an image without a cache leaves the folder of the cache as it is', async () => {
      const { image } = await build(CATALOG, { base: 'oci', cache: 'none' });
      const tree = await readTree([await layerBelow(), ...layersOf(image)], { scratch, wanted: () => true });
      tree.close();
      const kept = BELOW.filter((path) => tree.entries.has(path));
      expect(kept).toEqual(BELOW.filter((path) => !path.startsWith('configs/')));
    });

    test('only the layer above it takes away, and the slim image has no such layer', async () => {
      const { image, slim, layers } = await build(CATALOG, { base: 'oci' });
      const names = async (layer: AsyncIterable<Uint8Array>): Promise<string[]> => {
        const found: string[] = [];
        for await (const { name } of tarEntries(decompressed(layer))) found.push(name);
        return found;
      };
      const [first = [], ...others] = await Promise.all(layersOf(image).map(names));
      expect(first).toEqual(['configs/', 'configs/.wh..wh..opq', 'tmp/cache/', 'tmp/cache/.wh..wh..opq']);
      const slimNames = await Promise.all(layersOf(slim).map(names));
      expect([...others, ...slimNames].flat().filter((name) => name.includes('.wh.'))).toEqual([]);
      expect(layers).toBe((await build(CATALOG)).layers + 1);
    });
  });

  test('without a cache there is none', async () => {
    const { image, cacheDigest } = await build(CATALOG, { cache: 'none' });
    expect(cacheDigest).toBeUndefined();
    expect([...(await filesOf(image)).keys()].some((path) => path.startsWith('tmp/'))).toBe(false);
  });
});

describe('the digest of the image', () => {
  test('does not depend on where files stand, how they are written or what was remembered', async () => {
    const memory = { store: memoryStore(), key: 'k' };
    const first = await build(CATALOG, { memory });
    const again = await build(CATALOG, { memory });
    const elsewhere = await build({
      'all.yaml': [CATALOG['other/catalog.yaml'], CATALOG['etcd/catalog.yaml'], CATALOG['extra.yaml']].join(
        '---\n',
      ),
    });
    const digest = first.image.manifestList.digest;
    expect([again, elsewhere].map(({ image }) => image.manifestList.digest)).toEqual([digest, digest]);
    expect(again.made).toBe(1);
  });

  test('is pinned: who changes a byte of what we publish changes this line', async () => {
    const { image, slim } = await build(CATALOG, { base: 'oci' });
    expect([image.manifestList.digest, slim.manifestList.digest]).toMatchInlineSnapshot(`
      [
        "sha256:b49f593f2ae56973d553dad71ad2434c874bccdd8e6c2b49c9c04cd45020789f",
        "sha256:dac44634575ad913c746a5f8d0ef324d5d58392db4399525fa635543d35d1e94",
      ]
    `);
  });

  test('depends on base and labels', async () => {
    const all = [
      await build(CATALOG),
      await build(CATALOG, { base: 'oci' }),
      await build(CATALOG, { base: 'docker' }),
      await build(CATALOG, { labels: { a: 'b' } }),
    ];
    expect(new Set(all.map(({ image }) => image.manifestList.digest)).size).toBe(4);
  });
});

describe('after a change of one package', () => {
  const CHANGED = { ...CATALOG, 'etcd/catalog.yaml': packageText('etcd', ['1.0.0', '1.1.0', '1.2.0']) };

  test('only its layers and the cache’s index are new', async () => {
    const memory = { store: memoryStore(), key: 'k' };
    const before = await build(CATALOG, { memory });
    const after = await build(CHANGED, { memory });
    const fresh = digests(after.image).filter((digest) => !digests(before.image).includes(digest));
    // Its FBC, its cache, the index; and a configuration for each platform.
    expect(fresh).toHaveLength(3 + 4);
    expect(after.made).toBe(3);
    expect((await build(CHANGED)).image.manifestList.digest).toBe(after.image.manifestList.digest);
    expect(await verifyCache(layersOf(after.image), scratch)).toMatchObject({ computed: after.cacheDigest });
  });

  test('files that did not change are not read', async () => {
    const memory = { store: memoryStore(), key: 'k' };
    const reads: string[] = [];
    const source = (files: Readonly<Record<string, string>>): CatalogSource => ({
      files: async () =>
        Object.entries(files).map(([path, text]) => ({
          path,
          identity: text,
          read: () => {
            reads.push(path);
            return Buffer.from(text);
          },
        })),
    });
    await build(source(CATALOG), { memory });
    reads.length = 0;
    await build(source({ ...CHANGED, 'other/catalog.yaml': CATALOG['other/catalog.yaml'] }), { memory });
    // The extra file holds a blob of the package, too.
    expect(new Set(reads)).toEqual(new Set(['etcd/catalog.yaml', 'extra.yaml']));
  });

  test('a layer that is known but not at hand is made again when it is asked for', async () => {
    const memory = { store: memoryStore(), key: 'k' };
    const before = await build(CATALOG, { memory });
    for (const file of readdirSync(scratch)) rmSync(join(scratch, file));
    const after = await build(CATALOG, { memory });
    const read = async (blob: BlobSource, from: number): Promise<number> => {
      let size = 0;
      for await (const piece of blob.open(from)) size += piece.length;
      return size;
    };
    const sizes = await Promise.all(after.image.blobs.map((blob) => read(blob, 5)));
    expect(sizes).toEqual(after.image.blobs.map(({ size }) => size - 5));
    expect(await verifyCache(layersOf(after.image), scratch)).toMatchObject({ computed: before.cacheDigest });
  });

  test('a package whose blobs stand in files of their own is the same image', async () => {
    const [name = '', text = ''] = Object.entries(CATALOG)[0] ?? [];
    const blobs = text.split(/^---\n/m).map((blob, i) => [`${name}/${i}.yaml`, blob]);
    expect(blobs.length).toBeGreaterThan(2);
    const apart = await build({ ...CATALOG, [name]: '', ...Object.fromEntries(blobs) });
    expect(apart.image.manifestList.digest).toBe((await build(CATALOG)).image.manifestList.digest);
  });

  test('a damaged memory costs time and nothing else', async () => {
    const store = memoryStore();
    await store.put('k', Buffer.from('{"format":1,"files":[["x'));
    const { image } = await build(CATALOG, { memory: { store, key: 'k' } });
    expect(image.manifestList.digest).toBe((await build(CATALOG)).image.manifestList.digest);
  });

  describe('of a layer that packages share', () => {
    const many = (changed: string): CatalogSource & { readonly reads: string[] } => {
      const reads: string[] = [];
      const texts = Array.from({ length: 55 }, (_, i): [string, string] => {
        const versions = `p${i}` === changed ? ['1.0.0', '1.1.0'] : ['1.0.0'];
        return [`${i}.yaml`, packageText(`p${i}`, versions)];
      });
      const read = (path: string, text: string) => () => {
        reads.push(path);
        return Buffer.from(text);
      };
      return {
        reads,
        files: async () => texts.map(([path, text]) => ({ path, identity: text, read: read(path, text) })),
      };
    };
    test('only what changed is made, if the rest can be had from the image before and is what it was', async () => {
      const memory = { store: memoryStore(), key: 'k' };
      const before = await build(many(''), { memory });
      const kept = (await memory.store.get('k')) ?? Buffer.of();
      const misplaced = Buffer.from(
        Buffer.from(kept)
          .toString()
          .replace(/"offset":\d+/g, '"offset":3'),
      );
      const earlier: BuildOptions['earlier'] = async function* open({ digest }) {
        yield* before.image.blobs.find((one) => one.digest === digest)?.open(0) ?? [];
      };
      const gone: BuildOptions['earlier'] = async function* open() {
        yield Buffer.from('some');
        throw new PipelineError('not-found', 'gone');
      };
      const rebuilt = async (bytes: Uint8Array, from: BuildOptions['earlier']) => {
        const source = many('p7');
        await memory.store.put('k', bytes);
        const elsewhere = mkdtempSync(join(scratch, 'next-'));
        const built = await build(source, { memory, earlier: from, scratch: elsewhere });
        const digest = built.image.manifestList.digest;
        // What was taken from the image before is still at hand when it is sent.
        expect(await verifyCache(layersOf(built.image), scratch)).toMatchObject({
          computed: built.cacheDigest,
        });
        return { digest, read: new Set(source.reads).size };
      };
      const { digest, read } = await rebuilt(Buffer.of(), undefined);
      expect(read).toBe(55);
      expect(await rebuilt(kept, earlier)).toEqual({ digest, read: 1 });
      for (const [bytes, from] of [
        [kept, gone],
        [misplaced, earlier],
      ] as const) {
        const outcome = await rebuilt(bytes, from);
        expect(outcome.digest).toBe(digest);
        expect(outcome.read).toBeGreaterThan(1);
      }
    });
  });

  test('packages that move to other layers are told of', async () => {
    const memory = { store: memoryStore(), key: 'k' };
    const many = (count: number): Record<string, string> =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`${i}.yaml`, packageText(`p${i}`, ['1.0.0'])]),
      );
    expect((await build(many(49), { memory })).replannedRoom).toBeUndefined();
    expect((await build(many(50), { memory })).replannedRoom).toMatchObject({ from: 0 });
    expect((await build(many(50), { memory })).replannedRoom).toBeUndefined();
  });
});

describe('what cannot be built', () => {
  const refused = async (files: Record<string, string>): Promise<string[]> => {
    const { findings, built } = await buildCatalogImage(sourceOf(files), undefined, {
      ...BUILD_DEFAULTS,
      scratch,
    });
    expect(built).toBeUndefined();
    return findings.map(({ rule, location }) => `${location.file}:${location.line} ${rule}`);
  };

  test('a file that is not YAML, with all that is wrong in all files', async () => {
    expect(await refused({ ...CATALOG, 'a.yaml': 'a: b: c\n', 'b.yaml': '[]\n' })).toEqual([
      'a.yaml:1 fbc/yaml',
      'b.yaml:1 fbc/object',
    ]);
  });

  test('a package that opm would refuse, and one whose cache it could not write', async () => {
    const broken = packageText('broken', ['1.0.0']).replace('defaultChannel: stable', 'defaultChannel: gone');
    const slash = packageText('slash', ['1.0.0']).replaceAll('slash.v', 'sla/sh.v');
    expect(await refused({ ...CATALOG, 'broken.yaml': broken, 'slash.yaml': slash })).toEqual([
      'broken.yaml:3 package/default-channel',
      expect.stringMatching(/^slash.yaml:\d+ image\/cache$/),
    ]);
    expect(readdirSync(scratch).filter((file) => file.endsWith('.part'))).toEqual([]);
  });

  test('a package whose name would lead out of the image', async () => {
    const evil = { 'e.yaml': 'schema: custom\npackage: ../../etc\n' };
    const options = { ...BUILD_DEFAULTS, scratch, cache: 'none' } as const;
    await expect(buildCatalogImage(sourceOf(evil), undefined, options)).rejects.toMatchObject({
      code: 'usage',
    });
  });

  test('zstd on a base of Docker', async () => {
    const fake = fakeBase('docker');
    const base = await readBase(fake.list, reader(fake));
    const options = { ...BUILD_DEFAULTS, scratch, codec: 'zstd' } as const;
    await expect(buildCatalogImage(sourceOf(CATALOG), base, options)).rejects.toMatchObject({
      code: 'usage',
    });
  });

  test('on a base that leaves no room for the layer above it', async () => {
    const fake = fakeBase('oci');
    const { platforms, ...base } = await readBase(fake.list, reader(fake));
    const high = platforms.map((one) => ({ ...one, layers: Array(97).fill(one.layers[0]) }));
    const options = { ...BUILD_DEFAULTS, scratch, cache: 'none' } as const;
    await expect(
      buildCatalogImage(sourceOf(CATALOG), { ...base, platforms: high }, options),
    ).rejects.toMatchObject({ code: 'too-large' });
  });

  test('anything into a directory that is not there', async () => {
    const options = { ...BUILD_DEFAULTS, scratch: join(scratch, 'gone') };
    await expect(buildCatalogImage(sourceOf(CATALOG), undefined, options)).rejects.toMatchObject({
      code: 'not-found',
    });
  });
});
