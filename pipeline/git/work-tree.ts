/** Files of a work tree by the ids that git has for their content. */
import type { CatalogSource, SourceFile } from '../../catalog/source.ts';
import { PipelineError } from '../error.ts';
import { type GitSettings, runGit, withoutFilters } from './process.ts';

/**
 * The same source, in which files that are as git has them are named by their blobs. Whether a
 * file is so, git finds as `git status` does: by its times and size, and by its content where
 * these say nothing. Outside of a repository, or without git, files have no names.
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
  for (const line of (await listFiles(root, settings)).split('\0')) {
    const [, tag, mode = '', id = '', stage, path = ''] = ENTRY.exec(line) ?? [];
    // H: in the index, C: changed since. Others were never looked at, or are in conflict.
    if (tag === 'C') changed.add(path);
    else if (tag === 'H' && stage === '0' && mode.startsWith('100')) blobs.set(path, id);
  }
  for (const path of changed) blobs.delete(path);
  return blobs;
}

async function listFiles(root: string, settings: GitSettings): Promise<string> {
  try {
    const words = ['ls-files', '-z', '-v', '--cached', '--modified', '--stage', '--', '.'];
    const { output } = await runGit(await withoutFilters({ settings, directory: root }), words);
    return output.toString('utf8');
  } catch (error) {
    // Outside of a repository, or without git, files have no names.
    if (error instanceof PipelineError && error.code === 'git') return '';
    throw error;
  }
}
