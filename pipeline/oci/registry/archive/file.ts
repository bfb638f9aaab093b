/** An archive on the disk, opened for reading by entry; a gzipped one is unpacked to a temporary file first. */

import { createWriteStream } from 'node:fs';
import { type FileHandle, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { PipelineError } from '../../../error.ts';
import { openRegularHandle } from '../../../file-pieces.ts';
import { temporaryFolder } from '../../../write.ts';
import { fileError } from '../layout/files.ts';
import { allOf } from '../stream.ts';
import { readTarIndex, type TarEntry } from './tar.ts';

export interface ArchiveFile {
  readonly path: string;
  /** The entry of a name, links followed; undefined when there is no such file. */
  find(name: string): TarEntry | undefined;
  /** The bytes of an entry from `start` up to but not with `end`. */
  read(entry: TarEntry, start?: number, end?: number): AsyncGenerator<Uint8Array, void, undefined>;
  /** All of a small entry; undefined when there is no such file. */
  readSmall(name: string): Promise<Buffer | undefined>;
  close(): Promise<void>;
}

/** Bytes that are read at a time. */
const READ_SIZE = 256 * 1024;
/** Bytes of an entry that is read whole at most: indexes and manifests. */
const SMALL = 64 * 1024 * 1024;
/** Links to links at most. */
const LINKS = 8;

/** What a gzipped archive may unpack to: so much, and beyond that so many times its own size. Images take 2 to 5 times. */
const FREE_BYTES = 256 * 2 ** 20;
const MOST_TIMES = 100;

/** The error for an archive that unpacks to more than any real one. */
function tooLarge(path: string): PipelineError {
  return new PipelineError('too-large', `${path} unpacks to more than ${MOST_TIMES} times its size`, {
    hint: 'if that is intended, unpack it first, and name the unpacked file',
  });
}

/**
 * Opens a tar archive, compressed or not.
 *
 * @throws PipelineError `not-found`, `corrupt` when the file is not an archive, or `too-large`
 */
export async function openArchive(path: string): Promise<ArchiveFile> {
  try {
    const first = await openRegularHandle(path);
    const magic = Buffer.alloc(2);
    await first.read(magic, 0, 2, 0);
    // These two bytes begin every file of gzip; a tar file begins with a name.
    if (magic[0] !== 0x1f || magic[1] !== 0x8b) return await archiveOver(first, path, async () => undefined);
    await first.close();
    return await openGzipped(path);
  } catch (error) {
    throw fileError(`cannot read ${path}`, error);
  }
}

/** Opens a compressed archive: it is decompressed to a file that `close` removes. @throws PipelineError for a bomb */
async function openGzipped(path: string): Promise<ArchiveFile> {
  const folder = temporaryFolder('archive');
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const file = join(folder, 'archive.tar');
    const source = (await openRegularHandle(path)).createReadStream();
    const within = async function* (bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      let size = 0;
      for await (const piece of bytes) {
        size += piece.length;
        if (size > Math.max(FREE_BYTES, source.bytesRead * MOST_TIMES)) throw tooLarge(path);
        yield piece;
      }
    };
    await pipeline(source, createGunzip(), within, createWriteStream(file, { flags: 'wx' }));
    return await archiveOver(await openRegularHandle(file), path, remove);
  } catch (error) {
    await remove();
    // The codes of zlib.
    if (/^Z_/.test((error as NodeJS.ErrnoException).code ?? '')) {
      throw new PipelineError('corrupt', `${path} is not a complete gzip file`, { cause: error });
    }
    throw error;
  }
}

/** An archive by its index of members. `close` also calls `ended`. */
async function archiveOver(
  handle: FileHandle,
  path: string,
  ended: () => Promise<void>,
): Promise<ArchiveFile> {
  const close = async (): Promise<void> => {
    await handle.close();
    await ended();
  };
  let entries: ReadonlyMap<string, TarEntry>;
  try {
    entries = await readTarIndex(handle, path);
  } catch (error) {
    await close();
    throw error;
  }
  const find = (name: string): TarEntry | undefined => {
    let entry = entries.get(name);
    for (let links = 0; entry?.kind === 'link' && links < LINKS; links++) entry = entries.get(entry.target);
    return entry?.kind === 'file' ? entry : undefined;
  };
  async function* read(
    entry: TarEntry,
    start = 0,
    end = entry.size,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = start; at < end; ) {
      const buffer = Buffer.allocUnsafe(Math.min(READ_SIZE, end - at));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, entry.offset + at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
  const readSmall = async (name: string): Promise<Buffer | undefined> => {
    const entry = find(name);
    if (entry === undefined) return undefined;
    if (entry.size > SMALL)
      throw new PipelineError('too-large', `${name} in ${path} has ${entry.size} bytes`);
    return allOf(read(entry));
  };
  return { path, find, read, readSmall, close };
}
