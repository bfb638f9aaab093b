/**
 * Update graphs of OpenShift and OKD as the Cincinnati protocol sends them: the releases of a channel, and which of them
 * update to which.
 *
 * @see https://github.com/openshift/cincinnati/blob/master/docs/design/cincinnati.md
 */

import { appendToGroup } from '../../go/grouped.ts';
import { compileGoRegexp, type GoRegexp } from '../../go/regexp.ts';
import { isObject, isTexts } from '../../go/shape.ts';
import { MOST_STEPS, type Steps } from '../../go/steps.ts';
import { parsedJson } from '../../json.ts';
import { compareVersions, tryParseVersion, type Version } from '../../version/version.ts';
import { compose } from '../../yaml/compose.ts';
import { readTree } from '../../yaml/parser.ts';
import { YamlError } from '../../yaml/tree.ts';

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
  const incomplete = releases.indexOf(undefined);
  if (incomplete >= 0) return `has no version or no payload in nodes[${incomplete}]`;
  const known = releases.filter((one) => one !== undefined);
  const before = new Map<GraphRelease, GraphRelease[]>();
  for (const [i, edge] of edges.entries()) {
    const [from, to] = isList(edge)
      ? edge.map((end) => (typeof end === 'number' ? known[end] : undefined))
      : [];
    if (!from || !to) return `has no pair of nodes in edges[${i}]`;
    appendToGroup(before, to, from);
  }
  return { releases: known, predecessors: async (release) => before.get(release) ?? [] };
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** A release from a node of the update graph; undefined if it lacks a version or a payload. */
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
    for (const { to, before: predecessors } of found) {
      for (const from of predecessors) {
        if (seen.has(from)) continue;
        before.add(from);
        appendToGroup(next, from, to);
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

/** The highest of some releases, of which there is always one here. */
function highest([first, ...others]: readonly GraphRelease[]): GraphRelease {
  if (!first) throw new TypeError('internal error: a way ends before its end');
  return others.reduce((best, one) => (compareVersions(one.parsed, best.parsed) > 0 ? one : best), first);
}

// The files of the public graph-data repository: which releases channels have, and which updates are blocked. The updates
// themselves are in the payloads.
//
// @see https://github.com/openshift/cincinnati-graph-data

/** What is wrong with graph data; the message names the file. */
export class GraphDataError extends Error {}

/** Files by path: `channels/…`, `blocked-edges/…`, `raw/metadata.json` and `version`. */
export type GraphDataFiles = ReadonlyMap<string, string>;

/** Whether a path within the repository is one of those that update services read. */
export function isGraphData(path: string): boolean {
  return /^(?:LICENSE|version|raw\/metadata\.json|(?:channels|blocked-edges)\/[^/]+\.yaml)$/.test(path);
}

/** Checks that the files are graph data of a known layout. @throws GraphDataError for a layout of another version */
export function checkGraphData(files: GraphDataFiles): void {
  const version = files.get('version')?.trim() ?? '';
  // Versions 1.0 and 1.1 are known; a later minor version may have what changes the graph.
  if (!/^1\.[01]\.\d+$/.test(version))
    throw new GraphDataError(`the graph data has version ${JSON.stringify(version)}, expected 1.0 or 1.1`);
}

/**
 * The versions of a channel for an architecture, as its file lists them; undefined for a channel that has no file.
 *
 * @throws GraphDataError
 */
export function channelVersions(
  files: GraphDataFiles,
  channel: string,
  architecture: string,
): readonly string[] | undefined {
  const path = `channels/${channel}.yaml`;
  const text = files.get(path);
  if (text === undefined) return undefined;
  const { versions } = fieldsIn(text, path);
  if (!isTexts(versions)) throw new GraphDataError(`${path} has no versions`);
  return [...new Set(versions.flatMap((version) => forArchitecture(version, architecture) ?? []))];
}

/** The channels that have one of some versions, sorted. @throws GraphDataError */
export function channelsOfVersions(
  files: GraphDataFiles,
  versions: ReadonlySet<string>,
  architecture: string,
): readonly string[] {
  const names = [...files.keys()].flatMap((path) => /^channels\/(.*)\.yaml$/.exec(path)?.[1] ?? []);
  return names
    .filter((name) => channelVersions(files, name, architecture)?.some((version) => versions.has(version)))
    .sort();
}

/** A version without the architecture that it is for; undefined where that is another one. */
function forArchitecture(version: string, architecture: string): string | undefined {
  const [name = '', build] = version.split('+', 2);
  return build === undefined || build === architecture ? name : undefined;
}

/** What graph data says of the updates to releases. */
interface UpdateRules {
  /**
   * The versions that update to a version.
   *
   * @param previous what its payload says
   */
  predecessorsOf(version: string, previous: readonly string[]): readonly string[];
}

/** The public graph data has some 2,000 expressions, a hundred times what owners' files may have. */
const GRAPH_STEPS = 100 * MOST_STEPS;

/**
 * Reads the updates that are added and blocked for an architecture. One that is blocked for some clusters only counts as
 * blocked, as it does in the list of edges that update services send.
 *
 * @throws GraphDataError
 */
export function updateRules(files: GraphDataFiles, architecture: string): UpdateRules {
  const blocked = new Map<string, GoRegexp[]>();
  const steps: Steps = { left: GRAPH_STEPS };
  for (const [path, text] of files) {
    if (!path.startsWith('blocked-edges/')) continue;
    const { to, from } = fieldsIn(text, path);
    const pattern = typeof from === 'string' ? compileGoRegexp(from, steps) : undefined;
    if (typeof to !== 'string' || !pattern)
      throw new GraphDataError(`${path} has no version in "to", or no regular expression in "from"`);
    const version = forArchitecture(to, architecture);
    if (version !== undefined) appendToGroup(blocked, version, pattern);
  }
  const raw = parsedJson(files.get('raw/metadata.json') ?? '{}');
  const added = (version: string): readonly string[] => {
    const metadata = isObject(raw) ? raw[version] : undefined;
    const text = isObject(metadata) ? metadata[ADDED] : undefined;
    return typeof text === 'string' ? text.split(',') : [];
  };
  return {
    predecessorsOf: (version, previous) => {
      const patterns = blocked.get(version) ?? [];
      // The expressions, such as `4[.]1[.]18[+].*`, are about versions with their architecture.
      return [...new Set([...previous, ...added(version)])].filter(
        (from) => !patterns.some((pattern) => pattern.test(`${from}+${architecture}`, steps)),
      );
    },
  };
}

const ADDED = 'io.openshift.upgrades.graph.previous.add';

/**
 * The fields of a file of YAML.
 *
 * @throws GraphDataError
 */
function fieldsIn(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    const { value } = compose(readTree(text).root);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new GraphDataError(`${path} is not YAML: ${error.message}`, { cause: error });
  }
  throw new GraphDataError(`${path} has no fields`);
}
