/**
 * The next-hop graph as it is drawn: one state of a package, or two with what came and
 * what went. One edge for each bundle and OLM, never the edges that are only written.
 */

import { headOf, isSkippedIn } from '../../fbc/channel.ts';
import { type Installed, installedOf, shortName } from '../../fbc/edge.ts';
import type { Package } from '../../fbc/model.ts';
import type { Foresight } from '../foresight/foresight.ts';
import { compareInstalled } from '../foresight/installation.ts';
import type { Change, Olm, World } from '../foresight/world.ts';
import { reasonOf, type Upgrade, upgradeOf } from '../resolve/outcome.ts';

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

/** The effect of a change on a package's graph: the channels that it changes. */
export function hopChange({ before, after }: Change, name: string): HopGraph {
  const stateIn = ({ foresight, catalog }: World): State => {
    const ofPackage = catalog.packages.get(name);
    return ofPackage ? stateOf(foresight, ofPackage, after.olm) : { channels: new Map(), defaultChannel: '' };
  };
  return graphOf(name, stateIn(before), stateIn(after), ({ isChanged }) => isChanged);
}

/**
 * The graph of a change in which removed versions are marked as stuck if clusters that have them cannot reach a head any
 * more.
 */
export function withStranded({ before, after }: Change, graph: HopGraph): HopGraph {
  const bundles = before.catalog.packages.get(graph.package)?.bundles;
  const arrives = (olm: Olm, channel: string, installed: Installed): boolean =>
    olm === 'v0'
      ? after.foresight.v0({ package: graph.package, channel }, installed).arrives
      : after.foresight.v1({ package: graph.package, channels: [channel] }, installed).arrives;
  const lanes = graph.lanes.map((lane) => ({
    ...lane,
    stops: lane.stops.map((stop) => {
      const bundle = stop.kind === 'removed' ? bundles?.get(stop.bundle) : undefined;
      if (!bundle) return stop;
      const stuck = [...after.olm].filter((olm) => !arrives(olm, lane.channel, installedOf(bundle)));
      return { ...stop, stuck };
    }),
  }));
  return { ...graph, lanes };
}

/** Stops by channel and bundle. */
interface State {
  readonly defaultChannel: string;
  readonly channels: ReadonlyMap<string, Stops>;
}

type Stops = ReadonlyMap<string, StopUnder>;

interface StopUnder {
  readonly installed: Installed;
  /** The upgrade under each OLM version; at least one. */
  readonly under: { readonly olm: Olm; readonly stop: Stop }[];
}

/** The stops of each channel, with what each OLM does there. */
function stateOf(foresight: Foresight, ofPackage: Package, olm: ReadonlySet<Olm>): State {
  const channels = new Map<string, Map<string, StopUnder>>();
  for (const one of olm) {
    for (const { channel, stops } of nextHops(foresight, ofPackage, one)) {
      const lane = channels.get(channel) ?? new Map<string, StopUnder>();
      channels.set(channel, lane);
      for (const stop of stops) {
        const known = lane.get(stop.bundle);
        const under = { olm: one, stop };
        if (known) known.under.push(under);
        else lane.set(stop.bundle, { installed: stop.installed, under: [under] });
      }
    }
  }
  return { defaultChannel: ofPackage.defaultChannel, channels };
}

const NO_STOPS: Stops = new Map();

/**
 * The graph of a package with what a change adds and removes.
 *
 * @param isWanted which channels are drawn
 */
function graphOf(
  name: string,
  before: State,
  after: State,
  isWanted: (lane: Pick<HopLane, 'isChanged'>) => boolean = () => true,
): HopGraph {
  const channels = [...new Set([...after.channels.keys(), ...before.channels.keys()])];
  const defaultChannel = after.defaultChannel === '' ? before.defaultChannel : after.defaultChannel;
  const lanes = channels.flatMap((channel): HopLane | [] => {
    const [was, is] = [before.channels.get(channel), after.channels.get(channel)];
    const isChanged = was === undefined || is === undefined || isDifferent(was, is);
    if (!isWanted({ isChanged })) return [];
    const stops = stopsOf(was ?? NO_STOPS, is ?? NO_STOPS);
    return { channel, isDefault: channel === defaultChannel, kind: kindOf(was, is), isChanged, stops };
  });
  return { package: name, lanes };
}

function kindOf(before: unknown, after: unknown): HopKind {
  if (before === undefined) return 'added';
  return after === undefined ? 'removed' : 'same';
}

