/** A subtree as a source of catalog files: what `opm` would read in a checkout, without one. */
import type { CatalogSource, SourceFile } from '../../catalog/source.ts';
import { PipelineError } from '../error.ts';
import type { ObjectReader } from './objects.ts';
import { isTree, LINK_MODE, type ListedFile, listFiles, SUBMODULE_MODE } from './tree.ts';

/**
 * The files below a tree, each with its blob id as identity. Links and submodules are
 * unreadable: following them would leave the tree that was checked.
 *
 * @param tree id of a tree
 * @throws PipelineError `not-found` when the tree or, on reading, a blob is not in this clone
 */
export function treeSource(objects: ObjectReader, tree: string): CatalogSource {
  return {
    files: async () => (await listFiles(objects, tree)).map((file) => sourceFile(objects, file)),
  };
}

/** One file of a tree as a source reads it. */
export function sourceFile(objects: ObjectReader, { path, mode, id }: ListedFile): SourceFile {
  const unreadable = whyUnreadable(mode);
  return {
    path,
    identity: id,
    ...(unreadable === undefined ? {} : { unreadable }),
    read: async () => {
      const { type, bytes } = await objects.read(id);
      if (type !== 'blob') throw new PipelineError('git', `object ${id} is a ${type}, not a file`);
      return bytes;
    },
  };
}

/** Why a mode stands for nothing to read, in words for a finding; undefined for a plain file. */
export function whyUnreadable(mode: string): string | undefined {
  if (mode === LINK_MODE) return 'a symbolic link';
  if (mode === SUBMODULE_MODE) return 'a submodule';
  if (isTree(mode)) return 'a folder';
  return PLAIN_MODES.has(mode) ? undefined : `a file of mode ${mode}`;
}

/** 100664 is what old git wrote for a file that its group may write. */
const PLAIN_MODES: ReadonlySet<string> = new Set(['100644', '100755', '100664']);
