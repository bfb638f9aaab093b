/** The gate's workflow as GitHub runs it: which events start it, its jobs with their outputs, and who waits for whom. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { load } from 'js-yaml';
import { runStep } from './step.ts';

interface Job {
  readonly needs?: string | readonly string[];
  readonly if?: string;
  readonly concurrency?: { readonly group: string };
  readonly steps: readonly { readonly with?: Readonly<Record<string, string>> }[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly concurrency?: { readonly group: string };
  readonly jobs: Readonly<Record<string, Job>>;
}

/** The Action with its workflow: this project's, or those of another folder. */
const ROOT = process.env['PORTOLAN_ACTION_ROOT'] ?? '.';

export function gateWorkflow(): Workflow {
  return load(readFileSync(join(ROOT, 'docs/workflows/portolan.yml'), 'utf8')) as Workflow;
}

export interface WorkflowEvent {
  readonly event: string;
  readonly payload: object;
}

/** A run, as far as it has outputs that later jobs are given. */
export type Outputs = Readonly<Record<string, string>>;

/** Runs the jobs that an event starts. @returns what they gave */
export async function runWorkflow(forge: { readonly url: string }, told: WorkflowEvent): Promise<Outputs> {
  const { on, jobs } = gateWorkflow();
  const outputs: Record<string, string> = {};
  if (!(told.event in on)) return outputs;
  let hasFailed = false;
  for (const job of Object.values(jobs)) {
    if (isSkipped(job, { outputs, hasFailed })) continue;
    const { status, outputs: own } = await runJob(forge, told, { job, outputs });
    hasFailed ||= status !== 0;
    Object.assign(outputs, own);
  }
  return outputs;
}

/** Runs the last job once more: GitHub gives it the outputs that it has kept. */
export async function rerunLastJob(
  forge: { readonly url: string },
  told: WorkflowEvent,
  outputs: Outputs,
): Promise<void> {
  const job = Object.values(gateWorkflow().jobs).at(-1);
  if (job) await runJob(forge, told, { job, outputs, attempt: '2' });
}

/** As the conditions of the gate's jobs say: after a failure only what always runs does. */
function isSkipped(
  { if: condition = '', needs }: Job,
  { outputs, hasFailed }: { readonly outputs: Outputs; readonly hasFailed: boolean },
): boolean {
  if (needs !== undefined && hasFailed && !condition.includes('always()')) return true;
  if (condition.includes("outputs.started != '[]'") && outputs['started'] === '[]') return true;
  return condition.includes("outputs.judged == 'true'") && outputs['judged'] !== 'true';
}

function runJob(
  forge: { readonly url: string },
  { event, payload }: WorkflowEvent,
  {
    job,
    outputs,
    attempt = '1',
  }: { readonly job: Job; readonly outputs: Outputs; readonly attempt?: string },
) {
  const given = job.steps[0]?.with ?? {};
  const passed = Object.keys(given).filter((name) => name === 'result' || name === 'started');
  const inputs = Object.fromEntries(passed.flatMap((name) => (outputs[name] ? [[name, outputs[name]]] : [])));
  return runStep({
    ...{ event, payload, forge },
    inputs: { mode: given['mode'] ?? '', ...inputs },
    environment: { GITHUB_RUN_ATTEMPT: attempt },
    action: resolve(ROOT, 'dist/action.cjs'),
  });
}

/** Names of the concurrency groups that a run waits in: of two that wait in one group, GitHub cancels the older one. */
export function waitsIn({ payload }: WorkflowEvent, starts: boolean): string[] {
  const { concurrency, jobs } = gateWorkflow();
  const all = [concurrency, ...(starts ? Object.values(jobs).map((job) => job.concurrency) : [])];
  return all.flatMap((one) => (one ? [evaluated(one.group, payload)] : []));
}

/** An expression of alternatives: the first path of the event that has a value; other contexts stay as they are written. */
function evaluated(text: string, payload: object): string {
  return text.replaceAll(/\$\{\{([^}]*)\}\}/g, (_, expression: string) => {
    const values = expression.split('||').map((path) => {
      const [context, name, ...rest] = path.trim().split('.');
      if (context !== 'github' || name !== 'event') return path.trim();
      return rest.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], payload);
    });
    return String(values.find((value) => value !== undefined && value !== null) ?? '');
  });
}
