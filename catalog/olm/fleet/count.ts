/**
 * Counts the clusters of a fleet by their outcomes. Each cluster is counted exactly once for each package, and once
 * in all: with the outcome that comes first in the order of the simulation.
 */
import { groupedBy } from '../../go/grouped.ts';
import { compareText } from '../../go/text.ts';
import type { Olm } from '../foresight/world.ts';
import type { Fleet, FleetInstallation, FleetRow } from './fleet.ts';
import { type FleetOutcome, type NotKnown, OUTCOMES, type OutcomeName, type Simulation } from './outcome.ts';

/** Numbers of clusters; as JSON part of a public interface. It has no name of a cluster. */
export interface FleetReport {
  /** All clusters of the fleet, whatever they have. */
  readonly total: number;
  /** Clusters of the fleet that have one of the packages; those of rows that cannot be read are among them. */
  readonly clusters: number;
  /** The sum of their clusters is `clusters`. */
  readonly outcomes: readonly OutcomeCount[];
  readonly packages: readonly PackageFleet[];
  /** Clusters of rows that cannot be read; they are among the outcomes that are not known. */
  readonly unread: number;
}

export interface OutcomeCount {
  readonly outcome: OutcomeName;
  readonly clusters: number;
  /** By version of the platform, empty where it is unknown. */
  readonly platforms: readonly PlatformCount[];
}

interface PlatformCount {
  readonly platform: string;
  readonly clusters: number;
}

/** The clusters that have a package. */
export interface PackageFleet {
  readonly package: string;
  readonly clusters: number;
  /** The sum of their clusters is `clusters`. */
  readonly outcomes: readonly OutcomeCount[];
  /** The sum of their clusters is `clusters`; most clusters first. */
  readonly flows: readonly Flow[];
}

/** Clusters that go the same way. */
export interface Flow extends FleetOutcome {
  readonly platform: string;
  readonly clusters: number;
}

/**
 * Counts what becomes of a fleet.
 *
 * @param packages only these; all without it
 * @param published packages that some catalog has, or had: they are named also where the cluster's catalog lacks them
 */
export function countFleet(
  fleet: Fleet,
  simulate: Simulation,
  packages?: ReadonlySet<string>,
  published: ReadonlySet<string> = new Set(),
): FleetReport {
  // Names of other packages are private: only the fleet knows them.
  const nameable = new Set([...(packages ?? []), ...published]);
  const rankedOutcomeOf = rankedOutcomesOf(fleet, simulate, nameable);
  const units = new Map<string, Unit>();
  for (const row of fleet.rows) {
    const key = unitKey(row);
    const unit = units.get(key) ?? new Unit(row.count === undefined);
    units.set(key, unit);
    unit.add(row, packages?.has(row.installation.package) === false ? undefined : rankedOutcomeOf(row));
  }
  const { order = OUTCOMES } = simulate;
  const all = new Tally(order);
  const byPackage = new Map<string, Tally>();
  for (const unit of units.values()) {
    unit.count(all, (name) => {
      const tally = byPackage.get(name) ?? new Tally(order);
      byPackage.set(name, tally);
      return tally;
    });
  }
  if (fleet.unread > 0) all.add(UNREAD_ROWS, fleet.unread);
  return {
    total: [...units.values()].reduce((sum, { size }) => sum + size, fleet.unread),
    clusters: all.clusters,
    outcomes: all.outcomes(),
    packages: [...byPackage]
      .sort(([a], [b]) => compareText(a, b))
      .map(([name, tally]) => ({
        package: name,
        clusters: tally.clusters,
        outcomes: tally.outcomes(),
        flows: tally.flows(),
      })),
    unread: fleet.unread,
  };
}

/** Tells what becomes of the installation in a row, with its place in the simulation's order. */
function rankedOutcomesOf(
  fleet: Fleet,
  simulate: Simulation,
  nameable: ReadonlySet<string>,
): (row: FleetRow) => RankedOutcome {
  const known = new Map<FleetInstallation, RankedOutcome>();
  const { order = OUTCOMES } = simulate;
  const rated = (installation: FleetInstallation, neighbors: readonly FleetInstallation[]): RankedOutcome => {
    const outcome = simulate(installation, neighbors);
    return { ...countedOutcome(installation, outcome, nameable), rank: order.indexOf(outcome.outcome) };
  };
  const neighborsOf = neighborsIn(fleet, simulate);
  return (row) => {
    const { installation } = row;
    const neighbors = neighborsOf(row);
    // With neighbors that concern it, an installation may have another outcome on each cluster: none is kept.
    if (neighbors.length > 0) return rated(installation, neighbors);
    const found = known.get(installation) ?? rated(installation, []);
    known.set(installation, found);
    return found;
  };
}

