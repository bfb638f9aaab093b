/** GitHub as an App sees it: statuses on commits, tokens to fetch with, pull requests to check. */

import { isObject } from '../catalog/go/shape.ts';
import { parsedJson } from '../catalog/json.ts';
import { PipelineError } from '../pipeline/error.ts';
import { namedCheck } from '../pipeline/github/checks.ts';
import { allPages, dataOf, type GitHub, openGitHub } from '../pipeline/github/client.ts';
import { lastDeployed, noteDeployed } from '../pipeline/github/deployments.ts';
import { repositoryName } from '../pipeline/github/forge.ts';
import type { CommitStatus, Forge } from '../pipeline/ports.ts';
import type { CheckOf, Deployment } from '../pipeline/publish/delivery/ports.ts';

/** How the App proves itself: a secret, as JSON. */
export interface AppSecret {
  readonly appId: number;
  readonly installationId: number;
  /** PEM. */
  readonly privateKey: string;
}

export interface GitHubForge extends Forge {
  readonly shows: NonNullable<Forge['shows']>;
  /** The client, with a token that is kept until shortly before its end. */
  client(): Promise<GitHub>;
  /** Notes a publish as a deployment of its commit, once. */
  deployed(deployment: Deployment): Promise<void>;
  /** How the check of a commit has ended. */
  readonly checkOf: CheckOf;
  /** A token of the installation, good for an hour at most. */
  token(): Promise<string>;
}

/**
 * Waiting is billed, and the message comes again later: how long a limit of requests is waited for, in s, and how often a request
 * is sent again that GitHub failed at.
 */
const PATIENCE = 2;
const RETRIES = 1;

/** Reads the id and key of a GitHub App. @throws PipelineError `usage` for a secret that is none */
export function readAppSecret(text: string): AppSecret {
  const value = parsedJson(text);
  const { appId, installationId, privateKey } = isObject(value) ? value : {};
  if (typeof appId === 'number' && typeof installationId === 'number' && typeof privateKey === 'string') {
    return { appId, installationId, privateKey };
  }
  throw new PipelineError('usage', "cannot read the App's secret", {
    hint: '{"appId": 1, "installationId": 2, "privateKey": "-----BEGIN …"}',
  });
}

/**
 * GitHub with the identity of an App.
 *
 * @param secret asked each time, so that another key is in use as soon as it is read
 * @param at where GitHub's API is, and who hears of waits
 * @throws PipelineError from its functions, with nothing of a token in it; `denied`, retryable, when GitHub gives no
 *   token
 */
export function appForge(
  secret: () => Promise<AppSecret>,
  at: { readonly api: string; readonly log: (line: string) => void },
): GitHubForge {
  let opened: { readonly identity: string; readonly github: GitHub } | undefined;
  const openClient = async (): Promise<{ github: GitHub; token: string }> => {
    const { appId, installationId, privateKey } = await secret();
    const identity = { kind: 'app', app: String(appId), privateKey, installation: installationId } as const;
    const text = JSON.stringify(identity);
    // A client keeps its key for as long as it lives: another key is another client's.
    if (opened?.identity !== text)
      opened = {
        identity: text,
        github: openGitHub({ url: at.api, identity, log: at.log, patience: PATIENCE, retries: RETRIES }),
      };
    const { github } = opened;
    try {
      // Octokit types what its authentication gives as unknown: for an installation it has a token.
      return { github, token: ((await github.auth({ type: 'installation' })) as { token: string }).token };
    } catch (cause) {
      throw new PipelineError('denied', 'GitHub did not issue a token for the App', {
        cause,
        retryable: true,
      });
    }
  };
  return {
    client: async () => (await openClient()).github,
    token: async () => (await openClient()).token,
    checkOf: async ({ repository, commit }, name) =>
      namedCheck((await openClient()).github, repositoryName(repository), { commit, name }),
    deployed: async ({ repository, receipt, link }) => {
      const [{ github }, name] = [await openClient(), repositoryName(repository)];
      const last = await lastDeployed(github, name, receipt.catalog);
      if (last?.commit === receipt.commit && last.digest === receipt.digest) return;
      await noteDeployed(github, name, { receipt, link });
    },
    report: async ({ repository, commit, context, state, description, url }: CommitStatus) => {
      const { owner, repo } = repositoryName(repository);
      const { github } = await openClient();
      const fields = { state, context, description, ...(url === undefined ? {} : { target_url: url }) };
      // GitHub may have taken what it gave no answer to: the message comes again, and looks first.
      const parameters = { owner, repo, sha: commit, ...fields, request: { retries: 0 } };
      await dataOf(github.rest.repos.createCommitStatus(parameters));
    },
    shows: async ({ repository, commit, context, state, description, url }) => {
      const { github } = await openClient();
      // 100: the most that GitHub puts on a page.
      const at = { ...repositoryName(repository), ref: commit, per_page: 100 };
      const listed = await allPages(github.paginate(github.rest.repos.listCommitStatusesForRef, at));
      // The newest one comes first.
      const newest = listed.find((one) => one.context === context);
      if (newest?.state !== state || newest.description !== description) return false;
      return (newest.target_url ?? undefined) === url;
    },
  };
}
