/** The gate in the functions: what a pull request's events ask for, checked and told as the Action does. */

import { clientsUnder } from '../pipeline/catalogs/references/client.ts';
import { PipelineError } from '../pipeline/error.ts';
import type { GateForge, Reported } from '../pipeline/forge/forge.ts';
import { type GateOutcome, gatePullRequest } from '../pipeline/forge/gate.ts';
import { authorization, type GitSettings } from '../pipeline/git/process.ts';
import type { Store } from '../pipeline/oci/image/build-cache.ts';
import type { ClientOptions } from '../pipeline/oci/registry/client.ts';
import type { Source } from './receive.ts';

/** Errors that the same request would meet again; any other may pass. */
const REFUSED: ReadonlySet<string> = new Set(['denied', 'usage']);

/** Where a pull request is, and how what it brings is looked up. */
export interface GateRequest {
  readonly forge: GateForge;
  readonly source: Pick<Source, 'url'>;
  /** Fetches the repository. */
  readonly token: string;
  readonly git: GitSettings;
  /** How registries are asked; which of them, the base branch's policy says. */
  readonly registries: ClientOptions;
  /** Keeps what released images have, by their digests. */
  readonly cache?: Store;
  readonly now: Date;
  readonly log: (line: string) => void;
}

/**
 * Checks a pull request as it stands now, and says so: the status first, which is what a branch requires.
 *
 * @throws PipelineError as the forge; the message then comes again, and says the same
 */
export async function handleGate(number: number, request: GateRequest): Promise<GateOutcome> {
  const { forge, source, token, git, now, log } = request;
  const clients = clientsUnder(request.registries);
  try {
    const outcome = await gatePullRequest(
      {
        forge,
        remote: { url: source.url, header: authorization(token) },
        git,
        registryFor: clients.under,
        ...(request.cache ? { cache: request.cache } : {}),
        today: now.toISOString().slice(0, 10),
      },
      { number },
    );
    if (outcome.kind === 'skipped') log(`skipped: ${outcome.why}`);
    else await post(forge, { number, report: outcome.report }, log);
    return outcome;
  } finally {
    clients.close();
  }
}

async function post(forge: GateForge, about: Reported, log: (line: string) => void): Promise<void> {
  const { report } = about;
  await forge.postStatus({ commit: report.head, report });
  const attempt = (what: string, act: () => Promise<void>): Promise<void> => unlessRefused(log, what, act);
  await attempt('the findings', () => forge.postFindings(about));
  let isCurrent = true;
  await attempt('the comment', async () => {
    isCurrent = await forge.postComment(about);
  });
  if (isCurrent) await forge.involve?.(about, { attempt, info: log, warning: log });
}

/** An App without the right to write all of it still gates by the status. */
async function unlessRefused(
  log: (line: string) => void,
  what: string,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof PipelineError) || !REFUSED.has(error.code)) throw error;
    log(`cannot write ${what}: ${error.message}`);
  }
}
