/** What was merged into a branch: its first parents, one after the other. */
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
      return before === '' ? [] : [{ id, before, date, subject, author: { name, email } }];
    });
}
