/** Compares what is published with the branch, on a schedule, for every repository. */

import { PipelineError } from '../pipeline/error.ts';
import type { DeliveryPorts } from '../pipeline/publish/delivery/ports.ts';
import { type Reconciled, reconcileBranch } from '../pipeline/publish/delivery/reconcile.ts';
import type { Source } from './receive.ts';
import type { Telemetry } from './telemetry.ts';

/**
 * Reconciles every repository.
 *
 * @returns what was healed, what failed, and what is to be published, of all repositories together
 * @throws PipelineError the last one, when no repository could be compared
 */
export async function reconcileAll(
  sources: readonly Source[],
  ports: DeliveryPorts,
  telemetry: Telemetry,
): Promise<Reconciled> {
  const all = await forEachSource(
    sources,
    ({ repository, branch }) => reconcileBranch({ repository, branch }, ports),
    ({ repository, branch }, { message }) => {
      telemetry.log(`cannot reconcile ${repository} ${branch}: ${message}`);
      telemetry.count('ReconcileFailed');
    },
  );
  const healed = all.flatMap((one) => one.healed);
  for (const catalog of healed) {
    telemetry.log(`the tag or the record of ${catalog} does not match its claim`);
    telemetry.count('TagHealed');
  }
  const failed = all.flatMap((one) => one.failed);
  for (const _ of failed) telemetry.count('ReconcileFailed');
  return { healed, failed, messages: all.flatMap(({ messages }) => messages) };
}

/**
 * Does something for each source; one that fails does not stop the others.
 *
 * @param failed called with each source for which it could not be done
 * @returns what came of the others
 * @throws PipelineError the last one, when it could be done for none
 */
export async function forEachSource<T>(
  sources: readonly Source[],
  work: (source: Source) => Promise<T>,
  failed: (source: Source, error: PipelineError) => void,
): Promise<T[]> {
  const done: T[] = [];
  let last: PipelineError | undefined;
  for (const source of sources) {
    try {
      done.push(await work(source));
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      last = error;
      failed(source, error);
    }
  }
  if (last && done.length === 0) throw last;
  return done;
}
