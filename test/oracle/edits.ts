/** Histories and merges for the oracle: lists of edits, so that whatever breaks a law can be made smaller. */
import fc from 'fast-check';
import {
  type Catalog,
  type Entry,
  headsOf,
  isValid,
  type Package,
  PROVIDER,
  type State,
  versionsOf,
} from './repository-state.ts';

const KINDS = [
  'add head',
  'add skipping head',
  'add head with range',
  'add head without edges',
  'copy newer head',
  'drop replaces',
  'add skipRange',
  'prune tail',
  'prune middle',
  'withdraw head',
  'remove channel',
  'add channel',
  'change default channel',
  'change image',
  'bring back changed',
  'add requiring head',
  'deprecate',
  'remove package',
] as const;

/** An edit of one package, in one catalog or in all of them; numbers choose among what is there. */
export interface Edit {
  readonly kind: (typeof KINDS)[number];
  readonly catalog: number;
  readonly package: number;
  readonly channel: number;
  readonly entry: number;
  readonly everywhere: boolean;
}

/** A repository's past, and the merge that is judged. */
export interface Story {
  readonly catalogs: number;
  readonly packages: number;
  readonly channels: number;
  readonly merges: readonly (readonly Edit[])[];
  readonly merge: readonly Edit[];
}

const number = fc.nat({ max: 5 });

function edits(kinds: readonly Edit['kind'][], minLength: number, maxLength: number): fc.Arbitrary<Edit[]> {
  const edit = fc.record({
    kind: fc.constantFrom(...kinds),
    catalog: number,
    package: number,
    channel: number,
    entry: number,
    everywhere: fc.boolean(),
  });
  return fc.array(edit, { minLength, maxLength });
}

export const story: fc.Arbitrary<Story> = fc.record({
  catalogs: fc.integer({ min: 1, max: 3 }),
  packages: fc.integer({ min: 1, max: 2 }),
  channels: fc.integer({ min: 1, max: 2 }),
  merges: fc
    .tuple(edits(KINDS.slice(0, 5), 1, 5), fc.array(edits(KINDS, 1, 3), { minLength: 1, maxLength: 3 }))
    .map(([first, others]) => [first, ...others]),
  merge: edits(KINDS, 1, 2),
});

/** The states of a story: all of the base branch, and last that after the merge. */
export function statesOf({ catalogs, packages, channels, merges, merge }: Story): State[] {
  const names = ['v4.19', 'v4.20', 'v4.21'].slice(0, catalogs);
  const first: Catalog = Object.fromEntries(
    ['pa', PROVIDER]
      .slice(0, packages)
      .map((name) => [name, newPackage(['fast', 'stable'].slice(-channels))]),
  );
  const states: State[] = [Object.fromEntries(names.map((name) => [name, first]))];
  for (const one of [...merges, merge]) {
    const past = [...states];
    states.push(one.reduce((state, edit) => applied(state, edit, past), states.at(-1) ?? {}));
  }
  return states;
}

function newPackage(channels: readonly string[]): Package {
  return {
    defaultChannel: channels.at(-1) ?? '',
    channels: Object.fromEntries(channels.map((channel) => [channel, [{ version: '1.0.0' }]])),
    rebuilt: [],
    deprecated: [],
    requires: {},
  };
}

function chosen<T>(all: readonly T[], index: number): T | undefined {
  return all[index % Math.max(all.length, 1)];
}

/** What an edit of a package may look at. */
interface Place {
  readonly name: string;
  readonly channel: string;
  readonly entries: readonly Entry[];
  readonly head: Entry;
  readonly edit: Edit;
  /** Every version that the package ever had in any catalog. */
  readonly all: readonly string[];
  /** What package `pb` has in this catalog. */
  readonly offered: readonly string[];
  /** Those that this catalog had. */
  readonly here: readonly string[];
}

/** The state after an edit; where opm would not accept the result, the state as it was. */
function applied(state: State, edit: Edit, past: readonly State[]): State {
  const [catalog, ...others] = edit.everywhere
    ? Object.keys(state)
    : [chosen(Object.keys(state), edit.catalog)].filter((name) => name !== undefined);
  if (catalog === undefined) return state;
  return [catalog, ...others].reduce((now, name) => appliedIn(now, name, edit, [...past, state]), state);
}

function appliedIn(state: State, catalog: string, edit: Edit, past: readonly State[]): State {
  const packages = state[catalog] ?? {};
  const name = chosen(Object.keys(packages), edit.package);
  const before = name === undefined ? undefined : packages[name];
  if (name === undefined || !before) return state;
  const { [name]: _, ...rest } = packages;
  if (edit.kind === 'remove package') return { ...state, [catalog]: rest };
  const channel = chosen(Object.keys(before.channels), edit.channel) ?? '';
  const entries = before.channels[channel] ?? [];
  const [head] = headsOf(entries);
  if (!head) return state;
  const ever = (catalogs: readonly Catalog[]): string[] =>
    [...new Set(catalogs.flatMap(({ [name]: one }) => (one ? versionsOf(one) : [])))].sort(byVersion);
  const all = ever(past.flatMap((one) => Object.values(one)));
  const here = ever(past.map((one) => one[catalog] ?? {}));
  const { [PROVIDER]: provider } = packages;
  const offered = provider
    ? Object.values(provider.channels).flatMap((of) => headsOf(of).map(({ version }) => version))
    : [];
  const after = EDITS[edit.kind](before, { name, channel, entries, head, edit, all, here, offered });
  return isValid(after) ? { ...state, [catalog]: { ...packages, [name]: after } } : state;
}

