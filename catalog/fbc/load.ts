/**
 * Loading: from files to blobs. Everything that keeps a blob from being read is a
 * finding with its place; loading goes on with the next document.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/declcfg/load.go
 */

import { type Finding, type Location, startOf } from '../finding.ts';
import { isObject } from '../go/shape.ts';
import { type CatalogSource, compareWalk, type FilePieces, type SourceFile } from '../source.ts';
import { type Decoded, decodeBlob } from './blob.ts';
import type { SourceDocument } from './document.ts';
import { type DocumentLimits, type KnownDocuments, readDocuments } from './documents.ts';
import { costlyFile, ignoreMatcher, isIgnoreFile } from './ignore.ts';
import type { Blob, Blobs, Bundle, Channel, Deprecations, PackageBlob } from './model.ts';

/** What a catalog may ask of the machine that reads it. */
export interface LoadLimits extends DocumentLimits {
  /** Largest file, in bytes. */
  readonly fileBytes: number;
  /** Most documents in all files together. */
  readonly documents: number;
  /** Room for values that grows with the files; without it, a catalog whose files have no limit of values has its own. */
  readonly room?: ValueRoom;
}

export const DEFAULT_LIMITS: LoadLimits = { fileBytes: 512 * 1024 * 1024, depth: 1000, documents: 1_000_000 };

/**
 * Most entries of a package's channels in one catalog, and alternatives of their ranges: each version is compared with all of
 * them. The largest known package has 152.
 */
export const MOST_ENTRIES = 10_000;

/**
 * Values that a catalog may have, and one more for so many of its bytes. Each takes memory, however short it is; real
 * catalogs have one in 60 bytes, their densest files one in 31.
 */
const FREE_VALUES = 1_000_000;
const BYTES_OF_VALUE = 24;

const TOO_DENSE = {
  message: `the catalog has more than ${FREE_VALUES} values, and less than ${BYTES_OF_VALUE} bytes for each`,
  hint: 'split the catalog, or remove values that are empty',
};

/** How many values may still be read. */
type ValueRoom = NonNullable<DocumentLimits['total']>;

/** Room for the values of a catalog that is read in several parts. @param threads that read it, each with its own room */
export function valueRoom(threads = 1): ValueRoom {
  return { left: FREE_VALUES / threads, excess: TOO_DENSE };
}

/** What says that a catalog was not read to its end, because it has too many values for its size. */
export function densityIn(findings: readonly Finding[]): Finding | undefined {
  return findings.find(({ message }) => message === TOO_DENSE.message);
}

/** Entries of channels, and alternatives of their ranges. */
export function countEntries(channels: readonly Channel[]): number {
  return channels.reduce(
    (sum, { entries }) => entries.reduce((inner, { skipRange }) => inner + skipRange.split('||').length, sum),
    0,
  );
}

/** Says that a package has too many entries; undefined if it does not. */
export function excessText(name: string, channels: readonly Channel[], most: number): string | undefined {
  const count = countEntries(channels);
  return count <= most
    ? undefined
    : `the channels of package ${JSON.stringify(name)} have ${count} entries, with the alternatives of their ranges; the limit is ${most}`;
}

export interface Loaded {
  readonly blobs: Blobs;
  /** What could not be read, or was read otherwise than written. */
  readonly findings: readonly Finding[];
}

/** Whether blobs are missing because of an error: a bundle with an invalid manifest is read without its manifests. */
export function hidesBlobs({ severity, rule }: Finding): boolean {
  return severity === 'error' && rule !== 'fbc/bundle-object';
}

/** What is done with each blob as it is read; what comes back is kept in its place. */
export interface EachBlob {
  readonly package?: (blob: PackageBlob) => PackageBlob;
  readonly deprecations?: (deprecations: Deprecations) => Deprecations;
  readonly bundle?: (bundle: Bundle) => Bundle;
  readonly channel?: (channel: Channel) => Channel;
  readonly other?: (blob: Blob) => Blob;
}

/**
 * Reads every blob of a catalog, file by file in the order of walking the tree.
 *
 * @param known documents that need not be read again; blobs then share their values with other blobs
 */
