/**
 * Packages of catalogs that nobody writes: composed from bundle directories as the pipelines of the
 * community's repositories make them, by the `updateGraph` of the package's `ci.yaml` and the
 * versions of OpenShift that each bundle is annotated for.
 *
 * @see https://redhat-openshift-ecosystem.github.io/operator-pipelines/users/packages-config/
 */
import { isForOpenshift, OPENSHIFT_VERSIONS } from '../../catalog/bundle/openshift-range.ts';
import { readBundle } from '../../catalog/bundle/registry-bundle.ts';
import { renderBundle } from '../../catalog/bundle/render.ts';
import { EditError } from '../../catalog/edit/package.ts';
import { type PlacedBundle, placedBundle } from '../../catalog/edit/package-graph.ts';
import { packageOf, type UpdateMode } from '../../catalog/edit/update.ts';
import { inFile } from '../../catalog/fbc/document.ts';
import type { Loaded } from '../../catalog/fbc/load.ts';
import { NO_BLOBS } from '../../catalog/fbc/model.ts';
import { tryParseMinor } from '../../catalog/fbc/openshift.ts';
import { readsCsvMetadata } from '../../catalog/fbc/platform.ts';
import type { Finding } from '../../catalog/finding.ts';
import { isObject } from '../../catalog/go/shape.ts';
import { plainBundle } from '../../catalog/opm/template/template.ts';
import type { ObjectReader, TreeEntry } from '../git/objects.ts';
import { treeSource, whyUnreadable } from '../git/source.ts';
import { entryAt, isTree } from '../git/tree.ts';
import { isVersionFolder } from '../policy/layout.ts';
import { readSettings, readStrictSettings } from '../settings.ts';

/** A package's folder of bundle directories, as a part of one catalog. */
export interface ComposedPackage {
  /** Path of the folder. */
  readonly folder: string;
  readonly package: string;
  readonly catalog: string;
  /** Reference of a bundle's image with `{package}` and `{version}`; a bundle brings its manifests without. */
  readonly image: string | undefined;
}

/** Bundles that were read, by the ids of their folders: catalogs of several versions share most of them. */
export type ReadBundles = Map<string, Promise<BundleFolder>>;

interface BundleFolder {
  readonly placed: PlacedBundle | undefined;
  /** What `com.redhat.openshift.versions` says. */
  readonly versions: string | undefined;
  readonly findings: readonly Finding[];
}

const NOTHING: Loaded = {
  blobs: NO_BLOBS,
  findings: [],
};

/**
 * The blobs of a package; none when its `ci.yaml` says that people write its catalogs, or when no bundle is
 * for the catalog's version.
 *
 * @param tree id of the package's folder
 * @throws PipelineError `not-found` when the clone lacks objects
 */
export async function composedPackage(
  objects: ObjectReader,
  { tree, composed }: { readonly tree: string; readonly composed: ComposedPackage },
  read: ReadBundles,
): Promise<Loaded> {
  const entries = await objects.tree(tree);
  const settings = await ciSettings(objects, entries, composed);
  if (settings.mode === undefined) return { ...NOTHING, findings: settings.findings };
  const findings: Finding[] = [];
  const bundles: PlacedBundle[] = [];
  for (const entry of entries.filter(isBundleFolder)) {
    // The same directory is rendered in two ways, for new and for old platforms.
    const key = `${isMigrated(composed)} ${composed.folder} ${entry.name} ${entry.id}`;
    const folder = read.get(key) ?? readFolder(objects, entry, composed);
    read.set(key, folder);
    const { placed, versions, findings: unread } = await folder;
    const location = {
      file: `${composed.folder}/${entry.name}/metadata/annotations.yaml`,
      line: 1,
      column: 1,
    };
    const isIn = isIncluded(versions, composed.catalog);
    if (isIn === undefined)
      findings.push(finding(`${OPENSHIFT_VERSIONS} is ${JSON.stringify(versions)}`, location, VERSIONS_HINT));
    if (isIn === false) continue;
    findings.push(...unread);
    if (placed) bundles.push(placed);
  }
  if (bundles.length === 0) return { ...NOTHING, findings };
  return blobsWithGraph(bundles, settings.mode, findings);
}

const VERSIONS_HINT = 'use a version (v4.18), a range (v4.18-v4.20), or exactly one version (=v4.20)';

/**
 * Whether bundles are rendered with `olm.csv.metadata`. Catalogs of old platform versions hold the manifests
 * instead.
 */
function isMigrated({ catalog }: ComposedPackage): boolean {
  const version = tryParseMinor(catalog);
  return !version || readsCsvMetadata(version);
}

/**
 * Whether a bundle is for a catalog's platform version; undefined if its annotation is not valid. A catalog
 * without a version has all bundles.
 */
function isIncluded(versions: string | undefined, catalog: string): boolean | undefined {
  const version = tryParseMinor(catalog);
  return version ? isForOpenshift(versions, version) : true;
}

function isBundleFolder({ name, mode }: TreeEntry): boolean {
  return isTree(mode) && isVersionFolder(name);
}

