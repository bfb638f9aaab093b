/** Reads upgrade paths from the graph document, for the page. */

import type { Olm } from '../foresight/world.ts';
import type { PackageGraph } from './graph-document.ts';
import type { HopStop } from './hop-graph.ts';

export interface DocumentPath {
  /** Names of the bundles, the next one first. */
  readonly steps: readonly string[];
  readonly arrives: boolean;
  /** Why it goes no further; `circle` where the last step leads back to an earlier one. */
  readonly why: string;
}

/**
 * The upgrade path of a bundle in a channel; undefined where the document is not about the OLM. Under OLM v1 an empty channel
 * means that none is selected.
 */
export function documentPath(
  graph: PackageGraph,
  olm: Olm,
  from: { channel: string; bundle: string },
): DocumentPath | undefined {
  if (!isAbout(graph, olm)) return undefined;
  const stop = stopReader(graph, olm, from.channel);
  const steps: string[] = [];
  const seen = new Set([from.bundle]);
  for (let at = from.bundle; ; ) {
    const { next, arrives, why } = stop(at);
    if (next === undefined) return { steps, arrives, why };
    steps.push(next);
    if (seen.has(next)) return { steps, arrives: false, why: 'circle' };
    seen.add(next);
    at = next;
  }
}

/** Whether a document tells of an OLM: then each stop has an upgrade under it, or why there is none. */
function isAbout({ lanes }: PackageGraph, olm: Olm): boolean {
  const stops = lanes.flatMap((lane) => lane.stops);
  const tells = ({ hops, why }: HopStop): boolean =>
    why[olm] !== undefined || hops.some((hop) => hop.olm.includes(olm));
  return stops.length === 0 || stops.some(tells);
}

interface ReadStop {
  readonly next: string | undefined;
  readonly arrives: boolean;
  readonly why: string;
}

const NOWHERE: ReadStop = { next: undefined, arrives: false, why: 'it is not in this channel' };

/**
 * Reads the next step of a bundle from the document. Under OLM v1 without a channel, that is noted with the bundle, not
 * in a lane.
 */
function stopReader(graph: PackageGraph, olm: Olm, channel: string): (bundle: string) => ReadStop {
  if (olm === 'v1' && channel === '') {
    const notes = new Map(graph.bundles.map(({ name, open }) => [name, open]));
    return (bundle) => {
      const open = notes.get(bundle);
      return open ? { next: open.next, arrives: open.arrives, why: open.why ?? '' } : NOWHERE;
    };
  }
  const lane = graph.lanes.find((one) => one.channel === channel);
  const stops = new Map(lane?.stops.map((stop) => [stop.bundle, stop]));
  return (bundle) => {
    const stop = stops.get(bundle);
    if (!stop) return NOWHERE;
    const next = stop.hops.find((hop) => hop.olm.includes(olm))?.to;
    return { next, arrives: !stop.stuck.includes(olm), why: stop.why[olm] ?? '' };
  };
}
