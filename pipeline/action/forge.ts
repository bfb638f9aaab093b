/** GitHub and its repositories, as the step's inputs name them. */
import { setSecret } from '@actions/core';
import { PipelineError } from '../error.ts';
import type { GateForge, RepositoryName } from '../forge/forge.ts';
import { authorizationHeader, type GitRemote, type GitSettings, networkOf } from '../git/process.ts';
import { dataOf, type GitHub, openGitHub } from '../github/client.ts';
import { gitHubForge, repositoryName } from '../github/forge.ts';
import { readDefaultBranch, readTip } from '../github/pull-request.ts';
import { plainText } from '../text.ts';
import type { ForgeInputs, RunInputs } from './inputs.ts';
import { info } from './log.ts';

export interface Forge {
  readonly github: GitHub;
  readonly repository: RepositoryName;
  readonly remote: GitRemote;
  readonly git: GitSettings;
}

/**
 * Opens GitHub with the job's token or an App.
 *
 * @throws PipelineError `usage` without a token, and as the client if the App is not installed
 */
export async function openForge({ forge, environment }: RunInputs): Promise<Forge> {
  if (!forge) {
    throw new PipelineError('usage', 'no GitHub token', {
      hint: 'keep the default of the input github-token, or set repository to a clone with base and head',
    });
  }
  const repository = repositoryName(forge.repository);
  const { github, token } = await openClient(forge, repository);
  const header = authorizationHeader(token);
  // The header has the token in base64, which the runner would not mask in the log.
  if (header !== undefined) setSecret(header.slice(header.lastIndexOf(' ') + 1));
  return {
    github,
    repository,
    remote: {
      url: `${forge.server}/${repository.owner}/${repository.repo}.git`,
      header,
      environment: networkOf(environment),
    },
    git: { searchPath: environment['PATH'] },
  };
}

interface ClientAndToken {
  readonly github: GitHub;
  readonly token: string;
}

/** A client and a token: those of the job, or of the App's installation in the repository. */
async function openClient(forge: ForgeInputs, repository: RepositoryName): Promise<ClientAndToken> {
  const log = (line: string): void => info(plainText(line));
  if (!forge.app) {
    // The inputs have one of the two; see ForgeInputs.
    const token = forge.token ?? '';
    return { github: openGitHub({ url: forge.api, identity: { kind: 'token', token }, log }), token };
  }
  const identity = { kind: 'app', app: forge.app.id, privateKey: forge.app.privateKey } as const;
  // Only the App itself may ask which installation the repository belongs to.
  const app = openGitHub({ url: forge.api, identity: { ...identity, installation: undefined }, log });
  const { id } = await dataOf(app.rest.apps.getRepoInstallation({ ...repository }));
  const github = openGitHub({ url: forge.api, identity: { ...identity, installation: Number(id) }, log });
  // Octokit types what its authentication gives as unknown.
  const { token } = (await github.auth({ type: 'installation' })) as { token: string };
  setSecret(token);
  return { github, token };
}

/**
 * The gate's port to GitHub, whose results link to the job's log.
 *
 * @param unposted commits that had no status before this run
 */
export function hubOf(
  { posting, forge: forgeInputs }: Pick<RunInputs, 'posting' | 'forge'>,
  forge: Forge,
  unposted?: ReadonlySet<string>,
): GateForge {
  const { link, annotations } = posting;
  return gitHubForge({ ...forge, link, server: forgeInputs?.server, annotations, unposted });
}

/** The tip of the repository's default branch. @throws PipelineError as the client */
export async function defaultTip({ github, repository }: Forge): Promise<{ branch: string; commit: string }> {
  const branch = await readDefaultBranch(github, repository);
  return { branch, commit: await readTip(github, repository, branch) };
}
