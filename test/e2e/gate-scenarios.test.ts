/**
 * Seven things that happen to pull requests, after which a status was wrong before it belonged to a commit: each by the
 * jobs of the workflow, as a runner starts them.
 *
 * PORTOLAN_ACTION_ROOT names another project's folder, with its dist/action.cjs and docs/workflows.
 */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { catalogOf, POLICY } from '../fakes/gate.ts';
import type { FakePull } from '../fakes/github/forge.ts';
import { example, pullPayload } from '../fakes/github/payload.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { buildProgram } from '../fakes/program.ts';
import {
  gateWorkflow,
  rerunLastJob,
  runWorkflow,
  type WorkflowEvent,
  waitsIn,
} from '../fakes/workflow-run.ts';

beforeAll(() => {
  if (process.env['PORTOLAN_ACTION_ROOT'] === undefined) buildProgram();
});
let hub: Hub;
beforeEach(async () => {
  hub = await openHub();
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

const ADDED = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };
const stateOf = ({ head }: FakePull): string | undefined =>
  hub.forge.statuses.findLast(({ sha }) => sha === head)?.state;
const about = (pull: FakePull, action = 'opened'): WorkflowEvent => ({
  event: 'pull_request_target',
  payload: { ...pullPayload(hub.forge, pull, { action }), label: { name: 'hold' } },
});
const play = (told: WorkflowEvent) => runWorkflow(hub.forge, told);

/** The end of the workflow that a review starts, of a pull request from a fork: GitHub names none. */
function reviewed({ head }: FakePull): WorkflowEvent {
  const payload = example('workflow_run', 'completed');
  Object.assign(payload['workflow_run'] as object, { head_sha: head, pull_requests: [] });
  return { event: 'workflow_run', payload };
}

test('33: a second pull request with the head of one that is not allowed does not make it green', async () => {
  hub.repository.commit(
    { [POLICY_PATH]: `${POLICY}enforce: off\n` },
    { parents: [hub.base()], branch: 'dev' },
  );
  const denied = hub.open(ADDED, { author: 'mallory' });
  await play(about(denied));
  const free: FakePull = { ...denied, number: denied.number + 1, into: 'dev', base: hub.tip('dev') };
  hub.forge.pulls.set(free.number, free);
  await play(about(free));
  expect(stateOf(denied)).toBe('pending');
});

test('33: the last job of an earlier run, run again, does not say what held then', async () => {
  const pull = hub.open(ADDED);
  const early = await play(about(pull));
  expect(stateOf(pull)).toBe('success');
  pull.labels.push('hold');
  await play(about(pull, 'labeled'));
  expect(stateOf(pull), 'held').toBe('pending');
  await rerunLastJob(hub.forge, about(pull), early);
  expect(stateOf(pull)).toBe('pending');
});

test('33: where reviews cannot be read, no older success stays', async () => {
  const pull = hub.open(ADDED, { author: 'mallory' });
  pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
  await play(about(pull));
  expect(stateOf(pull)).toBe('success');
  for (const review of pull.reviews) review.state = 'DISMISSED';
  hub.forge.faults.push(({ operation, body }) =>
    operation.endsWith('/reviews') || String(body?.query ?? '').includes('reviews(')
      ? { status: 500 }
      : undefined,
  );
  await play(reviewed(pull));
  expect(stateOf(pull)).toBe('pending');
});

test('33: where the owners change on the base branch, what was green is checked again', async () => {
  const pull = hub.open(ADDED);
  await play(about(pull));
  expect(stateOf(pull)).toBe('success');
  const before = hub.base();
  const after = hub.moveBase({ 'operators/etcd/ci.yaml': 'reviewers: [carol]\n' });
  const payload = Object.assign(example('push'), { ref: 'refs/heads/main', before, after, deleted: false });
  await play({ event: 'push', payload });
  expect(stateOf(pull)).toBe('pending');
});

test('33: an approval of a pull request from a fork has an effect', async () => {
  const pull = hub.open(ADDED, { author: 'mallory' });
  await play(about(pull));
  expect(stateOf(pull)).toBe('pending');
  pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
  await play(reviewed(pull));
  expect(stateOf(pull)).toBe('success');
});

test('33: a group of a merge queue that the token cannot read ends', async () => {
  const pull = hub.open(ADDED);
  const [head = ''] = hub.queue([pull]);
  hub.forge.readsQueues = false;
  const payload = example('merge_group', 'checks_requested');
  Object.assign(payload['merge_group'] as object, {
    ...{ head_sha: head, base_sha: hub.base(), base_ref: 'refs/heads/main' },
  });
  await play({ event: 'merge_group', payload });
  expect(hub.forge.statuses.findLast(({ sha }) => sha === head)?.state).toBe('failure');
});

test('33: a comment does not cancel the check of a new head that waits', () => {
  const pull = hub.open(ADDED);
  const comment = example('issue_comment', 'created');
  Object.assign(comment['issue'] as object, { number: pull.number, pull_request: { url: 'x' } });
  Object.assign(comment['comment'] as object, { body: 'thanks' });
  const waiting = waitsIn(about(pull, 'synchronize'), true);
  // The first job of a comment without a command is skipped, and all others with it.
  const [first] = Object.values(gateWorkflow().jobs);
  expect(first?.if).toContain("startsWith(github.event.comment.body, '/recheck')");
  expect(waiting).not.toEqual([]);
  for (const group of waitsIn({ event: 'issue_comment', payload: comment }, false))
    expect(waiting).not.toContain(group);
});
