/** Ways to write the entries of a channel so that certain versions are never installed, the simplest first. */
import { headsOf } from '../../fbc/channel.ts';
import { edgeField, type Installed } from '../../fbc/edge.ts';
import { type Channel, type Entry, type Package, packageWith } from '../../fbc/model.ts';
import { compareVersions, formatVersion, type Version } from '../../version/version.ts';
import type { World } from '../foresight/world.ts';
import { AS_TODAY, type GraphPolicy } from '../suggest/policy.ts';
import type { SuggestedChannel } from '../suggest/suggested-channel.ts';
import { untriedChannels } from '../suggest/suggestion.ts';

/** The fields that entries inherit from a removed entry which they follow. */
type InheritedFields = 'nothing' | 'skips' | 'skips and ranges';

/**
 * Ways to write a channel without some entries, the simplest first: taken out, bridged (what followed them follows what they
 * followed), and each of these under one head. A channel that has no other entries is left empty.
 *
 * @param kept whether the entries stay for clusters that have them installed, with no upgrade edge that leads to them
 */
export function withoutEntries(
  channel: Channel,
  gone: ReadonlySet<string>,
  { ofPackage, kept }: { readonly ofPackage: Package; readonly kept: boolean },
): Entry[][] {
  const rest = channel.entries.filter(({ name }) => !gone.has(name));
  if (rest.length === 0) return kept ? [] : [[]];
  const versionOf = versionsIn(ofPackage);
  const detached = channel.entries
    .filter(({ name }) => gone.has(name))
    .map(({ name, index }): Entry => ({ name, replaces: '', skips: [], skipRange: '', index }));
  const bridged = INHERITED_FIELDS.map((inherited) => ({
    inherited,
    entries: rest.map((entry) => bridgedEntry(channel, entry, gone, inherited)),
  }));
  // Entries that are kept have no edges, so a chain that still names them ends there: then a bridge is needed.
  const rewrites = kept ? bridged : [{ inherited: 'nothing' as const, entries: rest }, ...bridged];
  const all = rewrites.flatMap(({ inherited, entries }) => [
    entries,
    underOneHead(channel, entries, { gone, versionOf, inherited }),
  ]);
  return all.map((entries) => (kept ? [...entries, ...detached].sort((a, b) => a.index - b.index) : entries));
}

const INHERITED_FIELDS: readonly InheritedFields[] = ['nothing', 'skips', 'skips and ranges'];

/** An entry that replaces a removed one replaces what that one did, and skips it. */
function bridgedEntry(
  channel: Channel,
  entry: Entry,
  gone: ReadonlySet<string>,
  inherited: InheritedFields,
): Entry {
  const passed: Entry[] = [];
  let { replaces } = entry;
  while (gone.has(replaces)) {
    const at = channel.entries.find(({ name }) => name === replaces);
    if (!at || at.replaces === '' || passed.includes(at)) break;
    passed.push(at);
    replaces = at.replaces;
  }
  const own = passed.map(({ name }) => name);
  const theirs = inherited === 'nothing' ? [] : passed.flatMap(({ skips }) => skips);
  const skips = joinedSkips(entry.skips, [...own, ...theirs], [entry.name, replaces]);
  const ranges = inherited === 'skips and ranges' ? passed.map(({ skipRange }) => skipRange) : [];
  return { ...entry, replaces, skips, skipRange: joinedRanges([entry.skipRange, ...ranges]) };
}

/**
 * The entries with one head, because opm refuses a channel with several: the highest head skips the others. It inherits
 * the fields of removed heads, but no range may lead it to versions above itself.
 */
function underOneHead(
  channel: Channel,
  entries: readonly Entry[],
  {
    gone,
    versionOf,
    inherited,
  }: {
    readonly gone: ReadonlySet<string>;
    readonly versionOf: (name: string) => Version | undefined;
    readonly inherited: InheritedFields;
  },
): Entry[] {
  const heads = headsOf({ ...channel, entries });
  const head = highestEntry(heads, versionOf);
  const version = head && versionOf(head.name);
  if (!head || !version) return [...entries];
  const isBelow = (name: string): boolean => {
    const other = versionOf(name);
    return other !== undefined && compareVersions(other, version) < 0;
  };
  const goneHeads = headsOf(channel).filter(({ name }) => gone.has(name));
  const theirs = inherited === 'nothing' ? [] : goneHeads.flatMap(({ skips }) => skips).filter(isBelow);
  const others = heads.filter((one) => one !== head).map(({ name }) => name);
  const skips = joinedSkips(head.skips, [...others, ...theirs], [head.name, head.replaces]);
  const ranges =
    inherited === 'skips and ranges' ? goneHeads.map(({ skipRange }) => rangeBelow(skipRange, version)) : [];
  const changed = { ...head, skips, skipRange: joinedRanges([head.skipRange, ...ranges]) };
  return entries.map((entry) => (entry === head ? changed : entry));
}

