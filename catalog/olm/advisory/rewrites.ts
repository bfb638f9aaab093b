/** Ways to write the entries of a channel so that certain versions are never installed, the simplest first. */
import { headsOf } from '../../fbc/channel.ts';
import { edgeField, type Installed } from '../../fbc/edge.ts';
import type { Channel, Entry, Package } from '../../fbc/model.ts';
import { compareVersions, formatVersion, type Version } from '../../version/version.ts';

/** The fields that entries inherit from a removed entry which they follow. */
type Inherited = 'nothing' | 'skips' | 'skips and ranges';

/**
 * Entries without some of them. A channel that has no others is left empty.
 *
 * @param kept whether the entries stay for those who have them, with no upgrade edge that leads to them
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
  const bridged = (inherited: Inherited): Entry[] =>
    rest.map((entry) => bridge(channel, entry, gone, inherited));
  const plain = kept ? [] : [rest];
  const ways = [...plain, bridged('nothing'), bridged('skips'), bridged('skips and ranges')];
  const all = ways.flatMap((entries, i) => {
    const inherited = INHERITED[i + (kept ? 1 : 0)] ?? 'nothing';
    return [entries, underOneHead(channel, entries, { gone, versionOf, inherited })];
  });
  return all.map((entries) => (kept ? [...entries, ...detached].sort((a, b) => a.index - b.index) : entries));
}

const INHERITED: readonly Inherited[] = ['nothing', 'nothing', 'skips', 'skips and ranges'];

/** An entry that replaces a removed one replaces what that one did, and skips it. */
function bridge(channel: Channel, entry: Entry, gone: ReadonlySet<string>, inherited: Inherited): Entry {
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
  const skips = joined(entry.skips, [...own, ...theirs], [entry.name, replaces]);
  const ranges = inherited === 'skips and ranges' ? passed.map(({ skipRange }) => skipRange) : [];
  return { ...entry, replaces, skips, skipRange: eitherOf([entry.skipRange, ...ranges]) };
}

/** If several entries are heads, the highest skips the others. It inherits the fields of removed heads. */
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
    readonly inherited: Inherited;
  },
): Entry[] {
  const heads = headsOf({ ...channel, entries });
  const head = highest(heads, versionOf);
  const version = head && versionOf(head.name);
  if (!head || !version) return [...entries];
  const isBelow = (name: string): boolean => {
    const other = versionOf(name);
    return other !== undefined && compareVersions(other, version) < 0;
  };
  const goneHeads = headsOf(channel).filter(({ name }) => gone.has(name));
  const theirs = inherited === 'nothing' ? [] : goneHeads.flatMap(({ skips }) => skips).filter(isBelow);
  const others = heads.filter((one) => one !== head).map(({ name }) => name);
  const skips = joined(head.skips, [...others, ...theirs], [head.name, head.replaces]);
  const ranges =
    inherited === 'skips and ranges' ? goneHeads.map(({ skipRange }) => upTo(skipRange, version)) : [];
  const changed = { ...head, skips, skipRange: eitherOf([head.skipRange, ...ranges]) };
  return entries.map((entry) => (entry === head ? changed : entry));
}

/** The entry with the highest version. */
export function highest(
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

/** The same entries, where one skips more: what is already there, or is its own, is left out. */
export function skipping(entries: readonly Entry[], name: string, more: readonly Installed[]): Entry[] {
  return entries.map((entry) => {
    if (entry.name !== name) return entry;
    const wanted = more.filter((one) => edgeField(entry, one) === undefined).map((one) => one.name);
    return { ...entry, skips: joined(entry.skips, wanted, [entry.name]) };
  });
}

/** The same entries, where the range of one has more versions. */
export function ranging(entries: readonly Entry[], name: string, more: readonly Installed[]): Entry[] {
  return entries.map((entry) => {
    if (entry.name !== name) return entry;
    const wanted = more.filter((one) => edgeField(entry, one) === undefined);
    const texts = wanted.flatMap(({ version }) =>
      version ? [`=${formatVersion({ ...version, build: [] })}`] : [],
    );
    return { ...entry, skipRange: eitherOf([entry.skipRange, ...texts]) };
  });
}

function joined(own: readonly string[], more: readonly string[], not: readonly string[]): string[] {
  return [...new Set([...own, ...more.filter((name) => name !== '' && !not.includes(name))])];
}

function eitherOf(ranges: readonly string[]): string {
  return [...new Set(ranges.filter((range) => range !== ''))].join(' || ');
}

/** A range without the versions from one on. */
function upTo(range: string, version: Version): string {
  if (range === '') return '';
  const end = `<${formatVersion({ ...version, build: [] })}`;
  return range
    .split('||')
    .map((part) => `${part.trim()} ${end}`)
    .join(' || ');
}
