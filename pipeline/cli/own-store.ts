/** Caches that commands believe: whoever can write to one decides what they find. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellWord } from '../../catalog/names.ts';
import { entriesIn } from '../directory.ts';
import { PipelineError } from '../error.ts';
import type { GitSettings } from '../git/process.ts';
import { trackedBelow } from '../git/source.ts';
import type { Store } from '../oci/image/build-cache.ts';
import { directoryStore } from '../oci/image/stores.ts';

/** Bits of a file's mode by which its group and others may write to it. */
const OTHERS_WRITE = 0o022;

/**
 * A store in a directory that only its user, or root, can have written. It is made when something is put into it.
 *
 * @param user id of the user who runs the command; undefined on Windows, where owners and modes are not compared
 * @throws PipelineError `not-allowed` for a cache of somebody else, with files that others can write to, or with files that git
 *   tracks: a pull request could bring these; `usage` for a link out of the clone; `not-found` for a file; `io`
 */
export async function ownStore(
  root: string,
  settings: GitSettings,
  user: number | undefined = process.getuid?.(),
): Promise<Store> {
  // What does not exist yet is made by this user.
  if (!existsSync(root)) return directoryStore(root);
  // A store has no folders in its own.
  for (const path of [root, ...entriesIn(root).map(({ name }) => join(root, name))])
    refuseForeign(path, root, user);
  const tracked = await trackedBelow(root, settings);
  // Without git, or with a repository that it refuses, files of a clone may be tracked unseen.
  const isUnasked = tracked === undefined && isInClone(realpathSync(root));
  if (tracked || isUnasked)
    throw refused(
      root,
      isUnasked ? 'git does not say whether it tracks files in it' : 'git tracks files in it',
      'use a directory outside of the clone',
    );
  return directoryStore(root);
}

/** Whether a folder or one above it has a repository of git. */
function isInClone(folder: string): boolean {
  return existsSync(join(folder, '.git')) || (dirname(folder) !== folder && isInClone(dirname(folder)));
}

/**
 * Refuses a cache for one of its files, or for its folder, that others own or can write to.
 *
 * @throws PipelineError `not-allowed`
 */
function refuseForeign(path: string, root: string, user: number | undefined): void {
  if (user === undefined) return;
  // Another run may rename its file now.
  const { uid = user, mode = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (uid !== user && uid !== 0)
    throw refused(root, `${path} belongs to another user`, 'use a directory of your own');
  if ((mode & OTHERS_WRITE) === 0) return;
  // As Kubernetes makes volumes, only root may change it. Windows drives in WSL, SMB and FAT have the modes of their mount.
  const hint =
    uid === user
      ? `run chmod -R go-w ${shellWord(root)}; if that changes nothing (WSL, SMB, FAT), use a directory on another file system`
      : `use a new directory in it: ${shellWord(join(root, 'portolan'))}`;
  throw refused(root, `other users can write to ${path}`, hint);
}

/** The error for a cache that cannot be believed. */
function refused(root: string, why: string, hint: string): PipelineError {
  return new PipelineError('not-allowed', `cannot trust the cache ${root}: ${why}`, { hint });
}