/** The blobs of a package whose graph is composed from its bundles; a finding if no graph can be composed. */
function blobsWithGraph(
  bundles: readonly PlacedBundle[],
  mode: UpdateMode,
  unread: readonly Finding[],
): Loaded {
  try {
    const { blobs, findings } = packageOf(bundles, mode);
    return {
      blobs: { ...blobs, bundles: blobs.bundles.map(plainBundle) },
      findings: [...unread, ...findings],
    };
  } catch (error) {
    if (!(error instanceof EditError)) throw error;
    const location = bundles[0]?.blob.document.locate([]) ?? { file: '', line: 1, column: 1 };
    return { ...NOTHING, findings: [...unread, finding(error.message, location, error.hint)] };
  }
}

function finding(message: string, location: Finding['location'], hint?: string): Finding {
  return { rule: 'package/update-graph', severity: 'error', message, location, ...(hint ? { hint } : {}) };
}

const MODES: ReadonlyMap<string, UpdateMode> = new Map([
  ['replaces-mode', 'replaces'],
  ['semver-mode', 'semver'],
  ['semver-skippatch-mode', 'semver-skippatch'],
]);

interface CiSettings {
  /** Undefined for a package that is not composed. */
  readonly mode: UpdateMode | undefined;
  readonly findings: readonly Finding[];
}

/**
 * How the upgrade graph of a package is composed, by its ci.yaml; no `mode` if its catalogs are written by hand, or if it
 * cannot be read.
 */
async function ciSettings(
  objects: ObjectReader,
  entries: readonly TreeEntry[],
  { folder }: ComposedPackage,
): Promise<CiSettings> {
  const entry = entries.find(({ name }) => name === 'ci.yaml');
  if (!entry) return { mode: 'replaces', findings: [] };
  const file = `${folder}/ci.yaml`;
  const unreadable = whyUnreadable(entry.mode);
  if (unreadable !== undefined) {
    const message = `ci.yaml is ${unreadable}, expected a regular file`;
    return { mode: undefined, findings: [finding(message, { file, line: 1, column: 1 })] };
  }
  const { settings, findings } = readStrictSettings(file, (await objects.read(entry.id)).bytes);
  if (!settings) return { mode: undefined, findings };
  const value = isObject(settings.value) ? settings.value : {};
  // Its catalogs are written by hand, so there is no graph to compute.
  if (isObject(value['fbc']) && value['fbc']['enabled'] === true) return { mode: undefined, findings: [] };
  const wanted = value['updateGraph'] ?? 'replaces-mode';
  const mode = MODES.get(String(wanted));
  if (mode) return { mode, findings: [] };
  const message = `updateGraph is ${JSON.stringify(wanted)}, expected ${[...MODES.keys()].join(', ')}`;
  return { mode: undefined, findings: [finding(message, settings.locate(['updateGraph']))] };
}

/** Renders the bundle in one folder of a package, with findings at their paths in the repository. */
async function readFolder(
  objects: ObjectReader,
  { name, id }: TreeEntry,
  composed: ComposedPackage,
): Promise<BundleFolder> {
  const { folder, package: pkg, image: template } = composed;
  const path = `${folder}/${name}`;
  const image = template?.replaceAll('{package}', () => pkg).replaceAll('{version}', () => name);
  const { bundle, findings: unread } = await readBundle(treeSource(objects, id));
  const migrateLevel = isMigrated(composed) ? 'bundle-object-to-csv-metadata' : 'none';
  const rendered = bundle && renderBundle(bundle, image === undefined ? {} : { image, migrateLevel });
  const findings = [...unread, ...(rendered?.findings ?? [])].map((one) => ({
    ...one,
    location: { ...one.location, file: `${path}/${one.location.file}` },
  }));
  const versions = await annotatedVersions(objects, id);
  if (!bundle || !rendered?.blob) return { placed: undefined, versions, findings };
  const document = inFile(rendered.blob.document, `${path}/${rendered.blob.document.file}`);
  try {
    return { placed: placedBundle(bundle, { ...rendered.blob, document }), versions, findings };
  } catch (error) {
    if (!(error instanceof EditError)) throw error;
    return {
      placed: undefined,
      versions,
      findings: [...findings, finding(error.message, document.locate([]))],
    };
  }
}

/** The text of `com.redhat.openshift.versions` in a bundle's annotations; undefined without one. */
async function annotatedVersions(objects: ObjectReader, tree: string): Promise<string | undefined> {
  const entry = await entryAt(objects, tree, 'metadata/annotations.yaml');
  // Reading the bundle reports anything but a regular file.
  if (!entry || whyUnreadable(entry.mode) !== undefined) return undefined;
  const { settings } = readSettings('annotations.yaml', (await objects.read(entry.id)).bytes);
  const value = isObject(settings?.value) ? settings.value['annotations'] : undefined;
  const versions = isObject(value) ? value[OPENSHIFT_VERSIONS] : undefined;
  return versions === undefined || versions === null ? undefined : String(versions);
}
