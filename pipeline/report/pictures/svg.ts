/**
 * The next-hop graph as a self-contained picture: a lane for each channel, versions from left
 * to right, and one edge for each bundle and OLM version. An edge to the next version is
 * straight. Other edges are arcs: above for OLM v0 (or both), below for OLM v1 only.
 */

import type { Hop, HopGraph, HopLane, HopStop } from '../../../catalog/olm/graph/hop-graph.ts';
import { escapeXml } from '../../text.ts';

/** Sizes, in units of the picture. */
const NODE_HEIGHT = 28;
const NARROWEST_NODE = 48;
/** What a node has beside its text, on both sides together. */
const PADDING = 20;
const GAP = 34;
/** A lane's and the legend's distance from the left. */
const MARGIN = 12;
/** How wide a character of a label is, about: nothing measures texts where the picture is made. */
const CHARACTER = 7.2;
const TITLE = 26;
const LOWEST_ARC = 16;
const HIGHEST_ARC = 64;
const BESIDE = 9;

interface SvgOptions {
  /** Whether people can select a bundle: nodes then take the focus and have a label. */
  readonly interactive: boolean;
  /** Whether the picture contains its own colours, as a separate file must. */
  readonly styled: boolean;
}

/** The picture of a graph. Texts of the catalog are escaped. */
export function svgText(
  graph: Pick<HopGraph, 'package' | 'lanes'>,
  { interactive, styled }: SvgOptions,
): string {
  let top = 8;
  const drawn: string[] = [];
  let width = 240;
  for (const lane of graph.lanes) {
    const placed = placedLane(lane, top);
    drawn.push(laneText(placed, interactive));
    top = placed.bottom;
    width = Math.max(width, placed.width);
  }
  const legend = styled ? legendText(graph.lanes, top) : { text: [], width: 0, height: 0 };
  const [w, h] = [Math.ceil(Math.max(width, legend.width)), Math.ceil(top + legend.height + 4)];
  const title = `Upgrades of ${graph.package}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="hops" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="${interactive ? 'group' : 'img'}" aria-label="${escapeXml(title)}">`,
    ...(styled
      ? [`<style>${SVG_STYLE}${HOPS_STYLE}</style>`, `<rect class="ground" width="${w}" height="${h}"/>`]
      : []),
    MARKERS,
    ...drawn,
    ...legend.text,
    '</svg>',
    '',
  ].join('\n');
}

interface PlacedStop {
  readonly stop: HopStop;
  readonly x: number;
  readonly width: number;
}

interface PlacedLane {
  readonly lane: HopLane;
  readonly top: number;
  /** The upper edge of the nodes. */
  readonly y: number;
  readonly bottom: number;
  readonly width: number;
  readonly stops: readonly PlacedStop[];
}

/** A channel with the places of its versions. */
function placedLane(lane: HopLane, top: number): PlacedLane {
  let x = MARGIN;
  const stops = lane.stops.map((stop) => {
    const width = Math.max(NARROWEST_NODE, stop.label.length * CHARACTER + PADDING);
    const placed = { stop, x, width };
    x += width + GAP;
    return placed;
  });
  const arcs = lane.stops.flatMap((stop, at) => stop.hops.map((hop) => arcOf(lane, at, hop)));
  const above = Math.max(0, ...arcs.filter((arc) => arc > 0));
  const below = Math.max(0, ...arcs.map((arc) => -arc));
  const y = top + TITLE + above;
  return { lane, top, y, bottom: y + NODE_HEIGHT + below + 16, width: x, stops };
}

/** How high an edge's arc is: 0 for a straight edge, and negative below the nodes, where only OLM v1 follows the edge. */
function arcOf({ stops }: HopLane, at: number, { to, olm }: Hop): number {
  const target = stops.findIndex(({ bundle }) => bundle === to);
  if (target < 0 || target === at + 1) return 0;
  const height = Math.min(HIGHEST_ARC, LOWEST_ARC + Math.abs(target - at) * 3);
  return olm.includes('v0') ? height : -height;
}

