/** The places of a fence, each as it really is: a directory, a repository's refs, a repository behind a URL. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Fence } from '../../../pipeline/ports.ts';
import { claimTag, type Fencing } from '../../../pipeline/publish/fence.ts';
import { gitFence } from '../../../pipeline/publish/fence-git.ts';
import { recordFence } from '../../../pipeline/publish/fence-records.ts';
import { directoryRecords } from '../../../pipeline/publish/records/directory.ts';
import {
  commitOf,
  digestOf,
  expectConditional,
  expectNewest,
  expectOneTurn,
  expectOneWinner,
  isAncestor,
  NAME,
  type TwoViews,
} from '../../fakes/fence-contract.ts';
import { folder } from '../../fakes/folder.ts';

// Dozens of processes of git in a test.
const settings = { searchPath: process.env['PATH'] };

function bare(format = 'sha1'): string {
  const directory = join(folder(), 'catalogs.git');
  execFileSync('git', ['init', '--quiet', '--bare', `--object-format=${format}`, directory]);
  return directory;
}

function git(repository: string): Fence {
  const fence = gitFence({ repository, settings });
  onTestFinished(fence.close);
  return fence;
}

/** Two views of one fence, as two machines have them. */
const PLACES: readonly (readonly [string, () => TwoViews])[] = [
  [
    'records in a directory',
    () => {
      const directory = folder();
      return [recordFence(directoryRecords(directory)), recordFence(directoryRecords(directory))];
    },
  ],
  [
    'refs of a repository',
    () => {
      const directory = bare();
      return [git(directory), git(directory)];
    },
  ],
  [
    'refs behind a URL',
    () => {
      const url = pathToFileURL(bare()).href;
      return [git(url), git(url)];
    },
  ],
];

test.each(PLACES)('%s: a claim is replaced only by who has read it', (_, open) => expectConditional(open()));

test.each(PLACES)('%s: of eight at once one has the lease, until it ends', (_, open) =>
  expectOneTurn(open()),
);

test.each(PLACES)('%s: of eight at once one is first', (_, open) => expectOneWinner(open(), 2));

test.each(PLACES)('%s: of four at once the newest commit wins, and the tag follows it', (_, open) =>
  expectNewest(open()),
);

test.each(['sha1', 'sha256'])(
  'claims of a repository are commits, each the child of the one before: %s',
  async (format) => {
    const directory = bare(format);
    const fence = git(directory);
    const fencing: Fencing = { fence, name: NAME, isAncestor };
    for (const n of [1, 1, 2]) await claimTag(fencing, { commit: commitOf(n), digest: digestOf(n) });
    const log = execFileSync('git', ['-C', directory, 'log', '--format=%s', `refs/portolan/${NAME}`]);
    const sequences = log
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).sequence);
    expect(sequences).toEqual([2, 1]);
  },
);

test('a history that does not lead on is refused, until the epoch is raised', async () => {
  const fence = recordFence(directoryRecords(folder()));
  const fencing: Fencing = { fence, name: NAME, isAncestor: async (a, b) => a === b };
  await claimTag(fencing, { commit: commitOf(1), digest: digestOf(1) });
  const wanted = { commit: commitOf(2), digest: digestOf(2) };
  await expect(claimTag(fencing, wanted)).rejects.toMatchObject({
    code: 'conflict',
    hint: expect.stringContaining('--epoch 1'),
  });
  expect(await claimTag(fencing, { ...wanted, epoch: 1 })).toMatchObject({
    kind: 'ahead',
    claim: { epoch: 1 },
  });
  const late = { commit: commitOf(1), digest: digestOf(1), epoch: 0 };
  expect(await claimTag(fencing, late)).toMatchObject({ kind: 'superseded', by: { epoch: 1 } });
});

test('a fence that holds something else stops everything', async () => {
  const store = directoryRecords(folder());
  await store.put(`fence/${NAME}`, new TextEncoder().encode('{"epoch":0}'));
  await expect(recordFence(store).read(NAME)).rejects.toMatchObject({ code: 'corrupt' });
});

test('a name that could run a program reaches no git', () => {
  for (const repository of ['ext::sh -c id', '--upload-pack=id', 'git@host:repo', 'relative/path'])
    expect(() => gitFence({ repository, settings })).toThrow(
      /cannot use .* as the fence: not a git repository/,
    );
});
