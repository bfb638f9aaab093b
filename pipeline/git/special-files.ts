/** Pipes and devices in a git directory that somebody sent: git would open them, and wait for ever. */
import { type Dirent, existsSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PipelineError } from '../error.ts';
import { readRegular } from '../file-pieces.ts';

/** Folders in which nothing is wrong: a command asks git often. */
const looked = new Set<string>();

/**
 * Refuses a clone in which git could wait for ever.
 *
 * @throws PipelineError `io` for a pipe or device in the git directory of a folder
 */
export function refusePipes(folder: string, isGitDirectory: boolean): void {
  if (looked.has(folder)) return;
  const place = isGitDirectory ? folder : gitDirectoryOf(resolve(folder));
  if (place !== undefined) refuseSpecialFilesIn(place);
  looked.add(folder);
}

function gitDirectoryOf(folder: string): string | undefined {
  const place = join(folder, '.git');
  if (lstatSync(place, { throwIfNoEntry: false })) return place;
  return dirname(folder) === folder ? undefined : gitDirectoryOf(dirname(folder));
}

/** Refuses pipes and devices below a git directory, and in the one that it shares. */
function refuseSpecialFilesIn(top: string): void {
  const entry = lstatSync(top, { throwIfNoEntry: false });
  if (!entry) return;
  mustEnd(top, entry);
  const elsewhere = entry.isDirectory() ? join(top, 'commondir') : top;
  if (existsSync(elsewhere) && statSync(elsewhere).isFile()) lookElsewhere(elsewhere);
  if (!statSync(top, { throwIfNoEntry: false })?.isDirectory()) return;
  const open = [top];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name.name);
      if (name.isDirectory()) open.push(path);
      else mustEnd(path, name);
    }
  }
}

/** A linked work tree: its git directory is elsewhere, and what work trees share may be, too. */
function lookElsewhere(file: string): void {
  const [, place = ''] = /^(?:gitdir: )?(.+)$/m.exec(readRegular(file).toString('utf8')) ?? [];
  const path = resolve(dirname(file), place);
  if (place === '' || looked.has(path)) return;
  looked.add(path);
  refuseSpecialFilesIn(path);
}

function namesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // git says what is wrong.
    return [];
  }
}

/** Sockets refuse to be opened, and git's own monitor of files has one. */
function mustEnd(path: string, entry: Stats | Dirent): void {
  const found = entry.isSymbolicLink() ? targetOf(path) : entry;
  if (!found?.isFIFO() && !found?.isCharacterDevice() && !found?.isBlockDevice()) return;
  throw new PipelineError('io', `${path} is not a file, but a pipe or device`);
}

function targetOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    // A link that leads nowhere leads to no pipe.
    return undefined;
  }
}
