/**
 * What becomes of an installation of a fleet: by a change of the catalogs, or by the catalogs as they are. Each
 * installation has exactly one outcome.
 */
import { type Installed, shortName } from '../../fbc/edge.ts';
import { compareMinors, type Minor, tryParseMinor } from '../../fbc/openshift.ts';
import { installedPath, type OperatorBeside } from '../foresight/namespace-path.ts';
import { neighborPackages } from '../foresight/neighbors.ts';
import type { PathSummary } from '../foresight/upgrade-impact.ts';
import type { Change, World } from '../foresight/world.ts';
import { droppedFrom, type FleetInstallation, installedIn, isNamed } from './fleet.ts';

/**
 * The outcomes. Of several that a change has for one cluster, the first in this order counts; what the change does comes
 * before what was so already.
 *
 * Of a change: `strands` takes the upgrade path to a head away, `moves` gives an automatic upgrade, `offered` one that
 * somebody must approve, `stops` takes an upgrade away from what is a head then, `recovers` gives a path to a head,
 * `stuck` has none before and after, `unchanged` is the rest, and `not-reached` uses catalogs that do not change.
 * Of catalogs as they are: `stuck`, `stuck-next` after the next version of the platform, `offered`, `upgrades` and `head`.
 */
export const OUTCOMES = [
  'strands',
  'not-known',
  'moves',
  'offered',
  'stops',
  'recovers',
  'stuck',
  'stuck-next',
  'upgrades',
  'unchanged',
  'head',
  'not-reached',
] as const;

export type OutcomeName = (typeof OUTCOMES)[number];

/** The outcomes of catalogs as they are, in their order: what is stuck comes before what only waits for an approval. */
const STATE_OUTCOMES: readonly OutcomeName[] = [
  'not-known',
  'stuck',
  'stuck-next',
  'offered',
  'upgrades',
  'head',
];

/** Outcomes of clusters that have no upgrade path to a head, or will have none. */
export const STUCK: ReadonlySet<OutcomeName> = new Set(['strands', 'stuck', 'stuck-next']);

/** Why an outcome is not known: what of the installation the catalogs do not know. */
export type NotKnown = 'platform' | 'package' | 'channel' | 'version';

export interface FleetOutcome {
  readonly outcome: OutcomeName;
  /** The installed version, as reports show it; empty where it is not known, or where only the fleet names it. */
  readonly installed: string;
  /** The next version; empty if there is none. */
  readonly next: string;
  /** The version at which the upgrade path ends; empty where it is not known. */
  readonly end: string;
  /** The unknown property, for an unknown outcome. */
  readonly notKnown?: NotKnown;
}

/** Says what becomes of an installation. */
export interface Simulation {
  /** @param beside what else the cluster has installed: under OLM v0 it may be in the same namespace */
  (installation: FleetInstallation, beside?: readonly FleetInstallation[]): FleetOutcome;
  /** Whether one package may keep another one from an upgrade. */
  readonly concerns?: (installation: FleetInstallation, other: FleetInstallation) => boolean;
  /** Of several outcomes for one cluster, the first in this order counts; that of {@link OUTCOMES} without it. */
  readonly order?: readonly OutcomeName[];
}

/**
 * The test whether one installation may keep another one from an upgrade. Only OLM v0 resolves the operators of a namespace
 * together, and only requirements connect them. A fleet names the platform of each installation: clusters of two platforms
 * are two clusters.
 */
function concernsIn(worlds: readonly World[]): NonNullable<Simulation['concerns']> {
  return ({ olm, platform, package: name }, other) =>
    olm === 'v0' &&
    other.olm === 'v0' &&
    other.platform === platform &&
    other.package !== name &&
    worlds.some(({ foresight }) => neighborPackages(foresight.scope, name).has(other.package));
}

/** The other operators of a cluster, without those that the world does not know: nothing can be resolved for them. */
function besideIn(world: World, beside: readonly FleetInstallation[]): OperatorBeside[] {
  return beside.flatMap((one) => {
    const installed = world.catalog.packages.has(one.package) ? installedIn(world, one) : undefined;
    return installed ? [{ package: one.package, channels: one.channels, installed }] : [];
  });
}

