/**
 * Two states of catalogs compared: what people changed, and what clusters will do
 * otherwise. Nothing is checked and nobody is asked.
 */

import { shellWord } from '../../../catalog/names.ts';
import { changeOf, type WorldOptions } from '../../../catalog/olm/foresight/world.ts';
import { nearest } from '../../../catalog/spelling.ts';
import { type CatalogPlace, type ReadCatalog, readCatalogs } from '../../catalogs/read-catalogs.ts';
import { sharedPackages } from '../../change/catalogs.ts';
import { classifyChange } from '../../change/classify.ts';
import { type FileReader, fileReader } from '../../change/content.ts';
import { catalogUnits } from '../../change/unit.ts';
import { joinedDiffs, placedDiffs } from '../../check/content/catalog-rules.ts';
import type { PlacedDiff } from '../../check/report.ts';
import { touchedCatalogs } from '../../check/world/catalogs.ts';
import { changesIn } from '../../check/world/world.ts';
import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import type { Layout } from '../../policy/layout.ts';
import { policyAt } from '../../policy/read-policy.ts';
import { policyOrLayoutAt } from '../../policy/setup/policy-or-layout.ts';

/** What changes, and which packages were compared to find it. */
export interface Compared {
  readonly diffs: readonly PlacedDiff[];
  /** Names, sorted. */
  readonly packages: readonly string[];
  /** Catalogs that were read, in which parts may have been left out; none of a repository. */
  readonly read: readonly ReadCatalog[];
}

interface Revisions {
  readonly base: string;
  readonly head: string;
  /** The day, as `2026-01-31`. */
  readonly today: string;
  /** Only these; all if there are none. */
  readonly packages?: readonly string[];
}

/**
 * Compares one catalog with another. Both are taken to be the same catalog at two times.
 *
 * @throws PipelineError `usage` where neither has a package, or neither has one that was asked for
 */
export async function diffPlaces(
  base: CatalogPlace,
  head: CatalogPlace,
  packages?: ReadonlySet<string>,
): Promise<Compared> {
  const [before, after] = await readCatalogs([base, head]);
  const names = [before, after].flatMap((read) => [...(read?.catalog.packages.keys() ?? [])]);
  // What is not a catalog must not look like one without changes.
  if (names.length === 0)
    throw new PipelineError('usage', `neither ${base.name} nor ${head.name} contains a package`, {
      hint: 'check the paths; to compare bundles, use --bundle',
    });
  refuseUnknown(packages ?? [], new Set(names));
  const compared = [...new Set(names)].sort().filter((name) => packages?.has(name) ?? true);
  const options = (read: typeof before): WorldOptions | undefined =>
    read && { name: head.name, catalog: read.catalog, ...(packages ? { packages } : {}) };
  const diffs = placedDiffs(await changeOf(options(before), options(after)), [head.name]);
  return { diffs, packages: compared, read: [before, after].flatMap((read) => read ?? []) };
}

/** A mistyped name must not look like a package without changes. @throws PipelineError `usage` */
export function refuseUnknown(wanted: Iterable<string>, known: ReadonlySet<string>): void {
  const missing = [...wanted].find((name) => !known.has(name));
  if (missing === undefined) return;
  const near = nearest(missing, known);
  throw new PipelineError('usage', `package ${JSON.stringify(missing)} is in neither catalog`, {
    ...(near === undefined ? {} : { hint: `did you mean ${near}?` }),
  });
}

/**
 * Compares the catalogs of two commits, by the layout that the base's policy describes. Only packages with changed
 * files are compared.
 *
 * @throws PipelineError `not-found` for a revision that does not exist, `usage` when the policy cannot be read, or neither
 *   has a package that was asked for
 */
export async function diffRevisions(
  repository: Repository,
  { base, head, today, packages = [] }: Revisions,
): Promise<Compared> {
  const [baseId = '', headId = ''] = await repository.resolve([base, head]);
  const { objects } = repository;
  const { policy: own, defaults } = await policyAt(objects, baseId);
  // Without a policy, the head says where catalogs are.
  const { policy } = defaults ? await policyOrLayoutAt(repository, headId) : { policy: own };
  if (!policy)
    throw new PipelineError('usage', `cannot read the policy at ${base}`, {
      hint: `run portolan check --base ${shellWord(base)} for details`,
    });
  const trees = { base: baseId, merged: await objects.treeOf(headId) };
  const change = await classifyChange(objects, trees, policy);
  // A package that is beyond the limits must not look like one without changes.
  const excess = change.unsafe.find(({ rule }) => rule === 'path/limits' || rule === 'fbc/limits');
  if (excess) {
    const { message, hint = '' } = excess;
    throw new PipelineError('too-large', message, { hint });
  }
  const reader = fileReader(objects, policy.limits);
  // A package that differs is in one of the commits; only the others have to be looked for.
  const others = packages.filter((name) => !change.packages.has(name));
  if (others.length > 0) {
    const of = { objects, layout: policy.layout, reader };
    const [before, after] = await Promise.all([namesIn(baseId, of), namesIn(trees.merged, of)]);
    refuseUnknown(others, new Set([...before, ...after]));
  }
  const { touched } = await touchedCatalogs({ objects, policy, trees, change }, reader);
  const changes = await Promise.all(
    touched.map(async (one) => {
      const inEach = await changesIn(one, { policy, today });
      return joinedDiffs(inEach.flatMap(({ member, change }) => placedDiffs(change, [member.name])));
    }),
  );
  const compared = [...change.packages.keys()].filter(
    (name) => packages.length === 0 || packages.includes(name),
  );
  return { diffs: changes.flat(), packages: compared.sort(), read: [] };
}

/** Names of the packages in a tree: by their folders, or as files of several packages have them. */
async function namesIn(
  tree: string,
  {
    objects,
    layout,
    reader,
  }: { readonly objects: ObjectReader; readonly layout: Layout; readonly reader: FileReader },
): Promise<string[]> {
  const units = await catalogUnits(objects, tree, layout);
  const own = [...units.values()].flatMap(({ package: name }) => name ?? []);
  return [...own, ...(await sharedPackages(objects, reader, { tree, units }))];
}
