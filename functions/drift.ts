/** What drifts though nobody merges anything, looked for on a schedule: tags that moved and packages for the next platform become pull requests. */

import { clientsUnder } from '../pipeline/catalogs/references/client.ts';
import { PipelineError } from '../pipeline/error.ts';
import { openGitClient } from '../pipeline/git/http/client.ts';
import { openHttpRepository } from '../pipeline/git/http/repository.ts';
import { authorizationHeader, authorizationValue } from '../pipeline/git/process.ts';
import { openRemote } from '../pipeline/git/remote.ts';
import type { Repository } from '../pipeline/git/repository.ts';
import type { GitHub } from '../pipeline/github/client.ts';
import { repositoryName } from '../pipeline/github/forge.ts';
import { type Drift, driftOf } from '../pipeline/github/proposals/drift.ts';
import { proposePins } from '../pipeline/github/proposals/drift-pins.ts';
import { scheduledPromotions } from '../pipeline/github/proposals/promotions.ts';
import type { Proposed } from '../pipeline/github/proposals/proposal.ts';
import { readTip } from '../pipeline/github/pull-request.ts';
import { createRegistryClient, openTransport } from '../pipeline/oci/registry/client.ts';
import { readablePolicyAt } from '../pipeline/policy/read-policy.ts';
import type { GateRequest } from './gate.ts';
import type { Source } from './receive.ts';
import { forEachSource } from './reconcile.ts';
import type { Telemetry } from './telemetry.ts';

export interface DriftRequest extends Omit<GateRequest, 'forge'> {
  readonly github: GitHub;
  readonly source: Source;
}

interface DriftOutcome {
  /** Pull requests: with new pins by catalog, with promoted packages by `promote/CATALOG/OWNERS`. */
  readonly proposed: Readonly<Record<string, Proposed>>;
  readonly drift: readonly Drift[];
}

/**
 * Opens pull requests for what has drifted in one repository: new pins for every catalog with a lock, and the packages that
 * the policy promotes. Other drift has no fix to propose, and is only logged.
 *
 * @throws PipelineError `usage` for a policy that cannot be read, and as the client and the fetching
 */
export async function handleDrift(request: DriftRequest): Promise<DriftOutcome> {
  const { github, source, registries, now, log } = request;
  const name = repositoryName(source.repository);
  const repository = await openSource(request);
  // Who sets up the host says which registries speak plain HTTP: these may be on an internal network.
  const registry = createRegistryClient({ ...registries, internal: registries.plainHttp ?? [] });
  const clients = clientsUnder(registries);
  try {
    const commit = await readTip(github, name, source.branch);
    await repository.bring([commit]);
    const policy = await readablePolicyAt(repository.objects, commit);
    const today = now.toISOString().slice(0, 10);
    const ports = { github, name, repository, registry, registryFor: clients.under };
    const otherDrift = await driftOf(ports, { commit, policy, today });
    const pins = await proposePins(ports, { branch: source.branch, commit, policy });
    const promotions = await scheduledPromotions(ports, { branch: source.branch, policy, today });
    const drift = [...otherDrift, ...pins.drift, ...promotions.drift];
    for (const { kind, of, message, hint } of drift) log(`drift: ${kind}: ${of}: ${message} (${hint})`);
    return { proposed: Object.fromEntries([...pins.proposed, ...promotions.proposed]), drift };
  } finally {
    registry.close();
    clients.close();
    await repository.close();
  }
}

/** Pull requests by repository and catalog. */
export type DriftProposals = Readonly<Record<string, { kind: string; url: string | undefined }>>;

/**
 * Checks every repository for drift, and proposes what corrects it.
 *
 * @throws PipelineError `usage` without an App, and the last error if no repository could be checked
 */
export async function driftAll(
  sources: readonly Source[],
  app: { drift?(source: Source): Promise<DriftRequest> } | undefined,
  telemetry: Telemetry,
): Promise<DriftProposals> {
  const requestFor = app?.drift;
  if (!requestFor) throw new PipelineError('usage', 'no GitHub App is configured to open pull requests');
  const proposed: Record<string, { kind: string; url: string | undefined }> = {};
  const proposeFor = async (source: Source): Promise<void> => {
    const drifted = await handleDrift({ ...(await requestFor(source)), source });
    // A count is one event: as many of them as there are.
    for (const _ of drifted.drift) telemetry.count('Drift');
    for (const [catalog, { kind, url }] of Object.entries(drifted.proposed))
      proposed[`${source.repository} ${catalog}`] = { kind, url };
  };
  await forEachSource(sources, proposeFor, ({ repository, branch }, { message }) => {
    telemetry.log(`cannot check ${repository} ${branch} for drift: ${message}`);
    telemetry.count('DriftFailed');
  });
  return proposed;
}

/** The repository, read without git if its server can serve parts of it, else cloned with git. */
async function openSource({ source: { url }, token, git, registries }: DriftRequest): Promise<Repository> {
  // Who sets up the host names the source: it may be on an internal network.
  const transport = openTransport({ ...registries, internal: [new URL(url).host] });
  const client = openGitClient({ url, transport, authorization: async () => authorizationValue(token) });
  try {
    if ((await client.lacking()).length > 0) {
      transport.close();
      return openRemote({ url, header: authorizationHeader(token) }, git);
    }
  } catch (error) {
    transport.close();
    throw error;
  }
  return openHttpRepository({ client, closed: transport.close });
}
