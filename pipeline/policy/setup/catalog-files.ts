/** Which files of a repository are catalogs, templates or bundles, recognized by what they hold. */
import { load } from '../../../catalog/fbc/load.ts';
import type { Blobs } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import { conversionError } from '../../../catalog/opm/model.ts';
import { lightBlobs } from '../../../catalog/rules/check-catalog.ts';
import { OPM_RULES, opmFindings } from '../../../catalog/rules/opm.ts';
import { bundleChecker, ownSeverity } from '../../../catalog/rules/rule.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import type { ListedFile } from '../../git/tree.ts';
import { type BuildFacts, readBuildFiles } from './build-files.ts';
import { isUnshipped, isUnshippedTemplate } from './unshipped.ts';

/** A file with blobs of a catalog. */
export interface CatalogFile {
  readonly path: string;
  /** Packages that its blobs name. */
  readonly packages: readonly string[];
  /** Packages of which it has the `olm.package` blob. */
  readonly defines: readonly string[];
  /** Whether it has channels or bundles, without which no catalog is one. */
  readonly hasContent: boolean;
  /** Whether it has both, and the package that they are of. */
  readonly isWhole: boolean;
}

/** What a file holds, as far as a layout must fit it. */
export interface CatalogFacts extends CatalogFile {
  /** Its bundles that have a package and a name, and its channels, each as JSON: `["PACKAGE","NAME"]`. */
  readonly bundles: readonly string[];
  readonly channels: readonly string[];
  /** Number of bundles without a name or package: a template has such, and no catalog. */
  readonly unnamed: number;
  /** What keeps opm from reading it. */
  readonly defect: string | undefined;
  /** What opm validate says of it, if it defines all packages that it names. */
  readonly invalid: string | undefined;
  /** What opm validate says of its bundles, each by itself. */
  readonly invalidBundle: string | undefined;
  /** What opm validate asks of catalogs as a whole; undefined where the file cannot be read. */
  readonly blobs: Blobs | undefined;
}

export interface CatalogFilesRead {
  readonly catalogs: readonly CatalogFacts[];
  /** Paths of files with blobs in folders that no cluster gets. */
  readonly unshipped: readonly string[];
  readonly build: BuildFacts;
  /** Paths of all files that were read. */
  readonly read: ReadonlySet<string>;
  /** Paths of templates that catalogs are rendered from. */
  readonly templates: readonly string[];
  /** Paths that composite templates name, as they write them. */
  readonly inputs: ReadonlySet<string>;
  /** Paths of files that would have been read, but are not in a shallow or partial clone. */
  readonly missing: readonly string[];
}

/** Most files that are read, most bytes of all of them, and of one: setup reads any repository, whatever its size. */
const MOST_FILES = 1000;
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_FILE_BYTES = 32 * 1024 * 1024;
/** Most files of the same shape that are read: more of them say nothing more. */
const MOST_ALIKE = 80;

/** Names of files that may be of a catalog, as in `shapes.ts`, which imports from here. */
const FORMAT = /\.(?:ya?ml|json)$/;
/** Folders whose files are never a catalog of their own: hidden ones but that of Konflux, bundles', and npm's. */
const NEVER = /(?:^|\/)(?:\.(?!konflux\/)[^/]*|manifests|metadata|node_modules)\//;
/** What paths of catalogs often have: these words, or a version of OpenShift such as `v4.19`. */
const LIKELY = /catalog|index|fbc|(?:^|[/_-])v?[4-9][._-][0-9]/;

/** What files hold, by their git ids. */
export type KnownFacts = Map<string, FileFacts>;
type FileFacts = Omit<CatalogFacts, 'path'> | Template | undefined;

/** What is looked for in files. */
export interface ReadOptions {
  /** What was read of other commits, to which this adds. */
  readonly known?: KnownFacts;
  /** Whether to validate catalogs as opm does, which takes longer than to read them. */
  readonly validates?: boolean;
}

/** A template, and the paths of files that it names. */
interface Template {
  readonly inputs: readonly string[];
}

/** Reads what is likely to be a catalog, or a template of one: some files of each shape. */
export async function readCatalogFiles(
  objects: ObjectReader,
  files: readonly ListedFile[],
  options: ReadOptions = {},
): Promise<CatalogFilesRead> {
  const build = await readBuildFiles(objects, files);
  const { catalogs, templates, ...looked } = await readSample(objects, sample(files, build), options);
  const isLeftOut = (path: string): boolean => isUnshipped(path) && !isCopied(path, build);
  return {
    ...looked,
    build,
    catalogs: catalogs.filter(({ path }) => !isLeftOut(path)),
    unshipped: catalogs.map(({ path }) => path).filter(isLeftOut),
    templates: templates.filter((path) => !isUnshippedTemplate(path)),
    missing: looked.missing.filter((path) => !isLeftOut(path)),
  };
}

