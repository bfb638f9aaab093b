/** A repository with one large catalog, and commits that add a bundle to it. */
import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Addition, additions } from './one-bundle.ts';

export interface Repository {
  readonly directory: string;
  readonly added: readonly Addition[];
}

/**
 * A repository with the commit `first`, and after it for each package a commit with its number.
 *
 * @param parts which packages get a bundle: see {@link additions}
 */
export function repositoryOf(packages: string, parts: readonly number[], scratch: string): Repository {
  const directory = join(scratch, 'repository');
  const root = join(directory, 'catalogs/big');
  cpSync(packages, root, { recursive: true });
  const git = (...words: string[]): void => {
    execFileSync('git', ['-C', directory, '-c', 'user.name=b', '-c', 'user.email=b@example.com', ...words], {
      stdio: 'ignore',
    });
  };
  const commit = (name: string): void => {
    git('add', '.');
    git('commit', '-q', '-m', name);
    git('tag', name);
  };
  git('init', '-q');
  git('config', 'uploadpack.allowFilter', 'true');
  commit('first');
  const added = additions(root, parts);
  for (const [i, { path, text }] of added.entries()) {
    git('checkout', '-q', 'first');
    writeFileSync(path, text);
    commit(String(i));
  }
  git('repack', '-adq');
  return { directory, added };
}
