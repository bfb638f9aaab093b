/**
 * The next-hop graph as Mermaid, within GitHub's limits: from the complete graph of the changed
 * channels down to no diagram at all; the table then remains.
 *
 * @see https://mermaid.js.org/config/schema-docs/config.html (maxTextSize, maxEdges)
 */
import type { Hop, HopGraph, HopKind, HopLane, HopStop } from '../../../catalog/olm/graph/hop-graph.ts';
import { plainText } from '../../text.ts';

/** GitHub's Mermaid refuses more than 50,000 characters and 500 edges, whatever a diagram asks for. */
const MOST_CHARACTERS = 40_000;
const MOST_EDGES = 400;

/** Longest row of unchanged stops that is drawn in full. */
const SHORT_RUN = 4;

/**
 * The most complete diagram that fits, or undefined if none does.
 *
 * @param changedOnly whether channels in which nothing changes are left out
 */
export function mermaidText(graph: HopGraph, changedOnly: boolean): string | undefined {
  const lanes = graph.lanes.filter(({ isChanged }) => isChanged || !changedOnly);
  if (lanes.length === 0) return undefined;
  const views: readonly (() => readonly View[])[] = [
    ...(changedOnly ? [] : [() => lanes.map(wholeView)]),
    () => lanes.map(foldedView),
    () => lanes.map(nearView),
  ];
  for (const view of views) {
    const text = diagramText(view());
    if (text !== undefined) return text;
  }
  return undefined;
}

/** A channel as it is drawn; a node may stand for many stops. */
interface View {
  readonly lane: HopLane;
  readonly nodes: readonly ViewNode[];
}

interface ViewNode {
  /** Names of the bundles that it stands for. */
  readonly bundles: readonly string[];
  readonly label: string;
  readonly style: string;
  readonly hops: readonly Hop[];
}

/** A lane with a node for each stop. */
function wholeView(lane: HopLane): View {
  return { lane, nodes: lane.stops.map(nodeOf) };
}

/** A lane in which a row of unchanged stops that nobody is stuck at is drawn as one node. */
function foldedView(lane: HopLane): View {
  const quiet = quietStops(lane);
  const nodes: ViewNode[] = [];
  let run: HopStop[] = [];
  const close = (): void => {
    if (run.length > SHORT_RUN) nodes.push(runNode(run));
    else nodes.push(...run.map(nodeOf));
    run = [];
  };
  for (const stop of lane.stops) {
    const last = run.at(-1);
    const isQuiet = quiet.has(stop.bundle);
    // A row goes on only along the one upgrade of its last stop.
    if (last && !(isQuiet && leadsOnlyTo(last, stop.bundle))) close();
    if (isQuiet) run.push(stop);
    else nodes.push(nodeOf(stop));
  }
  close();
  return { lane, nodes };
}

/** Only the changed stops and their neighbours. */
function nearView(lane: HopLane): View {
  const quiet = quietStops(lane);
  const changedStops = lane.stops.filter(({ bundle }) => !quiet.has(bundle));
  const nearBundles = new Set(
    changedStops.flatMap(({ bundle, hops }) => [bundle, ...hops.map(({ to }) => to)]),
  );
  const shown = lane.stops.filter(({ bundle }) => nearBundles.has(bundle));
  const more = lane.stops.length - shown.length;
  const rest: ViewNode[] =
    more > 0 ? [{ bundles: [], label: `and ${more} unchanged`, style: 'many', hops: [] }] : [];
  return { lane, nodes: [...shown.map(nodeOf), ...rest] };
}

/** Stops that need not be shown: unchanged, not a head but with an upgrade path to one, and on no hop that changes. */
function quietStops({ stops }: HopLane): Set<string> {
  const touched = new Set(
    stops.flatMap(({ bundle, kind, hops }) =>
      hops.flatMap((hop) => (hop.kind !== 'same' || kind !== 'same' ? [bundle, hop.to] : [])),
    ),
  );
  const quiet = stops.filter(
    (stop) => stop.kind === 'same' && stop.stuck.length === 0 && !stop.isHead && !touched.has(stop.bundle),
  );
  return new Set(quiet.map(({ bundle }) => bundle));
}

/**
 * Whether a stop has just one upgrade, to the given bundle: only then can one node stand for both without
 * hiding an arrow.
 */
function leadsOnlyTo({ hops }: HopStop, bundle: string): boolean {
  return hops.length === 1 && hops[0]?.to === bundle;
}

function nodeOf(stop: HopStop): ViewNode {
  return { bundles: [stop.bundle], label: labelOf(stop), style: styleOf(stop), hops: stop.hops };
}

function labelOf({ label, stuck, isDeprecated }: HopStop): string {
  const notes = [
    ...(isDeprecated ? ['deprecated'] : []),
    ...(stuck.length > 0 ? [`stuck ${stuck.join(', ')}`] : []),
  ];
  return notes.length > 0 ? `${label} (${notes.join('; ')})` : label;
}

