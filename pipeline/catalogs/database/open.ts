/**
 * Databases of SQLite, read in memory by SQLite itself, as WebAssembly. They are somebody else's
 * bytes: only plain tables are read, so that nothing which the database defines is computed.
 */
import { PipelineError } from '../../error.ts';

/** The part of sql.js that is used. */
interface SqlJs {
  readonly Database: new (bytes: Uint8Array) => Opened;
}

interface Opened {
  prepare(query: string): {
    step(): boolean;
    get(): (string | number | Uint8Array | null)[];
    free(): void;
  };
  close(): void;
}

/** A value of a column as text; undefined for NULL. */
export type Cell = string | undefined;

export interface Database {
  /**
   * Columns of a table, to be asked before its rows are; undefined when there is no such table.
   *
   * @throws PipelineError `corrupt` for one that computes its rows, or whose pages do not fit together
   */
  readonly columns: (table: string) => ReadonlySet<string> | undefined;
  /** The rows that a query answers, one by one. @throws PipelineError `corrupt`, `too-large` */
  readonly rows: (query: string) => Generator<Cell[]>;
  readonly close: () => void;
}

/** Most bytes of a database; the largest index image that was ever published had a third of it. */
const LARGEST = 2 ** 30;

/** Most values of a database's rows, and one more for so many bytes: 10 MB of tiny values took 335 MB of memory. */
const MOST_VALUES = 1_000_000;
const BYTES_A_VALUE = 100;

/**
 * Opens a SQLite database in memory.
 *
 * @param name what the database is called, for messages
 * @param most values that its rows may have in all, as often as they are read; beyond it, `rows` throws `too-large`
 * @throws PipelineError `corrupt` for bytes that are not a database, `too-large`, `usage` where SQLite is not installed
 */
export async function openDatabase(
  bytes: Uint8Array,
  name: string,
  most: number = MOST_VALUES + Math.floor(bytes.length / BYTES_A_VALUE),
): Promise<Database> {
  if (bytes.length > LARGEST) {
    throw new PipelineError('too-large', `${name} has ${bytes.length} bytes, the limit is ${LARGEST}`);
  }
  if (!isDatabase(bytes)) throw new PipelineError('corrupt', `${name} is not a SQLite database`);
  const endless = endlessSchema(bytes);
  if (endless !== undefined) throw new PipelineError('corrupt', `${name}: ${endless}`);
  const { Database } = await sqlite(name);
  const database = attempt(name, () => new Database(bytes));
  let left = most;
  function* counted(rows: Generator<Cell[]>): Generator<Cell[]> {
    for (const cells of rows) {
      left -= cells.length;
      if (left < 0) throw new PipelineError('too-large', `${name} has more than ${most} values in its rows`);
      yield cells;
    }
  }
  return {
    columns: (table) => attempt(name, () => columnsOf(database, table, name)),
    rows: (query) => counted(rowsOf(database, query, name)),
    close: () => database.close(),
  };
}

const MAGIC = 'SQLite format 3\0';

/** Whether bytes begin as databases of SQLite do. */
export function isDatabase(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1') === MAGIC;
}

/** Loads SQLite. The package has a megabyte and is not bundled, so only those who read databases have it. */
async function sqlite(name: string): Promise<SqlJs> {
  try {
    const module: { default: () => Promise<SqlJs> } = await import('sql.js/dist/sql-wasm-inline.js');
    return await module.default();
  } catch (error) {
    throw new PipelineError('usage', `${name} is a database, and the npm package sql.js is not installed`, {
      cause: error,
      hint: 'migrate it with the command line: portolan opm migrate REFERENCE DIRECTORY',
    });
  }
}

/**
 * The columns of a plain table; undefined if there is no table of this name.
 *
 * @throws PipelineError `corrupt` for a view, a virtual table or a computed column, which could run SQL that a stranger wrote,
 *   and for a table with damaged pages, which could have rows without an end
 */