/**
 * Simulates changes of catalogs, with one change for each catalog.
 *
 * @param platforms of all catalogs, also of those that do not change
 */
export function changeSimulation(changes: readonly Change[], platforms: readonly Minor[] = []): Simulation {
  // A spreadsheet makes 4.2 of 4.20: where only 4.20 has a catalog, 4.2 may be either.
  const isKnown = (platform: string): boolean => {
    const minor = tryParseMinor(platform);
    if (!minor) return false;
    const longer = { ...minor, minor: minor.minor * 10 };
    const has = (one: Minor): boolean => platforms.some((other) => compareMinors(one, other) === 0);
    return has(minor) || !has(longer);
  };
  const simulate = (
    installation: FleetInstallation,
    beside: readonly FleetInstallation[] = [],
  ): FleetOutcome => {
    const at = changes.filter(({ after, before }) => isFor(after.platform ?? before.platform, installation));
    if (at.length === 0) {
      // Without a known platform, the cluster may use one of the catalogs that change, if any does.
      const isElsewhere = changes.length === 0 || isKnown(installation.platform);
      return isElsewhere ? NOT_REACHED : notKnown('platform');
    }
    const named = at.find(({ after }) => after.name === installation.catalog);
    return firstOf(
      OUTCOMES,
      (named ? [named] : at).map((change) => changedBy(change, installation, beside)),
    );
  };
  const worlds = changes.flatMap(({ before, after }) => [before, after]);
  return Object.assign(simulate, { concerns: concernsIn(worlds) });
}

/** The effect of a change on an installation that uses its catalog. */
function changedBy(
  change: Change,
  installation: FleetInstallation,
  others: readonly FleetInstallation[],
): FleetOutcome {
  const states = [change.before, change.after].filter((world) => worldHasPackage(world, installation));
  if (states.length === 0) return notKnown('package');
  if (!states.some((world) => hasChannel(world, installation))) return notKnown('channel');
  const installed = installedBefore(change, installation);
  if (!installed) return notKnown('version');
  const beside = besideIn(change.before, others);
  const before = installedPath(change.before, installation, installed, beside);
  const after = installedPath(change.after, installation, installed, beside);
  const found = outcomeOf(installed, after, changeOutcome(installation, { before, after }));
  return states.some((world) => isNamed(world, installation.package, installed))
    ? found
    : withoutVersionNames(found);
}

/**
 * The first one in an order of outcomes: nobody knows which of several catalogs of a platform an installation uses. It
 * does not use one that does not know it, where another one does.
 */
function firstOf(order: readonly OutcomeName[], all: readonly FleetOutcome[]): FleetOutcome {
  const known = all.filter(({ outcome }) => outcome !== 'not-known');
  const rank = ({ outcome }: FleetOutcome): number => order.indexOf(outcome);
  const [first] = (known.length > 0 ? known : all).toSorted((a, b) => rank(a) - rank(b));
  return first ?? notKnown('package');
}

/** Simulates catalogs as they are. Catalogs named after platform versions follow each other. */
export function stateSimulation(worlds: readonly World[]): Simulation {
  const platforms = worlds.flatMap(({ platform }) => platform ?? []);
  const [only] = platforms;
  const isOne = platforms.every((one) => only && compareMinors(one, only) === 0);
  const simulate = (
    installation: FleetInstallation,
    others: readonly FleetInstallation[] = [],
  ): FleetOutcome => {
    // An installation without a platform is on the only one.
    const at = worlds.filter(
      ({ platform }) => (installation.platform === '' && isOne) || isFor(platform, installation),
    );
    if (at.length === 0) return notKnown('platform');
    const named = at.find(({ name }) => name === installation.catalog);
    return firstOf(
      STATE_OUTCOMES,
      (named ? [named] : at).map((world) => outcomeIn(world, installation, others)),
    );
  };
  return Object.assign(simulate, { concerns: concernsIn(worlds), order: STATE_OUTCOMES });
}

