/**
 * Two trees compared, by ids: what is equal is never entered. Renames are not looked
 * for: a file that moved is one removed and one added, so nobody's loss hides in it.
 */
import { compareText } from '../../catalog/go/text.ts';
import { PipelineError } from '../error.ts';
import type { ObjectReader, TreeEntry } from './objects.ts';

/** A file's content in one of the trees. */
export interface TreeFile {
  /** Octal, as git writes it. */
  readonly mode: string;
  readonly id: string;
}

export interface PathChange {
  /** Path from the root, with forward slashes. */
  readonly path: string;
  /** Undefined for a path that was added. */
  readonly before: TreeFile | undefined;
  /** Undefined for a path that was removed. */
  readonly after: TreeFile | undefined;
}

export interface TreeDiff {
  /** In byte order of the paths. */
  readonly changes: readonly PathChange[];
  /** False when there are more changes than the limit; then `changes` are some of them. */
  readonly complete: boolean;
}

export const TREE_MODE = '40000';
export const LINK_MODE = '120000';
export const SUBMODULE_MODE = '160000';

/** Folders that one comparison or listing enters at most: beyond it a tree was made to exhaust us. */
const MOST_FOLDERS = 100_000;
/** Folders that are asked for at once. */
const TOGETHER = 256;
/** Names in a path at most. */
const MOST_DEPTH = 128;

interface Pair {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * Compares two trees (or the trees of two commits).
 *
 * @param most how many changed paths are listed at most
 * @throws PipelineError `not-found` for a tree that this clone does not have, `too-large` for a tree bomb
 */
export async function diffTrees(
  objects: ObjectReader,
  { before, after }: { readonly before: string; readonly after: string },
  most: number,
): Promise<TreeDiff> {
  const changes: PathChange[] = [];
  const folders: Pair[] = before === after ? [] : [{ path: '', before, after }];
  let entered = 0;
  while (folders.length > 0 && changes.length <= most) {
    const batch = folders.splice(-TOGETHER);
    entered += batch.length;
    if (entered > MOST_FOLDERS) throw tooMany();
    const listings = await Promise.all(batch.map((pair) => bothListings(objects, pair)));
    for (const [i, pair] of batch.entries()) {
      const [old = [], now = []] = listings[i] ?? [];
      compareFolder(pair.path, old, now, { folders, changes });
    }
  }
  changes.sort((a, b) => compareText(a.path, b.path));
  return { changes: changes.slice(0, most), complete: changes.length <= most };
}

function bothListings(objects: ObjectReader, { before, after }: Pair): Promise<(readonly TreeEntry[])[]> {
  const list = (id: string | undefined): Promise<readonly TreeEntry[]> =>
    id === undefined ? Promise.resolve([]) : objects.tree(id);
  return Promise.all([list(before), list(after)]);
}

interface Found {
  readonly folders: Pair[];
  readonly changes: PathChange[];
}

/** Adds what differs in a folder to `found`. */
function compareFolder(
  path: string,
  old: readonly TreeEntry[],
  now: readonly TreeEntry[],
  found: Found,
): void {
  const rest = new Map(now.map((entry) => [entry.name, entry]));
  for (const before of old) {
    const after = rest.get(before.name);
    rest.delete(before.name);
    if (after?.id !== before.id || after.mode !== before.mode) compareEntry(path, before, after, found);
  }
  for (const after of rest.values()) compareEntry(path, undefined, after, found);
}

/**
 * Adds a changed file to the changes, and a changed folder to those that are still to be compared. A name may be both,
 * if a file becomes a folder.
 */
function compareEntry(
  folder: string,
  before: TreeEntry | undefined,
  after: TreeEntry | undefined,
  { folders, changes }: Found,
): void {
  const path = joinPath(folder, (after ?? before)?.name ?? '');
  const tree = (entry: TreeEntry | undefined): string | undefined =>
    entry && isTree(entry.mode) ? entry.id : undefined;
  const file = (entry: TreeEntry | undefined): TreeFile | undefined =>
    entry && !isTree(entry.mode) ? { mode: entry.mode, id: entry.id } : undefined;
  const subtree = { path, before: tree(before), after: tree(after) };
  if (subtree.before !== subtree.after) {
    checkDepth(path);
    folders.push(subtree);
  }
  const change = { path, before: file(before), after: file(after) };
  if (change.before || change.after) changes.push(change);
}

/** A file of a tree with its path. */
export interface ListedFile extends TreeFile {
  readonly path: string;
}

/**
 * Every file below a tree, in no particular order.
 *
 * @throws PipelineError `too-large` for a tree bomb
 */
export async function listFiles(objects: ObjectReader, tree: string): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  const folders = [{ path: '', id: tree }];
  let entered = 0;
  while (folders.length > 0) {
    const batch = folders.splice(-TOGETHER);
    entered += batch.length;
    if (entered > MOST_FOLDERS || files.length > MOST_FILES) throw tooMany();
    const listings = await Promise.all(batch.map(({ id }) => objects.tree(id)));
    for (const [i, folder] of batch.entries()) {
      for (const { name, mode, id } of listings[i] ?? []) {
        const path = joinPath(folder.path, name);
        if (!isTree(mode)) files.push({ path, mode, id });
        else {
          checkDepth(path);
          folders.push({ path, id });
        }
      }
    }
  }
  return files;
}

/** The files of a folder with their paths in the repository; of a file, itself. */
export async function filesBelow(
  objects: ObjectReader,
  { path, mode, id }: ListedFile,
): Promise<ListedFile[]> {
  if (!isTree(mode)) return [{ path, mode, id }];
  return (await listFiles(objects, id)).map((file) => ({ ...file, path: joinPath(path, file.path) }));
}

/** Most files that are listed of a tree. */
const MOST_FILES = 400_000;

/** What stands at a path, or undefined. The empty path is the root itself. */
export async function entryAt(
  objects: ObjectReader,
  root: string,
  path: string,
): Promise<TreeFile | undefined> {
  let at: TreeFile = { mode: TREE_MODE, id: root };
  for (const name of path === '' ? [] : path.split('/')) {
    if (!isTree(at.mode)) return undefined;
    const found = (await objects.tree(at.id)).find((entry) => entry.name === name);
    if (!found) return undefined;
    at = found;
  }
  return at;
}

/** Whether a mode is a folder's; old tools wrote it with a zero in front. */
export function isTree(mode: string): boolean {
  return mode === TREE_MODE || mode === `0${TREE_MODE}`;
}

/** The type of the object that an entry of a mode names. */
export function typeOfMode(mode: string): 'tree' | 'commit' | 'blob' {
  if (isTree(mode)) return 'tree';
  return mode === SUBMODULE_MODE ? 'commit' : 'blob';
}

export function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function checkDepth(path: string): void {
  if (path.split('/').length > MOST_DEPTH) throw tooMany();
}

function tooMany(): PipelineError {
  return new PipelineError('too-large', 'the repository has too many folders for a catalog repository');
}
