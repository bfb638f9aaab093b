/** Files with blobs that belong to no catalog: channels or bundles of a package that nothing beside them defines. */
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import { type CatalogFacts, isKeyOf } from './catalog-files.ts';

/** A file that a layout leaves out, and why. */
export interface LeftOut {
  readonly path: string;
  readonly reason: string;
}

/**
 * Sorts files into those that are parts of a catalog, and those that cannot be.
 *
 * @param unread paths of files that may hold what is missing
 */
export function withoutFragments(
  files: readonly CatalogFacts[],
  unread: readonly string[] = [],
): {
  readonly parts: readonly CatalogFacts[];
  readonly fragments: readonly LeftOut[];
} {
  const folders = byFolder(files);
  const parts: CatalogFacts[] = [];
  const fragments: LeftOut[] = [];
  const unknown = new Set(unread.map(folderText));
  for (const file of files) {
    const isKnown = !unknown.has(folderText(file.path));
    const reason = isKnown ? fragmentReason(file, folders) : undefined;
    if (reason === undefined) parts.push(file);
    else fragments.push({ path: file.path, reason });
  }
  return { parts, fragments };
}

/** Files below each folder, with that of the whole repository under the empty name. */
function byFolder(files: readonly CatalogFacts[]): Map<string, CatalogFacts[]> {
  const folders = new Map<string, CatalogFacts[]>();
  for (const file of files) {
    for (const folder of foldersAbove(file.path)) appendToGroup(folders, folder, file);
  }
  return folders;
}

/** The folders that a path is in, the nearest first; the last is that of the whole repository, with the empty name. */
export function foldersAbove(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, i) => names.slice(0, names.length - i).join('/')).concat('');
}

/** Why a file is only a part of a catalog whose rest is not beside it; undefined if it may be a catalog. */
function fragmentReason(
  file: CatalogFacts,
  folders: ReadonlyMap<string, readonly CatalogFacts[]>,
): string | undefined {
  // What cannot be read is not known to be a fragment.
  if (file.isWhole || file.defect !== undefined) return undefined;
  const foreign = file.packages.filter((name) => !file.defines.includes(name));
  for (const folder of foldersAbove(file.path)) {
    const around = folders.get(folder) ?? [];
    if (!isClosed(file, around)) continue;
    // Whole catalogs further away have what it has: it is a source of them, or a test.
    const isElsewhere =
      file.defines.length === 0 &&
      around.some((other) => other.isWhole && !file.path.startsWith(folderText(other.path)));
    return isElsewhere
      ? `channels or bundles of ${foreign[0] ?? file.packages[0]}, which a whole catalog elsewhere defines`
      : undefined;
  }
  // The folder at the top of the repository that the file is in.
  const [top = ''] = foldersAbove(file.path).slice(-2);
  const near = folders.get(top) ?? [];
  const missing = foreign.find((name) => !near.some(({ defines }) => defines.includes(name)));
  return missing === undefined
    ? `no bundle of ${file.packages[0] ?? 'its package'} is beside it`
    : `no olm.package blob beside it defines ${missing}`;
}

/** A path's folder with its slash; empty at the top. */
function folderText(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** Whether files below a folder define every package of a file, and have bundles of one of them. */
function isClosed({ packages }: CatalogFacts, around: readonly CatalogFacts[]): boolean {
  const isDefined = (name: string): boolean => around.some(({ defines }) => defines.includes(name));
  const hasBundle = (name: string): boolean =>
    around.some(({ bundles }) => bundles.some((key) => isKeyOf(name, key)));
  return packages.every(isDefined) && packages.some(hasBundle);
}
