/** Update graphs of channels: from an update service, from files that it sent, or from graph data and the payloads. */
import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { compareText } from '../../../catalog/go/text.ts';
import {
  ARCHITECTURES,
  type Architecture,
  type ReleaseChannel,
} from '../../../catalog/mirror/release/release-selection.ts';
import {
  channelsOfVersions,
  channelVersions,
  type GraphDataFiles,
  type GraphRelease,
  readUpdateGraph,
  type UpdateGraph,
  type UpdateGraphs,
  updateRules,
} from '../../../catalog/mirror/release/update-graph.ts';
import { formatReference, parseReference, tryParseReference } from '../../../catalog/reference.ts';
import { compareVersions, tryParseVersion } from '../../../catalog/version/version.ts';
import { isDirectory, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { eachOf } from '../../parallel.ts';
import type { Registry } from '../../ports.ts';
import { temporaryFolder } from '../../write.ts';
import type { RepositoryPorts } from '../charts/repository.ts';
import { graphDataError, readGraphData } from './graph-data-files.ts';
import { type PayloadPorts, readPrevious } from './payload.ts';

/** Update services of the platforms. */
export const UPDATE_SERVICES: Readonly<Record<ReleaseChannel['type'], string>> = {
  ocp: 'https://api.openshift.com/api/upgrades_info/v1/graph',
  okd: 'https://origin-release.ci.openshift.org/graph',
};

/** The repository of the payloads of OpenShift. */
export const RELEASES = 'quay.io/openshift-release-dev/ocp-release';

interface GraphPorts extends PayloadPorts, Pick<RepositoryPorts, 'download'> {
  /** An update service (`https://…`), a file or directory of its graphs, or graph data. */
  readonly place: string;
  /** Where payloads are of which graph data only has the versions. */
  readonly releases: string;
}

/** Bytes of a graph at most; those of 2026 have less than 2 MB. */
const LARGEST = 64 * 2 ** 20;
/** Payloads that are asked for at a time. */
const PARALLEL = 16;

/** Opens the graphs of an architecture; each is read once. */
export function openGraphs(architecture: Architecture, ports: GraphPorts): UpdateGraphs {
  const graphs = new Map<string, Promise<UpdateGraph>>();
  let data: Promise<GraphDataFiles> | undefined;
  const read = async (channel: string): Promise<UpdateGraph> => {
    const { place } = ports;
    if (isUrl(place)) return servedGraph(channel, architecture, ports);
    if (!isGraphDataPlace(place)) return recordedGraph(channel, architecture, place);
    data ??= readGraphData(place, ports);
    return composedGraph(channel, architecture, await data, ports);
  };
  return (channel) => {
    const graph = graphs.get(channel) ?? read(channel);
    graphs.set(channel, graph);
    return graph;
  };
}

function isUrl(place: string): boolean {
  return /^https?:\/\//.test(place);
}

/** Whether a place on disk has graph data: a directory with `channels`, or an archive. */
export function isGraphDataPlace(place: string): boolean {
  return isDirectory(place) ? existsSync(join(place, 'channels')) : /\.(?:tar|tar\.gz|tgz)$/.test(place);
}

/** The graph of a channel from an update service. */
async function servedGraph(
  channel: string,
  architecture: Architecture,
  { place, download }: GraphPorts,
): Promise<UpdateGraph> {
  const url = new URL(place);
  url.searchParams.set('arch', architecture);
  url.searchParams.set('channel', channel);
  const what = `the update graph of ${channel} (${architecture}) at ${url.host}`;
  try {
    return graphIn(new TextDecoder().decode(await download(url, what, LARGEST, JSON_TYPE)), what);
  } catch (error) {
    // Disconnected hosts can use files instead. An error with a hint has a better remedy.
    if (!(error instanceof PipelineError) || error.code !== 'unreachable' || error.hint !== undefined)
      throw error;
    throw new PipelineError(error.code, error.message, {
      cause: error,
      hint: 'without a way there, name the graph in files with --update-graph',
    });
  }
}

/** What is asked of update services, which send the graph as JSON. */
const JSON_TYPE = 'application/json';

/** The update graph in a text. @throws PipelineError `usage` for a text that is not one */
function graphIn(text: string, what: string): UpdateGraph {
  const graph = readUpdateGraph(text);
  if (typeof graph !== 'string') return graph;
  throw new PipelineError('usage', `${what} ${graph}`);
}

/** A graph in a file: of a directory that of the channel, as oc-mirror names it. */
function recordedGraph(channel: string, architecture: Architecture, place: string): UpdateGraph {
  const name = `${architecture}-${channel}.json`;
  if (isDirectory(place)) {
    const path = join(place, name);
    if (existsSync(path)) return graphIn(readText(path), path);
    throw new PipelineError('not-found', `${place} has no update graph ${name}`, {
      hint: `save it: curl -H 'Accept: application/json' '${UPDATE_SERVICES.ocp}?arch=${architecture}&channel=${channel}' > ${name}`,
    });
  }
  const graph = graphIn(readText(place), place);
  // One file is one channel's graph: that of another channel lacks releases.
  const isNamed = basename(place) === name;
  const other = graph.releases.find(({ channels }) => !channels.includes(channel));
  if (isNamed || (graph.releases.length > 0 && !other)) return graph;
  throw new PipelineError(
    'usage',
    `${place} does not say that it is the update graph of channel ${channel}`,
    { hint: `put the graphs of all channels into a directory, this one as ${name}, and name the directory` },
  );
}

/** A graph from graph data: the releases that exist of those that it lists, and the updates that their payloads have. */
async function composedGraph(
  channel: string,
  architecture: Architecture,
  files: GraphDataFiles,
  ports: GraphPorts,
): Promise<UpdateGraph> {
  const { place } = ports;
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw graphDataError(error, place);
    }
  };
  const versions = attempt(() => channelVersions(files, channel, architecture));
  if (!versions) throw new PipelineError('not-found', `${place} has no channel ${channel}`);
  const releases = await existingReleases(versions, architecture, ports);
  const byVersion = new Map(releases.map((release) => [release.version, release]));
  let rules: ReturnType<typeof updateRules> | undefined;
  return {
    releases,
    predecessors: async (release, least) => {
      rules ??= attempt(() => updateRules(files, architecture));
      const previous = await readPrevious(parseReference(release.image), ports);
      return rules
        .predecessorsOf(release.version, previous)
        .flatMap((version) => byVersion.get(version) ?? [])
        .filter(({ parsed }) => compareVersions(parsed, least.parsed) >= 0);
    },
  };
}

