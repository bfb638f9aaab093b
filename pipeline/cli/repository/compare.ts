/**
 * Two states of catalogs compared: what people changed, and what clusters will do
 * otherwise. Nothing is checked and nobody is asked.
 */

import { shellWord } from '../../../catalog/names.ts';
import { changeOf, type WorldOptions } from '../../../catalog/olm/foresight/world.ts';
import { type CatalogPlace, readCatalogs } from '../../catalogs/read-catalogs.ts';
import { classifyChange } from '../../change/classify.ts';
import { fileReader } from '../../change/content.ts';
import { joinedDiffs, placedDiffs } from '../../check/content/catalog-rules.ts';
import type { PlacedDiff } from '../../check/report.ts';
import { touchedCatalogs } from '../../check/world/catalogs.ts';
import { changesIn } from '../../check/world/world.ts';
import { PipelineError } from '../../error.ts';
import type { Repository } from '../../git/repository.ts';
import { policyAt } from '../../policy/read-policy.ts';
import { RULE_IDS } from '../../policy/rule-ids.ts';
import { policyOrLayoutAt } from '../../policy/setup/policy-or-layout.ts';

/** What changes, and which packages were compared to find it. */
export interface Compared {
  readonly diffs: readonly PlacedDiff[];
  /** Names, sorted. */
  readonly packages: readonly string[];
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
  const compared = [...new Set(names)].sort().filter((name) => packages?.has(name) ?? true);
  const missing = [...(packages ?? [])].find((name) => !compared.includes(name));
  // A mistyped name must not look like a package without changes.
  if (missing !== undefined)
    throw new PipelineError('usage', `package ${JSON.stringify(missing)} is in neither catalog`);
  const options = (read: typeof before): WorldOptions | undefined =>
    read && { name: head.name, catalog: read.catalog, ...(packages ? { packages } : {}) };
  const diffs = placedDiffs(await changeOf(options(before), options(after)), [head.name]);
  return { diffs, packages: compared };
}

/**
 * Compares the catalogs of two commits, by the layout that the base's policy describes. Only packages with changed
 * files are compared.
 *
 * @throws PipelineError `not-found` for a revision that does not exist, `usage` when the policy cannot be read
 */
export async function diffRevisions(
  repository: Repository,
  { base, head, today }: { readonly base: string; readonly head: string; readonly today: string },
): Promise<Compared> {
  const [baseId = '', headId = ''] = await repository.resolve([base, head]);
  const { objects } = repository;
  const { policy: own, defaults } = await policyAt(objects, baseId, RULE_IDS);
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
  const { touched } = await touchedCatalogs({ objects, policy, trees, change }, reader);
  const changes = await Promise.all(
    touched.map(async (one) => {
      const inEach = await changesIn(one, { policy, today });
      return joinedDiffs(inEach.flatMap(({ member, change }) => placedDiffs(change, [member.name])));
    }),
  );
  return { diffs: changes.flat(), packages: [...change.packages.keys()].sort() };
}
