/** Edits of a channel's entries that may give stuck installations their upgrade path back, each with the line to write. */

import { headOf } from '../../fbc/channel.ts';
import type { Installed } from '../../fbc/edge.ts';
import type { Channel, Entry, Package } from '../../fbc/model.ts';
import { isObject, nameLike } from '../../go/shape.ts';
import { compareVersions, formatVersion, type Version } from '../../version/version.ts';

export interface Fix {
  /** Name of the entry to change, or to write. */
  readonly entry: string;
  /** Position of the entry in the channel's list, or -1 for one that is to be written. */
  readonly index: number;
  /** What to do, with the line to write. */
  readonly text: string;
  /** The line alone, where the entry lacks its key. */
  readonly member?: string;
  /** The channel's entries after it; absent for several fixes as one. */
  readonly entries?: readonly Entry[];
}

/** An edit of a channel, with all its entries after it. */
export type Edit = Required<Pick<Fix, 'entries'>> & Fix;

/** Whether an edit brings all that are stuck to the head. */
export type Helps = (edit: Edit) => boolean;

interface EditTask {
  readonly ofPackage: Package;
  /** The stuck ones, the lowest version first. */
  readonly installed: readonly Installed[];
  /** The channel's entries in the past. */
  readonly old: readonly Entry[];
  readonly helps: Helps;
}

/** Ways to edit a channel, the smallest edits first. Each is taken only if none before it helps. */
export function waysToEdit(
  channel: Channel,
  { ofPackage, installed, old, helps }: EditTask,
): readonly (() => readonly Edit[])[] {
  const head = headOf(channel);
  if (!head) return [];
  const newest = ofPackage.bundles.get(head.name)?.version;
  // What is newer than the head must not be led down to it.
  const mayFollow = installed.every(
    ({ version }) => !version || !newest || compareVersions(version, newest) <= 0,
  );
  const names = installed.map((one) => one.name);
  // Portolan never proposes a line of skips that leads clusters down to a lower version.
  const skipsOnlyOlder = (entry: Entry): boolean => !leadsDown(ofPackage, entry);
  return [
    () =>
      withoutOwnSkips(channel).filter(({ entry }) =>
        channel.entries.filter((one) => one.name === entry).every(skipsOnlyOlder),
      ),
    // Its text writes no skips, so it cannot propose any that lead down.
    () => withoutAnyOwnSkips(channel),
    () => withoutSkippedLinks(channel),
    () => restoredEdges(channel, old),
    () => (mayFollow ? newReplaces(channel, head, { ofPackage, stuck: installed }) : []),
    () => (mayFollow && skipsOnlyOlder(head) ? shortestSkips(channel, { head, names, helps }) : []),
    () => (mayFollow ? skipRangeEdits(channel, head, installed) : []),
    () =>
      restoringEdits(
        channel,
        old.filter((entry) => names.includes(entry.name)),
      ),
    () => restoringEdits(channel, old),
  ];
}

/** Whether an entry skips what is newer than itself. */
function leadsDown({ bundles }: Package, { name, skips }: Entry): boolean {
  const version = bundles.get(name)?.version;
  return skips.some((one) => {
    const skipped = bundles.get(one)?.version;
    return version && skipped && compareVersions(skipped, version) > 0;
  });
}

/** Entries that are tried for one edit: each trial goes through the whole channel, and people write no more. */
const MOST_TRIED = 100;

/**
 * For each entry that skips what it replaces, the edit that no longer skips it: OLM v0 never offers a skipped bundle.
 */
function withoutOwnSkips(channel: Channel): Edit[] {
  return trapsIn(channel)
    .slice(0, MOST_TRIED)
    .map((entry) => {
      const skips = entry.skips.filter((name) => name !== entry.replaces);
      const rest = skips.length > 0 ? ` and keep: skips: ${flow(skips)}` : '';
      return entryEdit(
        channel,
        { ...entry, skips },
        `${untrapText(entry)} (it is already in replaces)${rest}`,
      );
    });
}

