/**
 * A catalog as it was, proposed as a change of today's branch: a new commit, checked like every other
 * one. Nothing is undone: who installed what came since is told apart, and counted.
 */

import type { Finding } from '../../../catalog/finding.ts';
import { catalogUnits } from '../../change/unit.ts';
import { PipelineError } from '../../error.ts';
import { isAncestor } from '../../git/merge.ts';
import { makeBranch, replacePaths } from '../../git/replace.ts';
import type { Repository } from '../../git/repository.ts';
import type { Policy } from '../../policy/policy.ts';
import { policyOrLayoutAt } from '../../policy/setup/policy-or-layout.ts';
import { checkPullRequest } from '../check.ts';
import { COMPARING } from '../content/catalog-rules.ts';
import type { HistoryOf } from '../world/publication-history.ts';

export interface RollbackRequest {
  /** The directory of the repository, for the branch. */
  readonly directory: string;
  readonly catalog: string;
  /** Revision whose state of the catalog is wanted back. */
  readonly to: string;
  /** Revision of the branch as it is now. */
  readonly base: string;
  /** Whether clusters may be left without a way on. */
  readonly acceptStranding: boolean;
  readonly now: Date;
}

export type Rollback =
  | { readonly kind: 'same'; readonly commit: string }
  /** Nothing was written to the branch; `stranding` says whether accepting that would do. */
  | { readonly kind: 'refused'; readonly findings: readonly Finding[]; readonly stranding: boolean }
  | {
      readonly kind: 'proposed';
      readonly commit: string;
      readonly branch: string;
      /** Who is stranded, and everything else that was found. */
      readonly findings: readonly Finding[];
    };

/**
 * Writes the catalog as it was on top of the branch, in a branch of the repository.
 *
 * @throws PipelineError `not-found` for a revision or a catalog that is not there, `usage` for a commit
 *   that the branch never held
 */
export async function rollBackCatalog(repository: Repository, request: RollbackRequest): Promise<Rollback> {
  const { directory, catalog } = request;
  const [base = '', to = ''] = await repository.resolve([request.base, request.to]);
  const restored = await restoreCatalog(repository, { ...request, base, to });
  if (restored.kind !== 'restored') return restored;
  const { commit, findings } = restored;
  const branch = `portolan/rollback-${catalog.replaceAll(/[^\w.-]/g, '-')}-${to.slice(0, 12)}`;
  await makeBranch(repository, directory, { branch, commit });
  return { kind: 'proposed', commit, branch, findings };
}

interface RestoreRequest extends RollbackRequest {
  /** Says which versions files had, where the clone has no history. */
  readonly historyOf?: HistoryOf;
}

export type Restored =
  | Exclude<Rollback, { readonly kind: 'proposed' }>
  | {
      readonly kind: 'restored';
      /** Id of a commit that no ref names. */
      readonly commit: string;
      /** The catalog's folders and files that are as they were. */
      readonly paths: readonly string[];
      readonly findings: readonly Finding[];
    };

/**
 * The catalog as it was, as a commit on top of the branch, checked from the state that is now.
 *
 * @param request with ids of commits that have been brought
 * @throws PipelineError as {@link rollBackCatalog}
 */
export async function restoreCatalog(repository: Repository, request: RestoreRequest): Promise<Restored> {
  const { directory, catalog, now, base, to, historyOf } = request;
  if (!(await isAncestor(repository, to, base))) {
    throw new PipelineError('usage', `${to} is not in the history of ${base}`, {
      hint: 'use a commit of the branch: git log --first-parent',
    });
  }
  const { policy } = await policyOrLayoutAt(repository, base);
  if (!policy) throw new PipelineError('usage', `cannot read the policy at ${base}`);
  const paths = await placesOf(repository, [base, to], { policy, catalog });
  const message = `${rollbackTitle(catalog, to)}\n\nRestores the catalog to commit ${to}.`;
  const time = Math.floor(now.getTime() / 1000);
  const commit = await replacePaths(repository, { directory, base, from: to, paths, message, time });
  if (commit === base) return { kind: 'same', commit: base };
  const today = now.toISOString().slice(0, 10);
  const past = historyOf ? { historyOf } : {};
  const report = await checkPullRequest(repository, {
    base,
    head: commit,
    ancestor: base,
    today,
    findsLayout: true,
    ...past,
  });
  const errors = report.findings.filter(({ severity }) => severity === 'error');
  const others = errors.filter(({ rule }) => !COMPARING.has(rule));
  if (others.length > 0 || (errors.length > 0 && !request.acceptStranding)) {
    return { kind: 'refused', findings: report.findings, stranding: others.length === 0 };
  }
  return { kind: 'restored', commit, paths, findings: report.findings };
}

/** What the change is called. */
export function rollbackTitle(catalog: string, to: string): string {
  return `Roll ${catalog} back to ${to.slice(0, 12)}`;
}

/**
 * The catalog's folders and files, in either of the commits: what only one of them has comes back, or goes. A composed package
 * has no file: its folder of bundle directories stands for it.
 */
async function placesOf(
  repository: Repository,
  commits: readonly string[],
  { policy, catalog }: { readonly policy: Policy; readonly catalog: string },
): Promise<string[]> {
  const places = new Set<string>();
  for (const commit of commits) {
    const units = await catalogUnits(repository.objects, commit, policy.layout);
    for (const { root, catalog: name, composed } of units.values()) {
      if (name === catalog) places.add(composed?.folder ?? root);
    }
  }
  if (places.size > 0) return [...places];
  throw new PipelineError('not-found', `neither commit has a catalog ${JSON.stringify(catalog)}`);
}
