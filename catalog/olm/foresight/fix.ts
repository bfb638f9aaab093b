/**
 * Fixes: the smallest change of a channel's entries that gives stuck installations their
 * upgrade path back. Each is tried before it is proposed: it must bring all of them to the head,
 * and take the upgrade path from nobody else.
 */

import { headOf } from '../../fbc/channel.ts';
import type { Installed } from '../../fbc/edge.ts';
import { type Channel, type Entry, locate, type Package } from '../../fbc/model.ts';
import type { Correction } from '../../finding.ts';
import { isObject } from '../../go/shape.ts';
import { compareVersions, formatVersion, type Version } from '../../version/version.ts';
import { type Stuck, type Trial, trialOf, withEntries } from './fix-trial.ts';
import { compareInstalled, installationsOf } from './installation.ts';
import { scalar, skippedLinks, unskipText } from './skipped-links.ts';
import { upgradePathOf, type World } from './world.ts';

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
type Edit = Required<Pick<Fix, 'entries'>> & Fix;

/** What was proposed for a package so far. */
interface Plan {
  trial: Trial | undefined;
  past: World | undefined;
  /** Who is helped. */
  readonly stuck: Stuck[];
  /** Channels as they are with all that was proposed. */
  readonly edited: Map<string, readonly Entry[]>;
  /** Members of entries, and entries, that something was proposed for. */
  readonly touched: Set<string>;
  readonly fixes: Map<string, Proposed[]>;
}

/** A fix as it was proposed, with the entries of its channel where it is applied alone. */
interface Proposed extends Omit<Fix, 'entries'> {
  readonly alone: readonly Entry[];
}

const plans = new WeakMap<World, Map<string, Plan>>();

/** The fixes of a package that were found or tried so far, kept for each world. */
function planFor(world: World, name: string, past: World | undefined): Plan {
  const ofWorld = plans.get(world) ?? new Map<string, Plan>();
  plans.set(world, ofWorld);
  const found = ofWorld.get(name);
  const plan: Plan = found ?? {
    trial: trialOf(world, name, past),
    past,
    stuck: [],
    edited: new Map(),
    touched: new Set(),
    fixes: new Map(),
  };
  // A rule that does not know the past may have made the plan first; its trial compared with nothing.
  if (found && past && !found.past) Object.assign(found, { past, trial: trialOf(world, name, past) });
  ofWorld.set(name, plan);
  return plan;
}

/**
 * The smallest fix for installations that are stuck, or undefined when none is known. All fixes of a world can be
 * applied together: whatever was proposed for the package before is kept, and so are those whom it helps. The first
 * time it is one for all that is lost in the channel, where there is such a one.
 *
 * @param past a state of the catalog from which entries may be restored, and in which it is seen who is lost
 */
export function fixFor(world: World, stuck: Stuck, past?: World): Fix | undefined {
  const plan = planFor(world, stuck.package, past);
  const { trial } = plan;
  const channel = world.catalog.packages.get(stuck.package)?.channels.get(stuck.channel);
  if (!trial || !channel) return undefined;
  // Who selects no channel may as well select this one.
  const both = stuck.olm === 'v1' ? [stuck, { ...stuck, onlyChannel: true }] : [stuck];
  if (trial.helps(plan.edited, both)) return proposedFor(plan, channel, both);
  const isFirst = !plan.fixes.has(stuck.channel);
  const alike = isFirst ? lostBeside(world, stuck, plan.past) : [];
  return (
    (alike.length > 0 ? editFor(world, plan, [...both, ...alike]) : undefined) ?? editFor(world, plan, both)
  );
}

/** A fix that was proposed for this channel before and helps these too: a single one, or all together as one. */
function proposedFor({ fixes, trial }: Plan, channel: Channel, stuck: readonly Stuck[]): Fix | undefined {
  const proposed = fixes.get(channel.name) ?? [];
  const one = proposed.find(({ alone }) => trial?.helps(new Map([[channel.name, alone]]), stuck));
  const [first, ...more] = one ? [one] : proposed;
  if (!first) return undefined;
  const { alone, ...fix } = first;
  if (more.length === 0) return { ...fix, entries: alone };
  // Each knows the entries only as it alone leaves them.
  const text = [first, ...more].map((each) => each.text).join('; ');
  return { entry: fix.entry, index: fix.index, text };
}

/** The entries of a channel with only those of the proposed changes that are at these places. */
function withOnly(channel: Channel, places: readonly Place[], edited: readonly Entry[]): Entry[] {
  const keys = new Set(places.map(({ entry, member }) => JSON.stringify([entry, member])));
  const written = channel.entries.map((entry): Entry => {
    const of = (member: Member): boolean => keys.has(JSON.stringify([entry.name, member]));
    if (!of('replaces') && !of('skips') && !of('skipRange')) return entry;
    const { replaces, skips, skipRange } = edited[entry.index] ?? entry;
    return {
      ...entry,
      ...(of('replaces') ? { replaces } : {}),
      ...(of('skips') ? { skips } : {}),
      ...(of('skipRange') ? { skipRange } : {}),
    };
  });
  const whole = new Set(places.filter(({ member }) => member === WHOLE).map(({ entry }) => entry));
  return [...written, ...edited.slice(channel.entries.length).filter(({ name }) => whole.has(name))];
}

