/**
 * A step of a workflow, whichever mode it is in. The step fails when nothing could be told;
 * what was told of a pull request stands in its outputs, and on GitHub where it may write.
 */
import { info, setFailed, setOutput } from '@actions/core';
import { type CheckReport, headlineOf } from '../check/report.ts';
import { PipelineError } from '../error.ts';
import type { GateOutcome } from '../forge/gate.ts';
import { type GatePorts, gate, pullRequestsAt } from '../github/gate.ts';
import { gateGroup } from '../github/group.ts';
import { unpackedReport } from '../report/packed-report.ts';
import { plain } from '../text.ts';
import { checkClone, policyIn } from './clone.ts';
import { type Forge, openForge } from './forge.ts';
import type { RunInputs } from './inputs.ts';
import { annotate, logText, setReportOutputs } from './outputs.ts';
import { postAll } from './post-results.ts';
import { registriesOf } from './registries.ts';

/** Runs the step; whatever goes wrong is said in the log and fails it. */
export async function run(read: () => RunInputs): Promise<void> {
  try {
    await runMode(read());
  } catch (thrown) {
    if (!(thrown instanceof PipelineError)) throw thrown;
    setFailed(plainText(thrown));
  }
}

function plainText({ message, hint }: PipelineError): string {
  return hint === undefined ? plain(message) : `${plain(message)}\n${plain(hint)}`;
}

function runMode(inputs: RunInputs): Promise<void> {
  switch (inputs.mode) {
    case 'check':
      return checkOnly(inputs);
    case 'report':
      return reportOnly(inputs);
    case 'publish':
    case 'drift':
      return aside(inputs, inputs.mode);
    case 'auto':
      return byEvent(inputs);
  }
}

/** Parts that most runs do without are loaded when they are asked for. */
async function aside(inputs: RunInputs, mode: 'publish' | 'drift'): Promise<void> {
  if (mode === 'publish') await (await import('./publish.ts')).publishPush(inputs);
  else await (await import('./drift.ts')).findDrift(inputs);
}

async function byEvent(inputs: RunInputs): Promise<void> {
  if (inputs.event.kind === 'push') return aside(inputs, 'publish');
  if (inputs.event.kind === 'clock') return aside(inputs, 'drift');
  if (inputs.dryRun || inputs.clone !== undefined || !inputs.forge) return checkOnly(inputs);
  const forge = await openForge(inputs);
  for (const outcome of await checked(inputs, forge)) await finish(inputs, forge, outcome);
}

async function finish(inputs: RunInputs, forge: Forge, outcome: GateOutcome): Promise<void> {
  if (outcome.kind === 'skipped') return info(plain(outcome.why));
  await setReportOutputs(outcome.report, inputs);
  await postAll(inputs, forge, {
    report: outcome.report,
    again: () => checkAgain(inputs, forge, outcome.report),
  });
}

async function checkOnly(inputs: RunInputs): Promise<void> {
  if (inputs.clone !== undefined || !inputs.forge) return posted(inputs, await checkClone(inputs));
  const outcomes = await checked(inputs, await openForge(inputs));
  for (const outcome of outcomes) {
    if (outcome.kind === 'checked') await posted(inputs, outcome.report);
    else info(plain(outcome.why));
  }
  setOutput('judged', String(outcomes.some(({ kind }) => kind === 'checked')));
}

async function posted(inputs: RunInputs, report: CheckReport): Promise<void> {
  await setReportOutputs(report, inputs);
  annotate(report.findings);
}

/** What an earlier job found, said on GitHub by one that may write there. */
async function reportOnly(inputs: RunInputs): Promise<void> {
  if (inputs.result === undefined) throw new PipelineError('usage', 'the input result is not a check report');
  const report = unpackedReport(inputs.result);
  const forge = await openForge(inputs);
  const { owner, repo } = forge.repository;
  if (report.request && report.request.repository !== `${owner}/${repo}`)
    throw new PipelineError('usage', 'the input result is from another repository');
  logText(headlineOf(report));
  if (inputs.dryRun) return;
  await postAll(inputs, forge, { report, again: () => checkAgain(inputs, forge, report) });
}

async function checked(inputs: RunInputs, forge: Forge): Promise<GateOutcome[]> {
  const { event } = inputs;
  return withPorts(inputs, forge, async (ports) => {
    switch (event.kind) {
      case 'pull request': {
        const by = event.pusher ? { pushed: { by: event.pusher, head: event.head } } : {};
        const expected = { branch: event.branch, head: event.head };
        return [await gate(ports, { number: event.number, expected, ...by, ...policyOf(inputs) })];
      }
      case 'recheck':
        return [await gate(ports, { number: event.number, ...policyOf(inputs) })];
      case 'poke': {
        const numbers = await pullRequestsAt(ports, event.commit);
        return Promise.all(numbers.map((number) => gate(ports, { number, ...policyOf(inputs) })));
      }
      case 'group':
        return [await gateGroup(ports, event)];
      case 'none':
        return [{ kind: 'skipped', why: event.why }];
      case 'push':
      case 'clock':
        return [{ kind: 'skipped', why: 'there is no pull request to check' }];
    }
  });
}

async function checkAgain(
  inputs: RunInputs,
  forge: Forge,
  report: CheckReport,
): Promise<CheckReport | undefined> {
  const { request } = report;
  if (!request) return undefined;
  const outcome = await withPorts(inputs, forge, (ports) =>
    gate(ports, { number: request.number, ...policyOf(inputs) }),
  );
  return outcome.kind === 'checked' ? outcome.report : undefined;
}

async function withPorts<T>(
  inputs: RunInputs,
  forge: Forge,
  use: (ports: GatePorts) => Promise<T>,
): Promise<T> {
  const registries = registriesOf(inputs);
  try {
    const today = inputs.now.toISOString().slice(0, 10);
    return await use({ ...forge, registryFor: registries.under, today });
  } finally {
    registries.close();
  }
}

function policyOf({ policy, directory }: RunInputs) {
  return policy === undefined ? {} : { policy: policyIn(directory, policy) };
}
