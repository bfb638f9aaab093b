/** The gate on GitHub. */
import { PipelineError } from '../error.ts';
import type { RepositoryName } from '../forge/forge.ts';
import { type ForgePorts, type GateOutcome, type GateRequest, gatePullRequest } from '../forge/gate.ts';
import type { GitHub } from './client.ts';
import { gitHubForge } from './forge.ts';
import { readOpen } from './pull-request.ts';

/** GitHub, and how its repositories are read. */
export interface GatePorts extends Omit<ForgePorts, 'forge'> {
  readonly github: GitHub;
  readonly repository: RepositoryName;
}

/** As `gatePullRequest`, on GitHub. */
export async function gate(ports: GatePorts, request: GateRequest): Promise<GateOutcome> {
  return gatePullRequest({ ...ports, forge: gitHubForge(ports) }, request);
}

/** Numbers of the open pull requests whose head is a commit. */
export async function pullRequestsAt({ github, repository }: GatePorts, commit: string): Promise<number[]> {
  const open = await readOpen(github, repository);
  return open.filter(({ head }) => head.commit === commit).map(({ number }) => number);
}

/** @throws PipelineError `usage` for anything but `owner/name` */
export function repositoryName(text: string): RepositoryName {
  const [, owner, repo] = /^([A-Za-z0-9_.-]+)\/([A-Za-z0-9_.-]+)$/.exec(text) ?? [];
  if (owner === undefined || repo === undefined)
    throw new PipelineError('usage', `invalid repository ${JSON.stringify(text)}: expected OWNER/NAME`);
  return { owner, repo };
}