/** A channel as SVG: its name, and its edges below the nodes, which must cover their ends. */
function laneText(placed: PlacedLane, interactive: boolean): string {
  const { lane, top, stops, y } = placed;
  const notes = [...(lane.isDefault ? ['default'] : []), ...(lane.kind === 'same' ? [] : [lane.kind])];
  const title = notes.length > 0 ? `${lane.channel} (${notes.join(', ')})` : lane.channel;
  return [
    `<g class="lane" data-channel="${escapeXml(lane.channel)}">`,
    `<text class="channel" x="${MARGIN}" y="${top + 16}">${escapeXml(title)}</text>`,
    ...stops.flatMap(({ stop }, at) => stop.hops.map((hop) => edgeText(placed, at, hop))),
    ...stops.map((one) => nodeText(one, { y, interactive, channel: lane.channel })),
    '</g>',
  ].join('\n');
}

/** The line of an upgrade as SVG. */
function edgeText({ lane, stops, y }: PlacedLane, at: number, hop: Hop): string {
  const [from, to] = [stops[at], stops.find(({ stop }) => stop.bundle === hop.to)];
  if (!from || !to) return '';
  const arc = arcOf(lane, at, hop);
  const only = hop.olm.length === 1 ? ` only-${hop.olm[0]}` : '';
  const name = `class="edge ${hop.kind}${only}" data-from="${escapeXml(from.stop.bundle)}" data-to="${escapeXml(hop.to)}" data-olm="${hop.olm.join(' ')}"`;
  if (arc === 0) {
    // What is added and what is removed may join the same versions: beside each other, both can be seen.
    const along = from.stop.hops.filter((other) => other.to === hop.to);
    const middle = y + NODE_HEIGHT / 2 + (along.indexOf(hop) - (along.length - 1) / 2) * BESIDE;
    return `<path ${name} d="M${from.x + from.width} ${middle}H${to.x - 3}"/>`;
  }
  const edge = arc > 0 ? y : y + NODE_HEIGHT;
  // A curve reaches three quarters of the height of its control points.
  const turn = edge - arc * 1.33;
  // Off the middles, where labels are: arcs that leave a node and arcs that reach it do not touch.
  const [start, end] = [from.x + from.width * 0.62, to.x + to.width * 0.38];
  const tip = edge + (arc > 0 ? -2 : 2);
  return `<path ${name} d="M${round(start)} ${edge}C${round(start)} ${round(turn)} ${round(end)} ${round(turn)} ${round(end)} ${tip}"/>`;
}

/** Rounds to tenths, which no eye can tell apart, to keep the picture small. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The box of a version as SVG. */
function nodeText(
  { stop, x, width }: PlacedStop,
  { y, interactive, channel }: { y: number; interactive: boolean; channel: string },
): string {
  const about = aboutStop(stop);
  const name = escapeXml(`${stop.label}: ${about}`);
  const role = interactive
    ? ` role="button" tabindex="0" aria-label="${name}" data-bundle="${escapeXml(stop.bundle)}" data-in="${escapeXml(channel)}"`
    : '';
  return [
    `<g class="stop ${classesOf(stop)}"${role}>`,
    `<title>${name}</title>`,
    `<rect x="${round(x)}" y="${y}" width="${round(width)}" height="${NODE_HEIGHT}" rx="6"/>`,
    `<text x="${round(x + width / 2)}" y="${y + 18.5}" text-anchor="middle">${escapeXml(stop.label)}</text>`,
    '</g>',
  ].join('');
}

/** The classes of a node, by which the style of the page or picture draws it. */
function classesOf({ kind, isHead, isSkipped, isDeprecated, stuck }: HopStop): string {
  return [
    kind,
    ...(isHead ? ['head'] : []),
    ...(isSkipped ? ['skipped'] : []),
    ...(isDeprecated ? ['deprecated'] : []),
    ...(stuck.length > 0 ? ['stuck'] : []),
  ].join(' ');
}

/** Describes a bundle in words. */
function aboutStop({ kind, isHead, isSkipped, isDeprecated, stuck, hops, why }: HopStop): string {
  const going = hops
    .filter((hop) => hop.kind !== 'removed')
    .map(({ to, olm }) => `next ${to} (${olm.map((one) => `OLM ${one}`).join(', ')})`);
  return [
    ...(kind === 'same' ? [] : [kind]),
    ...(isHead ? ['head'] : []),
    ...(isDeprecated ? ['deprecated'] : []),
    ...(isSkipped ? ['skipped'] : []),
    ...stuck.map((olm) => `stuck under OLM ${olm}${why[olm] === undefined ? '' : `: ${why[olm]}`}`),
    ...going,
  ].join('; ');
}

