/** A directory of a commit as a source, for commands that read directories. */
import { resolve } from 'node:path';
import type { CatalogSource } from '../../../catalog/source.ts';
import { PipelineError } from '../../error.ts';
import { withRepository } from '../../git/repository.ts';
import { treeSource } from '../../git/source.ts';
import { entryAt, isTree } from '../../git/tree.ts';
import { searchPath, type Terminal } from '../../terminal.ts';

export interface TreeAt {
  /** Path of a clone. */
  readonly repository: string;
  readonly commit: string;
  /** Of the directory in the repository; `.` for all of it. */
  readonly path: string;
}

/**
 * Calls `use` with the files of the directory, brought together.
 *
 * @throws PipelineError `not-found` for a commit or a directory that is not there
 */
export async function withTree<T>(
  { repository: at, commit: revision, path }: TreeAt,
  terminal: Terminal,
  use: (source: CatalogSource) => Promise<T>,
): Promise<T> {
  return withRepository(resolve(terminal.directory, at), searchPath(terminal), async (repository) => {
    const [commit = ''] = await repository.resolve([revision]);
    // git knows `catalogs/v4.20`, not `./catalogs/v4.20/`.
    const clean = path.replaceAll(/^(?:\.\/)+|\/+$/g, '');
    if (clean === '.' || clean === '') return await use(treeSource(repository.objects, commit));
    const entry = await entryAt(repository.objects, commit, clean);
    if (!entry || !isTree(entry.mode)) {
      throw new PipelineError('not-found', `no directory ${JSON.stringify(path)} in ${revision}`);
    }
    return await use(treeSource(repository.objects, entry.id));
  });
}
