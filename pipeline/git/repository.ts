/**
 * A repository's objects, and only its objects.
 *
 * Everything is read through a git directory of our own that borrows the repository's
 * object store: no hook, filter, merge driver, replacement, graft or remote of the
 * repository takes part, and what a merge writes does not land in it.
 */
import { existsSync, lstatSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PipelineError } from '../error.ts';
import { readRegular } from '../file-pieces.ts';
import { temporaryFolder } from '../write.ts';
import { BatchProcess } from './cat-file.ts';
import { ObjectReader } from './objects.ts';
import { type GitAnswer, type GitSettings, runGit } from './process.ts';

export interface Repository {
  readonly settings: GitSettings;
  readonly objects: ObjectReader;
  /** The git directory that borrows the objects. */
  readonly scratch: string;
  /** Whether the history ends where a shallow clone was cut. */
  readonly shallow: boolean;
  /**
   * Ids of the commits that revisions (`main`, `HEAD~1`, an id) name.
   *
   * @throws PipelineError `not-found`
   */
  resolve(revisions: readonly string[]): Promise<string[]>;
  /** Brings commits that the remote has, without history or files; nothing where there is no remote. */
  bring(commits: readonly string[]): Promise<void>;
  /** Brings commits with all that led to them, but no files; nothing where there is no remote. */
  bringHistory(commits: readonly string[]): Promise<void>;
  /** Brings trees with so many levels of folders, themselves the first; nothing where there is no remote. */
  bringTrees(trees: readonly string[], levels: number): Promise<void>;
  /**
   * Finds out whether the first of two commits is an ancestor of the second. Undefined where git can say so from
   * what is here.
   *
   * @throws PipelineError `not-found` for a commit that the remote does not have
   */
  readonly isAncestor?: (older: string, newer: string) => Promise<boolean>;
  /** Merges two commits where not all objects are here; `mergeTrees` in `merge.ts` does when left out. */
  readonly mergeTrees?: (base: string, head: string) => Promise<GitAnswer>;
  /** Ends the reading process and removes what was written. */
  close(): Promise<void>;
}

/**
 * Opens the repository that `directory` is in.
 *
 * @throws PipelineError `not-found` when there is none, `git` when git is missing or too old
 */
