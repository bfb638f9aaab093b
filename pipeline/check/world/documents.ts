/** The documents of a YAML file as bytes, found by the lines of three dashes between them, without parsing any. */

/** One version of a file, with what was read of its documents, in their order. */
export interface ReadFile<T> {
  readonly content: Buffer;
  readonly documents: readonly ReadDocument<T>[];
}

interface ReadDocument<T> extends DocumentPlace {
  readonly value: T;
}

/** Where a document stands, in bytes. */
interface DocumentPlace {
  readonly start: number;
  readonly end: number;
  /** Where the one behind it starts; beyond the file for the last. */
  readonly next: number;
}

/**
 * Reads one version of a file.
 *
 * @param later the version that came after it: most documents of both are the same bytes in the same order, and comparing
 * them costs a tenth of finding and hashing them
 * @param read reads one document; gives the same object for the same bytes
 */
export async function readDocuments<T>(
  content: Buffer,
  later: ReadFile<T> | undefined,
  read: (document: Buffer) => Promise<T>,
): Promise<ReadFile<T>> {
  const documents: ReadDocument<T>[] = [];
  const positions = new Map(later?.documents.map(({ value }, position) => [value, position]));
  let position = 0;
  for (let start = 0; start <= content.length; ) {
    const same = later && documentAsIn(later, position, content, start);
    const place = same ?? documentAt(content, start);
    const value = same ? same.value : await read(content.subarray(start, place.end));
    documents.push({ ...place, value });
    // Documents that only the later version has are passed over.
    const known = same ? position : positions.get(value);
    if (known !== undefined) position = known + 1;
    start = place.next;
  }
  return { content, documents };
}

/** The document that starts at a place of a file, if it is the one at a position of the later version. */
function documentAsIn<T>(
  later: ReadFile<T>,
  position: number,
  content: Buffer,
  start: number,
): ReadDocument<T> | undefined {
  const known = later.documents[position];
  if (!known) return undefined;
  // The line of dashes belongs to it, and the line break behind that: without them it might go on.
  const knownEnd = Math.min(known.next + 1, later.content.length);
  const end = start + knownEnd - known.start;
  const endsFile = known.next >= later.content.length;
  if (end > content.length || (endsFile && end < content.length)) return undefined;
  if (later.content.compare(content, start, end, known.start, knownEnd) !== 0) return undefined;
  const moved = start - known.start;
  return { ...known, start, end: known.end + moved, next: known.next + moved };
}

/** The documents of a file. */
export function documentsIn(content: Buffer): Buffer[] {
  const documents: Buffer[] = [];
  for (let start = 0; start <= content.length; ) {
    const { end, next } = documentAt(content, start);
    documents.push(content.subarray(start, end));
    start = next;
  }
  return documents;
}

const [NEWLINE, RETURN, SPACE, TAB] = [10, 13, 32, 9];
const DASHES = Buffer.from('---');

/** The document that starts at a place, up to a line of three dashes or the end. */
function documentAt(content: Buffer, start: number): DocumentPlace {
  for (let at = content.indexOf(DASHES, start); at >= 0; at = content.indexOf(DASHES, at + 1)) {
    if (at > 0 && content[at - 1] !== NEWLINE) continue;
    let next = at + DASHES.length;
    while (content[next] === SPACE || content[next] === TAB) next++;
    if (content[next] === RETURN) next++;
    if (next === content.length || content[next] === NEWLINE) return { start, end: at, next };
  }
  return { start, end: content.length, next: content.length + 1 };
}
