/** Commits of branches: what was merged into one, and what another one brings. */
import { PipelineError } from '../error.ts';
import { type Commit, readCommit } from './commit.ts';
import { LOG_MEMORY, runGit } from './process.ts';
import type { Repository } from './repository.ts';

/** A commit of a branch, most often the merge of a pull request. */
export interface MergedCommit {
  readonly id: string;
  /** Id of the commit before it on the branch. */
  readonly before: string;
  /** The day, `YYYY-MM-DD`. */
  readonly date: string;
  readonly subject: string;
  /** Who wrote it, as git has it: for a merge commit whoever merged. */
  readonly author: { readonly name: string; readonly email: string };
}

/**
 * The commits of a branch that changed something below some paths, the earliest first.
 *
 * @param commit id of the branch's tip
 */
export async function mergedCommits(
  { settings, scratch }: Repository,
  commit: string,
  paths: readonly string[],
): Promise<MergedCommit[]> {
  const parameters = [
    'log',
    '-z',
    '--first-parent',
    '--reverse',
    '--format=%H%x01%P%x01%cs%x01%s%x01%an%x01%ae',
  ];
  const run = { settings, directory: scratch, bare: true, memory: LOG_MEMORY };
  const { output } = await runGit(run, [...parameters, commit, '--', ...paths]);
  return output
    .toString('utf8')
    .split('\0')
    .flatMap((line) => {
      const [id = '', parents = '', date = '', subject = '', name = '', email = ''] = line
        .trim()
        .split('\u0001');
      const [before = ''] = parents.split(' ');
      // The first commit of the branch was merged onto nothing.
      return before === '' ? [] : [{ id, before, date, subject, author: { name, email } }];
    });
}

/** Most commits of a pull request that are read. */
const MOST_BROUGHT = 1000;

/**
 * The commits that a head has and a base has not, the newest first.
 *
 * @throws PipelineError `too-large` when there are more than a thousand
 */
export async function broughtCommits(
  { settings, scratch, objects }: Repository,
  base: string,
  head: string,
): Promise<Commit[]> {
  const run = { settings, directory: scratch, bare: true, memory: LOG_MEMORY };
  const parameters = ['rev-list', `--max-count=${MOST_BROUGHT + 1}`, head, `^${base}`];
  const ids = (await runGit(run, parameters)).output.toString('utf8').split('\n').filter(Boolean);
  if (ids.length > MOST_BROUGHT)
    throw new PipelineError('too-large', `the head has more than ${MOST_BROUGHT} commits of its own`);
  return Promise.all(ids.map((id) => readCommit(objects, id)));
}

/**
 * The number of the pull request that a commit merged, as GitHub and Forgejo write it into subjects; other numbers there may
 * be of issues.
 */
export function pullRequestOf(subject: string): number | undefined {
  const [, ...numbers] = PULL_REQUEST.exec(subject.trim()) ?? [];
  const number = numbers.find((one) => one !== undefined);
  return number === undefined ? undefined : Number(number);
}

/** A merge on GitHub, a merge on Forgejo, or a squash or rebase on either. Nine digits are always an exact number. */
const PULL_REQUEST =
  /^Merge pull request #(\d{1,9}) |^Merge pull request '.*' \(#(\d{1,9})\) from |\(#(\d{1,9})\)$/;
