/**
 * A bundle put into a package as opm's modes `semver` and `semver-skippatch` put it: between
 * its neighbours in each of its channels, by version.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/registry/bundlegraphloader.go
 */

import { compareText } from '../go/text.ts';
import { quoted } from '../names.ts';
import { compareVersions, type Version } from '../version/version.ts';
import { EditError } from './package.ts';
import { type Edges, nodeOf, type PackageGraph, type PlacedBundle } from './package-graph.ts';

/**
 * @param skipsPatches whether the last patch of a minor version skips the others
 * @throws EditError for a version that already exists
 */
export function addedByVersion(
  graph: PackageGraph,
  bundle: PlacedBundle,
  skipsPatches: boolean,
): PackageGraph {
  const nodes = new Map([...graph.nodes, [bundle.blob.name, nodeOf(bundle)]]);
  const lanes = new Map(graph.lanes);
  for (const channel of new Set(bundle.channels)) {
    lanes.set(channel, between(lanes.get(channel) ?? [], bundle, { graph, skipsPatches }));
  }
  const [first = ''] = [...bundle.channels].sort(compareText);
  const defaultChannel = bundle.defaultChannel || graph.defaultChannel || first;
  return { nodes, lanes, defaultChannel };
}

/** The bundle between the next lower and the next higher version of the channel. */
function between(
  lane: readonly Edges[],
  { blob, version, skipRange }: PlacedBundle,
  { graph, skipsPatches }: { readonly graph: PackageGraph; readonly skipsPatches: boolean },
): Edges[] {
  const compared = lane.flatMap((entry) => {
    const node = graph.nodes.get(entry.name);
    if (!node) return [];
    if (!node.version) throw new EditError(`the version of ${quoted(entry.name)} is unknown`);
    return [{ entry, version: node.version, order: compareVersions(node.version, version) }];
  });
  const same = compared.find(({ order }) => order === 0);
  if (same) {
    throw new EditError(`${quoted(same.entry.name)} already has the version of ${quoted(blob.name)}`);
  }
  const isPatch = (other: Version): boolean =>
    skipsPatches && other.major === version.major && other.minor === version.minor;
  const sorted = compared.sort((a, b) => compareVersions(a.version, b.version));
  const lower = sorted.filter(({ order }) => order < 0);
  const higher = sorted.filter(({ order }) => order > 0);
  const behind = lower.findLast((other) => !isPatch(other.version))?.entry.name ?? '';
  const skips = lower.filter((other) => isPatch(other.version)).map(({ entry }) => entry.name);
  const newest = higher.findLast((other) => isPatch(other.version))?.entry;
  const ahead = newest ? undefined : higher[0]?.entry;
  return [
    ...lane.map((entry) => {
      if (entry === ahead) return { ...entry, replaces: blob.name, skips: skipsPatches ? entry.skips : [] };
      return entry === newest ? { ...entry, skips: [...entry.skips, blob.name] } : entry;
    }),
    { name: blob.name, replaces: behind, skips, skipRange },
  ];
}
