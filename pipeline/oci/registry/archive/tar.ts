/**
 * Tar files: where in the file each entry's bytes are, so that they are read without
 * unpacking, and archives written the same way every time.
 *
 * @see https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html
 */
import { type FileHandle, open } from 'node:fs/promises';
import { PipelineError } from '../../../error.ts';

export interface TarEntry {
  /** Without a leading `./`. */
  readonly name: string;
  readonly kind: 'file' | 'link' | 'other';
  /** Target of a link, relative to the root of the archive. */
  readonly target: string;
  /** Offset of the first byte in the archive, and bytes. */
  readonly offset: number;
  readonly size: number;
}

/** Bytes of a block: a header is one, and content fills whole ones. Positions in headers below are those of POSIX `ustar`. */
export const BLOCK = 512;
/** Bytes of a long name or of pax records at most. */
export const LARGEST_NAME: number = 1024 * 1024;
const MOST_ENTRIES = 1_000_000;

/**
 * The members of a tar file by name, without their content.
 *
 * @throws PipelineError `corrupt` when the file is not a tar
 */
export async function readTarIndex(handle: FileHandle, path: string): Promise<ReadonlyMap<string, TarEntry>> {
  const bad = (why: string): PipelineError => new PipelineError('corrupt', `${path} ${why}`);
  const entries = new Map<string, TarEntry>();
  const { size: end } = await handle.stat();
  let next: Overrides = {};
  for (let at = 0, count = 0; at + BLOCK <= end; count++) {
    if (count > MOST_ENTRIES) throw bad('has too many entries');
    const header = await readAt(handle, at, BLOCK);
    // A block of zeros ends the archive.
    if (header.every((byte) => byte === 0)) break;
    if (!isHeader(header)) throw bad('is not a tar archive');
    const size = next.size ?? numberIn(header, 124, 12);
    const offset = at + BLOCK;
    if (!Number.isSafeInteger(size) || size < 0 || offset + size > end)
      throw bad('ends in the middle of an entry');
    at = offset + Math.ceil(size / BLOCK) * BLOCK;
    const type = String.fromCharCode(header[156] ?? 0); // typeflag
    // Headers with more about the next entry: `x` and `g` of pax, `L` and `K` of GNU tar.
    if ('xLKg'.includes(type)) {
      if (size > LARGEST_NAME) throw bad('has a name that is too long');
      const text = await readAt(handle, offset, size);
      // `g` is about all entries and never about names in archives of images.
      if (type !== 'g') next = { ...next, ...overridesIn(type, text) };
      continue;
    }
    const entry = entryOf(header, type, { ...next, offset, size });
    entries.set(entry.name, entry);
    next = {};
  }
  return entries;
}

/** What stands for fields of the next header, which are too short for it. */
interface Overrides {
  readonly path?: string;
  readonly linkpath?: string;
  readonly size?: number;
}

/** What an extra header says about the next entry: a long name of GNU tar, or records of pax. */
function overridesIn(type: string, bytes: Buffer): Overrides {
  const text = bytes.toString('utf8');
  if (type === 'L') return { path: text.replace(/\0.*$/s, '') };
  if (type === 'K') return { linkpath: text.replace(/\0.*$/s, '') };
  // A record is `LENGTH KEY=VALUE\n`, and LENGTH counts all of it in bytes. Reading ends at one that is not like that.
  const found: { path?: string; linkpath?: string; size?: number } = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(' ', at);
    const length = Number(bytes.toString('latin1', at, space));
    if (space < 0 || !Number.isInteger(length) || length <= space - at) break;
    const [, key, value = ''] =
      /^([^=]*)=(.*)\n$/s.exec(bytes.toString('utf8', space + 1, at + length)) ?? [];
    if (key === 'path' || key === 'linkpath') found[key] = value;
    if (key === 'size') found.size = Number(value);
    at += length;
  }
  return found;
}