/** Whether a Dockerfile copies a folder whose name alone would leave out a path in it, such as `tests/`. */
function isCopied(path: string, { mentions }: BuildFacts): boolean {
  return mentions.some(
    (one) => one.isCopied && isUnshipped(`${one.path}/`) && `${path}/`.startsWith(`${one.path}/`),
  );
}

/** Whether an index image has a file, whatever the file is called: opm reads all. */
function isServed(path: string, { mentions }: BuildFacts): boolean {
  const [name = ''] = path.split('/').slice(-1);
  return (
    !NEVER.test(path) &&
    !name.startsWith('.') &&
    mentions.some((one) => one.isCopied && one.isInIndex && path.startsWith(`${one.path}/`))
  );
}

/** Files of every shape, spread evenly over those that are alike; likely names come first. */
function sample(files: readonly ListedFile[], build: BuildFacts): ListedFile[] {
  const alike = new Map<string, ListedFile[]>();
  for (const file of files) {
    const { path, mode } = file;
    if (whyUnreadable(mode) !== undefined || !(mayBeCatalog(path) || isServed(path, build))) continue;
    appendToGroup(alike, shapeOf(path), file);
  }
  const rank = ([first]: readonly ListedFile[]): number => {
    const { path = '' } = first ?? {};
    // What nobody publishes is read only to be listed, after all else.
    return (LIKELY.test(path) ? 0 : 1) + (isUnshipped(path) ? 2 : 0);
  };
  return [...alike.values()]
    .sort((a, b) => rank(a) - rank(b))
    .flatMap((group) => spread(group, MOST_ALIKE))
    .slice(0, MOST_FILES);
}

/** Whether a file of this path is read to find catalogs. */
export function mayBeCatalog(path: string): boolean {
  return FORMAT.test(path) && !NEVER.test(path);
}

/** Those of the paths that are called as catalogs are; all where none is. */
export function likelyOf(paths: readonly string[]): string[] {
  const likely = paths.filter((path) => LIKELY.test(path));
  return likely.length > 0 ? likely : [...paths];
}

/** A path's depth, its first folder and its file's name, without their numbers. */
function shapeOf(path: string): string {
  const names = path.split('/');
  const plain = (name = ''): string => name.replaceAll(/[0-9]+/g, '#');
  return `${names.length} ${plain(names[0])} ${plain(names.at(-1))}`;
}

/** At most so many items of a list, spread evenly over it. */
function spread<T>(list: readonly T[], most: number): T[] {
  const step = Math.max(1, list.length / most);
  return Array.from({ length: Math.min(list.length, most) }, (_, i) => list[Math.floor(i * step)]).flatMap(
    (one) => (one === undefined ? [] : [one]),
  );
}

/** Reads files, up to a limit of bytes, and tells catalogs from templates and other files. */
async function readSample(
  objects: ObjectReader,
  files: readonly ListedFile[],
  { known = new Map(), validates }: ReadOptions,
): Promise<Omit<CatalogFilesRead, 'unshipped' | 'build'>> {
  const catalogs: CatalogFacts[] = [];
  const templates: string[] = [];
  const read = new Set<string>();
  const inputs = new Set<string>();
  const infos = await Promise.all(files.map(({ id }) => objects.info(id)));
  const missing = files.flatMap(({ path }, i) => (infos[i] ? [] : [path]));
  let bytes = 0;
  for (const [i, { path, id }] of files.entries()) {
    const size = infos[i]?.size ?? MOST_FILE_BYTES;
    // Not noted as read, which would make it a file of another kind: somebody forgot the content of a catalog's file.
    if (size === 0) continue;
    if (!known.has(id)) {
      if (size >= MOST_FILE_BYTES || bytes + size > MOST_BYTES) continue;
      bytes += size;
    }
    const found = known.get(id) ?? (await factsOfFile(objects, id, validates));
    known.set(id, found);
    read.add(path);
    if (found && 'inputs' in found) {
      templates.push(path);
      for (const input of found.inputs) inputs.add(input);
    } else if (found) catalogs.push({ path, ...found });
  }
  return { catalogs, templates, read, missing, inputs };
}

/** A schema of a catalog or template: most files have none, and are not parsed. */
const MAYBE = /olm\.(?:package|channel|bundle|deprecations|semver|template|composite)/;

