/**
 * Writing files so that a reader sees the old text or the new one, never a part; and folders that last no longer than
 * the process.
 */

import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { entriesIn, fileError, refuseLinkOut, withFileErrors } from './directory.ts';
import { readRegular } from './file-pieces.ts';
import { afterProcess } from './processes.ts';

/** What writing changed, by file name. */
export interface Written {
  readonly written: readonly string[];
  readonly unchanged: readonly string[];
  readonly removed: readonly string[];
}

/** Files that are written whole beside their places, and wait to be seen. */
export interface StagedFiles {
  /** Puts all of them in their places. @throws PipelineError `io` */
  commit(): Written;
  /** Leaves everything as it was. */
  discard(): void;
}

/**
 * Writes files into a folder, which is made if need be. A file that has its text already
 * is left alone, with its time. A link in the place of a file is replaced, never followed.
 *
 * @param known names that may stand there from an earlier run; those without a text now are removed
 * @throws PipelineError `io`, `not-found`, or `usage` where a link leads out of the clone
 */
export function writeFiles(
  folder: string,
  files: ReadonlyMap<string, string | Uint8Array>,
  known: readonly string[] = [],
): Written {
  return stageFiles(folder, files, known).commit();
}

/**
 * Writes files beside their final names, for the caller to `commit` (rename) or `discard`. Whatever can fail for want of
 * room or permission fails here, before anything is done that relies on the files.
 *
 * @param known names that `commit` removes where `files` does not have them
 * @throws PipelineError `io`, `not-found`, or `usage` where a link leads out of the clone
 */
export function stageFiles(
  folder: string,
  files: ReadonlyMap<string, string | Uint8Array>,
  known: readonly string[] = [],
): StagedFiles {
  // Nobody can know the name, and so plant a link there.
  const ending = `${randomBytes(8).toString('hex')}.part`;
  const beside = (name: string): string => join(folder, `${name}.${ending}`);
  const changed: string[] = [];
  const discard = (): void => {
    for (const name of changed) rmSync(beside(name), { force: true });
  };
  refuseLinkOut(folder);
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, content] of files) {
      if (contentOf(join(folder, name))?.equals(Buffer.from(content)) === true) continue;
      changed.push(name);
      // On the disk before it is renamed: else a power failure could leave an empty file. `wx` follows no link.
      writeFileSync(beside(name), content, { flush: true, flag: 'wx' });
    }
  } catch (error) {
    discard();
    throw fileError(error, folder);
  }
  const commit = (): Written => {
    try {
      for (const name of changed) renameSync(beside(name), join(folder, name));
      const stale = known.filter((name) => !files.has(name) && contentOf(join(folder, name)) !== undefined);
      for (const name of stale) rmSync(join(folder, name));
      const unchanged = [...files.keys()].filter((name) => !changed.includes(name));
      return { written: changed, unchanged, removed: stale };
    } catch (error) {
      discard();
      throw fileError(error, folder);
    }
  };
  return { commit, discard };
}

/** Removes a file. @throws PipelineError `io`, `not-found`, or `usage` where a link leads out of the clone */
export function removeFile(path: string): void {
  refuseLinkOut(dirname(path));
  withFileErrors(path, () => rmSync(path));
}

/** The bytes of a file; undefined if it does not exist. */
function contentOf(path: string): Buffer | undefined {
  try {
    return readRegular(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A run gives a file its name within seconds of its last byte. The rest is for clocks of file servers. */
const ABANDONED = 24 * 3600 * 1000;

/**
 * Removes the temporary files that killed runs have left in a folder: those that nobody has written to for a day.
 *
 * @param names of files that only runs write that have not ended, and of nothing else
 */
export function removeAbandoned(folder: string, names: RegExp): void {
  const quietly = <T>(act: () => T): T | undefined => {
    try {
      return act();
    } catch {
      // Another run was first, or only the owner may: then it stays.
      return undefined;
    }
  };
  for (const { name } of quietly(() => entriesIn(folder)) ?? []) {
    const path = join(folder, name);
    const found = names.test(name) ? quietly(() => lstatSync(path)) : undefined;
    if (found?.isFile() && Date.now() - found.mtimeMs > ABANDONED) quietly(() => rmSync(path));
  }
}

// What the program keeps in the temporary directory: it is gone when the process is, however that ends.

let root: string | undefined;

/**
 * Makes a folder. Whoever needs it removes it; whatever is left is removed with the process.
 *
 * @param name what it is for, such as `git`
 */
export function temporaryFolder(name: string): string {
  // Whoever cleans the temporary directory may have removed it, and `TMPDIR` may name another one by now.
  if (root === undefined || dirname(root) !== tmpdir() || !existsSync(root)) root = rootFolder();
  return mkdtempSync(join(root, `${name}-`));
}

/** Makes the folder for all temporary folders of this process: removed at its exit, or by a shell if it is killed. */
function rootFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', remove);
  afterProcess('rm -rf "$1"', folder);
  return folder;
}
