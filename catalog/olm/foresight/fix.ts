/**
 * Fixes: the smallest change of a channel's entries that gives stuck installations their
 * upgrade path back. Each is tried before it is proposed: it must bring all of them to the head,
 * and take the upgrade path from nobody else.
 */

import { type Channel, type Entry, locate } from '../../fbc/model.ts';
import type { Correction } from '../../finding.ts';
import { type Edit, type Fix, type Helps, waysToEdit } from './fix-edits.ts';
import { type FixTrial, trialOf, withEntries } from './fix-trial.ts';
import { compareInstalled, type InstallationGroup, installationsOf } from './installation.ts';
import { upgradePathOf, type World } from './world.ts';

/** What was proposed for a package so far. */
interface Plan {
  trial: FixTrial | undefined;
  past: World | undefined;
  /** Who is helped. */
  readonly stuck: InstallationGroup[];
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
 * The smallest fix for stuck installations; undefined if none is known, or if too much was tried for the package. All
 * fixes of a world can be applied together: each is tried with what was proposed for the package before, and must still
 * help those whom that helped. The first fix for a channel is one for all that is lost in it, if there is such a fix.
 * @param past a state of the catalog from which entries may be restored, and by which Portolan decides what is lost
 */
export function fixFor(world: World, stuck: InstallationGroup, past?: World): Fix | undefined {
  const plan = planFor(world, stuck.package, past);
  const { trial } = plan;
  const channel = world.catalog.packages.get(stuck.package)?.channels.get(stuck.channel);
  if (!trial || !channel || trial.isOver()) return undefined;
  // Who selects no channel may as well select this one.
  const both = stuck.olm === 'v1' ? [stuck, { ...stuck, onlyChannel: true }] : [stuck];
  if (trial.helps(plan.edited, both)) return proposedFor(plan, channel, both);
  const isFirst = !plan.fixes.has(stuck.channel);
  const lostToo = isFirst ? lostBeside(world, stuck, plan.past) : [];
  return (
    (lostToo.length > 0 ? editFor(world, plan, [...both, ...lostToo]) : undefined) ??
    editFor(world, plan, both)
  );
}

/** A fix that was proposed for this channel before and helps these too: a single one, or all together as one. */
function proposedFor(
  { fixes, trial }: Plan,
  channel: Channel,
  stuck: readonly InstallationGroup[],
): Fix | undefined {
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

/**
 * The entries of a channel with a part of the proposed changes.
 *
 * @param places fields that take their proposed value, and new entries (`WHOLE`) that are added
 * @param edited all entries with all changes: those of the channel at their index, then the new ones
 */
function withChangesAt(channel: Channel, places: readonly Place[], edited: readonly Entry[]): Entry[] {
  const keys = new Set(places.map(({ entry, member }) => JSON.stringify([entry, member])));
  const written = channel.entries.map((entry): Entry => {
    const takes = (member: Member): boolean => keys.has(JSON.stringify([entry.name, member]));
    if (!takes('replaces') && !takes('skips') && !takes('skipRange')) return entry;
    const { replaces, skips, skipRange } = edited[entry.index] ?? entry;
    return {
      ...entry,
      ...(takes('replaces') ? { replaces } : {}),
      ...(takes('skips') ? { skips } : {}),
      ...(takes('skipRange') ? { skipRange } : {}),
    };
  });
  const whole = new Set(places.filter(({ member }) => member === WHOLE).map(({ entry }) => entry));
  return [...written, ...edited.slice(channel.entries.length).filter(({ name }) => whole.has(name))];
}

/** Other installations of the channel that have no upgrade path: since a past state, or at all without one. */
function lostBeside(
  world: World,
  { package: name, channel }: InstallationGroup,
  past: World | undefined,
): InstallationGroup[] {
  const here = installationsOf(past ?? world, name)
    .filter((one) => one.channel === channel)
    .map(({ installed }) => installed);
  const ways: Omit<InstallationGroup, 'package' | 'installed'>[] = [
    { channel, olm: 'v0' },
    // Under OLM v1 only an error that is new counts, which a past state tells.
    ...(past ? [{ channel, olm: 'v1' } as const, { channel, olm: 'v1', onlyChannel: true } as const] : []),
  ];
  return ways
    .filter(({ olm }) => world.olm.has(olm))
    .map((way) => {
      const group = { ...way, package: name, installed: [] };
      const installed = here.filter((one) => {
        const [was, is] = [past, world].map((state) => state && upgradePathOf(state.foresight, group, one));
        if (!is || is.arrives) return false;
        // As the rules graph/strands-installed-v0 and graph/strands-installed-v1 count a loss.
        if (way.olm === 'v0') return is.last.kind !== 'fails' && (was?.arrives ?? true);
        return is.next.kind === 'fails' && was?.next.kind !== 'fails';
      });
      return { ...group, installed };
    })
    .filter(({ installed }) => installed.length > 0);
}

/** Looks for one edit of a channel that helps all these installations, and notes it for later proposals. */
function editFor(world: World, plan: Plan, stuck: readonly InstallationGroup[]): Edit | undefined {
  // All of them are of one channel, and there is at least one.
  const [{ package: name, channel: channelName }] = stuck as [InstallationGroup];
  const ofPackage = world.catalog.packages.get(name);
  const written = ofPackage?.channels.get(channelName);
  if (!ofPackage || !written) return undefined;
  const planned = plan.edited.get(channelName);
  const channel = planned ? withEntries(written, planned) : written;
  const helps: Helps = ({ entries }) =>
    // Two findings must not ask for different values of one field.
    placesIn(channel, entries).every((place) => isFree(plan, place)) &&
    plan.trial?.helps(new Map([...plan.edited, [channelName, entries]]), [...stuck, ...plan.stuck]) === true;
  const installed = [
    ...new Map(stuck.flatMap((one) => one.installed).map((one) => [one.name, one])).values(),
  ].sort(compareInstalled);
  const old = plan.past?.catalog.packages.get(name)?.channels.get(channelName)?.entries ?? [];
  for (const way of waysToEdit(channel, { ofPackage, installed, old, helps })) {
    const found = way().find(helps);
    if (!found) continue;
    noteEdit(plan, found, { written, channel, stuck });
    return found;
  }
  return undefined;
}

/**
 * Notes what an edit changes and whom it helps.
 *
 * @param written the channel as the catalog has it
 * @param channel as the edits before this one leave it
 */
function noteEdit(
  plan: Plan,
  { entries, ...fix }: Edit,
  {
    written,
    channel,
    stuck,
  }: { readonly written: Channel; readonly channel: Channel; readonly stuck: readonly InstallationGroup[] },
): void {
  const { name } = written;
  const edited = withEntries(channel, entries).entries;
  const places = placesIn(channel, edited);
  for (const { member, entry } of places) plan.touched.add(placeKey(name, entry, member));
  for (const group of stuck) plan.stuck.push(group);
  plan.edited.set(name, edited);
  plan.fixes.set(name, [
    ...(plan.fixes.get(name) ?? []),
    { ...fix, alone: withChangesAt(written, places, edited) },
  ]);
}

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

/** A fix that is one more member of its entry, as findings carry it. */
export function correctionOf(
  channel: Channel | undefined,
  fix: Pick<Fix, 'entry' | 'index' | 'member'> | undefined,
): { readonly correction?: Correction } {
  if (!channel || fix?.member === undefined) return {};
  const location = locate(channel, 'entries', fix.index, 'name');
  return { correction: { kind: 'add', location, found: fix.entry, member: fix.member } };
}
