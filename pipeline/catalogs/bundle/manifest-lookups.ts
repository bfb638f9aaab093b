/** CRDs of bundles that lie in directories `PACKAGE/VERSION`. */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, lstatSync, readSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { firstValue, readManifestFile, TOO_LARGE } from '../../../catalog/bundle/manifest.ts';
import { type Crd, readCrd } from '../../../catalog/crd/crd.ts';
import { valueInterner } from '../../../catalog/crd/intern.ts';
import type { Bundle } from '../../../catalog/fbc/model.ts';
import type { CrdsOf, ManifestsOf } from '../../../catalog/olm/foresight/world.ts';
import { type Manifests, manifestPart, manifestsOf } from '../../../catalog/olm/manifests.ts';
import { LARGEST_DOCUMENT } from '../../../catalog/source.ts';
import { formatVersion } from '../../../catalog/version/version.ts';
import { entriesIn, fileError } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { mentionsAny, openRegular } from '../../file-pieces.ts';
import { escapeText } from '../../policy/layout.ts';

/** The lookups in a directory of bundles that somebody named; none where nobody did. */
export function manifestLookups(
  directory: string | undefined,
  { directory: start }: { readonly directory: string },
): { crds?: CrdsOf; manifests?: ManifestsOf } {
  if (directory === undefined) return {};
  const root = resolve(start, directory);
  return { crds: crdsBelow(root), manifests: manifestsBelow(root) };
}

/**
 * Looks bundles up in `ROOT/PACKAGE/VERSION` or `ROOT/operators/PACKAGE/VERSION`, or in whatever folder of the
 * package holds a ClusterServiceVersion of the bundle's name. What is read is kept while one package is asked for.
 *
 * @throws PipelineError `not-found` when the directory does not exist, on use `io`
 */
export function crdsBelow(root: string): CrdsOf {
  const folders = rootsIn(root);
  let cache = emptyCache('');
  return (bundle) => {
    if (cache.package !== bundle.package) cache = emptyCache(bundle.package);
    const known = cache.byBundle.get(bundle.name);
    if (known) return known;
    const folder = folderOf(folders, bundle);
    const crds = folder === undefined ? undefined : crdsOf(join(folder, 'manifests'), cache);
    if (crds) cache.byBundle.set(bundle.name, crds);
    return crds;
  };
}

/**
 * Looks up manifests as `crdsBelow` does CRDs, those of each bundle once.
 *
 * @throws PipelineError `not-found` when the directory does not exist, on use `io`
 */
function manifestsBelow(root: string): ManifestsOf {
  const folders = rootsIn(root);
  const known = new Map<string, Manifests | undefined>();
  return (bundle) => {
    const key = JSON.stringify([bundle.package, bundle.name]);
    if (!known.has(key)) {
      const folder = folderOf(folders, bundle);
      known.set(key, folder === undefined ? undefined : manifestsAt(join(folder, 'manifests')));
    }
    return known.get(key);
  };
}

/** The manifests in a folder; undefined if there is no such folder. */
function manifestsAt(path: string): Manifests | undefined {
  if (!existsSync(path)) return undefined;
  const parts = files(path).map((file) =>
    manifestPart(firstValue(readManifestFile(file, bytesOf(join(path, file))))?.value),
  );
  return manifestsOf(parts);
}

/** What was read of one package. Most versions repeat the CRDs of the one before: equal files are parsed once. */
interface PackageCache {
  readonly package: string;
  readonly byBundle: Map<string, readonly Crd[]>;
  readonly byDigest: Map<string, Crd | undefined>;
  /** Makes equal parts of CRDs one. */
  readonly intern: <T>(value: T) => T;
}

function emptyCache(name: string): PackageCache {
  return { package: name, byBundle: new Map(), byDigest: new Map(), intern: valueInterner() };
}

/** Folders in which those of packages lie. */
function rootsIn(root: string): readonly string[] {
  const folders = [join(root, 'operators'), root].filter((path) => existsSync(path));
  // Fails with the reason why nothing is there.
  if (folders.length === 0) list(root);
  return folders;
}

