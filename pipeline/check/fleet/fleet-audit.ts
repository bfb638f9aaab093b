/** What becomes of a fleet: with catalogs as they are, and by changes of them. */
import { formatMinor, type Minor, minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { affectedCounter, countFleet, type FleetReport } from '../../../catalog/olm/fleet/count.ts';
import { type Fleet, withPackages } from '../../../catalog/olm/fleet/fleet.ts';
import {
  changeSimulation,
  type Simulation,
  STUCK,
  stateSimulation,
} from '../../../catalog/olm/fleet/outcome.ts';
import type { Change, World } from '../../../catalog/olm/foresight/world.ts';

export interface FleetNumbers {
  readonly report: FleetReport;
  /** Adds to a finding how many clusters have the installations that it names; unchanged if it names none. */
  readonly withClusterCount: (finding: Finding) => Finding;
}

/** Counts what becomes of a fleet with catalogs as they are. */
export function auditFleet(
  fleet: Fleet,
  worlds: readonly World[],
  packages?: ReadonlySet<string>,
): FleetNumbers {
  return numbersOf(fleet, { worlds, simulate: stateSimulation(worlds), packages });
}

/**
 * Counts what changes of catalogs do to the clusters that have some packages.
 *
 * @param platforms of all catalogs, also of those that do not change
 */
export function fleetChange(
  fleet: Fleet,
  { changes, platforms }: { readonly changes: readonly Change[]; readonly platforms?: readonly Minor[] },
  packages: ReadonlySet<string>,
): FleetNumbers {
  const worlds = changes.flatMap(({ before, after }) => [before, after]);
  return numbersOf(fleet, { worlds, simulate: changeSimulation(changes, platforms), packages });
}

interface Counting {
  readonly worlds: readonly World[];
  readonly simulate: Simulation;
  readonly packages: ReadonlySet<string> | undefined;
}

/** Counts what becomes of a fleet's clusters, and how many of them each finding concerns. */
function numbersOf(given: Fleet, { worlds, simulate, packages }: Counting): FleetNumbers {
  const fleet = withPackages(given, packageIndex(worlds));
  const count = affectedCounter(fleet, simulate);
  const published = new Set(
    worlds.flatMap((one) => [...one.catalog.packages.keys(), ...one.published.keys()]),
  );
  return {
    report: countFleet(fleet, simulate, packages, published),
    withClusterCount: (finding) => {
      const { package: packageName, installed = [], channel, catalogs = [], rule } = finding;
      if (packageName === undefined || installed.length === 0 || !rule.startsWith('graph/')) return finding;
      const minors = catalogs.map(minorOfCatalog);
      const known = minors.flatMap((minor) => (minor ? [formatMinor(minor)] : []));
      // Where a catalog's name says no platform, clusters of all platforms may use it.
      const platforms = known.length === minors.length && known.length > 0 ? new Set(known) : undefined;
      // Rules about one OLM are called after it; all others concern clusters of both.
      const olm = (['v0', 'v1'] as const).find((one) => rule.endsWith(`-${one}`));
      const clusters = count({
        package: packageName,
        installed: new Set(installed),
        channel,
        platforms,
        olm,
      });
      return { ...finding, clusters };
    },
  };
}

/** Whether clusters have no upgrade path to a head, or will have none. */
export function isFleetStuck({ outcomes }: Pick<FleetReport, 'outcomes'>): boolean {
  return outcomes.some(({ outcome }) => STUCK.has(outcome));
}

/** Finds the package of a bundle by its name: that of a catalog before that of what was once published. */
function packageIndex(worlds: readonly World[]): (bundle: string) => string | undefined {
  const packages = new Map<string, string>();
  for (const { catalog, published } of worlds) {
    for (const [name, bundles] of published) for (const bundle of bundles) packages.set(bundle.name, name);
    for (const [name, { bundles }] of catalog.packages)
      for (const bundle of bundles.keys()) packages.set(bundle, name);
  }
  return (bundle) => packages.get(bundle);
}
