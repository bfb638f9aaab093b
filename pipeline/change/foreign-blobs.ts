/**
 * Blobs that lie in one package's place and belong to another: in templates, which are
 * rendered into catalogs, and in bundles, which say themselves whose they are. Each file
 * is read by the reader that renders it, so that nothing is rendered that was not seen.
 */
import { type ManifestFile, readManifestFile } from '../../catalog/bundle/manifest.ts';
import { packageNamedIn } from '../../catalog/bundle/registry-bundle.ts';
import type { Loaded } from '../../catalog/fbc/load.ts';
import { type Blob, locate } from '../../catalog/fbc/model.ts';
import type { Finding, Location } from '../../catalog/finding.ts';
import { compareText } from '../../catalog/go/text.ts';
import { tryParseReference } from '../../catalog/reference.ts';
import { imagesOf } from '../../catalog/references/site.ts';
import type { ObjectReader } from '../git/objects.ts';
import { whyUnreadable } from '../git/source.ts';
import { entryAt, isTree, type ListedFile, type PathChange } from '../git/tree.ts';
import { isOnThisMachine } from '../oci/registry/image-location.ts';
import type { FileReader } from './content.ts';
import type { PlacedPath } from './path.ts';

export interface ForeignPlace {
  /** The package that the blob belongs to. */
  readonly package: string;
  /** The package in whose place it lies. */
  readonly place: string;
  readonly location: Location;
}

export interface Named {
  readonly name: string;
  readonly location: Location;
}

interface TemplateRead {
  /** Packages that the template's blobs name, each once. */
  readonly named: readonly Named[];
  /** Why it cannot be read, severity error. */
  readonly unread: readonly Finding[];
}

/**
 * Packages that a template names beyond its own and did not name before, and errors: for what cannot be read of it, and for
 * images that it newly names and that cannot be used.
 */
export async function packagesOfTemplate(
  reader: FileReader,
  { path, before, after, package: own = '' }: PlacedPath & PathChange,
): Promise<TemplateRead> {
  if (!after) return { named: [], unread: [] };
  const { blobs, findings } = await readWritten(reader, { path, ...after });
  const old = before ? (await readWritten(reader, { path, ...before })).blobs : [];
  // Blobs without a package have an empty name.
  const known = new Set(['', own, ...old.map(nameOf)]);
  const images = new Set(old.flatMap(imagesOf).map(({ written }) => written));
  // A template that is also taken for a catalog has its blobs twice.
  const unusable = new Map<string, Finding>();
  for (const blob of blobs)
    for (const { written, path: at } of imagesOf(blob)) {
      const location = { ...blob.document.locate(at), file: path };
      const [finding] = images.has(written) ? [] : unusableImage(written, location);
      if (finding) unusable.set(`${location.line}:${location.column}`, finding);
    }
  const named = new Map<string, Named>();
  for (const blob of blobs) {
    const name = nameOf(blob);
    if (known.has(name) || named.has(name)) continue;
    named.set(name, { name, location: { ...locate(blob), file: path } });
  }
  const errors = findings.filter(({ severity }) => severity === 'error');
  return { named: [...named.values()], unread: [...errors, ...unusable.values()] };
}

/** The blobs of a template, and those of its documents where it is taken for a catalog. */
async function readWritten(
  reader: FileReader,
  file: ListedFile,
): Promise<{ readonly blobs: readonly Blob[]; readonly findings: readonly Finding[] }> {
  const [template, catalog] = await Promise.all([reader.readTemplate(file), reader.read(file)]);
  const blobsOf = (loaded: Loaded | undefined): Blob[] => Object.values(loaded?.blobs ?? {}).flat();
  // A template may have any name; what is none, a README beside it, need not be readable as one.
  const findings = template || NAMED_TEMPLATE.test(file.path) ? catalog.findings : [];
  return {
    blobs: [...blobsOf(template), ...blobsOf(catalog)],
    findings: [...(template?.findings ?? []), ...findings],
  };
}

