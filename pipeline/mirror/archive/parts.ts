/** One long file that is cut into parts of a size, so that they fit onto what carries them. */
import { type FileHandle, open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { PipelineError } from '../../error.ts';
import { openRegularHandle } from '../../file-pieces.ts';
import { fileError } from '../../oci/registry/layout/files.ts';
import { fileInside } from './files.ts';

/** The parts of an archive, to be written from the front to the back. */
export interface PartWriter {
  /** Writes behind what is there. */
  write(bytes: Uint8Array): Promise<void>;
  /** Takes back what was written from a place on. */
  cut(to: number): Promise<void>;
  /** The place of the next byte. */
  position(): number;
  /** Puts all of it onto the disk. */
  close(): Promise<void>;
}

/** The path of a part, counted from 0; its name counts from 1, with zeros so that names sort as parts do. */
function partPath(directory: string, i: number): string {
  return join(directory, `archive-${String(i + 1).padStart(6, '0')}.tar`);
}

/**
 * Opens the parts in a directory for writing at a place. What is behind it is deleted: an earlier run did not finish it.
 *
 * @param part bytes of a part
 * @param start the place, in bytes from the beginning of the first part
 * @throws PipelineError `io`
 */
export async function openParts(directory: string, part: number, start: number): Promise<PartWriter> {
  let at = start;
  let current: { readonly i: number; readonly handle: FileHandle } | undefined;
  const close = async (): Promise<void> => {
    await current?.handle.sync();
    await current?.handle.close();
    current = undefined;
  };
  const handleFor = async (i: number): Promise<FileHandle> => {
    if (current?.i === i) return current.handle;
    await close();
    const handle = await open(partPath(directory, i), 'a', 0o644);
    current = { i, handle };
    return handle;
  };
  const withPath = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw fileError(`cannot write the archive in ${directory}`, error);
    }
  };
  const cut = (to: number): Promise<void> =>
    withPath(async () => {
      await close();
      await cutParts(directory, part, to);
      at = to;
    });
  await cut(start);
  return {
    write: (bytes) =>
      withPath(async () => {
        for (let from = 0; from < bytes.length; ) {
          const i = Math.floor(at / part);
          // As much as the part has room for.
          const piece = bytes.subarray(from, from + (i + 1) * part - at);
          await (await handleFor(i)).appendFile(piece);
          from += piece.length;
          at += piece.length;
        }
      }),
    cut,
    position: () => at,
    close: () => withPath(close),
  };
}

/** The name of a part, with its number from 1. */
const PART = /^archive-(\d{6})\.tar$/;

/**
 * Where the parts in a directory end: behind the last one, or in the first that is short of the size of a
 * part. Parts that are missing count as whole: they may have been carried away already. 0 without parts.
 *
 * @param part bytes of a part
 */
export async function endOfParts(directory: string, part: number): Promise<number> {
  let end = 0;
  for (const name of (await readdir(directory)).sort()) {
    const number = PART.exec(name)?.[1];
    if (number === undefined) continue;
    const { size } = await stat(join(directory, name));
    end = (Number(number) - 1) * part + size;
    if (size < part) break;
  }
  return end;
}

/** Shortens the parts to so many bytes in all. */
async function cutParts(directory: string, part: number, to: number): Promise<void> {
  const last = Math.floor(to / part);
  for (const name of await readdir(directory)) {
    const number = PART.exec(name)?.[1];
    if (number !== undefined && Number(number) - 1 > last) await rm(join(directory, name));
  }
  const path = partPath(directory, last);
  // At the border of a part the next one has no bytes yet: an empty file is none.
  if (to % part > 0) await truncate(path, to % part);
  else await rm(path, { force: true });
}

/**
 * The bytes of an archive from `start` up to but not with `end`.
 *
 * @param part bytes of a part
 * @throws PipelineError `not-found` for a part that is missing
 */
export async function* readParts(
  directory: string,
  { part, start, end }: { readonly part: number; readonly start: number; readonly end: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = start; at < end; ) {
    const i = Math.floor(at / part);
    const stop = Math.min(end, (i + 1) * part);
    yield* readRange(partPath(directory, i), at - i * part, stop - i * part);
    at = stop;
  }
}

/** Bytes that are read at a time. */
const READ_SIZE = 256 * 1024;

/** The bytes of a file from `start` to `end`. @throws PipelineError `corrupt` if it is shorter */
async function* readRange(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  let handle: FileHandle | undefined;
  try {
    handle = await openRegularHandle(path);
    for (let at = start; at < end; ) {
      const buffer = Buffer.allocUnsafe(Math.min(READ_SIZE, end - at));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) throw new PipelineError('corrupt', `${path} is incomplete`);
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw fileError(`cannot read ${path}`, error);
  } finally {
    await handle?.close();
  }
}

/**
 * Checks the files of an archive against its receipt.
 *
 * @throws PipelineError `corrupt` when a part is missing, a link, or has another size
 */
export function checkParts(directory: string, { part, size }: { part: number; size: number }): void {
  for (let i = 0; i * part < size; i++) {
    const path = partPath(directory, i);
    const expected = Math.min(part, size - i * part);
    const found = fileInside(directory, basename(path));
    if (found?.size === expected) continue;
    const what = found ? `has ${found.size} bytes, not ${expected}` : 'is missing';
    throw new PipelineError('corrupt', `${path} ${what}`, {
      hint: 'copy all parts of the archive again',
    });
  }
}
