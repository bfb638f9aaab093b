/** One package of a catalog: the upgrade path of each version under both resolvers, and the upgrade graph. */
import { type DocumentPath, documentPath } from '../../../catalog/olm/graph/document-path.ts';
import type { BundleNote, PackageGraph } from '../../../catalog/olm/graph/graph-document.ts';
import { svgText } from '../pictures/svg.ts';
import { el, option } from './elements.ts';

/** A package: its notes, the upgrade path of a version that is chosen, and its channels as a picture. */
export function packageView(graph: PackageGraph, catalog: string): Node[] {
  const notes =
    graph.deprecated === undefined ? [] : [el('p', { class: 'warn' }, [`Deprecated: ${graph.deprecated}`])];
  const channels = Object.entries(graph.deprecatedChannels).map(([channel, message]) =>
    el('p', { class: 'warn' }, [`Channel ${channel} is deprecated: ${message}`]),
  );
  const box = pathBox(graph);
  const picture = el(
    'div',
    { class: 'picture', tabindex: '0', role: 'region', 'aria-label': 'Upgrade graph by channel' },
    [],
  );
  picture.innerHTML = svgText(graph, { interactive: true, styled: false });
  picture.addEventListener('click', (event) => choose(event.target, box.choose));
  picture.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    choose(event.target, box.choose);
  });
  return [
    el('h2', {}, [
      graph.package,
      ' ',
      el('small', {}, [`in ${catalog}, default channel ${graph.defaultChannel}`]),
    ]),
    ...notes,
    ...channels,
    box.node,
    el('h3', {}, ['Channels']),
    picture,
    el('p', { class: 'legend' }, [LEGEND]),
  ];
}

const LEGEND =
  'Arrows show the upgrade that OLM chooses for each version: straight or above the row for OLM v0, dashed for OLM v1 only. Orange: no upgrade path to a channel head. Select a version to see its upgrade path.';

/**
 * Calls back with the version and channel of a node that somebody selects; a click beside the nodes does
 * nothing.
 */
function choose(target: EventTarget | null, take: (bundle: string, channel: string) => void): void {
  const stop = target instanceof Element ? target.closest('[data-bundle]') : null;
  const [bundle, channel] = [stop?.getAttribute('data-bundle'), stop?.getAttribute('data-in')];
  if (bundle && channel !== null && channel !== undefined) take(bundle, channel);
}

/** The box that shows the upgrade path of a chosen version. `choose` selects one from elsewhere on the page. */
function pathBox(graph: PackageGraph): {
  node: HTMLElement;
  choose: (bundle: string, channel: string) => void;
} {
  const channel = el(
    'select',
    { id: 'channel' },
    graph.lanes.map((lane) => option(lane.channel)),
  );
  const version = el('select', { id: 'version' }, []);
  const answer = el('div', { id: 'answer', 'aria-live': 'polite' }, []);
  // Another channel keeps the chosen version if it has it.
  const fillVersions = (): void => {
    const stops = graph.lanes.find((lane) => lane.channel === channel.value)?.stops ?? [];
    const chosen = version.value;
    version.replaceChildren(...[...stops].reverse().map(({ bundle, label }) => option(bundle, label)));
    if (stops.some(({ bundle }) => bundle === chosen)) version.value = chosen;
  };
  const showPaths = (): void => answer.replaceChildren(...paths(graph, channel.value, version.value));
  channel.addEventListener('change', () => {
    fillVersions();
    showPaths();
  });
  version.addEventListener('change', showPaths);
  fillVersions();
  showPaths();
  const node = el('section', { class: 'path-box', 'aria-label': 'Upgrade path of an installed version' }, [
    el('p', {}, [
      el('label', { for: 'version' }, ['Installed version ']),
      version,
      el('label', { for: 'channel' }, [' in channel ']),
      channel,
    ]),
    answer,
  ]);
  return {
    node,
    choose: (bundle, name) => {
      channel.value = name;
      fillVersions();
      version.value = bundle;
      showPaths();
      node.scrollIntoView({ block: 'nearest' });
    },
  };
}

/** The upgrade paths of a version under the OLMs that the page is about. */
function paths(graph: PackageGraph, channel: string, bundle: string): HTMLElement[] {
  const notes = new Map(graph.bundles.map((note) => [note.name, note]));
  const own = notes.get(bundle)?.deprecated;
  return [
    ...(own === undefined ? [] : [el('p', { class: 'warn' }, [`This version is deprecated: ${own}`])]),
    ...pathView('v0', `OLM v0, subscribed to ${channel}`, {
      path: documentPath(graph, 'v0', { channel, bundle }),
      notes,
    }),
    ...pathView('v1', 'OLM v1, no channel specified', {
      path: documentPath(graph, 'v1', { channel: '', bundle }),
      notes,
    }),
  ];
}

/** One upgrade path, if there is one: its versions in order, and whether it ends at a head or why it stops. */
function pathView(
  id: string,
  title: string,
  { path, notes }: { path: DocumentPath | undefined; notes: ReadonlyMap<string, BundleNote> },
): HTMLElement[] {
  if (!path) return [];
  const { steps, arrives, why } = path;
  const items = steps.map((name) => {
    const note = notes.get(name);
    const version = note && note.version !== '' ? note.version : name;
    return el('li', { 'data-step': name }, [
      version,
      ...(note?.deprecated === undefined ? [] : [' (deprecated)']),
    ]);
  });
  const head = id === 'v0' ? 'the channel head' : 'a channel head';
  const end = arrives
    ? `${steps.length > 0 ? 'Reaches' : 'Up to date: this is'} ${head}.`
    : `STUCK: ${why === 'circle' ? 'the upgrade path goes in a circle' : why}`;
  return [
    el('section', { id: `path-${id}`, 'data-arrives': String(arrives), 'data-why': why }, [
      el('h3', {}, [title]),
      ...(steps.length > 0 ? [el('ol', { class: 'steps' }, items)] : []),
      el('p', { class: arrives ? 'good' : 'warn' }, [end]),
    ]),
  ];
}
