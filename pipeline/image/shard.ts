/**
 * Making layers: the packages of a shard become a layer of FBC and a layer of cache, the
 * index of the cache and its digest become a layer on top.
 */
import { blobLine, bundleFiles, metaFile } from '../../catalog/cache/files.ts';
import {
  CACHE,
  CACHE_FILES,
  CONFIGS,
  sealedParts,
  type Tree,
  type TreePart,
} from '../../catalog/cache/layout.ts';
import { packageMember, packagesJson } from '../../catalog/cache/package-index.ts';
import type { Finding } from '../../catalog/finding.ts';
import type { Bundle } from '../../catalog/model.ts';
import { compareWalk } from '../../catalog/source.ts';
import { formatVersion } from '../../catalog/version.ts';
import { PipelineError } from '../error.ts';
import { CODEC_IDS, type Codec } from './compress.ts';
import { type LayerFacts, type LayerSink, openLayer } from './layer.ts';
import { type BundleFacts, contentKey, type Memory, type PackageFacts, type StretchFacts } from './memory.ts';
import { type Contents, type PackageContent, ROOT } from './packages.ts';

/** What every step of a build works with. */
export interface Workshop {
  readonly contents: Contents;
  readonly memory: Memory;
  readonly scratch: string;
  readonly codec: Codec;
  readonly cache: 'json' | 'none';
  /** Why no image can be made; filled while packages are read. */
  readonly findings: Set<Finding>;
  /** Digests of the layers that were made. */
  readonly made: Set<string>;
}

/** A shard as the image needs it. */
export interface ShardFacts {
  readonly names: readonly string[];
  readonly packages: readonly PackageFacts[];
  readonly configs: LayerFacts;
  readonly cache: LayerFacts | undefined;
}

/** Names the facts of a package: they follow from its content and the kind of the cache. */
export function packageKey(name: string, { contents, cache }: Workshop): string {
  return contentKey('package', cache, name, contents.identity(name));
}

/** Names the layers of a shard. */
export function shardKeys(
  names: readonly string[],
  workshop: Workshop,
): { readonly configs: string; readonly cache: string | undefined } {
  const contents = names.map((name) => packageKey(name, workshop));
  const codec = CODEC_IDS[workshop.codec];
  return {
    configs: contentKey('configs', codec, ...contents),
    cache: workshop.cache === 'json' ? contentKey('cache', codec, ...contents) : undefined,
  };
}

/** Makes the layers of a shard, and notes what became of them. */
export async function makeShard(names: readonly string[], workshop: Workshop): Promise<ShardFacts> {
  const { memory, scratch, codec } = workshop;
  const keys = shardKeys(names, workshop);
  const label = keys.configs.slice(0, 16);
  const configs = await openLayer(scratch, `configs-${label}`, codec);
  const hasCache = keys.cache !== undefined && names[0] !== ROOT;
  const cache = hasCache ? await openLayer(scratch, `cache-${label}`, codec) : undefined;
  try {
    await configs.add({ path: CONFIGS, kind: 'directory', pieces: [] });
    await openCache(cache);
    const packages: PackageFacts[] = [];
    for (const name of names) {
      const facts = await makePackage(name, { configs, cache }, workshop);
      memory.packages.set(packageKey(name, workshop), facts);
      packages.push(facts);
    }
    const made = {
      configs: await finished(configs, workshop),
      cache: cache && (await finished(cache, workshop)),
    };
    memory.layers.set(keys.configs, made.configs);
    if (made.cache && keys.cache !== undefined) memory.layers.set(keys.cache, made.cache);
    return { names, packages, ...made };
  } catch (error) {
    configs.abandon();
    cache?.abandon();
    throw error;
  }
}

async function openCache(layer: LayerSink | undefined): Promise<void> {
  for (const path of [CACHE, CACHE_FILES]) await layer?.add({ path, kind: 'directory', pieces: [] });
}

async function finished(layer: LayerSink, { made }: Workshop): Promise<LayerFacts> {
  const facts = await layer.finish();
  made.add(facts.digest);
  return facts;
}

interface ShardLayers {
  readonly configs: LayerSink;
  readonly cache: LayerSink | undefined;
}

async function makePackage(name: string, layers: ShardLayers, workshop: Workshop): Promise<PackageFacts> {
  const content = await workshop.contents.read(name);
  for (const finding of content.findings) workshop.findings.add(finding);
  // What is wrong anywhere is reported; nothing is made of it.
  if (content.findings.length > 0) return { bundles: [], metas: [] };
  const parts = name === ROOT ? rootParts(content) : packageParts(name, content);
  const configs = await put(parts, { tree: 'configs', root: CONFIGS, layer: layers.configs });
  const cached = workshop.cache === 'json';
  const metas = cached ? metasOf(content) : [];
  const pkg = content.catalog.packages.get(name);
  const bundles = [...(pkg?.bundles.values() ?? [])].map(bundleFacts);
  if (!cached || !pkg || name === ROOT) return { ...(configs ? { configs } : {}), bundles, metas };
  const cache = await put(cacheParts(pkg), { tree: 'cache', root: CACHE_FILES, layer: layers.cache });
  const member = Buffer.from(packageMember(pkg, { icon: false })).toString();
  return { ...(configs ? { configs } : {}), ...(cache ? { cache } : {}), member, bundles, metas };
}

