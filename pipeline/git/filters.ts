/** Filters of a work tree are programs that its configuration names. Nothing in a directory is run. */
import { type GitRun, runGit } from './process.ts';

/**
 * A run without the repository's filters, which git would start to compare files with its index. A file that a filter
 * changes then counts as changed.
 */
export async function withoutFilters(run: GitRun): Promise<GitRun> {
  const words = ['config', '-z', '--name-only', '--get-regexp', '^filter\\.'];
  // Git answers 1 if there are none.
  const { output } = await runGit({ ...run, accept: [0, 1] }, words);
  const keys = output.toString('utf8').split('\0').filter(Boolean);
  return { ...run, configuration: keys.map((key) => [key, key.endsWith('.required') ? 'false' : '']) };
}
