/** Names of the packages in the catalogs of another repository, of which nobody has written a policy. */
import { load } from '../../../catalog/fbc/load.ts';
import { PipelineError } from '../../error.ts';
import type { Repository } from '../../git/repository.ts';
import { whyUnreadable } from '../../git/source.ts';
import { listFiles } from '../../git/tree.ts';
import { compileLayout } from '../layout.ts';
import { readCatalogFiles } from './catalog-files.ts';
import { layoutOf } from './layout.ts';

/** Largest file that is read for names, in bytes. */
const FILE_BYTES = 256 * 1024 * 1024;

/**
 * Packages by their folders, and by their blobs where folders are called otherwise.
 *
 * @throws PipelineError `not-found` where the clone has no catalogs, or lacks a file; `too-large`
 */
export async function clonePackages({ objects, resolve }: Repository): Promise<ReadonlySet<string>> {
  const [commit = ''] = await resolve(['HEAD']);
  const files = await listFiles(objects, await objects.treeOf(commit));
  const paths = files.map(({ path }) => path);
  const { catalogs, read, missing } = await readCatalogFiles(objects, files);
  const { patterns } = layoutOf(catalogs, paths, read);
  const names = new Set([
    ...catalogs.flatMap(({ packages }) => packages),
    ...paths.flatMap((path) => BUNDLES.exec(path)?.[1] ?? []),
  ]);
  const [first] = missing;
  if (first !== undefined) throw new PipelineError('not-found', `${first} is not in the clone`);
  if (names.size === 0) throw new PipelineError('not-found', 'it has no catalog');
  const layout = compileLayout(
    patterns.map((one) => ({ kind: 'catalog', pattern: typeof one === 'string' ? one : one.path })),
  );
  for (const { path, id, mode } of files) {
    if (read.has(path) || whyUnreadable(mode) !== undefined) continue;
    const match = layout.match(path);
    if (!match) continue;
    if (match.package !== undefined) names.add(match.package);
    else for (const name of await packagesOf(objects, id)) names.add(name);
  }
  return names;
}

/** Anything in a package's folder of the default layout. */
const BUNDLES = /^operators\/([^/]+)\/./;

/** The names of the packages that a file defines. */
async function packagesOf(objects: Repository['objects'], id: string): Promise<string[]> {
  const { bytes } = await objects.read(id, FILE_BYTES);
  const { blobs } = await load({ files: () => Promise.resolve([{ path: 'file', read: () => bytes }]) });
  return blobs.packages.map(({ name }) => name);
}
