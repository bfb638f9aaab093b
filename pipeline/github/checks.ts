/** Checks of others that the policy waits for: only by the app, and the workflow, that it names. */

import type { CheckState, RepositoryName } from '../forge/forge.ts';
import type { RequiredCheck } from '../policy/policy.ts';
import { allPages, type GitHub } from './client.ts';

/** Conclusions with which GitHub takes a required check for passed. */
const PASSED: ReadonlySet<string | null> = new Set(['success', 'neutral', 'skipped']);

/** Looks required checks up at a commit; nothing is asked when there are none. */
export async function readRequiredChecks(
  github: GitHub,
  repository: RepositoryName,
  { commit, required }: { readonly commit: string; readonly required: readonly RequiredCheck[] },
): Promise<CheckState[]> {
  if (required.length === 0) return [];
  const runs = await allPages(
    github.paginate(github.rest.checks.listForRef, {
      ...repository,
      ref: commit,
      filter: 'latest',
      per_page: 100,
    }),
  );
  const workflows = required.some(({ workflow }) => workflow !== undefined)
    ? await workflowsAt(github, repository, commit)
    : new Map<number, string>();
  return required.map((check) => {
    const named = runs.filter(({ name, head_sha: head }) => name === check.name && head === commit);
    const own = named.filter(
      ({ app, check_suite: suite }) =>
        Number(app?.id) === check.app &&
        (check.workflow === undefined || workflows.get(Number(suite?.id)) === check.workflow),
    );
    return stateOf(check, own, named.length > 0);
  });
}

interface Run {
  readonly status: string;
  readonly conclusion: string | null;
}

/**
 * A check may run several times at a commit: one failed run fails it.
 *
 * @param isNamed whether any app has a check of this name at the commit
 */
function stateOf({ name }: RequiredCheck, runs: readonly Run[], isNamed: boolean): CheckState {
  if (runs.length === 0) {
    const why = isNamed ? 'was created by another app than the one in the policy' : 'does not exist yet';
    return { name, state: 'waiting', why };
  }
  if (runs.some(({ status }) => status !== 'completed'))
    return { name, state: 'waiting', why: 'has not finished yet' };
  const bad = runs.find(({ conclusion }) => !PASSED.has(conclusion));
  return bad
    ? { name, state: 'failed', why: `ended with ${bad.conclusion}` }
    : { name, state: 'passed', why: 'has passed' };
}

/** Paths of the workflows that ran at a commit, by check suite. */
async function workflowsAt(
  github: GitHub,
  repository: RepositoryName,
  commit: string,
): Promise<Map<number, string>> {
  const runs = await allPages(
    github.paginate(github.rest.actions.listWorkflowRunsForRepo, {
      ...repository,
      head_sha: commit,
      per_page: 100,
    }),
  );
  return new Map(
    runs.flatMap(({ check_suite_id: suite, path }) =>
      // The path may end with the commit of the workflow.
      suite === undefined ? [] : [[Number(suite), path.replace(/@.*$/, '')] as const],
    ),
  );
}

/**
 * How a check has ended that is known by its name alone: the check runs and the commit status of that name, of which each
 * must have succeeded: one that was skipped has tested nothing. Undefined where there is none.
 */
export async function namedCheck(
  github: GitHub,
  repository: RepositoryName,
  { commit, name }: { readonly commit: string; readonly name: string },
): Promise<'success' | 'pending' | 'failure' | undefined> {
  const at = { ...repository, ref: commit, per_page: 100 };
  const [runs, statuses] = [
    await allPages(
      github.paginate(github.rest.checks.listForRef, { ...at, filter: 'latest', check_name: name }),
    ),
    await allPages(github.paginate(github.rest.repos.listCommitStatusesForRef, at)),
  ];
  const named = runs.filter((run) => run.name === name && run.head_sha === commit);
  // The newest one comes first.
  const status = statuses.find(({ context }) => context === name)?.state;
  const states = [
    ...named.map(({ status: at, conclusion }) => (at === 'completed' ? (conclusion ?? '') : 'pending')),
    ...(status === undefined ? [] : [status]),
  ];
  if (states.length === 0) return undefined;
  if (states.every((state) => state === 'success')) return 'success';
  return states.every((state) => state === 'success' || state === 'pending') ? 'pending' : 'failure';
}
