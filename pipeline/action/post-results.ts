/** Everything that is said on GitHub of a report, and the merge of what is allowed and green. */
import { info, setFailed, setOutput, warning } from '@actions/core';
import { type CheckReport, stateOf } from '../check/report.ts';
import { PipelineError } from '../error.ts';
import { involve } from '../github/involve.ts';
import { mergeChecked } from '../github/merge.ts';
import { type PostRequest, postAnswer, postCheck, postComment, postStatus } from '../github/post-report.ts';
import { answerText } from '../report/answer.ts';
import { plain } from '../text.ts';
import type { Forge } from './forge.ts';
import type { RunInputs } from './inputs.ts';
import { annotate } from './outputs.ts';

export interface PostedResults {
  readonly report: CheckReport;
  /** Checks the pull request once more; undefined when there is nothing to check any more. */
  readonly again: () => Promise<CheckReport | undefined>;
}

/** How often a pull request is checked again because its base branch moves while it is merged. */
const TRIES = 3;

/**
 * Says a report on GitHub. The status comes first: it is what a branch requires. What the job has no right to
 * say elsewhere is said in the log.
 */
export async function postAll(
  inputs: RunInputs,
  forge: Forge,
  { report, again }: PostedResults,
): Promise<void> {
  await postOnce(inputs, forge, report);
  let current = report;
  for (let tries = 0; mergeable(inputs, current) && tries < TRIES; tries++) {
    const moved = await merge(forge, current);
    if (!moved) return;
    const next = await again();
    if (!next) return;
    current = next;
    await postOnce(inputs, forge, current);
  }
}

async function postOnce(inputs: RunInputs, forge: Forge, report: CheckReport): Promise<void> {
  const { says, forge: at, event } = inputs;
  const request: PostRequest = {
    ...forge,
    link: says.link,
    server: at?.server,
    annotations: says.annotations,
  };
  const about = { commit: report.head, report };
  const failed = await attempt('the status', () => postStatus(request, about));
  if (failed) setFailed(`cannot set the status portolan: ${plain(failed.message)}`);
  const noCheck = await attempt('the check run', () => postCheck(request, about));
  if (noCheck) annotate(report.findings);
  if (!says.comment || !report.request) return;
  const { number } = report.request;
  let isCurrent = true;
  await attempt('the comment', async () => {
    isCurrent = await postComment(request, { number, report });
    if (!isCurrent) info('the pull request has new commits, so the next run updates the comment');
  });
  // The event of the job that reports is the one of the job that checked: its number says whether it is about this report.
  const question = event.kind === 'recheck' && event.number === number ? event.question : undefined;
  if (question) {
    const text = answerText(report, question);
    await attempt('the answer', () => postAnswer(request, { number, text }));
  }
  if (isCurrent) await involve(request, { number, report }, { attempt, info, warning });
}

/** Does without what may not be done; anything else than a refusal ends the step. */
async function attempt(what: string, act: () => Promise<void>): Promise<PipelineError | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    warning(`cannot write ${what}: ${plain(error.message)}`);
    return error;
  }
}

/**
 * Where nothing is enforced, nothing is merged either: the state says nothing of the pull request. What nobody was asked
 * about is left to people.
 */
function mergeable({ says }: RunInputs, report: CheckReport): boolean {
  const isLeft = report.enforce === 'off' || (report.byHand ?? []).length > 0;
  return !isLeft && says.merge && report.request?.merge.mode === 'auto' && stateOf(report) === 'success';
}

/** @returns whether the base branch or the head has moved, so that it must be checked again */
async function merge(forge: Forge, { request, head, base }: CheckReport): Promise<boolean> {
  if (!request) return false;
  const { number, branch, merge: how } = request;
  const outcome = await mergeChecked(forge.github, forge.repository, {
    number,
    head,
    base,
    branch,
    merge: how,
  });
  setOutput('merged', outcome.kind);
  switch (outcome.kind) {
    case 'merged':
      info(`merged as ${outcome.commit}`);
      return false;
    case 'queued':
      info('added to the merge queue');
      return false;
    case 'moved':
    case 'refused':
      info(plain(`not merged: ${outcome.why}`));
      return outcome.kind === 'moved';
  }
}
