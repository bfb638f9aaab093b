/**
 * Where a catalog's files come from: a directory, git objects, an image's layers. The
 * library only sees paths and bytes.
 */

export interface CatalogSource {
  /** Every file below the catalog's root, in any order. */
  files(): Promise<readonly SourceFile[]>;
  /** Told of files that will be read, where it costs less to bring several of them at a time. */
  bring?(files: readonly SourceFile[]): Promise<void>;
}

export interface SourceFile {
  /** Path relative to the catalog's root, with forward slashes. */
  readonly path: string;
  /** Names the content: equal identities mean equal bytes (a git blob id, a digest). */
  readonly identity?: string;
  /** Why there is nothing to read (a link to a directory, a broken link, a pipe), in words for a finding. */
  readonly unreadable?: string;
  read(): Promise<Uint8Array> | Uint8Array;
  /** The content piece by piece, for sources that need not hold all of a file at once. */
  readPieces?(): FilePieces;
}

/**
 * Bytes or characters of one document at most: twice what OLM v0 takes in one message. The text of a document and
 * what is made of it take many times as much memory.
 */
export const LARGEST_DOCUMENT: number = 8 * 2 ** 20;

/** A document is larger than {@link LARGEST_DOCUMENT}. */
export class DocumentTooLarge extends Error {
  /** Lines of the piece that is not there before the document. */
  readonly lines: number;

  constructor(lines = 0) {
    super('a document is too large');
    this.name = 'DocumentTooLarge';
    this.lines = lines;
  }
}

export interface FilePieces {
  /** Of the whole file, in bytes. */
  readonly size: number;
  /**
   * Text where it is UTF-8, else bytes, which are good until the next piece is asked for.
   * A piece ends behind a separator line that ends a document, or with the file.
   *
   * @throws DocumentTooLarge before all of the document is read
   */
  readonly pieces: Iterable<TextPiece | Uint8Array>;
}

export interface TextPiece {
  readonly text: string;
  /** Whether it is known to be printable ASCII, tabs and line feeds, and nothing else. */
  readonly isPlain: boolean;
}

/** Why there is nothing to read where a link names nothing, or a directory. */
export const LINK_TO_NOTHING = 'a link to nothing';
export const LINK_TO_DIRECTORY = 'a link to a directory';
/** Links that opm and other tools pass over. */
export const SKIPPED_LINKS: readonly string[] = [LINK_TO_NOTHING, LINK_TO_DIRECTORY];

/** A source in memory. */
export function sourceOf(files: Readonly<Record<string, string | Uint8Array>>): CatalogSource {
  const encoder = new TextEncoder();
  const list = Object.entries(files).map(([path, content]) => ({
    path,
    read: () => (typeof content === 'string' ? encoder.encode(content) : content),
  }));
  return { files: () => Promise.resolve(list) };
}

/** Order of walking a tree: names in byte order, directory by directory, as Go's `fs.WalkDir`. */
export function compareWalk(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  const x = i < a.length ? walkRank(a.charCodeAt(i)) : -1;
  const y = i < b.length ? walkRank(b.charCodeAt(i)) : -1;
  return x - y;
}

/**
 * The place of a UTF-16 unit in the order. A slash ends a name, so it comes before every character of a longer one.
 * Surrogates stand for characters that come after all others in UTF-8.
 */
function walkRank(unit: number): number {
  if (unit === 47 /* / */) return 0;
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit + 1;
}
