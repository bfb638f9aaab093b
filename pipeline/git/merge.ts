/** What the base branch will hold when the pull request is merged. */
import { PipelineError } from '../error.ts';
import { readCommit } from './commit.ts';
import { checkObjectIds } from './objects.ts';
import { type GitAnswer, runGit } from './process.ts';
import type { Repository } from './repository.ts';

export type Merged =
  | { readonly kind: 'merged'; readonly tree: string }
  /** Both sides changed the same lines: no tree to check until somebody resolves it. */
  | { readonly kind: 'conflict'; readonly paths: readonly string[] }
  /** The two have no common ancestor. */
  | { readonly kind: 'unrelated' };

interface MergeRequest {
  /** Id of the base branch's tip. */
  readonly base: string;
  /** Id of the pull request's head commit. */
  readonly head: string;
  /**
   * Id of their common ancestor. Found in the history when undefined; a clone without
   * history needs it (GitHub's compare API names it) and the three commits' trees.
   */
  readonly ancestor?: string;
}

/**
 * Merges base and head without a work tree.
 *
 * @throws PipelineError `not-found` when objects are missing or a shallow clone hides the common ancestor
 */
export async function mergedTree(repository: Repository, request: MergeRequest): Promise<Merged> {
  if (request.ancestor === request.base) {
    // Nothing was merged in the meantime: the merge is what the head has.
    return { kind: 'merged', tree: await repository.objects.treeOf(request.head) };
  }
  const { base, head } =
    request.ancestor === undefined ? request : await withoutHistory(repository, request, request.ancestor);
  if (request.ancestor === undefined) {
    const [ancestor] = await mergeBases(repository, base, head);
    if (ancestor === base) return { kind: 'merged', tree: await repository.objects.treeOf(head) };
    if (ancestor === undefined && repository.shallow) throw tooShallow(base, head);
    if (ancestor === undefined) return { kind: 'unrelated' };
  }
  const { code, output } = await (repository.mergeTrees?.(base, head) ?? mergeTrees(repository, base, head));
  const [tree = '', ...paths] = output.toString('utf8').split('\0');
  if (code === 1) return { kind: 'conflict', paths: paths.filter((path) => path !== '') };
  return { kind: 'merged', tree };
}

/** What git says of the merge of two commits: exit code 1 for a conflict, and `TREE\0PATH\0…` with the paths in conflict. */
export function mergeTrees(
  { settings, scratch }: Repository,
  base: string,
  head: string,
): Promise<GitAnswer> {
  checkObjectIds([base, head]);
  // Where both sides changed a file, its versions are needed that nobody has read yet.
  const run = { settings, directory: scratch, bare: true, remote: true, accept: [0, 1] };
  return runGit(run, ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', base, head]);
}

/** Best common ancestors of two commits; none when the histories do not meet in this clone. */
export async function mergeBases(repository: Repository, a: string, b: string): Promise<string[]> {
  if (await isParent(repository, a, b)) return [a];
  if (await isParent(repository, b, a)) return [b];
  const run = { settings: repository.settings, directory: repository.scratch, bare: true, accept: [0, 1] };
  const { output } = await runGit(run, ['merge-base', '--all', a, b]);
  return output
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}

/** Whether a commit that is here names another one as a parent: most histories need no further look. */
async function isParent({ objects }: Repository, parent: string, commit: string): Promise<boolean> {
  if ((await objects.info(commit))?.type !== 'commit') return false;
  return (await readCommit(objects, commit)).parents.includes(parent);
}

/**
 * Where a commit left a branch: the newest of its ancestors that was the branch's tip, by the first parents of the
 * branch. A common ancestor that came in with a merge was none. Undefined when the two never meet in this clone.
 */
export async function leftBranchAt(
  repository: Repository,
  tip: string,
  commit: string,
): Promise<string | undefined> {
  const run = { settings: repository.settings, directory: repository.scratch, bare: true };
  const parameters = ['rev-list', '--first-parent', '--parents', tip, `^${commit}`];
  const lines = (await runGit(run, parameters)).output.toString('utf8').trimEnd().split('\n');
  // The oldest of the branch's own commits that `commit` lacks: it left the branch at the first parent of that.
  const last = lines.at(-1) ?? '';
  return last === '' ? tip : last.split(' ')[1];
}

/**
 * Whether the first of two commits is an ancestor of the second, or the same. Order is ancestry, not a
 * count of commits, which lies in a shallow clone.
 *
 * @throws PipelineError `not-found` when the clone does not have both, or is cut before it can know
 */
export async function isAncestor(repository: Repository, older: string, newer: string): Promise<boolean> {
  if (older === newer) return true;
  if (repository.isAncestor) return repository.isAncestor(older, newer);
  if (repository.shallow) await repository.bringHistory([older, newer]);
  const run = { settings: repository.settings, directory: repository.scratch, bare: true, accept: [0, 1] };
  for (const id of [older, newer]) {
    if (await repository.objects.info(id)) continue;
    throw new PipelineError('not-found', `commit ${id.slice(0, 12)} is not in this clone`, { hint: DEEPER });
  }
  if (await isParent(repository, older, newer)) return true;
  const { code } = await runGit(run, ['merge-base', '--is-ancestor', older, newer]);
  if (code === 0) return true;
  // If the older one descends from the newer, no history that is missing can change the answer.
  if (!repository.shallow || (await runGit(run, ['merge-base', '--is-ancestor', newer, older])).code === 0) {
    return false;
  }
  throw tooShallow(older, newer);
}

/**
 * Makes two commits with the trees of base and head and the ancestor as their only parent, so that merging needs no more
 * history.
 */
async function withoutHistory(
  repository: Repository,
  { base, head }: MergeRequest,
  ancestor: string,
): Promise<{ base: string; head: string }> {
  const root = await commitTree(repository, ancestor, []);
  const [ours, theirs] = await Promise.all([
    commitTree(repository, base, [root]),
    commitTree(repository, head, [root]),
  ]);
  return { base: ours, head: theirs };
}

/** Writes a commit with a commit's tree and these parents, without a time: the same ones are always the same commit. @returns its id */
async function commitTree(
  repository: Repository,
  commit: string,
  parents: readonly string[],
): Promise<string> {
  const lines = [
    `tree ${await repository.objects.treeOf(commit)}`,
    ...parents.map((parent) => `parent ${parent}`),
    'author portolan <portolan> 0 +0000',
    'committer portolan <portolan> 0 +0000',
    '',
    '',
  ];
  const run = {
    settings: repository.settings,
    directory: repository.scratch,
    bare: true,
    input: lines.join('\n'),
  };
  const { output } = await runGit(run, ['hash-object', '-t', 'commit', '-w', '--stdin']);
  return output.toString('utf8').trim();
}

const DEEPER = 'git fetch --unshallow, or check out with fetch-depth: 0';

function tooShallow(base: string, head: string): PipelineError {
  return new PipelineError(
    'not-found',
    `this shallow clone does not reach the common ancestor of ${base.slice(0, 12)} and ${head.slice(0, 12)}`,
    { hint: DEEPER },
  );
}
