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
 * each stage (`stage-v4.20`, `v4.20-stage`) for itself. A catalog that the policy's order leaves out is at the place of its version.
 *
 * @param catalogOrder `graph.catalogOrder` of the policy; may be empty
 * @param catalogs names of all catalogs; the order's other names have no place in it
 */
export function orderOf(catalogOrder: readonly string[], catalogs: Iterable<string>): CatalogOrder {
  const known = new Set(catalogs);
  const written = catalogOrder.filter((name) => known.has(name));
  const versioned = byPlatform(known);
  const chains = chainsOf(written, versioned);
  const ranks = new Map((written.length > 0 ? chains.flat() : versioned).map((name, i) => [name, i]));
  const rankOf = (name: string): number => ranks.get(name) ?? ranks.size;
  const chainOf = (name: string): readonly string[] => chains.find((chain) => chain.includes(name)) ?? [name];
  return {
    compare: (a, b) => rankOf(a) - rankOf(b) || compareText(a, b),
    after: (name, most) => nextIn(chainOf(name), name, most),
    before: (name, most) => nextIn(chainOf(name).toReversed(), name, most),
  };
}

/** The names behind one in its chain, the nearest first. */
function nextIn(chain: readonly string[], name: string, most: number): readonly string[] {
  return chain.slice(chain.indexOf(name) + 1).slice(0, most);
}

/**
 * Catalogs that clusters take one after the other: a stage's are never followed by another's, unless the policy writes so.
 *
 * @param written names in the order of the policy
 * @param versioned names of all catalogs that are called after a version of the platform, in the order of these versions
 */
function chainsOf(written: readonly string[], versioned: readonly string[]): readonly (readonly string[])[] {
  const chains = written.length > 0 ? [[...written]] : [];
  for (const name of versioned) {
    if (written.includes(name)) continue;
    const chain = chains.find((names) => names.some((other) => isOfStage(other, name)));
    if (chain) chain.splice(placeIn(chain, name), 0, name);
    else chains.push([name]);
  }
  return chains;
}

/** Where a catalog stands in a chain that has others of its stage: behind the last of an earlier version. */
function placeIn(chain: readonly string[], name: string): number {
  const platform = minorOfCatalog(name);
  const earlier = chain.findLastIndex((other) => {
    const minor = minorOfCatalog(other);
    return isOfStage(other, name) && minor && platform && compareMinors(minor, platform) <= 0;
  });
  return earlier >= 0 ? earlier + 1 : chain.findIndex((other) => isOfStage(other, name));
}

/** Whether a catalog is called after a version of the platform, and is of the stage of another one. */
function isOfStage(other: string, name: string): boolean {
  return minorOfCatalog(other) !== undefined && stageOf(other) === stageOf(name);
}

/** The parts of a catalog's name around the platform's version, which name its stage: `stage-*` for `stage-v4.20`. */
function stageOf(name: string): string {
  const { before = '', after = '' } = splitAtMinor(name) ?? {};
  return `${before}*${after}`;
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
