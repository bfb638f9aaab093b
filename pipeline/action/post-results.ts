/** Everything that is said on GitHub of a report, and the merge of what is allowed and green. */
import { setFailed, setOutput, warning } from '@actions/core';
import { type CheckReport, stateOf } from '../check/report.ts';
import { PipelineError } from '../error.ts';
import type { GateForge } from '../forge/forge.ts';
import { freshnessOf } from '../forge/freshness.ts';
import { leaveError } from '../forge/head.ts';
import { setStatus, withoutStatus } from '../forge/status.ts';
import { dataOf } from '../github/client.ts';
import { mergeChecked } from '../github/merge.ts';
import { postAnswer } from '../github/post-report.ts';
import { answerText } from '../report/answer.ts';
import { plainText } from '../text.ts';
import { MOVED } from './event.ts';
import { type Forge, hubOf } from './forge.ts';
import type { RunInputs } from './inputs.ts';
import { info } from './log.ts';
import { annotateFindings } from './outputs.ts';

interface PostedResults {
  /** Of one head. */
  readonly reports: readonly CheckReport[];
  /** Checks the pull requests of the head once more. */
  readonly checkAgain: () => Promise<readonly CheckReport[]>;
  /** Commits that had no status before this run. */
  readonly unposted: ReadonlySet<string>;
}

/** How often a pull request is checked again because its base branch moves while it is merged. */
const TRIES = 3;

/**
 * Posts the reports of a head on GitHub, the status first because branches require it, and merges a pull request that may be
 * merged. The status is the head's, so it must be green for all pull requests of the head. If one of them or its base has
 * changed meanwhile, all are checked and posted again.
 */
export async function postAll(
  inputs: RunInputs,
  forge: Forge,
  { reports, checkAgain, unposted }: PostedResults,
): Promise<void> {
  const hub = hubOf(inputs, forge);
  const post = (found: readonly CheckReport[]) =>
    postOnce(inputs, forge, { reports: found, checkAgain, unposted });
  let current = await post(reports);
  for (let tries = 0; tries < TRIES; tries++) {
    const ready = current.filter((report) => mayMerge(inputs, report));
    const [report] = current.every((one) => stateOf(one) === 'success') ? ready : [];
    if (!report) return;
    const { kind } = await freshnessOf(hub, report.head, current);
    // Closed or pushed to meanwhile: the event of that has a run of its own.
    if (kind === 'gone') return;
    if (kind === 'current' && !(await mergePullRequest(inputs, forge, report))) return;
    current = await post(await checkAgain());
  }
}

/**
 * Sets the status, then posts the rest of each report. If GitHub rejects the status, it will reject it again: then the
 * posted reports say so. After any other failure, a later run may still post them as they are.
 *
 * @returns the reports that are up to date; none if the status cannot be set
 */
async function postOnce(
  inputs: RunInputs,
  forge: Forge,
  { reports, checkAgain, unposted }: PostedResults,
): Promise<readonly CheckReport[]> {
  if (reports.length === 0) return [];
  const hub = hubOf(inputs, forge, unposted);
  let [checked, current] = [reports, [] as readonly CheckReport[]];
  const failed = await attempt('the status', async () => {
    current = await setStatus(hub, reports, async () => {
      checked = await checkAgain();
      return checked;
    });
  });
  for (const report of current) await postRest(inputs, { forge, hub }, report);
  if (!failed) return current;
  setFailed(`cannot set the status portolan: ${failureText(failed)}`);
  // All reports have one head, so one pending status is enough.
  const heads = checked.slice(0, 1).map(({ head, request }) => ({
    commit: head,
    pulls: request ? [request.number] : [],
  }));
  await leaveError(hub, heads, { error: failed, link: inputs.posting.link });
  if (isRefused(failed)) {
    const waiting = checked.map((report) => withoutStatus(report, plainText(failed.message)));
    // The tries took time: read the pull requests again.
    const fresh = { forge, hub: hubOf(inputs, forge) };
    for (const report of waiting) await postRest(inputs, fresh, report);
  }
  return [];
}

