/** What the work tree has, whatever its clone tells git not to look at. */
import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRepository } from '../../../pipeline/git/repository.ts';
import { listFiles } from '../../../pipeline/git/tree.ts';
import { editedCommits } from '../../../pipeline/git/work-tree-commits.ts';
import { folder } from '../../fakes/folder.ts';
import { makeRepository, type TestRepository } from '../../fakes/repository.ts';

const OLD = 'old\n';
const NEW = 'new\n';

/** A clone whose files are those of its last commit, and what of it differs from that by Portolan. */
function clone(): TestRepository & { changes(): Promise<string[]> } {
  const made = makeRepository();
  onTestFinished(made.remove);
  made.commit({ 'a/x': OLD, 'b/y': OLD }, { branch: 'main' });
  made.git('checkout', '--quiet', 'main');
  return {
    ...made,
    async changes() {
      const repository = await openRepository(made.directory, { searchPath: process.env['PATH'] });
      try {
        const { before } = await editedCommits(repository, made.directory, new Map());
        const [base = ''] = await repository.resolve(['HEAD']);
        const trees = await Promise.all([base, before].map((id) => listed(repository.objects, id)));
        const [was = new Map<string, string>(), is = new Map<string, string>()] = trees;
        const all = new Set([...was.keys(), ...is.keys()]);
        return [...all].filter((path) => was.get(path) !== is.get(path)).sort();
      } finally {
        await repository.close();
      }
    },
  };
}

/** The ids of files by their paths. */
async function listed(
  objects: Parameters<typeof listFiles>[0],
  commit: string,
): Promise<ReadonlyMap<string, string>> {
  return new Map((await listFiles(objects, await objects.treeOf(commit))).map(({ path, id }) => [path, id]));
}

test('149: a changed file is seen, whatever git was told of it', async () => {
  for (const flag of ['--assume-unchanged', '--skip-worktree']) {
    const made = clone();
    expect(await made.changes()).toEqual([]);
    made.git('update-index', flag, 'a/x', 'b/y');
    writeFileSync(join(made.directory, 'a/x'), NEW);
    expect(await made.changes()).toEqual(['a/x']);
  }
});

test.each(['a/new\r', 'a/ne\nw', '"a"'])('a file is seen whose name is %j', async (name) => {
  const made = clone();
  writeFileSync(join(made.directory, name), NEW);
  expect(await made.changes()).toEqual([name]);
});

test('what a sparse checkout leaves out is not removed', async () => {
  const made = clone();
  made.git('update-index', '--skip-worktree', 'a/x');
  rmSync(join(made.directory, 'a/x'));
  expect(await made.changes()).toEqual([]);
});

test('149: a changed file of the same size and time is seen, also where a clone has git compare less', async () => {
  const made = clone();
  const path = join(made.directory, 'a/x');
  utimesSync(path, 1, 1);
  made.git('update-index', '--refresh');
  made.git('config', 'core.checkStat', 'minimal');
  made.git('config', 'core.trustctime', 'false');
  writeFileSync(`${path}.new`, NEW);
  utimesSync(`${path}.new`, 1, 1);
  renameSync(`${path}.new`, path);
  expect(await made.changes()).toEqual(['a/x']);
});

test('149: a clone that names another work tree is refused', async () => {
  const made = clone();
  writeFileSync(join(made.directory, 'a/x'), NEW);
  made.git('config', 'core.worktree', folder());
  await expect(made.changes()).rejects.toMatchObject({
    code: 'git',
    hint: 'git config --unset core.worktree',
  });
});
