/** The gate as an App: what a pull request's events ask for, checked and told as the Action does. */

import { clientsUnder } from '../pipeline/catalogs/references/client.ts';
import type { CheckReport } from '../pipeline/check/report.ts';
import { PipelineError } from '../pipeline/error.ts';
import { authorization, type GitSettings } from '../pipeline/git/process.ts';
import type { GitHub } from '../pipeline/github/client.ts';
import { type GateOutcome, type GatePorts, gate, repositoryName } from '../pipeline/github/gate.ts';
import { involve } from '../pipeline/github/involve.ts';
import { type PostRequest, postCheck, postComment, postStatus } from '../pipeline/github/post-report.ts';
import type { Store } from '../pipeline/oci/image/build-cache.ts';
import type { ClientOptions } from '../pipeline/oci/registry/client.ts';
import type { Source } from './receive.ts';

/** Annotations in all, as the Action has it. */
const ANNOTATIONS = 200;

/** What the same request would be answered once more; anything else may pass. */
const REFUSED: ReadonlySet<string> = new Set(['denied', 'usage']);

/** Where a pull request is, and how what it brings is looked up. */
export interface GateRequest {
  readonly github: GitHub;
  readonly source: Pick<Source, 'repository' | 'url'>;
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
 * @throws PipelineError as the client; the message then comes again, and says the same
 */
export async function handleGate(number: number, request: GateRequest): Promise<GateOutcome> {
  const { github, source, token, git, now, log } = request;
  const clients = clientsUnder(request.registries);
  const ports: GatePorts = {
    github,
    repository: repositoryName(source.repository),
    remote: { url: source.url, header: authorization(token) },
    git,
    registryFor: clients.under,
    ...(request.cache ? { cache: request.cache } : {}),
    today: now.toISOString().slice(0, 10),
  };
  try {
    const outcome = await gate(ports, { number });
    if (outcome.kind === 'skipped') log(`skipped: ${outcome.why}`);
    else await post(ports, { number, report: outcome.report }, log);
    return outcome;
  } finally {
    clients.close();
  }
}

async function post(
  ports: GatePorts,
  { number, report }: { readonly number: number; readonly report: CheckReport },
  log: (line: string) => void,
): Promise<void> {
  const request: PostRequest = { ...ports, link: undefined, annotations: ANNOTATIONS };
  const about = { commit: report.head, report };
  await postStatus(request, about);
  const attempt = (what: string, act: () => Promise<void>): Promise<void> => unlessRefused(log, what, act);
  await attempt('the check run', () => postCheck(request, about));
  let isCurrent = true;
  await attempt('the comment', async () => {
    isCurrent = await postComment(request, { number, report });
  });
  if (isCurrent) await involve(request, { number, report }, { attempt, info: log, warning: log });
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
