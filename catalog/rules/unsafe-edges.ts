/** The automatic upgrades of clusters, and the unsafe CRD changes in them. */
import type { Crd } from '../crd/crd.ts';
import { changesBetween, type UnsafeChange, unsafeChanges } from '../crd/safety.ts';
import { type InheritedOf, type InheritedVersion, inheritedVersions } from '../crd/stored.ts';
import { installedOf, shortName } from '../fbc/edge.ts';
import type { Bundle, Channel, Entry, Package } from '../fbc/model.ts';
import { groupedBy } from '../go/grouped.ts';
import { type CrdsOf, type Olm, upgradePathOf, type World } from '../olm/foresight/world.ts';
import { upgradeOf } from '../olm/resolve/outcome.ts';
import { offerOfBundle } from '../olm/resolve/snapshot.ts';
import { Undecided } from '../undecided.ts';
import { satisfies } from '../version/satisfies.ts';
import { tryParseRange } from '../version/version.ts';
import { entryIn } from './finding-location.ts';
import type { BundleOf, Origin } from './new-upgrades.ts';

/** An automatic upgrade. */
export interface UsedEdge {
  readonly channel: Channel;
  readonly from: Bundle;
  readonly to: Bundle;
  /** The choices under which clusters make it. */
  readonly choices: readonly ChannelChoice[];
}

/** The OLM version and the channel of an upgrade; an empty channel means none is selected. */
export interface ChannelChoice {
  readonly olm: Olm;
  readonly channel: string;
}

export function isSameChoice(one: ChannelChoice, other: ChannelChoice): boolean {
  return one.olm === other.olm && one.channel === other.channel;
}

/** Unsafe changes of one CRD with the upgrades that make all of them. */
export interface Cause {
  readonly crd: string;
  readonly changes: CauseChange[];
  readonly edges: readonly UsedEdge[];
}

export interface CauseChange extends UnsafeChange {
  /** What an earlier version on the upgrade path has to do with it. */
  readonly why?: string;
}

/** One of the changes. */
interface OneChange {
  readonly crd: string;
  readonly change: CauseChange;
  /** The upgrades that make it, by a number for each pair of ends. */
  readonly edges: Map<number, UsedEdge>;
}

/** The choices of OLM and channel for which a change counts: all that get the upgrade, or those to which it is new. */
export type Counts = (edge: UsedEdge, crd: string, change: CauseChange) => readonly ChannelChoice[];

/** Whether a bundle's CRDs can be seen, or it serves none. */
export function isKnown(bundle: Bundle, { crds }: KnownCrds): boolean {
  return offerOfBundle(bundle).gvks.length === 0 || crds(bundle) !== undefined;
}

/** The automatic upgrades. @param origins versions that clusters may have; by default those of the package */
export function usedEdges(
  world: World,
  ofPackage: Package,
  origins: readonly Origin[] = entriesOf(ofPackage),
): UsedEdge[] {
  const edges = new Map<string, UsedEdge>();
  for (const { channel: name, bundle: from } of origins) {
    if (offerOfBundle(from).gvks.length === 0) continue;
    for (const choice of choicesFor(world, name)) {
      const edge = edgeFrom(world, ofPackage, { channel: name, from, choice });
      if (!edge) continue;
      const key = JSON.stringify([name, from.name, edge.to.name]);
      edges.set(key, { ...edge, choices: [...(edges.get(key)?.choices ?? []), choice] });
    }
  }
  return [...edges.values()];
}

/** The entries of a package whose bundles it has. */
function entriesOf({ channels, bundles }: Package): Origin[] {
  return [...channels.values()].flatMap(({ name: channel, entries }) =>
    entries.flatMap(({ name }) => {
      const bundle = bundles.get(name);
      return bundle ? [{ channel, bundle }] : [];
    }),
  );
}

/** The choices by which a bundle may be installed: each OLM, from this channel or from any. */
export function choicesFor({ olm }: World, channel: string): readonly ChannelChoice[] {
  return [...olm].sort().flatMap((one) => [channel, ''].map((selected) => ({ olm: one, channel: selected })));
}

