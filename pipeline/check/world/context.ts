/**
 * What surrounds the packages that a pull request touches: all other packages of the same catalogs, as outlines.
 * Equal files are read once, whatever catalogs they are in, and no more is read or fetched than a bound allows.
 */

import { hidesBlobs, type Loaded, load } from '../../../catalog/fbc/load.ts';
import {
  type Blobs,
  blobCount,
  type Catalog,
  catalogOf,
  joinedBlobs,
  type Package,
} from '../../../catalog/fbc/model.ts';
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { OUTLINE } from '../../../catalog/olm/outline.ts';
import type { CatalogFile } from '../../change/catalog-files.ts';
import { type FileReader, type LoadedFile, readingKey } from '../../change/content.ts';
import { mentionsAny } from '../../file-pieces.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { sourceFile, whyUnreadable } from '../../git/source.ts';
import { LruCache } from '../../lru-cache.ts';
import type { Limits, Policy } from '../../policy/policy.ts';
import type { CheckReport, ContextCount } from '../report.ts';

/** What is said of the untouched packages. */
export interface ContextReport {
  readonly count: ContextCount | undefined;
  readonly unchecked: CheckReport['unchecked'];
  /** Why it is not known whether the pull request harms packages that it does not touch. */
  readonly incomplete: string | undefined;
}

export const NO_CONTEXT: ContextReport = { count: undefined, unchecked: [], incomplete: undefined };

/** An untouched file as an outline. */
interface Outline {
  readonly catalog: Catalog;
  /** Names of the packages that it has blobs of. */
  readonly packages: ReadonlySet<string>;
}

/** A file that was read, by its git id. */
interface ReadOutline extends Outline {
  /** Whether some of it cannot be read. */
  readonly isBroken: boolean;
}

/** Outlines of files for several checks of one repository, weighed by their blobs and entries. */
export type KeptOutlines = LruCache<KeptOutline>;

interface KeptOutline extends ReadOutline {
  /** Of the file, in bytes. */
  readonly size: number;
}

/** Most blobs and channel entries of outlines that are kept. */
const MOST_KEPT = 150_000;

/** Room for outlines. */
export function keptOutlines(): KeptOutlines {
  return new LruCache(MOST_KEPT);
}

/** Packages that are made from bundle directories and read for what surrounds others. */
const MOST_COMPOSED = 20;

/** Files that are asked for together: the bound is looked at between such requests. */
const TOGETHER = 500;

/**
 * Reads untouched files as outlines, each once, and counts their bytes: what is beyond `limits.contextBytes` is left out, and
 * its catalog is noted.
 */
export class ContextReader {
  readonly #objects: ObjectReader;
  readonly #reader: FileReader;
  readonly #limits: Limits;
  readonly #kept: KeptOutlines | undefined;
  /** The limits in the keys of what is kept. */
  readonly #limitsKey: string;
  readonly #outlines = new Map<string, Outline | 'left'>();
  /** Catalogs with files beyond `limits.contextBytes`. */
  readonly left: Set<string> = new Set();
  /** Catalogs with packages beyond {@link MOST_COMPOSED}. */
  readonly leftComposed: Set<string> = new Set();
  /** Catalogs with files that cannot be read. */
  readonly unreadable: Set<string> = new Set();
  /** Catalogs whose files were left out where only the touched packages are looked for. */
  readonly leftElsewhere: Set<string> = new Set();
  #composedRead = 0;
  /** Bytes that were searched for names, and what was found. */
  #searched = 0;
  readonly #mentioned = new Map<string, boolean>();
  #count = { files: 0, bytes: 0, fetched: 0, fetchedBytes: 0, requests: 0 };

  /** @param kept outlines that stay for other checks of the same repository */
  constructor(
    objects: ObjectReader,
    reader: FileReader,
    { limits, kept }: { readonly limits: Limits; readonly kept?: KeptOutlines | undefined },
  ) {
    this.#objects = objects;
    this.#reader = reader;
    this.#limits = limits;
    this.#kept = kept;
    this.#limitsKey = JSON.stringify(limits);
  }

  get count(): ContextCount {
    return this.#count;
  }

  /**
   * A reader that gives outlines where they were read, and reads all other files in full. What surrounds the changed packages
   * needs no more, and what is wrong with it is for its own pull request to report.
   */
  outlinesBefore(reader: FileReader): FileReader {
    return {
      ...reader,
      read: async (file) => {
        const { catalog } = this.outline(file) ?? {};
        return catalog ? { blobs: catalog.blobs, findings: [] } : reader.read(file);
      },
    };
  }

  /** The outline of a file that was read; undefined for one that was left out. */
  outline(file: LoadedFile): Outline | undefined {
    const found = this.#outlines.get(readingKey(file));
    return found === 'left' ? undefined : found;
  }

