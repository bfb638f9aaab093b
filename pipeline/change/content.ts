/** The blobs of catalog units, by package. Equal git blobs are read once, wherever they lie. */
import { createHash } from 'node:crypto';
import type { KnownDocuments, ReadDocument } from '../../catalog/fbc/documents.ts';
import { IGNORE_FILE, ignoreHint } from '../../catalog/fbc/ignore.ts';
import { catalogFiles, excessText, type Loaded, type LoadLimits, load } from '../../catalog/fbc/load.ts';
import {
  type Blob,
  type Blobs,
  type Bundle,
  type Channel,
  type Deprecations,
  locate,
  NO_BLOBS,
  type PackageBlob,
} from '../../catalog/fbc/model.ts';
import type { Finding } from '../../catalog/finding.ts';
import { templateKind } from '../../catalog/opm/template/kinds.ts';
import { TemplateError } from '../../catalog/opm/template/template.ts';
import type { ObjectReader } from '../git/objects.ts';
import { sourceFile, whyUnreadable } from '../git/source.ts';
import { entryAt, filesBelow, isTree, joinPath, type ListedFile } from '../git/tree.ts';
import { LruCache } from '../lru-cache.ts';
import { firstMatch } from '../policy/layout.ts';
import { type ComposedPackage, composedPackage, type ReadBundles } from './community-package.ts';
import type { CatalogUnit } from './unit.ts';

/** A file that a catalog is loaded from, or the folder that a package is made from. */
export interface LoadedFile extends ListedFile {
  readonly composed?: ComposedPackage;
  /** Why opm could not load it. */
  readonly unreadable?: string | undefined;
}

/** Reads files of catalogs and templates, each content once. */
export interface FileReader {
  /** Most entries of a package's channels, and alternatives of their ranges. */
  readonly mostEntries: number;
  /** Findings name the file by its full path; blobs that were made are in the files of their bundles. */
  read(file: LoadedFile): Promise<Loaded>;
  /**
   * What rendering reads of a template: the blobs that stand in it. Findings are what rendering would refuse.
   * Undefined for what is not a template, which rendering takes as a catalog or not at all.
   */
  readTemplate(file: ListedFile): Promise<Loaded | undefined>;
}

/** What files hold. Most versions of a file have most documents in common: each is read once. */
export interface KeptFiles {
  /** Files by git id and by the limits under which they were read, weighed by their bytes. */
  readonly files: LruCache<Loaded>;
  readonly documents: KnownDocuments;
}

/** Most bytes of files, and most characters of documents, that stay parsed. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** A cache for the contents of files, with a limit. */
export function keptFiles(): KeptFiles {
  const documents = new LruCache<ReadDocument>(KEPT_BYTES);
  const keyOf = (text: string): string => createHash('sha256').update(text).digest('base64');
  return {
    files: new LruCache(KEPT_BYTES),
    documents: {
      find: (text, read) => {
        const key = keyOf(text);
        const known = documents.get(key);
        const found = known ?? read();
        if (found && !known) documents.keep(key, found, text.length);
        return found;
      },
    },
  };
}

/** What a change may ask of the machine that reads it. */
export interface ChangeBudget {
  /** Of the files that are new. */
  readonly ids: ReadonlySet<string>;
  /** How many values these may still have. */
  readonly values: { left: number };
}

/**
 * Reads the blobs of files, each once.
 *
 * @param files contents that stay for another reader of the same repository
 * @param budget of the change that is read; none when left out
 */
export function fileReader(
  objects: ObjectReader,
  limits: LoadLimits & { readonly entries?: number },
  files?: KeptFiles,
  budget?: ChangeBudget,
): FileReader {
  const kept = new Map<string, Promise<Loaded>>();
  const bundles: ReadBundles = new Map();
  const templates = new Map<string, Promise<Loaded | undefined>>();
  const limitsOf = ({ id }: LoadedFile): LoadLimits =>
    budget?.ids.has(id) ? { ...limits, total: budget.values } : limits;
  return {
    mostEntries: limits.entries ?? Number.POSITIVE_INFINITY,
    readTemplate: async (file) => {
      const key = readingKey(file);
      const read = templates.get(key) ?? readTemplate(objects, file, limits);
      templates.set(key, read);
      const found = await read;
      return found && { ...found, findings: found.findings.map((finding) => inFile(finding, file.path)) };
    },
    read: async (file) => {
      const key = readingKey(file);
      if (file.composed) {
        const read =
          kept.get(key) ?? composedPackage(objects, { tree: file.id, composed: file.composed }, bundles);
        kept.set(key, read);
        return read;
      }
      if (file.unreadable !== undefined) {
        const { path, unreadable } = file;
        return load({ files: () => Promise.resolve([{ path, unreadable, read: () => new Uint8Array() }]) });
      }
      const read = kept.get(key) ?? readKept(objects, file, { limits: limitsOf(file), kept: files });
      kept.set(key, read);
      const { blobs, findings } = await read;
      return { blobs, findings: findings.map((finding) => inFile(finding, file.path)) };
    },
  };
}

