/**
 * The files of the public graph-data repository: which releases channels have, and which updates are blocked. The updates
 * themselves are in the payloads.
 *
 * @see https://github.com/openshift/cincinnati-graph-data
 */
import { compileGoRegexp, type GoRegexp } from '../../go/regexp.ts';
import { isObject } from '../../go/shape.ts';
import { DEEPEST, parsedJson } from '../../json.ts';
import { compose } from '../../yaml/compose.ts';
import { readTree } from '../../yaml/parser.ts';
import { YamlError } from '../../yaml/tree.ts';

/** What is wrong with graph data; the message names the file. */
export class GraphDataError extends Error {}

/** Files by path: `channels/…`, `blocked-edges/…`, `raw/metadata.json` and `version`. */
export type GraphDataFiles = ReadonlyMap<string, string>;

/** Whether a path within the repository is one of those that update services read. */
export function isGraphData(path: string): boolean {
  return /^(?:LICENSE|version|raw\/metadata\.json|(?:channels|blocked-edges)\/[^/]+\.yaml)$/.test(path);
}

/** @throws GraphDataError for a layout of another version */
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

/**
 * Reads the updates that are added and blocked for an architecture. One that is blocked for some clusters only counts as
 * blocked, as it does in the list of edges that update services send.
 *
 * @throws GraphDataError
 */
export function updateRules(files: GraphDataFiles, architecture: string): UpdateRules {
  const blocked = new Map<string, GoRegexp[]>();
  for (const [path, text] of files) {
    if (!path.startsWith('blocked-edges/')) continue;
    const { to, from } = fieldsIn(text, path);
    const pattern = typeof from === 'string' ? compileGoRegexp(from) : undefined;
    if (typeof to !== 'string' || !pattern)
      throw new GraphDataError(`${path} has no version in "to", or no regular expression in "from"`);
    const version = forArchitecture(to, architecture);
    if (version === undefined) continue;
    const patterns = blocked.get(version);
    if (patterns) patterns.push(pattern);
    else blocked.set(version, [pattern]);
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
      return [...new Set([...previous, ...added(version)])].filter(
        (from) => !patterns.some((pattern) => pattern.test(`${from}+${architecture}`)),
      );
    },
  };
}

const ADDED = 'io.openshift.upgrades.graph.previous.add';

function fieldsIn(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    const { value } = compose(readTree(text, { depth: DEEPEST }).root);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new GraphDataError(`${path} is not YAML: ${error.message}`, { cause: error });
  }
  throw new GraphDataError(`${path} has no fields`);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
