/**
 * The folder of an operator in a repository of bundle directories: its settings in `ci.yaml`, and a folder for each
 * version.
 *
 * @see https://github.com/redhat-openshift-ecosystem/operator-pipelines/blob/main/operatorcert/operator_repo/core.py
 */
import type { Location } from '../finding.ts';
import { isObject } from '../go/shape.ts';
import type { CatalogSource, SourceFile } from '../source.ts';
import { type Fields, memberObject, memberText } from './inspect.ts';
import { readManifestFile } from './manifest.ts';

/** One document of YAML, or why the file is none. */
export interface OperatorFile {
  readonly path: string;
  /** What is in it; undefined for a file with a defect. */
  readonly value: unknown;
  /** Why nothing can be read of it, in words, with the place. */
  readonly defect: { readonly message: string; readonly location: Location } | undefined;
  locate(...path: readonly (string | number)[]): Location;
}

/** The folder of a version, with `manifests` and `metadata`. */
export interface OperatorBundle {
  /** Name of the folder, which should be the version. */
  readonly folder: string;
  readonly annotationsFile: OperatorFile | undefined;
  readonly annotations: Fields;
  /** The first `*.clusterserviceversion.yaml` or, if there is none, `.yml`; undefined without either. */
  readonly csvFile: OperatorFile | undefined;
  readonly csv: Fields;
  /** The two parts of the ClusterServiceVersion's name, around the first dot and a `v`; undefined for another name. */
  readonly name: { readonly operator: string; readonly version: string } | undefined;
  /** Of the annotation, without repeats. */
  readonly channels: readonly string[];
  readonly defaultChannel: string | undefined;
  readonly releaseConfig: OperatorFile | undefined;
}

export interface OperatorFolder {
  /** Name of the folder. */
  readonly name: string;
  readonly path: string;
  /** `ci.yaml`; undefined without one. */
  readonly config: OperatorFile | undefined;
  /** In the order of the folders' names. */
  readonly bundles: readonly OperatorBundle[];
  /** The bundles that a change brings or changes. */
  readonly changed: readonly OperatorBundle[];
  /** `organization` in the repository's `config.yaml`. */
  readonly organization: string | undefined;
}

interface OperatorFolderOptions {
  readonly path: string;
  /** Whether a change brings a version's folder or changes it; all of them when left out. */
  readonly isChanged?: (folder: string) => boolean;
  readonly organization?: string | undefined;
}

const PACKAGE = 'operators.operatorframework.io.bundle.package.v1';
const CHANNELS = 'operators.operatorframework.io.bundle.channels.v1';
const DEFAULT_CHANNEL = 'operators.operatorframework.io.bundle.channel.default.v1';

/** The package that a bundle's annotations name; empty without one. */
export function packageOf({ annotations }: OperatorBundle): string {
  return scalarText(annotations[PACKAGE]);
}

/** Reads an operator's folder. Of its files only those that say something of the operator are read. */
export async function readOperatorFolder(
  source: CatalogSource,
  { path, isChanged = () => true, organization }: OperatorFolderOptions,
): Promise<OperatorFolder> {
  const files = new Map((await source.files()).map((file) => [file.path, file]));
  const folders = bundleFoldersIn([...files.keys()]);
  const bundles: OperatorBundle[] = [];
  for (const folder of folders) bundles.push(await readBundle(files, path, folder));
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    config: await readFirst(files, path, ['ci.yaml', 'ci.yml']),
    bundles,
    changed: bundles.filter(({ folder }) => isChanged(folder)),
    organization,
  };
}

/** Names of folders that have both parts of a bundle. */
export function bundleFoldersIn(paths: readonly string[]): string[] {
  const parts = new Map<string, Set<string>>();
  for (const path of paths) {
    const [folder = '', part = '', file] = path.split('/');
    if (file !== undefined) parts.set(folder, (parts.get(folder) ?? new Set()).add(part));
  }
  return [...parts]
    .filter(([, inside]) => inside.has('manifests') && inside.has('metadata'))
    .map(([folder]) => folder)
    .sort();
}

type Files = ReadonlyMap<string, SourceFile>;

/**
 * Reads what checks need of a bundle in an operator's folder: annotations, ClusterServiceVersion and release-config.yaml.
 */
async function readBundle(files: Files, root: string, folder: string): Promise<OperatorBundle> {
  const metadata = `${folder}/metadata/annotations`;
  const annotationsFile = await readFirst(files, root, [`${metadata}.yaml`, `${metadata}.yml`]);
  const csvFile = await readFirst(files, root, csvPaths(files, folder));
  const annotations = memberObject(annotationsFile?.value, 'annotations');
  const csv = isObject(csvFile?.value) ? csvFile.value : {};
  const channels = scalarText(annotations[CHANNELS]);
  const written = annotations[DEFAULT_CHANNEL];
  return {
    folder,
    annotationsFile,
    annotations,
    csvFile,
    csv,
    name: nameOf(memberText(memberObject(csv, 'metadata'), 'name')),
    channels: CHANNELS in annotations ? [...new Set(channels.split(',').map((one) => one.trim()))] : [],
    defaultChannel: DEFAULT_CHANNEL in annotations ? scalarText(written).trim() : undefined,
    releaseConfig: await readFirst(files, root, [`${folder}/release-config.yaml`]),
  };
}

/** The paths of ClusterServiceVersions directly in `manifests/`, those that end with `.yaml` first. */
function csvPaths(files: Files, folder: string): string[] {
  const inside = [...files.keys()].filter((path) => path.startsWith(`${folder}/manifests/`)).sort();
  const ending = (suffix: string): string[] =>
    inside.filter(
      (path) => path.split('/').length === 3 && path.endsWith(`.clusterserviceversion.${suffix}`),
    );
  return [...ending('yaml'), ...ending('yml')];
}

/** The operator and the version in the name of a ClusterServiceVersion. */
function nameOf(name: string): OperatorBundle['name'] {
  const at = name.indexOf('.');
  return at < 0 ? undefined : { operator: name.slice(0, at), version: name.slice(at + 1).replace(/^v+/, '') };
}

/** Reads the first of some files that exists; undefined if none does. */
async function readFirst(
  files: Files,
  root: string,
  paths: readonly string[],
): Promise<OperatorFile | undefined> {
  const path = paths.find((one) => files.has(one));
  const file = path === undefined ? undefined : files.get(path);
  if (path === undefined || !file) return undefined;
  const place = `${root}/${path}`;
  if (file.unreadable === undefined) return operatorFile(place, await file.read());
  return brokenFile(place, `the file is ${file.unreadable}`);
}

/** Reads a file of an operator's folder, which must be one document of YAML. A file that is not has a `defect`. */
export function operatorFile(path: string, bytes: Uint8Array): OperatorFile {
  const { documents } = readManifestFile(path, bytes);
  const [first, second] = documents;
  if (first?.kind === 'unread') return brokenFile(path, first.message, first.location);
  if (second) {
    const location = second.kind === 'unread' ? second.location : second.document.locate([]);
    return brokenFile(path, 'the file must be one document', location);
  }
  const start = { file: path, line: 1, column: 1 };
  return {
    path,
    value: first?.value,
    defect: undefined,
    locate: (...steps) => first?.document.locate(steps) ?? start,
  };
}

/** A file of which nothing can be read; every place in it is the place of its defect. */
function brokenFile(
  path: string,
  message: string,
  location: Location = { file: path, line: 1, column: 1 },
): OperatorFile {
  return { path, value: undefined, defect: { message, location }, locate: () => location };
}

function scalarText(value: unknown): string {
  return ['string', 'number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : '';
}