/** The folder of a bundle: the one called after its version, or else one with its ClusterServiceVersion. */
function folderOf(roots: readonly string[], bundle: Bundle): string | undefined {
  const { package: name } = bundle;
  // The name comes from a catalog that anybody may have written: it must not lead elsewhere.
  if (!/^[A-Za-z0-9][\w.-]*$/.test(name)) return undefined;
  const own = roots.map((root) => join(root, name)).find((path) => existsSync(path));
  if (own === undefined) return undefined;
  const versions = list(own);
  const found =
    folderOfVersion(versions, bundle) ??
    versions.find((folder) => holdsCsv(join(own, folder, 'manifests'), bundle));
  return found === undefined ? undefined : join(own, found);
}

/** Whether a folder of manifests has the ClusterServiceVersion of a bundle. */
function holdsCsv(manifests: string, bundle: Bundle): boolean {
  if (!existsSync(manifests)) return false;
  return files(manifests)
    .filter(isCalledCsv)
    .some((file) => isCsvOf(bytesOf(join(manifests, file)), bundle));
}

/** The CRDs in a folder of manifests; undefined if there is no such folder. Equal files are parsed once. */
function crdsOf(manifests: string, { byDigest, intern }: PackageCache): readonly Crd[] | undefined {
  if (!existsSync(manifests)) return undefined;
  return files(manifests).flatMap((file) => {
    const bytes = bytesOf(join(manifests, file));
    if (!mentionsAny(bytes, ['CustomResourceDefinition'])) return [];
    const digest = createHash('sha256').update(bytes).digest('base64');
    if (!byDigest.has(digest))
      byDigest.set(digest, intern(readCrd(firstValue(readManifestFile(file, bytes))?.value)));
    return byDigest.get(digest) ?? [];
  });
}

/** The names in a folder, sorted: the lookup does not depend on the order of the file system. */
function list(path: string): string[] {
  return entriesIn(path)
    .map(({ name }) => name)
    .sort();
}

/** Plain files: a link may lead anywhere, a pipe never ends. */
function files(path: string): string[] {
  return list(path).filter((name) => lstatSync(join(path, name), { throwIfNoEntry: false })?.isFile());
}

/** Where files are read into: most are only looked at, and need no memory of their own. */
let scratch = Buffer.alloc(1024 * 1024);

/** The bytes of a file, until the next one is read. @throws PipelineError */
function bytesOf(path: string): Buffer {
  try {
    const file = openRegular(path);
    try {
      const { size } = fstatSync(file);
      if (size > LARGEST_DOCUMENT) throw new PipelineError('too-large', `${path} is ${TOO_LARGE}`);
      if (size > scratch.length) scratch = Buffer.alloc(size);
      let length = 0;
      while (length < size) {
        const read = readSync(file, scratch, length, size - length, length);
        if (read === 0) break;
        length += read;
      }
      return scratch.subarray(0, length);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw error instanceof PipelineError ? error : fileError(error, path);
  }
}

// Which folder of a package is that of a bundle: one rule for directories and for git trees.

/** The folder that is called after the bundle's version, with or without a `v`; undefined if there is none. */
export function folderOfVersion(
  folders: readonly string[],
  { version }: Pick<Bundle, 'version'>,
): string | undefined {
  if (!version) return undefined;
  const text = formatVersion(version);
  return folders.find((folder) => folder === text || folder === `v${text}`);
}

/** Whether a file of this name may hold a ClusterServiceVersion. */
export function isCalledCsv(file: string): boolean {
  return /clusterserviceversion|csv/i.test(file);
}

/** Whether the text of a ClusterServiceVersion, in YAML or JSON, is that of a bundle, by a field with its name: none has to be parsed. */
export function isCsvOf(bytes: Buffer, { name }: Pick<Bundle, 'name'>): boolean {
  if (!bytes.includes(name)) return false;
  const field = `(?<![^\\s{,])(["']?)name\\1\\s*:\\s*(["']?)${escapeText(name)}\\2\\s*(?:[\\n,}#]|$)`;
  return new RegExp(field, 'm').test(bytes.toString('utf8'));
}
