/**
 * The package manifest format, the oldest of them: `*.package.yaml` beside a folder for
 * each version.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/v1.47.0/pkg/sqlite/directory.go
 */
import { type Finding, type Location, type Severity, startOf } from '../finding.ts';
import { fitStruct, isObject, listOf, structShape, text, textOf } from '../go/shape.ts';
import { type CatalogSource, compareWalk, SKIPPED_LINKS } from '../source.ts';
import { checkOwned } from './api.ts';
import { CSV_META } from './csv-shape.ts';
import { type ManifestFile, TOO_LARGE } from './manifest.ts';
import { versionOf } from './properties.ts';
import { readBundleFile } from './read.ts';
import { BundleRefusal, fitObject, objectIn, type RegistryBundle, readInto } from './registry-bundle.ts';

/** One version of an operator: a ClusterServiceVersion and the files next to it. */
export interface PackageVersion {
  readonly name: string;
  /** Folder of the version, relative to the package. */
  readonly folder: string;
  readonly replaces: string;
  readonly skips: readonly string[];
  readonly skipRange: string;
  /** As written; may be empty. */
  readonly version: string;
  readonly bundle: RegistryBundle;
  readonly location: Location;
}

interface PackageChannel {
  readonly name: string;
  readonly currentCsv: string;
  readonly location: Location;
}

export interface PackageManifest {
  readonly name: string;
  readonly channels: readonly PackageChannel[];
  /** As written; may be empty. */
  readonly defaultChannel: string;
  readonly location: Location;
}

export interface PackageFolder {
  /** Undefined when there is no package file, or more than one. */
  readonly manifest: PackageManifest | undefined;
  /** In the order of walking the folders; a name counts once. */
  readonly versions: readonly PackageVersion[];
  readonly files: readonly ManifestFile[];
  readonly findings: readonly Finding[];
}

/** Reads a folder in the package manifest format. */
export async function readPackageFolder(source: CatalogSource): Promise<PackageFolder> {
  const files: ManifestFile[] = [];
  const findings: Finding[] = [];
  const report: Report = (rule, message, location, severity = 'error') => {
    findings.push({ rule: `package-manifest/${rule}`, severity, message, location });
  };
  for (const file of [...(await source.files())].sort((a, b) => compareWalk(a.path, b.path))) {
    if (file.path.split('/').some((part) => part.startsWith('.'))) continue;
    const read = await readBundleFile(file);
    if (typeof read !== 'string') files.push(read);
    else if (!SKIPPED_LINKS.includes(read)) {
      // Pictures and archives lie beside the manifests, and none of them counts.
      const isOther = read === TOO_LARGE && !/\.(?:ya?ml|json)$/.test(file.path);
      report('unreadable', read, startOf(file.path), isOther ? 'warning' : 'error');
    }
  }
  const manifest = findManifest(files, report);
  const versions = versionsIn(files, report);
  if (manifest) checkManifest(manifest, report);
  checkFolders(files, versions, report);
  return { manifest, versions, files, findings };
}

/** @param rule the rule's name without its kind */
export type Report = (rule: string, message: string, location: Location, severity?: Severity) => void;

const CHANNEL = structShape('registry.PackageChannel', { name: text, currentCSV: text });
const MANIFEST = structShape('registry.PackageManifest', {
  packageName: text,
  channels: listOf(CHANNEL),
  defaultChannel: text,
});

/** The package file among these files; undefined, with a finding, if there is none or more than one. */
function findManifest(files: readonly ManifestFile[], report: Report): PackageManifest | undefined {
  const manifests = files.flatMap((file) => manifestIn(file, report) ?? []);
  const [first, second] = manifests.filter(({ name }) => name !== '');
  if (first && second) {
    const message = `a second package file: ${first.location.file} already describes ${JSON.stringify(first.name)}`;
    report('several', message, second.location);
    return undefined;
  }
  // A package without a name is reported as such, not as missing.
  const found = first ?? manifests.find(({ channels }) => channels.length > 0);
  if (!found) report('missing', 'no package file: expected a YAML file with packageName', startOf('.'));
  return found;
}