/**
 * An error for an image that rendering the file would read from the machine that does it, or not find: what is neither in a
 * registry nor a path within the repository (`./x`). None for an empty text.
 */
export function unusableImage(image: string, location: Location): Finding[] {
  const why = whyUnusable(image);
  if (why === undefined) return [];
  const message = `${JSON.stringify(image)} ${why}`;
  const hint = 'image: REGISTRY/REPOSITORY@sha256:DIGEST';
  return [{ rule: 'composite/reference', severity: 'error', message, location, hint }];
}

function whyUnusable(image: string): string | undefined {
  if (isOnThisMachine(image)) {
    return 'is not in a registry: it is read from the machine that renders this file';
  }
  const isUsable =
    image === '' || image.startsWith('./') || tryParseReference(image.replace(/^docker:\/\//, ''));
  return isUsable ? undefined : 'is not a valid image reference, nor a path that begins with "./"';
}

const NAMED_TEMPLATE = /\.(?:ya?ml|json)$/i;

/** The package that a blob names; an `olm.package` blob names itself. Empty for none. */
function nameOf(blob: Blob): string {
  return blob.schema === 'olm.package' ? blob.name : blob.package;
}

/** Both trees of a change, and the most bytes that a file of them may have: what is larger has been refused. */
interface BundleTrees {
  readonly base: string;
  readonly merged: string;
  readonly most: number;
}

/**
 * Packages that the annotations of a bundle name and did not name before: the one that a changed file of `metadata/`
 * names, whether it counts or not, and the one that the bundle is of.
 *
 * @param folder path of the bundle's directory
 */
export async function packagesOfBundle(
  objects: ObjectReader,
  { path, before, after }: PathChange,
  { folder, base, merged, most }: BundleTrees & { readonly folder: string },
): Promise<readonly Named[]> {
  if (!/\/metadata\/[^/]+$/.test(path)) return [];
  const named = async (files: readonly ListedFile[]): Promise<Named | undefined> =>
    packageNamedIn(await readFiles(objects, files, most));
  const namedByFile = async (entry: PathChange['after']): Promise<Named | undefined> =>
    entry && named([{ path, ...entry }]);
  const namedByFolder = (tree: string): Promise<Named | undefined> =>
    packageOfFolder(objects, tree, { folder, most });
  const found: Named[] = [];
  for (const side of [
    { was: await namedByFile(before), is: await namedByFile(after) },
    { was: await namedByFolder(base), is: await namedByFolder(merged) },
  ]) {
    if (!side.is || side.is.name === side.was?.name) continue;
    if (!found.some(({ name }) => name === side.is?.name)) found.push(side.is);
  }
  return found;
}

/** The package of the bundle in a folder, as its annotations name it, whatever their file is called. */
export async function packageOfFolder(
  objects: ObjectReader,
  tree: string,
  { folder, most }: { readonly folder: string; readonly most: number },
): Promise<Named | undefined> {
  const files = await directFiles(objects, tree, `${folder}/metadata`);
  return packageNamedIn(await readFiles(objects, files, most));
}

/** Files of a folder by name, without those of folders in it. */
async function directFiles(objects: ObjectReader, tree: string, folder: string): Promise<ListedFile[]> {
  const entry = await entryAt(objects, tree, folder);
  if (!entry || !isTree(entry.mode)) return [];
  return [...(await objects.tree(entry.id))]
    .sort((a, b) => compareText(a.name, b.name))
    .map(({ name, mode, id }) => ({ path: `${folder}/${name}`, mode, id }));
}

/** Reads manifests; links and files of more than `most` bytes are left out. */
async function readFiles(
  objects: ObjectReader,
  files: readonly ListedFile[],
  most: number,
): Promise<ManifestFile[]> {
  const read: ManifestFile[] = [];
  for (const { path, mode, id } of files) {
    if (whyUnreadable(mode) !== undefined) continue;
    const info = await objects.info(id);
    if (info && info.size > most) continue;
    read.push(readManifestFile(path, (await objects.read(id, most)).bytes));
  }
  return read;
}
