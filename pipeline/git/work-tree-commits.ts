/** The work tree as a commit, without and with an edit. Both are written to Portolan's own git directory only. */
import { lstatSync, mkdtempSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileError } from '../directory.ts';
import { readRegular } from '../file-pieces.ts';
import { type GitRun, inWorkTree, runGit } from './process.ts';
import { commitOnTop } from './replace.ts';
import type { Repository } from './repository.ts';
import { LINK_MODE } from './tree.ts';

/** What is to stand at paths; undefined for a file that is removed. */
export type EditedFiles = ReadonlyMap<string, string | Uint8Array | undefined>;

interface EditedCommits {
  /** Id of the work tree as it is; that of HEAD where nothing differs. */
  readonly before: string;
  /** Id of its child with the edit; the same where the edit changes nothing. */
  readonly after: string;
}

/**
 * Writes what the work tree has, and what it has after an edit, as commits on top of HEAD. What git ignores is left
 * out, unless it is edited.
 *
 * @param top the top of the work tree; paths are below it
 * @throws PipelineError `not-found` without a commit, `git`, `io`
 */
export async function editedCommits(
  repository: Repository,
  top: string,
  edited: EditedFiles,
): Promise<EditedCommits> {
  const [head = ''] = await repository.resolve(['HEAD']);
  const own = mkdtempSync(join(repository.scratch, 'edit-'));
  const contents = [...edited].map(([path, content], i): PlacedFile => {
    if (content === undefined) return { path };
    const file = join(own, String(i));
    writeFileSync(file, content);
    return { path, file };
  });
  const before = await commitWith(repository, head, await changesOf(repository, { top, own }));
  return { before, after: await commitWith(repository, before, contents) };
}

/** A path, and the file that has what is to stand there; without one, it is removed. */
interface PlacedFile {
  readonly path: string;
  readonly file?: string;
  readonly mode?: string;
}

/** The files of the work tree that differ from HEAD. */
async function changesOf(
  { settings }: Repository,
  { top, own }: { readonly top: string; readonly own: string },
): Promise<PlacedFile[]> {
  const run = await inWorkTree({ settings, directory: top });
  const kinds = ['--cached', '--modified', '--others', '--exclude-standard'];
  // The first compares files with the index, the second the index with HEAD: what is staged is as in the index.
  const listed = await runGit(run, ['ls-files', '-z', '-v', ...kinds]);
  const staged = await runGit(run, ['diff-index', '-z', '--cached', '--name-only', 'HEAD']);
  const paths = [
    ...listed.output
      .toString('utf8')
      .split('\0')
      .flatMap((line) => changedIn(line, top)),
    ...staged.output.toString('utf8').split('\0'),
  ];
  // A folder is another repository.
  const files = [...new Set(paths)].filter((path) => path !== '' && !path.endsWith('/'));
  return files.flatMap((path, i) => placedAt(path, join(top, path), join(own, `copy-${i}`)));
}

/**
 * The path in a line of git that may differ from HEAD: of a file that changed, that is new, or at which git was told not to
 * look. What a sparse checkout leaves out is as HEAD has it.
 */
function changedIn(line: string, top: string): string[] {
  // `TAG PATH`. `H` is as in the index; `S` is left out by a sparse checkout; in lower case, git was told not to look.
  const [tag, path] = [line.slice(0, 1), line.slice(2)];
  if (tag === 'H' || path === '') return [];
  const isAbsent = /^s$/i.test(tag) && !lstatSync(join(top, path), { throwIfNoEntry: false });
  return isAbsent ? [] : [path];
}

/**
 * A file of the work tree at its path in a commit.
 *
 * @param copy where to write a content that git cannot read by its name
 */
function placedAt(path: string, file: string, copy: string): PlacedFile[] {
  try {
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (!found) return [{ path }];
    // git reads a list of names, one on each line, and takes a carriage return at its end as a part of the line's end.
    if (found.isFile() && !/\n|\r$/.test(file)) return [{ path, file }];
    if (!found.isFile() && !found.isSymbolicLink()) return [];
    writeFileSync(copy, found.isFile() ? readRegular(file) : readlinkSync(file));
    return [{ path, file: copy, ...(found.isFile() ? {} : { mode: LINK_MODE }) }];
  } catch (error) {
    throw fileError(error, file);
  }
}

/** A commit with files on top of another one. @returns its id; that of the parent if it has the same files */
async function commitWith(
  { settings, scratch, objects }: Repository,
  parent: string,
  files: readonly PlacedFile[],
): Promise<string> {
  if (files.length === 0) return parent;
  const run: GitRun = { settings, directory: scratch, bare: true };
  const before = await objects.treeOf(parent);
  const blobs = await writeBlobs(run, files);
  // Mode 0 removes a path from the index.
  const entries = files.map(({ path, file, mode = '100644' }) =>
    file === undefined
      ? `0 ${'0'.repeat(parent.length)}\t${path}\0`
      : `${mode} ${blobs.get(file)}\t${path}\0`,
  );
  await runGit(run, ['read-tree', before]);
  await runGit({ ...run, input: entries.join('') }, [
    'update-index',
    '-z',
    '--add',
    '--replace',
    '--index-info',
  ]);
  const { output } = await runGit(run, ['write-tree', '--missing-ok']);
  const tree = output.toString('utf8').trim();
  return tree === before ? parent : commitOnTop(run, { tree, parent, message: 'edit', time: 0 });
}

/** Ids of the contents of files. */
async function writeBlobs(run: GitRun, files: readonly PlacedFile[]): Promise<ReadonlyMap<string, string>> {
  const paths = files.flatMap(({ file }) => file ?? []);
  const { output } = await runGit({ ...run, input: paths.map((path) => `${path}\n`).join('') }, [
    'hash-object',
    '-w',
    '--no-filters',
    '--stdin-paths',
  ]);
  const ids = output.toString('utf8').split('\n');
  return new Map(paths.map((path, i) => [path, ids[i] ?? '']));
}
