/** Files that are there whole or not at all, also after a crash. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PipelineError } from '../../../error.ts';

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
  };
  const text = Object.hasOwn(why, code) ? why[code] : code || String(cause);
  const kind = code === 'ENOENT' || code === 'ENOTDIR' ? 'not-found' : 'io';
  return new PipelineError(kind, `${what}: ${text}`, { cause });
}

export function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Writes a file through a temporary one beside it. */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = join(dirname(path), `.${randomUUID()}`);
  try {
    const handle = await open(temporary, 'wx', 0o644);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw fileError(`cannot write ${path}`, error);
  }
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

/** Makes renames in a directory last; systems that cannot open directories do so by themselves. */
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

/** Milliseconds after which a lock's owner is taken for dead: locks are held for milliseconds. */
const LOCK_AGE = 15_000;
const LOCK_PATIENCE = 30_000;

/** Does something while no other process does the same under this lock file. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await takeLock(path);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function takeLock(path: string): Promise<void> {
  const until = Date.now() + LOCK_PATIENCE;
  for (let wait = 2; ; wait = Math.min(wait * 2, 100)) {
    try {
      const handle = await open(path, 'wx');
      await handle.close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw fileError(`cannot lock ${path}`, error);
    }
    if (await isStale(path)) await dropStale(path);
    if (Date.now() > until)
      throw new PipelineError('conflict', `${path} is locked by another process`, { retryable: true });
    await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())));
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > LOCK_AGE;
  } catch {
    return false;
  }
}

/** Renamed before it is removed: of several that find it stale, one takes it away. */
async function dropStale(path: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    await unlink(aside);
  } catch (error) {
    if (!isAbsent(error)) throw fileError(`cannot unlock ${path}`, error);
  }
}

/** The bytes of a small file; undefined when there is none. */
export async function readIfThere(path: string, limit: number): Promise<Buffer | undefined> {
  try {
    const { size } = await stat(path);
    if (size > limit) throw new PipelineError('too-large', `${path} is larger than ${limit} bytes`);
    return await readFile(path);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw fileError(`cannot read ${path}`, error);
  }
}
