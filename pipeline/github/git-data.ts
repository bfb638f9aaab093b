/**
 * Commits that are written through GitHub's API: no clone is pushed from, and GitHub itself says, and
 * signs, whose commit it is. Nobody names an author: it is whoever's token asks.
 */
import { isUtf8 } from 'node:buffer';
import { PipelineError } from '../error.ts';
import type { RepositoryName } from '../forge/forge.ts';
import { objectId } from '../git/http/pack.ts';
import type { ObjectReader } from '../git/objects.ts';
import { whyUnreadable } from '../git/source.ts';
import { entryAt, isTree, TREE_MODE, type TreeFile, typeOfMode } from '../git/tree.ts';
import { dataOf, type GitHub } from './client.ts';

/** The new content of a path: bytes, an object of the repository, or undefined to remove it. */
export type Content = Uint8Array | TreeFile | undefined;

/** One path of a commit, as it was and as it is to be. */
export interface Placing {
  readonly path: string;
  readonly before: TreeFile | undefined;
  readonly after: TreeFile | undefined;
  /** The bytes of `after`, where the repository may not hold them yet. */
  readonly bytes: Uint8Array | undefined;
}

const PLAIN_MODE = '100644';

/**
 * The changes that give files of a commit new content, by path in byte order; files with that content are left out.
 *
 * @param commit id of a commit that has been brought
 */
export async function placingsOf(
  objects: ObjectReader,
  commit: string,
  files: ReadonlyMap<string, Content>,
): Promise<Placing[]> {
  const placings: Placing[] = [];
  for (const path of [...files.keys()].sort()) {
    const content = files.get(path);
    const before = await entryAt(objects, commit, path);
    const bytes = content instanceof Uint8Array ? content : undefined;
    // A file keeps its mode; in place of a link or submodule, the text is a file.
    const mode = before && whyUnreadable(before.mode) === undefined ? before.mode : PLAIN_MODE;
    const after = content instanceof Uint8Array ? { mode, id: objectId('blob', content, 'sha1') } : content;
    if (before?.id === after?.id && before?.mode === after?.mode) continue;
    placings.push({ path, before, after, bytes });
  }
  return placings;
}

interface WriteRequest {
  /** Id of the commit whose tree is changed. */
  readonly base: string;
  readonly parents: readonly string[];
  readonly placings: readonly Placing[];
  readonly message: string;
}

/** Writes a commit that no ref names; returns its id. @throws PipelineError as the client */
export async function writeCommit(
  github: GitHub,
  repository: RepositoryName,
  { base, parents, placings, message }: WriteRequest,
): Promise<string> {
  const entries = [];
  for (const placing of placings) entries.push(await treeEntry(github, repository, placing));
  const { sha: tree } = await dataOf(
    github.rest.git.createTree({
      ...repository,
      base_tree: base,
      tree: entries,
    }),
  );
  const commit = { ...repository, message, tree, parents: [...parents] };
  return (await dataOf(github.rest.git.createCommit(commit))).sha;
}

/** The change of one path in the form of GitHub's API. A large or binary file is written first. */
async function treeEntry(
  github: GitHub,
  repository: RepositoryName,
  { path, before, after, bytes }: Placing,
) {
  const file = after ?? before;
  if (!file) throw new PipelineError('usage', `nothing to change at ${path}`);
  // A folder's mode has five digits in git, and six here.
  const mode = (isTree(file.mode) ? `0${TREE_MODE}` : file.mode) as Mode;
  const entry = { path, type: typeOfMode(file.mode), mode } as const;
  if (!after || !bytes) return { ...entry, sha: after?.id ?? null };
  // A text goes with the tree: GitHub wants a second between one thing that is written and the next.
  if (isUtf8(bytes) && bytes.length <= MOST_INLINE) {
    return { ...entry, content: Buffer.from(bytes).toString('utf8') };
  }
  const blob = { ...repository, content: Buffer.from(bytes).toString('base64'), encoding: 'base64' };
  const { sha } = await dataOf(github.rest.git.createBlob(blob));
  return { ...entry, sha };
}

/** Largest text that goes with the tree, in bytes. */
const MOST_INLINE = 1024 * 1024;

type Mode = '100644' | '100755' | '040000' | '160000' | '120000';
