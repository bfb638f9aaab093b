/** Compares what is published with the branch, on a schedule; the state machine publishes what it names. */
import type { Reconciled } from '../../pipeline/publish/delivery/reconcile.ts';
import { reconcileAll } from '../reconcile.ts';
import { settings } from './env.ts';
import { telemetryOf } from './log.ts';
import { portsOf } from './ports.ts';

const telemetry = telemetryOf('reconcile');
const read = settings();
const ports = portsOf(read, telemetry);

/** Compares all repositories. @returns what was healed, what failed, and what is to be published, of all repositories together */
export async function handler(): Promise<Reconciled> {
  try {
    return await reconcileAll(read.sources, ports, telemetry);
  } finally {
    telemetry.flush();
  }
}