/** Whether GitHub rejects it every time: the commit has as many statuses as it may have, or the token lacks a permission. */
function isRefused({ code }: PipelineError): boolean {
  return code === 'usage' || code === 'denied';
}

/**
 * Posts the comment, the check run, the answer to a question, and what needs people. Each is tried even if another fails.
 */
async function postRest(
  { posting, event }: RunInputs,
  { forge, hub }: { readonly forge: Forge; readonly hub: GateForge },
  report: CheckReport,
): Promise<void> {
  const number = report.request?.number;
  let isCurrent = false;
  // The comment goes first: posting it finds out whether the report is still about the newest commit.
  if (posting.comment && number !== undefined)
    await attempt('the comment', async () => {
      // If the comment cannot be posted, the rest is still about the newest commit.
      isCurrent = true;
      isCurrent = await hub.postComment({ number, report });
      if (!isCurrent) info('the pull request has new commits, so the next run updates the comment');
    });
  // A merge queue's group has no number, and GitHub's check runs need none: they are of the head.
  const noCheck = await attempt('the check run', () => hub.postFindings({ number: number ?? 0, report }));
  if (noCheck) annotateFindings(report.findings);
  // Without comments, people are not asked for anything either; a group has nobody to ask.
  if (!posting.comment || number === undefined) return;
  // The event of the job that reports is the one of the job that checked: its number says whether it is about this report.
  const question = event.kind === 'recheck' && event.number === number ? event.question : undefined;
  if (question) {
    const text = answerText(report, question);
    await attempt('the answer', () => postAnswer(forge, { number, text }));
  }
  if (isCurrent) await hub.involve?.({ number, report }, { attempt, info, warning });
}

/** Does something, and only warns if GitHub does not allow it. @returns the error, if there was one */
async function attempt(what: string, act: () => Promise<void>): Promise<PipelineError | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    warning(`cannot write ${what}: ${plainText(error.message)}`);
    return error;
  }
}

/**
 * Whether Portolan may merge a pull request now. Not if nothing is enforced, because its state is then always green; and not if
 * it has parts that people must look at.
 */
function mayMerge({ posting }: RunInputs, report: CheckReport): boolean {
  const isLeftToPeople = report.enforce === 'off' || (report.byHand ?? []).length > 0;
  return (
    !isLeftToPeople && posting.merge && report.request?.merge.mode === 'auto' && stateOf(report) === 'success'
  );
}

/**
 * Merges a pull request, or adds it to the merge queue.
 *
 * @returns whether the base branch or the head has moved, so that it must be checked again
 */
async function mergePullRequest(
  { forge: forgeInputs }: RunInputs,
  forge: Forge,
  { request, head, base }: CheckReport,
): Promise<boolean> {
  if (!request) return false;
  const { number, branch, merge: how } = request;
  const { github, repository } = forge;
  const outcome = await mergeChecked(github, repository, { number, head, base, branch, merge: how });
  setOutput('merged', outcome.kind);
  switch (outcome.kind) {
    case 'merged': {
      info(`merged as ${outcome.commit}`);
      const moved = { branch, before: base, after: outcome.commit };
      // The merge of an App is a push that starts workflows.
      if (!forgeInputs?.app) await attempt('the event of the merge', () => tellMoved(forge, moved));
      return false;
    }
    case 'queued':
      info('added to the merge queue');
      return false;
    case 'moved':
    case 'refused':
      info(plainText(`not merged: ${outcome.why}`));
      return outcome.kind === 'moved';
  }
}

/**
 * Starts the workflow that checks the pull requests which the merge concerns. GitHub starts no workflows for what a job's token
 * does, except for such an event.
 */
async function tellMoved(
  { github, repository }: Forge,
  moved: { readonly branch: string; readonly before: string; readonly after: string },
): Promise<void> {
  const event = { event_type: MOVED, client_payload: { ...moved } };
  await dataOf(github.rest.repos.createDispatchEvent({ ...repository, ...event }));
}

/** An error as the job's log shows it, with its hint on a line of its own. */
export function failureText({ message, hint }: PipelineError): string {
  return hint === undefined ? plainText(message) : `${plainText(message)}\n${plainText(hint)}`;
}
