/** The pull requests of a real repository that docs/pictures.md shows, and their reports. */
import { execFileSync } from 'node:child_process';
import { checkPullRequest } from '../../pipeline/check/check.ts';
import type { CheckReport } from '../../pipeline/check/report.ts';
import { openRepository } from '../../pipeline/git/repository.ts';

export interface Shown {
  /** Of the files, and of the section in docs/pictures.md. */
  readonly name: string;
  /** The merge on the branch. */
  readonly commit: string;
  readonly author: string;
}

export const SHOWN: readonly Shown[] = [
  { name: 'merged-by-bots', commit: '2328ac1ea6e21356d0d8581ac4dfe87272300c16', author: 'release-bot' },
  { name: 'approval-needed', commit: '0f73b5be396b7b5acc0efbed92f284e79ab197ff', author: 'contributor-011' },
  { name: 'channel-removed', commit: '8188181388cf9a67c44af481435878bf306f2aa9', author: 'contributor-022' },
  { name: 'crd-dropped', commit: '7455567fa55493341479a763a6d568edf51dc311', author: 'contributor-003' },
  { name: 'crd-unsafe-edge', commit: '0fe029d300d4eac1d57ac241e1b367f5fe964b4a', author: 'contributor-012' },
  {
    name: 'strands-installed',
    commit: 'ffada0cae861c3162d864e6b1f3bbaf9494061f4',
    author: 'contributor-027',
  },
  {
    name: 'upgrade-path-lost',
    commit: 'e3e6f7002c7e2d4939f75e0e0569af0ee7724bcf',
    author: 'contributor-017',
  },
];

const POLICY = `apiVersion: portolan/v1alpha1
kind: Portolan
owners: {admins: [maintainer]}
approval: {required: {root: none, unknown: none}}
`;

/** The report of a merge as if it were a pull request of its day; no registry is asked. @param directory of a clone */
export async function reportOf(directory: string, { commit, author: login }: Shown): Promise<CheckReport> {
  const [before = '', today = ''] = execFileSync(
    'git',
    ['-C', directory, 'show', '--no-patch', '--format=%P %cs', commit],
    { encoding: 'utf8' },
  )
    .trim()
    .split(' ');
  const repository = await openRepository(directory);
  try {
    const author = { login, id: undefined };
    const report = await checkPullRequest(repository, {
      base: before,
      head: commit,
      ancestor: before,
      today,
      policy: { path: '.github/portolan.yaml', bytes: Buffer.from(POLICY) },
      people: { author, pusher: author, reviews: [], commits: undefined, holds: [] },
    });
    // As it is kept in a file.
    return JSON.parse(JSON.stringify(report));
  } finally {
    await repository.close();
  }
}
