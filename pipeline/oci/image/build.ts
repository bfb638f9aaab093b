/**
 * From a catalog to its index image. Package by package: what did not change since the
 * build that the memory is of is neither parsed nor compressed again, and no more than a
 * few packages are in memory at a time.
 */
import { packagesJson } from '../../../catalog/fbc/cache/files.ts';
import {
  CACHE,
  CACHE_FILES,
  sealDigest,
  type Tree,
  type TreePart,
} from '../../../catalog/fbc/cache/layout.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { type CatalogSource, compareWalk } from '../../../catalog/source.ts';
import { PipelineError } from '../../error.ts';
import type { Platform } from '../../ports.ts';
import type { BaseImage } from './base.ts';
import {
  type BuildCache,
  type BundleFacts,
  openBuildCache,
  type PackageFacts,
  type Store,
  type StretchFacts,
  writeBuildCache,
} from './build-cache.ts';
import type { BuildContext, ReadLayer } from './build-context.ts';
import type { Codec } from './compress.ts';
import { type CatalogImage, catalogImage, type Layer, PLATFORMS } from './image.ts';
import { openPiece, type PieceFacts } from './layer-piece.ts';
import {
  emptyingLayer,
  indexLayer,
  type LayerPlan,
  type Load,
  makeFrame,
  packageLayer,
  planLayers,
} from './layers.ts';
import { type PackageLayer, packageOf, writeStretch } from './package.ts';
import { type Contents, ROOT, readContents } from './packages.ts';

export interface BuildOptions {
  /** `json`: opm's cache, so that `opm serve` starts at once and writes nothing. `none`: it builds its own. */
  readonly cache: 'json' | 'none';
  /** zstd layers are smaller by far; only OCI images can have them, and clients of some age cannot read them. */
  readonly codec: Codec;
  /** Labels besides the one with the catalog's path. */
  readonly labels: Readonly<Record<string, string>>;
  /** Platforms of images without a base. */
  readonly platforms: readonly Platform[];
  /** An existing directory for compressed layers; who made it removes it after the push. */
  readonly scratch: string;
  /** The storage and the key of the previous build's memory. */
  readonly memory?: { readonly store: Store; readonly key: string };
  /** Reads layers of that build: what did not change of a layer that did is then not made again. */
  readonly earlier?: ReadLayer | undefined;
  /** Findings in the catalog. If one is an error, no image is made. */
  readonly check?: (contents: Contents, memory: BuildCache) => Promise<readonly Finding[]>;
}

export const BUILD_DEFAULTS: Pick<BuildOptions, 'cache' | 'codec' | 'labels' | 'platforms'> = {
  cache: 'json',
  codec: 'gzip',
  labels: {},
  platforms: PLATFORMS,
};

export interface BuiltCatalog {
  /** The image for OLM v0, and for OLM v1. */
  readonly image: CatalogImage;
  /** The catalog and nothing else, for OLM v1; its layers are also layers of `image`. */
  readonly slim: CatalogImage;
  /** The digest by which `opm serve` checks the cache; undefined without a cache. */
  readonly cacheDigest: string | undefined;
  /** How many packages the catalog has. */
  readonly packages: number;
  /** The content of the image, sorted by package. */
  readonly contents: readonly { readonly name: string; readonly bundles: readonly BundleFacts[] }[];
  /** How many of our layers had to be made; the others were known. */
  readonly made: number;
  /** How many layers of ours `image` has. */
  readonly layers: number;
  /** Bytes up to which packages share a layer: see `LayerPlan`. */
  readonly room: number;
  /** Set when packages share layers of another room than in the build before, so that many of them moved. */
  readonly replannedRoom: { readonly from: LayerPlan['room']; readonly to: LayerPlan['room'] } | undefined;
}

/**
 * Builds the index image of a catalog.
 *
 * @returns what was built, or nothing when there are errors among the findings
 * @throws PipelineError `io` for the scratch directory, `too-large` when the base has too many
 *   layers, `usage` when the base is Docker's and zstd is asked for
 */