/** Texts of their own: what is cut out of a file's text would keep all of it in memory. */
function bundleFacts({ name, version, image }: Bundle): BundleFacts {
  const own = (text: string): string => Buffer.from(text).toString();
  return { name: own(name), version: version ? own(formatVersion(version)) : '', image: own(image) };
}

function rootParts(content: PackageContent): TreePart[] {
  const pieces = lines(content);
  return pieces.length === 0 ? [] : [{ path: 'catalog.json', kind: 'file', pieces }];
}

function packageParts(name: string, content: PackageContent): TreePart[] {
  // opm validates names; what it has no rule for must not become a path either.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    throw new PipelineError('usage', `the package ${JSON.stringify(name)} cannot name a folder of an image`);
  }
  return [
    { path: name, kind: 'directory', pieces: [] },
    { path: `${name}/catalog.json`, kind: 'file', pieces: lines(content) },
  ];
}

function lines({ blobs }: PackageContent): Uint8Array[] {
  const encoder = new TextEncoder();
  return blobs.map((blob) => encoder.encode(blobLine(blob)));
}

function* cacheParts(pkg: Parameters<typeof bundleFiles>[0]): Generator<TreePart> {
  for (const { path, bytes } of bundleFiles(pkg)) yield { path, kind: 'file', pieces: [bytes] };
}

function metasOf({ blobs }: PackageContent): PackageFacts['metas'] {
  const files = blobs.filter(({ schema }) => !OLM_SCHEMAS.has(schema)).map(metaFile);
  return files.map(({ path, bytes }) => ({
    path: Buffer.from(path).toString(),
    text: Buffer.from(bytes).toString(),
  }));
}

const OLM_SCHEMAS: ReadonlySet<string> = new Set([
  'olm.package',
  'olm.channel',
  'olm.bundle',
  'olm.deprecations',
]);

/** Writes a stretch of a tree into a layer. */
async function put(
  parts: Iterable<TreePart>,
  { tree, root, layer }: { tree: Tree; root: string; layer: LayerSink | undefined },
): Promise<StretchFacts | undefined> {
  const sealed = sealedParts(tree, parts);
  let first: string | undefined;
  for (;;) {
    const { done, value } = sealed.next();
    if (done) {
      return first === undefined
        ? undefined
        : { path: first, length: value.length, addend: value.addend.toString(16) };
    }
    first ??= value.path;
    await layer?.add({ ...value, path: `${root}/${value.path}` });
  }
}

export interface MetaLayer {
  readonly facts: LayerFacts;
  /** Makes the layer once more. */
  readonly make: () => Promise<void>;
  /** The digest that the layer seals the cache with. */
  readonly digest: string;
}

/**
 * The layer with what belongs to no single package: blobs of other schemas, packages.json
 * and the digest over everything.
 *
 * @param seal computes the digest from the stretches of this layer and all others
 */
export async function makeMeta(
  packages: readonly PackageFacts[],
  seal: (stretches: readonly StretchFacts[]) => string,
  workshop: Workshop,
): Promise<MetaLayer> {
  let digest = '';
  const make = async (): Promise<LayerFacts> => {
    const layer = await openLayer(workshop.scratch, 'index', workshop.codec);
    try {
      await openCache(layer);
      const into = { tree: 'cache', root: CACHE_FILES, layer } as const;
      const stretches = [await put(metaParts(packages), into), await put([indexPart(packages)], into)];
      digest = seal(stretches.filter((stretch) => stretch !== undefined));
      const pieces = [new TextEncoder().encode(digest)];
      await layer.add({ path: `${CACHE}/digest`, kind: 'file', pieces });
      return await finished(layer, workshop);
    } catch (error) {
      layer.abandon();
      throw error;
    }
  };
  const facts = await make();
  return { facts, digest, make: async () => void (await make()) };
}

function indexPart(packages: readonly PackageFacts[]): TreePart {
  const members = packages.flatMap(({ member }) => member ?? []).sort();
  return { path: 'packages.json', kind: 'file', pieces: [new TextEncoder().encode(packagesJson(members))] };
}

/** The folders and files below `metas`, in the order of the walk. */
function metaParts(packages: readonly PackageFacts[]): TreePart[] {
  const encoder = new TextEncoder();
  const parts = new Map<string, TreePart>();
  for (const { path, text } of packages.flatMap(({ metas }) => metas)) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      parts.set(path.slice(0, at), { path: path.slice(0, at), kind: 'directory', pieces: [] });
    }
    parts.set(path, { path, kind: 'file', pieces: [encoder.encode(text)] });
  }
  return [...parts.values()].sort((a, b) => compareWalk(a.path, b.path));
}