/** What a picture uses of its signs: a class of a node or an edge, and what it means. */
const SIGNS: readonly (readonly [about: 'stop' | 'edge', name: string, meaning: string])[] = [
  ['stop', 'stuck', 'stuck'],
  ['stop', 'added', 'added'],
  ['stop', 'removed', 'removed'],
  ['stop', 'deprecated', 'deprecated'],
  ['stop', 'head', 'head'],
  ['edge', 'only-v1', 'OLM v1 only'],
];

/** One row that explains the signs that the lanes have. */
function legendText(
  lanes: readonly HopLane[],
  top: number,
): { readonly text: readonly string[]; readonly width: number; readonly height: number } {
  const stops = lanes.flatMap((lane) => lane.stops);
  const used = new Set([
    ...stops.flatMap((stop) => classesOf(stop).split(' ')),
    ...stops.flatMap(({ hops }) => hops.flatMap(({ olm }) => (olm.length === 1 ? [`only-${olm[0]}`] : []))),
  ]);
  const text: string[] = [];
  let x = MARGIN;
  for (const [about, name, meaning] of SIGNS) {
    if (!used.has(name)) continue;
    const sign =
      about === 'stop'
        ? `<g class="stop ${name}"><rect x="${x}" y="${top}" width="20" height="14" rx="3"/></g>`
        : `<path class="edge ${name}" d="M${x} ${top + 7}H${x + 20}"/>`;
    text.push(sign, `<text class="legend" x="${x + 26}" y="${top + 11}">${meaning}</text>`);
    x += Math.ceil(26 + meaning.length * CHARACTER + 18);
  }
  return text.length === 0 ? { text, width: 0, height: 0 } : { text, width: x, height: 24 };
}

/** Tips in the colours of their edges: what a marker draws does not take the colour of its path in every browser. */
const MARKERS = `<defs>${['', '-added', '-removed']
  .map(
    (kind) =>
      `<marker id="tip${kind}" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="10" markerHeight="10" orient="auto-start-reverse"><path class="tip${kind}" d="M0 0L8 4L0 8z"/></marker>`,
  )
  .join('')}</defs>`;

/** Colours of a separate picture; a page defines its own under the same names. */
const SVG_STYLE = [
  '.hops{--ink:#1f2328;--ground:#fff;--line:#57606a;--box:#f6f8fa;--good:#1a7f37;--bad:#bc4c00;--gone:#cf222e;--dim:#6e7781}',
  '@media(prefers-color-scheme:dark){.hops{--ink:#e6edf3;--ground:#0d1117;--line:#8b949e;--box:#161b22;--good:#3fb950;--bad:#f0883e;--gone:#f85149;--dim:#8b949e}}',
  '.ground{fill:var(--ground)}',
].join('');

/** How the parts of a picture look, in the colours of `--ink`, `--line`, `--box`, `--good`, `--bad`, `--gone` and `--dim`. */
export const HOPS_STYLE: string = [
  '.hops text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:var(--ink)}',
  '.hops .channel{font:600 13px system-ui,sans-serif}',
  '.hops .stop rect{fill:var(--box);stroke:var(--line)}',
  '.hops .head rect{stroke-width:2.5}',
  '.hops .added rect{stroke:var(--good);stroke-width:2}',
  '.hops .removed rect{stroke:var(--gone);stroke-dasharray:4 3}',
  '.hops .deprecated text{fill:var(--dim);text-decoration:line-through}',
  '.hops .stuck rect{stroke:var(--bad);stroke-width:2.5;stroke-dasharray:none}',
  '.hops .stuck text{fill:var(--bad);font-weight:700}',
  '.hops .edge{fill:none;stroke:var(--line);stroke-width:1.4;marker-end:url(#tip)}',
  '.hops .edge.only-v1{stroke-dasharray:5 3}',
  '.hops .edge.added{stroke:var(--good);stroke-width:2.2;marker-end:url(#tip-added)}',
  '.hops .edge.removed{stroke:var(--gone);stroke-dasharray:2 3;marker-end:url(#tip-removed)}',
  '.hops .tip{fill:var(--line)}.hops .tip-added{fill:var(--good)}.hops .tip-removed{fill:var(--gone)}',
  '.hops .legend{font:11px system-ui,sans-serif}',
].join('');
