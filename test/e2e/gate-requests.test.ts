/** Requests to GitHub's API for each event of a pull request: all jobs of the workflow, by the Action as a runner starts it. */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { catalogOf } from '../fakes/gate.ts';
import type { FakePull } from '../fakes/github/forge.ts';
import { example, pullPayload } from '../fakes/github/payload.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { buildProgram } from '../fakes/program.ts';
import { runStep } from '../fakes/step.ts';

beforeAll(buildProgram);
let hub: Hub;
beforeEach(async () => {
  hub = await openHub();
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});
const MODES = ['start', 'check', 'report'];
const etcd = (...more: string[]) => ({
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', ...more]),
});

/** Runs all jobs. @returns how many requests they made */
async function count(what: string, event: string, payload: unknown): Promise<number> {
  const before = hub.forge.asked.length;
  const outputs: Record<string, string> = {};
  for (const mode of MODES) {
    if (outputs['started'] === '[]') continue;
    const given = Object.entries(outputs).filter(([name]) => name === 'result' || name === 'started');
    const inputs = { mode, ...Object.fromEntries(given) };
    const step = await runStep({ event, payload, forge: hub.forge, inputs });
    Object.assign(outputs, step.outputs);
    if (step.status !== 0) console.log(step.log);
  }
  // GitHub does not count what has not changed since it was read.
  const asked = hub.forge.asked.slice(before).filter(({ isUnchanged }) => !isUnchanged);
  const questions = asked.filter(({ operation }) => operation === 'POST /graphql').length;
  console.log(`${asked.length} requests, ${questions} of them in GraphQL: ${what}`);
  return asked.length;
}

/**
 * GITHUB_TOKEN has 1,000 requests an hour, and beside that 1,000 points an hour for questions in GraphQL, which count here,
 * too. Raise no number without a reason.
 */
test('each event makes few requests', { timeout: 300_000 }, async () => {
  const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
  const own = hub.open(etcd('1.3.0'), { author: 'bob' });
  const pushed = (what: string, one: FakePull) =>
    count(what, 'pull_request_target', pullPayload(hub.forge, one));
  expect(await pushed('first push by a stranger', pull)).toBeLessThanOrEqual(10);
  hub.push(own, etcd('1.3.0', '1.4.0'));
  expect(await pushed('push by the owner', own)).toBeLessThanOrEqual(10);
  hub.push(own, etcd('1.3.0', '1.4.0'));
  expect(await pushed('push that changes nothing', own)).toBeLessThanOrEqual(10);
  pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
  const poke = example('workflow_run', 'completed');
  Object.assign(poke['workflow_run'] as object, { head_sha: pull.head, pull_requests: [] });
  expect(await count('approval', 'workflow_run', poke)).toBeLessThanOrEqual(13);
  expect(hub.forge.statuses.at(-1)).toMatchObject({ sha: pull.head, state: 'success' });
  const say = (body: string): Promise<number> => {
    const payload = example('issue_comment', 'created');
    Object.assign(payload['issue'] as object, { number: pull.number, pull_request: { url: 'x' } });
    Object.assign(payload['comment'] as object, { body });
    return count(`comment ${body}`, 'issue_comment', { ...payload, action: 'created' });
  };
  expect(await say('thanks')).toBe(0);
  // Two of them ask whether it was asked too often.
  expect(await say('/recheck')).toBeLessThanOrEqual(14);
  const asked = Array.from({ length: 7 }, (_, i) => ({ id: 2000 + i, by: 'mallory', body: '/who' }));
  hub.forge.comments.get(pull.number)?.push(...asked);
  expect(await say('/who'), 'beyond the budget of an hour').toBe(1);
  const before = hub.base();
  const after = hub.moveBase({ 'README.md': 'no result depends on it' });
  const push = Object.assign(example('push'), { ref: 'refs/heads/main', before, after, deleted: false });
  expect(await count('push to the base that concerns nothing', 'push', push)).toBeLessThanOrEqual(2);
});

test('2: the report of an earlier attempt is rejected, and a check without a result leaves the reason', async () => {
  const pull = hub.open(etcd('1.2.0'));
  const payload = pullPayload(hub.forge, pull);
  const step = (mode: string, inputs: Record<string, string>, attempt = '1') =>
    runStep({
      event: 'pull_request_target',
      payload,
      forge: hub.forge,
      inputs: { mode, ...inputs },
      environment: { GITHUB_RUN_ATTEMPT: attempt },
    });
  const { outputs } = await step('start', {});
  const started = outputs['started'] ?? '';
  const { result = '' } = (await step('check', { started })).outputs;
  const late = await step('report', { started, result }, '2');
  expect([late.status, late.log]).toEqual([1, expect.stringContaining('the result is from attempt 1')]);
  expect(hub.forge.statuses.map(({ state }) => state)).toEqual(['pending', 'pending']);
  await step('report', { started });
  expect(hub.forge.statuses.at(-1)).toMatchObject({
    state: 'pending',
    description: expect.stringContaining('the check ended without a result'),
  });
  expect((await step('report', { started, result })).status).toBe(0);
  expect(hub.forge.statuses.at(-1)).toMatchObject({ state: 'success' });
  // Once another run has said a result, one that ends early says nothing.
  await step('report', { started });
  expect(hub.forge.statuses.at(-1)).toMatchObject({ state: 'success' });
});