/** The stops of one channel before and after a change, from the lowest version to the highest. */
function stopsOf(was: Stops, is: Stops): HopStop[] {
  const all = [...new Map([...was, ...is]).values()].map(({ installed }) => installed);
  return all.sort(compareInstalled).flatMap((installed): HopStop | [] => {
    const bundle = installed.name;
    const [old, now] = [was.get(bundle), is.get(bundle)];
    const stop = (now ?? old)?.under.at(-1)?.stop;
    if (!stop) return [];
    // These are the same under every OLM, so any of its stops will do.
    const { isHead, isSkipped, isDeprecated } = stop;
    return {
      bundle,
      label: shortName(installed),
      kind: kindOf(old, now),
      isHead: now !== undefined && isHead,
      isSkipped,
      isDeprecated,
      stuck: stuckUnder(now),
      why: whyOf(now),
      hops: [
        // First the upgrades of today, then those that the change took away.
        ...hopsOf(now ?? old, (olm, to) => {
          if (now && nextOf(old, olm) === to) return 'same';
          return now && old ? 'added' : kindOf(old, now);
        }),
        ...(now && old ? hopsOf(old, (olm, to) => (nextOf(now, olm) === to ? undefined : 'removed')) : []),
      ],
    };
  });
}

function stuckUnder(placed: StopUnder | undefined): Olm[] {
  return (placed?.under ?? []).flatMap(({ olm, stop }) => (stop.arrives ? [] : olm));
}

function whyOf(placed: StopUnder | undefined): HopStop['why'] {
  const why: { [olm in Olm]?: string } = {};
  for (const { olm, stop } of placed?.under ?? []) if (stop.why !== undefined) why[olm] = stop.why;
  return why;
}

/** Name of the next bundle. */
function nextOf(placed: StopUnder | undefined, olm: Olm): string | undefined {
  return placed?.under.find((one) => one.olm === olm)?.stop.next?.to.name;
}

/** The upgrades from a stop. OLM versions with the same target share one; upgrades without a kind are left out. */
function hopsOf(placed: StopUnder | undefined, kind: (olm: Olm, to: string) => HopKind | undefined): Hop[] {
  const hops: { to: string; olm: Olm[]; kind: HopKind }[] = [];
  for (const { olm, stop } of placed?.under ?? []) {
    const to = stop.next?.to.name;
    const hopKind = to === undefined ? undefined : kind(olm, to);
    if (to === undefined || hopKind === undefined) continue;
    const same = hops.find((hop) => hop.to === to && hop.kind === hopKind);
    if (same) same.olm.push(olm);
    else hops.push({ to, olm: [olm], kind: hopKind });
  }
  return hops;
}

/** Whether the versions of a channel, their upgrades or their deprecations differ. */
function isDifferent(was: Stops, is: Stops): boolean {
  return was.size !== is.size || [...is].some(([bundle, now]) => isMoved(now, was.get(bundle)));
}

/** Whether a stop is new, or an upgrade, a path's end or a deprecation there is different. */
function isMoved(now: StopUnder, was: StopUnder | undefined): boolean {
  return (
    was === undefined ||
    was.under.length !== now.under.length ||
    // Both sides list the OLM versions in one order.
    now.under.some(({ stop }, i) => {
      const old = was.under[i]?.stop;
      return (
        stop.next?.to.name !== old?.next?.to.name ||
        stop.arrives !== old?.arrives ||
        stop.isDeprecated !== old.isDeprecated
      );
    })
  );
}

// The next-hop graph: for each bundle the one edge that clusters will take, which is
// what a reviewer needs to see in place of every edge that is written.

/** One channel of a package as clusters see it. */
export interface ChannelHops {
  readonly channel: string;
  readonly stops: readonly Stop[];
}

/** A bundle of a channel and where it leads. */
export interface Stop {
  readonly bundle: string;
  readonly installed: Installed;
  readonly isHead: boolean;
  /** Whether another entry skips it, so that OLM v0 never offers it. */
  readonly isSkipped: boolean;
  readonly isDeprecated: boolean;
  /** Whether its upgrade path ends at a head. */
  readonly arrives: boolean;
  /** The upgrade that clusters perform automatically, if any. */
  readonly next: Upgrade | undefined;
  /** Why there is no upgrade. */
  readonly why: string | undefined;
}

/** The hops of every channel of a package. Under OLM v1 an extension is taken to select the channel alone. */
export function nextHops(foresight: Foresight, ofPackage: Package, olm: Olm): ChannelHops[] {
  return [...ofPackage.channels.values()].map((channel) => {
    const head = headOf(channel)?.name;
    const stops = channel.entries.flatMap(({ name }): Stop[] => {
      const bundle = ofPackage.bundles.get(name);
      if (!bundle) return [];
      const installed = installedOf(bundle);
      const { next, arrives } =
        olm === 'v0'
          ? foresight.v0({ package: ofPackage.name, channel: channel.name }, installed)
          : foresight.v1({ package: ofPackage.name, channels: [channel.name] }, installed);
      const isDeprecated = ofPackage.deprecatedBundles.has(name);
      const isHead = name === head;
      const [isSkipped, why] = [isSkippedIn(channel, name), reasonOf(next)?.text];
      return [
        { bundle: name, installed, isHead, isSkipped, isDeprecated, arrives, next: upgradeOf(next), why },
      ];
    });
    return { channel: channel.name, stops };
  });
}
