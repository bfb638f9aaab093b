/** What becomes of a fleet: with catalogs as they are, and by changes of them. */
import { countFleet, type FleetReport } from '../../../catalog/olm/fleet/count.ts';
import { type Fleet, withPackages } from '../../../catalog/olm/fleet/fleet.ts';
import { changeSimulation, type OutcomeName, stateSimulation } from '../../../catalog/olm/fleet/outcome.ts';
import type { Change, World } from '../../../catalog/olm/foresight/world.ts';

/** Counts what becomes of a fleet with catalogs as they are. */
export function auditFleet(
  fleet: Fleet,
  worlds: readonly World[],
  packages?: ReadonlySet<string>,
): FleetReport {
  return countFleet(withPackages(fleet, packageIndex(worlds)), stateSimulation(worlds), packages);
}

/** Counts what changes of catalogs do to the clusters that have some packages. */
export function fleetChange(
  fleet: Fleet,
  changes: readonly Change[],
  packages: ReadonlySet<string>,
): FleetReport {
  const worlds = changes.flatMap(({ before, after }) => [before, after]);
  return countFleet(withPackages(fleet, packageIndex(worlds)), changeSimulation(changes), packages);
}

const STUCK: ReadonlySet<OutcomeName> = new Set(['strands', 'stuck', 'stuck-next']);

/** Whether clusters have no upgrade path to a head, or will have none. */
export function isFleetStuck({ outcomes }: Pick<FleetReport, 'outcomes'>): boolean {
  return outcomes.some(({ outcome }) => STUCK.has(outcome));
}

/** Finds the package of a bundle by its name. */
function packageIndex(worlds: readonly World[]): (bundle: string) => string | undefined {
  const packages = new Map<string, string>();
  for (const { catalog, published } of worlds) {
    for (const [name, bundles] of published) for (const bundle of bundles) packages.set(bundle.name, name);
    for (const [name, { bundles }] of catalog.packages)
      for (const bundle of bundles.keys()) packages.set(bundle, name);
  }
  return (bundle) => packages.get(bundle);
}
