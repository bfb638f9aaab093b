/** The gate as an App: what a pull request's events ask for, judged and told as the Action does. */
import { PipelineError } from '../pipeline/error.ts';
import { type Telling, tellCheck, tellComment, tellStatus } from '../pipeline/github/tell.ts';
import { type GateOutcome, type GatePorts, gate } from '../pipeline/stages/gate.ts';

/** Annotations in all, as the Action has it. */
const ANNOTATIONS = 200;

/**
 * Judges a pull request as it stands now, and says so: the status first, which is what a branch requires.
 *
 * @throws PipelineError as the client; the message then comes again, and says the same
 */
export async function handleGate(
  number: number,
  ports: GatePorts,
  log: (line: string) => void,
): Promise<GateOutcome> {
  const outcome = await gate(ports, { number });
  if (outcome.kind === 'skipped') {
    log(`nothing to say: ${outcome.why}`);
    return outcome;
  }
  const { report } = outcome;
  const telling: Telling = { ...ports, link: undefined, annotations: ANNOTATIONS };
  const about = { commit: report.head, report };
  await tellStatus(telling, about);
  await unlessDenied(log, () => tellCheck(telling, about));
  await unlessDenied(log, () => tellComment(telling, { number, report }));
  return outcome;
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