export async function load(
  source: CatalogSource,
  limits: LoadLimits = DEFAULT_LIMITS,
  each: EachBlob = {},
  known?: KnownDocuments,
): Promise<Loaded> {
  const loader = new Loader(limits, each, known);
  const files = await catalogFiles(source);
  for (const file of files) await loader.file(file);
  return loader.loaded();
}

/**
 * The files that hold blobs, in the order of walking the tree: all but ignore files and what these ignore. Ignore files that
 * cannot be used are among them, and are unreadable.
 */
export async function catalogFiles(source: CatalogSource): Promise<SourceFile[]> {
  const files = [...(await source.files())].sort((a, b) => compareWalk(a.path, b.path));
  const readable = files.filter((file) => isIgnoreFile(file.path) && file.unreadable === undefined);
  const ignoreFiles: [string, string][] = [];
  for (const file of readable)
    ignoreFiles.push([file.path, new TextDecoder('utf-8', { ignoreBOM: true }).decode(await file.read())]);
  const paths = files.filter((file) => !isIgnoreFile(file.path)).map(({ path }) => path);
  const costly = costlyFile(ignoreFiles, paths);
  const ignored = costly === undefined ? ignoreMatcher(ignoreFiles) : () => false;
  const unreadable = `the patterns are too many to be matched with ${paths.length} files`;
  return files.flatMap((file) => {
    if (file.path === costly) return [{ ...file, unreadable }];
    if (isIgnoreFile(file.path)) return readable.includes(file) ? [] : [file];
    return ignored(file.path) ? [] : [file];
  });
}

class Loader {
  readonly #limits: LoadLimits;
  readonly #each: EachBlob;
  readonly #knownDocuments: KnownDocuments | undefined;
  readonly #findings: Finding[] = [];
  readonly #packages: PackageBlob[] = [];
  readonly #channels: Channel[] = [];
  readonly #bundles: Bundle[] = [];
  readonly #deprecations: Deprecations[] = [];
  readonly #others: Blob[] = [];
  readonly #room: ValueRoom | undefined;
  #documents = 0;

  constructor(limits: LoadLimits, each: EachBlob, known: KnownDocuments | undefined) {
    this.#room = limits.room ?? (limits.nodes === undefined ? valueRoom() : undefined);
    // A total that the caller gives counts in place of the room.
    this.#limits = this.#room ? { total: this.#room, ...limits } : limits;
    this.#each = each;
    this.#knownDocuments = known;
  }

  loaded(): Loaded {
    return {
      blobs: {
        packages: this.#packages,
        channels: this.#channels,
        bundles: this.#bundles,
        deprecations: this.#deprecations,
        others: this.#others,
      },
      findings: this.#findings,
    };
  }