function byVersion(a: string, b: string): number {
  return minorOf(a) - minorOf(b);
}

function minorOf(version: string): number {
  return Number(version.split('.')[1]);
}

function withEntries(one: Package, channel: string, entries: readonly Entry[]): Package {
  return { ...one, channels: { ...one.channels, [channel]: entries } };
}

function withHead(one: Package, { channel, entries, all }: Place, edges: Omit<Entry, 'version'>): Package {
  const version = `1.${minorOf(all.at(-1) ?? '1.0.0') + 1}.0`;
  const skipRange = edges.skipRange?.replace('HEAD', version);
  const entry = { version, ...edges, ...(skipRange === undefined ? {} : { skipRange }) };
  return withEntries(one, channel, [...entries, entry]);
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
  if (minorOf(version) > minorOf(head.version)) return [...entries, { version, replaces: head.version }];
  const skips = [...(head.skips ?? []), version];
  return [{ version }, ...entries.map((entry) => (entry === head ? { ...head, skips } : entry))];
}

function changed(one: Package, place: Place, change: (entry: Entry) => Entry): Package {
  const target = chosen(place.entries, place.edit.entry);
  return withEntries(
    one,
    place.channel,
    place.entries.map((entry) => (entry === target ? change(entry) : entry)),
  );
}

const EDITS: Readonly<
  Record<Exclude<Edit['kind'], 'remove package'>, (one: Package, place: Place) => Package>
> = {
  'add head': (one, place) => withHead(one, place, { replaces: place.head.version }),
  'add skipping head': (one, place) => {
    const skips = place.entries.map(({ version }) => version).slice(-1 - (place.edit.entry % 3));
    const next = place.entries.find(({ version }) => version === skips[0])?.replaces;
    return withHead(one, place, { skips, ...(next === undefined ? {} : { replaces: next }) });
  },
  'add head with range': (one, place) =>
    withHead(one, place, {
      replaces: place.head.version,
      skipRange: `>=1.${place.edit.entry % 3}.0 <HEAD`,
    }),
  'add head without edges': (one, place) => withHead(one, place, {}),
  'copy newer head': (one, place) => {
    const newer = place.all.find((version) => minorOf(version) > minorOf(place.head.version));
    if (newer === undefined) return one;
    return withEntries(one, place.channel, [
      ...place.entries,
      { version: newer, replaces: place.head.version },
    ]);
  },
  'drop replaces': (one, place) => changed(one, place, ({ replaces: _, ...rest }) => rest),
  'add skipRange': (one, place) =>
    changed(one, place, (entry) => ({ ...entry, skipRange: `>=1.0.0 <${entry.version}` })),
  'prune tail': (one, place) => without(one, place, place.entries[0]?.version),
  'prune middle': (one, place) => {
    const pruned = chosen(place.entries, place.edit.entry);
    const bridged = place.entries.map((entry) => {
      const { replaces: _, ...rest } = entry;
      if (pruned === undefined || entry.replaces !== pruned.version) return entry;
      return pruned.replaces === undefined ? rest : { ...rest, replaces: pruned.replaces };
    });
    return without(one, { ...place, entries: bridged }, pruned?.version);
  },
  'withdraw head': (one, place) => without(one, place, place.head.version),
  'remove channel': (one, { channel }) => {
    const { [channel]: _, ...channels } = one.channels;
    return { ...one, channels };
  },
  'add channel': (one, { entries }) =>
    one.channels['candidate'] ? one : withEntries(one, 'candidate', entries),
  'change default channel': (one, { channel }) => ({ ...one, defaultChannel: channel }),
  'change image': (one, { edit }) => {
    const version = chosen(versionsOf(one), edit.entry) ?? '';
    const isRebuilt = one.rebuilt.includes(version);
    const rebuilt = isRebuilt ? one.rebuilt.filter((it) => it !== version) : [...one.rebuilt, version];
    return { ...one, rebuilt };
  },
  'bring back changed': (one, place) => {
    const gone = place.here.findLast((version) => !versionsOf(one).includes(version));
    if (gone === undefined) return one;
    const rebuilt = place.edit.entry % 2 === 0 ? [...new Set([...one.rebuilt, gone])] : one.rebuilt;
    return { ...withEntries(one, place.channel, broughtBack(place, gone)), rebuilt };
  },
  'add requiring head': (one, place) => {
    // What nothing in the repository provides may come from another catalog of the cluster: nobody can tell.
    const lowest = chosen(place.offered, place.edit.entry);
    if (place.name === PROVIDER || lowest === undefined) return one;
    const after = withHead(one, place, { replaces: place.head.version });
    return { ...after, requires: { ...one.requires, [newest(after, one)]: `>=${lowest}` } };
  },
  deprecate: (one, { edit }) => ({
    ...one,
    deprecated: [...new Set([...one.deprecated, chosen(versionsOf(one), edit.entry) ?? ''])],
  }),
};
