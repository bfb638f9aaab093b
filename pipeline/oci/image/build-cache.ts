/**
 * What a build remembers of the one before: which packages a file holds, how a package
 * goes into the cache digest, what a layer became. Everything is found by a hash of the
 * content that it follows from; what is not remembered is computed again.
 */
import { createHash } from 'node:crypto';
import type { Finding } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import type { LayerFacts, PieceFacts } from './layer-piece.ts';

/** The storage for a build's memory between runs: a directory or a cloud's storage. */
export interface Store {
  get(key: string): Promise<Uint8Array | undefined>;
  put(key: string, bytes: Uint8Array): Promise<void>;
}

/** The content of a catalog file. */
export interface FileFacts {
  /** Names of packages; the empty string for blobs of no package. */
  readonly packages: readonly string[];
}

/** What files that follow each other add to the digest of opm's cache: a `PlacedStretch` (`layout.ts`) for JSON. */
export interface StretchFacts {
  /** Of its first file or folder, in its tree. */
  readonly path: string;
  /** In bytes. */
  readonly length: number;
  /** In hexadecimal: JSON has no big integers. */
  readonly addend: string;
}

export interface BundleFacts {
  readonly name: string;
  readonly version: string;
  /** Reference of the bundle's image; empty for one without. */
  readonly image: string;
}

/** The parts of a package that the rest of the image needs. */
export interface PackageFacts {
  /** Undefined for the blobs of no package when there are none. */
  readonly configs?: StretchFacts;
  /** Absent without a cache. */
  readonly cache?: StretchFacts;
  /** The package's member of packages.json; absent without a cache. */
  readonly member?: string;
  /** Its bundles, for the list of what is in the image. */
  readonly bundles: readonly BundleFacts[];
  /** Files of blobs of other schemas. */
  readonly metas: readonly { readonly path: string; readonly text: string }[];
}

/** A piece, and its place in the last image that was built. */
interface RememberedPiece extends PieceFacts {
  readonly layer?: {
    readonly digest: string;
    /** Size of the whole layer, in bytes. */
    readonly size: number;
    /** Offset of the piece's first byte. */
    readonly offset: number;
  };
}

/** The findings of the rules in files that belong together. */
export interface VerdictFacts {
  readonly findings: readonly Finding[];
  /** How many blobs they hold, and how many of them are packages and bundles. */
  readonly blobs: number;
  readonly packages: number;
  readonly bundles: number;
}

/** Facts by content key. What was used is kept for the next build, the rest is forgotten. */
export interface BuildCache {
  readonly files: FactTable<FileFacts>;
  readonly packages: FactTable<PackageFacts>;
  readonly pieces: FactTable<RememberedPiece>;
  readonly layers: FactTable<LayerFacts>;
  readonly verdicts: FactTable<VerdictFacts>;
  /** The room of the layers of the build before, in bytes: see `LayerPlan`. */
  readonly room: number | undefined;
}

export interface FactTable<T> {
  /** Facts of this build or of the one before. */
  get(key: string): T | undefined;
  set(key: string, facts: T): void;
  /** What was asked for or set. */
  readonly used: ReadonlyMap<string, T>;
}

/** A digest of the sources that the program was built from. */
declare const PORTOLAN_SOURCES: string | undefined;

/** Changes when anything changes that turns content into bytes or findings. */
const FORMAT = `4 ${typeof PORTOLAN_SOURCES === 'string' ? PORTOLAN_SOURCES : 'sources'}`;

/** The key of facts that follow from texts; no two lists of texts have the same. */
export function contentKey(...texts: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([FORMAT, ...texts]))
    .digest('hex');
}

/** Reads what a build wrote; a memory of another format, or none, is empty. */
export function openBuildCache(bytes: Uint8Array | undefined): BuildCache {
  // Half a file is not a memory: the build costs more, and is right.
  const json = bytes === undefined ? undefined : parsedJson(bytes);
  const { files, packages, pieces, layers, verdicts, room } =
    isObject(json) && json['format'] === FORMAT ? json : {};
  return {
    files: factTable(files),
    packages: factTable(packages),
    pieces: factTable(pieces),
    layers: factTable(layers),
    verdicts: factTable(verdicts),
    room: typeof room === 'number' ? room : undefined,
  };
}

/** The memory for the next build. */
export function writeBuildCache(memory: BuildCache, room: number): Uint8Array {
  const { files, packages, pieces, layers, verdicts } = memory;
  const tables = {
    files: [...files.used],
    packages: [...packages.used],
    pieces: [...pieces.used],
    layers: [...layers.used],
    verdicts: [...verdicts.used],
  };
  return new TextEncoder().encode(JSON.stringify({ format: FORMAT, room, ...tables }));
}

/** A table of what earlier builds found out. `used` holds only what this build asked for or added, which is kept. */
function factTable<T>(pairs: unknown): FactTable<T> {
  const known = new Map<string, T>();
  for (const pair of Array.isArray(pairs) ? pairs : []) {
    if (Array.isArray(pair) && typeof pair[0] === 'string' && isObject(pair[1]))
      known.set(pair[0], pair[1] as T);
  }
  const used = new Map<string, T>();
  return {
    used,
    get(key) {
      const facts = used.get(key) ?? known.get(key);
      if (facts !== undefined) used.set(key, facts);
      return facts;
    },
    set: (key, facts) => void used.set(key, facts),
  };
}