/** What a file holds; undefined where that is nothing of a catalog. */
export async function factsOfFile(objects: ObjectReader, id: string, validates = false): Promise<FileFacts> {
  const { bytes } = await objects.read(id, MOST_FILE_BYTES);
  const text = bytes.toString('utf8');
  if (!MAYBE.test(text)) return undefined;
  const { blobs, findings } = await load({
    files: () => Promise.resolve([{ path: 'file', read: () => bytes }]),
  });
  const { packages, channels, bundles, deprecations } = blobs;
  const packagesOfBlobs = [...channels, ...bundles, ...deprecations].map((blob) => blob.package);
  const defines = packages.map(({ name }) => name);
  const all = [...new Set([...defines, ...packagesOfBlobs])].filter((name) => name !== '');
  const namedBundles = bundles.filter(({ name, package: packageName }) => name !== '' && packageName !== '');
  const keyOf = (blob: { readonly package: string; readonly name: string }): string =>
    copiedText(JSON.stringify([blob.package, blob.name]));
  if (all.length === 0) return isTemplateText(text) ? { inputs: inputsOf(text) } : undefined;
  // A template may be a list of blobs without a schema of its own: what opm renders from it has names.
  if (namedBundles.length === 0 && bundles.length > 0) return { inputs: [] };
  const defect = findings.find(({ severity }) => severity === 'error')?.message;
  // opm validate refuses a file that lacks the package of a blob; the rest of it may be in another file.
  const isClosed =
    channels.length > 0 && namedBundles.length > 0 && all.every((pkg) => defines.includes(pkg));
  return {
    packages: all.map(copiedText),
    defines: defines.map(copiedText),
    hasContent: channels.length + bundles.length > 0,
    isWhole: defines.length > 0 && channels.length > 0 && namedBundles.length > 0,
    bundles: namedBundles.map(keyOf),
    channels: channels.map(keyOf),
    unnamed: bundles.length - namedBundles.length,
    defect,
    invalid: validates && defect === undefined && isClosed ? invalidity(blobs) : undefined,
    invalidBundle: validates && defect === undefined ? bundleDefect(blobs) : undefined,
    blobs: defect === undefined ? lightBlobs(blobs) : undefined,
  };
}

/** Whether a text of {@link CatalogFacts} for a bundle or channel is of a package. */
export function isKeyOf(packageName: string, key: string): boolean {
  return key.startsWith(`[${JSON.stringify(packageName)},`);
}

/** What opm validate says first of blobs; undefined where they pass. */
function invalidity(blobs: Blobs): string | undefined {
  return conversionError(blobs) ?? opmFindings(blobs).find(({ severity }) => severity === 'error')?.message;
}

/** What opm validate says first of bundles alone; undefined where they pass. */
function bundleDefect({ bundles }: Blobs): string | undefined {
  const findings: Finding[] = [];
  const check = bundleChecker(OPM_RULES, ownSeverity, findings);
  for (const bundle of bundles) check(bundle);
  return findings.find(({ severity }) => severity === 'error')?.message;
}

/** The files that a composite template renders, as `input:` and `path:` of its builders name them. */
function inputsOf(text: string): string[] {
  const named = text.matchAll(/["']?(?:input|path)["']?\s*:\s*["']?([\w./-]+\.(?:ya?ml|json))\b/g);
  return [...named].map(([, path = '']) => copiedText(path.replace(/^\.\//, '')));
}

/** A copy of a text: a part of a file's text would keep all of it in memory. */
function copiedText(text: string): string {
  return Buffer.from(text).toString('utf8');
}

// Templates that opm renders catalogs from, recognized by their text.

/** A schema at the top: on any line of YAML, which opm writes last, or among other keys of JSON. */
const SCHEMA = /(?:^[ \t]*|[{,]\s*)["']?schema["']?\s*:\s*["']?olm\.(?:template\.|semver|composite)/im;

/** Blobs below a key, as templates of old have them: `entries:` of a basic one. */
const ENTRIES = /^(?:["']?entries["']?|[{ \t]*"entries")\s*:/m;
const BLOB = /schema["']?\s*:\s*["']?olm\.(?:package|channel|bundle)\b/;

/** What both have; most texts do not, and one look for it is cheap. */
const ANY = /olm\./i;

/** Whether blobs stand below a key `entries`; it need not be near them, so the text behind it is searched. */
function hasNested(text: string): boolean {
  const entries = text.search(ENTRIES);
  return entries >= 0 && BLOB.test(text.slice(entries));
}

/** Whether a file without blobs of a catalog is a template of one. */
export function isTemplateText(text: string): boolean {
  return ANY.test(text) && (SCHEMA.test(text) || hasNested(text));
}
