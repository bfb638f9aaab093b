/**
 * The jobs of the gate's workflow in this process, on a fake GitHub. The test replaces `@actions/core` and the client of
 * GitHub: outputs come here, and requests can be watched.
 */
import type { Event } from '../../pipeline/action/event.ts';
import type { RunInputs } from '../../pipeline/action/inputs.ts';
import { runStep } from '../../pipeline/action/main.ts';
import { logged } from './action-core.ts';
import { folder } from './folder.ts';
import { TOKEN } from './github/forge.ts';

/** One run of the workflow: its jobs are `start`, `check` and `report`. */
export interface WorkflowRun {
  readonly event: Event;
  readonly id: number;
  attempt: number;
  started?: string | undefined;
  result?: string | undefined;
  failures: string[];
}

let temporary: string | undefined;

/** Runs one job. @returns false where it failed */
async function job(
  mode: RunInputs['mode'],
  at: WorkflowRun,
  hub: { readonly url: string },
): Promise<boolean> {
  temporary ??= folder();
  const inputs: RunInputs = {
    ...{ mode, dryRun: false, directory: temporary, temporary, clone: undefined, policy: undefined },
    ...{
      base: undefined,
      head: undefined,
      event: at.event,
      attempt: String(at.attempt),
      authfile: undefined,
    },
    result: mode === 'report' ? at.result : undefined,
    started: mode === 'start' ? undefined : at.started,
    forge: { api: hub.url, server: hub.url, repository: 'example/catalogs', token: TOKEN, app: undefined },
    posting: { link: `${hub.url}/runs/${at.id}`, annotations: 200, comment: true, merge: true },
    publish: { out: temporary, url: undefined, plainHttp: [], everything: false },
    reader: { file: '', words: [] },
    environment: { PATH: process.env['PATH'], GITHUB_RUN_ID: String(at.id) },
    now: new Date('2026-01-01T00:00:00Z'),
  };
  const log = await logged(() => runStep(() => inputs));
  at.failures.push(...log.failures);
  if (mode === 'start') at.started = log.outputs.get('started');
  if (mode === 'check') at.result = log.outputs.get('result');
  return log.failures.length === 0;
}

/** Runs the workflow's jobs as docs/workflows/portolan.yml does. */
export async function runWorkflow(at: WorkflowRun, hub: { readonly url: string }): Promise<void> {
  at.failures = [];
  [at.started, at.result] = [undefined, undefined];
  if (!(await job('start', at, hub)) || at.started === '[]') return;
  await job('check', at, hub);
  await job('report', at, hub);
}

/** Somebody runs the last job alone once more: GitHub kept the outputs of the others. */
export async function rerunReport(at: WorkflowRun, hub: { readonly url: string }): Promise<void> {
  if (at.started === undefined || at.started === '[]') return;
  at.attempt += 1;
  await job('report', at, hub);
}
