/** What is merged is the head that was checked, onto the tip that it was checked with, by the queue where there is one. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { mergeChecked } from '../../../pipeline/github/merge.ts';
import type { MergePolicy } from '../../../pipeline/policy/policy.ts';
import { unpaced } from '../../fakes/github/client.ts';
import type { FakePull } from '../../fakes/github/forge.ts';
import { type Hub, openHub } from '../../fakes/hub.ts';

const QUEUE_IF_ENABLED: MergePolicy = { mode: 'auto', method: 'squash', via: 'queue-if-enabled' };

let hub: Hub;
beforeAll(async () => {
  hub = await openHub();
});
afterEach(() => {
  Object.assign(hub.forge, { rules: [], faults: [] });
  hub.forge.merges.length = 0;
  hub.forge.enqueued.length = 0;
  expect(hub.forge.defects).toEqual([]);
});
afterAll(() => hub.close());

const merge = ({ number, head, base }: FakePull, how: Partial<MergePolicy> = {}) =>
  mergeChecked(
    unpaced(hub.forge),
    { owner: 'example', repo: 'catalogs' },
    { number, head, base, branch: 'main', merge: { ...QUEUE_IF_ENABLED, ...how } },
  );

test('33: a head with other commits since the check has moved; the head that was checked is merged', async () => {
  const pull = hub.open({ a: '1' });
  const checked = { ...pull };
  hub.push(pull, { a: '2' });
  expect(await merge(checked)).toMatchObject({ kind: 'moved' });
  expect(hub.forge.merges).toEqual([]);
  expect(await merge(pull)).toMatchObject({ kind: 'merged' });
  expect(hub.forge.merges).toEqual([{ number: pull.number, sha: pull.head, method: 'squash' }]);
});

test('8: a branch with new commits since the check has moved', async () => {
  const pull = hub.open({ a: '1' });
  hub.moveBase({ b: '1' });
  expect(await merge(pull)).toEqual({
    kind: 'moved',
    why: 'the branch main has new commits since the check',
  });
  expect(hub.forge.merges).toEqual([]);
});

test.each([
  [405, 'Base branch was modified. Review and try the merge again.', 'moved'],
  [405, 'Required status check is expected.', 'refused'],
  [403, 'Resource not accessible by integration', 'refused'],
  [422, 'Validation failed', 'refused'],
])('GitHub refuses with %i %s: %s', async (status, message, kind) => {
  const pull = hub.open({ a: '1' });
  hub.forge.faults = [
    ({ operation }) => (operation.startsWith('PUT') ? { status, data: { message } } : undefined),
  ];
  expect(await merge(pull)).toEqual({ kind, why: expect.stringContaining(message) });
});

test('GitHub is out of order: nothing is said of the pull request', async () => {
  const pull = hub.open({ a: '1' });
  hub.forge.faults = [({ operation }) => (operation.startsWith('PUT') ? { status: 500 } : undefined)];
  await expect(merge(pull)).rejects.toThrow();
});

test.each([
  ['direct', ['merge_queue'], 'merged'],
  ['queue-if-enabled', ['merge_queue'], 'queued'],
  ['queue-if-enabled', ['deletion'], 'merged'],
  ['queue', [], 'queued'],
] as const)('%s, where the branch has the rules %j: %s', async (via, rules, kind) => {
  hub.forge.rules = [...rules];
  const pull = hub.open({ a: '1' });
  expect(await merge(pull, { via })).toMatchObject({ kind });
  const isQueued = kind === 'queued';
  expect(hub.forge.enqueued).toEqual(isQueued ? [{ number: pull.number, head: pull.head }] : []);
  expect(hub.forge.merges).toHaveLength(isQueued ? 0 : 1);
});

test('33: a queue does not take another head than the one that was checked', async () => {
  hub.forge.rules = ['merge_queue'];
  const pull = hub.open({ a: '1' });
  const checked = { ...pull };
  hub.push(pull, { a: '2' });
  expect(await merge(checked)).toMatchObject({ kind: 'refused' });
  expect(hub.forge.enqueued).toEqual([]);
});

test('61: commits are replayed on top of the branch only, in a line', async () => {
  const behind = hub.open({ a: '1' });
  hub.moveBase({ b: '2' });
  const how = { method: 'rebase', via: 'direct' } as const;
  expect(await merge({ ...behind, base: hub.base() }, how)).toEqual({
    kind: 'refused',
    why: expect.stringMatching(
      /^rebase the pull request onto main, with at most 100 commits and no merges: /,
    ),
  });
  expect(await merge(hub.open({ a: '1' }), how)).toMatchObject({ kind: 'merged' });
});