interface Step {
  readonly channel: string;
  readonly from: Bundle;
  readonly choice: ChannelChoice;
}

/** The upgrade that a bundle gets; the channel is the one that it came from, or one of those that have its target. */
function edgeFrom(
  { foresight }: World,
  { name, channels, bundles }: Package,
  { channel, from, choice }: Step,
): UsedEdge | undefined {
  const following = { package: name, ...choice, onlyChannel: choice.channel !== '' };
  const { next } = upgradePathOf(foresight, following, installedOf(from));
  const to = bundles.get(upgradeOf(next)?.to.name ?? '');
  // What provides no kinds has no CRDs to compare.
  if (!to || to.name === from.name || offerOfBundle(to).gvks.length === 0) return undefined;
  const own = channels.get(channel) ?? [...channels.values()].find((one) => entryIn(one, to.name));
  return own ? { channel: own, from, to, choices: [choice] } : undefined;
}

/**
 * Upgrades that entries offered when they were published, with all choices that install their channel: what was installed then
 * may have made them.
 *
 * @param find gives a bundle by its name; upgrades from or to one that it does not give are left out
 */
export function pastUpgrades(world: World, name: string, find: BundleOf): UsedPath[] {
  const all = world.published.get(name) ?? [];
  const byChannel = new Map(
    [...groupedBy(all, ({ channel }) => channel)].map(([channel, entries]) => {
      const sources = entries.flatMap((one) => find(one.name) ?? []);
      return [channel, { sources, choices: choicesFor(world, channel) }];
    }),
  );
  return all.flatMap(({ channel, name: target, entry }) => {
    const to = find(target);
    if (!to || !entry) return [];
    const { sources = [], choices = [] } = byChannel.get(channel) ?? {};
    const covers = coveredBy(entry);
    return sources
      .filter((from) => from.name !== target && covers(from))
      .map((from) => ({ from, to, choices }));
  });
}

/** Tells which bundles an entry replaces or skips. */
function coveredBy({
  replaces,
  skips,
  skipRange,
}: Pick<Entry, 'replaces' | 'skips' | 'skipRange'>): (bundle: Bundle) => boolean {
  const skipped = new Set(skips);
  const range = skipRange === '' ? undefined : tryParseRange(skipRange);
  return ({ name, version }) =>
    replaces === name ||
    skipped.has(name) ||
    (version !== undefined && range !== undefined && satisfies(version, range));
}

interface KnownCrds {
  readonly crds: CrdsOf;
}

/** An upgrade without the channel that offers it: enough to know which versions of CRDs clusters have stored. */
type UsedPath = Pick<UsedEdge, 'from' | 'to' | 'choices'>;

interface CauseOptions {
  /** All choices of the upgrade without it. */
  readonly counts?: Counts;
  /** Upgrades that clusters may have made before, which stored versions as well. */
  readonly earlier?: readonly UsedPath[];
}

/** Most changes of all upgrades of a package, each counted once for each upgrade. */
const MOST_CHANGES = 400_000;

/**
 * Why upgrades are unsafe: one cause for all changes that the same upgrades make.
 *
 * @throws Undecided for more changes than can be kept
 */
export function causesOf(
  edges: readonly UsedEdge[],
  { crds }: KnownCrds,
  { counts = ({ choices }) => choices, earlier = [] }: CauseOptions = {},
): Iterable<Cause> {
  const causes = new Map<string, OneChange>();
  const numbers = new Map<string, number>();
  const compared = new Set<string>();
  let left = MOST_CHANGES;
  const inherited = inheritedOn([...earlier, ...edges], crds);
  for (const edge of edges) {
    // What was stored on the way depends on the channel, where one is selected.
    const pair = JSON.stringify([edge.from.name, edge.to.name, edge.choices]);
    if (compared.has(pair)) continue;
    compared.add(pair);
    const ends = JSON.stringify([edge.from.name, edge.to.name]);
    const number = numbers.get(ends) ?? numbers.size;
    numbers.set(ends, number);
    for (const after of crds(edge.to) ?? []) {
      const before = crds(edge.from)?.find(({ name }) => name === after.name);
      const changes = before ? changesOn(before, after, inherited(edge, after.name)) : [];
      left -= changes.length;
      if (left < 0) {
        const why = `its upgrades make more than ${MOST_CHANGES} unsafe changes`;
        throw new Undecided(`the CRDs of ${edge.channel.package}`, why);
      }
      for (const change of changes) {
        const choices = counts(edge, after.name, change);
        if (choices.length === 0) continue;
        const key = `${after.name}\n${change.text}`;
        const cause = causes.get(key) ?? { crd: after.name, change, edges: new Map() };
        addEdge(cause, number, choices === edge.choices ? edge : { ...edge, choices });
        causes.set(key, cause);
      }
    }
  }
  return joinedCauses(causes.values());
}