/** The edit that repairs all entries that skip what they replace, together; none if there are fewer than two. */
function withoutAnyOwnSkips(channel: Channel): Edit[] {
  const traps = trapsIn(channel);
  const [first] = traps;
  if (!first || traps.length < 2) return [];
  const entries = channel.entries.map((entry) =>
    traps.includes(entry)
      ? { ...entry, skips: entry.skips.filter((name) => name !== entry.replaces) }
      : entry,
  );
  const text = `${traps.map(untrapText).join('; ')}: an entry must not skip what it replaces`;
  return [{ entry: first.name, index: first.index, text, entries }];
}

/** Edits that take a link of another entry's chain out of an entry's skips: OLM v0 never offers a skipped bundle. */
function withoutSkippedLinks(channel: Channel): Edit[] {
  return skippedLinks(channel).map(({ entry, skipped }) =>
    entryEdit(
      channel,
      { ...entry, skips: entry.skips.filter((name) => name !== skipped) },
      unskipText(entry, skipped),
    ),
  );
}

function trapsIn({ entries }: Channel): Entry[] {
  return entries.filter(({ skips, replaces }) => replaces !== '' && skips.includes(replaces));
}

function untrapText(entry: Entry): string {
  return unskipText(entry, entry.replaces);
}

/**
 * The edits that close a gap in the chain: an entry without `replaces` gets one.
 *
 * @param stuck the lowest version first
 */
function newReplaces(
  channel: Channel,
  head: Entry,
  { ofPackage, stuck }: { ofPackage: Package; stuck: readonly Installed[] },
): Edit[] {
  // Lower ones most often lead on to the highest, so that is tried first.
  const [lowest, highest] = [stuck[0], stuck.at(-1)];
  const tails = [...new Set([head, ...channel.entries])].filter(({ replaces }) => replaces === '');
  return tails.slice(0, MOST_TRIED).flatMap((entry) => {
    const version = ofPackage.bundles.get(entry.name)?.version;
    return [...new Set([highest, lowest])]
      .filter((one) => one !== undefined)
      .filter((one) => version && one.version && compareVersions(one.version, version) < 0)
      .map(({ name }) => memberEdit(channel, { ...entry, replaces: name }, `replaces: ${yamlScalar(name)}`));
  });
}

/** Longest list of names from which those that are not needed are left out, each by a trial. */
const SHORTENED = 12;

/** The edit that skips these names, without those that are not needed, as trials show; none if it does not help. */
function shortestSkips(
  channel: Channel,
  { head, names, helps }: { head: Entry; names: readonly string[]; helps: Helps },
): Edit[] {
  const skipping = (more: readonly string[]): Edit => {
    const skips = [...new Set([...head.skips, ...more])];
    return memberEdit(channel, { ...head, skips }, `skips: ${flow(skips)}`);
  };
  let needed = names.filter((name) => name !== head.name);
  if (!helps(skipping(needed))) return [];
  for (const name of needed.length > SHORTENED ? [] : needed) {
    const fewer = needed.filter((one) => one !== name);
    if (helps(skipping(fewer))) needed = fewer;
  }
  return [skipping(needed)];
}

/**
 * Edits that each give the head a skipRange: one for the highest stuck version, then one for all of them. None for a head
 * that has a skipRange. Unlike `skips`, a skipRange does not hide versions from other installations: OLM v0 never offers a
 * skipped bundle.
 *
 * @param installed the stuck ones
 */
function skipRangeEdits(channel: Channel, head: Entry, installed: readonly Installed[]): Edit[] {
  const versions = installed.map(({ version }) => version).filter((version) => version !== undefined);
  const sorted = [...versions].sort(compareVersions).map(plain);
  const [lowest, highest] = [sorted[0], sorted.at(-1)];
  if (head.skipRange !== '' || lowest === undefined || highest === undefined) return [];
  // The highest version alone is enough where the others lead to it. For a single version, both texts are the same.
  const ranges = new Set([`=${highest}`, lowest === highest ? `=${lowest}` : `>=${lowest} <=${highest}`]);
  return [...ranges].map((skipRange) =>
    memberEdit(channel, { ...head, skipRange }, `skipRange: '${skipRange}'`),
  );
}

/** A version without its build metadata, which OLM v0 ignores in ranges. */
function plain(version: Version): string {
  return formatVersion({ ...version, build: [] });
}

