/** Catalogs whose folders a merge renames or moves: before and after, each is one catalog for its clusters. */
import { compareMinors, minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { groupedBy } from '../../../catalog/go/grouped.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { quoted } from '../../../catalog/names.ts';
import { rule as packageRemoved } from '../../../catalog/rules/graph/package-removed.ts';
import type { CatalogUnit } from '../../change/unit.ts';
import type { Policy } from '../../policy/policy.ts';
import { severitiesOf } from '../../policy/severity.ts';

export interface RenamedCatalog {
  readonly from: string;
  readonly to: string;
  /** Path of its folder, before. */
  readonly root: string;
}

type Units = ReadonlyMap<string, CatalogUnit>;

/**
 * Pairs catalogs that are gone with those that are new: those with equal content first, then those of the same platform
 * version. One catalog that is left without a platform version is paired with the only new one, or with the first of those
 * that it is split into. Catalogs of two platform versions are never a pair: clusters of one do not take the other's.
 */
export function renamedCatalogs(base: Units, merged: Units): RenamedCatalog[] {
  const [before, after] = [catalogsOf(base), catalogsOf(merged)];
  const gone = [...before.keys()].filter((name) => !after.has(name)).sort(compareText);
  const fresh = new Set([...after.keys()].filter((name) => !before.has(name)).sort(compareText));
  const renamed: RenamedCatalog[] = [];
  for (const isPair of [isSamePlatformAndContent, isSameContent, isSamePlatform]) {
    for (const from of gone) {
      if (renamed.some((one) => one.from === from)) continue;
      const own = before.get(from) ?? [];
      const to = [...fresh].find((name) => isPair([from, own], [name, after.get(name) ?? []]));
      if (to === undefined) continue;
      fresh.delete(to);
      renamed.push({ from, to, root: own[0]?.root ?? '' });
    }
  }
  const [unpaired, ...more] = gone.filter((from) => !renamed.some((one) => one.from === from));
  const [to, ...others] = fresh;
  // A catalog that is split by platforms: the first of the new ones stands for all.
  const mayBeSplit = others.length === 0 || minorOfCatalog(unpaired ?? '') === undefined;
  const gainsOrLosesPlatform = (from: string): boolean =>
    mayBeSplit && [...fresh].every((name) => hasOneAPlatform(from, name));
  return unpaired !== undefined && to !== undefined && more.length === 0 && gainsOrLosesPlatform(unpaired)
    ? [...renamed, { from: unpaired, to, root: before.get(unpaired)?.[0]?.root ?? '' }]
    : renamed;
}

/** Whether exactly one of two names has a version of the platform. */
function hasOneAPlatform(from: string, to: string): boolean {
  return (minorOfCatalog(from) === undefined) !== (minorOfCatalog(to) === undefined);
}

type NamedUnits = readonly [name: string, units: readonly CatalogUnit[]];

/** The units of each catalog, by its name. */
function catalogsOf(units: Units): Map<string, CatalogUnit[]> {
  return groupedBy(units.values(), ({ catalog }) => catalog);
}

function isSamePlatformAndContent(one: NamedUnits, other: NamedUnits): boolean {
  return isSamePlatform(one, other) && isSameContent(one, other);
}

/**
 * Whether both have the same git objects, and are not of two versions of the platform. Two names without any version are two
 * places, not one catalog that moved.
 */
function isSameContent([from, one]: NamedUnits, [to, other]: NamedUnits): boolean {
  const [was, is] = [minorOfCatalog(from), minorOfCatalog(to)];
  if (!(was ?? is) || (was && is && compareMinors(was, is) !== 0)) return false;
  const ids = (units: readonly CatalogUnit[]): string => JSON.stringify(units.map(({ id }) => id).sort());
  return ids(one) === ids(other);
}

/** Whether both are of one version of the platform, and have a package in common as far as their folders say. */
function isSamePlatform([from, one]: NamedUnits, [to, other]: NamedUnits): boolean {
  const [was, is] = [minorOfCatalog(from), minorOfCatalog(to)];
  if (!was || !is || compareMinors(was, is) !== 0) return false;
  const names = new Set(one.map((unit) => unit.package));
  return other.some((unit) => names.has(unit.package));
}

/** The units of the base branch, under the names that their catalogs have after the merge. */
export function underNewNames(base: Units, renamed: readonly RenamedCatalog[]): Units {
  if (renamed.length === 0) return base;
  const names = new Map(renamed.map(({ from, to }) => [from, to]));
  return new Map(
    [...base].map(([path, unit]) => [path, { ...unit, catalog: names.get(unit.catalog) ?? unit.catalog }]),
  );
}

/**
 * A warning for each. Clusters of the old name lose every package, so it is of the rule about removed packages. It is never
 * an error: the packages are still there under the new name, and the clusters' owners may have moved.
 */
export function renamedFindings(renamed: readonly RenamedCatalog[], policy: Policy): Finding[] {
  if (severitiesOf(policy)(packageRemoved) === 'off') return [];
  return renamed.map(({ from, to, root }) => ({
    rule: packageRemoved.id,
    severity: 'warning',
    message: `catalog ${quoted(from)} is renamed to ${quoted(to)}: clusters that use ${quoted(from)} get no more updates`,
    location: { file: root, line: 1, column: 1 },
    catalogs: [from],
    hint: `if clusters still use ${from}, copy its folder instead of renaming it`,
  }));
}
