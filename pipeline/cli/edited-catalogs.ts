/** The catalogs in a directory, without and with an edit of its files. */
import { basename, join } from 'node:path';
import { load } from '../../catalog/fbc/load.ts';
import { type Catalog, catalogOf } from '../../catalog/fbc/model.ts';
import { type CatalogSource, sourceOf } from '../../catalog/source.ts';
import { directorySource } from '../directory.ts';
import type { EditedFiles } from '../git/work-tree-commits.ts';
import { platformFolders } from './platform-folders.ts';

/** A catalog before and after an edit. */
export interface EditedCatalog {
  readonly name: string;
  readonly before: Catalog;
  readonly after: Catalog;
}

/** The catalogs of the platform's versions in a directory; the directory itself where it has none. */
export async function editedCatalogs(root: string, files: EditedFiles): Promise<EditedCatalog[]> {
  const folders = platformFolders(root);
  const before = directorySource(root);
  const after = editedSource(before, files);
  const catalogs: EditedCatalog[] = [];
  for (const folder of folders.length > 0 ? folders : [''])
    catalogs.push({
      name: basename(join(root, folder)),
      before: await catalogBelow(before, folder),
      after: await catalogBelow(after, folder),
    });
  return catalogs;
}

async function catalogBelow(source: CatalogSource, folder: string): Promise<Catalog> {
  const all = await source.files();
  const own = folder === '' ? all : all.filter(({ path }) => path.startsWith(`${folder}/`));
  return catalogOf((await load({ files: async () => own })).blobs);
}

function editedSource(source: CatalogSource, edited: EditedFiles): CatalogSource {
  return {
    files: async () => {
      const kept = (await source.files()).filter(({ path }) => !edited.has(path));
      const written = [...edited].flatMap(([path, content]) =>
        content === undefined ? [] : [[path, content]],
      );
      return [...kept, ...(await sourceOf(Object.fromEntries(written)).files())];
    },
  };
}
