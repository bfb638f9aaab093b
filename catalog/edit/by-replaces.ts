/**
 * Bundles put into a package as opm's mode `replaces` puts them: the head of a channel is its
 * highest version, and the channel holds what the head leads to. What nothing leads to falls out.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/registry/populator.go
 * @see https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/sqlite/load.go
 */

import { appendToGroup } from '../go/grouped.ts';
import { compareText } from '../go/text.ts';
import { quoted } from '../names.ts';
import { compareVersions, tryParseVersion, type Version } from '../version/version.ts';
import { EditError } from './package.ts';
import { type Edges, type GraphNode, nodeOf, type PackageGraph, type PlacedBundle } from './package-graph.ts';

/**
 * The graph of a package with new bundles, placed by their `replaces`.
 *
 * @param onMissing told of bundles below a head that replace what is not there. With it, bundles are left out that nothing leads to: then
 *   all are put together anew, also those that were published long ago
 * @throws EditError for a bundle that replaces what is not there, or that nothing leads to
 */
export function addedByReplaces(
  graph: PackageGraph,
  bundles: readonly PlacedBundle[],
  onMissing?: (bundle: PlacedBundle, error: EditError) => void,
): PackageGraph {
  const nodes = new Map([...graph.nodes, ...bundles.map((one) => [one.blob.name, nodeOf(one)] as const)]);
  const members = new Map(
    [...graph.lanes].map(([channel, lane]) => [channel, lane.map(({ name }) => name)] as const),
  );
  for (const { blob, channels } of bundles) {
    for (const channel of new Set(channels)) appendToGroup(members, channel, blob.name);
  }
  const touched = new Set(bundles.flatMap(({ channels }) => channels));
  const lanes = new Map<string, readonly Edges[]>();
  for (const [channel, names] of members) {
    const before = graph.lanes.get(channel) ?? [];
    if (!touched.has(channel)) lanes.set(channel, before);
    else lanes.set(channel, entriesFromHead(headOf(names, nodes, channel), { nodes, before, onMissing }));
  }
  for (const { blob, channels } of onMissing ? [] : bundles) {
    const lost = channels.find((channel) => !lanes.get(channel)?.some(({ name }) => name === blob.name));
    if (lost === undefined) continue;
    throw new EditError(
      `the bundle ${quoted(blob.name)} has no upgrade path to ${quoted(lanes.get(lost)?.[0]?.name ?? '')}, the head of the channel ${quoted(lost)}`,
      'make a later version replace or skip it',
    );
  }
  return { nodes, lanes, defaultChannel: defaultOf(graph, bundles, lanes) };
}

/** The highest version among names. @throws EditError for two of one version */
function headOf(names: readonly string[], nodes: ReadonlyMap<string, GraphNode>, channel: string): GraphNode {
  let head: GraphNode | undefined;
  let rival: GraphNode | undefined;
  for (const name of new Set(names)) {
    const node = nodes.get(name);
    if (!node) continue;
    const order = head ? compareReleases(node.version, head.version) : 1;
    if (order === 0) rival = node;
    if (order <= 0) continue;
    head = node;
    rival = undefined;
  }
  if (head && !rival) return head;
  const both = `${quoted(head?.name ?? '')} and ${quoted(rival?.name ?? '')}`;
  throw new EditError(`the channel ${quoted(channel)} has two bundles with the highest version, ${both}`);
}

/** What is known of a channel. */
interface Known {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** Its entries before. */
  readonly before: readonly Edges[];
  readonly onMissing: ((bundle: PlacedBundle, error: EditError) => void) | undefined;
}

/**
 * The entries of a channel from its head down, as `replaces` leads, with the skipped bundles that exist.
 *
 * @throws EditError
 */
function entriesFromHead(head: GraphNode, { nodes, before, onMissing }: Known): Edges[] {
  const listedBefore = new Map(before.map((entry) => [entry.name, entry]));
  const entries = new Map<string, Edges>();
  const skipped: string[] = [];
  for (let at: GraphNode | undefined = head; at; ) {
    const { name, skipRange } = at;
    // A channel of the base may lead elsewhere than the others do.
    // Where its entry names nothing, the bundle's own `replaces` counts.
    const listed: Edges | undefined = at.placed ? undefined : listedBefore.get(name);
    const { replaces, skips } = listed && listed.replaces !== '' ? listed : at;
    entries.set(name, { name, replaces, skips, skipRange });
    for (const skip of skips) skipped.push(skip);
    if (replaces === '') break;
    if (entries.has(replaces)) {
      throw new EditError(`the bundle ${quoted(name)} replaces ${quoted(replaces)}, which replaces it`);
    }
    // Only a bundle that is added must find what it replaces.
    const next = nodes.get(replaces);
    if (!next && at.placed) {
      const error = new EditError(
        `the bundle ${quoted(name)} replaces ${quoted(replaces)}, which the package does not have`,
        'add that bundle, too',
      );
      // A head is most likely what is being added now. Whatever is below it was taken some time.
      if (!onMissing || at === head) throw error;
      onMissing(at.placed, error);
    }
    at = next;
  }
  for (const name of skipped) {
    const node = nodes.get(name);
    if (node && !entries.has(name))
      entries.set(name, { name, replaces: '', skips: [], skipRange: node.skipRange });
  }
  return [...entries.values()];
}

/** The default channel: what the highest listed version says, or the one before if it says nothing. @throws EditError */
function defaultOf(
  { nodes, lanes: before, defaultChannel }: PackageGraph,
  bundles: readonly PlacedBundle[],
  lanes: ReadonlyMap<string, readonly Edges[]>,
): string {
  const listed = new Set([...before.values()].flatMap((lane) => lane.map(({ name }) => name)));
  let highest: Version | undefined;
  for (const { name, version } of nodes.values()) {
    if (listed.has(name) && compareReleases(version, highest) > 0) highest = version;
  }
  let chosen = defaultChannel;
  for (const { version, defaultChannel: said } of bundles) {
    if (compareReleases(version, highest) < 0) continue;
    highest = version;
    if (said !== '') chosen = said;
  }
  // Where nobody names a default, the only channel is it.
  const [only = ''] = lanes.size === 1 ? lanes.keys() : [];
  if (lanes.has(chosen) || (chosen === '' && only !== '')) return chosen || only;
  const channels = [...lanes.keys()].map(quoted).join(', ');
  throw new EditError(
    chosen === ''
      ? `the default channel is not one of the channels ${channels}`
      : `the default channel ${quoted(chosen)} is not one of the channels ${channels}`,
    'operators.operatorframework.io.bundle.channel.default.v1: CHANNEL in the annotations of the highest version',
  );
}

/** Versions in their order; of equal ones, that with the higher build metadata is later. No version is the lowest. */
export function compareReleases(a: Version | undefined, b: Version | undefined): number {
  if (!a || !b) return Number(a !== undefined) - Number(b !== undefined);
  const order = compareVersions(a, b);
  if (order !== 0) return order;
  const [x, y] = [a.build.join('.'), b.build.join('.')];
  if (x === '' || y === '') return Number(x !== '') - Number(y !== '');
  // Build metadata has no order of its own: it is compared as pre-releases are.
  const [left, right] = [tryParseVersion(`0.0.0-${x}`), tryParseVersion(`0.0.0-${y}`)];
  return left && right ? compareVersions(left, right) : compareText(x, y);
}
