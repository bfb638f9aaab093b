/**
 * The next-hop graph as it is drawn: one state of a package, or two with what came and
 * what went. One edge for each bundle and OLM, never the edges that are only written.
 */

import { type Installed, shortName } from '../../fbc/edge.ts';
import type { Package } from '../../fbc/model.ts';
import type { Foresight } from '../foresight/foresight.ts';
import { compareInstalled } from '../foresight/installation.ts';
import type { Change, Olm, World } from '../foresight/world.ts';
import { nextHops, type Stop } from './next-hops.ts';

export type HopKind = 'same' | 'added' | 'removed';

export interface HopGraph {
  readonly package: string;
  readonly lanes: readonly HopLane[];
}

/** One channel. */
export interface HopLane {
  readonly channel: string;
  readonly isDefault: boolean;
  readonly kind: HopKind;
  /** Whether anything in it differs between the two states. */
  readonly isChanged: boolean;
  /** The lowest version first. */
  readonly stops: readonly HopStop[];
}

export interface HopStop {
  readonly bundle: string;
  /** Its version, or its name where that is unknown. */
  readonly label: string;
  readonly kind: HopKind;
  readonly isHead: boolean;
  readonly isSkipped: boolean;
  readonly isDeprecated: boolean;
  /** Under which OLM its upgrade path ends short of a head. */
  readonly stuck: readonly Olm[];
  readonly hops: readonly Hop[];
  /** Why it has no hop under an OLM. */
  readonly why: { readonly [olm in Olm]?: string };
}

export interface Hop {
  /** Name of the bundle that is next; it may be in no stop of the lane. */
  readonly to: string;
  readonly olm: readonly Olm[];
  readonly kind: HopKind;
}

/** The current graph of one package. */
export function hopGraph(world: World, ofPackage: Package): HopGraph {
  const state = stateOf(world.foresight, ofPackage, world.olm);
  return graphOf(ofPackage.name, state, state);
}

/** What a change does to the graph of a package. */
export function hopChange({ before, after }: Change, name: string): HopGraph {
  const of = ({ foresight, catalog }: World): State => {
    const ofPackage = catalog.packages.get(name);
    return ofPackage ? stateOf(foresight, ofPackage, after.olm) : { channels: new Map(), defaultChannel: '' };
  };
  return graphOf(name, of(before), of(after));
}

/** Stops by channel and bundle. */
interface State {
  readonly defaultChannel: string;
  readonly channels: ReadonlyMap<string, ReadonlyMap<string, Placed>>;
}

interface Placed {
  readonly stop: Stop;
  readonly installed: Installed;
  readonly why: HopStop['why'];
  /** Names of the next bundles. */
  readonly next: ReadonlyMap<Olm, string>;
  readonly stuck: readonly Olm[];
}

function stateOf(foresight: Foresight, ofPackage: Package, olm: ReadonlySet<Olm>): State {
  const channels = new Map<string, Map<string, Placed>>();
  for (const one of olm) {
    for (const { channel, stops } of nextHops(foresight, ofPackage, one)) {
      const lane = channels.get(channel) ?? new Map<string, Placed>();
      channels.set(channel, lane);
      for (const stop of stops) {
        const known = lane.get(stop.bundle);
        const next = new Map(known?.next);
        if (stop.next) next.set(one, stop.next.to.name);
        const stuck = [...(known?.stuck ?? []), ...(stop.arrives ? [] : [one])];
        const why = stop.why === undefined ? known?.why : { ...known?.why, [one]: stop.why };
        const installed = { name: stop.bundle, version: ofPackage.bundles.get(stop.bundle)?.version };
        lane.set(stop.bundle, { stop, installed, next, stuck, why: why ?? {} });
      }
    }
  }
  return { defaultChannel: ofPackage.defaultChannel, channels };
}

function graphOf(name: string, before: State, after: State): HopGraph {
  const channels = [...new Set([...after.channels.keys(), ...before.channels.keys()])];
  const defaultChannel = after.defaultChannel === '' ? before.defaultChannel : after.defaultChannel;
  return {
    package: name,
    lanes: channels.map((channel) => {
      const [was, is] = [before.channels.get(channel), after.channels.get(channel)];
      const stops = stopsOf(was ?? new Map(), is ?? new Map());
      return {
        channel,
        isDefault: channel === defaultChannel,
        kind: kindOf(was, is),
        isChanged:
          was === undefined ||
          is === undefined ||
          stops.some(({ bundle, ...stop }) => isMoved(stop, was.get(bundle))),
        stops,
      };
    }),
  };
}

function kindOf(before: unknown, after: unknown): HopKind {
  if (before === undefined) return 'added';
  return after === undefined ? 'removed' : 'same';
}

function stopsOf(was: ReadonlyMap<string, Placed>, is: ReadonlyMap<string, Placed>): HopStop[] {
  const all = [...new Map([...was, ...is]).values()].map(({ installed }) => installed);
  return all.sort(compareInstalled).flatMap((installed) => {
    const bundle = installed.name;
    const [old, now] = [was.get(bundle), is.get(bundle)];
    const shown = now ?? old;
    if (!shown) return [];
    const { isHead, isSkipped, isDeprecated } = shown.stop;
    return [
      {
        bundle,
        label: shortName(installed),
        kind: kindOf(old, now),
        isHead: now !== undefined && isHead,
        isSkipped,
        isDeprecated,
        stuck: now?.stuck ?? [],
        why: now?.why ?? {},
        hops: [
          ...hopsOf(now?.next, old?.next, now && old ? 'added' : kindOf(old, now)),
          ...(now && old ? goneHops(old.next, now.next) : []),
        ],
      },
    ];
  });
}

/** What is next now; what was next of a stop that is gone. */
function hopsOf(
  now: ReadonlyMap<Olm, string> | undefined,
  old: ReadonlyMap<Olm, string> | undefined,
  fresh: HopKind,
): Hop[] {
  const hops = new Map<string, { olm: Olm[]; kind: HopKind }>();
  for (const [olm, to] of now ?? old ?? []) {
    const kind = now && old?.get(olm) === to ? 'same' : fresh;
    const hop = hops.get(`${kind} ${to}`);
    if (hop) hop.olm.push(olm);
    else hops.set(`${kind} ${to}`, { olm: [olm], kind });
  }
  return [...hops].map(([key, { olm, kind }]) => ({ to: key.slice(kind.length + 1), olm, kind }));
}

function goneHops(old: ReadonlyMap<Olm, string>, now: ReadonlyMap<Olm, string>): Hop[] {
  const gone = new Map([...old].filter(([olm, to]) => now.get(olm) !== to));
  return hopsOf(gone, undefined, 'removed');
}

/** Whether a stop differs from what it was. */
function isMoved(
  { kind, hops, stuck, isDeprecated }: Omit<HopStop, 'bundle'>,
  was: Placed | undefined,
): boolean {
  return (
    kind !== 'same' ||
    hops.some((hop) => hop.kind !== 'same') ||
    stuck.join() !== was?.stuck.join() ||
    isDeprecated !== was.stop.isDeprecated
  );
}
