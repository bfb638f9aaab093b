/**
 * One channel of a suggested upgrade graph: the entries that must stay, and the edges by which both resolvers take
 * everything that may be installed up to the head.
 */
import { edgeField, type Installed } from '../../fbc/edge.ts';
import { type Channel, type Entry, type Package, packageWith } from '../../fbc/model.ts';
import { newBlob, newDocument } from '../../fbc/new-blob.ts';
import { appendToGroup } from '../../go/grouped.ts';
import { nameLike } from '../../go/shape.ts';
import { compareText } from '../../go/text.ts';
import { satisfies } from '../../version/satisfies.ts';
import { compareVersions, formatVersion, tryParseRange, type Version } from '../../version/version.ts';
import { type SearchBudget, shortestChain } from './shortest-chain.ts';

/** An entry as it is written; empty members are left out. */
export type SuggestedEntry = Omit<Entry, 'index'>;

/** A version that may be installed from the channel. */
export interface Place extends Installed {
  /** Whether it may be an entry of the channel. */
  readonly isCandidate: boolean;
  /** Whether only its name is certain, so that no range may be relied on. */
  readonly byName: boolean;
  /** Whether it is an installed version whose name is unknown, so that only a range reaches it. */
  readonly byVersion: boolean;
}

interface ChannelTask {
  /** The versions that may be installed, the lowest first; the last is the head. */
  readonly places: readonly Place[];
  /** Names of what is newer than the head and is led down to it today. */
  readonly ledDown: readonly string[];
  /** Names that must be entries. */
  readonly required: ReadonlySet<string>;
  /** Names that the channel lists today and must keep listing. */
  readonly listed: readonly string[];
  /** Whether an installation may be upgraded directly to a candidate above it. */
  readonly may: (from: Place, to: Place) => boolean;
  /** Versions that an entry's range must not cover, lest an extension without channels follows it. */
  readonly mustNot: (to: Place) => readonly Version[];
  /** Today's entry of a name, if it is to be kept as it is where it will do. */
  readonly today: (name: string) => Entry | undefined;
  readonly budget: SearchBudget;
}

interface ChannelResult {
  /** The lowest first. */
  readonly entries: readonly SuggestedEntry[];
  /** No channel has fewer entries on the chain. */
  readonly atLeast: number;
}

/**
 * The fewest entries on the chain, and before them, without edges, what the channel lists and must keep; undefined where
 * no chain is found.
 */
export function suggestedChannel(task: ChannelTask): ChannelResult | undefined {
  const { places, required, may, listed, budget } = task;
  const problem = {
    size: places.length,
    candidates: places.flatMap(({ isCandidate }, i) => (isCandidate ? [i] : [])),
    required: new Set(
      places.flatMap(({ name, isCandidate }, i) => (isCandidate && required.has(name) ? [i] : [])),
    ),
    may: (from: number, to: number) => may(places[from] as Place, places[to] as Place),
  };
  const chain = shortestChain(problem, budget);
  if (!chain) return undefined;
  const kept = chain.positions.map((position) => places[position] as Place);
  const names = new Set(kept.map(({ name }) => name));
  const needs = needsOf(task, chain.positions);
  const entries = kept.map((place, i) =>
    entryOf(task, {
      place,
      below: kept[i - 1],
      needs: needs.get(place.name) ?? [],
      names,
      isHead: i === kept.length - 1,
    }),
  );
  const others = listed.filter((name) => !names.has(name));
  const bare = others.map((name) => ({ name, replaces: '', skips: [], skipRange: '' }));
  return { entries: [...bare, ...entries], atLeast: chain.atLeast };
}

/** For each entry of the chain, the versions that are not entries and that it must upgrade. */
function needsOf({ places, may }: ChannelTask, chain: readonly number[]): Map<string, Place[]> {
  const needs = new Map<string, Place[]>();
  const onChain = new Set(chain);
  const highestFirst = [...chain].reverse();
  for (const [position, place] of places.entries()) {
    if (onChain.has(position)) continue;
    const to = highestFirst.find((one) => one > position && may(place, places[one] as Place));
    const name = to === undefined ? undefined : places[to]?.name;
    if (name !== undefined) appendToGroup(needs, name, place);
  }
  return needs;
}

interface ChannelSeat {
  readonly place: Place;
  /** The entry below on the chain. */
  readonly below: Place | undefined;
  readonly needs: readonly Place[];
  /** Names on the chain. */
  readonly names: ReadonlySet<string>;
  readonly isHead: boolean;
}

/**
 * The entry for one place of the chain: the one of today if that will do, or a new one with what must follow to it in
 * `replaces`, `skips` or `skipRange`.
 */