/** Lists each upgrade once, with all OLM versions and channels in which it is performed. */
function addEdge({ edges }: OneChange, number: number, edge: UsedEdge): void {
  const known = edges.get(number);
  if (!known) {
    edges.set(number, edge);
    return;
  }
  const others = edge.choices.filter((choice) => !known.choices.some((one) => isSameChoice(one, choice)));
  edges.set(number, { ...known, choices: [...known.choices, ...others] });
}

/** The versions that clusters have stored on their way to an upgrade: under OLM v0 they stay in their channel. */
function inheritedOn(
  edges: readonly UsedPath[],
  crds: CrdsOf,
): (edge: UsedEdge, crd: string) => readonly InheritedVersion[] {
  const byChoice = new Map<string, InheritedOf>();
  const inheritedIn = ({ olm, channel }: ChannelChoice): InheritedOf => {
    const key = olm === 'v1' ? olm : `${olm} ${channel}`;
    const isOnIt = ({ choices }: UsedPath): boolean =>
      choices.some((one) => one.olm === olm && (olm === 'v1' || one.channel === channel));
    const known = byChoice.get(key) ?? inheritedVersions(edges.filter(isOnIt), crds);
    byChoice.set(key, known);
    return known;
  };
  return ({ choices, from }, crd) => {
    const found = new Map<string, InheritedVersion>();
    for (const choice of choices) {
      for (const one of inheritedIn(choice)(from, crd))
        if (!found.has(one.version)) found.set(one.version, one);
    }
    return [...found.values()];
  };
}

/** The unsafe changes from one CRD to another on clusters that have stored more versions than the first one lists. */
function changesOn(before: Crd, after: Crd, inherited: readonly InheritedVersion[]): readonly CauseChange[] {
  const lost = inherited.filter(({ version }) => !after.versions.some(({ name }) => name === version));
  if (lost.length === 0) return changesBetween(before, after);
  const storedVersions = [...lost.map(({ version }) => version), ...before.storedVersions];
  const why = lost
    .map(({ version, path: [first, ...path] }) => {
      const names = [first as Bundle, ...path].map((bundle) => shortName(installedOf(bundle)));
      return `${version} was stored by ${names[0]}, on the upgrade path ${names.join(' → ')}`;
    })
    .join(', ');
  return unsafeChanges({ ...before, storedVersions }, after).map((change) =>
    change.check === 'storedVersionRemoval' ? { ...change, why } : change,
  );
}

function generationsOf(choices: readonly ChannelChoice[]): readonly Olm[] {
  return [...new Set(choices.map(({ olm }) => olm))].sort();
}

/** Changes that the same upgrades make are one cause: they are corrected together. */
function joinedCauses(changes: Iterable<OneChange>): Iterable<Cause> {
  const causes = new Map<string, Cause>();
  for (const { crd, change, edges } of changes) {
    const ends = [...edges].map(([number, { choices }]) => `${number} ${generationsOf(choices).join(' ')}`);
    const key = `${crd}\n${ends.join()}`;
    const cause = causes.get(key) ?? { crd, changes: [], edges: [...edges.values()] };
    cause.changes.push(change);
    causes.set(key, cause);
  }
  return causes.values();
}
