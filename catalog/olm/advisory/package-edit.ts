/** A change of one package in one catalog, as data: what its channels, bundles and deprecations become. */
import { type Channel, type Entry, type Package, packageWith } from '../../fbc/model.ts';

export interface PackageEdit {
  /** Entries of the channels that change; a channel without entries is removed. */
  readonly channels: ReadonlyMap<string, readonly Entry[]>;
  /** Names of the bundles that are removed. */
  readonly bundles: ReadonlySet<string>;
  /** The default channel, where that changes. */
  readonly defaultChannel: string | undefined;
  /** Messages of the bundles that are deprecated. */
  readonly deprecations: ReadonlyMap<string, string>;
}

export const NO_EDIT: PackageEdit = {
  channels: new Map(),
  bundles: new Set(),
  defaultChannel: undefined,
  deprecations: new Map(),
};

/** Whether an edit changes nothing. */
export function isEmpty({ channels, bundles, defaultChannel, deprecations }: PackageEdit): boolean {
  return channels.size === 0 && bundles.size === 0 && defaultChannel === undefined && deprecations.size === 0;
}

/** The package after an edit; undefined where no channel is left. */
export function packageAfter(ofPackage: Package, edit: PackageEdit): Package | undefined {
  const channels = new Map<string, Channel>();
  for (const [name, channel] of ofPackage.channels) {
    const entries = edit.channels.get(name);
    if (!entries) channels.set(name, channel);
    // A channel that is left without entries goes: opm refuses it.
    else if (entries.length > 0) channels.set(name, { ...channel, entries: withIndexes(entries) });
  }
  if (channels.size === 0) return undefined;
  return packageWith(ofPackage, {
    defaultChannel: edit.defaultChannel ?? ofPackage.defaultChannel,
    channels,
    bundles: new Map([...ofPackage.bundles].filter(([bundle]) => !edit.bundles.has(bundle))),
    // A message that the catalog has already stays.
    deprecatedBundles: new Map([...edit.deprecations, ...ofPackage.deprecatedBundles]),
  });
}

function withIndexes(entries: readonly Entry[]): Entry[] {
  return entries.map((entry, index) => ({ ...entry, index }));
}

/**
 * How much an edit changes: entries, bundles and messages, and members of entries. A version that stays and that an
 * entry newly skips counts three times, since OLM v0 no longer offers it.
 */
export function sizeOf(ofPackage: Package, edit: PackageEdit): number {
  const inChannels = [...edit.channels].map(([name, entries]) => {
    const channel = ofPackage.channels.get(name);
    return channel ? entriesSize(channel, entries) : 0;
  });
  const others = edit.bundles.size + edit.deprecations.size + (edit.defaultChannel === undefined ? 0 : 1);
  return inChannels.reduce((sum, one) => sum + one, others);
}

/** What a version costs that OLM v0 no longer offers: every other change costs 1, so that a range is preferred. */
const HIDDEN = 3;

/**
 * How much an edit changes in a channel. Skipping a version that stays offered costs most, because it hides it from
 * others.
 */
function entriesSize(channel: Channel, entries: readonly Entry[]): number {
  const after = new Map(entries.map((entry) => [entry.name, entry]));
  const cost = (name: string): number => {
    const [old, now] = [channel.entries.find((entry) => entry.name === name), after.get(name)];
    // A version that the edit takes all edges from is meant to be hidden.
    return !now || (old && !hasNoEdges(old) && hasNoEdges(now)) ? 1 : HIDDEN;
  };
  return channel.entries.reduce((sum, old) => {
    const now = after.get(old.name);
    if (!now) return sum + 1;
    const added = now.skips.filter((name) => !old.skips.includes(name));
    const gone = old.skips.filter((name) => !now.skips.includes(name)).length;
    const members = Number(old.replaces !== now.replaces) + Number(old.skipRange !== now.skipRange);
    return added.reduce((all, name) => all + cost(name), sum + members + gone);
  }, 0);
}

/** Whether an entry follows nothing. */
export function hasNoEdges({ replaces, skips, skipRange }: Entry): boolean {
  return replaces === '' && skips.length === 0 && skipRange === '';
}
