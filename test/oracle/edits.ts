/** Edits of generated packages; numbers choose among what is there. */
import { inc, minor, parse, prerelease } from 'semver';
import { CRD_CHANGES } from './custom-resources.ts';
import { byVersion, type Entry, headsOf, otherOf, type Package, versionsOf } from './repository-state.ts';

/** Edits that only add; the first merges of a story are made of them. */
export const ADDING_KINDS = [
  'add head',
  'add skipping head',
  'add head with range',
  'add head without edges',
  'copy newer head',
  'add head with another CRD',
  'add pre-release',
  'add rebuild',
] as const;

const OTHER_KINDS = [
  'drop replaces',
  'add skipRange',
  'prune tail',
  'prune all but the newest',
  'prune middle',
  'withdraw head',
  'roll back',
  'remove channel',
  'add channel',
  'change default channel',
  'change image',
  'bring back changed',
  'add requiring head',
  'add limiting head',
  'deprecate',
  'deprecate channel or package',
  'add head that holds the platform',
  'move folder',
] as const;

export type EditKind = (typeof ADDING_KINDS)[number] | (typeof OTHER_KINDS)[number];

export const EDIT_KINDS: readonly EditKind[] = [...ADDING_KINDS, ...OTHER_KINDS];

/** What an edit of a package may look at. */
export interface Place {
  readonly name: string;
  readonly channel: string;
  readonly entries: readonly Entry[];
  readonly head: Entry;
  /** What the edit chooses by. */
  readonly entry: number;
  /** Every version that the package ever had in any catalog, the lowest first. */
  readonly all: readonly string[];
  /** Those that this catalog had. */
  readonly here: readonly string[];
  /** The package wherever and whenever it was. */
  readonly known: readonly Package[];
  /** What the other package has in this catalog: its heads. */
  readonly offered: readonly string[];
  /** The platform of this catalog, such as `4.19`. */
  readonly platform: string;
}

export type EditOfPackage = (one: Package, place: Place) => Package;

export function chosen<T>(all: readonly T[], index: number): T | undefined {
  return all[index % Math.max(all.length, 1)];
}

function withEntries(one: Package, channel: string, entries: readonly Entry[]): Package {
  return { ...one, channels: { ...one.channels, [channel]: entries } };
}

/** The version of the next minor release, or of the release that a pre-release was for. */
function nextVersion({ all, entry }: Place): string {
  const newest = all.at(-1) ?? '1.0.0';
  return prerelease(newest) && entry % 2 === 0 ? (inc(newest, 'patch') ?? '') : `1.${minor(newest) + 1}.0`;
}

/** With a new head that has the CRD of the head before it. */
function withHead(
  one: Package,
  place: Place,
  edges: Omit<Entry, 'version'>,
  version = nextVersion(place),
): Package {
  const { channel, entries, head, known } = place;
  const skipRange = edges.skipRange?.replace('HEAD', version);
  const entry = { version, ...edges, ...(skipRange === undefined ? {} : { skipRange }) };
  const after = withEntries(one, channel, [...entries, entry]);
  const crd = [one, ...known].map(({ crds }) => crds?.[head.version]).find((found) => found !== undefined);
  return one.crds && crd ? { ...after, crds: { ...one.crds, [version]: crd } } : after;
}

/** With what is known of a version: the same bundle in every catalog. */
function withContent(one: Package, { known }: Place, version: string): Package {
  const source = known.findLast((other) => versionsOf(other).includes(version));
  const { [version]: crd } = source?.crds ?? {};
  const { [version]: required } = source?.requires ?? {};
  return {
    ...one,
    ...(one.crds && crd ? { crds: { ...one.crds, [version]: crd } } : {}),
    ...(required === undefined ? {} : { requires: { ...one.requires, [version]: required } }),
  };
}

/** The version that an edit added. */
function newest(after: Package, before: Package): string {
  return versionsOf(after).find((version) => !versionsOf(before).includes(version)) ?? '';
}