/** The one class of a node; what matters most comes first. */
function styleOf({ kind, stuck, isHead, isDeprecated }: HopStop): string {
  if (kind !== 'same') return kind;
  if (stuck.length > 0) return 'stuck';
  if (isHead) return 'head';
  return isDeprecated ? 'deprecated' : '';
}

/**
 * One node for a row of stops. Its arrows are those of the newest: each of the others leads to the next
 * within it.
 */
function runNode(run: readonly HopStop[]): ViewNode {
  const [oldest, newest] = [run[0], run.at(-1)];
  return {
    bundles: run.map(({ bundle }) => bundle),
    label: `${oldest?.label} … ${newest?.label} (${run.length} versions)`,
    style: 'many',
    hops: newest?.hops ?? [],
  };
}

/** The diagram; undefined if it is larger than what Mermaid draws. */
function diagramText(views: readonly View[]): string | undefined {
  const ids = views.map(
    ({ nodes }, lane) =>
      new Map(nodes.flatMap(({ bundles }, i) => bundles.map((bundle) => [bundle, `l${lane}n${i}`] as const))),
  );
  const edges = views.flatMap(({ nodes }, lane) => edgesOf(nodes, `l${lane}n`, ids[lane] ?? new Map()));
  if (edges.length > MOST_EDGES) return undefined;
  const text = [
    'flowchart LR',
    ...views.flatMap(laneLines),
    ...edges.map(({ text: line }) => `  ${line}`),
    ...linkStyles(edges),
    ...classLines(views),
    '',
  ].join('\n');
  return text.length > MOST_CHARACTERS ? undefined : text;
}

interface Edge {
  readonly text: string;
  readonly kind: HopKind;
}

/**
 * The arrows between the nodes: dashed for those that a change removes and those of OLM v1 only. Arrows to a
 * stop that is not drawn are left out.
 *
 * @param prefix begins the id of each node, before its position
 * @param ids of the nodes by the bundles that they stand for
 */
function edgesOf(nodes: readonly ViewNode[], prefix: string, ids: ReadonlyMap<string, string>): Edge[] {
  return nodes.flatMap(({ hops }, i) =>
    hops.flatMap(({ to, olm, kind }): Edge[] => {
      const target = ids.get(to);
      if (target === undefined) return [];
      // Which OLM follows it needs no label where a node has only one arrow.
      const label = olm.length === 1 && hops.length > 1 ? `|${olm[0]}|` : '';
      const arrow = kind === 'removed' || (olm.length === 1 && olm[0] === 'v1') ? '-.->' : '-->';
      return [{ text: `${prefix}${i} ${arrow}${label} ${target}`, kind }];
    }),
  );
}

/** A channel as a subgraph with its nodes. */
function laneLines({ lane, nodes }: View, i: number): string[] {
  const notes = [...(lane.isDefault ? ['default'] : []), ...(lane.kind === 'same' ? [] : [lane.kind])];
  const title = notes.length > 0 ? `${lane.channel} (${notes.join(', ')})` : lane.channel;
  return [
    `  subgraph l${i}[${quoted(title)}]`,
    ...nodes.map(
      ({ label, style }, n) => `    l${i}n${n}[${quoted(label)}]${style === '' ? '' : `:::${style}`}`,
    ),
    '  end',
  ];
}

/**
 * The colours of arrows that a change adds or removes. Mermaid knows arrows only by their position in the
 * text.
 */
function linkStyles(edges: readonly Edge[]): string[] {
  const styleLines = (kind: HopKind, style: string): string[] => {
    const positions = edges.flatMap((edge, i) => (edge.kind === kind ? [i] : []));
    return positions.length === 0 ? [] : [`  linkStyle ${positions.join(',')} ${style}`];
  };
  return [
    ...styleLines('added', 'stroke:#2da44e,stroke-width:3px'),
    ...styleLines('removed', 'stroke:#cf222e'),
  ];
}

const CLASSES: Readonly<Record<string, string>> = {
  head: 'stroke-width:3px',
  added: 'fill:#dafbe1,stroke:#2da44e,color:#1f2328',
  removed: 'fill:#ffebe9,stroke:#cf222e,color:#1f2328,stroke-dasharray:4',
  stuck: 'fill:#ffd8b5,stroke:#bc4c00,stroke-width:3px,color:#1f2328',
  deprecated: 'fill:#eaeef2,stroke:#6e7781,color:#1f2328',
  many: 'stroke-dasharray:2',
};

function classLines(views: readonly View[]): string[] {
  const used = new Set(views.flatMap(({ nodes }) => nodes.map(({ style }) => style)));
  return Object.entries(CLASSES)
    .filter(([name]) => used.has(name))
    .map(([name, style]) => `  classDef ${name} ${style}`);
}

/** A label; characters that Mermaid or Markdown could interpret are written as Mermaid entities. */
function quoted(text: string): string {
  const safe = plainText(text).replaceAll(/[^A-Za-z0-9 .,:()+…_-]/gu, (c) => `#${c.codePointAt(0)};`);
  return `"${safe}"`;
}
