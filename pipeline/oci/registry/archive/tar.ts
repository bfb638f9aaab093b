/**
 * Tar files: where in the file each entry's bytes are, so that they are read without
 * unpacking, and archives written the same way every time.
 *
 * @see https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html
 */
import { type FileHandle, open } from 'node:fs/promises';
import { tarPadding } from '../../../../catalog/fbc/cache/tar.ts';
import { PipelineError } from '../../../error.ts';
import { BLOCK, InvalidTar, type TarMember, tarMembers } from '../../tar-stream.ts';

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
  let at = 0;
  const skip = async (count: number): Promise<void> => {
    if (at + count > end) throw new InvalidTar('ends in the middle of an entry');
    at += count;
  };
  const take = async (count: number): Promise<Buffer> => {
    // An archive may lack the blocks of zeros at its end.
    if (at === end) return Buffer.alloc(count);
    await skip(count);
    return readAt(handle, at - count, count);
  };
  try {
    for await (const member of tarMembers({ position: () => at, take, skip })) {
      if (entries.size >= MOST_ENTRIES) throw bad('has too many entries');
      const entry = entryOf(member, at);
      entries.set(entry.name, entry);
    }
  } catch (error) {
    throw error instanceof InvalidTar ? bad(error.message) : error;
  }
  return entries;
}

/** A member by its clean name. Directories and devices are `other`. */
function entryOf({ kind, size, ...member }: TarMember, offset: number): TarEntry {
  const name = cleanPath(member.name);
  if (kind !== 'link' && kind !== 'symlink')
    return { name, kind: kind === 'file' ? 'file' : 'other', target: '', offset, size };
  // The target of a hard link begins at the root of the archive, that of a symbolic link in its own folder.
  const isRelative = kind === 'symlink' && !member.target.startsWith('/');
  const folder = isRelative ? name.slice(0, name.lastIndexOf('/') + 1) : '';
  return { name, kind: 'link', target: cleanPath(folder + member.target), offset, size };
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
  return Buffer.alloc(tarPadding(size));
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