/** The entry with the highest version. */
export function highestEntry(
  entries: readonly Entry[],
  versionOf: (name: string) => Version | undefined,
): Entry | undefined {
  return entries.reduce<Entry | undefined>((best, entry) => {
    const [a, b] = [best && versionOf(best.name), versionOf(entry.name)];
    return !best || (b && (!a || compareVersions(b, a) > 0)) ? entry : best;
  }, undefined);
}

export function versionsIn({ bundles }: Package): (name: string) => Version | undefined {
  return (name) => bundles.get(name)?.version;
}

/**
 * The entries of a channel, of which the named one skips more bundles. What it follows already, and its own name, is left
 * out.
 */
export function withMoreSkips(entries: readonly Entry[], name: string, more: readonly Installed[]): Entry[] {
  return entries.map((entry) => {
    if (entry.name !== name) return entry;
    const wanted = more.filter((one) => edgeField(entry, one) === undefined).map((one) => one.name);
    return { ...entry, skips: joinedSkips(entry.skips, wanted, [entry.name]) };
  });
}

/**
 * The entries of a channel, of which the named one has more versions in its skipRange. What it follows already is left
 * out.
 */
export function withMoreRanges(entries: readonly Entry[], name: string, more: readonly Installed[]): Entry[] {
  return entries.map((entry) => {
    if (entry.name !== name) return entry;
    const wanted = more.filter((one) => edgeField(entry, one) === undefined);
    // Ranges do not see build metadata.
    const texts = wanted.flatMap(({ version }) =>
      version ? [`=${formatVersion({ ...version, build: [] })}`] : [],
    );
    return { ...entry, skipRange: joinedRanges([entry.skipRange, ...texts]) };
  });
}

function joinedSkips(own: readonly string[], more: readonly string[], not: readonly string[]): string[] {
  return [...new Set([...own, ...more.filter((name) => name !== '' && !not.includes(name))])];
}

function joinedRanges(ranges: readonly string[]): string {
  return [...new Set(ranges.filter((range) => range !== ''))].join(' || ');
}

/** A range without the versions from `version` on. */
function rangeBelow(range: string, version: Version): string {
  if (range === '') return '';
  const end = `<${formatVersion({ ...version, build: [] })}`;
  return range
    .split('||')
    .map((part) => `${part.trim()} ${end}`)
    .join(' || ');
}

// New upgrade graphs for channels in which no change of single entries does what an advisory asks: those of
// suggest-graph that keep every entry. They are not proved yet.

/** Graphs with the fewest new direct upgrades come first. */
const POLICIES: readonly Pick<GraphPolicy, 'stops' | 'keep'>[] = [
  { stops: 'today', keep: 'offered' },
  { stops: 'today', keep: 'all' },
  { stops: 'none', keep: 'offered' },
];

/**
 * The package with the edges that suggest-graph suggests for some of its channels, once for each policy. A channel for which it
 * has no suggestion stays as it is.
 *
 * @param names names of the channels
 * @param avoid names of bundles that no upgrade may lead to
 */
export function packagesWithNewGraphs(
  world: World,
  ofPackage: Package,
  { names, avoid }: { readonly names: ReadonlySet<string>; readonly avoid: ReadonlySet<string> },
): Package[] {
  const wanted = new Map([...ofPackage.channels].filter(([name]) => names.has(name)));
  const part = packageWith(ofPackage, { channels: wanted });
  return POLICIES.map((policy) => {
    const plans = untriedChannels(world, part, { ...AS_TODAY, ...policy, avoid });
    const changed = plans.flatMap((plan) => {
      const channel = wanted.get(plan.name);
      return channel && plan.why === undefined ? [[plan.name, withEdges(channel, plan)] as const] : [];
    });
    return packageWith(ofPackage, { channels: new Map([...ofPackage.channels, ...changed]) });
  });
}

/** A channel with the edges of a suggested one; entries that the suggestion lacks stay as they are. */
function withEdges(channel: Channel, { entries }: SuggestedChannel): Channel {
  const suggested = new Map(entries.map((entry) => [entry.name, entry]));
  return {
    ...channel,
    entries: channel.entries.map(
      (entry): Entry => ({ ...(suggested.get(entry.name) ?? entry), index: entry.index }),
    ),
  };
}