function entryOf(task: ChannelTask, seat: ChannelSeat): SuggestedEntry {
  const { place, below, names, isHead } = seat;
  const today = task.today(place.name);
  if (today && willDo(task, today, seat)) {
    const { name, replaces, skips, skipRange } = today;
    return { name, replaces, skips, skipRange };
  }
  const listed = new Set(task.listed);
  // No range is sure to reach what is known by its name alone. A listed entry off the chain would be a second head.
  const isSkipped = ({ name, byName }: Place): boolean => byName || listed.has(name);
  const named = seat.needs.filter(isSkipped).map(({ name }) => name);
  const rest = seat.needs.filter((one) => !isSkipped(one));
  // A single installation is skipped by its name: a range is for several, and for one whose name is unknown.
  const range =
    rest.length > 1 || rest.some(({ byVersion }) => byVersion) ? rangeOver(task, place, rest) : '';
  const ledDown = isHead ? task.ledDown : [];
  const skips = [
    ...named,
    ...(range === '' ? rest.filter(({ byVersion }) => !byVersion).map(({ name }) => name) : []),
    ...ledDown,
  ];
  const [only] = skips;
  const others = skips.filter((name) => !names.has(name));
  // The lowest entry has nothing to replace yet: a single installation below it may as well be that. A listed entry may
  // not: replaced instead of skipped, it would be on the chain.
  const isReplaced = below === undefined && others.length === 1 && ledDown.length === 0;
  if (isReplaced && only !== undefined && !listed.has(only))
    return { name: place.name, replaces: only, skips: [], skipRange: range };
  return { name: place.name, replaces: below?.name ?? '', skips: others.sort(compareText), skipRange: range };
}

/** Whether today's entry does all that is needed of it, and does not hide an entry of the chain. */
function willDo(task: ChannelTask, today: Entry, { below, needs, names, isHead }: ChannelSeat): boolean {
  return (
    (below === undefined ? !names.has(today.replaces) : today.replaces === below.name) &&
    !today.skips.some((name) => names.has(name)) &&
    needs.every((one) => edgeField(today, one) !== undefined) &&
    // A range is not enough for a listed entry off the chain: if nothing skips it, it is a second head.
    task.listed.every(
      (name) => names.has(name) || !needs.some((one) => one.name === name) || today.skips.includes(name),
    ) &&
    (!isHead || task.ledDown.every((name) => today.skips.includes(name) || today.replaces === name))
  );
}

/** A range that contains the given installations and no forbidden version; empty if there is none. */
function rangeOver({ mustNot }: ChannelTask, to: Place, all: readonly Place[]): string {
  const versions = all.flatMap(({ version }) => (version ? [version] : []));
  const [lowest] = [...versions].sort(compareVersions);
  if (!lowest || !to.version || versions.length < all.length) return '';
  const text = `>=${plain(lowest)} <${plain(to.version)}`;
  const range = tryParseRange(text);
  if (!range || !versions.every((version) => satisfies(version, range))) return '';
  return mustNot(to).some((version) => satisfies(version, range)) ? '' : text;
}

/** Ranges do not see build metadata. */
function plain(version: Version): string {
  return formatVersion({ ...version, build: [] });
}

// A package with suggested channels, and the channels as blobs.

export interface SuggestedChannel {
  readonly name: string;
  /** The lowest version first. */
  readonly entries: readonly SuggestedEntry[];
  /** Entries of today; 0 for a new channel. */
  readonly today: number;
  /** No channel that does the same has fewer entries; absent where today's channel stays as it is. */
  readonly atLeast?: number;
  /** Why the channel stays as it is. */
  readonly why?: string;
}

/** A package with other channels; bundles that none of them has are gone. */
export function packageOf(ofPackage: Package, plans: readonly SuggestedChannel[]): Package {
  const channels = new Map(plans.map((plan) => [plan.name, channelOf(ofPackage, plan)]));
  const listed = new Set(plans.flatMap(({ entries }) => entries.map(({ name }) => name)));
  const bundles = new Map([...ofPackage.bundles].filter(([bundle]) => listed.has(bundle)));
  return packageWith(ofPackage, { channels, bundles });
}

/** A suggested channel as a blob; what else today's blob has stays. With a reason why there is no suggestion, today's channel. */
export function channelOf(ofPackage: Package, { name, entries, why }: SuggestedChannel): Channel {
  const today = ofPackage.channels.get(name);
  if (today && why !== undefined) return today;
  const own = { schema: 'olm.channel', package: ofPackage.name, name, entries: entries.map(writtenEntry) };
  // Go finds fields whatever the case of their keys.
  const others = Object.entries(today?.value ?? {}).filter(
    ([key]) => nameLike(Object.keys(own), key) === undefined,
  );
  const value = { ...own, ...Object.fromEntries(others) };
  const made = newBlob(value, newDocument(today?.document.locate([]) ?? { file: '', line: 1, column: 1 }));
  if (made.kind !== 'channel') throw new TypeError('internal error: created an invalid channel');
  return made.blob;
}

/** An entry without empty fields, as it is written. */
function writtenEntry({
  name,
  replaces,
  skips,
  skipRange,
}: SuggestedEntry): Readonly<Record<string, unknown>> {
  return {
    name,
    ...(replaces === '' ? {} : { replaces }),
    ...(skips.length === 0 ? {} : { skips }),
    ...(skipRange === '' ? {} : { skipRange }),
  };
}
