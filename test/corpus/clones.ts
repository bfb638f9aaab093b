/** Clones of the corpus: fetched once, and a fresh one without history of its own for each run. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { CorpusEntry } from './entry.ts';

/** A clone for one run, whose HEAD is the entry's commit. Nothing is checked out. @throws Error for what git cannot find */
export function freshClone({ repository, commit }: CorpusEntry, cache: string): string {
  const source = sourceOf(repository, cache);
  const directory = join(
    mkdtempSync(join(tmpdir(), 'portolan-corpus-')),
    repository.split('/').at(-1) ?? 'clone',
  );
  const id = commitOf(source, commit);
  git(['init', '--quiet', '--initial-branch=main', directory]);
  // Objects stay where they are: a clone of one branch would lack merged branches.
  const objects = git(['-C', source, 'rev-parse', '--path-format=absolute', '--git-path', 'objects']);
  git(['-C', directory, 'config', 'core.sharedRepository', 'false']);
  execFileSync('sh', [
    '-c',
    'printf "%s\\n" "$1" > "$2"',
    'sh',
    objects,
    join(directory, '.git/objects/info/alternates'),
  ]);
  git(['-C', directory, 'update-ref', 'refs/heads/main', id]);
  return directory;
}

function sourceOf(repository: string, cache: string): string {
  if (existsSync(repository)) return resolve(repository);
  const [owner = '', name = ''] = repository.split('/');
  const known = [join(cache, `${owner}+${name}`, 'repo'), join(cache, owner, name)].find(existsSync);
  if (known !== undefined) return known;
  const directory = join(cache, owner, name);
  mkdirSync(join(cache, owner), { recursive: true });
  git(['clone', '--quiet', '--bare', `https://github.com/${repository}`, directory]);
  return directory;
}

/** A commit by its name, or that of a branch as clones call it. */
function commitOf(source: string, name: string): string {
  const names = [name, `refs/heads/${name}`, `refs/remotes/origin/${name}`];
  for (const one of names) {
    try {
      return git(['-C', source, 'rev-parse', '--verify', '--quiet', `${one}^{commit}`]);
    } catch {
      // The next name may be the one.
    }
  }
  throw new Error(`${source} has no commit ${name}`);
}

function git(args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}
