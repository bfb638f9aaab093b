/** What channels of releases select, compared with what oc-mirror's own code selected of the same graphs. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  ChannelError,
  releasesAcross,
  releasesOf,
} from '../../../../catalog/mirror/release/channel-releases.ts';
import type { ReleaseChannel } from '../../../../catalog/mirror/release/release-selection.ts';
import { readUpdateGraph, type UpdateGraph } from '../../../../catalog/mirror/release/update-graph.ts';

interface RecordedChannel {
  readonly name: string;
  readonly minVersion?: string;
  readonly maxVersion?: string;
  readonly shortestPath?: boolean;
  readonly full?: boolean;
}

interface Recorded {
  readonly graphs: Readonly<Record<string, unknown>>;
  /** `versions` is null where oc-mirror refused. */
  readonly cases: readonly {
    readonly channels: readonly RecordedChannel[];
    readonly versions: readonly string[] | null;
  }[];
}

// Invented graphs; recorded with openshift/oc-mirror 855b64a3. Cases in which its answer varies from run to run are left out.
const { graphs: recorded, cases }: Recorded = JSON.parse(
  readFileSync(new URL('oc-mirror-selections.json', import.meta.url), 'utf8'),
);

function graphOf(json: unknown): UpdateGraph {
  const graph = readUpdateGraph(JSON.stringify(json));
  if (typeof graph === 'string') throw new Error(graph);
  return graph;
}

async function graphs(channel: string): Promise<UpdateGraph> {
  return graphOf(recorded[channel] ?? { nodes: [], edges: [] });
}

function channelOf({ shortestPath = false, full = false, ...channel }: RecordedChannel): ReleaseChannel {
  const location = { file: 'isc.yaml', line: 1, column: 1 };
  return { type: 'ocp', ...channel, isShortest: shortestPath, isFull: full, location };
}

async function selected(written: readonly RecordedChannel[]): Promise<string[] | null> {
  const channels = written.map(channelOf);
  try {
    const outcomes = [];
    for (const channel of channels) outcomes.push(await releasesOf(channel, graphs));
    if (channels.length > 1) outcomes.push(await releasesAcross(channels, graphs));
    return [...new Set(outcomes.flatMap(({ releases }) => releases.map(({ version }) => version)))].sort();
  } catch (error) {
    if (error instanceof ChannelError) return null;
    throw error;
  }
}

test.each(cases.map(({ channels, versions }) => [JSON.stringify(channels), channels, versions] as const))(
  '%s',
  async (_, channels, versions) => {
    expect(await selected(channels)).toEqual(versions && [...versions].sort());
  },
);

const versions = (...names: string[]) => names.map((version) => ({ version, payload: version }));

describe('the shortest way', () => {
  const nodes = versions('4.1.0', '4.1.1', '4.1.2', '4.1.3', '4.1.9');

  test('of several, the one whose first step goes highest', async () => {
    const graph = graphOf({
      nodes,
      edges: [
        [0, 1],
        [0, 2],
        [1, 3],
        [2, 3],
        [0, 4],
      ],
    });
    const channel = { name: 'a', minVersion: '4.1.0', maxVersion: '4.1.3', shortestPath: true };
    const { releases } = await releasesOf(channelOf(channel), async () => graph);
    expect(releases.map(({ version }) => version)).toEqual(['4.1.0', '4.1.2', '4.1.3']);
  });

  test('none: both ends are taken, and it is said', async () => {
    const graph = graphOf({ nodes, edges: [[0, 1]] });
    const channel = { name: 'a', minVersion: '4.1.0', maxVersion: '4.1.3', shortestPath: true };
    expect(await releasesOf(channelOf(channel), async () => graph)).toMatchObject({
      releases: [{ version: '4.1.0' }, { version: '4.1.3' }],
      warnings: ['no update leads from 4.1.0 to 4.1.3 in channel a'],
    });
  });
});

test.each([
  ['{', 'it has no nodes or no edges'],
  ['{"nodes":[{"version":"1.0.0"}],"edges":[]}', 'nodes[0]'],
  ['{"nodes":[{"version":"one","payload":"a"}],"edges":[]}', 'nodes[0]'],
  ['{"nodes":[{"version":"1.0.0","payload":"a"}],"edges":[[0,1]]}', 'edges[0]'],
  ['{"nodes":[{"version":"1.0.0","payload":"a"}],"edges":[[]]}', 'edges[0]'],
])('%s is not a graph', (text, why) => {
  expect(readUpdateGraph(text)).toContain(why);
});
