/**
 * Update graphs of OpenShift and OKD as the Cincinnati protocol sends them: the releases of a channel, and which of them
 * update to which.
 *
 * @see https://github.com/openshift/cincinnati/blob/master/docs/design/cincinnati.md
 */
import { isObject } from '../../go/shape.ts';
import { parsedJson } from '../../json.ts';
import { compareVersions, tryParseVersion, type Version } from '../../version/version.ts';

/** A release in a graph. */
export interface GraphRelease {
  /** As the graph writes it, such as `4.20.3`. */
  readonly version: string;
  readonly parsed: Version;
  /** Its payload. */
  readonly image: string;
  /** Channels that have it, as far as the graph says so. */
  readonly channels: readonly string[];
}

/** The graph of one channel for one architecture. */
export interface UpdateGraph {
  /** In the order of the graph. */
  readonly releases: readonly GraphRelease[];
  /**
   * The releases that update directly to one of them.
   *
   * @param least releases below it are not asked for
   */
  predecessors(release: GraphRelease, least: GraphRelease): Promise<readonly GraphRelease[]>;
}

/** Finds the graph of a channel. */
export type UpdateGraphs = (channel: string) => Promise<UpdateGraph>;

const CHANNELS = 'io.openshift.upgrades.graph.release.channels';

/**
 * Reads a graph in JSON. Conditional edges do not count: they are updates with a known risk.
 *
 * @returns a text that says what is wrong where it is not one; it follows the name of the graph
 */
export function readUpdateGraph(text: string): UpdateGraph | string {
  const graph = parsedJson(text);
  const { nodes, edges } = isObject(graph) ? graph : {};
  if (!isList(nodes) || !isList(edges)) return 'is not an update graph: it has no nodes or no edges';
  const releases = nodes.map(releaseOf);
  const wrong = releases.indexOf(undefined);
  if (wrong >= 0) return `has no version or no payload in nodes[${wrong}]`;
  const known = releases.filter((one) => one !== undefined);
  const before = new Map<GraphRelease, GraphRelease[]>();
  for (const [i, edge] of edges.entries()) {
    const [from, to] = isList(edge) ? edge.map((end) => known[Number(end)]) : [];
    if (!from || !to) return `has no pair of nodes in edges[${i}]`;
    addTo(before, to, from);
  }
  return { releases: known, predecessors: async (release) => before.get(release) ?? [] };
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function releaseOf(node: unknown): GraphRelease | undefined {
  const { version, payload, metadata } = isObject(node) ? node : {};
  const parsed = typeof version === 'string' ? tryParseVersion(version) : undefined;
  if (typeof version !== 'string' || typeof payload !== 'string' || payload === '' || !parsed)
    return undefined;
  const channels = isObject(metadata) ? metadata[CHANNELS] : undefined;
  return {
    version,
    parsed,
    image: payload,
    channels: typeof channels === 'string' ? channels.split(',') : [],
  };
}

/** The release of a version; build metadata does not count. */
export function releaseAt({ releases }: UpdateGraph, version: Version): GraphRelease | undefined {
  return releases.find(({ parsed }) => compareVersions(parsed, version) === 0);
}

/** The lowest and the highest release; undefined where there is none. */
export function boundsOf({ releases }: UpdateGraph): { first: GraphRelease; last: GraphRelease } | undefined {
  const sorted = [...releases].sort((a, b) => compareVersions(a.parsed, b.parsed));
  const [first, last] = [sorted[0], sorted.at(-1)];
  return first && last && { first, last };
}

/**
 * The shortest way from one release to another, both included; of several, the one whose first steps go highest, as oc-mirror
 * chooses it. Empty where there is none.
 */
export async function shortestPath(
  graph: UpdateGraph,
  start: GraphRelease,
  end: GraphRelease,
): Promise<GraphRelease[]> {
  // From the end: only what leads to it is asked for.
  const next = new Map<GraphRelease, GraphRelease[]>();
  const seen = new Set([end]);
  for (let level = [end]; level.length > 0 && !seen.has(start); ) {
    const found = await Promise.all(
      level.map(async (to) => ({ to, before: await graph.predecessors(to, start) })),
    );
    const before = new Set<GraphRelease>();
    for (const { to, before: some } of found) {
      for (const from of some) {
        if (seen.has(from)) continue;
        before.add(from);
        addTo(next, from, to);
      }
    }
    level = [...before];
    for (const one of level) seen.add(one);
  }
  if (!seen.has(start)) return [];
  const path = [start];
  for (let at = start; at !== end; path.push(at)) at = highest(next.get(at) ?? []);
  return path;
}

function highest([first, ...others]: readonly GraphRelease[]): GraphRelease {
  if (!first) throw new TypeError('internal error: a way ends before its end');
  return others.reduce((best, one) => (compareVersions(one.parsed, best.parsed) > 0 ? one : best), first);
}
