/**
 * Tar archives piece by piece, as Go's archive/tar reads them: what unpacks images on nodes, and opm, are written in Go, and
 * readers of tar differ in headers of pax and GNU that contradict each other.
 *
 * @see https://pkg.go.dev/archive/tar
 */
import { Buffer } from 'node:buffer';
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
    if (!isHeader(header) || NUMBERS.some(([at, length]) => Number.isNaN(numberIn(header, at, length))))
      throw new InvalidTar('has an invalid header');
    const type = TYPES[header[156] ?? 0] ?? 'unknown';
    if (type === 'extra') {
      const size = sizeIn(header);
      if (size > LARGEST_NAME) throw new InvalidTar('has a name that is too long');
      const text = await input.take(size);
      await input.skip(paddingAfter(size));
      extra = withExtra(extra, String.fromCharCode(header[156] ?? 0), text);
      continue;
    }
    const { pax } = extra;
    // Empty ones leave the field of the header.
    const name = extra.name || pax?.path || nameIn(header);
    const target = extra.target || pax?.linkpath || textIn(header, 157, 100);
    extra = {};
    // In headers of before types, a slash at the end makes a folder.
    const kind = header[156] === 0 && name.endsWith('/') ? 'directory' : type;
    const size = HAVE_CONTENT.has(kind) ? sizeIn(header, pax?.size) : 0;
    const end = input.position() + size + paddingAfter(size);
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

/** Whether a block is a header, by its checksum, which counts its own eight bytes as spaces. */
function isHeader(header: Buffer): boolean {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 32 : (header[i] ?? 0);
  return sum === numberIn(header, 148, 8);
}

/** A field of a header as text, up to its first zero byte. */
function textIn(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

/**
 * Octal, or binary when the first bit is set; 0 for an empty field, -1 for what is negative in binary, NaN for what is not a
 * number.
 */
function numberIn(header: Buffer, at: number, length: number): number {
  const first = header[at] ?? 0;
  if ((first & 0xc0) === 0xc0) return -1;
  if ((first & 0x80) !== 0) {
    return header.subarray(at + 1, at + length).reduce((sum, byte) => sum * 256 + byte, first & 0x7f);
  }
  // As in Go, zero bytes and spaces may surround the digits, and a zero byte ends them: `\0 644\0` is 0o644.
  const text = header
    .toString('latin1', at, at + length)
    .replaceAll(/^[\0 ]+|[\0 ]+$/g, '')
    .replace(/\0.*$/s, '');
  if (text === '') return 0;
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}

/** Where headers have mode, owner, group, size and time, with their lengths. */
const NUMBERS = [
  [100, 8],
  [108, 8],
  [116, 8],
  [124, 12],
  [136, 12],
] as const;

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
  readonly pax?: Readonly<Record<'path' | 'linkpath' | 'size', string | undefined>>;
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
  if (type === 'x') {
    const records = recordsIn(text);
    return {
      ...extra,
      pax: { path: records.get('path'), linkpath: records.get('linkpath'), size: records.get('size') },
    };
  }
  const name = textIn(text, 0, text.length);
  return type === 'L' ? { ...extra, name } : { ...extra, target: name };
}

/** The records of pax by key, each `LENGTH KEY=VALUE\n`; LENGTH counts all of it in bytes. */
function recordsIn(bytes: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(' ', at);
    const end = at + wholeNumber(bytes.toString('latin1', at, Math.max(space, at)));
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

/** A decimal number; NaN for any other text, and for one with more digits than a safe integer has. */
function wholeNumber(text: string): number {
  return /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
}

/** The size in a header, or in a record of pax about it. */
function sizeIn(header: Buffer, record = ''): number {
  // Type `S`, a sparse file of GNU tar: the list of its holes may go on in blocks that `size` does not count.
  if (header[156] === 0x53) throw new InvalidTar('has a file with holes');
  const size = record === '' ? numberIn(header, 124, 12) : wholeNumber(record);
  if (!Number.isSafeInteger(size) || size < 0) throw new InvalidTar('has an invalid size');
  return size;
}

/** The name in a header: `ustar` has a prefix for it, which GNU tar uses for times. */
function nameIn(header: Buffer): string {
  const name = textIn(header, 0, 100);
  const magic = header.toString('latin1', 257, 263);
  // The header of `star` ends with its name, and has times behind a shorter prefix.
  const length = header.toString('latin1', 508) === 'tar\0' ? 131 : 155;
  let prefix = magic === 'ustar\0' ? textIn(header, 345, length) : '';
  // What old versions of Go wrote: a prefix in a header of GNU tar. Its times are not numbers then.
  const hasNoTimes = [345, 357].some((at) => header[at] !== 0 && Number.isNaN(numberIn(header, at, 12)));
  if (header.toString('latin1', 257, 265) === 'ustar  \0' && hasNoTimes) {
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

/** Bytes behind an entry of so many, up to the next block. */
export function paddingAfter(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
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
