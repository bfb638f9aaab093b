/** Compares what is published with the branch, on a schedule; the state machine publishes what it names. */
import { type Reconciled, reconcile } from '../../pipeline/delivery/reconcile.ts';
import { settings } from './env.ts';
import { telemetryOf } from './log.ts';
import { portsOf } from './ports.ts';

const telemetry = telemetryOf('reconcile');
const read = settings();
const ports = portsOf(read, telemetry);

/** @returns what was healed, and what is to be published, of all repositories together */
export async function handler(): Promise<Reconciled> {
  const all: Reconciled[] = [];
  for (const { repository, branch } of read.sources) all.push(await reconcile({ repository, branch }, ports));
  const healed = all.flatMap((one) => one.healed);
  for (const catalog of healed) {
    telemetry.log(`the tag or the record of ${catalog} did not follow its claim`);
    telemetry.count('TagHealed');
  }
  telemetry.flush();
  return { healed, messages: all.flatMap(({ messages }) => messages) };
}