function columnsOf(database: Opened, table: string, name: string): ReadonlySet<string> | undefined {
  // `table` is a name in this program, so it stands in queries as it is.
  const [definition] = [
    ...rowsOf(database, `SELECT type, sql FROM sqlite_master WHERE name = '${table}'`, name),
  ];
  if (!definition) return undefined;
  const [type, sql = ''] = definition;
  if (type !== 'table' || /^\s*create\s+virtual/i.test(sql)) {
    throw new PipelineError('corrupt', `${name}: ${table} is not a plain table`);
  }
  const columns = new Set<string>();
  for (const [, column = '', , , , , hidden] of rowsOf(database, `PRAGMA table_xinfo(${table})`, name)) {
    if (hidden !== '0')
      throw new PipelineError('corrupt', `${name}: the column ${column} of ${table} is computed`);
    columns.add(column);
  }
  checkPages(database, table, name);
  return columns;
}

/** Pages that are shared would be rows without an end. What the table says of its rows is not computed. */
function checkPages(database: Opened, table: string, name: string): void {
  for (const pragma of ['ignore_check_constraints = 1', `quick_check(${table})`]) {
    for (const [answer] of rowsOf(database, `PRAGMA ${pragma}`, name)) {
      if (answer === 'ok') continue;
      const why = answer?.replaceAll(/\s+/g, ' ').slice(0, 200);
      throw new PipelineError('corrupt', `${name}: the table ${table} is damaged: SQLite reports: ${why}`);
    }
  }
}

/** The rows that a query answers, one by one. @throws PipelineError `corrupt` */
function* rowsOf(database: Opened, query: string, name: string): Generator<Cell[]> {
  const statement = attempt(name, () => database.prepare(query));
  try {
    while (attempt(name, () => statement.step())) yield statement.get().map(cellOf);
  } finally {
    statement.free();
  }
}

/** A value of SQLite as text: Go wrote some texts as bytes. */
function cellOf(value: string | number | Uint8Array | null): Cell {
  if (value === null) return undefined;
  return typeof value === 'object' ? new TextDecoder().decode(value) : String(value);
}

/** Lets SQLite do something. @throws PipelineError `corrupt` for what it refuses */
function attempt<T>(name: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (error instanceof PipelineError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new PipelineError('corrupt', `${name}: SQLite reports: ${why}`, { cause: error });
  }
}

/**
 * The schema of a database, looked at before SQLite reads it: SQLite goes to a page as often as other
 * pages name it, so that a few pages that share their children are a schema without an end.
 *
 * @see https://www.sqlite.org/fileformat.html#b_tree_pages
 */

/** Kinds of pages in the tree of a table. */
const INTERIOR = 5;
const LEAF = 13;
/** Before the tree that begins on the first page. */
const FILE_HEADER = 100;

/**
 * What would keep SQLite from ever having read the schema; undefined for one that it reads, or refuses, in no
 * more time than it takes to read the file.
 */
function endlessSchema(bytes: Uint8Array): string | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const size = pageSize(file);
  const seen = new Set<number>();
  const open = [1];
  let payload = 0;
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    if (seen.has(number)) return `its schema contains page ${number} twice`;
    seen.add(number);
    const page = file.subarray((number - 1) * size, number * size);
    // SQLite refuses by itself what is cut off, or a page with the number 0.
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

/** The bytes of a page; 0 for a file without a header. The header has 1 for 65536, which two bytes cannot hold. */
function pageSize(file: Buffer): number {
  const size = file.length < FILE_HEADER ? 0 : file.readUInt16BE(16);
  return size === 1 ? 0x10000 : size;
}

/** The pages below a page of a table's tree, and the number of bytes of the rows that begin on it. */
function cellsOf(page: Buffer, at: number): { readonly children: readonly number[]; readonly bytes: number } {
  const kind = page[at];
  const children: number[] = [];
  let bytes = 0;
  if (kind !== INTERIOR && kind !== LEAF) return { children, bytes };
  // A page's header has the number of cells at 3 and, above leaves, the last child at 8; pointers to the cells follow.
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

/** SQLite's numbers: seven bits a byte, at most nine bytes, the last one without the eighth bit. */
function sizeAt(page: Buffer, at: number): number {
  let size = 0;
  for (let i = at; i < at + 9; i++) {
    const byte = page[i] ?? 0;
    size = size * 0x80 + (byte & 0x7f);
    if (byte < 0x80) break;
  }
  return size;
}
