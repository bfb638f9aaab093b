/** What git may take. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { endedVersions } from '../../../pipeline/check/world/old-versions.ts';
import { LOG_MEMORY, runGit } from '../../../pipeline/git/process.ts';
import { openRepository } from '../../../pipeline/git/repository.ts';
import { folder } from '../../fakes/folder.ts';

/** A commit whose trees stand for ten thousand million files. */
function bomb(directory: string): string {
  const git = (words: readonly string[], input = ''): string =>
    execFileSync('git', ['-C', directory, ...words], { input, encoding: 'utf8', stdio: 'pipe' }).trim();
  git(['init', '--quiet', '--bare']);
  let below = `100644 blob ${git(['hash-object', '-w', '--stdin'], 'a')}`;
  for (let depth = 0; depth < 10; depth++) {
    const tree = Array.from({ length: 10 }, (_, i) => `${below}\tf${i}\n`).join('');
    below = `040000 tree ${git(['mktree'], tree)}`;
  }
  const person = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  return git([...person, 'commit-tree', below.split(' ')[2] ?? '', '-m', 'bomb']);
}

test.skipIf(process.platform !== 'linux')(
  '83: a history of trees that stand for very many files ends git, not the machine',
  async () => {
    const directory = folder();
    const commit = bomb(directory);
    const run = {
      settings: { searchPath: process.env['PATH'] },
      directory,
      bare: true,
      memory: 100,
    };
    await expect(runGit(run, ['rev-parse', commit])).resolves.toMatchObject({ code: 0 });
    await expect(runGit({ ...run, timeout: 20_000 }, ['log', '--raw', '-z', commit])).rejects.toMatchObject({
      code: 'too-large',
      message: 'git log takes more than 100 MiB of memory',
    });
  },
);

test.skipIf(process.platform !== 'linux')(
  '83: the log of a branch with such trees ends before it takes the memory of the machine',
  { timeout: 90_000 },
  async () => {
    const directory = folder();
    const commit = bomb(directory);
    const repository = await openRepository(directory, { searchPath: process.env['PATH'] });
    try {
      await expect(endedVersions(repository, commit, [])).rejects.toMatchObject({
        code: 'too-large',
        message: `git log takes more than ${LOG_MEMORY} MiB of memory`,
      });
    } finally {
      await repository.close();
    }
  },
);