  /** Reads all documents of a file; one that is too large or not readable is a finding. */
  async file(file: SourceFile): Promise<void> {
    // A finding said already that there are too many values.
    if (this.#room && this.#room.left < 0) return;
    if (file.unreadable !== undefined) {
      const hint = 'every file of a catalog must be a regular file, or a link to one';
      this.#find('fbc/unreadable', file.unreadable, startOf(file.path), hint);
      return;
    }
    const { size, pieces } = file.readPieces?.() ?? wholeFile(await file.read());
    if (size > this.#limits.fileBytes) {
      const message = `the file has ${size} bytes, the limit is ${this.#limits.fileBytes}`;
      this.#find(
        'fbc/limits',
        message,
        startOf(file.path),
        'split the file, or raise limits.fileBytes in the policy',
      );
      return;
    }
    if (this.#room) this.#room.left += size / BYTES_OF_VALUE;
    const options = { limits: this.#limits, findings: this.#findings, known: this.#knownDocuments };
    for (const { value, document } of readDocuments(file.path, pieces, options))
      this.#document(value, document);
  }

  #find(rule: string, message: string, location: Location, hint?: string): void {
    this.#findings.push({
      rule,
      severity: 'error',
      message,
      location,
      ...(hint === undefined ? {} : { hint }),
    });
  }

  /**
   * Decodes a document. With known documents, several versions of a file share the values that were parsed once: then a
   * bundle is decoded once, too.
   */
  #decode(value: unknown, document: SourceDocument): Decoded | undefined {
    if (!this.#knownDocuments || !isObject(value)) return decodeBlob(value, document, this.#findings);
    const known = decodedBundles.get(value);
    if (known) return { kind: 'bundle', blob: { ...known, document } };
    const findingsBefore = this.#findings.length;
    const decoded = decodeBlob(value, document, this.#findings);
    // A bundle with findings is decoded at each place, so that each place reports them.
    if (decoded?.kind === 'bundle' && this.#findings.length === findingsBefore)
      decodedBundles.set(value, decoded.blob);
    return decoded;
  }

  /** Decodes a document and keeps its blob. Documents beyond the limit are not looked at: one finding says so. */
  #document(value: unknown, document: SourceDocument): void {
    if (++this.#documents > this.#limits.documents) {
      if (this.#documents === this.#limits.documents + 1) {
        const message = `more than ${this.#limits.documents} documents`;
        this.#find('fbc/limits', message, document.locate([]), 'raise limits.docs in the policy');
      }
      return;
    }
    const decoded = this.#decode(value, document);
    switch (decoded?.kind) {
      case 'package':
        this.#packages.push(this.#each.package?.(decoded.blob) ?? decoded.blob);
        break;
      case 'channel':
        this.#channels.push(this.#each.channel?.(decoded.blob) ?? decoded.blob);
        break;
      case 'bundle':
        this.#bundles.push(this.#each.bundle?.(decoded.blob) ?? decoded.blob);
        break;
      case 'deprecations':
        this.#deprecations.push(this.#each.deprecations?.(decoded.blob) ?? decoded.blob);
        break;
      case 'other':
        this.#others.push(this.#each.other?.(decoded.blob) ?? decoded.blob);
        break;
    }
  }
}

/** Bundles by the values that they were decoded from, where several versions of a file share these. */
const decodedBundles = new WeakMap<object, Bundle>();

function wholeFile(bytes: Uint8Array): FilePieces {
  return { size: bytes.length, pieces: [bytes] };
}

// Going through a catalog blob by blob and keeping none of it, so that a catalog of any
// size passes through.

/** What is done with each blob. Whatever is noted of a text must be a copy: a part keeps the whole file alive. */
export interface Visitor {
  readonly bundle: (bundle: Bundle) => void;
  /** Every blob that is not a bundle. */
  readonly other: (blob: Blob) => void;
}

/** Shows every blob of a catalog to a visitor. Returns what could not be read. */
export async function visitBlobs(
  source: CatalogSource,
  visitor: Visitor,
  limits: LoadLimits = DEFAULT_LIMITS,
): Promise<readonly Finding[]> {
  const shown = <B extends Blob>(blob: B, rest: B): B => {
    visitor.other(blob);
    return rest;
  };
  const { findings } = await load(source, limits, {
    bundle: (bundle) => {
      visitor.bundle(bundle);
      return NO_BUNDLE;
    },
    package: (blob) => shown(blob, NO_PACKAGE),
    channel: (blob) => shown(blob, NO_CHANNEL),
    deprecations: (blob) => shown(blob, NO_DEPRECATIONS),
    other: (blob) => shown(blob, NO_BLOB),
  });
  return findings;
}

/** The document of a blob whose location is never needed. */
export const NO_DOCUMENT: SourceDocument = {
  file: '',
  line: 1,
  locate: () => ({ file: '', line: 1, column: 1 }),
  detached: () => NO_DOCUMENT,
};

/** What stays of a blob that was seen: even its name would keep the file's text in memory. */
const NO_BLOB: Blob = {
  schema: '',
  package: '',
  name: '',
  value: {},
  document: NO_DOCUMENT,
};
const NO_PACKAGE: PackageBlob = { ...NO_BLOB, defaultChannel: '', description: '', properties: [] };
const NO_DEPRECATIONS: Deprecations = { ...NO_BLOB, entries: [] };
const NO_CHANNEL: Channel = { ...NO_BLOB, entries: [], properties: [] };
const NO_BUNDLE: Bundle = {
  ...NO_BLOB,
  image: '',
  properties: [],
  relatedImages: [],
  version: undefined,
  release: '',
};