/**
 * The releases of versions that have a payload for an architecture: graph data lists versions that have none,
 * too.
 */
async function existingReleases(
  versions: readonly string[],
  architecture: Architecture,
  { registry, releases: repository }: GraphPorts,
): Promise<GraphRelease[]> {
  const found = new Map<string, GraphRelease>();
  await eachOf(versions, PARALLEL, async (version) => {
    const parsed = tryParseVersion(version);
    // A version may be too long for a tag.
    const reference = tryParseReference(`${repository}:${version}-${ARCHITECTURES[architecture]}`);
    if (!parsed || !reference)
      throw new PipelineError('usage', `${JSON.stringify(version)} is not a version of a release`);
    const payload = await registry.resolve(reference);
    if (!payload) return;
    const { registry: host, repository: name } = reference;
    const image = formatReference({
      kind: 'digest',
      registry: host,
      repository: name,
      digest: payload.digest,
    });
    found.set(version, { version, parsed, image, channels: [] });
  });
  return [...found.values()].sort(
    (a, b) => compareVersions(a.parsed, b.parsed) || compareText(a.version, b.version),
  );
}

// Where releases and their update graphs are read from, for those who list them.

/** The options of commands that read releases, opened. */
export interface ReleasePlaces {
  readonly registry: Registry;
  readonly download: RepositoryPorts['download'];
  /** Where update graphs are, as in `GraphPorts`; absent: the platform's update service, OpenShift's for lists. */
  readonly graphs: string | undefined;
  /** Where payloads are of which graph data only has the versions. */
  readonly releases: string;
  readonly close: () => void;
}

export interface ReleaseSource extends Pick<ReleasePlaces, 'registry' | 'releases' | 'close'> {
  readonly graphs: (architecture: Architecture) => UpdateGraphs;
  /** The channels that have a release of a channel. */
  readonly channelsWith: (channel: string, architecture: Architecture) => Promise<readonly string[]>;
}

/** What lists releases: update graphs, and the registry that has the payloads. */
export function openReleaseSource(places: ReleasePlaces): ReleaseSource {
  const { graphs: place = UPDATE_SERVICES.ocp, registry, releases, download } = places;
  const scratch = temporaryFolder('releases');
  const graphs = (architecture: Architecture): UpdateGraphs =>
    openGraphs(architecture, { place, registry, releases, download, scratch });
  return {
    registry,
    releases,
    graphs,
    channelsWith: async (channel, architecture) => {
      const { releases: ofChannel } = await graphs(architecture)(channel);
      // Graph data on disk lists versions by channel; a graph from an update service names the channels of each release.
      if (!isUrl(place) && isGraphDataPlace(place)) {
        const versions = new Set(ofChannel.map(({ version }) => version));
        return channelsOfVersions(await readGraphData(place, { download }), versions, architecture);
      }
      return [...new Set(ofChannel.flatMap(({ channels }) => channels))].sort();
    },
    close: () => {
      places.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}
