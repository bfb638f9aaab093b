/** What other packages of a catalog require of one, so that a suggestion does not take it away. */

import { headOf } from '../../fbc/channel.ts';
import type { Bundle, Package, Property } from '../../fbc/model.ts';
import { compareInstalled } from '../foresight/installation.ts';
import type { World } from '../foresight/world.ts';
import { REQUIRING, RequirementError, requirementOf } from '../resolve/requirement.ts';
import { offerOfBundle } from '../resolve/snapshot.ts';

/**
 * Names of bundles that must stay for other packages: for each requirement that the package meets today and would no
 * longer meet, the newest bundle that meets it.
 */
export function requiredOfOthers(
  { catalog, foresight }: World,
  today: Package,
  suggested: Package,
): Set<string> {
  const required = new Set<string>();
  const had = [...today.bundles.values()].sort(compareInstalled).reverse();
  const has = [...suggested.bundles.values()];
  for (const property of requirementsIn(
    [...catalog.packages.values()].filter(({ name }) => name !== today.name),
  )) {
    const holds = meeting(property, foresight.scope.cel);
    const newest = had.find(holds);
    if (newest && !has.some(holds)) required.add(newest.name);
  }
  return required;
}

function requirementsIn(packages: readonly Package[]): Property[] {
  const all = packages
    .filter((one) => [...one.channels.values()].some((channel) => headOf(channel) !== undefined))
    .flatMap(({ bundles }) => [...bundles.values()].flatMap(({ properties }) => properties))
    .filter(({ type }) => REQUIRING.has(type));
  return [
    ...new Map(all.map((property) => [JSON.stringify([property.type, property.value]), property])).values(),
  ];
}

function meeting(property: Property, cel: World['foresight']['scope']['cel']): (bundle: Bundle) => boolean {
  try {
    const { holds } = requirementOf(property, cel);
    return (bundle) => holds(offerOfBundle(bundle));
  } catch (error) {
    // What OLM cannot read, no bundle meets.
    if (error instanceof RequirementError) return () => false;
    throw error;
  }
}
