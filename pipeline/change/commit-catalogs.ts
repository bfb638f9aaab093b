/** The catalogs of a commit, read: those that people write, and those that are made from bundle directories. */

import { joinedBlobs, placedBlobs } from '../../catalog/fbc/blobs.ts';
import { type Blobs, catalogOf } from '../../catalog/fbc/model.ts';
import type { Finding } from '../../catalog/finding.ts';
import { appendToGroup } from '../../catalog/go/grouped.ts';
import { compareText } from '../../catalog/go/text.ts';
import type { ReadCatalog } from '../catalogs/read-catalogs.ts';
import type { ObjectReader } from '../git/objects.ts';
import type { Policy } from '../policy/policy.ts';
import { type FileReader, fileReader, loadedFiles } from './content.ts';
import { type CatalogUnit, catalogUnits } from './unit.ts';
import { wholeCatalog } from './whole-catalog.ts';

/** Which of a commit's catalogs are read; all without names, all packages without packages. */
export interface Selection {
  readonly names?: ReadonlySet<string>;
  readonly packages?: ReadonlySet<string>;
}

/** What reads files of catalogs. */
export type BlobReader = Pick<FileReader, 'read'>;

/**
 * Catalogs by name. A package that cannot be made is left out, and `unread` says why.
 *
 * @param tree id of a tree or commit
 * @param selection.reader gives files as it read them for other commits of the same repository
 */
export async function commitCatalogs(
  objects: ObjectReader,
  tree: string,
  {
    policy,
    names,
    packages,
    reader = fileReader(objects, policy.limits),
  }: Selection & { readonly policy: Policy; readonly reader?: BlobReader },
): Promise<ReadCatalog[]> {
  const { layout } = policy;
  const byCatalog = new Map<string, CatalogUnit[]>();
  for (const unit of (await catalogUnits(objects, tree, layout)).values()) {
    if (names && !names.has(unit.catalog)) continue;
    if (packages && unit.package !== undefined && !packages.has(unit.package)) continue;
    appendToGroup(byCatalog, unit.catalog, unit);
  }
  const read: ReadCatalog[] = [];
  for (const [name, units] of [...byCatalog].sort(([a], [b]) => compareText(a, b))) {
    const source = await wholeCatalog(objects, tree, { layout, name });
    const { blobs, unread, files } = await contentOf({ objects, reader }, tree, units);
    read.push({ name, prefix: '', source, catalog: catalogOf(blobs), unread, files });
  }
  return read;
}

/** The blobs in the files of units, what could not be read, and which files these are. */
async function contentOf(
  { objects, reader }: { readonly objects: ObjectReader; readonly reader: BlobReader },
  tree: string,
  units: readonly CatalogUnit[],
): Promise<{
  readonly blobs: Blobs;
  readonly unread: readonly Finding[];
  readonly files: readonly string[];
}> {
  const parts: Blobs[] = [];
  const unread: Finding[] = [];
  const files: string[] = [];
  for (const unit of units) {
    for (const file of await loadedFiles(objects, tree, unit)) {
      const { blobs, findings } = await reader.read(file);
      parts.push(file.composed ? blobs : placedBlobs(blobs, file.path));
      for (const finding of findings) unread.push(finding);
      files.push(`${file.path}\n${file.id}`);
    }
  }
  return { blobs: joinedBlobs(parts), unread, files };
}
