/** The releases by which a cluster gets to a version of its platform, and the channels that have them. */
import { compareMinors, formatMinor, type Minor, minorOf } from '../../fbc/openshift.ts';
import { compareVersions, formatVersion, type Version } from '../../version/version.ts';
import { ChannelError } from '../release/channel-releases.ts';
import {
  type GraphRelease,
  releaseAt,
  shortestPath,
  type UpdateGraph,
  type UpdateGraphs,
} from '../release/update-graph.ts';
import { UpgradeRefusal } from './cluster.ts';

/** The version to get to: a minor version means its highest release that can be reached. */
export interface UpgradeTarget {
  readonly minor: Minor;
  readonly version: Version | undefined;
}

export interface ReleaseStep {
  readonly release: GraphRelease;
  /** The channel whose graph has the update. */
  readonly channel: string;
}

/**
 * Finds the fewest updates.
 *
 * @param kind the part of channel names before the version: `stable`
 * @throws UpgradeRefusal
 */
export async function releasePath(
  from: Version,
  target: UpgradeTarget,
  { kind, graphs }: { readonly kind: string; readonly graphs: UpdateGraphs },
): Promise<ReleaseStep[]> {
  const last = `${kind}-${formatMinor(target.minor)}`;
  const goal = await graphs(last);
  const within = await pathIn(goal, from, target);
  if (within) return within.slice(1).map((release) => ({ release, channel: last }));
  // The channel of the target may begin behind the cluster's version: earlier ones lead into it.
  const named = new Map([[last, goal]]);
  for (const channel of channelsBetween(from, target, kind)) {
    // The way may lead past a channel that cannot be read; if none leads there, the refusal leaves it out.
    const graph = await graphs(channel).catch(() => undefined);
    if (graph && graph.releases.length > 0) named.set(channel, graph);
  }
  const path = await pathIn(joinedGraph([...named.values()]), from, target);
  if (path) return withChannels(path, named);
  const names = [...named.keys()].join(', ');
  throw new UpgradeRefusal(
    `no update leads from ${formatVersion(from)} to ${target.version ? formatVersion(target.version) : formatMinor(target.minor)} in the channels ${names}`,
  );
}

/** The path to the target: to its highest release that can be reached if it names only a minor version. */
async function pathIn(
  graph: UpdateGraph,
  from: Version,
  { minor, version }: UpgradeTarget,
): Promise<readonly GraphRelease[] | undefined> {
  const start = releaseAt(graph, from);
  if (!start) return undefined;
  const goals = graph.releases
    .filter(({ parsed }) =>
      version
        ? compareVersions(parsed, version) === 0
        : compareMinors(minorOf(parsed), minor) === 0 && parsed.prerelease.length === 0,
    )
    .sort((a, b) => compareVersions(b.parsed, a.parsed));
  for (const goal of goals) {
    const path = await shortestPath(graph, start, goal);
    if (path.length > 0) return path;
  }
  return undefined;
}

/** From that of the target's predecessor down to that of the cluster. */
function channelsBetween(from: Version, { minor }: UpgradeTarget, kind: string): string[] {
  const least = minorOf(from);
  if (least.major !== minor.major) return [];
  const channels: string[] = [];
  for (let at = minor.minor - 1; at >= least.minor; at--)
    channels.push(`${kind}-${formatMinor({ major: minor.major, minor: at })}`);
  return channels;
}

/** The graphs of several channels as one: a release is the same one in each of them. */
function joinedGraph(graphs: readonly UpdateGraph[]): UpdateGraph {
  const releases = new Map<string, GraphRelease>();
  for (const graph of graphs)
    for (const release of graph.releases)
      if (!releases.has(release.version)) releases.set(release.version, release);
  return {
    releases: [...releases.values()],
    predecessors: async (to, least) => {
      const found = await Promise.all(graphs.map((graph) => beforeIn(graph, to, least)));
      return [...new Set(found.flat().flatMap(({ version }) => releases.get(version) ?? []))];
    },
  };
}

/** The releases that update to a release, as one channel knows them; none if it does not have the release. */
async function beforeIn(
  graph: UpdateGraph,
  to: GraphRelease,
  least: GraphRelease,
): Promise<readonly GraphRelease[]> {
  const own = releaseAt(graph, to.parsed);
  return own ? graph.predecessors(own, releaseAt(graph, least.parsed) ?? least) : [];
}

/**
 * The channel of each update on a path. A channel that has the following update as well is preferred, so that it changes
 * less often.
 */
async function withChannels(
  path: readonly GraphRelease[],
  named: ReadonlyMap<string, UpdateGraph>,
): Promise<ReleaseStep[]> {
  const steps: ReleaseStep[] = [];
  for (let i = path.length - 1; i > 0; i--) {
    const [before, release] = [path[i - 1], path[i]];
    if (!before || !release) break;
    const having: string[] = [];
    for (const [channel, graph] of named) {
      const predecessors = await beforeIn(graph, release, before);
      if (predecessors.some(({ version }) => version === before.version)) having.push(channel);
    }
    const behind = steps[0]?.channel;
    const channel = having.find((one) => one === behind) ?? having[0];
    if (channel === undefined) throw new ChannelError(`no channel has the update to ${release.version}`);
    steps.unshift({ release, channel });
  }
  return steps;
}
