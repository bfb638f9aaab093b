/**
 * From a catalog to its index image. Package by package: what did not change since the
 * build that the memory is of is neither parsed nor compressed again, and no more than a
 * few packages are in memory at a time.
 */
import { CACHE, CONFIGS, sealDigest } from '../../catalog/cache/layout.ts';
import { compareText, type Finding } from '../../catalog/finding.ts';
import type { CatalogSource } from '../../catalog/source.ts';
import { PipelineError } from '../error.ts';
import type { Platform } from '../ports.ts';
import type { BaseImage } from './base.ts';
import type { Codec } from './compress.ts';
import { type CatalogImage, catalogImage, type Layer, PLATFORMS } from './image.ts';
import { type LayerFacts, layerBlob } from './layer.ts';
import {
  type BundleFacts,
  type Memory,
  openMemory,
  type PackageFacts,
  type Store,
  type StretchFacts,
  writeMemory,
} from './memory.ts';
import { type Contents, ROOT, readContents } from './packages.ts';
import { type LayerPlan, planLayers } from './plan.ts';
import { makeMeta, makeShard, packageKey, type ShardFacts, shardKeys, type Workshop } from './shard.ts';

export interface BuildOptions {
  /** `json`: opm's cache, so that `opm serve` starts at once and writes nothing. `none`: it builds its own. */
  readonly cache: 'json' | 'none';
  /** zstd layers are smaller by far; only OCI images can have them, and clients of some age cannot read them. */
  readonly codec: Codec;
  /** Labels beside the one that says where the catalog stands. */
  readonly labels: Readonly<Record<string, string>>;
  /** Platforms of images without a base. */
  readonly platforms: readonly Platform[];
  /** An existing directory for compressed layers; who made it removes it after the push. */
  readonly scratch: string;
  /** Where the memory of the build before is, and under which key. */
  readonly memory?: { readonly store: Store; readonly key: string };
  /** What is wrong with the catalog: nothing is made of one with errors. */
  readonly judge?: (contents: Contents, memory: Memory) => Promise<readonly Finding[]>;
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
  /** What `opm serve` checks the cache by; undefined without a cache. */
  readonly cacheDigest: string | undefined;
  readonly packages: number;
  /** What is in the image, sorted by package. */
  readonly contents: readonly { readonly name: string; readonly bundles: readonly BundleFacts[] }[];
  /** How many of our layers had to be made; the others were known. */
  readonly made: number;
  readonly layers: number;
  /** Set when packages moved to other layers than in the build before: all of them are sent again. */
  readonly replanned: { readonly from: LayerPlan['slots']; readonly to: LayerPlan['slots'] } | undefined;
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
  const { memory: kept } = options;
  if (options.codec === 'zstd' && base?.family === 'docker') {
    throw new PipelineError('usage', "layers in zstd cannot stand on a base with Docker's media types", {
      hint: 'use gzip, or a base image in OCI format',
    });
  }
  const memory = openMemory(await kept?.store.get(kept.key));
  const { contents, findings: unread } = await readContents(source, memory.files, options.cache === 'json');
  const findings = (await options.judge?.(contents, memory)) ?? [];
  if (findings.some(({ severity }) => severity === 'error')) return { findings };
  if (unread.length > 0) return { findings: unread };
  const workshop: Workshop = { ...options, contents, memory, findings: new Set(), made: new Set() };
  const plan = planFor(contents.packages, base, options);
  const shards: ShardFacts[] = [];
  if (contents.hasRoot) shards.push(await shardOf([ROOT], workshop));
  for (const names of plan.shards) shards.push(await shardOf(names, workshop));
  if (workshop.findings.size > 0) return { findings: [...workshop.findings] };
  const built = await assemble(shards, base, { plan, workshop, options });
  if (kept) await kept.store.put(kept.key, writeMemory(memory, plan.slots));
  return { findings, built };
}

