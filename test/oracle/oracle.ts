/**
 * Who is worse off after a merge. Slow and obvious: it asks for every installation that there can be, before and after,
 * and shares no code with the rules.
 */
import { lt } from 'semver';
import { freshIn, installationsIn, keyOf, platformsAfter } from './installations.ts';
import { heldPairs, lostPins } from './others.ts';
import {
  byVersion,
  type Catalog,
  headsOf,
  imageOf,
  isHeldBack,
  minorOf,
  otherOf,
  type Package,
  type State,
  versionsOf,
} from './repository-state.ts';
import { candidatesUnderV0, type Installation, type View, viewOf, type Walk, walk } from './resolvers.ts';

/** In which way an installation is worse off; with a rule, only this rule's warning is asked for. */
export const HARMS = {
  fails: undefined,
  refused: undefined,
  lost: undefined,
  downgrade: undefined,
  'lower end': undefined,
  'objects deleted': undefined,
  'new and stuck': undefined,
  'other platform': undefined,
  'not brought': undefined,
  'other content': undefined,
  'holds its platform': undefined,
  'catalog renamed': 'graph/package-removed',
  'catalog ended': 'graph/package-removed',
  'not in the new catalog': 'graph/new-catalog-lacks-packages',
  'channel not brought': 'graph/strands-on-platform-upgrade',
  'objects at risk': 'graph/crd-unsafe-edge',
  'CRD without an owner': 'graph/crd-dropped',
  'held by a neighbor': 'graph/blocked-by-neighbor',
  'needs another catalog': 'graph/unsatisfied-dependency',
  'pin lost': 'graph/startingcsv-pin-lost',
} as const;

export type Harm = keyof typeof HARMS;

export interface WorseOff extends Installation {
  readonly harm: Harm;
}

/** @param states all that the base branch was, the newest last */
export function worseOff(states: readonly State[], after: State): WorseOff[] {
  const before = states.at(-1) ?? {};
  const ever = [...states, after];
  const views = { before: viewOf(before, ever), after: viewOf(after, ever) };
  const all = installationsIn(states.map((state) => kept(state, before)));
  const moved = all.flatMap((one) => harmsTo(one, views).map((harm) => ({ ...one, harm })));
  // Who was stranded stays where it is, beside a neighbor or not.
  const isStranded = (one: Installation): boolean =>
    candidatesUnderV0(before[one.catalog] ?? {}, one).length === 0 && !walk(views.before, one).atHead;
  const paired = heldPairs(all, { before, elsewhere: providedElsewhere(before), after })
    .filter((one) => !isStranded(one))
    .map((one) => ({ ...one, harm: 'held by a neighbor' as const }));
  const pinned = lostPins(before, after).map((one) => ({ ...one, harm: 'pin lost' as const }));
  return [
    ...moved,
    ...newlyStuck(all, views),
    ...otherContents(states, after),
    ...holders(before, after),
    ...paired,
    ...pinned,
  ];
}

/** The catalogs of a state that there still are: what came from others is not known. */
function kept(state: State, before: State): State {
  return Object.fromEntries(Object.entries(state).filter(([catalog]) => before[catalog] !== undefined));
}

/** Who is worse off where other catalogs of the clusters have what versions require. */
export function worseOffElsewhere(states: readonly State[], after: State): WorseOff[] {
  return worseOff(states.map(providedElsewhere), providedElsewhere(after));
}

function providedElsewhere(state: State): State {
  const provided = (packages: Catalog): Catalog =>
    Object.fromEntries(
      Object.entries(packages).map(([name, one]) => [name, { ...one, isProvidedElsewhere: true }]),
    );
  return Object.fromEntries(Object.entries(state).map(([name, packages]) => [name, provided(packages)]));
}

/** A merge, from both sides. */
interface Views {
  readonly before: View;
  readonly after: View;
}

/** What can be installed only after the merge, and never gets to a head. */
function newlyStuck(all: readonly Installation[], views: Views): WorseOff[] {
  const known = new Set(all.map(keyOf));
  return freshIn(views.after)
    .filter((one) => !known.has(keyOf(one)) && !walk(views.after, one).atHead)
    .filter((one) => !isKnownProblem(one, all, views))
    .map((one) => ({ ...one, harm: stuckAs(one, views) }));
}

/** Why something new is stuck: clusters may refuse its upgrade only for objects that nobody has yet. */
function stuckAs(one: Installation, views: Views): Harm {
  if (needsAnother(one, views)) return 'needs another catalog';
  return walk(withoutCrds(views.after), one).atHead ? 'objects at risk' : 'new and stuck';
}