/** For each row about one cluster, what else that has installed and may keep it from an upgrade. */
function neighborsIn(
  { rows }: Fleet,
  { concerns }: Simulation,
): (row: FleetRow) => readonly FleetInstallation[] {
  if (!concerns) return () => [];
  const byCluster = groupedBy(
    rows.filter(({ count }) => count === undefined),
    ({ cluster }) => cluster,
  );
  return ({ cluster, count, installation }) =>
    count === undefined
      ? (byCluster.get(cluster) ?? [])
          .map((row) => row.installation)
          .filter((other) => concerns(installation, other))
      : [];
}

/** Outcomes of clusters on which a merge has an effect, or may have one. */
const REACHED: ReadonlySet<OutcomeName> = new Set([
  'strands',
  'not-known',
  'moves',
  'offered',
  'stops',
  'recovers',
]);

/** The number of clusters that a merge reaches, including those with an unknown outcome. */
export function reachedClusters({ outcomes }: Pick<FleetReport, 'outcomes'>): number {
  return outcomes.reduce((sum, { outcome, clusters }) => sum + (REACHED.has(outcome) ? clusters : 0), 0);
}

/** An outcome with what it is counted by. */
interface CountedOutcome {
  /** As reports name it; empty for one that only the fleet knows. */
  readonly package: string;
  readonly platform: string;
  readonly outcome: FleetOutcome;
  /** The same for outcomes that are counted as one; packages are counted apart before. */
  readonly key: string;
}

interface RankedOutcome extends CountedOutcome {
  /** Its place in the order of outcomes. */
  readonly rank: number;
}

/** A package that no catalog has is not named, unless it is asked about: only the fleet knows it. */
function countedOutcome(
  { platform, package: name }: FleetInstallation,
  outcome: FleetOutcome,
  nameable: ReadonlySet<string>,
): CountedOutcome {
  const shownName = outcome.notKnown === 'package' && !nameable.has(name) ? '' : name;
  const { installed, next, end, notKnown = '' } = outcome;
  const key = JSON.stringify([platform, outcome.outcome, installed, next, end, notKnown]);
  return { package: shownName, platform, outcome, key };
}

const UNREAD_ROWS: CountedOutcome = {
  package: '',
  platform: '',
  outcome: { outcome: 'not-known', installed: '', next: '', end: '' },
  key: '',
};

/** A cluster and a group of the same name are different units. */
function unitKey({ cluster, count }: FleetRow): string {
  return `${count === undefined ? 'cluster' : 'group'} ${cluster}`;
}

/** Some clusters of a unit, by one row. */
interface Share {
  /** As the fleet names it. */
  readonly package: string;
  readonly clusters: number;
}

interface RankedShare extends Share {
  readonly rankedOutcome: RankedOutcome;
}

/** One cluster, or the clusters of a group. */
class Unit {
  readonly #isCluster: boolean;
  /** Of every row, also of those that are not asked about: the size of the fleet does not depend on the question. */
  readonly #all: Share[] = [];
  readonly #asked: RankedShare[] = [];

  constructor(isCluster: boolean) {
    this.#isCluster = isCluster;
  }

  /** Adds the clusters of a row. @param rankedOutcome undefined for a row that is not asked about */
  add({ count = 1, installation }: FleetRow, rankedOutcome: RankedOutcome | undefined): void {
    const share = { package: installation.package, clusters: count };
    this.#all.push(share);
    if (rankedOutcome) this.#asked.push({ ...share, rankedOutcome });
  }

  get size(): number {
    return this.#sizeOf(this.#all);
  }