function planFor(
  packages: readonly string[],
  base: BaseImage | undefined,
  { cache }: BuildOptions,
): LayerPlan {
  const baseLayers = Math.max(0, ...(base?.platforms.map(({ layers }) => layers.length) ?? []));
  // The blobs of no package have a layer, whether there are some or not, and so has the cache's index.
  return planLayers(packages, {
    baseLayers,
    fixedLayers: cache === 'json' ? 2 : 1,
    layersPerShard: cache === 'json' ? 2 : 1,
  });
}

/** A shard's facts: from the memory if all are there, else by making it. */
async function shardOf(names: readonly string[], workshop: Workshop): Promise<ShardFacts> {
  const { memory } = workshop;
  const keys = shardKeys(names, workshop);
  const configs = memory.layers.get(keys.configs);
  const cache = keys.cache === undefined ? undefined : memory.layers.get(keys.cache);
  const packages = names.flatMap((name) => memory.packages.get(packageKey(name, workshop)) ?? []);
  const complete =
    configs && (cache || keys.cache === undefined || names[0] === ROOT) && packages.length === names.length;
  return complete ? { names, packages, configs, cache } : makeShard(names, workshop);
}

async function assemble(
  shards: readonly ShardFacts[],
  base: BaseImage | undefined,
  { plan, workshop, options }: { plan: LayerPlan; workshop: Workshop; options: BuildOptions },
): Promise<BuiltCatalog> {
  const packages = shards.flatMap((shard) => shard.packages);
  const remake = (names: readonly string[]) => async (): Promise<void> => {
    await makeShard(names, workshop);
  };
  const layerIn =
    (folder: string) =>
    (facts: LayerFacts, make: () => Promise<void>): Layer => ({
      facts,
      blob: layerBlob(options.scratch, facts, make),
      folder: `/${folder}`,
    });
  const [inConfigs, inCache] = [layerIn(CONFIGS), layerIn(CACHE)];
  const configs = shards.map(({ names, configs }) => inConfigs(configs, remake(names)));
  const caches = shards.flatMap(({ names, cache }) => (cache ? [inCache(cache, remake(names))] : []));
  const cached = options.cache === 'json';
  const meta = cached
    ? await makeMeta(packages, (stretches) => digestOver(packages, stretches), workshop)
    : undefined;
  const layers = [...configs, ...caches, ...(meta ? [inCache(meta.facts, meta.make)] : [])];
  return {
    image: catalogImage(base, layers, { ...options, cache: cached }),
    slim: catalogImage(undefined, configs, {
      ...options,
      cache: false,
      platforms: platformsOf(base, options),
    }),
    cacheDigest: meta?.digest,
    packages: workshop.contents.packages.length,
    contents: contentsOf(shards),
    made: workshop.made.size,
    layers: layers.length,
    replanned: replanned(workshop.memory, plan),
  };
}

function contentsOf(shards: readonly ShardFacts[]): BuiltCatalog['contents'] {
  return shards
    .flatMap(({ names, packages }) => names.map((name, i) => ({ name, bundles: packages[i]?.bundles ?? [] })))
    .filter(({ name }) => name !== ROOT)
    .sort((a, b) => compareText(a.name, b.name));
}

function platformsOf(base: BaseImage | undefined, { platforms }: BuildOptions): readonly Platform[] {
  return base?.platforms.map(({ platform }) => platform) ?? platforms;
}

function digestOver(packages: readonly PackageFacts[], meta: readonly StretchFacts[]): string {
  const placed = ({ path, length, addend }: StretchFacts): Parameters<typeof sealDigest>[0][number] => ({
    path,
    stretch: { length, addend: BigInt(`0x${addend}`) },
  });
  const configs = packages.flatMap((facts) => (facts.configs ? [placed(facts.configs)] : []));
  const cache = packages.flatMap((facts) => (facts.cache ? [placed(facts.cache)] : []));
  return sealDigest(configs, [...cache, ...meta.map(placed)]);
}

function replanned({ slots }: Memory, plan: LayerPlan): BuiltCatalog['replanned'] {
  return slots === undefined || slots === plan.slots ? undefined : { from: slots, to: plan.slots };
}
