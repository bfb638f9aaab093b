/**
 * Fixes: the smallest change of a channel's entries that gives stuck installations their
 * road back. Each is tried before it is proposed: it must bring all of them to the head,
 * and take the road from nobody else.
 */
import type { Correction } from '../finding.ts';
import { type Channel, type Entry, locate, type Package } from '../model.ts';
import { isObject } from '../shape.ts';
import { compareVersions, formatVersion, type Version } from '../version.ts';
import { headOf } from './channel.ts';
import type { Installed } from './edge.ts';
import { type Stuck, type Trial, trialOf } from './trial.ts';
import type { World } from './world.ts';

export interface Fix {
  /** Name of the entry to change, or to write. */
  readonly entry: string;
  /** Position of the entry in the channel's list, or -1 for one that is to be written. */
  readonly index: number;
  /** What to do, with the line to write. */
  readonly text: string;
  /** The line alone, where the entry lacks its key. */
  readonly member?: string;
}

/** An edit of a channel, with all its entries after it. */
interface Edit extends Fix {
  readonly entries: readonly Entry[];
}

/**
 * The smallest fix for installations that are stuck, or undefined when none is known.
 *
 * @param past a state of the catalog from which entries may be restored
 */
export function fixFor(world: World, stuck: Stuck, past?: World): Fix | undefined {
  const ofPackage = world.catalog.packages.get(stuck.package);
  const channel = ofPackage?.channels.get(stuck.channel);
  const head = channel && headOf(channel);
  const trial = trialOf(world, stuck, past);
  if (!ofPackage || !channel || !head || !trial || trial.helps(channel.entries)) return undefined;
  const newest = ofPackage.bundles.get(head.name)?.version;
  // What is newer than the head must not be led down to it.
  const mayFollow = stuck.installed.every(
    ({ version }) => !version || !newest || compareVersions(version, newest) <= 0,
  );
  const old = past?.catalog.packages.get(stuck.package)?.channels.get(stuck.channel)?.entries ?? [];
  const names = stuck.installed.map(({ name }) => name);
  const ways: readonly (() => readonly Edit[])[] = [
    () => withoutOwnSkips(channel),
    () => withoutAnyOwnSkips(channel),
    () => (mayFollow ? newReplaces(channel, head, { ofPackage, stuck: stuck.installed }) : []),
    () => (mayFollow ? shortestSkips(channel, { head, names, trial }) : []),
    () => (mayFollow ? ranging(channel, head, stuck.installed) : []),
    () =>
      restored(
        channel,
        old.filter(({ name }) => names.includes(name)),
      ),
    () => restored(channel, old),
  ];
  for (const way of ways) {
    const found = way().find(({ entries }) => trial.helps(entries));
    if (!found) continue;
    const { entries: _, ...fix } = found;
    return fix;
  }
  return undefined;
}

/** Entries that are tried for one edit: each trial goes through the whole channel, and people write no more. */
const TRIED = 100;

/** An entry that skips what it replaces keeps that from being offered at all. */
function withoutOwnSkips(channel: Channel): Edit[] {
  return trapsIn(channel)
    .slice(0, TRIED)
    .map((entry) => {
      const skips = entry.skips.filter((name) => name !== entry.replaces);
      const rest = skips.length > 0 ? ` and keep: skips: ${flow(skips)}` : '';
      return edited(channel, { ...entry, skips }, `${untrapText(entry)}, since it is replaced${rest}`);
    });
}

/** The same for all such entries together. */
function withoutAnyOwnSkips(channel: Channel): Edit[] {
  const traps = trapsIn(channel);
  const [first] = traps;
  if (!first || traps.length < 2) return [];
  const entries = channel.entries.map((entry) =>
    traps.includes(entry)
      ? { ...entry, skips: entry.skips.filter((name) => name !== entry.replaces) }
      : entry,
  );
  const text = `${traps.map(untrapText).join('; ')}: what is replaced must not be skipped`;
  return [{ entry: first.name, index: first.index, text, entries }];
}

function trapsIn({ entries }: Channel): Entry[] {
  return entries.filter(({ skips, replaces }) => replaces !== '' && skips.includes(replaces));
}

function untrapText({ name, replaces }: Entry): string {
  return `in the entry of ${scalar(name)} remove ${scalar(replaces)} from skips`;
}

/** One missing link of the chain, from what is older than its entry. */
function newReplaces(
  channel: Channel,
  head: Entry,
  { ofPackage, stuck }: { ofPackage: Package; stuck: readonly Installed[] },
): Edit[] {
  const [lowest, highest] = [stuck[0], stuck.at(-1)];
  const tails = [...new Set([head, ...channel.entries])].filter(({ replaces }) => replaces === '');
  return tails.slice(0, TRIED).flatMap((entry) => {
    const version = ofPackage.bundles.get(entry.name)?.version;
    return [...new Set([highest, lowest])]
      .filter((one) => one !== undefined)
      .filter((one) => version && one.version && compareVersions(one.version, version) < 0)
      .map(({ name }) => written(channel, { ...entry, replaces: name }, `replaces: ${scalar(name)}`));
  });
}

