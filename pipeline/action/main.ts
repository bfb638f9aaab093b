/**
 * A step of a workflow, in any mode. It fails if it cannot report a result. The result of each pull request is in the step's
 * outputs, and on GitHub if the token may write.
 */
import { setFailed, setOutput, warning } from '@actions/core';
import { type CheckReport, headlineOf } from '../check/report.ts';
import { PipelineError } from '../error.ts';
import type { ForgePorts } from '../forge/gate.ts';
import { gateAgain, gateHead, type Head, leaveError, leaveReason, markPending } from '../forge/head.ts';
import { gateGroup } from '../github/group.ts';
import { packedResults, unpackedResults } from '../report/packed-report.ts';
import { plainText } from '../text.ts';
import { checkClone, checkerOf, policyIn } from './clone.ts';
import { type Forge, hubOf, openForge } from './forge.ts';
import type { RunInputs } from './inputs.ts';
import { info, logText } from './log.ts';
import { annotateFindings, setReportOutputs } from './outputs.ts';
import { failureText, postAll } from './post-results.ts';
import { registriesOf } from './registries.ts';
import { headsMeant, type StartedHead, startedIn, startedText } from './started.ts';

/** Runs the step. An error is logged and fails it. */
export async function runStep(read: () => RunInputs): Promise<void> {
  try {
    await runMode(read());
  } catch (thrown) {
    if (!(thrown instanceof PipelineError)) throw thrown;
    setFailed(failureText(thrown));
  }
}

/** Runs the part of the Action that the input `mode` chooses; with `auto`, the one for the event. */
function runMode(inputs: RunInputs): Promise<void> {
  switch (inputs.mode) {
    case 'start':
      return startOnly(inputs);
    case 'check':
      return checkOnly(inputs);
    case 'report':
      return reportOnly(inputs);
    case 'publish':
    case 'drift':
      return runOnDemand(inputs, inputs.mode);
    case 'auto':
      return byEvent(inputs);
  }
}

/** Parts that most runs do without are loaded when they are asked for. */
async function runOnDemand(inputs: RunInputs, mode: 'publish' | 'drift'): Promise<void> {
  if (mode === 'publish') await (await import('./publish.ts')).publishPush(inputs);
  else await (await import('./drift.ts')).findDrift(inputs);
}

/**
 * Mode `auto`: a push publishes, a schedule looks for drift, everything else checks. Without a right to write
 * it only checks.
 */
async function byEvent(inputs: RunInputs): Promise<void> {
  if (inputs.event.kind === 'push') return runOnDemand(inputs, 'publish');
  if (inputs.event.kind === 'clock') return runOnDemand(inputs, 'drift');
  if (inputs.dryRun || inputs.clone !== undefined || !inputs.forge) return checkOnly(inputs);
  const forge = await openForge(inputs);
  const heads = await markHeadsPending(inputs, forge);
  await withReason(inputs, forge, heads, async () => {
    const reports = await checkHeads(inputs, forge, heads);
    await setReports(reports, inputs);
    await postReports(inputs, forge, { heads, reports });
  });
}

/** Mode `start`: sets the statuses that an event is about to pending, and outputs for the next jobs which those are. */
async function startOnly(inputs: RunInputs): Promise<void> {
  const heads = await markHeadsPending(inputs, await openForge(inputs));
  setOutput('started', startedText(heads));
  // The workflow's concurrency group: runs for one head wait for each other. No other run has exactly these heads if there are
  // several.
  setOutput('group', heads.length === 1 ? heads[0]?.commit : inputs.environment['GITHUB_RUN_ID']);
}

/** Sets the status of the heads that the event is about to pending. @returns these heads */
async function markHeadsPending(inputs: RunInputs, forge: Forge): Promise<readonly Head[]> {
  const { heads, why } = await headsMeant(forge, inputs.event, inputs.now);
  if (heads.length === 0) info(plainText(why));
  if (inputs.dryRun) return heads;
  try {
    await markPending(hubOf(inputs, forge), heads);
  } catch (error) {
    // Where GitHub takes no more statuses, the comment says so, after the check.
    if (!(error instanceof PipelineError && error.code === 'usage')) throw error;
    warning(plainText(error.message));
  }
  return heads;
}

/** Checks, and leaves the result to a later job that may write: outputs, and annotations of a local clone. */
async function checkOnly(inputs: RunInputs): Promise<void> {
  if (inputs.clone !== undefined || !inputs.forge) {
    const report = await checkClone(inputs);
    await setReports([report], inputs);
    return annotateFindings(report.findings);
  }
  const forge = await openForge(inputs);
  const heads =
    inputs.started === undefined
      ? await headsMeant(forge, inputs.event, inputs.now)
      : { heads: startedIn(inputs.started), why: 'nothing is to be checked' };
  if (heads.heads.length === 0) info(plainText(heads.why));
  const reports = await checkHeads(inputs, forge, heads.heads);
  await setReports(reports, inputs);
  // The next job needs a result even if nothing was to be checked.
  if (reports.length === 0) setOutput('result', packedResults({ attempt: inputs.attempt, reports }));
  setOutput('checked', String(reports.length > 0));
  // The former name: workflows may use it.
  setOutput('judged', String(reports.length > 0));
}