/** The outcome of an installation that uses a catalog as it is. */
function outcomeIn(
  world: World,
  installation: FleetInstallation,
  others: readonly FleetInstallation[],
): FleetOutcome {
  if (!worldHasPackage(world, installation)) return notKnown('package');
  if (!hasChannel(world, installation)) return notKnown('channel');
  const installed = installedIn(world, installation) ?? droppedFrom(world, installation);
  if (!installed) return notKnown('version');
  const beside = besideIn(world, others);
  const path = installedPath(world, installation, installed, beside);
  // The nearest: a cluster cannot leave out a version of the platform.
  const [following] = world.following;
  const then =
    following && worldHasPackage(following, installation)
      ? installedPath(following, installation, installed, beside)
      : undefined;
  const isStuckNext = following !== undefined && !then?.arrives;
  const found = outcomeOf(installed, path, stateOutcome(installation, path, isStuckNext));
  return isNamed(world, installation.package, installed) ? found : withoutVersionNames(found);
}

/**
 * The installed bundle before the change. It may be one that the change upgrades, or of a package that the change adds.
 * It is not a version that the change adds: no cluster has that.
 */
function installedBefore({ before, after }: Change, installation: FleetInstallation): Installed | undefined {
  const known = installedIn(before, installation);
  const later = known ?? installedIn(after, installation);
  const isAdded =
    worldHasPackage(before, installation) && later && bundlesOf(after, installation)?.has(later.name);
  return known ?? (isAdded ? undefined : later);
}

function bundlesOf(
  { catalog }: World,
  { package: name }: FleetInstallation,
): ReadonlyMap<string, unknown> | undefined {
  return catalog.packages.get(name)?.bundles;
}

interface Paths {
  readonly before: PathSummary;
  readonly after: PathSummary;
}

/** What a change does to an installation. Only OLM v0 waits for somebody's approval. */
function changeOutcome({ isManual, olm }: FleetInstallation, { before, after }: Paths): OutcomeName {
  if (!after.arrives) return before.arrives ? 'strands' : 'stuck';
  if (before.next === after.next && before.end === after.end && before.arrives) return 'unchanged';
  if (after.kind === 'upgrade') return isManual && olm === 'v0' ? 'offered' : 'moves';
  if (!before.arrives) return 'recovers';
  return before.kind === 'upgrade' ? 'stops' : 'unchanged';
}

/** What an installation gets from the catalogs as they are. Only OLM v0 waits for somebody's approval. */
function stateOutcome(
  { isManual, olm }: FleetInstallation,
  path: PathSummary,
  isStuckNext: boolean,
): OutcomeName {
  if (!path.arrives) return 'stuck';
  if (isStuckNext) return 'stuck-next';
  if (path.kind !== 'upgrade') return 'head';
  return isManual && olm === 'v0' ? 'offered' : 'upgrades';
}

/**
 * The outcome of an installation with its path, in the form of a fleet's report.
 *
 * @param path the upgrade path that the installation has then
 */
function outcomeOf(installed: Installed, path: PathSummary, outcome: OutcomeName): FleetOutcome {
  const own = shortName(installed);
  return {
    outcome,
    installed: own,
    next: path.kind === 'upgrade' ? path.next : '',
    end: path.end === '' ? own : path.end,
  };
}

/** Reports do not name versions that only the fleet has. */
function withoutVersionNames(found: FleetOutcome): FleetOutcome {
  return { ...found, installed: '', end: found.end === found.installed ? '' : found.end };
}

function notKnown(what: NotKnown): FleetOutcome {
  return { outcome: 'not-known', installed: '', next: '', end: '', notKnown: what };
}

const NOT_REACHED: FleetOutcome = { outcome: 'not-reached', installed: '', next: '', end: '' };

/** Whether clusters with the installation's platform use a catalog. A catalog without a platform is for all. */
function isFor(platform: Minor | undefined, installation: FleetInstallation): boolean {
  if (!platform) return true;
  const own = tryParseMinor(installation.platform);
  return own !== undefined && compareMinors(platform, own) === 0;
}

function worldHasPackage({ catalog, published }: World, { package: name }: FleetInstallation): boolean {
  return catalog.packages.has(name) || (published.get(name) ?? []).length > 0;
}

/** Whether the catalog has or had a subscribed channel. */
function hasChannel({ catalog, published }: World, { package: name, channels }: FleetInstallation): boolean {
  const own = catalog.packages.get(name)?.channels;
  const past = published.get(name) ?? [];
  return channels.every((channel) => own?.has(channel) || past.some((one) => one.channel === channel));
}
