/** The order in which platform upgrades take clusters from one catalog to the next. */

import { compareMinors, minorOfCatalog, splitAtMinor } from '../../../catalog/fbc/openshift.ts';
import { compareText } from '../../../catalog/go/text.ts';

export interface CatalogOrder {
  /** Catalogs by their order; those that have none come last, by name. */
  readonly compare: (a: string, b: string) => number;
  /** Names of the catalogs that come next, the nearest first. @param most how many */
  readonly after: (name: string, most: number) => readonly string[];
  /** Names of the catalogs that come before, the nearest first. @param most how many */
  readonly before: (name: string, most: number) => readonly string[];
}

/**
 * The order of catalogs that a policy writes; without one, that of the platform's versions after which catalogs are named,
 * each stage (`stage-v4.20`) for itself.
 *
 * @param catalogOrder `graph.catalogOrder` of the policy; may be empty
 * @param catalogs names of all catalogs
 */
export function orderOf(catalogOrder: readonly string[], catalogs: Iterable<string>): CatalogOrder {
  const isWritten = catalogOrder.length > 0;
  const names = isWritten ? catalogOrder : byPlatform(catalogs);
  const ranks = new Map(names.map((name, i) => [name, i]));
  const rankOf = (name: string): number => ranks.get(name) ?? ranks.size;
  const neighborsIn = (order: readonly string[], name: string, most: number): readonly string[] => {
    const at = order.indexOf(name);
    if (at < 0) return [];
    const next = order.slice(at + 1);
    // Clusters of one stage never take the catalogs of another.
    const ofStage = isWritten ? next : next.filter((other) => stageOf(other) === stageOf(name));
    return ofStage.slice(0, most);
  };
  return {
    compare: (a, b) => rankOf(a) - rankOf(b) || compareText(a, b),
    after: (name, most) => neighborsIn(names, name, most),
    before: (name, most) => neighborsIn(names.toReversed(), name, most),
  };
}

/**
 * The part of a catalog's name before the platform's version, which names its stage: `stage-` in
 * `stage-v4.20`.
 */
function stageOf(name: string): string {
  return splitAtMinor(name)?.before ?? '';
}

/** The names of catalogs that are called after a version of the platform, in the order of these versions. */
function byPlatform(catalogs: Iterable<string>): string[] {
  return [...new Set(catalogs)]
    .flatMap((name) => {
      const platform = minorOfCatalog(name);
      return platform ? [{ name, platform }] : [];
    })
    .sort((a, b) => compareMinors(a.platform, b.platform) || compareText(a.name, b.name))
    .map(({ name }) => name);
}
