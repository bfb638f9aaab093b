/**
 * A directory of the local file system as the source of a catalog.
 */
import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { compareText } from '../catalog/go/text.ts';
import { shellWord } from '../catalog/names.ts';
import {
  type CatalogSource,
  DocumentTooLarge,
  type FilePieces,
  LINK_TO_DIRECTORY,
  LINK_TO_NOTHING,
  type SourceFile,
  type TextPiece,
} from '../catalog/source.ts';
import { PipelineError } from './error.ts';
import { piecesOf, readRegular } from './file-pieces.ts';

/**
 * Files are followed through links, directories are not, as opm does; whatever is
 * neither file nor directory is never opened. Links out of the clone that the directory is in are not followed.
 *
 * @throws PipelineError `not-found` when the directory does not exist, `io` when it cannot be read
 */
export function directorySource(root: string): CatalogSource {
  return { files: () => Promise.resolve(walk(root)) };
}

/**
 * A directory whose files go elsewhere, such as into an image. In a clone, links may not lead out of the clone; anywhere else,
 * they may not lead out of the directory. Such files are listed as unreadable.
 */
export function closedDirectory(root: string): CatalogSource {
  return { files: () => Promise.resolve(walk(root, resolve(root))) };
}

/** What of a folder that somebody sent is read. */
interface WantedFiles {
  readonly isWanted: (path: string) => boolean;
  readonly mostFiles: number;
  /** Of all files together. */
  readonly mostBytes: number;
}

/**
 * Reads files of a folder that somebody sent, such as a must-gather, in the order of their paths.
 *
 * @throws PipelineError `too-large`; `io` for a wanted file that cannot be read, such as a pipe or a link to nothing
 */
export async function* readFolder(
  directory: string,
  { isWanted, mostFiles, mostBytes }: WantedFiles,
): AsyncGenerator<{ readonly path: string; readonly bytes: Uint8Array }> {
  const wanted = walk(directory)
    .filter(({ path }) => isWanted(path))
    .sort((a, b) => compareText(a.path, b.path));
  const tooLarge = (what: string): PipelineError =>
    new PipelineError('too-large', `${directory} has more than ${what} of Kubernetes objects`, {
      hint: 'name the folder with the namespaces and cluster-scoped-resources of one cluster',
    });
  if (wanted.length > mostFiles) throw tooLarge(`${mostFiles} files`);
  let left = mostBytes;
  for (const { path, unreadable } of wanted) {
    const full = join(directory, path);
    if (unreadable !== undefined) throw new PipelineError('io', `${full} is ${unreadable}`);
    // Of the size alone: the file is not opened here.
    left -= filePieces(full).size;
    if (left < 0) throw tooLarge(`${mostBytes} bytes`);
    yield { path, bytes: readFileBytes(full) };
  }
}

/**
 * The files below a directory, in no order that callers may rely on. Folders behind links are not entered.
 *
 * @param bound what no link may lead out of, where there is no clone
 */
function walk(root: string, bound?: string): SourceFile[] {
  refuseLinkOut(root);
  const clones = clonesOf(resolve(root));
  const files: SourceFile[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of list(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else files.push(fileAt(path, { full: join(root, path), entry, clones, bound }));
    }
  }
  return files;
}

/**
 * What is in a folder that somebody named, or that a clone has.
 *
 * @throws PipelineError `not-found`, `io`, or `usage` where a link leads out of the clone
 */
export function entriesIn(folder: string): Dirent[] {
  refuseLinkOut(folder);
  return list(folder);
}

/** What is in a folder. @throws PipelineError `not-found`, also for a file, or `io` */
function list(folder: string): Dirent[] {
  try {
    // Node's own error for a file has no hint.
    if (!statSync(folder).isDirectory()) {
      throw new PipelineError('not-found', `${folder} is not a directory`, {
        hint: `use the directory that contains it: ${dirname(folder)}`,
      });
    }
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw fileError(error, folder);
  }
}

/** What a directory says of something in it. */
interface Listed {
  /** Its path, with that of the directory. */
  readonly full: string;
  readonly entry: Dirent | Stats;
  /** The clones that it is in, as {@link clonesOf} gives them. */
  readonly clones: readonly string[];
  /** What no link may lead out of, where there is no clone. */
  readonly bound?: string | undefined;
}

/** A file of a directory as a source reads it. */
function fileAt(path: string, listed: Listed): SourceFile {
  const { full } = listed;
  const unreadable = whyUnreadable(listed);
  return {
    path,
    ...(unreadable === undefined ? {} : { unreadable }),
    read: () => readFileBytes(full),
    readPieces: () => filePieces(full),
  };
}

/** Whether a directory is at a path, or a link to one; not for a file, nor where nothing can be seen. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Whether a directory is at a path, which must exist. @throws PipelineError `not-found` or `io`, unlike {@link isDirectory} */
export function isFolder(path: string): boolean {
  return withFileErrors(path, () => statSync(path).isDirectory());
}

/**
 * A file in pieces.
 *
 * @throws PipelineError `not-found` or `io`, also while pieces are read
 */
export function filePieces(path: string): FilePieces {
  return withFileErrors(path, () => ({ size: statSync(path).size, pieces: readable(path) }));
}

/** The pieces of a file. @throws PipelineError, or DocumentTooLarge as it came: loading reports that as a finding */
function* readable(path: string): Generator<TextPiece | Uint8Array> {
  try {
    yield* piecesOf(path);
  } catch (error) {
    throw error instanceof DocumentTooLarge ? error : fileError(error, path);
  }
}

