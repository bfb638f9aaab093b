/**
 * Records in a local directory, shared by any number of processes. Each version is a
 * file of its own, made by linking a whole file to a name that must not exist: the file system
 * decides who is first, nothing is locked, and a process that dies leaves nothing in the way.
 */
import { linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareText } from '../../../catalog/go/text.ts';
import { fileError, readFileBytes, refuseLinkOut } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { RecordStore, StoredRecord } from '../../ports.ts';

/** Ends the folder that holds a record's versions, so that a key may begin another one. */
const ENDING = '.record';

/** Files that this process has begun: each has a name of its own. */
let count = 0;

/**
 * Records in a directory.
 *
 * @param root made when something is put into it
 * @throws PipelineError `io`, and `usage` for a key that is not a path below the root
 */
export function directoryRecords(root: string): RecordStore {
  /** The folder with the versions of a record. @throws PipelineError `usage` */
  const folderOf = (key: string): string => {
    if (
      // No name begins with a dot, which would lead up or hide it, and none ends as the folder of a record does.
      !/\.record(?:\/|$)/.test(key) &&
      /^[\w@%+=:,-][\w.@%+=:,-]*(?:\/[\w@%+=:,-][\w.@%+=:,-]*)*$/.test(key)
    )
      return join(root, `${key}${ENDING}`);
    throw new PipelineError('usage', `${JSON.stringify(key)} is not a valid record key`);
  };
  /** The newest version; 0 without any. */
  const latest = (folder: string): number =>
    namesIn(folder).reduce((most, name) => Math.max(most, /^\d+$/.test(name) ? Number(name) : 0), 0);
  const read = (folder: string): StoredRecord | undefined => {
    const version = latest(folder);
    if (version === 0) return undefined;
    return { bytes: readFileBytes(join(folder, String(version))), version: String(version) };
  };
  /** Writes a version. @returns false if another process has written it: a link to a name that exists fails */
  const write = (folder: string, bytes: Uint8Array, version: number): boolean => {
    const temporaryFile = join(folder, `.${process.pid}-${count++}`);
    refuseLinkOut(folder);
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(temporaryFile, bytes, { flush: true });
      linkSync(temporaryFile, join(folder, String(version)));
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
      throw fileError(error, folder);
    } finally {
      rmSync(temporaryFile, { force: true });
    }
  };
  return {
    get: async (key) => read(folderOf(key)),
    put: async (key, bytes) => {
      const folder = folderOf(key);
      const standing = read(folder);
      if (standing && Buffer.from(standing.bytes).equals(bytes)) return;
      // Another process may have written the next version: then this is the one after it.
      while (!write(folder, bytes, latest(folder) + 1));
    },
    replace: async (key, bytes, version) => {
      const folder = folderOf(key);
      if (String(latest(folder)) !== (version ?? '0')) return false;
      return write(folder, bytes, Number(version ?? 0) + 1);
    },
    list: async (prefix) =>
      keysIn(root, '')
        .filter((key) => key.startsWith(prefix))
        .sort(compareText),
  };
}

/** The names in a folder; none in one that does not exist. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const failure = fileError(error, folder);
    if (failure.code === 'not-found') return [];
    throw failure;
  }
}

/** The keys of all records below a folder. */
function keysIn(root: string, folder: string): string[] {
  return namesIn(join(root, folder)).flatMap((name) => {
    const path = folder === '' ? name : `${folder}/${name}`;
    return name.endsWith(ENDING) ? [path.slice(0, -ENDING.length)] : keysIn(root, path);
  });
}
