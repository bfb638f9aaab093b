/**
 * Several catalogs read together: a file that stands in more than one of them, as most
 * do from one version of a platform to the next, is parsed once.
 */
import { createHash } from 'node:crypto';
import { basename, resolve } from 'node:path';
import {
  catalogFiles,
  countEntries,
  DEFAULT_LIMITS,
  densityIn,
  excessText,
  type Loaded,
  load,
  MOST_ENTRIES,
  valueRoom,
} from '../../catalog/fbc/load.ts';
import { type Catalog, catalogOf, joinedBlobs } from '../../catalog/fbc/model.ts';
import type { Finding } from '../../catalog/finding.ts';
import type { CatalogSource, SourceFile } from '../../catalog/source.ts';
import { directorySource } from '../directory.ts';
import { PipelineError } from '../error.ts';

/** A catalog to read, and what people call it. */
export interface CatalogPlace {
  readonly name: string;
  /** What stands before the paths of its files where people see them; empty, or ends with a slash. */
  readonly prefix: string;
  readonly source: CatalogSource;
}

export interface ReadCatalog extends CatalogPlace {
  readonly catalog: Catalog;
  /** What could not be read, or was read otherwise than written; paths lack the prefix. */
  readonly unread: readonly Finding[];
  /** Names the content of each file: path and digest. */
  readonly files: readonly string[];
}

/**
 * Directories as catalogs, each called after its last folder, or after its whole path
 * where two catalogs would be called the same.
 *
 * @param directory where relative paths start
 * @param taken names of other catalogs
 */
export function catalogPlaces(
  roots: readonly string[],
  directory: string,
  taken: readonly string[] = [],
): CatalogPlace[] {
  const names = roots.map((root) => basename(resolve(directory, root)));
  return roots.map((root, i) => {
    const own = names[i] ?? root;
    return {
      name: [...names, ...taken].filter((name) => name === own).length > 1 ? root : own,
      prefix: root === '.' ? '' : `${root.replace(/\/+$/, '')}/`,
      source: directorySource(resolve(directory, root)),
    };
  });
}

/**
 * Reads catalogs. Equal files at equal paths are the same blobs in all of them.
 *
 * @param mostEntries of a package's channels in a catalog
 * @throws PipelineError `too-large` for a package with more, or 30 times as many in all, or a catalog with too many values for its size
 */
export async function readCatalogs(
  places: readonly CatalogPlace[],
  mostEntries: number = MOST_ENTRIES,
): Promise<ReadCatalog[]> {
  const loadedById = new Map<string, Promise<Loaded>>();
  const read: ReadCatalog[] = [];
  let entries = 0;
  for (const place of places) {
    const added = await readCatalog(place, loadedById);
    entries += entriesOf(added.catalog, place.name, mostEntries);
    const most = PACKAGES_AT_LIMIT * mostEntries;
    if (entries > most)
      throw new PipelineError(
        'too-large',
        `the channels have ${entries} entries up to ${place.name}, with the alternatives of their ranges; the limit is ${most}`,
        { hint: 'name fewer catalogs, or remove channels or entries' },
      );
    read.push(added);
  }
  return read;
}

/** Catalogs read together may have the entries of so many packages at the limit: to simulate each takes up to 50 MB. */
const PACKAGES_AT_LIMIT = 30;

/**
 * The entries of a catalog, which must not cost too much to simulate.
 *
 * @throws PipelineError `too-large` for a package with more than the limit
 */
function entriesOf(catalog: Catalog, name: string, most: number): number {
  let entries = 0;
  for (const [ofPackage, { channels }] of catalog.packages) {
    const all = [...channels.values()];
    const message = excessText(ofPackage, all, most);
    if (message !== undefined)
      throw new PipelineError('too-large', `${name}: ${message}`, { hint: 'remove channels or entries' });
    entries += countEntries(all);
  }
  return entries;
}

/**
 * Refuses a catalog that was not read to its end.
 *
 * @throws PipelineError `too-large` for one with too many values for its size
 */
export function refuseDense(findings: readonly Finding[], name: string): void {
  const { location, message, hint } = densityIn(findings) ?? {};
  if (location === undefined) return;
  const where = `${location.file}:${location.line}`;
  throw new PipelineError('too-large', `${name}: ${where}: ${message}`, hint === undefined ? {} : { hint });
}

/** Reads a catalog file by file. Files with the same content, in any catalog, are parsed once: `loadedById` has them. */
async function readCatalog(
  place: CatalogPlace,
  loadedById: Map<string, Promise<Loaded>>,
): Promise<ReadCatalog> {
  const limits = { ...DEFAULT_LIMITS, room: valueRoom() };
  const unread: Finding[] = [];
  const parts: Loaded[] = [];
  const ids: string[] = [];
  for (const file of await catalogFiles(place.source)) {
    const { id, content } = await withContentId(file);
    const loaded = loadedById.get(id) ?? load({ files: () => Promise.resolve([content]) }, limits);
    loadedById.set(id, loaded);
    ids.push(id);
    parts.push(await loaded);
  }
  for (const part of parts) {
    for (const finding of part.findings) unread.push(finding);
  }
  refuseDense(unread, place.name);
  return {
    ...place,
    catalog: catalogOf(joinedBlobs(parts.map(({ blobs }) => blobs))),
    unread,
    files: ids,
  };
}

/**
 * A file with the id of its path and content. A file of git or of an image has an identity already; others are read for
 * their digest.
 */
async function withContentId(file: SourceFile): Promise<{ id: string; content: SourceFile }> {
  if (file.unreadable !== undefined) return { id: `${file.path}\n${file.unreadable}`, content: file };
  if (file.identity !== undefined) return { id: `${file.path}\n${file.identity}`, content: file };
  const bytes = await file.read();
  const digest = createHash('sha256').update(bytes).digest('hex');
  // The bytes are kept for the parser, except those of a file that can be read again in pieces.
  return { id: `${file.path}\n${digest}`, content: file.readPieces ? file : { ...file, read: () => bytes } };
}
