/** Compares what is published with the branch, on a schedule; the state machine publishes what it names. */
import { type Reconciled, reconcile } from '../../pipeline/publish/delivery/reconcile.ts';
import { forEachSource } from '../for-each-source.ts';
import { settings } from './env.ts';
import { telemetryOf } from './log.ts';
import { portsOf } from './ports.ts';

const telemetry = telemetryOf('reconcile');
const read = settings();
const ports = portsOf(read, telemetry);

/** @returns what was healed, what failed, and what is to be published, of all repositories together */
export async function handler(): Promise<Reconciled> {
  try {
    const all = await forEachSource(
      read.sources,
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
  } finally {
    telemetry.flush();
  }
}
