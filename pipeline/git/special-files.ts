/** Pipes and devices in a git directory that somebody sent: git would open them, and wait for ever. */
import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { targetOf } from '../directory.ts';
import { PipelineError } from '../error.ts';
import { readRegular } from '../file-pieces.ts';

/** Folders in which nothing is wrong: a command asks git often. */
const harmless = new Set<string>();

/**
 * Refuses a clone in which git could wait for ever.
 *
 * @param isGitDirectory whether the folder is the git directory itself
 * @throws PipelineError `io` for a pipe or device in the git directory of a folder, or where that leads
 */
export function refusePipes(folder: string, isGitDirectory: boolean): void {
  if (harmless.has(folder)) return;
  const place = isGitDirectory ? folder : gitDirectoryOf(resolve(folder));
  if (place !== undefined) refuseSpecialFilesFrom(place);
  harmless.add(folder);
}

function gitDirectoryOf(folder: string): string | undefined {
  const place = join(folder, '.git');
  if (lstatSync(place, { throwIfNoEntry: false })) return place;
  return dirname(folder) === folder ? undefined : gitDirectoryOf(dirname(folder));
}

/** Refuses pipes and devices below a git directory, and wherever git goes from there: by links and by files that name folders. */
function refuseSpecialFilesFrom(top: string): void {
  const visited = new Set<string>();
  const open = [top];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const entry = targetOf(path);
    // A link that leads nowhere leads to no pipe.
    if (!entry) continue;
    refuseIfPipe(path, entry);
    if (entry.isFile()) open.push(...foldersNamedBy(path));
    // Links may lead in a circle.
    const folder = entry.isDirectory() ? realpathSync(path) : undefined;
    if (folder === undefined || visited.has(folder)) continue;
    visited.add(folder);
    for (const name of namesIn(folder)) {
      const below = join(folder, name.name);
      // Most are objects: plain files that lead nowhere.
      const leadsOn = name.isDirectory() || name.isSymbolicLink() || NAMES_FOLDERS.test(below);
      if (leadsOn) open.push(below);
      else refuseIfPipe(below, name);
    }
  }
}

/** A `.git` file of a linked work tree, the folder that its work trees share, and stores of objects that it borrows from. */
const NAMES_FOLDERS = /(?:^|\/)(?:\.git|commondir|objects\/info\/alternates)$/;

/**
 * The folders that such a file names: `gitdir: PATH` in `.git`, one path in `commondir`, and in `alternates` one on each line,
 * from the folder `objects`; none for any other file.
 */
function foldersNamedBy(file: string): string[] {
  if (!NAMES_FOLDERS.test(file)) return [];
  const from = file.endsWith('alternates') ? dirname(dirname(file)) : dirname(file);
  const lines = readRegular(file).toString('utf8').split('\n');
  return lines.flatMap((line) => (line === '' ? [] : resolve(from, line.replace(/^gitdir: /, ''))));
}

function namesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // git says what is wrong.
    return [];
  }
}

/**
 * Refuses a pipe or device: reading one may never end. Sockets are left alone: they refuse to be opened, and git's
 * own monitor of files has one.
 */
function refuseIfPipe(path: string, found: Stats | Dirent): void {
  if (!found.isFIFO() && !found.isCharacterDevice() && !found.isBlockDevice()) return;
  throw new PipelineError('io', `${path} is not a file, but a pipe or device`);
}
