/** Requests to GitHub's API for each event of a pull request: all jobs of the workflow, by the Action as a runner starts it. */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { catalogOf, POLICY } from '../fakes/gate.ts';
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
const modes = (process.env['MODES'] ?? 'start check report').split(' ');
const etcd = (...more: string[]) => ({
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', ...more]),
});

/** Runs all jobs. @returns how many requests they made */
async function count(what: string, event: string, payload: unknown): Promise<number> {
  const before = hub.forge.asked.length;
  const outputs: Record<string, string> = {};
  for (const mode of modes) {
    if (mode === 'report' && outputs['judged'] !== 'true') continue;
    const given = Object.entries(outputs).filter(([name]) => name === 'result' || name === 'started');
    const inputs = { mode, ...Object.fromEntries(given) };
    const step = await runStep({ event, payload, forge: hub.forge, inputs });
    Object.assign(outputs, step.outputs);
    if (step.status !== 0) console.log(step.log);
  }
  const asked = hub.forge.asked
    .slice(before)
    .map(({ operation }) => operation.replace('/repos/{owner}/{repo}', ''));
  console.log(
    `${asked.length}\t${what}${process.env['LIST'] ? asked.map((one) => `\n\t  ${one}`).join('') : ''}`,
  );
  return asked.length;
}

test('counts', { timeout: 200_000 }, async () => {
  hub.moveBase({ '.github/portolan.yaml': POLICY });
  const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
  const own = hub.open(etcd('1.3.0'), { author: 'bob' });
  await count('first push by a stranger', 'pull_request_target', pullPayload(hub.forge, pull));
  hub.push(pull, etcd('1.2.0', '1.4.0'));
  await count(
    'another push by a stranger, same verdict',
    'pull_request_target',
    pullPayload(hub.forge, pull),
  );
  await count('first push by the owner', 'pull_request_target', pullPayload(hub.forge, own));
  hub.push(own, etcd('1.3.0', '1.4.0'));
  await count('another push by the owner, same verdict', 'pull_request_target', pullPayload(hub.forge, own));
  pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
  const poke = example('workflow_run', 'completed');
  Object.assign(poke['workflow_run'] as object, { head_sha: pull.head, pull_requests: [] });
  await count('approval', 'workflow_run', poke);
  for (const body of ['/recheck', '/who', 'thanks']) {
    const payload = example('issue_comment', 'created');
    Object.assign(payload['issue'] as object, { number: pull.number, pull_request: { url: 'x' } });
    Object.assign(payload['comment'] as object, { body });
    await count(`comment ${body}`, 'issue_comment', { ...payload, action: 'created' });
  }
});
