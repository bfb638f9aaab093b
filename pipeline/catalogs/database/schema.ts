/**
 * The schema of a database, looked at before SQLite reads it: SQLite goes to a page as often as other
 * pages name it, so that a few pages that share their children are a schema without an end.
 *
 * @see https://www.sqlite.org/fileformat.html#b_tree_pages
 */

const INTERIOR = 5;
const LEAF = 13;
/** Before the tree that begins on the first page. */
const FILE_HEADER = 100;

/**
 * What would keep SQLite from ever having read the schema; undefined for one that it reads, or refuses, in no
 * more time than it takes to read the file.
 */
export function endlessSchema(bytes: Uint8Array): string | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const size = pageSize(file);
  const seen = new Set<number>();
  const open = [1];
  let payload = 0;
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    if (seen.has(number)) return `its schema contains page ${number} twice`;
    seen.add(number);
    const page = file.subarray((number - 1) * size, number * size);
    // SQLite refuses what is cut off or has another number.
    if (number < 1 || size === 0 || page.length < size) continue;
    if (/sqlite_stat/i.test(page.toString('latin1')))
      return 'it has statistics, which SQLite reads with the schema';
    const { children, bytes: own } = cellsOf(page, number === 1 ? FILE_HEADER : 0);
    open.push(...children);
    payload += own;
    if (payload > file.length) return 'its schema is longer than the file';
  }
  return undefined;
}

function pageSize(file: Buffer): number {
  const size = file.length < FILE_HEADER ? 0 : file.readUInt16BE(16);
  return size === 1 ? 0x10000 : size;
}

/** The pages below a page of a table's tree, and how many bytes the rows have that begin on it. */
function cellsOf(page: Buffer, at: number): { readonly children: readonly number[]; readonly bytes: number } {
  const kind = page[at];
  const children: number[] = [];
  let bytes = 0;
  if (kind !== INTERIOR && kind !== LEAF) return { children, bytes };
  const first = at + (kind === LEAF ? 8 : 12);
  for (let i = 0; i < page.readUInt16BE(at + 3); i++) {
    const pointer = first + 2 * i;
    const cell = pointer + 2 > page.length ? page.length : page.readUInt16BE(pointer);
    // A cell outside of its page is refused by SQLite.
    if (cell + 4 > page.length) break;
    if (kind === INTERIOR) children.push(page.readUInt32BE(cell));
    else bytes += sizeAt(page, cell);
  }
  if (kind === INTERIOR) children.push(page.readUInt32BE(at + 8));
  return { children, bytes };
}

/** A number of seven bits a byte, the last one without the eighth. */
function sizeAt(page: Buffer, at: number): number {
  let size = 0;
  for (let i = at; i < at + 9; i++) {
    const byte = page[i] ?? 0;
    size = size * 0x80 + (byte & 0x7f);
    if (byte < 0x80) break;
  }
  return size;
}