/**
 * Equal for files that are read alike: those of one content, wherever they lie, but a link may have the id of a regular file.
 * A composed package has its path in its findings, and its catalog in its path.
 */
export function readingKey({ composed, path, mode, id }: LoadedFile): string {
  return composed ? `${id} ${path}` : `${mode} ${id}`;
}

/** Reads a file's blobs, or takes them from `kept`. A file that was read only in part, because of limits, is not kept. */
async function readKept(
  objects: ObjectReader,
  file: ListedFile,
  { limits, kept }: { readonly limits: LoadLimits; readonly kept: KeptFiles | undefined },
): Promise<Loaded> {
  const source = { files: () => Promise.resolve([sourceFile(objects, { ...file, path: ANY_FILE })]) };
  if (!kept) return load(source, limits);
  // `total` is what this change may still read. The other limits are the same for all changes.
  const { total, ...sameForAll } = limits;
  const key = JSON.stringify([file.mode, file.id, sameForAll]);
  const known = kept.files.get(key);
  if (known) return known;
  const [loaded, info] = await Promise.all([load(source, limits, {}, kept.documents), objects.info(file.id)]);
  // What one change may not read of a file, another may.
  if (total === undefined || total.left >= 0) kept.files.keep(key, loaded, info?.size ?? 0);
  return loaded;
}

/** The blobs of a template by the reader that renders it; undefined for files that are not templates or too large. */
async function readTemplate(
  objects: ObjectReader,
  { mode, id }: ListedFile,
  { fileBytes }: LoadLimits,
): Promise<Loaded | undefined> {
  const info = await objects.info(id);
  // What is not a file, or too large, is refused where files are read.
  if (whyUnreadable(mode) !== undefined || (info && info.size > fileBytes)) return undefined;
  const template = { file: ANY_FILE, bytes: (await objects.read(id, fileBytes)).bytes };
  const kind = templateKind(template);
  if (!kind) return undefined;
  const findings: Finding[] = [];
  try {
    return { blobs: kind.written(template, findings), findings };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { blobs: NO_BLOBS, findings: [...findings, error.finding] };
  }
}

/** A finding, moved into a file: its content was read once, under {@link ANY_FILE}, for all files that have it. */
function inFile(finding: Finding, file: string): Finding {
  const hint = UNREAD.has(finding.rule) ? ignoreHint(file) : undefined;
  return { ...finding, ...(hint === undefined ? {} : { hint }), location: { ...finding.location, file } };
}

/** Rules that say of a file that it is not one of blobs. */
const UNREAD: ReadonlySet<string> = new Set(['fbc/yaml', 'fbc/object']);

/** A name for contents that may be in files of several names. */
const ANY_FILE = 'file.yaml';

/** The blobs of one package in one unit, and in which file each of them is. */
export interface PackageContent extends Blobs {
  readonly packages: PackageBlob[];
  readonly channels: Channel[];
  readonly bundles: Bundle[];
  readonly deprecations: Deprecations[];
  readonly others: Blob[];
  readonly files: Map<Blob, string>;
}

/** Content to add to: a new one each time. */
export function emptyContent(): PackageContent {
  return { packages: [], channels: [], bundles: [], deprecations: [], others: [], files: new Map() };
}

export interface UnitContent {
  /** By package; blobs that name none are under the empty name. */
  readonly packages: ReadonlyMap<string, PackageContent>;
  /** What keeps blobs of a file from being read, all of severity error. */
  readonly unread: readonly Finding[];
  /** What reading warns of, such as a bundle that a composed graph leaves out. */
  readonly warnings: readonly Finding[];
  /** Packages with more entries than are compared, whichever of their files changed. */
  readonly excess: readonly Finding[];
}