/** A member from its header, and from extra headers before it. Directories and devices are `other`. */
function entryOf(
  header: Buffer,
  type: string,
  extra: Overrides & { offset: number; size: number },
): TarEntry {
  // GNU tar writes a blank in place of the zero, and other fields in place of the prefix.
  const isUstar = header.toString('latin1', 257, 262) === 'ustar';
  const prefix = isUstar && header[262] === 0 ? textIn(header, 345, 155) : '';
  const short = textIn(header, 0, 100);
  const name = cleanPath(extra.path ?? (prefix === '' ? short : `${prefix}/${short}`));
  const link = extra.linkpath ?? textIn(header, 157, 100);
  // Files: a zero byte, `0`, and `7` (contiguous). Links: `1` (hard) and `2` (symbolic).
  const kind =
    '\x000'.includes(type) || type === '7' ? 'file' : type === '1' || type === '2' ? 'link' : 'other';
  // The target of a hard link begins at the root of the archive, that of a symbolic link in its own folder.
  const folder = type === '2' && !link.startsWith('/') ? name.slice(0, name.lastIndexOf('/') + 1) : '';
  return {
    name,
    kind,
    target: kind === 'link' ? cleanPath(folder + link) : '',
    offset: extra.offset,
    size: extra.size,
  };
}

/** A path without `.`, `..` and empty parts. */
function cleanPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** Whether a block is a header, by its checksum, which counts its own eight bytes as spaces. */
export function isHeader(header: Buffer): boolean {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 32 : (header[i] ?? 0);
  return sum === numberIn(header, 148, 8);
}

/** A field of a header as text, up to its first zero byte. */
export function textIn(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

/** Octal, or binary when the first bit is set; -1 for what is negative in binary, NaN for what is not a number. */
export function numberIn(header: Buffer, at: number, length: number): number {
  const first = header[at] ?? 0;
  if ((first & 0xc0) === 0xc0) return -1;
  if ((first & 0x80) !== 0) {
    return header.subarray(at + 1, at + length).reduce((sum, byte) => sum * 256 + byte, first & 0x7f);
  }
  const text = header
    .toString('latin1', at, at + length)
    .replaceAll(/^[\0 ]+|[\0 ]+$/g, '')
    .replace(/\0.*$/s, '');
  return text === '' ? 0 : /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}

/** Bytes of the file from a position on; zeros where it ends before. */
async function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  await handle.read(buffer, 0, length, at);
  return buffer;
}

export interface TarSource {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  open(): AsyncIterable<Uint8Array>;
}

/** The header of a file: mode 0644, owner 0:0, time 0, so that bytes depend on content only. */
export function headerOf(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  if (Buffer.byteLength(name) > 100) throw new Error(`not a regular file in a tar archive: ${name}`);
  header.write(name, 0);
  header.write('0000644\0', 100); // mode
  header.write('0000000\0', 108); // uid
  header.write('0000000\0', 116); // gid
  if (size < 8 ** 11) header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  else writeLarge(header, size);
  header.write('00000000000\0', 136); // mtime
  // The checksum counts its own field as spaces.
  header.write('        ', 148);
  header.write('0', 156); // a file
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** The size in binary, as GNU tar and all that read its archives have it for 8 GiB and more. */
function writeLarge(header: Buffer, size: number): void {
  header[124] = 0x80;
  header.writeBigUInt64BE(BigInt(size), 128);
}

/** Zeros behind an entry of so many bytes, up to the next block. */
export function paddingOf(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** The end of a tar file. */
export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK);

/** Writes an archive of files, in the order given. */
export async function writeTar(path: string, sources: Iterable<TarSource>): Promise<void> {
  const handle = await open(path, 'wx', 0o644);
  try {
    for (const source of sources) {
      await handle.writeFile(headerOf(source.name, source.size));
      let size = 0;
      for await (const chunk of source.open()) {
        size += chunk.length;
        await handle.writeFile(chunk);
      }
      if (size !== source.size) throw new PipelineError('io', `${source.name} changed while it was archived`);
      await handle.writeFile(paddingOf(size));
    }
    await handle.writeFile(TAR_END);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