/** Sets the outputs of reports. Without any, all stay unset: the event was about no pull request. */
async function setReports(reports: readonly CheckReport[], inputs: RunInputs): Promise<void> {
  if (reports.length > 0) await setReportOutputs(reports, inputs);
}

/** Posts the results of an earlier job that had no right to write. */
async function reportOnly(inputs: RunInputs): Promise<void> {
  const { result, started, attempt } = inputs;
  // With `started`, statuses are pending: the missing result is then an error below, which they get to show.
  if (result === undefined && started === undefined)
    throw new PipelineError('usage', 'the input result is not a check report');
  const heads = started === undefined ? [] : startedIn(started);
  const forge = await openForge(inputs);
  await withReason(inputs, forge, heads, async () => {
    if (result === undefined)
      throw new PipelineError('usage', 'the check ended without a result', {
        hint: 'comment /recheck, or re-run all jobs',
      });
    const results = unpackedResults(result);
    // GitHub gives a rerun of this job alone the result of the earlier attempt, which may be out of date.
    if (results.attempt !== attempt)
      throw new PipelineError('usage', `the result is from attempt ${results.attempt} of this run`, {
        hint: 'comment /recheck, or re-run all jobs',
      });
    const { owner, repo } = forge.repository;
    // The report of a merge queue's group has no request.
    const isOurs = ({ request }: CheckReport) => !request || request.repository === `${owner}/${repo}`;
    if (!results.reports.every(isOurs))
      throw new PipelineError('usage', 'the input result is from another repository');
    for (const report of results.reports) logText(headlineOf(report));
    if (inputs.dryRun) return;
    // A head without a report would stay pending without a reason.
    const why = 'no open pull request to a gated branch has this head';
    for (const head of heads.filter(
      ({ commit }) => !results.reports.some((report) => report.head === commit),
    ))
      await leaveReason(hubOf(inputs, forge), head, { why, link: inputs.posting.link });
    await postReports(inputs, forge, { heads, reports: results.reports });
  });
}

/** Does something for heads. If it fails, the heads' statuses stay pending and name the error. */
async function withReason(
  inputs: RunInputs,
  forge: Forge,
  heads: readonly Pick<Head, 'commit' | 'pulls'>[],
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!inputs.dryRun) await leaveError(hubOf(inputs, forge), heads, { error, link: inputs.posting.link });
    throw error;
  }
}

/** Posts the reports on GitHub, head by head. */
async function postReports(
  inputs: RunInputs,
  forge: Forge,
  { heads, reports }: { readonly heads: readonly StartedHead[]; readonly reports: readonly CheckReport[] },
): Promise<void> {
  const unposted = new Set(heads.flatMap(({ commit, hasNoStatus }) => (hasNoStatus ? [commit] : [])));
  for (const commit of new Set(reports.map(({ head }) => head))) {
    const own = reports.filter(({ head }) => head === commit);
    const checkAgain = () => withPorts(inputs, forge, (ports) => gateAgain(ports, commit, policyOf(inputs)));
    await postAll(inputs, forge, { reports: own, checkAgain, unposted });
  }
}

/** Checks every open pull request of the heads; one that cannot be checked fails the step. */
async function checkHeads(
  inputs: RunInputs,
  forge: Forge,
  heads: readonly Pick<Head, 'commit' | 'pulls'>[],
): Promise<readonly CheckReport[]> {
  const { event } = inputs;
  return withPorts(inputs, forge, async (ports) => {
    if (event.kind === 'group') {
      // No heads: the queue is of a branch that is not gated.
      const outcome = heads.length === 0 ? undefined : await gateGroup({ ...ports, ...forge }, event);
      if (outcome?.kind === 'skipped') info(plainText(outcome.why));
      return outcome?.kind === 'checked' ? [outcome.report] : [];
    }
    // Some pull requests of these heads have other pushers: `number` says which one the event is about.
    const by = event.kind === 'pull request' && event.pusher;
    const pushed = by ? { pushed: { by, head: event.head, number: event.number } } : {};
    const reports: CheckReport[] = [];
    // A pull request that changed since it was listed is found when its result is posted.
    for (const head of heads)
      reports.push(...(await gateHead(ports, head, { ...pushed, ...policyOf(inputs) })));
    return reports;
  });
}

/** Calls a function with what checks on GitHub need, and closes registry clients afterwards. */
async function withPorts<T>(
  inputs: RunInputs,
  forge: Forge,
  use: (ports: ForgePorts) => Promise<T>,
): Promise<T> {
  const registries = registriesOf(inputs);
  try {
    const today = inputs.now.toISOString().slice(0, 10);
    const check = checkerOf(inputs);
    return await use({ ...forge, forge: hubOf(inputs, forge), check, registryFor: registries.under, today });
  } finally {
    registries.close();
  }
}

/** The policy of the input `policy`, as an option of a check; empty if the base branch's counts. */
function policyOf({ policy, directory }: RunInputs) {
  return policy === undefined ? {} : { policy: policyIn(directory, policy) };
}
