/** The clusters of a fleet: a diagram of where they go, and the same as a table. */
import type { FleetReport, PackageFleet } from '../../../catalog/olm/fleet/count.ts';
import { packageStreams, platformStreams } from '../pictures/fleet-streams.ts';
import { type Stream, sankeyText } from '../pictures/sankey.ts';
import { el } from './elements.ts';

/** All clusters of a fleet. */
export function fleetView(fleet: FleetReport): HTMLElement[] {
  return view('Clusters', ['platform', 'outcome'], platformStreams(fleet));
}

/** The clusters that have a package. */
export function packageFleetView(fleet: PackageFleet): HTMLElement[] {
  return view('Clusters', ['installed', 'upgrade path ends at'], packageStreams(fleet));
}

/** A diagram of streams and the same as a table; nothing where no cluster is counted. */
function view(title: string, heads: readonly [string, string], streams: readonly Stream[]): HTMLElement[] {
  const total = streams.reduce((sum, { clusters }) => sum + clusters, 0);
  if (total === 0) return [];
  const label = `Where ${total.toLocaleString('en-US')} clusters go, by ${heads[0]}`;
  const picture = el('div', { class: 'picture', tabindex: '0', role: 'region', 'aria-label': label }, []);
  picture.innerHTML = sankeyText(label, streams);
  return [el('h3', {}, [title]), picture, table(heads, streams)];
}

/** The streams as a table, for readers who cannot see the drawing. */
function table(heads: readonly [string, string], streams: readonly Stream[]): HTMLElement {
  const joined = new Map<string, Stream>();
  for (const stream of streams) {
    const key = JSON.stringify([stream.from, stream.to]);
    joined.set(key, { ...stream, clusters: stream.clusters + (joined.get(key)?.clusters ?? 0) });
  }
  const rows = [...joined.values()]
    .sort((a, b) => b.clusters - a.clusters)
    .map(({ from, to, clusters }) =>
      el(
        'tr',
        {},
        [from, to, clusters.toLocaleString('en-US')].map((text) => el('td', {}, [text])),
      ),
    );
  const head = el(
    'tr',
    {},
    [...heads, 'clusters'].map((text) => el('th', { scope: 'col' }, [text])),
  );
  return el('details', { class: 'fleet' }, [
    el('summary', {}, ['The same as a table']),
    el('table', { class: 'fleet-table' }, [el('thead', {}, [head]), el('tbody', {}, rows)]),
  ]);
}
