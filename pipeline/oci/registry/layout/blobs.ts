/** The `blobs` of an OCI image layout: files named by the digest of what is in them. */
import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, lutimes, open, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PipelineError } from '../../../error.ts';
import { openRegularHandle } from '../../../file-pieces.ts';
import type { Descriptor } from '../../../ports.ts';
import { algorithmOf, checkedBytes, isDigest } from '../../digest.ts';
import { fileError, isAbsent, makeDirectory, moveInto } from './files.ts';

export interface BlobReader {
  /** Bytes of a blob; undefined when it is not there. */
  size(digest: string): Promise<number | undefined>;
  /**
   * The bytes from `start` up to but not with `end`, unchecked.
   *
   * @throws PipelineError `not-found`
   */
  read(digest: string, start?: number, end?: number): AsyncGenerator<Uint8Array, void, undefined>;
}

export interface Blobs extends BlobReader {
  /** Writes a blob; it is to be seen only when it is whole, checked and on the disk. */
  write(bytes: AsyncIterable<Uint8Array>, blob: Pick<Descriptor, 'digest' | 'size'>): Promise<void>;
  /** A new file for bytes that come in pieces. */
  temporary(): Promise<{ readonly path: string; readonly handle: FileHandle }>;
  /** Makes a finished temporary file, closed and on the disk, the blob that it was checked to be. */
  adopt(path: string, digest: string): Promise<void>;
  /** When a blob was written, in milliseconds since 1970; undefined when it is not there. */
  written(digest: string): Promise<number | undefined>;
  /** Makes a blob that is there as young as one that was just written: somebody is about to name it. */
  touch(digest: string): Promise<void>;
  /** All blobs that are there. */
  list(): Promise<readonly string[]>;
  /** @returns false when there was none */
  remove(digest: string): Promise<boolean>;
}

/** Beside `blobs`, so that no other tool takes half a blob for one. */
export const TEMPORARY = '.portolan-uploads';
/** Bytes that are read at a time. */
const READ_SIZE = 256 * 1024;

/** The blobs of an image layout. A blob is written to a temporary file first, and moved once its digest is right. */
export function openBlobs(directory: string): Blobs {
  const pathOf = (digest: string): string =>
    join(directory, 'blobs', algorithmOf(digest), digest.slice(digest.indexOf(':') + 1));
  const temporaries = join(directory, TEMPORARY);
  const temporary = async (): Promise<{ path: string; handle: FileHandle }> => {
    const path = join(temporaries, randomUUID());
    try {
      await makeDirectory(temporaries);
      // A name that is there already could be a link; what is written is also read again, for its digest.
      return { path, handle: await open(path, 'wx+', 0o644) };
    } catch (error) {
      throw fileError(`cannot write into ${directory}`, error);
    }
  };
  const adopt = async (path: string, digest: string): Promise<void> => {
    try {
      await moveInto(path, pathOf(digest));
    } catch (error) {
      throw fileError(`cannot write ${pathOf(digest)}`, error);
    }
  };
  const look = async (digest: string): Promise<Stats | undefined> => {
    try {
      // A link in a directory that was handed over does not count: it could name any file of this machine.
      const found = await lstat(pathOf(digest));
      return found.isFile() ? found : undefined;
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw fileError(`cannot read ${pathOf(digest)}`, error);
    }
  };
  return {
    size: async (digest) => (await look(digest))?.size,
    written: async (digest) => (await look(digest))?.mtimeMs,
    touch: async (digest) => {
      const now = new Date();
      // What is not there, or not ours to change, stays as it is.
      await lutimes(pathOf(digest), now, now).catch(() => undefined);
    },
    list: async () => {
      const algorithms = ['sha256', 'sha384', 'sha512'];
      const found = await Promise.all(
        algorithms.map(async (algorithm) => {
          // What cannot be listed is only not cleaned up.
          const names = await readdir(join(directory, 'blobs', algorithm)).catch(() => []);
          return names.map((name) => `${algorithm}:${name}`).filter(isDigest);
        }),
      );
      return found.flat();
    },
    read: (digest, start = 0, end = Infinity) => readFileRange(pathOf(digest), start, end),
    write: async (bytes, blob) => {
      const { path, handle } = await temporary();
      try {
        await fill(handle, checkedBytes(bytes, blob, `the blob ${blob.digest} for ${directory}`));
        await adopt(path, blob.digest);
      } catch (error) {
        await rm(path, { force: true });
        throw isFileSystem(error) ? fileError(`cannot write into ${directory}`, error) : error;
      }
    },
    temporary,
    adopt,
    remove: async (digest) => {
      try {
        await unlink(pathOf(digest));
        return true;
      } catch (error) {
        if (isAbsent(error)) return false;
        throw fileError(`cannot remove ${pathOf(digest)}`, error);
      }
    },
  };
}

/** Writes a file to its end and to the disk. */
async function fill(handle: FileHandle, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    let at = 0;
    for await (const chunk of bytes) {
      await writeAll(handle, chunk, at);
      at += chunk.length;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes all of a chunk behind the first `at` bytes of a file: one call may write less. */
export async function writeAll(handle: FileHandle, chunk: Uint8Array, at: number): Promise<void> {
  for (let from = 0; from < chunk.length; ) {
    const { bytesWritten } = await handle.write(chunk, from, chunk.length - from, at + from);
    from += bytesWritten;
  }
}

/** Whether an error comes from a call to the file system, not from the bytes' own source. */
function isFileSystem(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/**
 * The bytes of a file from `start` up to but not with `end`.
 *
 * @throws PipelineError `not-found`
 */
async function* readFileRange(
  path: string,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let handle: FileHandle;
  try {
    // A link in a directory that was handed over could name any file of this machine.
    handle = await openRegularHandle(path, constants.O_NOFOLLOW);
  } catch (error) {
    if (isAbsent(error)) throw new PipelineError('not-found', `there is no file ${path}`);
    throw fileError(`cannot read ${path}`, error);
  }
  try {
    for (let at = start; at < end; ) {
      const buffer = Buffer.allocUnsafe(Math.min(READ_SIZE, end - at));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw isFileSystem(error) ? fileError(`cannot read ${path}`, error) : error;
  } finally {
    await handle.close();
  }
}
