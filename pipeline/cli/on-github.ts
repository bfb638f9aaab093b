/** A repository on GitHub that a command changes by pull requests. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { PipelineError } from '../error.ts';
import { authorizationHeader, networkOf } from '../git/process.ts';
import { openRemote } from '../git/remote.ts';
import { openGitHub } from '../github/client.ts';
import { repositoryName } from '../github/forge.ts';
import type { ProposalPorts } from '../github/proposals/state.ts';
import { readDefaultBranch } from '../github/pull-request.ts';
import { searchPath, type Terminal } from '../terminal.ts';
import { plainText } from '../text.ts';
import type { Invocation } from './command.ts';

/** Whether a text names a repository on GitHub: no directory has that name, and it has one slash. */
export function namesGitHub(text: string, { directory }: Terminal): boolean {
  // An owner's name has no dot at its start, as `./x` and `../x` do.
  if (!/^[\w-][\w.-]*\/[\w.-]+$/.test(text)) return false;
  return !existsSync(resolve(directory, text));
}

/**
 * Does some work on a repository and its base branch: that of `--base`, else the default branch.
 *
 * @throws PipelineError as {@link openOnGitHub}, the client and the work
 */
export async function onGitHub<T>(
  text: string,
  invocation: Invocation,
  terminal: Terminal,
  work: (opened: ProposalPorts, base: string) => Promise<T>,
): Promise<T> {
  const opened = openOnGitHub(text, terminal);
  try {
    return await work(
      opened,
      invocation.text('base') ?? (await readDefaultBranch(opened.github, opened.name)),
    );
  } finally {
    await opened.repository.close();
  }
}

/**
 * Opens a repository; sends no request yet. `GITHUB_API_URL` and `GITHUB_SERVER_URL` name another GitHub, as in
 * a job.
 *
 * @param text `OWNER/REPO`
 * @throws PipelineError `usage` without a token
 */
function openOnGitHub(text: string, terminal: Terminal): ProposalPorts {
  const { environment, err } = terminal;
  // A job sets a variable from a secret that is missing to an empty text.
  const token = environment['GITHUB_TOKEN'] || environment['GH_TOKEN'];
  if (!token) {
    throw new PipelineError('usage', `no GitHub token to access ${text}`, {
      hint: 'set GITHUB_TOKEN to a token with contents: write and pull-requests: write',
    });
  }
  const name = repositoryName(text);
  const api = environment['GITHUB_API_URL'] ?? 'https://api.github.com';
  const server = environment['GITHUB_SERVER_URL'] ?? 'https://github.com';
  const identity = { kind: 'token', token } as const;
  const github = openGitHub({ url: api, identity, log: (line) => err(`${plainText(line)}\n`) });
  const url = `${server}/${name.owner}/${name.repo}.git`;
  const remote = { url, header: authorizationHeader(token), environment: networkOf(environment) };
  return { github, name, repository: openRemote(remote, searchPath(terminal)) };
}