/** Other installations of the channel that have no upgrade path: since a past state, or at all without one. */
function lostBeside(world: World, { package: name, channel }: Stuck, past: World | undefined): Stuck[] {
  const here = installationsOf(past ?? world, name)
    .filter((one) => one.channel === channel)
    .map(({ installed }) => installed);
  const ways: Omit<Stuck, 'package' | 'installed'>[] = [
    { channel, olm: 'v0' },
    ...(past ? [{ channel, olm: 'v1' } as const, { channel, olm: 'v1', onlyChannel: true } as const] : []),
  ];
  return ways
    .filter(({ olm }) => world.olm.has(olm))
    .map((way) => {
      const of = { ...way, package: name, installed: [] };
      const installed = here.filter((one) => {
        const [was, is] = [past, world].map((state) => state && upgradePathOf(state.foresight, of, one));
        if (!is || is.arrives) return false;
        if (way.olm === 'v0') return is.last.kind !== 'fails' && (was?.arrives ?? true);
        return is.next.kind === 'fails' && was?.next.kind !== 'fails';
      });
      return { ...of, installed };
    })
    .filter(({ installed }) => installed.length > 0);
}

/** Looks for one edit of a channel that helps all these installations, and notes it for later proposals. */
function editFor(world: World, plan: Plan, stuck: readonly Stuck[]): Edit | undefined {
  const [{ package: name, channel: wanted }] = stuck as [Stuck];
  const ofPackage = world.catalog.packages.get(name);
  const written = ofPackage?.channels.get(wanted);
  if (!ofPackage || !written) return undefined;
  const planned = plan.edited.get(wanted);
  const channel = planned ? withEntries(written, planned) : written;
  const helps: Helps = ({ entries }) =>
    placesIn(channel, entries).every((place) => isFree(plan, place)) &&
    plan.trial?.helps(new Map([...plan.edited, [wanted, entries]]), [...stuck, ...plan.stuck]) === true;
  const installed = [
    ...new Map(stuck.flatMap((one) => one.installed).map((one) => [one.name, one])).values(),
  ].sort(compareInstalled);
  const old = plan.past?.catalog.packages.get(name)?.channels.get(wanted)?.entries ?? [];
  for (const way of waysToEdit(channel, { ofPackage, installed, old, helps })) {
    const found = way().find(helps);
    if (!found) continue;
    noteEdit(plan, found, { written, channel, stuck });
    return found;
  }
  return undefined;
}

interface EditTask {
  readonly ofPackage: Package;
  readonly installed: readonly Installed[];
  /** The channel's entries in the past. */
  readonly old: readonly Entry[];
  readonly helps: Helps;
}

/** Ways to edit a channel, the smallest edits first. Each is taken only if none before it helps. */
function waysToEdit(
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
  // What leads down is to be taken out of skips: nobody is asked to write it anew.
  const skipsOnlyOlder = (entry: Entry): boolean => !leadsDown(ofPackage, entry);
  return [
    () =>
      withoutOwnSkips(channel).filter(({ entry }) =>
        channel.entries.filter((one) => one.name === entry).every(skipsOnlyOlder),
      ),
    () => withoutAnyOwnSkips(channel),
    () => withoutSkippedLinks(channel),
    () => restoredEdges(channel, old),
    () => (mayFollow ? newReplaces(channel, head, { ofPackage, stuck: installed }) : []),
    () => (mayFollow && skipsOnlyOlder(head) ? shortestSkips(channel, { head, names, helps }) : []),
    () => (mayFollow ? ranging(channel, head, installed) : []),
    () =>
      restored(
        channel,
        old.filter((entry) => names.includes(entry.name)),
      ),
    () => restored(channel, old),
  ];
}

/** Notes what an edit changes and whom it helps. @param written the channel as the catalog has it */
function noteEdit(
  plan: Plan,
  { entries, ...fix }: Edit,
  {
    written,
    channel,
    stuck,
  }: { readonly written: Channel; readonly channel: Channel; readonly stuck: readonly Stuck[] },
): void {
  const { name } = written;
  const edited = withEntries(channel, entries).entries;
  const places = placesIn(channel, edited);
  for (const { member, entry } of places) plan.touched.add(placeKey(name, entry, member));
  plan.stuck.push(...stuck);
  plan.edited.set(name, edited);
  plan.fixes.set(name, [
    ...(plan.fixes.get(name) ?? []),
    { ...fix, alone: withOnly(written, places, edited) },
  ]);
}

