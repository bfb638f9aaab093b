/** A repository of operators and catalogs as releases read it: a work tree, or a tree of git. */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { CatalogSource } from '../../../catalog/source.ts';
import { directorySource, fileDefect, isDirectory, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { treeSource, whyUnreadable } from '../../git/source.ts';
import { entryAt, isTree, listFiles } from '../../git/tree.ts';

/** Paths have forward slashes, from the root. */
export interface ReleaseRepository {
  /** The text of a file; undefined when there is none. @throws PipelineError `usage` for what is not a plain file */
  text(path: string): Promise<string | undefined>;
  /** What is in a folder, by paths below it; undefined when there is no such folder. */
  folder(path: string): Promise<CatalogSource | undefined>;
}

/** The repository as its work tree is now, committed or not. @param root the work tree */
export function directoryRepository(root: string): ReleaseRepository {
  return {
    text: async (path) => {
      const full = join(root, path);
      if (!existsSync(full)) return undefined;
      refuseLinks(root, path);
      const defect = fileDefect(full);
      if (defect !== undefined)
        throw new PipelineError('usage', `${path} is ${defect}, expected a regular file`);
      return readText(full);
    },
    folder: async (path) => {
      const full = join(root, path);
      if (!isDirectory(full)) return undefined;
      refuseLinks(root, path);
      return directorySource(full);
    },
  };
}

/** Refuses what is behind a link, which a tree of git does not have there. @throws PipelineError `usage` */
function refuseLinks(root: string, path: string): void {
  if (realpathSync(join(root, path)) === join(realpathSync(root), path)) return;
  throw new PipelineError('usage', `${path} is a symbolic link, expected a regular file or folder`);
}

/** Largest file that is read as a text, in bytes: a template, settings. */
const MOST_BYTES = 32 * 1024 * 1024;

/** A repository as it is in a tree. @param tree id of a tree or commit */
export function treeRepository(objects: ObjectReader, tree: string): ReleaseRepository {
  return {
    text: async (path) => {
      const entry = await entryAt(objects, tree, path);
      if (!entry) return undefined;
      const why = whyUnreadable(entry.mode);
      if (why !== undefined) throw new PipelineError('usage', `${path} is ${why}, expected a regular file`);
      return (await objects.read(entry.id, MOST_BYTES)).bytes.toString('utf8');
    },
    folder: async (path) => {
      const entry = await entryAt(objects, tree, path);
      if (!entry || !isTree(entry.mode)) return undefined;
      // All of them will be read: they come in one request.
      if (objects.isRemote) {
        const files = await listFiles(objects, entry.id);
        await objects.prefetch(
          files.flatMap(({ id, mode }) => (whyUnreadable(mode) === undefined ? [id] : [])),
        );
      }
      return treeSource(objects, entry.id);
    },
  };
}

/** A place in which some files have other texts. */
export function overlaidRepository(
  place: ReleaseRepository,
  texts: ReadonlyMap<string, string>,
): ReleaseRepository {
  return {
    text: async (path) => texts.get(path) ?? place.text(path),
    folder: async (path) => {
      const below = await place.folder(path);
      const own = [...texts].filter(([file]) => file.startsWith(`${path}/`));
      if (own.length === 0) return below;
      const written = new Map(own.map(([file, text]) => [file.slice(path.length + 1), Buffer.from(text)]));
      const kept = ((await below?.files()) ?? []).filter((file) => !written.has(file.path));
      const added = [...written].map(([file, bytes]) => ({ path: file, read: () => bytes }));
      return { files: async () => [...kept, ...added] };
    },
  };
}