/**
 * The package file that a file holds. An object without any of the keys comes back without a name.
 *
 * @returns undefined if the file has another form; where one was meant, this is reported
 */
function manifestIn(file: ManifestFile, report: Report): PackageManifest | undefined {
  const [first] = file.documents;
  if (!first) {
    report('unreadable', 'not a package file: it is empty', startOf(file.path), 'warning');
    return undefined;
  }
  const isRoot = !file.path.includes('/');
  if (first.kind === 'unread') {
    report('unreadable', `not a package file: ${first.message}`, first.location, 'warning');
    return undefined;
  }
  const { value, misfits } = fitStruct(readInto(MANIFEST, first), MANIFEST);
  const [misfit] = misfits;
  if (misfit) {
    const message = `not a package file: ${misfit.path.join('.') || 'it'} must be ${misfit.expected}`;
    // In a folder of a version, other kinds of objects may have such keys.
    if (isRoot || !isObject(first.value)) {
      report('unreadable', message, first.document.locate(misfit.path), 'warning');
    }
    return undefined;
  }
  const channels = Array.isArray(value['channels']) ? value['channels'] : [];
  return {
    name: textOf(value['packageName']),
    defaultChannel: textOf(value['defaultChannel']),
    location: first.document.locate([]),
    channels: channels.map((channel: unknown, i) => ({
      name: isObject(channel) ? textOf(channel['name']) : '',
      currentCsv: isObject(channel) ? textOf(channel['currentCSV']) : '',
      location: first.document.locate(['channels', i]),
    })),
  };
}

/** Reports defects of a package file: missing names, channels without or with the same name, a wrong default channel. */
function checkManifest(manifest: PackageManifest, report: Report): void {
  const { name, channels, defaultChannel, location } = manifest;
  const packageText = `package ${JSON.stringify(name)}`;
  if (name === '') report('name', 'the package has no packageName', location);
  if (channels.length === 0) report('channels-empty', `${packageText} has no channels`, location);
  if (defaultChannel === '' && channels.length > 1) {
    report(
      'default-missing',
      `${packageText} has ${channels.length} channels and no defaultChannel`,
      location,
    );
  } else if (defaultChannel === '' && channels.length === 1) {
    report(
      'default-missing',
      `${packageText} has no defaultChannel, so its only channel is the default`,
      location,
      'warning',
    );
  }
  const seen = new Set<string>();
  for (const [i, channel] of channels.entries()) {
    if (channel.name === '')
      report('channel-name', `channel ${i} of ${packageText} has no name`, channel.location);
    else if (seen.has(channel.name)) {
      const message = `${packageText} has the channel ${JSON.stringify(channel.name)} twice`;
      report('channel-duplicate', message, channel.location);
    }
    seen.add(channel.name);
    if (channel.currentCsv === '') {
      const message = `channel ${JSON.stringify(channel.name)} of ${packageText} has no currentCSV`;
      report('current-empty', message, channel.location);
    }
  }
  if (defaultChannel !== '' && !seen.has(defaultChannel)) {
    const message = `the default channel ${JSON.stringify(defaultChannel)} of ${packageText} is not one of its channels`;
    report('default-unknown', message, location);
  }
}

/**
 * A version for each ClusterServiceVersion. Reports those that cannot be read, that share a name, or that share a folder.
 */
function versionsIn(files: readonly ManifestFile[], report: Report): PackageVersion[] {
  const versions = new Map<string, PackageVersion>();
  const folders = new Map<string, string>();
  for (const file of files) {
    const csv = objectIn(file);
    if (csv?.kind !== 'ClusterServiceVersion') continue;
    const folder = folderOf(file);
    const location = csv.document.locate(['metadata', 'name']);
    const other = folders.get(folder);
    if (other !== undefined) {
      const message = `a second ClusterServiceVersion in ${folder}, besides ${JSON.stringify(other)}`;
      report('two-csvs', message, location, 'warning');
    }
    folders.set(folder, other ?? csv.name);
    if (versions.has(csv.name)) {
      report('csv-duplicate', `a second ClusterServiceVersion ${JSON.stringify(csv.name)}`, location);
      continue;
    }
    try {
      versions.set(csv.name, versionIn(files, file, report));
    } catch (error) {
      if (!(error instanceof BundleRefusal)) throw error;
      report('csv-unreadable', error.message, error.location);
    }
  }
  return [...versions.values()];
}

