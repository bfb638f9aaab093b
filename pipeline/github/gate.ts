/** The gate on GitHub. */
import { PipelineError } from '../error.ts';
import type { RepositoryName } from '../forge/forge.ts';
import { type ForgePorts, type GateOutcome, type GateRequest, gatePullRequest } from '../forge/gate.ts';
import type { GitHub } from './client.ts';
import { gitHubForge } from './forge.ts';

/** GitHub, and how its repositories are read. */
export interface GatePorts extends Omit<ForgePorts, 'forge'> {
  readonly github: GitHub;
  readonly repository: RepositoryName;
}

/** As `gatePullRequest`, on GitHub. */
export async function gate(ports: GatePorts, request: GateRequest): Promise<GateOutcome> {
  return gatePullRequest({ ...ports, forge: gitHubForge(ports) }, request);
}

/** @throws PipelineError `usage` for anything but `owner/name` */
export function repositoryName(text: string): RepositoryName {
  const [, owner, repo] = /^([A-Za-z0-9_.-]+)\/([A-Za-z0-9_.-]+)$/.exec(text) ?? [];
  if (owner === undefined || repo === undefined)
    throw new PipelineError('usage', `invalid repository ${JSON.stringify(text)}: expected OWNER/NAME`);
  return { owner, repo };
}