  /** Reads outlines of files as far as the bound allows. */
  async read(files: readonly CatalogFile[]): Promise<void> {
    await this.#readAll(files);
    for (const file of files) {
      if (this.#outlines.get(readingKey(file)) !== 'left') continue;
      (file.composed ? this.leftComposed : this.left).add(file.unit.catalog);
    }
  }

  /** Reads outlines of files of catalogs that the touched packages are looked for in, as far as the bound allows. */
  async readElsewhere(files: readonly CatalogFile[]): Promise<void> {
    await this.#readAll(files);
    for (const file of files)
      if (this.#outlines.get(readingKey(file)) === 'left') this.leftElsewhere.add(file.unit.catalog);
  }

  /**
   * The files whose text has any of some names, as far as the bound allows. Packages that are made from bundle directories
   * have no text of their own to search: all of them are given.
   */
  async mentioning(files: readonly CatalogFile[], names: ReadonlySet<string>): Promise<CatalogFile[]> {
    const plain = files.filter(({ composed, mode }) => !composed && whyUnreadable(mode) === undefined);
    await this.#bring(plain);
    const found: CatalogFile[] = [];
    for (const file of plain) {
      const outline = this.#outlines.get(readingKey(file));
      const isKnown = outline !== undefined && outline !== 'left';
      const has = isKnown ? hasAny(outline.packages, names) : await this.#mentions(file, names);
      if (has) found.push(file);
    }
    return [...found, ...files.filter(({ composed }) => composed)];
  }

  /**
   * Whether a file contains one of the names, by its bytes. A file beyond the limits is not searched: `leftElsewhere`
   * notes its catalog.
   */
  async #mentions({ id, unit }: CatalogFile, names: ReadonlySet<string>): Promise<boolean> {
    const size = (await this.#objects.info(id))?.size ?? 0;
    if (this.#searched + size > this.#limits.contextBytes || size > this.#limits.fileBytes) {
      this.leftElsewhere.add(unit.catalog);
      return false;
    }
    const key = `${id} ${[...names].join(' ')}`;
    const known = this.#mentioned.get(key);
    if (known !== undefined) return known;
    this.#searched += size;
    const { bytes } = await this.#objects.read(id, this.#limits.fileBytes);
    const has = mentionsAny(bytes, names);
    this.#mentioned.set(key, has);
    return has;
  }

  /** Reads the outlines of the files that are not known yet: composed packages, which have a limit of their own, then files. */
  async #readAll(files: readonly CatalogFile[]): Promise<void> {
    const wanted = new Map<string, CatalogFile>();
    for (const file of files) if (!this.#outlines.has(readingKey(file))) wanted.set(readingKey(file), file);
    const all = [...wanted.values()];
    for (const file of all.filter(({ composed }) => composed)) await this.#readComposed(file);
    const plain = all.filter(({ composed, mode }) => !composed && whyUnreadable(mode) === undefined);
    for (let i = 0; i < plain.length; i += TOGETHER) await this.#readBatch(plain.slice(i, i + TOGETHER));
  }

  /** Reads the outlines of files until the limit; `left` stands for those beyond it. */
  async #readBatch(files: readonly CatalogFile[]): Promise<void> {
    if (this.#count.bytes >= this.#limits.contextBytes) {
      for (const file of files) this.#outlines.set(readingKey(file), 'left');
      return;
    }
    await this.#bring(files);
    const sizes = await Promise.all(files.map((file) => this.#sizeOf(file)));
    // One at a time: of the bytes and the parse only the outline stays.
    for (const [i, file] of files.entries()) {
      const size = sizes[i] ?? 0;
      const isBeyond = this.#count.bytes + size > this.#limits.contextBytes;
      if (isBeyond || size > this.#limits.fileBytes) {
        this.#outlines.set(readingKey(file), 'left');
        continue;
      }
      this.#count.files++;
      this.#count.bytes += size;
      if (this.#objects.wasFetched(file.id)) {
        this.#count.fetched++;
        this.#count.fetchedBytes += size;
      }
      this.#keep(file, await this.#readPlain(file, size));
    }
  }

  /**
   * The bytes of a file; those of a kept outline are known, even where a partial clone lacks the file. 0 where nobody has it:
   * reading it then says so.
   */
  async #sizeOf(file: CatalogFile): Promise<number> {
    const known = this.#kept?.get(this.#keptKey(file));
    return known?.size ?? (await this.#objects.info(file.id))?.size ?? 0;
  }

  /** The outline of a file, by content: a check before may have kept it. */
  async #readPlain(file: CatalogFile, size: number): Promise<ReadOutline> {
    const key = this.#keptKey(file);
    const known = this.#kept?.get(key);
    if (known) return known;
    const source = sourceFile(this.#objects, { ...file, path: markerOf(file) });
    const read = outlineOf(await load({ files: () => Promise.resolve([source]) }, this.#limits, OUTLINE));
    this.#kept?.keep(key, { ...read, size }, weightOf(read));
    return read;
  }

  #keptKey(file: CatalogFile): string {
    return `${readingKey(file)} ${this.#limitsKey}`;
  }

  /** Fetches the files that a partial clone lacks, in one request. */
  async #bring(files: readonly CatalogFile[]): Promise<void> {
    if (!this.#objects.isRemote) return;
    const here = await Promise.all(files.map(({ id }) => this.#objects.info(id)));
    const missing = files.filter((_, i) => !here[i]);
    if (missing.length === 0) return;
    await this.#objects.prefetch(missing.map(({ id }) => id));
    this.#count.requests++;
  }

  async #readComposed(file: CatalogFile): Promise<void> {
    if (this.#composedRead >= MOST_COMPOSED) {
      this.#outlines.set(readingKey(file), 'left');
      return;
    }
    this.#composedRead++;
    this.#keep(file, outlineOf(await this.#reader.read(file)));
  }

  #keep(file: CatalogFile, read: ReadOutline): void {
    if (read.isBroken) this.unreadable.add(file.unit.catalog);
    this.#outlines.set(readingKey(file), read);
  }
}

/** Whether any of the wanted names is there. */
export function hasAny(names: ReadonlySet<string>, wanted: ReadonlySet<string>): boolean {
  return [...wanted].some((name) => names.has(name));
}

/** What was read of a file, as an outline; broken if some of its blobs could not be read. */
function outlineOf({ blobs, findings }: Loaded): ReadOutline {
  const isBroken = findings.some(hidesBlobs);
  return { catalog: catalogOf(blobs), packages: packagesOf(blobs), isBroken };
}

/** What an outline weighs in the cache, at least 1: files without blobs take room as well. */
function weightOf({ catalog: { blobs } }: Outline): number {
  return blobs.channels.reduce((sum, { entries }) => sum + entries.length, 1 + blobCount(blobs));
}

/**
 * What was read of the untouched packages, and what was not. Only where the policy's limit left out whole files, the check
 * is incomplete: an administrator can raise it.
 */
export function contextReport(context: ContextReader, { limits }: Policy): ContextReport {
  const what = (catalogs: ReadonlySet<string>): string =>
    `the effect on other packages of ${[...catalogs].sort(compareText).join(', ')}`;
  const tooMuch = `its other files are larger than the limit of ${limits.contextBytes} bytes: raise limits.contextBytes in the policy`;
  const tooMany = `only ${MOST_COMPOSED} packages that are built from bundle directories are read`;
  const broken = 'some of its other files cannot be read; run portolan validate for details';
  const all: [ReadonlySet<string>, string][] = [
    [context.left, tooMuch],
    [context.leftComposed, tooMany],
    [context.unreadable, broken],
  ];
  const elsewhere = [...context.leftElsewhere].sort(compareText).join(', ');
  return {
    count: context.count.files > 0 ? context.count : undefined,
    unchecked: [
      ...all.flatMap(([catalogs, why]) => (catalogs.size > 0 ? [{ what: what(catalogs), why }] : [])),
      ...(elsewhere === '' ? [] : [{ what: `what ${elsewhere} has under the same names`, why: tooMuch }]),
    ],
    incomplete: context.left.size > 0 ? `${what(context.left)}: ${tooMuch}` : undefined,
  };
}

/** In place of the path of an outline's file, which may be in several places. */
export function markerOf({ id }: Pick<CatalogFile, 'id'>): string {
  return `blob:${id}`;
}

/** Names of the packages that blobs belong to. */
export function packagesOf({ packages, ...blobs }: Blobs): ReadonlySet<string> {
  const names = new Set(packages.map(({ name }) => name));
  for (const { package: name } of [
    ...blobs.channels,
    ...blobs.bundles,
    ...blobs.deprecations,
    ...blobs.others,
  ])
    names.add(name);
  names.delete('');
  return names;
}

/**
 * Several parts of one catalog together. Packages that are in one part only are the same objects as there: what was
 * calculated of them once counts here, too.
 */
export function joinedCatalog(parts: readonly Catalog[]): Catalog {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  const byName = new Map<string, Catalog[]>();
  for (const part of parts) for (const name of part.packages.keys()) appendToGroup(byName, name, part);
  const packages = new Map<string, Package>();
  for (const [name, its] of byName) {
    const found =
      its.length === 1
        ? its[0]?.packages.get(name)
        : catalogOf(joinedBlobs(its.map(({ blobs }) => blobs))).packages.get(name);
    if (found) packages.set(name, found);
  }
  return { packages, blobs: joinedBlobs(parts.map(({ blobs }) => blobs)) };
}