  /** Counts each package by itself, and all packages together. */
  count(all: Tally, tallyOf: (name: string) => Tally): void {
    for (const [name, shares] of groupedBy(this.#asked, ({ rankedOutcome }) => rankedOutcome.package))
      distributeClusters(shares, this.#sizeOf(shares), tallyOf(name));
    distributeClusters(this.#asked, this.#sizeOf(this.#asked), all);
  }

  /**
   * How many clusters the rows are about. Those of a group and one package are about different clusters, those of several
   * packages as likely about the same: then the package with most clusters counts.
   */
  #sizeOf(shares: readonly Share[]): number {
    if (this.#isCluster) return 1;
    const sizes = new Map<string, number>();
    for (const { package: name, clusters } of shares) sizes.set(name, (sizes.get(name) ?? 0) + clusters);
    return [...sizes.values()].reduce((most, size) => Math.max(most, size), 0);
  }
}

/**
 * Gives clusters to outcomes until all have one. It is unknown which clusters of a group have several packages, so as
 * many as possible get the outcome that comes first.
 */
function distributeClusters(shares: readonly RankedShare[], size: number, tally: Tally): void {
  let left = size;
  for (const { rankedOutcome, clusters } of [...shares].sort(
    (a, b) => a.rankedOutcome.rank - b.rankedOutcome.rank,
  )) {
    if (left === 0) return;
    const given = Math.min(left, clusters);
    tally.add(rankedOutcome, given);
    left -= given;
  }
}

interface CountedFlow {
  readonly counted: CountedOutcome;
  clusters: number;
}

class Tally {
  readonly #order: readonly OutcomeName[];
  readonly #flows = new Map<string, CountedFlow>();
  clusters = 0;

  /** @param order in which outcomes are listed */
  constructor(order: readonly OutcomeName[]) {
    this.#order = order;
  }

  /** Counts clusters that have an outcome. */
  add(counted: CountedOutcome, clusters: number): void {
    if (clusters === 0) return;
    this.clusters += clusters;
    const known = this.#flows.get(counted.key);
    if (known) known.clusters += clusters;
    else this.#flows.set(counted.key, { counted, clusters });
  }

  /** How many clusters have each outcome, and on which platforms. */
  outcomes(): OutcomeCount[] {
    const flows = [...this.#flows.values()];
    return this.#order.flatMap((outcome) => {
      const own = flows.filter(({ counted }) => counted.outcome.outcome === outcome);
      const clusters = own.reduce((sum, flow) => sum + flow.clusters, 0);
      return clusters === 0 ? [] : [{ outcome, clusters, platforms: platformsOf(own) }];
    });
  }

  /** What was counted, with what most clusters have first. */
  flows(): Flow[] {
    return [...this.#flows.values()]
      .map(({ counted, clusters }) => ({ platform: counted.platform, ...counted.outcome, clusters }))
      .sort(
        (a, b) =>
          b.clusters - a.clusters ||
          compareText(a.platform, b.platform) ||
          compareText(a.installed, b.installed) ||
          compareText(JSON.stringify(a), JSON.stringify(b)),
      );
  }
}

/** How many clusters are on each platform. */
function platformsOf(flows: readonly CountedFlow[]): PlatformCount[] {
  const counts = new Map<string, number>();
  for (const { counted, clusters } of flows)
    counts.set(counted.platform, (counts.get(counted.platform) ?? 0) + clusters);
  // By number: 4.9 before 4.10.
  return [...counts]
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([platform, clusters]) => ({ platform, clusters }));
}

/** Unknown properties of installations with their numbers of clusters, the most clusters first. */
export function notKnownCounts({
  flows,
}: Pick<PackageFleet, 'flows'>): { what: NotKnown; clusters: number }[] {
  const counts = new Map<NotKnown, number>();
  for (const { notKnown, clusters } of flows)
    if (notKnown) counts.set(notKnown, (counts.get(notKnown) ?? 0) + clusters);
  return [...counts].map(([what, clusters]) => ({ what, clusters })).sort((a, b) => b.clusters - a.clusters);
}

/** Which clusters are asked about. */
interface Affected {
  readonly package: string;
  /** Versions of the platform; any where undefined. */
  readonly platforms: ReadonlySet<string> | undefined;
  /** Any where undefined. */
  readonly olm: Olm | undefined;
  /** The channel of a subscription; any where undefined. */
  readonly channel: string | undefined;
  /** Installed versions, as reports show them. */
  readonly installed: ReadonlySet<string>;
}

/** Counts the clusters that have one of some installations. */
export function affectedCounter(fleet: Fleet, simulate: Simulation): (affected: Affected) => number {
  const byPackage = groupedBy(fleet.rows, ({ installation }) => installation.package);
  const labels = new Map<FleetInstallation, string>();
  const labelOf = (installation: FleetInstallation): string => {
    const found = labels.get(installation) ?? simulate(installation).installed;
    labels.set(installation, found);
    return found;
  };
  return ({ package: packageName, platforms, olm, channel, installed }) => {
    const clusterNames = new Set<string>();
    let unnamedClusters = 0;
    for (const { cluster, count, installation } of byPackage.get(packageName) ?? []) {
      const { platform, olm: own, channels } = installation;
      if (platforms && !platforms.has(platform)) continue;
      if (olm && own !== olm) continue;
      // An installation that names no channel may use any.
      if (channel !== undefined && channels.length > 0 && !channels.includes(channel)) continue;
      if (!installed.has(labelOf(installation))) continue;
      if (count === undefined) clusterNames.add(cluster);
      else unnamedClusters += count;
    }
    return clusterNames.size + unnamedClusters;
  };
}