/** The files of a unit that opm would load: all but those that `.indexignore` files leave out. */
export async function loadedFiles(
  objects: ObjectReader,
  tree: string,
  unit: CatalogUnit,
): Promise<LoadedFile[]> {
  if (unit.composed) return [{ path: unit.path, mode: unit.mode, id: unit.id, composed: unit.composed }];
  const ignoring = await ignoreFilesAbove(objects, tree, unit);
  const own = { path: unit.path, mode: unit.mode, id: unit.id };
  if (!isTree(unit.mode) && ignoring.length === 0) return [own];
  const inside = await filesBelow(objects, own);
  const below = (path: string): string => (unit.root === '' ? path : path.slice(unit.root.length + 1));
  const all = new Map([...ignoring, ...inside].map((file) => [below(file.path), file]));
  const source = {
    files: () => Promise.resolve([...all].map(([path, file]) => sourceFile(objects, { ...file, path }))),
  };
  // The reader that publishes decides which files count.
  const files = await catalogFiles(source);
  const loaded = files.flatMap(({ path, unreadable }) => {
    const file = all.get(path);
    return file ? [{ ...file, unreadable }] : [];
  });
  return loaded.filter(({ path }) => path === unit.path || !isOfEarlier(unit, path));
}

/** Whether a file of a unit's folder is of an earlier pattern: the first that matches a file decides whose it is. */
function isOfEarlier({ earlier = [] }: CatalogUnit, path: string): boolean {
  return earlier.length > 0 && firstMatch(earlier, path) !== undefined;
}

/** Ignore files of the folders from the catalog's own down to the unit. */
async function ignoreFilesAbove(
  objects: ObjectReader,
  tree: string,
  { path, root }: CatalogUnit,
): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  const names = path.split('/');
  const rootLength = root === '' ? 0 : root.split('/').length;
  for (let length = rootLength; length < names.length; length++) {
    const file = joinPath(names.slice(0, length).join('/'), IGNORE_FILE);
    const entry = await entryAt(objects, tree, file);
    if (entry && !isTree(entry.mode)) files.push({ path: file, ...entry });
  }
  return files;
}

/** Reads files and sorts their blobs by package. */
export async function readContent(reader: FileReader, files: readonly LoadedFile[]): Promise<UnitContent> {
  const packages = new Map<string, PackageContent>();
  const unread: Finding[] = [];
  const warnings: Finding[] = [];
  const contentFor = (name: string, blob: Blob, file: string): PackageContent => {
    const content = packages.get(name) ?? emptyContent();
    packages.set(name, content);
    content.files.set(blob, file);
    return content;
  };
  const loaded = await Promise.all(files.map((file) => reader.read(file)));
  for (const [i, file] of files.entries()) {
    const { blobs = emptyContent(), findings = [] } = loaded[i] ?? {};
    for (const finding of findings) (finding.severity === 'error' ? unread : warnings).push(finding);
    for (const blob of blobs.packages) contentFor(blob.name, blob, file.path).packages.push(blob);
    for (const blob of blobs.channels) contentFor(blob.package, blob, file.path).channels.push(blob);
    for (const blob of blobs.bundles) contentFor(blob.package, blob, file.path).bundles.push(blob);
    for (const blob of blobs.deprecations) contentFor(blob.package, blob, file.path).deprecations.push(blob);
    for (const blob of blobs.others) contentFor(blob.package, blob, file.path).others.push(blob);
  }
  const excess = [...packages].flatMap(([name, content]) => dropExcess(name, content, reader.mostEntries));
  return { packages, unread, warnings, excess };
}

/** Empties the channels of a package when comparing all of its versions would cost too much, and says so. */
function dropExcess(name: string, { channels, files }: PackageContent, most: number): Finding[] {
  const [first] = channels;
  const message = excessText(name, channels, most);
  if (!first || message === undefined) return [];
  channels.length = 0;
  return [
    {
      rule: 'fbc/limits',
      severity: 'error',
      message,
      // The file's own name: its content is read without it.
      location: { ...locate(first, 'entries'), file: files.get(first) ?? '' },
      hint: 'remove entries, or raise limits.entries in the policy',
      package: name,
    },
  ];
}
