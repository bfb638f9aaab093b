/** Lock files: one process at a time works on a layout's index. */
import { type FileHandle, open, readFile, readlink, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { parsedJson } from '../../../../catalog/json.ts';
import { PipelineError } from '../../../error.ts';
import { readRegular } from '../../../file-pieces.ts';
import { fileError } from './files.ts';

/** Milliseconds without a refresh after which a lock is stale, if its owner cannot be looked up. */
const LOCK_AGE = 15_000;
/** Milliseconds to wait for a lock at most. */
const LOCK_PATIENCE = 30_000;

/** Does work while holding a lock file. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await takeLock(path);
  // Refresh the lock's time while working, several times in the age at which other processes take it for stale if they cannot
  // look up its owner.
  const beat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, LOCK_AGE / 5).unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(path, { force: true });
  }
}

/** Waits for a lock file and takes it. One that a dead process left is removed. @throws PipelineError `conflict` */
async function takeLock(path: string): Promise<void> {
  const until = Date.now() + LOCK_PATIENCE;
  for (let wait = 2; ; wait = Math.min(wait * 2, 100)) {
    try {
      await signLock(await open(path, 'wx'));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw fileError(`cannot lock ${path}`, error);
    }
    if (await isStale(path)) await dropStale(path);
    if (Date.now() > until)
      throw new PipelineError('conflict', `${path} is locked by another process`, { retryable: true });
    // By chance a little more or less, so that those who wait do not come back together.
    await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())));
  }
}

/** Process ids mean something where the same processes are seen: on one running system, in one container. */
interface Owner {
  readonly place: string;
  readonly pid: number;
  /** Start time of the process, so that a later process with its id is not mistaken for it; empty if unknown. */
  readonly began: string;
}

let own: Promise<Owner> | undefined;

/** Writes into a lock who holds it, so that others can see when that process has ended. */
async function signLock(handle: FileHandle): Promise<void> {
  own ??= ownerOf(process.pid);
  try {
    await handle.writeFile(JSON.stringify(await own));
  } finally {
    await handle.close();
  }
}

/** What a lock says of the process that holds it. A system without `/proc` is known by its host name alone. */
async function ownerOf(pid: number): Promise<Owner> {
  const [boot, container] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
    readlink('/proc/self/ns/pid').catch(() => ''),
  ]);
  return { place: `${hostname()} ${boot.trim()} ${container}`, pid, began: await beginningOf(pid) };
}

/** When a process began, as the system counts it; '' where that cannot be read. */
async function beginningOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program, in brackets, may contain anything. It is field 2, and the start time is field 22.
  // Behind the bracket and a blank comes field 3, so 22 has the index 19.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** Whether the process that took a lock has ended; by the lock's age where that is not known. False for a lock that is gone. */
async function isStale(path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    return (await hasEnded(readRegular(path).toString())) ?? Date.now() - mtimeMs > LOCK_AGE;
  } catch {
    return false;
  }
}

/**
 * Whether the process that owns a lock file has ended.
 *
 * @param text of the lock file; one that is being written has no owner yet
 * @returns undefined where it is not known
 */
async function hasEnded(text: string): Promise<boolean | undefined> {
  const { place, pid, began } = Object(parsedJson(text)) as Partial<Owner>;
  own ??= ownerOf(process.pid);
  if (place !== (await own).place || pid === undefined || !Number.isSafeInteger(pid) || pid <= 0)
    return undefined;
  try {
    // Signal 0 only asks whether the process exists.
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  // Its id may be that of another process by now.
  return (await beginningOf(pid)) !== began;
}

/** Removes a stale lock. One process does it at a time: else the second would remove the lock that the first has taken since. */
async function dropStale(path: string): Promise<void> {
  const breaking = `${path}.break`;
  try {
    await (await open(breaking, 'wx')).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw fileError(`cannot unlock ${path}`, error);
    // Another process removes the stale lock now, or died at it long ago: the next round tries again.
    const found = await stat(breaking).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > LOCK_AGE) await rm(breaking, { force: true });
    return;
  }
  try {
    if (await isStale(path)) await rm(path, { force: true });
  } finally {
    await rm(breaking, { force: true });
  }
}
