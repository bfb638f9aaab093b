/** Compares what is published with the branch, on a schedule, for every repository. */
import type { DeliveryPorts } from '../pipeline/publish/delivery/ports.ts';
import { type Reconciled, reconcile } from '../pipeline/publish/delivery/reconcile.ts';
import { forEachSource } from './for-each-source.ts';
import type { Source } from './receive.ts';
import type { Telemetry } from './telemetry.ts';

/**
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
    ({ repository, branch }) => reconcile({ repository, branch }, ports),
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
