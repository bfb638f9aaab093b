/** The files of a repository's catalogs, by catalog. */
import type { ObjectReader } from '../git/objects.ts';
import type { CatalogTree } from './catalogs.ts';
import { type LoadedFile, loadedFiles } from './content.ts';
import type { CatalogUnit } from './unit.ts';

export interface CatalogFile extends LoadedFile {
  readonly unit: CatalogUnit;
}

/** Looks up the files of a catalog, each catalog once. */
export type FilesOf = (catalog: string) => Promise<readonly CatalogFile[]>;

/** Gives the files of a catalog in a tree, listed once unless that fails. */
export function filesOf(objects: ObjectReader, { tree, units }: CatalogTree): FilesOf {
  const listed = new Map<string, Promise<readonly CatalogFile[]>>();
  const list = async (catalog: string): Promise<readonly CatalogFile[]> => {
    const own = [...units.values()].filter((unit) => unit.catalog === catalog);
    const files = await Promise.all(
      own.map(async (unit) =>
        (await loadedFiles(objects, tree, unit)).map((file): CatalogFile => ({ ...file, unit })),
      ),
    );
    return files.flat();
  };
  return (catalog) => {
    const known = listed.get(catalog);
    if (known) return known;
    const files = list(catalog);
    listed.set(catalog, files);
    // What failed may succeed when it is asked for again.
    files.catch(() => listed.delete(catalog));
    return files;
  };
}

/** Equal for files with the same content in the same place. */
export function fileKey({ path, mode, id }: LoadedFile): string {
  return `${path}\n${mode} ${id}`;
}