export async function buildCatalogImage(
  source: CatalogSource,
  base: BaseImage | undefined,
  options: BuildOptions,
): Promise<{ readonly findings: readonly Finding[]; readonly built?: BuiltCatalog }> {
  const { memory: memoryOptions } = options;
  if (options.codec === 'zstd' && base?.family === 'docker') {
    throw new PipelineError('usage', 'a base image with Docker media types cannot have zstd layers', {
      hint: 'use gzip, or a base image in OCI format',
    });
  }
  const memory = openBuildCache(await memoryOptions?.store.get(memoryOptions.key));
  const { contents, findings: readErrors } = await readContents(
    source,
    memory.files,
    options.cache === 'json',
  );
  const findings = (await options.check?.(contents, memory)) ?? [];
  if (findings.some(({ severity }) => severity === 'error')) return { findings };
  // After the check: it reports unreadable files, too, with the policy's severities and with all other findings.
  if (readErrors.length > 0) return { findings: readErrors };
  const context: BuildContext = {
    ...options,
    contents,
    memory,
    fetched: new Map(),
    remade: new Map(),
    findings: new Set(),
    made: new Set(),
  };
  const packages: PackageLayer[] = [];
  for (const name of [...(contents.hasRoot ? [ROOT] : []), ...contents.packages]) {
    packages.push(await packageOf(name, context));
  }
  if (context.findings.size > 0) return { findings: [...context.findings] };
  const built = await assemble(packages, base, { plan: planFor(packages, base), context, options });
  if (memoryOptions) await memoryOptions.store.put(memoryOptions.key, writeBuildCache(memory, built.room));
  return { findings, built };
}

/** Which packages share a layer: the sizes of their pieces decide, and how many layers the base leaves. */
function planFor(packages: readonly PackageLayer[], base: BaseImage | undefined): LayerPlan {
  const loads = (tree: Tree): Load[] =>
    packages.flatMap(({ name, pieces }) => {
      const size = pieces[tree]?.size;
      return name === ROOT || size === undefined ? [] : [{ name, size }];
    });
  const baseLayers = Math.max(0, ...(base?.platforms.map(({ layers }) => layers.length) ?? []));
  // One for the blobs of no package, one for the cache's index, one above a base. The first two count even if absent:
  // only packages and base decide the plan.
  const fixedLayers = base ? 3 : 2;
  return planLayers({ configs: loads('configs'), cache: loads('cache') }, { baseLayers, fixedLayers });
}

/** Makes the layers by the plan, and from them the image with the base (`image`) and without it (`slim`). */
async function assemble(
  packages: readonly PackageLayer[],
  base: BaseImage | undefined,
  { plan, context, options }: { plan: LayerPlan; context: BuildContext; options: BuildOptions },
): Promise<BuiltCatalog> {
  const facts = packages.map((pkg) => pkg.facts);
  const frame = await makeFrame(context);
  const layersOf = async (tree: Tree, groups: LayerPlan[Tree]): Promise<Layer[]> => {
    const layers: Layer[] = [];
    for (const names of groups) layers.push(await packageLayer(tree, names, { context, frame }));
    return layers;
  };
  // The blobs of no package come first, if there are some.
  const hasRoot = packages[0]?.name === ROOT && packages[0].pieces.configs !== undefined;
  const groups = [...(hasRoot ? [[ROOT]] : []), ...plan.configs];
  // An empty catalog has a folder too.
  const configs = await layersOf('configs', groups.length === 0 ? [[]] : groups);
  const hasCache = options.cache === 'json';
  const index = hasCache ? await makeIndex(facts, (own) => digestOver(facts, own), context) : undefined;
  const caches = await layersOf('cache', plan.cache);
  const trees: readonly Tree[] = hasCache ? ['configs', 'cache'] : ['configs'];
  const layers = [
    ...(base ? [await emptyingLayer(trees, { context, frame })] : []),
    ...configs,
    ...caches,
    ...(index ? [await indexLayer(index.facts, { context, frame })] : []),
  ];
  const { platforms } = options;
  return {
    image: catalogImage(base, layers, { ...options, cache: hasCache }),
    slim: catalogImage(undefined, configs, {
      ...options,
      cache: false,
      platforms: base?.platforms.map(({ platform }) => platform) ?? platforms,
    }),
    cacheDigest: index?.digest,
    packages: context.contents.packages.length,
    contents: contentsOf(packages),
    made: context.made.size,
    layers: layers.length,
    room: plan.room,
    replannedRoom: replanned(context.memory, plan),
  };
}

