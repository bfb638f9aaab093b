/**
 * Tar archives piece by piece, as Go's archive/tar reads them: what unpacks images on nodes, and opm, are written in Go, and
 * readers of tar differ in headers of pax and GNU that contradict each other.
 *
 * @see https://pkg.go.dev/archive/tar
 */
import { Buffer } from 'node:buffer';
import { tarPadding } from '../../catalog/fbc/cache/tar.ts';
import { PipelineError } from '../error.ts';

/** Bytes of a block: a header is one, and content fills whole ones. Positions in headers below are those of POSIX `ustar`. */
export const BLOCK = 512;
/** Bytes of a long name or of pax records at most. */
const LARGEST_NAME = 1024 * 1024;

export interface TarMember {
  /** As the archive has it, with `./`, `..` and slashes at both ends. */
  readonly name: string;
  /** `other`: devices and pipes. `unknown`: types that container engines refuse to unpack. */
  readonly kind: 'file' | 'link' | 'symlink' | 'directory' | 'other' | 'unknown';
  /** What a link names. */
  readonly target: string;
  /** Permission bits, with setuid, setgid and sticky. */
  readonly mode: number;
  /** Bytes of content. */
  readonly size: number;
}

export interface StreamedEntry extends TarMember {
  /** The content. What is not read of it is passed over. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Why an archive cannot be read, as the end of a sentence that names it. */
export class InvalidTar extends Error {}

/** Bytes of an archive, read from its beginning to its end. */
interface TarInput {
  /** Bytes that were taken or passed over so far. */
  position(): number;
  /** The next so many bytes. @throws an error when there are fewer */
  take(count: number): Promise<Buffer>;
  /** Passes over so many bytes. @throws an error when there are fewer */
  skip(count: number): Promise<void>;
}

/**
 * The members of an archive in its order, up to the first block of zeros. Each is given when its content comes next, of which the
 * caller takes as much as it wants.
 *
 * @throws InvalidTar also for files that have holes
 */
export async function* tarMembers(input: TarInput): AsyncGenerator<TarMember> {
  let extra: Extra = {};
  for (;;) {
    const header = await input.take(BLOCK);
    if (isZero(header)) return;
    if (
      !isHeader(header) ||
      numbersOf(header).some(([at, length]) => Number.isNaN(numberIn(header, at, length)))
    )
      throw new InvalidTar('has an invalid header');
    const type = TYPES[header[156] ?? 0] ?? 'unknown';
    if (type === 'extra') {
      const size = sizeIn(header);
      if (size > LARGEST_NAME) throw new InvalidTar('has a name that is too long');
      const text = await input.take(size);
      await input.skip(tarPadding(size));
      extra = withExtra(extra, String.fromCharCode(header[156] ?? 0), text);
      continue;
    }
    const { pax } = extra;
    if (pax && !hasSoundNumbers(pax)) throw new InvalidTar('has records of pax that cannot be read');
    // Empty ones leave the field of the header.
    const name = extra.name || pax?.get('path') || nameIn(header);
    const target = extra.target || pax?.get('linkpath') || textIn(header, 157, 100);
    extra = {};
    // In headers of before types, a slash at the end makes a folder.
    const kind = header[156] === 0 && name.endsWith('/') ? 'directory' : type;
    // As in Go, the size in a header must be one even where it does not count.
    if (HAVE_CONTENT.has(type)) sizeIn(header);
    const size = HAVE_CONTENT.has(kind) ? sizeIn(header, pax?.get('size')) : 0;
    const end = input.position() + size + tarPadding(size);
    yield { name, kind, target, mode: numberIn(header, 100, 8) & 0o7777, size };
    await input.skip(end - input.position());
  }
}

/**
 * The entries of an archive that comes in pieces; read the body of one before you ask for the next.
 *
 * @throws PipelineError `corrupt` for bytes that are not an archive, that end early or go on behind its end
 */
export async function* tarEntries(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<StreamedEntry> {
  const input = cursorOver(bytes);
  try {
    for await (const member of tarMembers(input)) {
      const body = async function* (): AsyncGenerator<Uint8Array> {
        for (let left = member.size; left > 0; ) {
          const piece = await input.some(left);
          left -= piece.length;
          yield piece;
        }
      };
      yield { ...member, body: body() };
    }
    // Two blocks of zeros are the end, and there are only more of them behind it.
    if (!isZero(await input.take(BLOCK))) throw brokenLayer('has an invalid header');
    for (let piece = await input.next(); piece; piece = await input.next())
      if (!isZero(piece)) throw brokenLayer('goes on behind its end');
  } catch (error) {
    throw error instanceof InvalidTar ? brokenLayer(error.message) : error;
  } finally {
    await input.close();
  }
}

/**
 * Whether a block is a header, by its checksum, which counts its own eight bytes as spaces. Old programs of Sun took bytes as
 * signed, and Go accepts their sums, too.
 */
function isHeader(header: Buffer): boolean {
  let [unsigned, signed] = [0, 0];
  for (let i = 0; i < BLOCK; i++) {
    const byte = i >= 148 && i < 156 ? 32 : (header[i] ?? 0);
    unsigned += byte;
    signed += byte < 128 ? byte : byte - 256;
  }
  return [unsigned, signed].includes(octalIn(header, 148, 8));
}

/** A field of a header as text, up to its first zero byte. */
function textIn(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

/**
 * Octal, or binary when the first bit is set; 0 for an empty field, NaN for what is not a number and for what has more than 64
 * bits.
 */
function numberIn(header: Buffer, at: number, length: number): number {
  const first = header[at] ?? 0;
  if ((first & 0x80) === 0) return octalIn(header, at, length);
  const inverted = (first & 0x40) === 0 ? 0 : 0xff;
  const size = header
    .subarray(at + 1, at + length)
    .reduce((sum, byte) => sum * 256 + (byte ^ inverted), (first ^ inverted) & 0x7f);
  if (size >= 2 ** 63) return Number.NaN;
  return inverted === 0 ? size : -1 - size;
}

/** An octal number; 0 for an empty field, NaN for what is not a number. */
function octalIn(header: Buffer, at: number, length: number): number {
  // As in Go, zero bytes and spaces may surround the digits, and a zero byte ends them: `\0 644\0` is 0o644.
  const text = header
    .toString('latin1', at, at + length)
    .replaceAll(/^[\0 ]+|[\0 ]+$/g, '')
    .replace(/\0.*$/s, '');
  if (text === '') return 0;
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}

/** Where all headers have mode, owner, group, size and time, with their lengths. */
const NUMBERS = [
  [100, 8],
  [108, 8],
  [116, 8],
  [124, 12],
  [136, 12],
] as const;
/** Where all but the oldest headers have the numbers of a device. */
const DEVICE_NUMBERS = [
  [329, 8],
  [337, 8],
] as const;
/** Where headers of `star` have more times. */
const STAR_TIMES = [
  [476, 12],
  [488, 12],
] as const;

/** Which kind of header a block is. */
function formatOf(header: Buffer): 'v7' | 'ustar' | 'star' | 'gnu' {
  const magic = header.toString('latin1', 257, 265);
  if (magic.startsWith('ustar\0')) return header.toString('latin1', 508) === 'tar\0' ? 'star' : 'ustar';
  return magic === 'ustar  \0' ? 'gnu' : 'v7';
}

/** Where a header has numbers that must be some. Go tolerates the times of GNU tar. */
function numbersOf(header: Buffer): readonly (readonly [number, number])[] {
  const format = formatOf(header);
  if (format === 'v7') return NUMBERS;
  return format === 'star' ? [...NUMBERS, ...DEVICE_NUMBERS, ...STAR_TIMES] : [...NUMBERS, ...DEVICE_NUMBERS];
}

/** What type flags stand for. Files: a zero byte and `0`. */
const TYPES: Readonly<Record<number, TarMember['kind'] | 'extra'>> = Object.fromEntries(
  Object.entries({
    '\0': 'file',
    0: 'file',
    1: 'link',
    2: 'symlink',
    3: 'other',
    4: 'other',
    5: 'directory',
    6: 'other',
    x: 'extra',
    g: 'extra',
    L: 'extra',
    K: 'extra',
  } as const).map(([flag, kind]) => [flag.charCodeAt(0), kind]),
);
/** Like Go: content follows types that it does not know, too; the size of links, folders and devices does not count. */
const HAVE_CONTENT: ReadonlySet<TarMember['kind']> = new Set(['file', 'unknown']);

/** What stands before a header, and is about it. */
interface Extra {
  readonly pax?: ReadonlyMap<string, string>;
  /** Names of GNU tar count before those of pax. */
  readonly name?: string;
  readonly target?: string;
}

/** What is known of the next entry after one more extra header. */
function withExtra(extra: Extra, type: string, text: Buffer): Extra {
  // Go gives a header about all further entries (`g`) as an entry of its own: nothing applies it, and what stood before is used up.
  if (type === 'g') {
    recordsIn(text);
    return {};
  }
  if (type === 'x') return { ...extra, pax: recordsIn(text) };
  const name = textIn(text, 0, text.length);
  return type === 'L' ? { ...extra, name } : { ...extra, target: name };
}

/** The records of pax by key, each `LENGTH KEY=VALUE\n`; LENGTH counts all of it in bytes. */
function recordsIn(bytes: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(' ', at);
    const end = at + integer(bytes.toString('latin1', at, Math.max(space, at)));
    const equals = bytes.indexOf('=', space);
    const isWhole =
      space > at && equals > space + 1 && equals < end && end <= bytes.length && bytes[end - 1] === 10;
    if (!isWhole) throw new InvalidTar('has records of pax that cannot be read');
    const [key, value] = [
      bytes.toString('utf8', space + 1, equals),
      bytes.toString('utf8', equals + 1, end - 1),
    ];
    // As in Go: of names, the value must not have a zero byte, and of all other records the key.
    const checked = ['path', 'linkpath', 'uname', 'gname'].includes(key) ? value : key;
    if (checked.includes('\0')) throw new InvalidTar('has a name with a zero byte');
    if (key.startsWith('GNU.sparse.')) throw new InvalidTar('has a file with holes');
    records.set(key, value);
    at = end;
  }
  return records;
}

/** Whether the numbers and times among records of pax are some. Empty ones do not count. */
function hasSoundNumbers(records: ReadonlyMap<string, string>): boolean {
  const texts = (keys: readonly string[]): string[] => keys.map((key) => records.get(key) || '0');
  const times = texts(['atime', 'mtime', 'ctime']).map(
    (text) => /^([^.]*)(?:\.(\d*))?$/.exec(text)?.[1] ?? '',
  );
  return [...texts(['uid', 'gid', 'size']), ...times].every((text) => !Number.isNaN(integer(text)));
}

/** A decimal number of 64 bits, as Go's ParseInt takes it; NaN for any other text. */
function integer(text: string): number {
  const isOne = /^[+-]?0*\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
  return isOne ? Number(text) : Number.NaN;
}

/** The size in a header, or in a record of pax about it. */
function sizeIn(header: Buffer, record = ''): number {
  // Type `S`, a sparse file of GNU tar: the list of its holes may go on in blocks that `size` does not count.
  if (header[156] === 0x53) throw new InvalidTar('has a file with holes');
  const size = record === '' ? numberIn(header, 124, 12) : integer(record);
  if (!Number.isSafeInteger(size) || size < 0) throw new InvalidTar('has an invalid size');
  return size;
}

/** The name in a header: `ustar` has a prefix for it, which GNU tar uses for times. */
function nameIn(header: Buffer): string {
  const name = textIn(header, 0, 100);
  const format = formatOf(header);
  // The header of `star` has times behind a shorter prefix.
  let prefix = textIn(header, 345, { v7: 0, ustar: 155, star: 131, gnu: 0 }[format]);
  // What old versions of Go wrote: a prefix in a header of GNU tar. Its times are not numbers then.
  const hasNoTimes = [345, 357].some((at) => header[at] !== 0 && Number.isNaN(numberIn(header, at, 12)));
  if (format === 'gnu' && hasNoTimes) {
    const text = textIn(header, 345, 155);
    // Go takes only ASCII for such a prefix.
    if (Buffer.byteLength(text) === text.length) prefix = text;
  }
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** Whether bytes are zeros only: the first is, and each is like the one before it. */
function isZero(bytes: Uint8Array): boolean {
  return (bytes[0] ?? 0) === 0 && Buffer.compare(bytes.subarray(1), bytes.subarray(0, -1)) === 0;
}

/** Pieces as they come, as an input. */
interface Cursor extends TarInput {
  /** The next bytes, as they come; undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  /** The next bytes, at least one, at most so many. @throws PipelineError `corrupt` at the end */
  some(most: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

function brokenLayer(why: string): PipelineError {
  return new PipelineError('corrupt', `a layer cannot be read: its archive ${why}`);
}

/** Reads pieces of any length as runs of asked lengths, and counts the bytes that it gave. */
function cursorOver(bytes: AsyncIterable<Uint8Array>): Cursor {
  const source = bytes[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array();
  let position = 0;
  const next = async (most = Infinity): Promise<Uint8Array | undefined> => {
    while (rest.length === 0) {
      const { done, value } = await source.next();
      if (done) return undefined;
      rest = value;
    }
    const piece = rest.subarray(0, most);
    rest = rest.subarray(piece.length);
    position += piece.length;
    return piece;
  };
  const some = async (most: number): Promise<Uint8Array> => {
    const piece = await next(most);
    if (!piece) throw brokenLayer('is cut off');
    return piece;
  };
  return {
    position: () => position,
    next: () => next(),
    some,
    take: async (count) => {
      const taken = Buffer.alloc(count);
      for (let at = 0; at < count; ) {
        const piece = await some(count - at);
        taken.set(piece, at);
        at += piece.length;
      }
      return taken;
    },
    skip: async (count) => {
      for (let left = count; left > 0; ) left -= (await some(left)).length;
    },
    close: async () => {
      await source.return?.();
    },
  };
}
