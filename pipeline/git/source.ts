/** A subtree as a source of catalog files: what `opm` would read in a checkout, without one. */
import type { CatalogSource, SourceFile } from '../../catalog/source.ts';
import { PipelineError } from '../error.ts';
import type { ObjectReader } from './objects.ts';
import { type GitSettings, inWorkTree, runGit } from './process.ts';
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

// Files of a work tree by the ids that git has for their content.

/**
 * A source whose files have the ids of their git blobs as identity, if they are as git has them: a file that was read or
 * checked before under the same identity is not read again. Git finds that as `git status` does: by time and size, and by
 * content if these do not tell. Outside of a repository, or without git, files have no identity; nor have those that git
 * converts, as their blobs have other content.
 *
 * @param root the directory of the source
 */
export function workTreeSource(
  source: CatalogSource,
  root: string,
  settings: GitSettings = {},
): CatalogSource {
  return {
    async files() {
      const [files, blobs] = await Promise.all([source.files(), blobsOf(root, settings)]);
      return files.map((file): SourceFile => {
        const identity = blobs.get(file.path);
        // The id of a link's or a pipe's blob is not that of what would be read there.
        return identity === undefined || file.unreadable !== undefined ? file : { ...file, identity };
      });
    },
  };
}

const ENTRY = /^(\S) (\d+) ([0-9a-f]+) (\d)\t(.*)$/s;

/** Blob ids by path below `root`. */
async function blobsOf(root: string, settings: GitSettings): Promise<ReadonlyMap<string, string>> {
  const blobs = new Map<string, string>();
  const changed = new Set<string>();
  // Where git cannot say, files get no identity, and are read each time.
  for (const line of ((await trackedBelow(root, settings)) ?? '').split('\0')) {
    const [, tag, mode = '', id = '', stage, path = ''] = ENTRY.exec(line) ?? [];
    // H: in the index, C: changed since. Others were never looked at, or are in conflict.
    if (tag === 'C') changed.add(path);
    else if (tag === 'H' && stage === '0' && mode.startsWith('100')) blobs.set(path, id);
  }
  for (const path of [...changed, ...(await convertedFiles(root, settings, [...blobs.keys()]))])
    blobs.delete(path);
  return blobs;
}

/** Attributes by which git converts a file. Line ends do not count: they are the same to JSON and YAML. */
const CONVERSIONS = ['filter', 'working-tree-encoding', 'ident'];

/** Those of the paths whose files have other content than their blobs. */
async function convertedFiles(
  root: string,
  settings: GitSettings,
  paths: readonly string[],
): Promise<string[]> {
  if (paths.length === 0) return [];
  const run = { settings, directory: root, input: paths.map((path) => `${path}\0`).join('') };
  const { output } = await runGit(run, ['check-attr', '-z', '--stdin', ...CONVERSIONS]);
  // For each path and attribute: the path, the attribute, its value.
  const words = output.toString('utf8').split('\0');
  return words.filter((_, i) => i % 3 === 0 && !/^un(?:specified|set)$/.test(words[i + 2] ?? 'unset'));
}

/**
 * What git tracks of the files below a folder: for each, `TAG MODE ID STAGE`, a tab and the path, ended by
 * NUL. A file that differs from the index is listed again with the tag `C`.
 *
 * @returns undefined where git cannot say: outside of a repository, or without git
 */
export async function trackedBelow(root: string, settings: GitSettings): Promise<string | undefined> {
  try {
    const words = ['ls-files', '-z', '-v', '--cached', '--modified', '--stage', '--', '.'];
    const { output } = await runGit(await inWorkTree({ settings, directory: root }), words);
    return output.toString('utf8');
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'git') return undefined;
    throw error;
  }
}
