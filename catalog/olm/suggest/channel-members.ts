/** The channels of a suggested upgrade graph: which bundles each is made of, and where its upgrades lead. */
import { headOf } from '../../fbc/channel.ts';
import type { Installed } from '../../fbc/edge.ts';
import type { Bundle, Channel, Entry, Package } from '../../fbc/model.ts';
import { quoted } from '../../names.ts';
import { Undecided } from '../../undecided.ts';
import { compareVersions, type Version } from '../../version/version.ts';
import { compareInstalled } from '../foresight/installation.ts';
import { followersOf } from '../resolve/followers.ts';
import { type ChannelScheme, type GraphPolicy, keepsChannels } from './policy.ts';
import type { Place } from './suggested-channel.ts';

export interface ChannelMembers {
  readonly name: string;
  /** Names of bundles. */
  readonly members: readonly string[];
  /** Name of the bundle to which all upgrades lead; empty where nothing may be installed. */
  readonly head: string;
  /** Undefined for a new channel. */
  readonly today: Channel | undefined;
}

/** The bundles and the head of each suggested channel. A kept channel keeps its head unless the policy avoids it. */
export function channelMembers(ofPackage: Package, policy: GraphPolicy): ChannelMembers[] {
  if (!keepsChannels(policy))
    return policy.channels.flatMap((scheme) => newChannels(scheme, ofPackage, policy));
  return [...ofPackage.channels.values()].map((channel) => {
    const members = channel.entries.map(({ name }) => name);
    const head = headOf(channel)?.name;
    const isOpen = head !== undefined && !policy.avoid.has(head);
    return {
      name: channel.name,
      members,
      head: isOpen ? head : newestAllowed(members, ofPackage, policy),
      today: channel,
    };
  });
}

/** Of all new channels together. */
const MOST_MEMBERS = 1_000_000;

/** The channels that a scheme makes from the versions of a package. @throws Undecided for too many members */
function newChannels(scheme: ChannelScheme, ofPackage: Package, policy: GraphPolicy): ChannelMembers[] {
  const bundles = [...ofPackage.bundles.values()].filter(({ version }) => version);
  const released = bundles.filter(({ version }) => version?.prerelease.length === 0);
  const channelWith = (name: string, all: readonly Bundle[]): ChannelMembers[] => {
    const members = all.map((bundle) => bundle.name);
    const head = newestAllowed(members, ofPackage, policy);
    return head === '' ? [] : [{ name, members, head, today: undefined }];
  };
  if (scheme === 'stable') return channelWith('stable', released);
  if (scheme === 'candidate') return channelWith('candidate', bundles);
  const groups = [...newestByNumber(scheme, released, policy)];
  if (groups.length * released.length > MOST_MEMBERS)
    throw new Undecided(
      `the upgrades of package ${quoted(ofPackage.name)}`,
      'it has too many versions for so many channels',
    );
  return groups.flatMap(([name, highest]) =>
    channelWith(
      name,
      released.filter(({ version }) => version && compareVersions(version, highest) <= 0),
    ),
  );
}

/** The newest version of each minor or major version, by the name of its channel, as opm's semver templates name them. */
function newestByNumber(
  scheme: ChannelScheme,
  released: readonly Bundle[],
  { supported }: GraphPolicy,
): Map<string, Version> {
  const groups = new Map<string, Version>();
  // The highest is set last, and stays.
  for (const { version } of [...released].sort(compareInstalled)) {
    if (!version) continue;
    const { major, minor } = version;
    const isSupported = supported.some((one) => one.major === Number(major) && one.minor === Number(minor));
    if (scheme === 'minor' && supported.length > 0 && !isSupported) continue;
    groups.set(scheme === 'minor' ? `stable-v${major}.${minor}` : `stable-v${major}`, version);
  }
  return groups;
}

/** The newest bundle that may be installed, a deprecated one only where there is no other; empty for none. */
function newestAllowed(
  names: readonly string[],
  { bundles, deprecatedBundles }: Package,
  { avoid }: GraphPolicy,
): string {
  const known = names.flatMap((name) => bundles.get(name) ?? []);
  const allowed = known.filter(({ name, version }) => version && !avoid.has(name));
  const current = allowed.filter(({ name }) => !deprecatedBundles.has(name));
  return (current.length > 0 ? current : allowed).sort(compareInstalled).at(-1)?.name ?? '';
}

// The direct upgrades that today's entries have.

/** Names of the entries that follow something installed. */
export type Followers = (installed: Installed) => ReadonlySet<string>;

/** Whether an installation may be upgraded directly to another place. */
export type MayUpgrade = (from: Place, to: Place) => boolean;

/** Tells the names of the entries to which an installed version may upgrade directly. */
export function followersAmong(entries: readonly Entry[]): Followers {
  const positions = followersOf(entries, [entries]);
  const known = new Map<string, ReadonlySet<string>>();
  return (installed) => {
    const key = JSON.stringify([installed.name, installed.version]);
    const found =
      known.get(key) ?? new Set(positions(installed).map((position) => entries[position]?.name ?? ''));
    known.set(key, found);
    return found;
  };
}

/**
 * Allows the direct upgrades that today's entries have. What has none is stranded today: it may go where what it leads
 * to goes, else where the version below it may go, else to the next version.
 *
 * @param places the lowest first
 */
export function upgradesOfToday(places: readonly Place[], followed: Followers): MayUpgrade {
  const position = new Map(places.map(({ name }, i) => [name, i]));
  // For each place, the positions above it that follow it today.
  const above = places.map((place, i) => {
    const found: number[] = [];
    for (const name of followed(place)) {
      const to = position.get(name) ?? -1;
      if (to > i) found.push(to);
    }
    return found;
  });
  const isCandidate = (at: number): boolean => places[at]?.isCandidate === true;
  const allowed: ReadonlySet<number>[] = [];
  // Where each place gets to over places that may not be entries.
  const reach: ReadonlySet<number>[] = [];
  const nextCandidate: (number | undefined)[] = [];
  for (let i = places.length - 1; i >= 0; i--) {
    nextCandidate[i] = isCandidate(i + 1) ? i + 1 : nextCandidate[i + 1];
    const direct = (above[i] ?? []).filter(isCandidate);
    reach[i] = direct.length > 0 ? new Set(direct) : unionOf(above[i] ?? [], reach);
  }
  let below: ReadonlySet<number> = new Set();
  for (const i of places.keys()) {
    const own = reach[i] as ReadonlySet<number>;
    const inherited = own.size > 0 ? own : new Set([...below].filter((to) => to > i));
    const next = nextCandidate[i];
    allowed[i] = inherited.size > 0 ? inherited : new Set(next === undefined ? [] : [next]);
    below = allowed[i] as ReadonlySet<number>;
  }
  return (from, to) => {
    const [a, b] = [position.get(from.name), position.get(to.name)];
    return a !== undefined && b !== undefined && (allowed[a]?.has(b) ?? false);
  };
}

/** What some positions reach. Entries may name each other a million times. */
function unionOf(positions: readonly number[], reach: readonly ReadonlySet<number>[]): Set<number> {
  const all = new Set<number>();
  for (const position of positions) for (const to of reach[position] ?? []) all.add(to);
  return all;
}
