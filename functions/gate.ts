/** The gate as an App: what a pull request's events ask for, judged and told as the Action does. */
import { PipelineError } from '../pipeline/error.ts';
import { authorization, type GitSettings } from '../pipeline/git/process.ts';
import type { GitHub } from '../pipeline/github/client.ts';
import { type Telling, tellCheck, tellComment, tellStatus } from '../pipeline/github/tell.ts';
import { clientsUnder } from '../pipeline/references/client.ts';
import type { ClientOptions } from '../pipeline/registry/client.ts';
import type { CheckReport } from '../pipeline/report/report.ts';
import { type GateOutcome, type GatePorts, gate, repositoryName } from '../pipeline/stages/gate.ts';
import type { Source } from './receive.ts';

/** Annotations in all, as the Action has it. */
const ANNOTATIONS = 200;

/** Where a pull request is, and how what it brings is looked up. */
export interface GateRequest {
  readonly github: GitHub;
  readonly source: Pick<Source, 'repository' | 'url'>;
  /** Fetches the repository. */
  readonly token: string;
  readonly git: GitSettings;
  /** How registries are asked; which of them, the base branch's policy says. */
  readonly registries: ClientOptions;
  readonly now: Date;
  readonly log: (line: string) => void;
}

/**
 * Judges a pull request as it stands now, and says so: the status first, which is what a branch requires.
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
    today: now.toISOString().slice(0, 10),
  };
  try {
    const outcome = await gate(ports, { number });
    if (outcome.kind === 'skipped') log(`nothing to say: ${outcome.why}`);
    else await tell(ports, { number, report: outcome.report }, log);
    return outcome;
  } finally {
    clients.close();
  }
}

async function tell(
  ports: GatePorts,
  { number, report }: { readonly number: number; readonly report: CheckReport },
  log: (line: string) => void,
): Promise<void> {
  const telling: Telling = { ...ports, link: undefined, annotations: ANNOTATIONS };
  const about = { commit: report.head, report };
  await tellStatus(telling, about);
  await unlessDenied(log, () => tellCheck(telling, about));
  await unlessDenied(log, () => tellComment(telling, { number, report }));
}

/** An App without the right to write check runs or comments still gates by the status. */
async function unlessDenied(log: (line: string) => void, tell: () => Promise<unknown>): Promise<void> {
  try {
    await tell();
  } catch (error) {
    if (!(error instanceof PipelineError) || error.code !== 'denied') throw error;
    log(`not told: ${error.message}`);
  }
}
