/**
 * Which releases the channels of an ImageSetConfiguration select, as oc-mirror computes it.
 *
 * @see https://github.com/openshift/oc-mirror/blob/main/internal/pkg/release/cincinnati.go
 * @see https://github.com/openshift/oc-mirror/blob/main/internal/pkg/release/core-cincinnati.go
 */
import { compareVersions, formatVersion, tryParseVersion, type Version } from '../../version/version.ts';
import type { ReleaseChannel } from './release-selection.ts';
import {
  boundsOf,
  type GraphRelease,
  releaseAt,
  shortestPath,
  type UpdateGraph,
  type UpdateGraphs,
} from './update-graph.ts';

/** What a channel selects cannot be told; the message names the channel. */
export class ChannelError extends Error {}

/** The releases that channels select, and what is worth knowing of it. */
interface SelectedReleases {
  /** Each once, in the order in which they were found. */
  readonly releases: readonly GraphRelease[];
  readonly warnings: readonly string[];
}

/** A channel whose bounds are known. */
interface BoundChannel extends ReleaseChannel {
  readonly least: Version;
  readonly most: Version;
}

/**
 * The releases of one channel.
 *
 * @throws ChannelError
 */
export async function releasesOf(channel: ReleaseChannel, graphs: UpdateGraphs): Promise<SelectedReleases> {
  const graph = await graphs(channel.name);
  const { least, most, isShortest } = withBounds(channel, graph);
  if (isShortest) return pathIn(graph, channel.name, { from: least, to: most });
  const within = graph.releases.filter(
    ({ parsed }) => compareVersions(parsed, least) >= 0 && compareVersions(parsed, most) <= 0,
  );
  if (within.length > 0) return { releases: within, warnings: [] };
  throw new ChannelError(
    `channel ${channel.name} has no release from ${channel.minVersion ?? 'its first'} to ${channel.maxVersion ?? 'its last'}`,
  );
}

/**
 * The releases between several channels: from the lowest version of all of them to the highest one.
 *
 * @throws ChannelError
 */
export async function releasesAcross(
  channels: readonly ReleaseChannel[],
  graphs: UpdateGraphs,
): Promise<SelectedReleases> {
  const bound = await Promise.all(
    channels.map(async (channel) => withBounds(channel, await graphs(channel.name))),
  );
  const lowest = bound.reduce((a, b) => (compareVersions(b.least, a.least) < 0 ? b : a));
  const highest = bound.reduce((a, b) => (compareVersions(b.most, a.most) > 0 ? b : a));
  const way = { from: lowest.least, to: highest.most };
  if (lowest.name === highest.name) {
    return pathIn(await graphs(lowest.name), lowest.name, way);
  }
  return upgrades({ source: lowest.name, target: highest.name }, way, graphs);
}

/** Without bounds, a channel is its last release; with `full`, or with one bound, it begins or ends where the channel does. */
function withBounds(channel: ReleaseChannel, graph: UpdateGraph): BoundChannel {
  const bounds = boundsOf(graph);
  if (!bounds) throw new ChannelError(`channel ${channel.name} has no releases`);
  const { minVersion, maxVersion, isFull } = channel;
  const most = maxVersion === undefined ? bounds.last.parsed : versionOf(maxVersion);
  const isHead = minVersion === undefined && maxVersion === undefined && !isFull;
  const first = isHead ? most : bounds.first.parsed;
  return { ...channel, least: minVersion === undefined ? first : versionOf(minVersion), most };
}

/** The versions at both ends. */
interface Way {
  readonly from: Version;
  readonly to: Version;
}

/** A way within one channel. */
interface Route {
  readonly start: GraphRelease;
  readonly end: GraphRelease;
  /** Empty where no way leads from the one to the other. */
  readonly path: readonly GraphRelease[];
}

/**
 * The way between two versions in a channel.
 *
 * @throws ChannelError if the channel does not have one of them
 */