export async function openRepository(directory: string, settings: GitSettings = {}): Promise<Repository> {
  const place = await locate(directory, settings);
  const scratch = temporaryFolder('git');
  try {
    borrow(scratch, place);
  } catch (error) {
    rmSync(scratch, { recursive: true, force: true });
    throw error;
  }
  const objects = new ObjectReader(new BatchProcess({ settings, directory: scratch, bare: true }));
  return {
    settings,
    objects,
    scratch,
    shallow: place.shallow !== undefined,
    resolve: async (revisions) =>
      (await areCommits(objects, place, revisions))
        ? [...revisions]
        : resolveRevisions(directory, settings, revisions),
    bring: () => Promise.resolve(),
    bringHistory: () => Promise.resolve(),
    bringTrees: () => Promise.resolve(),
    close: async () => {
      await objects.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** Opens a repository for some work, and closes it after. @throws PipelineError as {@link openRepository} and the work */
export async function withRepository<T>(
  directory: string,
  settings: GitSettings,
  work: (repository: Repository) => Promise<T>,
): Promise<T> {
  const repository = await openRepository(directory, settings);
  try {
    return await work(repository);
  } finally {
    await repository.close();
  }
}

/** The top of the work tree that a directory is in; the directory itself where there is none. */
export async function workTreeOf(directory: string, settings: GitSettings): Promise<string> {
  if (existsSync(join(directory, '.git')) || !existsSync(directory)) return directory;
  const { code, output } = await runGit({ settings, directory, accept: [0, 128] }, [
    'rev-parse',
    '--show-toplevel',
  ]);
  const top = output.toString('utf8').replace(/\n$/, '');
  return code === 0 && top !== '' ? top : directory;
}

interface Place {
  readonly objects: string;
  /** Text of the file that names the commits at which the history is cut. */
  readonly shallow: string | undefined;
  readonly format: string;
}

/** Where a clone has its objects. @throws PipelineError `not-found` outside of a clone */
async function locate(directory: string, settings: GitSettings): Promise<Place> {
  if (!existsSync(directory)) throw new PipelineError('not-found', `${directory}: no such file or directory`);
  const plain = plainPlace(directory);
  if (plain) return plain;
  const parameters = ['rev-parse', '--path-format=absolute', '--show-object-format'];
  const { code, output } = await runGit({ settings, directory, accept: [0, 128, 129] }, [
    ...parameters,
    '--git-path',
    'objects',
    '--git-path',
    'shallow',
  ]);
  // One answer on each line; a path with a line break, which leaves more lines, is refused below.
  const [format = '', objects = '', shallow = '', ...rest] = output.toString('utf8').split('\n');
  if (code !== 0) {
    throw new PipelineError('not-found', `${directory} is not in a git repository`, {
      hint: 'run the command in a clone of your catalog repository',
    });
  }
  if (rest.join('') !== '' || !objects.startsWith('/') || !existsSync(objects)) {
    throw new PipelineError('git', `cannot find the git object store of ${directory}`);
  }
  return {
    format,
    objects,
    shallow: existsSync(shallow) ? readRegular(shallow).toString('utf8') : undefined,
  };
}

/**
 * The object store of a directory with the layout of `git init`, found without a process. Undefined for every other
 * layout (a subdirectory, a linked work tree, SHA-256, a bare repository), of which git knows more.
 */
function plainPlace(directory: string): Place | undefined {
  const folder = join(realpathSync(directory), '.git');
  const at = (name: string): string => join(folder, name);
  const isFolder = (path: string): boolean =>
    lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  // `borrow` writes the path as a line. What git itself would not take for a repository is for git to refuse.
  if (folder.includes('\n') || ![folder, at('objects'), at('refs')].every(isFolder)) return undefined;
  if (['HEAD', 'config'].some((name) => !existsSync(at(name))) || existsSync(at('commondir')))
    return undefined;
  if (!/^ref: refs\/|^[0-9a-f]{40}\n/.test(readRegular(at('HEAD')).toString('utf8'))) return undefined;
  // An extension may change the format, and an included file may have one.
  const config = readRegular(at('config')).toString('utf8');
  if (!/^[ \t]*repositoryformatversion = 0$/m.test(config) || /extensions|include/i.test(config))
    return undefined;
  const shallow = existsSync(at('shallow')) ? readRegular(at('shallow')).toString('utf8') : undefined;
  return { format: 'sha1', objects: at('objects'), shallow };
}

/** Makes a repository that reads the objects of another one, and writes its own beside them. */
function borrow(scratch: string, { objects, shallow, format }: Place): void {
  for (const folder of ['objects/info', 'objects/pack', 'refs']) {
    mkdirSync(join(scratch, folder), { recursive: true });
  }
  const extensions = format === 'sha1' ? '' : `[extensions]\n\tobjectFormat = ${format}\n`;
  const configuration = `[core]\n\trepositoryFormatVersion = ${extensions === '' ? 0 : 1}\n\tbare = true\n`;
  writeFileSync(join(scratch, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(join(scratch, 'config'), configuration + extensions);
  writeFileSync(join(scratch, 'objects/info/alternates'), `${objects}\n`);
  if (shallow !== undefined) writeFileSync(join(scratch, 'shallow'), shallow);
}

/** Whether each revision is the full id of a commit that is here: then no name has to be looked up. */
async function areCommits(
  objects: ObjectReader,
  { format }: Place,
  revisions: readonly string[],
): Promise<boolean> {
  const id = format === 'sha1' ? /^[0-9a-f]{40}$/ : /^[0-9a-f]{64}$/;
  if (!revisions.every((revision) => id.test(revision))) return false;
  const found = await Promise.all(revisions.map((revision) => objects.info(revision)));
  return found.every((object) => object?.type === 'commit');
}

/** The ids of revisions. Only this uses the repository's own git directory, because references are there. */
async function resolveRevisions(
  directory: string,
  settings: GitSettings,
  revisions: readonly string[],
): Promise<string[]> {
  for (const revision of revisions) {
    if (revision === '' || /[\n\0]/.test(revision)) {
      throw new PipelineError('not-found', `${JSON.stringify(revision)} is not a commit in this clone`);
    }
  }
  const names = revisions.map((revision) => [revision, ...fullNames(revision)]);
  // git answers one line for each name, in their order.
  const input = names.flat().map((name) => `${name}^{commit}\n`);
  const parameters = ['cat-file', '--batch-check=%(objectname) %(objecttype)'];
  const { output } = await runGit({ settings, directory, input: input.join('') }, parameters);
  const lines = output.toString('utf8').split('\n');
  return names.map(([revision = '', ...full]) => {
    const [id, ...ids] = lines
      .splice(0, full.length + 1)
      .map((line) => /^([0-9a-f]{40,64}) commit$/.exec(line)?.[1]);
    if (id === undefined) {
      throw new PipelineError('not-found', `${JSON.stringify(revision)} is not a commit in this clone`, {
        hint:
          revision === 'HEAD'
            ? 'the branch has no commits yet: commit your catalogs first'
            : 'use an existing branch, tag or commit; run git fetch to update the clone',
      });
    }
    const others = full.filter((_, i) => ids[i] !== undefined);
    // What looks like an id must not be a reference as well; other names clash if they lead to different commits.
    if (isCommitId(revision) ? others.length > 0 : new Set(ids.filter(Boolean)).size > 1)
      throw ambiguous(revision, others);
    return id;
  });
}

/**
 * All references that a name may mean. git prefers a tag to a branch, and any reference to the short id of a commit; a
 * fetch from a fork brings the fork's tags. None for full names, and for `HEAD` and its like, which mean one thing.
 *
 * @see https://git-scm.com/docs/gitrevisions
 */
function fullNames(revision: string): string[] {
  if (/^(?:refs\/|(?:(?:[A-Z]+_)?HEAD|@)(?:$|[~^:]|@?\{))/.test(revision)) return [];
  return [
    ...['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'].map((prefix) => `${prefix}${revision}`),
    `refs/remotes/${revision}/HEAD`,
  ];
}

/** Whether a revision may be the id of a commit, whole or short: `2328ac1`, `2328ac1~2`, but not the branch `2328ac1-fix`. */
function isCommitId(revision: string): boolean {
  return /^[0-9a-f]{7,}(?![\w./-])/.test(revision);
}

/** The error for a revision that may mean several commits, with the names to use instead. */
function ambiguous(revision: string, full: readonly string[]): PipelineError {
  const [one = ''] = full;
  const message = isCommitId(revision)
    ? `${JSON.stringify(revision)} may be a commit, and is also the name of ${one}`
    : `${JSON.stringify(revision)} is ambiguous: ${full.join(' and ')} are different commits`;
  const hint = isCommitId(revision)
    ? `use the whole id, or ${one}`
    : `use the whole name: ${full.join(' or ')}`;
  return new PipelineError('conflict', message, { hint });
}
