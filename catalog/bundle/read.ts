/**
 * A bundle of the format registry+v1: its manifests and its metadata, from a directory
 * or from an image's layers.
 *
 * @see https://olm.operatorframework.io/docs/tasks/creating-operator-bundle/
 */
import { compareText } from '../go/text.ts';
import { type CatalogSource, LARGEST_DOCUMENT, type SourceFile } from '../source.ts';
import { type ManifestFile, readManifestFile, TOO_LARGE } from './manifest.ts';

export interface BundleFiles {
  /** Files of `manifests/`, by name; those of folders in it too. */
  readonly manifests: readonly ManifestFile[];
  /** Files of `metadata/`, by name. */
  readonly metadata: readonly ManifestFile[];
  /** Files that are neither. */
  readonly others: readonly string[];
  /** Files that cannot be read (a link to nothing, a pipe), and why. */
  readonly unreadable: readonly { readonly path: string; readonly why: string }[];
}

/** A file of a bundle or of a package manifest; where it cannot be read, what it is instead. */
export async function readBundleFile(file: SourceFile): Promise<ManifestFile | string> {
  if (file.unreadable !== undefined) return file.unreadable;
  const bytes = await file.read();
  return bytes.length > LARGEST_DOCUMENT ? TOO_LARGE : readManifestFile(file.path, bytes);
}

/** Reads every file of a bundle. Names are in byte order, as Go lists directories. */
export async function readBundleFiles(source: CatalogSource): Promise<BundleFiles> {
  const manifests: ManifestFile[] = [];
  const metadata: ManifestFile[] = [];
  const others: string[] = [];
  const unreadable: { path: string; why: string }[] = [];
  for (const file of [...(await source.files())].sort((a, b) => compareText(a.path, b.path))) {
    const [, folder] = /^(manifests|metadata)\//.exec(file.path) ?? [];
    if (folder === undefined) {
      others.push(file.path);
      continue;
    }
    const read = await readBundleFile(file);
    if (typeof read === 'string') unreadable.push({ path: file.path, why: read });
    else (folder === 'manifests' ? manifests : metadata).push(read);
  }
  return { manifests, metadata, others, unreadable };
}

/** Whether a file is directly in its folder, not in a subfolder. */
export function isDirect(file: ManifestFile): boolean {
  return file.path.split('/').length === 2;
}

/** The last part of a file's path. */
export function fileName(file: ManifestFile): string {
  return file.path.slice(file.path.lastIndexOf('/') + 1);
}
