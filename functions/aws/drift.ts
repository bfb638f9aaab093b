/** Looks for what has drifted, on a schedule, in every repository; without an App nothing can be proposed. */
import { PipelineError } from '../../pipeline/error.ts';
import { handleDrift } from '../drift.ts';
import { forEachSource } from '../for-each-source.ts';
import type { Source } from '../receive.ts';
import { settings } from './env.ts';
import { telemetryOf } from './log.ts';
import { appOf } from './ports.ts';

const telemetry = telemetryOf('drift');
const read = settings();
const app = appOf(read, telemetry);

/** @returns pull requests by catalog, of all repositories together */
export async function handler(): Promise<
  Readonly<Record<string, { kind: string; url: string | undefined }>>
> {
  if (!app) throw new PipelineError('usage', 'no GitHub App is configured to open pull requests');
  const proposed: Record<string, { kind: string; url: string | undefined }> = {};
  try {
    const look = async (source: Source): Promise<void> => {
      const drifted = await handleDrift({ ...(await app.request(source)), source });
      for (const _ of drifted.drift) telemetry.count('Drift');
      for (const [catalog, { kind, url }] of Object.entries(drifted.proposed))
        proposed[`${source.repository} ${catalog}`] = { kind, url };
    };
    await forEachSource(read.sources, look, ({ repository, branch }, { message }) => {
      telemetry.log(`cannot check ${repository} ${branch} for drift: ${message}`);
      telemetry.count('DriftFailed');
    });
    return proposed;
  } finally {
    telemetry.flush();
  }
}
