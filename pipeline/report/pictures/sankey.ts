/**
 * A Sankey diagram of clusters: what they have on the left, where they go on the right. It imports nothing that needs
 * Node: the page draws it in the browser.
 */
import { escapeXml } from '../../text.ts';

/** A stream of clusters. */
export interface Stream {
  readonly from: string;
  readonly to: string;
  readonly clusters: number;
  readonly tone: 'good' | 'bad' | 'dim';
}

const WIDTH = 680;
const [LEFT, RIGHT, BAR] = [210, 450, 10];
/** Least and greatest height of a node; the heights of a column's nodes otherwise add up to the last. */
const [LEAST, HEIGHT] = [20, 240];
const GAP = 8;
/** Characters of a label. */
const LABEL = 24;

/** Nodes of a column; the smallest of more than these are one. */
const NODES = 12;

interface Node {
  readonly name: string;
  readonly clusters: number;
  readonly top: number;
  readonly height: number;
}

/** The picture as SVG; its texts are escaped. Its colours are those of the page. */
export function sankeyText(title: string, all: readonly Stream[]): string {
  const streams = withFewNodes(all);
  const total = streams.reduce((sum, { clusters }) => sum + clusters, 0);
  if (total === 0) return '';
  const from = column(streams, ({ from: name }) => name);
  const to = column(streams, ({ to: name }) => name);
  const bottom = Math.max(...[...from.values(), ...to.values()].map(({ top, height }) => top + height));
  /** For each node, how many of its clusters have their ribbon already: `slot` places the next one below. */
  const usedClusters = new Map<Node, number>();
  const ribbons = streams.map((stream) => {
    const ends = [from.get(stream.from) as Node, to.get(stream.to) as Node] as const;
    return ribbon(stream, [
      slot(usedClusters, ends[0], stream.clusters),
      slot(usedClusters, ends[1], stream.clusters),
    ]);
  });
  const height = Math.ceil(bottom + GAP);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="sankey" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeXml(title)}">`,
    ...ribbons,
    ...[...from.values()].map((node) => bar(node, LEFT - BAR, { x: LEFT - BAR - 6, anchor: 'end' })),
    ...[...to.values()].map((node) => bar(node, RIGHT, { x: RIGHT + BAR + 6, anchor: 'start' })),
    '</svg>',
  ].join('\n');
}

/** Joins the smallest nodes of each side, whose labels would have no room. */
function withFewNodes(streams: readonly Stream[]): Stream[] {
  const renamed = (key: 'from' | 'to', all: readonly Stream[]): Stream[] => {
    const largest = new Set(
      [...sums(all, (stream) => stream[key])]
        .sort((a, b) => b[1] - a[1])
        .slice(0, NODES)
        .map(([name]) => name),
    );
    return all.map((stream) => (largest.has(stream[key]) ? stream : { ...stream, [key]: 'others' }));
  };
  const joined = new Map<string, Stream>();
  for (const stream of renamed('to', renamed('from', streams))) {
    if (stream.clusters === 0) continue;
    const key = JSON.stringify([stream.from, stream.to, stream.tone]);
    const known = joined.get(key);
    joined.set(key, { ...stream, clusters: stream.clusters + (known?.clusters ?? 0) });
  }
  return [...joined.values()].sort((a, b) => b.clusters - a.clusters);
}

/** The number of clusters by the name of a node. */
function sums(streams: readonly Stream[], nameOf: (stream: Stream) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const stream of streams) {
    const name = nameOf(stream);
    counts.set(name, (counts.get(name) ?? 0) + stream.clusters);
  }
  return counts;
}

/** The nodes of a column from top to bottom, the largest first. */
function column(streams: readonly Stream[], nameOf: (stream: Stream) => string): Map<string, Node> {
  const counts = [...sums(streams, nameOf)].sort((a, b) => b[1] - a[1]);
  const total = counts.reduce((sum, [, clusters]) => sum + clusters, 0);
  const nodes = new Map<string, Node>();
  let top = GAP;
  for (const [name, clusters] of counts) {
    const height = Math.max(LEAST, (HEIGHT * clusters) / total);
    nodes.set(name, { name, clusters, top, height });
    top += height + GAP;
  }
  return nodes;
}

/** The next free part of a node's side, as high as the stream's share of the node's clusters. */
function slot(
  usedClusters: Map<Node, number>,
  node: Node,
  clusters: number,
): readonly [top: number, bottom: number] {
  const before = usedClusters.get(node) ?? 0;
  usedClusters.set(node, before + clusters);
  const at = (count: number): number => node.top + (node.height * count) / node.clusters;
  return [at(before), at(before + clusters)];
}

/** A stream as a curved band from its part of the left node to its part of the right one. */
function ribbon(
  { from, to, clusters, tone }: Stream,
  [[leftTop, leftBottom], [rightTop, rightBottom]]: readonly [
    readonly [number, number],
    readonly [number, number],
  ],
): string {
  const middle = (LEFT + RIGHT) / 2;
  const [a, b, c, d] = [leftTop, leftBottom, rightTop, rightBottom].map((y) => y.toFixed(1));
  // Control points in the middle at the height of an end: the band leaves and arrives level.
  const path = `M${LEFT} ${a}C${middle} ${a} ${middle} ${c} ${RIGHT} ${c}V${d}C${middle} ${d} ${middle} ${b} ${LEFT} ${b}Z`;
  const text = `${from} → ${to}: ${clusters.toLocaleString('en-US')}`;
  return `<path class="${tone}" d="${path}"><title>${escapeXml(text)}</title></path>`;
}

/** A node with its name and number of clusters beside it, on the outer side. */
function bar(node: Node, x: number, label: { readonly x: number; readonly anchor: 'start' | 'end' }): string {
  const { name, clusters, top, height } = node;
  const short = name.length > LABEL ? `${name.slice(0, LABEL - 1)}…` : name;
  const y = (top + height / 2 + 4).toFixed(1);
  const text = `${short}: ${clusters.toLocaleString('en-US')}`;
  return `<rect x="${x}" y="${top.toFixed(1)}" width="${BAR}" height="${height.toFixed(1)}"/><text x="${label.x}" y="${y}" text-anchor="${label.anchor}">${escapeXml(text)}</text>`;
}

/** How the page shows it. */
export const SANKEY_STYLE: string = [
  '.sankey text{font:13px system-ui,sans-serif;fill:var(--ink)}.sankey rect{fill:var(--ink)}',
  '.sankey path{fill-opacity:.45}.sankey .good{fill:var(--good)}.sankey .bad{fill:var(--gone)}.sankey .dim{fill:var(--line)}',
].join('\n');
