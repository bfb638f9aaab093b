/** The clones of a monitor: bare, and brought up to date with git alone. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type GitSettings, type Reach, runGit } from '../../git/process.ts';

/** The branch of a clone that follows the remote's default branch. */
const DEFAULT = 'portolan-monitor';

interface Cloning {
  readonly url: string;
  /** The branch to follow; without it, the remote's default one. */
  readonly branch?: string | undefined;
  readonly settings: GitSettings;
  readonly reach: Reach;
}

/** Brings a clone up to date; one that is not there is made. @throws PipelineError `git` */
export async function updateClone(clone: string, { url, branch, settings, reach }: Cloning): Promise<void> {
  if (!existsSync(clone)) {
    mkdirSync(dirname(clone), { recursive: true });
    await runGit({ settings, directory: dirname(clone) }, ['init', '--quiet', '--bare', clone]);
  }
  const refs = `+${branch ?? 'HEAD'}:refs/heads/${branch ?? DEFAULT}`;
  await runGit({ settings, directory: clone, bare: true, reach }, [
    'fetch',
    '--quiet',
    '--no-tags',
    url,
    refs,
  ]);
}

/** Revisions to look at, the first that is there: of a clone that somebody else made, HEAD. */
export function headsOf(branch: string | undefined): readonly string[] {
  return branch === undefined ? [`refs/heads/${DEFAULT}`, 'HEAD'] : [branch, `refs/remotes/origin/${branch}`];
}
