/** Looks for what has drifted, on a schedule, in every repository; without an App nothing can be proposed. */
import { type DriftProposals, driftAll } from '../drift.ts';
import { settings } from './env.ts';
import { telemetryOf } from './log.ts';
import { appOf } from './ports.ts';

const telemetry = telemetryOf('drift');
const read = settings();
const app = appOf(read, telemetry);

/** Looks for drift in all repositories. @returns pull requests by catalog, of all repositories together */
export async function handler(): Promise<DriftProposals> {
  try {
    return await driftAll(read.sources, app, telemetry);
  } finally {
    telemetry.flush();
  }
}