/** Whether only a package is missing that this catalog never had: another one of the cluster may have it. */
function needsAnother(one: Installation, { before, after }: Views): boolean {
  const isHere = [before, after].some(
    ({ state }) => state[one.catalog]?.[otherOf(one.package)] !== undefined,
  );
  return !isHere && waitsForProvider(one, after);
}

/**
 * Whether there is the same problem already: in another catalog, from which clusters come, or in another channel, of this
 * catalog or another, which is copied and nobody has. There OLM v0 must only wait for what is required, or for objects to be
 * migrated. Where OLM v1 refuses
 * what all have next for its requirements, one more that is refused them is nothing new.
 */
function isKnownProblem(one: Installation, all: readonly Installation[], { before, after }: Views): boolean {
  const isUnmet = waitsForProvider(one, after);
  const isWaiting = one.olm === 'v1' || isUnmet || walk(withoutCrds(after), one).atHead;
  const beside = all.filter(
    ({ catalog, package: name, channel, olm }) =>
      catalog === one.catalog && name === one.package && channel === one.channel && olm === one.olm,
  );
  const isAll = beside.length > 0 && beside.every((other) => !walk(before, other).atHead);
  if (one.olm === 'v1' && isUnmet && isAll) return true;
  return all.some((other) => {
    const { catalog, channel } = one;
    const isAlike = keyOf({ ...other, catalog, channel }) === keyOf(one);
    return isAlike && (other.channel === channel || isWaiting) && !walk(before, other).atHead;
  });
}

/** Whether an installation would get to the head if nothing were required. */
function waitsForProvider(one: Installation, view: View): boolean {
  const catalog = view.state[one.catalog] ?? {};
  const free = Object.entries(catalog).map(([name, of]) => [name, { ...of, requires: {} }]);
  return walk({ ...view, state: { [one.catalog]: Object.fromEntries(free) } }, one).atHead;
}

function harmsTo(one: Installation, views: Views): Harm[] {
  const { before, after } = views;
  // An upgrade that is refused for a CRD is made once objects are migrated: that it is gone is a loss.
  const openViews = { before: withoutCrds(before), after: withoutCrds(after) };
  const open = walksOf(one, openViews);
  const harm = harmTo(one, open, openViews);
  if (harm === 'catalog renamed') {
    const there = renamedTo(one, before.state, after.state) ?? one.catalog;
    const walks = { was: walk(before, one), is: walk(after, { ...one, catalog: there }) };
    const isRefused = !isBroken(open.was.next) && isNewlyRefused(walks.was, walks.is);
    return [
      harmTo(one, walksOf(one, views), views) ?? harm,
      ...(isRefused ? ['refused' as const] : harmsToObjects(one, walks)),
    ];
  }
  if (harm !== undefined) return [harm];
  const { was, is } = walksOf(one, views);
  if (!isBroken(open.was.next) && isNewlyRefused(was, is)) return ['refused'];
  return [...harmsToObjects(one, { was, is }), ...lostOnPlatforms(one, views)];
}

function harmsToObjects({ olm }: Installation, { was, is }: Walks): Harm[] {
  // Who got an error before has an upgrade now: only that objects are deleted is worse.
  const hadUpgrades = was.next.kind !== 'fails';
  return [
    ...(is.drops && !was.drops && olm === 'v1' ? ['objects deleted' as const] : []),
    ...(is.drops && !was.drops && olm === 'v0' && hadUpgrades ? ['CRD without an owner' as const] : []),
    ...(is.harms && !was.harms && hadUpgrades ? ['objects at risk' as const] : []),
  ];
}

/** What is lost on the platform's next versions: upgrades that are refused for a CRD count as ones that are made later. */
function lostOnPlatforms(one: Installation, { before, after }: Views): Harm[] {
  const open = { before: withoutCrds(before), after: withoutCrds(after) };
  const [lost = [], refused = []] = [open, { before, after }].map((views) =>
    platformHarms(one, walksOf(one, views), views),
  );
  return lost.length > 0 ? lost : refused;
}

function walksOf(one: Installation, { before, after }: Views): Walks {
  return { was: walk(before, one), is: walk(after, one) };
}

function withoutCrds(view: View): View {
  return { ...view, crdOf: () => undefined };
}