/** Longest list of names from which those that are not needed are left out, each by a trial. */
const SHORTENED = 12;

function shortestSkips(
  channel: Channel,
  { head, names, trial }: { head: Entry; names: readonly string[]; trial: Trial },
): Edit[] {
  const skipping = (more: readonly string[]): Edit => {
    const skips = [...new Set([...head.skips, ...more])];
    return written(channel, { ...head, skips }, `skips: ${flow(skips)}`);
  };
  let needed = names.filter((name) => name !== head.name);
  if (!trial.helps(skipping(needed).entries)) return [];
  for (const name of needed.length > SHORTENED ? [] : needed) {
    const fewer = needed.filter((one) => one !== name);
    if (trial.helps(skipping(fewer).entries)) needed = fewer;
  }
  return [skipping(needed)];
}

/** A range reaches installations without keeping from others what is skipped by name. */
function ranging(channel: Channel, head: Entry, installed: readonly Installed[]): Edit[] {
  const versions = installed.map(({ version }) => version).filter((version) => version !== undefined);
  const sorted = [...versions].sort(compareVersions).map(plain);
  const [lowest, highest] = [sorted[0], sorted.at(-1)];
  if (head.skipRange !== '' || lowest === undefined || highest === undefined) return [];
  const skipRange = lowest === highest ? `=${lowest}` : `>=${lowest} <=${highest}`;
  return [written(channel, { ...head, skipRange }, `skipRange: '${skipRange}'`)];
}

function plain(version: Version): string {
  return formatVersion({ ...version, build: [] });
}

/** What was there before, as it was. */
function restored(channel: Channel, old: readonly Entry[]): Edit[] {
  const present = new Set(channel.entries.map(({ name }) => name));
  const gone = old.filter(({ name }) => !present.has(name));
  const last = gone.at(-1);
  if (!last) return [];
  const names = gone.map(({ name }) => scalar(name)).join(', ');
  const text = `restore the ${gone.length === 1 ? 'entry' : 'entries'} of ${names}: ${gone.map(flowEntry).join(' ')}`;
  return [{ entry: last.name, index: -1, text, entries: [...channel.entries, ...gone] }];
}

/** An edit that writes one member of an entry, in place of the one of that name or as another one. */
function written(channel: Channel, entry: Entry, member: string): Edit {
  const edit = edited(channel, entry, `in the entry of ${scalar(entry.name)} write: ${member}`);
  return lacks(channel, entry, member.split(':', 1)[0] ?? '') ? { ...edit, member } : edit;
}

/** Whether an entry has no member of a name, not even an empty one. */
export function lacks({ value }: Channel, { index }: Entry, key: string): boolean {
  const list = value['entries'];
  const raw: unknown = Array.isArray(list) ? list[index] : undefined;
  // Go finds fields whatever the case of their keys.
  return isObject(raw) && !Object.keys(raw).some((one) => one.toLowerCase() === key.toLowerCase());
}

/** A fix that is one more member of its entry, as findings carry it. */
export function correctionOf(
  channel: Channel | undefined,
  fix: Pick<Fix, 'entry' | 'index' | 'member'> | undefined,
): { readonly correction?: Correction } {
  if (!channel || fix?.member === undefined) return {};
  const location = locate(channel, 'entries', fix.index, 'name');
  return { correction: { kind: 'add', location, found: fix.entry, member: fix.member } };
}

function edited(channel: Channel, entry: Entry, text: string): Edit {
  const entries = channel.entries.map((one) => (one.index === entry.index ? entry : one));
  return { entry: entry.name, index: entry.index, text, entries };
}

function flow(names: readonly string[]): string {
  return `[${names.map(scalar).join(', ')}]`;
}

/** A name as YAML, whatever it is made of. */
export function scalar(name: string): string {
  return /^[A-Za-z][A-Za-z0-9._+-]*$/.test(name) ? name : JSON.stringify(name);
}

function flowEntry({ name, replaces, skips, skipRange }: Entry): string {
  const parts = [
    `name: ${scalar(name)}`,
    ...(replaces === '' ? [] : [`replaces: ${scalar(replaces)}`]),
    ...(skips.length === 0 ? [] : [`skips: ${flow(skips)}`]),
    ...(skipRange === '' ? [] : [`skipRange: '${skipRange}'`]),
  ];
  return `- {${parts.join(', ')}}`;
}