/** Without an entry, and with the edges around it as they were. */
function without(one: Package, { channel, entries }: Place, version: string | undefined): Package {
  return withEntries(
    one,
    channel,
    entries.filter((entry) => entry.version !== version),
  );
}

/** With a version that is newer than the head on top, or one that is older below what skips it. */
function broughtBack({ entries, head }: Place, version: string): Entry[] {
  if (byVersion(version, head.version) > 0) return [...entries, { version, replaces: head.version }];
  const skips = [...(head.skips ?? []), version];
  return [{ version }, ...entries.map((entry) => (entry === head ? { ...head, skips } : entry))];
}

function changed(one: Package, place: Place, change: (entry: Entry) => Entry): Package {
  const target = chosen(place.entries, place.entry);
  return withEntries(
    one,
    place.channel,
    place.entries.map((entry) => (entry === target ? change(entry) : entry)),
  );
}

function replacing({ head }: Place): Omit<Entry, 'version'> {
  return { replaces: head.version };
}

function requiring(one: Package, place: Place, range: string): Package {
  const after = withHead(one, place, replacing(place));
  return { ...after, requires: { ...one.requires, [newest(after, one)]: range } };
}

export const EDITS: Readonly<Record<EditKind, EditOfPackage>> = {
  'add head': (one, place) => withHead(one, place, replacing(place)),
  'add skipping head': (one, place) => {
    const skips = place.entries.map(({ version }) => version).slice(-1 - (place.entry % 3));
    const next = place.entries.find(({ version }) => version === skips[0])?.replaces;
    return withHead(one, place, { skips, ...(next === undefined ? {} : { replaces: next }) });
  },
  'add head with range': (one, place) =>
    withHead(one, place, { ...replacing(place), skipRange: `>=1.${place.entry % 3}.0 <HEAD` }),
  'add head without edges': (one, place) => withHead(one, place, {}),
  'copy newer head': (one, place) => {
    const newer = place.all.find((version) => byVersion(version, place.head.version) > 0);
    if (newer === undefined) return one;
    const after = withEntries(one, place.channel, [
      ...place.entries,
      { version: newer, ...replacing(place) },
    ]);
    return withContent(after, place, newer);
  },
  'add head with another CRD': (one, place) => {
    const after = withHead(one, place, replacing(place));
    const version = newest(after, one);
    const { [version]: crd, ...rest } = after.crds ?? {};
    const change = chosen(CRD_CHANGES, place.entry);
    const next = crd && change?.(crd);
    return after.crds ? { ...after, crds: { ...rest, ...(next ? { [version]: next } : {}) } } : one;
  },
  'add pre-release': (one, place) => {
    const last = place.all.at(-1) ?? '1.0.0';
    const version = prerelease(last) ? inc(last, 'prerelease') : inc(last, 'preminor', 'rc');
    return withHead(one, place, replacing(place), version ?? '');
  },
  'add rebuild': (one, place) => {
    const { version: release = '1.0.0', build: [number] = ['0'] } = parse(place.all.at(-1)) ?? {};
    return withHead(one, place, replacing(place), `${release}+${Number(number ?? 0) + 1}`);
  },
  'drop replaces': (one, place) => changed(one, place, ({ replaces: _, ...rest }) => rest),
  'add skipRange': (one, place) =>
    changed(one, place, (entry) => ({ ...entry, skipRange: `>=1.0.0 <${entry.version}` })),
  'prune tail': (one, place) => without(one, place, place.entries[0]?.version),
  'prune all but the newest': (one, place) =>
    withEntries(one, place.channel, place.entries.slice(-1 - (place.entry % 2))),
  'prune middle': (one, place) => {
    const pruned = chosen(place.entries, place.entry);
    const bridged = place.entries.map((entry) => {
      const { replaces: _, ...rest } = entry;
      if (pruned === undefined || entry.replaces !== pruned.version) return entry;
      return pruned.replaces === undefined ? rest : { ...rest, replaces: pruned.replaces };
    });
    return without(one, { ...place, entries: bridged }, pruned?.version);
  },
  'withdraw head': (one, place) => without(one, place, place.head.version),
  // Whoever has the head goes back to what it replaced.
  'roll back': (one, place) => {
    const { head, entries, channel } = place;
    const rest = entries.filter((entry) => entry !== head);
    const back = (entry: Entry): Entry => ({ ...entry, skips: [...(entry.skips ?? []), head.version] });
    return withEntries(
      one,
      channel,
      rest.map((entry) => (entry.version === head.replaces ? back(entry) : entry)),
    );
  },
  'remove channel': (one, { channel }) => {
    const { [channel]: _, ...channels } = one.channels;
    return { ...one, channels };
  },
  'add channel': (one, { entries }) =>
    one.channels['candidate'] ? one : withEntries(one, 'candidate', entries),
  'change default channel': (one, { channel }) => ({ ...one, defaultChannel: channel }),
  'change image': (one, { entry }) => {
    const version = chosen(versionsOf(one), entry) ?? '';
    const isRebuilt = one.rebuilt.includes(version);
    const rebuilt = isRebuilt ? one.rebuilt.filter((it) => it !== version) : [...one.rebuilt, version];
    return { ...one, rebuilt };
  },
  'bring back changed': (one, place) => {
    const gone = place.here.findLast((version) => !versionsOf(one).includes(version));
    if (gone === undefined) return one;
    const rebuilt = place.entry % 2 === 0 ? [...new Set([...one.rebuilt, gone])] : one.rebuilt;
    const after = withEntries(one, place.channel, broughtBack(place, gone));
    return { ...withContent(after, place, gone), rebuilt };
  },
  // What nothing in the repository provides may come from another catalog of the cluster: nobody can tell.
  'add requiring head': (one, place) => {
    const lowest = chosen(place.offered, place.entry);
    return lowest === undefined ? one : requiring(one, place, `>=${lowest}`);
  },
  'add limiting head': (one, place) => {
    const highest = [...place.offered].sort(byVersion).at(-1);
    return highest === undefined ? one : requiring(one, place, `<1.${minor(highest) + 1}.0`);
  },
  deprecate: (one, { entry }) => ({
    ...one,
    deprecated: [...new Set([...one.deprecated, chosen(versionsOf(one), entry) ?? ''])],
  }),
  'deprecate channel or package': (one, { channel, entry }) => ({
    ...one,
    deprecatedChannels: [...new Set([...(one.deprecatedChannels ?? []), entry % 2 === 0 ? channel : '*'])],
  }),
  'add head that holds the platform': (one, place) => {
    const after = withHead(one, place, replacing(place));
    return { ...after, limits: { ...one.limits, [newest(after, one)]: place.platform } };
  },
  'move folder': (one, { name }) => ({
    ...one,
    folder: one.folder === undefined ? `${name}-operator` : name,
  }),
};

/** An edit of a package in its catalog, with all that it may look at. */
export function placeOf(
  one: Package,
  {
    channel: index,
    entry,
    ...rest
  }: Omit<Place, 'channel' | 'entries' | 'head'> & { readonly channel: number },
): Place | undefined {
  const channel = chosen(Object.keys(one.channels), index) ?? '';
  const entries = one.channels[channel] ?? [];
  const [head] = headsOf(entries);
  return head && { ...rest, entry, channel, entries, head };
}

/** The heads of the package that a package's requirements are about. */
export function offeredTo(name: string, catalog: Readonly<Record<string, Package>>): string[] {
  const channels = catalog[otherOf(name)]?.channels ?? {};
  return Object.values(channels).flatMap((of) => headsOf(of).map(({ version }) => version));
}