/** Whether an entry skips what is newer than itself. */
function leadsDown({ bundles }: Package, { name, skips }: Entry): boolean {
  const version = bundles.get(name)?.version;
  return skips.some((one) => {
    const skipped = bundles.get(one)?.version;
    return version && skipped && compareVersions(skipped, version) > 0;
  });
}

type Helps = (edit: Edit) => boolean;

/** A member of an entry that an edit writes, or the entry as a whole where it is new. */
interface Place {
  readonly channel: string;
  readonly entry: string;
  readonly member: string;
}

const WHOLE = 'entry';

type Member = 'replaces' | 'skips' | 'skipRange';

function placeKey(channel: string, entry: string, member: string): string {
  return JSON.stringify([channel, entry, member]);
}

function isFree({ touched }: Plan, { channel, entry, member }: Place): boolean {
  return !touched.has(placeKey(channel, entry, member)) && !touched.has(placeKey(channel, entry, WHOLE));
}

/**
 * Where a channel with these entries differs from what it has: the fields of changed entries, and new entries as a whole.
 */
function placesIn(channel: Channel, entries: readonly Entry[]): Place[] {
  return entries.flatMap((entry, i) => {
    const old = channel.entries[i];
    const place = { channel: channel.name, entry: entry.name };
    if (!old) return [{ ...place, member: WHOLE }];
    // Most entries are as they were.
    if (entry === old) return [];
    return (['replaces', 'skips', 'skipRange'] as const)
      .filter((member) => old[member].toString() !== entry[member].toString())
      .map((member) => ({ ...place, member }));
  });
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
      return edited(channel, { ...entry, skips }, `${untrapText(entry)} (it is already in replaces)${rest}`);
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

/** An entry that skips a link of another entry's chain keeps that link from being offered. */
function withoutSkippedLinks(channel: Channel): Edit[] {
  return skippedLinks(channel).map(({ entry, skipped }) =>
    edited(
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

/** The edit that closes a gap in the chain: an entry gets a `replaces` to what is older. */
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

/** The edit that skips these names, without those that are not needed, as trials show; none if it does not help. */
function shortestSkips(
  channel: Channel,
  { head, names, helps }: { head: Entry; names: readonly string[]; helps: Helps },
): Edit[] {
  const skipping = (more: readonly string[]): Edit => {
    const skips = [...new Set([...head.skips, ...more])];
    return written(channel, { ...head, skips }, `skips: ${flow(skips)}`);
  };
  let needed = names.filter((name) => name !== head.name);
  if (!helps(skipping(needed))) return [];
  for (const name of needed.length > SHORTENED ? [] : needed) {
    const fewer = needed.filter((one) => one !== name);
    if (helps(skipping(fewer))) needed = fewer;
  }
  return [skipping(needed)];
}

/** The edit that gives the head a skipRange. Unlike `skips`, it does not hide the versions from others. */
function ranging(channel: Channel, head: Entry, installed: readonly Installed[]): Edit[] {
  const versions = installed.map(({ version }) => version).filter((version) => version !== undefined);
  const sorted = [...versions].sort(compareVersions).map(plain);
  const [lowest, highest] = [sorted[0], sorted.at(-1)];
  if (head.skipRange !== '' || lowest === undefined || highest === undefined) return [];
  // The last version alone is enough where the others lead to it.
  const ranges = new Set([`=${highest}`, lowest === highest ? `=${lowest}` : `>=${lowest} <=${highest}`]);
  return [...ranges].map((skipRange) =>
    written(channel, { ...head, skipRange }, `skipRange: '${skipRange}'`),
  );
}

function plain(version: Version): string {
  return formatVersion({ ...version, build: [] });
}

/** An edge that an entry had before, as it was. */
function restoredEdges(channel: Channel, old: readonly Entry[]): Edit[] {
  const was = new Map(old.map(({ name, replaces }) => [name, replaces]));
  return channel.entries
    .flatMap((entry) => {
      const replaces = was.get(entry.name) ?? '';
      if (replaces === '' || replaces === entry.replaces) return [];
      return [written(channel, { ...entry, replaces }, `replaces: ${scalar(replaces)}`)];
    })
    .slice(0, TRIED);
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
  const edit = edited(channel, entry, `in the entry of ${scalar(entry.name)} set ${member}`);
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

function flowEntry({ name, replaces, skips, skipRange }: Entry): string {
  const parts = [
    `name: ${scalar(name)}`,
    ...(replaces === '' ? [] : [`replaces: ${scalar(replaces)}`]),
    ...(skips.length === 0 ? [] : [`skips: ${flow(skips)}`]),
    ...(skipRange === '' ? [] : [`skipRange: '${skipRange}'`]),
  ];
  return `- {${parts.join(', ')}}`;
}