/** Reports files that operator-sdk refuses or skips because of the folder that they are in. */
function checkFolders(
  files: readonly ManifestFile[],
  versions: readonly PackageVersion[],
  report: Report,
): void {
  for (const { name, folder, location } of versions) {
    const quotedName = JSON.stringify(name);
    if (folder === '') {
      const message = `${quotedName} is beside the package file; operator-sdk expects a folder for each version`;
      report('version-folder', message, location, 'warning');
    } else if (folder.includes('/')) {
      const message = `${quotedName} is in ${folder}; operator-sdk expects the folder of a version beside the package file`;
      report('version-folder', message, location, 'warning');
    }
  }
  const folders = new Set(versions.map(({ folder }) => folder).filter((folder) => folder !== ''));
  for (const file of files) {
    const [first] = file.documents;
    const folder = folderOf(file);
    // Only an object without a kind is certainly not a manifest: what cannot be read has a finding of its own.
    const isManifest =
      first?.kind !== 'value' || !isObject(first.value) || textOf(first.value['kind']) !== '';
    if (folders.has(folder) && !isManifest && textOf(first.value['packageName']) === '') {
      report('unreadable', 'not a manifest: it has no kind', first.document.locate([]), 'warning');
    }
    // Of `a/b/c` the empty text, `a` and `a/b`.
    const ancestors = folder.split('/').map((_, i, parts) => parts.slice(0, i).join('/'));
    const within = folders.has(folder) ? undefined : ancestors.find((ancestor) => folders.has(ancestor));
    if (within !== undefined) {
      const message = `operator-sdk refuses a folder within that of a version (${within})`;
      report('version-folder', message, startOf(file.path), 'warning');
    }
  }
}

function folderOf(file: ManifestFile): string {
  return file.path.split('/').slice(0, -1).join('/');
}

const GRAPH = structShape('registry.csvSpec', { replaces: text, skips: listOf(text) });

/**
 * The version that one ClusterServiceVersion of a package manifest directory describes, with the objects in its folder.
 *
 * @throws BundleRefusal
 */
function versionIn(files: readonly ManifestFile[], own: ManifestFile, report: Report): PackageVersion {
  const folder = folderOf(own);
  const all = files.filter((file) => folderOf(file) === folder).flatMap((file) => objectIn(file) ?? []);
  const csv = objectIn(own);
  if (!csv) throw new BundleRefusal('package-manifest/csv-unreadable', 'no object', startOf(own.path));
  // Other ClusterServiceVersions in the folder are versions of their own.
  const objects = all.filter(({ kind, name }) => kind !== 'ClusterServiceVersion' || name === csv.name);
  const metadata = fitObject(csv, CSV_META)['metadata'];
  const annotations = isObject(metadata) && isObject(metadata['annotations']) ? metadata['annotations'] : {};
  const spec = isObject(csv.value['spec']) ? csv.value['spec'] : {};
  const graph = fitObject(csv, GRAPH, { replaces: spec['replaces'], skips: spec['skips'] });
  // The format has no `metadata/`, which would say the rest.
  const bundle: RegistryBundle = {
    name: csv.name,
    package: '',
    channels: [],
    defaultChannel: '',
    csv,
    objects,
    properties: [],
    dependencies: [],
  };
  try {
    checkOwned(bundle);
  } catch (error) {
    if (!(error instanceof BundleRefusal)) throw error;
    report('owned-missing', error.message, error.location);
  }
  return {
    name: csv.name,
    folder,
    replaces: textOf(graph['replaces']),
    skips: storedSkips(Array.isArray(graph['skips']) ? graph['skips'].map(textOf) : []),
    skipRange: textOf(annotations['olm.skipRange']),
    version: versionOf({ csv }).version,
    bundle,
    location: csv.document.locate(['metadata', 'name']),
  };
}

/** Skips as OLM's loader stores them: in one text, with commas between. */
function storedSkips(skips: readonly string[]): string[] {
  const stored = skips.join(',');
  return stored === '' ? [] : stored.split(',');
}
