/** The upgrade graph of a package while bundles come into it: what each bundle says, and what each channel holds. */
import { type CsvIcon, csvIcon } from '../bundle/csv-icon.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import type { Bundle, Entry, Package } from '../fbc/model.ts';
import { isObject, textOf } from '../go/shape.ts';
import type { Version } from '../version/version.ts';
import { EditError } from './package.ts';

/** A bundle with what it says of its place. */
export interface PlacedBundle {
  readonly blob: Bundle;
  readonly version: Version;
  readonly channels: readonly string[];
  /** Empty when the bundle names none. */
  readonly defaultChannel: string;
  readonly replaces: string;
  readonly skips: readonly string[];
  readonly skipRange: string;
  readonly icon?: CsvIcon;
}

export type Edges = Pick<Entry, 'name' | 'replaces' | 'skips' | 'skipRange'>;

/** A bundle of the package: one that a channel holds, or one that was added, whether a channel holds it or not. */
export interface GraphNode extends Edges {
  readonly version: Version | undefined;
  /** Undefined for a bundle that was there before: what it looks like is not known. */
  readonly placed: PlacedBundle | undefined;
}

export interface PackageGraph {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** Entries by channel. */
  readonly lanes: ReadonlyMap<string, readonly Edges[]>;
  /** Empty while there is none. */
  readonly defaultChannel: string;
}

/** The graph of a package of a catalog; an empty one for a package that is new. */
export function graphOf(pkg: Package | undefined): PackageGraph {
  const nodes = new Map<string, GraphNode>();
  const lanes = new Map<string, readonly Edges[]>();
  for (const [name, { entries }] of pkg?.channels ?? []) {
    lanes.set(name, entries);
    for (const entry of entries) {
      const bundle = pkg?.bundles.get(entry.name);
      const before = nodes.get(entry.name);
      // An entry that was skipped says less of a bundle than one on the way to the head.
      if (!bundle || (before && (before.replaces !== '' || entry.replaces === ''))) continue;
      nodes.set(entry.name, { ...entry, version: bundle.version, placed: undefined });
    }
  }
  return { nodes, lanes, defaultChannel: pkg?.defaultChannel ?? '' };
}

export function nodeOf(placed: PlacedBundle): GraphNode {
  const { blob, version, replaces, skips, skipRange } = placed;
  return { name: blob.name, replaces, skips, skipRange, version, placed };
}

/** The first entry that no other one replaces or skips. */
export function headOf(lane: readonly Edges[]): string | undefined {
  const followed = new Set(
    lane.flatMap(({ name, replaces, skips }) => [replaces, ...skips].filter((one) => one !== name)),
  );
  return lane.find(({ name }) => !followed.has(name))?.name;
}

// What a bundle says of its place in a package.

/**
 * A bundle with what its annotations and ClusterServiceVersion say of its place in the graph.
 *
 * @param blob the bundle as it is rendered
 * @throws EditError for a bundle without a version
 */
export function placedBundle(bundle: RegistryBundle, blob: Bundle): PlacedBundle {
  const { version } = blob;
  if (!version) throw new EditError(`the bundle ${JSON.stringify(blob.name)} has no version`);
  const spec = isObject(bundle.csv.value['spec']) ? bundle.csv.value['spec'] : {};
  const metadata = isObject(bundle.csv.value['metadata']) ? bundle.csv.value['metadata'] : {};
  const annotations = isObject(metadata['annotations']) ? metadata['annotations'] : {};
  const icon = csvIcon(bundle.csv.value);
  return {
    blob,
    version,
    channels: bundle.channels.map((channel) => channel.trim()),
    defaultChannel: bundle.defaultChannel,
    replaces: textOf(spec['replaces']),
    skips: Array.isArray(spec['skips']) ? spec['skips'].map(textOf) : [],
    skipRange: textOf(annotations['olm.skipRange']),
    ...(icon ? { icon } : {}),
  };
}
