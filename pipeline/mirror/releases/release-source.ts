/** Where releases and their update graphs are read from, for those who list them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Architecture } from '../../../catalog/mirror/release/release-selection.ts';
import { channelsOfVersions, type UpdateGraphs } from '../../../catalog/mirror/release/update-graph.ts';
import type { Registry } from '../../ports.ts';
import type { RepositoryPorts } from '../charts/repository.ts';
import { readGraphData } from './graph-data-files.ts';
import { isGraphDataPlace, openGraphs, UPDATE_SERVICES } from './update-graphs.ts';

/** The options of commands that read releases, opened. */
export interface ReleasePlaces {
  readonly registry: Registry;
  readonly download: RepositoryPorts['download'];
  /** As in `GraphPorts`; absent: the update service of OpenShift. */
  readonly graphs: string | undefined;
  readonly releases: string;
  readonly close: () => void;
}

export interface ReleaseSource extends Pick<ReleasePlaces, 'registry' | 'releases' | 'close'> {
  readonly graphs: (architecture: Architecture) => UpdateGraphs;
  /** The channels that have a release of a channel. */
  readonly channelsWith: (channel: string, architecture: Architecture) => Promise<readonly string[]>;
}

export function openReleaseSource(places: ReleasePlaces): ReleaseSource {
  const { graphs: place = UPDATE_SERVICES.ocp, registry, releases, download } = places;
  const scratch = mkdtempSync(join(tmpdir(), 'portolan-releases-'));
  const graphs = (architecture: Architecture): UpdateGraphs =>
    openGraphs(architecture, { place, registry, releases, download, scratch });
  return {
    registry,
    releases,
    graphs,
    channelsWith: async (channel, architecture) => {
      const { releases: some } = await graphs(architecture)(channel);
      if (!/^https?:/.test(place) && isGraphDataPlace(place)) {
        const versions = new Set(some.map(({ version }) => version));
        return channelsOfVersions(await readGraphData(place, { download }), versions, architecture);
      }
      return [...new Set(some.flatMap(({ channels }) => channels))].sort();
    },
    close: () => {
      places.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}