/** Whether clusters refuse an upgrade at once or later, where they refused none. */
function isNewlyRefused(was: Walk, is: Walk): boolean {
  const isAtOnce = is.next.kind === 'refused' && was.next.kind !== 'refused';
  return isAtOnce || (was.end !== undefined && is.end === undefined && !isBroken(was.next));
}

/** The upgrades of an installation before and after the merge. */
interface Walks {
  readonly was: Walk;
  readonly is: Walk;
}

function isBroken({ kind }: Walk['next']): boolean {
  return kind === 'fails' || kind === 'refused';
}

function harmTo(one: Installation, { was, is }: Walks, { before, after }: Views): Harm | undefined {
  if (isBroken(was.next)) return undefined;
  const renamed = renamedTo(one, before.state, after.state);
  const isKept = renamed !== undefined && (!was.atHead || arrivesIn(renamed, after, one));
  if (isKept) return 'catalog renamed';
  if (!renamed && isEnded(one, before.state, after.state)) return 'catalog ended';
  if (is.next.kind === 'fails' || is.next.kind === 'refused') return is.next.kind;
  if (was.next.kind === 'upgrade' && is.next.kind === 'stays') return 'lost';
  if (was.end === undefined) return undefined;
  if (is.end === undefined) return 'fails';
  if (is.next.kind === 'upgrade' && lt(is.next.to.version, one.version) && !isDowngrade(was, one))
    return 'downgrade';
  if (was.atHead && !is.atHead) return 'lost';
  // Without a channel, OLM v0 takes the default one: another default must not lead to less.
  const [old, now] = [before, after].map(({ state }) => state[one.catalog]?.[one.package]?.defaultChannel);
  const isLower = byVersion(is.end.version, was.end.version) < 0;
  return one.channel === '' && one.olm === 'v0' && old !== now && isLower ? 'lower end' : undefined;
}

function isDowngrade({ next }: Walk, { version }: Installation): boolean {
  return next.kind === 'upgrade' && lt(next.to.version, version);
}

/** The catalog of the platform's next version, if one is gone and that is new and has its package. */
function renamedTo(
  { catalog, package: name }: Installation,
  before: State,
  after: State,
): string | undefined {
  if (Object.keys(after[catalog] ?? {}).length > 0) return undefined;
  const [next] = Object.keys(after).filter((other) => minorOf(other) > minorOf(catalog));
  const was = before[catalog]?.[name];
  const is = after[next ?? '']?.[name];
  if (!was || !is || Object.keys(before[next ?? ''] ?? {}).length > 0) return undefined;
  // Clusters of an earlier platform come to a catalog that is gone.
  const isEarliest = Object.entries(before).every(
    ([other, packages]) => minorOf(other) >= minorOf(catalog) || packages[name] === undefined,
  );
  return isEarliest ? next : undefined;
}

/** Whether the oldest catalog with any of its packages is gone, and a later one that was there is kept. */
function isEnded({ catalog }: Installation, before: State, after: State): boolean {
  if (Object.keys(after[catalog] ?? {}).length > 0) return false;
  const names = Object.keys(before[catalog] ?? {});
  const hasOne = (packages: Catalog = {}): boolean => names.some((name) => packages[name] !== undefined);
  const kept = Object.keys(after).filter((name) => hasOne(after[name]));
  return kept.every((name) => minorOf(name) > minorOf(catalog)) && kept.some((name) => hasOne(before[name]));
}

/** What those lose on the platform's next version who get to the head on this one. */
function platformHarms(one: Installation, { was, is }: Walks, { before, after }: Views): Harm[] {
  const own = [before, after].map(({ state }) => state[one.catalog]?.[one.package]);
  const [from, to] = [was.end, is.end];
  const [ownBefore, ownAfter] = own;
  if (!from || !to || !ownBefore || !ownAfter) return [];
  // Who is lost on the next version is lost behind it as well.
  const isLowered = (view: View, name: string, at: Installation): boolean =>
    isDowngrade(walk(view, { ...at, catalog: name }), at);
  const lowered = platformsAfter(one.catalog, after.state).some(
    (name) =>
      !isHeldBack(ownAfter, to.version, name) &&
      isLowered(after, name, to) &&
      !(before.state[name] && !isHeldBack(ownBefore, from.version, name) && isLowered(before, name, from)),
  );
  if (lowered) return ['downgrade'];
  if (!was.atHead) return [];
  const next = platformsAfter(one.catalog, after.state).find(
    (name) => !isHeldBack(ownAfter, to.version, name) && !arrivesIn(name, after, to),
  );
  if (next === undefined) return [];
  const { [next]: nextBefore = {} } = before.state;
  if (nextBefore[one.package]) {
    const wasSafe = isHeldBack(ownBefore, from.version, next) || arrivesIn(next, before, from);
    return wasSafe ? ['other platform'] : [];
  }
  if (after.state[next]?.[one.package])
    return [isOfDefault(ownAfter, to) ? 'not brought' : 'channel not brought'];
  const isNew = Object.keys(nextBefore).length === 0;
  if (isNew) return isLeaving(ownAfter, next) ? [] : ['not in the new catalog'];
  // Who was held back is now let go to a catalog that never had the package.
  return isHeldBack(ownBefore, from.version, next) ? ['other platform'] : [];
}

