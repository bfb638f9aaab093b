/** A branch of another repository, brought into a directory of our own. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PipelineError } from '../error.ts';
import { type GitSettings, type Reach, runGit } from './process.ts';

interface FetchRequest {
  /** `https://…`, `http://…` or `file:///…`. */
  readonly url: string;
  readonly branch: string;
  /** A bare repository, made when it is not there; what it has is not fetched again. */
  readonly directory: string;
  readonly settings: GitSettings;
  readonly reach: Reach;
}

/** How long the first fetch of a large repository may take, in ms. */
const TIMEOUT = 600_000;

/** The last fetch into each directory: another one would find a repository that is half made, or a ref that is locked. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Fetches the branch's commits, with all that they hold. Fetches into one directory wait for each other.
 *
 * @returns id of the branch's newest commit
 * @throws PipelineError `git`, retryable, with nothing of the credentials in it
 */
export function fetchBranch(request: FetchRequest): Promise<string> {
  const last = turns.get(request.directory) ?? Promise.resolve();
  const own = last.then(() => fetchInto(request));
  turns.set(
    request.directory,
    own.catch(() => undefined),
  );
  return own;
}

/** Fetches a branch into a bare repository, which is made if it does not exist. @returns id of the newest commit */
async function fetchInto({ url, branch, directory, settings, reach }: FetchRequest): Promise<string> {
  if (!/^(?:https?|file):\/\//.test(url)) {
    throw new PipelineError('usage', `cannot fetch from ${JSON.stringify(url)}: not a git URL`);
  }
  const run = { settings, directory, bare: true };
  if (!existsSync(join(directory, 'HEAD'))) {
    mkdirSync(directory, { recursive: true });
    await runGit({ settings, directory }, ['init', '--quiet', '--bare', '.']);
  }
  const ref = `refs/heads/${branch}`;
  const parameters = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', url, `+${ref}:${ref}`];
  try {
    await runGit({ ...run, reach, timeout: TIMEOUT }, parameters);
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    throw new PipelineError('git', error.message, { cause: error, retryable: true });
  }
  const { output } = await runGit(run, ['rev-parse', '--verify', `${ref}^{commit}`]);
  return output.toString('utf8').trim();
}
