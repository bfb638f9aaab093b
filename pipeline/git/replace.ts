/** A commit on top of another one in which some paths are as a third one has them; no work tree is touched. */
import { shellWord } from '../../catalog/names.ts';
import { PipelineError } from '../error.ts';
import { UNWRITABLE } from './objects.ts';
import { type GitRun, runGit } from './process.ts';
import type { Repository } from './repository.ts';
import { whyUnreadable } from './source.ts';
import { entryAt, isTree, TREE_MODE, typeOfMode } from './tree.ts';

interface ReplaceRequest {
  /** The directory of the repository that the commit is written to. */
  readonly directory: string;
  /** Id of the parent. */
  readonly base: string;
  /** Id of the commit that the paths are taken from. */
  readonly from: string;
  /** Files and folders; one that `from` lacks is removed. */
  readonly paths: readonly string[];
  readonly message: string;
  /** Seconds since 1970. */
  readonly time: number;
}

/**
 * Writes the commit; no ref names it.
 *
 * @returns its id; that of the base when nothing is different
 * @throws PipelineError `git`, `not-found`
 */
export async function replacePaths(repository: Repository, request: ReplaceRequest): Promise<string> {
  const { directory, base, from, paths, message, time } = request;
  const run: GitRun = { settings: repository.settings, directory };
  const before = await repository.objects.treeOf(base);
  let tree: string = before;
  for (const path of paths) {
    const entry = await entryAt(repository.objects, from, path);
    tree =
      (await treeWithReplacement(repository, run, { tree, segments: path.split('/'), entry })) ??
      (await emptyTree(run));
  }
  return tree === before ? base : commitOnTop(run, { tree, parent: base, message, time });
}

/**
 * Writes a commit by Portolan; no ref names it.
 *
 * @param content.time in seconds since 1970
 * @returns its id
 * @throws PipelineError `git`
 */
export function commitOnTop(
  run: GitRun,
  content: {
    readonly tree: string;
    readonly parent: string;
    readonly message: string;
    readonly time: number;
  },
): Promise<string> {
  const { tree, parent, message, time } = content;
  const person = `portolan <portolan@localhost> ${time} +0000`;
  const lines = [
    `tree ${tree}`,
    `parent ${parent}`,
    `author ${person}`,
    `committer ${person}`,
    '',
    message,
    '',
  ];
  return writtenId(run, ['hash-object', '-t', 'commit', '-w', '--stdin'], lines.join('\n'));
}

/**
 * Writes a tree in which some files have other texts; those that are there keep their mode. A file without a text is
 * removed.
 *
 * @returns its id; that of the tree itself when there is no text
 * @throws PipelineError `git`, `not-found`
 */
export async function treeWith(
  repository: Repository,
  {
    directory,
    tree,
    texts,
  }: {
    readonly directory: string;
    readonly tree: string;
    readonly texts: ReadonlyMap<string, string | undefined>;
  },
): Promise<string> {
  const run: GitRun = { settings: repository.settings, directory };
  let next = tree;
  for (const [path, text] of texts) {
    const standing = await entryAt(repository.objects, next, path);
    // A file keeps its mode; in place of a link or submodule, the text is a file.
    const mode = standing && whyUnreadable(standing.mode) === undefined ? standing.mode : '100644';
    const id = text === undefined ? undefined : await writtenId(run, ['hash-object', '-w', '--stdin'], text);
    const entry = id === undefined ? undefined : { mode, id };
    next =
      (await treeWithReplacement(repository, run, { tree: next, segments: path.split('/'), entry })) ??
      (await emptyTree(run));
  }
  return next;
}

interface Replacement {
  readonly tree: string | undefined;
  readonly segments: readonly string[];
  readonly entry: { readonly mode: string; readonly id: string } | undefined;
}

/** A tree with one path replaced, added or removed. @returns the new tree; undefined if nothing is left in it */
async function treeWithReplacement(
  repository: Repository,
  run: GitRun,
  { tree, segments, entry }: Replacement,
): Promise<string | undefined> {
  const [name = '', ...rest] = segments;
  const entries = tree === undefined ? [] : await repository.objects.tree(tree);
  const standing = entries.find((one) => one.name === name);
  const next = rest.length === 0 ? entry : await replaceInside(repository, run, { standing, rest, entry });
  const siblings = entries.filter((one) => one.name !== name);
  // Their names were read with marks in place of bytes, and would be written with the marks.
  if (siblings.some((one) => one.name.includes(UNWRITABLE)))
    throw new PipelineError(
      'usage',
      `cannot write beside ${JSON.stringify(name)}: a name there is not UTF-8`,
    );
  const all = next ? [...siblings, { name, ...next }] : siblings;
  if (all.length === 0) return undefined;
  // mktree sorts as git does; what is beside may not have been fetched.
  const input = all.map((one) => `${one.mode} ${typeOfMode(one.mode)} ${one.id}\t${one.name}\0`);
  return writtenId(run, ['mktree', '-z', '--missing'], input.join(''));
}

interface Inside {
  readonly standing: { readonly mode: string; readonly id: string } | undefined;
  readonly rest: readonly string[];
  readonly entry: Replacement['entry'];
}

/**
 * The folder of a path with the rest of the path replaced in it; undefined if nothing is left in the folder.
 */
async function replaceInside(repository: Repository, run: GitRun, { standing, rest, entry }: Inside) {
  const tree = standing && isTree(standing.mode) ? standing.id : undefined;
  const id = await treeWithReplacement(repository, run, { tree, segments: rest, entry });
  return id === undefined ? undefined : { mode: TREE_MODE, id };
}

function emptyTree(run: GitRun): Promise<string> {
  return writtenId(run, ['mktree', '-z'], '');
}

/** The id of the object that a git command writes and prints. */
async function writtenId(run: GitRun, parameters: readonly string[], input: string): Promise<string> {
  const { output } = await runGit({ ...run, input }, parameters);
  const id = output.toString('utf8').trim();
  if (/^[0-9a-f]{40,64}$/.test(id)) return id;
  throw new PipelineError('git', `git ${parameters[0]} did not write an object`);
}

/**
 * Makes a branch that must not be there.
 *
 * @throws PipelineError `conflict` when it is, and names another commit
 */
export async function makeBranch(
  repository: Repository,
  directory: string,
  { branch, commit }: { readonly branch: string; readonly commit: string },
): Promise<void> {
  const run = { settings: repository.settings, directory, accept: [0, 1, 128] };
  const ref = `refs/heads/${branch}`;
  const { code } = await runGit(run, ['update-ref', ref, commit, '0'.repeat(commit.length)]);
  if (code === 0) return;
  const { output } = await runGit(run, ['rev-parse', '--verify', '--quiet', ref]);
  if (output.toString('utf8').trim() === commit) return;
  throw new PipelineError('conflict', `cannot create the branch ${branch}`, {
    hint: `if the branch is an older proposal, delete it: git branch -D ${shellWord(branch)}`,
  });
}