function arrivesIn(catalog: string, view: View, one: Installation): boolean {
  return walk(view, { ...one, catalog }).atHead;
}

/** Whether an installation is of the default channel; of those that select none, whether it is at its head. */
function isOfDefault({ channels, defaultChannel }: Package, { channel, version }: Installation): boolean {
  if (channel !== '') return channel === defaultChannel;
  return headsOf(channels[defaultChannel] ?? []).some((head) => head.version === version);
}

/** Whether a package need not be in the next catalog: it is deprecated, or its heads hold the platform. */
function isLeaving(one: Package, next: string): boolean {
  const heads = Object.values(one.channels).flatMap(headsOf);
  return (
    (one.deprecatedChannels ?? []).includes('*') ||
    heads.every(({ version }) => isHeldBack(one, version, next))
  );
}

/** Whether a catalog has such a bundle already, from which it is copied. */
function isCopied(before: State, name: string, version: string): boolean {
  return Object.entries(before).some(([catalog, { [name]: one }]) => {
    return one && versionsOf(one).includes(version) && isHeldBack(one, version, catalog);
  });
}

/** Bundles that a catalog gets though no cluster of it could upgrade its platform: they are for an older one. */
function holders(before: State, after: State): WorseOff[] {
  return Object.entries(after).flatMap(([catalog, packages]) =>
    Object.entries(packages).flatMap(([name, one]) => {
      const { [name]: was } = before[catalog] ?? {};
      return versionsOf(one)
        .filter((version) => isHeldBack(one, version, catalog) && !(was && versionsOf(was).includes(version)))
        .filter((version) => !isCopied(before, name, version))
        .map((version) => ({
          ...{ catalog, package: name, channel: '', version, stored: [] },
          ...{ olm: 'v0' as const, harm: 'holds its platform' as const },
        }));
    }),
  );
}

/**
 * Bundles that are something else than what their name stood for: in their catalog, or, if they are new there, in all
 * other catalogs that have or had them.
 */
function otherContents(states: readonly State[], after: State): WorseOff[] {
  return Object.entries(after).flatMap(([catalog, packages]) =>
    Object.entries(packages).flatMap(([name, one]) =>
      versionsOf(one)
        .filter((version) =>
          isOther({ catalog, name, version, image: imageOf(name, one, version) }, states, after),
        )
        .map((version) => ({
          ...{ catalog, package: name, channel: '', version, stored: [] },
          ...{ olm: 'v0' as const, harm: 'other content' as const },
        })),
    ),
  );
}

interface Content {
  readonly catalog: string;
  readonly name: string;
  readonly version: string;
  readonly image: string;
}

function isOther(
  { catalog, name, version, image }: Content,
  states: readonly State[],
  after: State,
): boolean {
  const imageIn = (state: State, of: string): string | undefined => {
    const one = state[of]?.[name];
    return one && versionsOf(one).includes(version) ? imageOf(name, one, version) : undefined;
  };
  const latestIn = (of: string): string | undefined =>
    states.map((state) => imageIn(state, of)).findLast((found) => found !== undefined);
  const was = imageIn(states.at(-1) ?? {}, catalog) ?? latestIn(catalog);
  if (was !== undefined && was !== image) return true;
  if (imageIn(states.at(-1) ?? {}, catalog) !== undefined) return false;
  const present = [states.at(-1) ?? {}, after].flatMap((state) => Object.keys(state));
  const names = [...new Set(present)].filter((of) => of !== catalog);
  const known = names.flatMap((of) => latestIn(of) ?? []);
  const others = known.length > 0 ? known : names.flatMap((of) => imageIn(after, of) ?? []);
  return was === undefined && others.length > 0 && !others.includes(image);
}