/** Edits that each give one entry the `replaces` that it had in the past. */
function restoredEdges(channel: Channel, old: readonly Entry[]): Edit[] {
  const was = new Map(old.map(({ name, replaces }) => [name, replaces]));
  return channel.entries
    .flatMap((entry) => {
      const replaces = was.get(entry.name) ?? '';
      if (replaces === '' || replaces === entry.replaces) return [];
      return [memberEdit(channel, { ...entry, replaces }, `replaces: ${yamlScalar(replaces)}`)];
    })
    .slice(0, MOST_TRIED);
}

/** The edit that adds the entries of the past that the channel no longer has, all together. */
function restoringEdits(channel: Channel, old: readonly Entry[]): Edit[] {
  const present = new Set(channel.entries.map(({ name }) => name));
  const gone = old.filter(({ name }) => !present.has(name));
  const last = gone.at(-1);
  if (!last) return [];
  const names = gone.map(({ name }) => yamlScalar(name)).join(', ');
  const text = `restore the ${gone.length === 1 ? 'entry' : 'entries'} of ${names}: ${gone.map(flowEntry).join(' ')}`;
  return [{ entry: last.name, index: -1, text, entries: [...channel.entries, ...gone] }];
}

/** An edit that writes one member of an entry, in place of the one of that name or as another one. */
function memberEdit(channel: Channel, entry: Entry, member: string): Edit {
  const edit = entryEdit(channel, entry, `in the entry of ${yamlScalar(entry.name)} set ${member}`);
  return lacksMember(channel, entry, member.split(':', 1)[0] ?? '') ? { ...edit, member } : edit;
}

/** Whether an entry has no member of a name, not even an empty one. */
export function lacksMember({ value }: Channel, { index }: Entry, key: string): boolean {
  const list = value['entries'];
  const raw: unknown = Array.isArray(list) ? list[index] : undefined;
  // Go finds fields whatever the case of their keys.
  return isObject(raw) && nameLike(Object.keys(raw), key) === undefined;
}

/** The edit that writes one entry in place of the one at its index. */
function entryEdit(channel: Channel, entry: Entry, text: string): Edit {
  const entries = channel.entries.map((one) => (one.index === entry.index ? entry : one));
  return { entry: entry.name, index: entry.index, text, entries };
}

function flow(names: readonly string[]): string {
  return `[${names.map(yamlScalar).join(', ')}]`;
}

function flowEntry({ name, replaces, skips, skipRange }: Entry): string {
  const parts = [
    `name: ${yamlScalar(name)}`,
    ...(replaces === '' ? [] : [`replaces: ${yamlScalar(replaces)}`]),
    ...(skips.length === 0 ? [] : [`skips: ${flow(skips)}`]),
    ...(skipRange === '' ? [] : [`skipRange: '${skipRange}'`]),
  ];
  return `- {${parts.join(', ')}}`;
}

// Links of a channel's replaces chain that another entry skips: OLM v0 never offers what is skipped.

/** An entry, and one name in its skips. */
interface SkippedLink {
  readonly entry: Entry;
  readonly skipped: string;
}

/** Links that are looked at: each is tried against the whole channel. */
const MOST_LINKS = 20;

/** Bundles that one entry replaces and another one skips, the last in the file first, at most 20. */
export function skippedLinks({ entries }: Channel): SkippedLink[] {
  const present = new Set(entries.map(({ name }) => name));
  const replaced = new Set(entries.map(({ replaces }) => replaces).filter((name) => present.has(name)));
  const links: SkippedLink[] = [];
  for (const entry of entries.toReversed()) {
    for (const skipped of entry.skips.toReversed()) {
      // Entries that skip what they replace themselves are another mistake, with a fix of its own.
      if (skipped === entry.replaces || !replaced.has(skipped)) continue;
      links.push({ entry, skipped });
      if (links.length === MOST_LINKS) return links;
    }
  }
  return links;
}

/** What to do about a link that is skipped. */
export function unskipText({ name }: Entry, skipped: string): string {
  return `in the entry of ${yamlScalar(name)} remove ${yamlScalar(skipped)} from skips`;
}

/** A name as YAML, whatever it is made of. */
export function yamlScalar(name: string): string {
  return /^[A-Za-z][A-Za-z0-9._+-]*$/.test(name) ? name : JSON.stringify(name);
}
