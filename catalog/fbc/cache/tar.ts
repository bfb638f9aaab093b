/**
 * Headers of tar archives, byte for byte as Go's archive/tar writes them: opm's cache
 * digest is a hash over such an archive, and the layers of our images are written so too.
 *
 * @see https://pkg.go.dev/archive/tar
 */

export interface TarEntry {
  /** Path in the archive, with forward slashes and without parts that are `.` or `..`. */
  readonly name: string;
  readonly kind: 'file' | 'directory';
  /** Permission bits, such as 0o644. */
  readonly mode: number;
  /** In bytes; 0 for directories. */
  readonly size: number;
  readonly uid?: number;
  readonly gid?: number;
}

/** Bytes of a block, and of two fields of a ustar header: the name, and what may stand before it. */
const BLOCK = 512;
const NAME = 100;
const PREFIX = 155;

/** What ends an archive. */
export const TAR_END: Uint8Array = new Uint8Array(2 * BLOCK);

/** How many zero bytes follow content of a size. */
export function tarPadding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

const encoder = new TextEncoder();

/** The header of an entry: one block, or three and more where the name fits no plain header. */
export function tarHeader(entry: TarEntry): Uint8Array {
  const { name } = entry;
  const ascii = ASCII.test(name);
  if (ascii && name.length <= NAME) return plainHeader(entry, name, '');
  const split = ascii ? splitName(name) : undefined;
  return split ? plainHeader(entry, split.name, split.prefix) : extendedHeader(entry);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what Go looks for, too
const ASCII = /^[\x01-\x7f]*$/;

/**
 * Splits a long name at its last slash that leaves both parts short enough for a ustar header, as splitUSTARPath of Go's
 * archive/tar does. Undefined if no slash does.
 */
function splitName(name: string): { prefix: string; name: string } | undefined {
  const withoutTrailingSlash = name.endsWith('/') ? name.length - 1 : name.length;
  const searched = name.length > PREFIX + 1 ? PREFIX + 1 : withoutTrailingSlash;
  const slash = name.lastIndexOf('/', searched - 1);
  const rest = name.length - slash - 1;
  if (slash <= 0 || slash > PREFIX || rest === 0 || rest > NAME) return undefined;
  return { prefix: name.slice(0, slash), name: name.slice(slash + 1) };
}

/** Where the fields of a ustar header begin, and how many bytes they have. */
const FIELDS = {
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  time: [136, 12],
  deviceMajor: [329, 8],
  deviceMinor: [337, 8],
} as const;

/** Where the type of an entry stands, and the types: `0`, `5`, and `x` for a PAX record. */
const TYPE_AT = 156;
const TYPES = { file: 0x30, directory: 0x35, record: 0x78 } as const;

/** The header block of an entry whose name fits without an extension, without a time. */
function plainHeader(entry: TarEntry, name: string, prefix: string): Uint8Array {
  const block = new Uint8Array(BLOCK);
  writeText(block, 0, NAME, name);
  const { mode, size, uid = 0, gid = 0 } = entry;
  writeNumbers(block, { mode, uid, gid, size, time: 0, deviceMajor: 0, deviceMinor: 0 });
  block[TYPE_AT] = TYPES[entry.kind];
  writeText(block, 345, PREFIX, prefix);
  return withChecksum(block);
}

/** A header that is preceded by a PAX record with the whole name. */
function extendedHeader(entry: TarEntry): Uint8Array {
  const record = paxRecord('path', entry.name);
  const slash = entry.name.lastIndexOf('/') + 1;
  const name = cleanPath(`${entry.name.slice(0, slash)}PaxHeaders.0/${entry.name.slice(slash)}`);
  const block = new Uint8Array(BLOCK);
  writeText(block, 0, NAME, toAscii(name).slice(0, NAME).replace(/\/+$/, ''));
  writeNumbers(block, { mode: 0, uid: 0, gid: 0, size: record.length, time: 0 });
  block[TYPE_AT] = TYPES.record;
  const all = new Uint8Array(BLOCK + record.length + tarPadding(record.length) + BLOCK);
  all.set(withChecksum(block), 0);
  all.set(record, BLOCK);
  all.set(plainHeader(entry, toAscii(entry.name), ''), all.length - BLOCK);
  return all;
}

/** `path` without doubled slashes and without one at its end, as Go's path.Join leaves it. */
function cleanPath(path: string): string {
  return path.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
}

/** One record: its own length in decimal, a space, `key=value`, a line feed. */
function paxRecord(key: string, value: string): Uint8Array {
  const body = encoder.encode(` ${key}=${value}\n`).length;
  let length = body + String(body).length;
  // The digits of the length count as well, and may be one more because of themselves.
  if (String(length).length !== String(body).length) length = body + String(length).length;
  return encoder.encode(`${length} ${key}=${value}\n`);
}

function toAscii(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not plain ASCII is dropped
  return text.replaceAll(/[^\x01-\x7f]/g, '');
}

/** Writes a text into a field of a header; what is beyond the size of the field is cut off. */
function writeText(block: Uint8Array, at: number, size: number, text: string): void {
  encoder.encodeInto(text, block.subarray(at, at + size));
  // A slash that only cutting made the last byte would turn a file into a directory.
  if (text.length > size && block[at + size - 1] === 0x2f) {
    block[at + text.slice(0, size - 1).replace(/\/+$/, '').length] = 0;
  }
}

/**
 * Writes numbers into fields of a header, in octal digits with zeros before them and a zero byte behind them.
 *
 * @throws RangeError for one that does not fit
 */
function writeNumbers(
  block: Uint8Array,
  numbers: { readonly [Field in keyof typeof FIELDS]?: number },
): void {
  for (const [field, value] of Object.entries(numbers)) {
    const [at, size] = FIELDS[field as keyof typeof FIELDS];
    const digits = value.toString(8);
    if (digits.length > size - 1)
      throw new RangeError(`${value} does not fit in ${size} bytes of a tar header`);
    writeText(block, at, size, digits.padStart(size - 1, '0'));
  }
}

/** Marks a header as one of ustar, and sets its checksum: six octal digits, a zero byte, and a space. */
function withChecksum(block: Uint8Array): Uint8Array {
  writeText(block, 257, 6, 'ustar');
  writeText(block, 263, 2, '00');
  // The sum counts the field of the checksum itself as spaces.
  block.fill(0x20, 148, 156);
  let sum = 0;
  for (const byte of block) sum += byte;
  writeText(block, 148, 7, `${sum.toString(8).padStart(6, '0')}`);
  block[154] = 0;
  return block;
}