async function routeIn(graph: UpdateGraph, name: string, { from, to }: Way): Promise<Route> {
  const at = (version: Version): GraphRelease => {
    const release = releaseAt(graph, version);
    if (release) return release;
    throw new ChannelError(`channel ${name} has no release ${formatVersion(version)}`);
  };
  const [start, end] = [at(from), at(to)];
  return { start, end, path: await shortestPath(graph, start, end) };
}

/** Both ends, and what is between them; only the ends where no way leads from one to the other. */
async function pathIn(graph: UpdateGraph, name: string, way: Way): Promise<SelectedReleases> {
  const { start, end, path } = await routeIn(graph, name, way);
  return { releases: eachOnce([...path, start, end]), warnings: path.length > 0 ? [] : [noWay(name, way)] };
}

/** The warning that no update leads from one version to the other. */
function noWay(channel: string, { from, to }: Way): string {
  return `no update leads from ${formatVersion(from)} to ${formatVersion(to)} in channel ${channel}`;
}

/** The ends of a way between channels. */
interface Channels {
  readonly source: string;
  readonly target: string;
}

/**
 * The releases on the way from one channel to another: in each channel, up to its last release, until the target is
 * reached.
 */
async function upgrades(
  { source, target }: Channels,
  { from, to }: Way,
  graphs: UpdateGraphs,
): Promise<SelectedReleases> {
  const [first, last] = [minorOf(source), minorOf(target)];
  if (first.major === last.major && first.minor === last.minor) {
    const graph = await graphs(target);
    // A lowest version that only the source channel has is left out: the way begins and ends with the highest.
    return pathIn(graph, target, { from: releaseAt(graph, from) ? from : to, to });
  }
  let at = lastOf(source, await graphs(source));
  const begin = await routeIn(await graphs(source), source, { from, to: at });
  const releases = [begin.start, ...begin.path];
  const warnings = begin.path.length > 0 ? [] : [noWay(source, { from, to: at })];
  for (let minor = first.minor + 1; ; minor++) {
    const isLast = first.major === last.major && minor === last.minor;
    const name = isLast ? target : `${first.prefix}-${first.major}.${minor}`;
    const graph = await graphs(name);
    const goal = isLast ? to : lastOf(name, graph);
    const way = { from: at, to: goal };
    if (!releaseAt(graph, at)) {
      // oc-mirror goes no further, either.
      const { end } = await routeIn(await graphs(target), target, { from: goal, to: goal });
      return { releases: eachOnce([...releases, end]), warnings: [...warnings, noWay(name, way)] };
    }
    const { path, end } = await routeIn(graph, name, way);
    for (const release of path) releases.push(release);
    if (path.length === 0) warnings.push(noWay(name, way));
    if (isLast) return { releases: eachOnce([...releases, end]), warnings };
    at = goal;
  }
}

/**
 * The highest version of a channel.
 *
 * @throws ChannelError for a channel without releases
 */
function lastOf(name: string, graph: UpdateGraph): Version {
  const bounds = boundsOf(graph);
  if (bounds) return bounds.last.parsed;
  throw new ChannelError(`channel ${name} has no releases`);
}

function eachOnce(releases: readonly GraphRelease[]): GraphRelease[] {
  return [...new Map(releases.map((release) => [release.image, release])).values()];
}

interface ChannelMinor {
  readonly prefix: string;
  readonly major: number;
  readonly minor: number;
}

/**
 * The parts of a channel's name, such as `stable-4.20`.
 *
 * @throws ChannelError for another name: channels are followed by their versions
 */
function minorOf(channel: string): ChannelMinor {
  const [, prefix, major, minor] = /^(.*)-(\d{1,6})\.(\d{1,6})$/.exec(channel) ?? [];
  if (prefix !== undefined) return { prefix, major: Number(major), minor: Number(minor) };
  throw new ChannelError(
    `no way can be found between channel ${channel} and another one: its name does not end with a version such as -4.20`,
  );
}

function versionOf(text: string): Version {
  const version = tryParseVersion(text);
  if (version) return version;
  throw new ChannelError(`${JSON.stringify(text)} is not a version`);
}