/** The packages of the image with their bundles, sorted: what an SBOM lists. */
function contentsOf(packages: readonly PackageLayer[]): BuiltCatalog['contents'] {
  return packages
    .filter(({ name }) => name !== ROOT)
    .map(({ name, facts: { bundles } }) => ({ name, bundles }))
    .sort((a, b) => compareText(a.name, b.name));
}

/**
 * The digest by which `opm serve` checks its cache, from the stretches of all packages: none of their files
 * is read again.
 */
function digestOver(packages: readonly PackageFacts[], meta: readonly StretchFacts[]): string {
  const stretchOf = ({ path, length, addend }: StretchFacts): Parameters<typeof sealDigest>[0][number] => ({
    path,
    stretch: { length, addend: BigInt(`0x${addend}`) },
  });
  const configs = packages.flatMap((facts) => (facts.configs ? [stretchOf(facts.configs)] : []));
  const cache = packages.flatMap((facts) => (facts.cache ? [stretchOf(facts.cache)] : []));
  return sealDigest(configs, [...cache, ...meta.map(stretchOf)]);
}

/** How the room of shared layers has changed since the build before; undefined where it has not. */
function replanned({ room }: BuildCache, plan: LayerPlan): BuiltCatalog['replannedRoom'] {
  return room === undefined || room === plan.room ? undefined : { from: room, to: plan.room };
}

/** The piece that the layer holds, and the digest that it seals the cache with. */
interface IndexPiece {
  readonly facts: PieceFacts;
  readonly digest: string;
}

/**
 * Makes the piece of the cache's index: the layer on top, with what belongs to no single package. These are files of
 * blobs of other schemas, packages.json, and the digest that seals the cache.
 *
 * @param seal computes the digest from the stretches of this layer and all others
 */
async function makeIndex(
  packages: readonly PackageFacts[],
  seal: (stretches: readonly StretchFacts[]) => string,
  { scratch, codec }: BuildContext,
): Promise<IndexPiece> {
  const piece = await openPiece(scratch, 'index', codec);
  try {
    for (const path of [CACHE, CACHE_FILES]) await piece.add({ path, kind: 'directory', pieces: [] });
    // Two stretches: files of other packages may stand between these in the order of the walk.
    const stretches = [
      await writeStretch('cache', metaParts(packages), piece),
      await writeStretch('cache', [indexPart(packages)], piece),
    ];
    const digest = seal(stretches.filter((stretch) => stretch !== undefined));
    const pieces = [new TextEncoder().encode(digest)];
    await piece.add({ path: `${CACHE}/digest`, kind: 'file', pieces });
    return { facts: await piece.finish(), digest };
  } catch (error) {
    piece.abandon();
    throw error;
  }
}

/** The file `packages.json`, put together from a member for each package, sorted by name as Go writes maps. */
function indexPart(packages: readonly PackageFacts[]): TreePart {
  const members = packages.flatMap(({ member }) => member ?? []).sort();
  return { path: 'packages.json', kind: 'file', pieces: [new TextEncoder().encode(packagesJson(members))] };
}

/** The folders and files below `metas`, in the order of the walk. */
function metaParts(packages: readonly PackageFacts[]): TreePart[] {
  const encoder = new TextEncoder();
  const parts = new Map<string, TreePart>();
  for (const { path, text } of packages.flatMap(({ metas }) => metas)) {
    // Each folder above the file, once however many files are in it.
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      parts.set(path.slice(0, at), { path: path.slice(0, at), kind: 'directory', pieces: [] });
    }
    parts.set(path, { path, kind: 'file', pieces: [encoder.encode(text)] });
  }
  return [...parts.values()].sort((a, b) => compareWalk(a.path, b.path));
}
