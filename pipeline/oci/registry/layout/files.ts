/** Files that are there whole or not at all, also after a crash. */
import { randomUUID } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PipelineError } from '../../../error.ts';
import { readRegular } from '../../../file-pieces.ts';

/** The error of a file operation: what was done with which file, and why it failed. */
export function fileError(what: string, cause: unknown): PipelineError {
  if (cause instanceof PipelineError) return cause;
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  const why: Readonly<Record<string, string>> = {
    ENOSPC: 'no space left',
    EDQUOT: 'the quota is used up',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'the file system is read-only',
    ENOENT: 'no such file or directory',
    ENOTDIR: 'a part of the path is not a directory',
    EISDIR: 'it is a directory',
    ELOOP: 'it is a symbolic link',
  };
  const text = Object.hasOwn(why, code) ? why[code] : code || String(cause);
  const kind = code === 'ENOENT' || code === 'ENOTDIR' ? 'not-found' : 'io';
  return new PipelineError(kind, `${what}: ${text}`, { cause });
}

/** Whether an error says that a file, or a folder above it, does not exist. */
export function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Names of the files through which {@link replaceFile} writes. */
export const TEMPORARY_FILE: RegExp = /^\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Writes a file through a temporary one beside it.
 *
 * @returns the stamp of what was written
 */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<string> {
  const temporary = join(dirname(path), `.${randomUUID()}`);
  try {
    const handle = await open(temporary, 'wx', 0o644);
    let stamp: string;
    try {
      await handle.writeFile(bytes);
      await handle.sync();
      stamp = stampIn(await handle.stat({ bigint: true }));
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    await syncDirectory(dirname(path));
    return stamp;
  } catch (error) {
    await rm(temporary, { force: true });
    throw fileError(`cannot write ${path}`, error);
  }
}

/**
 * Adds a line to the end of a file, and onto the disk; begins one that does not exist. Part of a line at its end, as a
 * full disk leaves it, was never acknowledged, and is cut off.
 *
 * @returns the stamp of the file then
 */
export async function appendToFile(path: string, line: string): Promise<string> {
  try {
    const handle = await open(path, 'a+', 0o644);
    try {
      const { size } = await handle.stat();
      const isNew = size === 0;
      const { buffer: end } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
      if (!isNew && String(end) !== '\n')
        await handle.truncate((await handle.readFile()).lastIndexOf('\n') + 1);
      await handle.writeFile(line);
      await handle.datasync();
      if (isNew) await syncDirectory(dirname(path));
      return stampIn(await handle.stat({ bigint: true }));
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw fileError(`cannot write ${path}`, error);
  }
}

/** Stamps that change when a file is replaced or written to. */
export async function stampOf(path: string): Promise<string> {
  try {
    return stampIn(await stat(path, { bigint: true }));
  } catch (error) {
    if (isAbsent(error)) return ABSENT;
    throw fileError(`cannot read ${path}`, error);
  }
}

/** The stamp of a file that does not exist. */
export const ABSENT = 'absent';

/** Another file, another size or another time of change: each changes the stamp. */
function stampIn({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs}`;
}

/** Makes a directory and those above it. Node's own way never ends where a parent cannot be made, as in /proc. */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeDirectory(dirname(path));
    await mkdir(path).catch((again: NodeJS.ErrnoException) => {
      if (again.code !== 'EEXIST') throw again;
    });
  }
}

/** Gives a finished file, already on the disk, its name. */
export async function moveInto(temporary: string, path: string): Promise<void> {
  await makeDirectory(dirname(path));
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

/** Makes renames in a directory durable. Systems that cannot open directories need no call. */
async function syncDirectory(path: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, constants.O_RDONLY);
    await handle.sync();
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EINVAL', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
  } finally {
    await handle?.close();
  }
}

/** The bytes of a small file; undefined if it does not exist. */
export async function readIfThere(path: string, limit: number): Promise<Buffer | undefined> {
  try {
    const { size } = await stat(path);
    if (size > limit) throw new PipelineError('too-large', `${path} is larger than ${limit} bytes`);
    return readRegular(path);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw fileError(`cannot read ${path}`, error);
  }
}