/**
 * Why a file in a folder must not be opened; undefined for a good one, and for none.
 *
 * @param bound what no link may lead out of, where there is no clone
 */
export function fileDefect(path: string, bound?: string): string | undefined {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry && whyUnreadable({ full: path, entry, clones: clonesOf(resolve(path)), bound });
}

/** Why a file must not be opened, in words; undefined if it may. */
function whyUnreadable({ full, entry, clones, bound }: Listed): string | undefined {
  if (entry.isFile()) return undefined;
  if (!entry.isSymbolicLink()) return 'neither a file nor a directory';
  const target = targetOf(full);
  if (!target) return LINK_TO_NOTHING;
  if (clones.some((clone) => linkOut(clone, full) !== undefined)) return 'a link out of the clone';
  // In a clone, a link may lead to its other folders: all of that was committed together.
  const isBound = bound !== undefined && clones.length === 0;
  if (isBound && linkOut(bound, full) !== undefined) return 'a link out of the directory';
  if (target.isFile()) return undefined;
  return target.isDirectory() ? LINK_TO_DIRECTORY : 'a link to something that is not a file';
}

/**
 * The clones that a path is in, the innermost first. Links are not resolved: a path that leads through a link into another clone
 * is in the clone with the link, too.
 */
function clonesOf(path: string): string[] {
  const folders = [path];
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) folders.push(dirname(folder));
  return folders.filter((folder) => existsSync(join(folder, '.git')));
}

/**
 * The link by which a path in a clone leads out of the clone; undefined where it stays in it.
 *
 * @param target need not exist: then its nearest folder that does counts
 * @returns the link's path in the clone
 */
export function linkOut(clone: string, target: string): string | undefined {
  let place = resolve(target);
  // A link to nothing does not exist for Node, but writing to it makes a file elsewhere.
  while (!existsSync(place) && !isLink(place)) place = dirname(place);
  const top = realpathSync(clone);
  if (isInside(place, top)) return undefined;
  const names = relative(clone, place).split(sep);
  // `a/b/c` gives `a`, `a/b` and `a/b/c`: the first one outside is the link.
  const paths = names.map((_, i) => join(...names.slice(0, i + 1)));
  return paths.find((path) => !isInside(join(clone, path), top));
}

/** Whether a path is in a clone once its links are resolved; a link to nothing is not. @param top with its links resolved */
function isInside(place: string, top: string): boolean {
  const real = existsSync(place) ? realpathSync(place) : undefined;
  // `.git` counts as outside: the configuration of a clone may have a token.
  return real === top || (real !== undefined && isIn(real, top) && !isIn(real, join(top, '.git')));
}

/**
 * Refuses a folder or file of a clone to which a symbolic link leads out of the clone: a committed link must not make a
 * command read or change what else the machine has. A place outside of any clone is what a user named.
 *
 * @throws PipelineError `usage`
 */
export function refuseLinkOut(folder: string): void {
  for (const top of clonesOf(resolve(folder))) {
    const from = linkOut(top, folder);
    if (from === undefined) continue;
    const message = `${from} leads out of the clone through a symbolic link: nothing is read or written`;
    throw new PipelineError('usage', message, {
      hint: `to use what it leads to, name that; else ${replaceLink(from)}`,
    });
  }
}

/** What to do about a link that Portolan does not follow. */
export function replaceLink(from: string): string {
  return `replace the link by what is to be there: rm ${shellWord(from)}`;
}

/** Whether a path is a folder or below it, by their names alone. */
function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}

/** Whether a symbolic link is at a path; not for a path at which nothing is. */
function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

/** What a link leads to; undefined for nothing, in a circle or for who may not look. */
export function targetOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The text of one file. Bytes that are not UTF-8 become U+FFFD. @throws PipelineError `not-found` or `io` */
export function readText(path: string): string {
  // A file may be larger than Node's longest string.
  return withFileErrors(path, () => new TextDecoder().decode(readFileBytes(path)));
}

/**
 * The bytes of a catalog, template or configuration that a command line names: a clone's link must not make them another
 * file of the machine.
 *
 * @throws PipelineError `not-found` or `io`, or `usage` where a link leads out of the clone
 */
export function readContent(path: string): Uint8Array {
  refuseLinkOut(path);
  return readFileBytes(path);
}

/** The bytes of one file. @throws PipelineError `not-found` or `io` */
export function readFileBytes(path: string): Uint8Array {
  return withFileErrors(path, () => readRegular(path));
}

/** Does something with a file. @throws PipelineError that names the file */
export function withFileErrors<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw fileError(error, path);
  }
}

/** What the operating system says, as a PipelineError with the path in it; one that is a PipelineError already stays. */
export function fileError(error: unknown, path: string): PipelineError {
  if (error instanceof PipelineError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = FILE_ERRORS.get(code) ?? (error instanceof Error ? error.message : String(error));
  return new PipelineError(
    code === 'ENOENT' || code === 'ENOTDIR' ? 'not-found' : 'io',
    `${path}: ${message}`,
    {
      cause: error,
    },
  );
}

/** What people read instead of Node's own messages, which name the system call. */
const FILE_ERRORS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'no such file or directory'],
  ['ENOTDIR', 'not a directory'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'operation not permitted'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'no space left on the device'],
  ['EDQUOT', 'the quota of the disk is used up'],
  ['EFBIG', 'file too large'],
  ['EISDIR', 'is a directory'],
  ['ENOTEMPTY', 'the directory is not empty'],
]);
