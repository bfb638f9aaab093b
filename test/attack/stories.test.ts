/**
 * Stories from public issue threads: pushes, queues, forks and bots that come between a check and its status.
 */

import { beforeAll, expect, test } from 'vitest';
import type { GateForge } from '../../pipeline/forge/forge.ts';
import { gitHubForge } from '../../pipeline/github/forge.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { POLICY } from '../fakes/gate.ts';
import { unpaced } from '../fakes/github/client.ts';
import type { FakePull } from '../fakes/github/forge.ts';
import { pullPayload } from '../fakes/github/payload.ts';
import { buildProgram } from '../fakes/program.ts';
import type { Files } from '../fakes/repository.ts';
import { runStep } from '../fakes/step.ts';
import {
  AUTO,
  added,
  closeStories,
  grouped,
  last,
  open,
  openGreen,
  queueTwo,
  start,
} from '../fakes/stories.ts';
import { FIRST, HARMFUL, LAST, NAME, REPAIRED, SPLIT, type Story, WITHOUT_FIRST } from '../fakes/story.ts';

beforeAll(buildProgram);
closeStories();

const REVIEWS = /^GET .*\/reviews$/;

test('S01: a check that ends late says nothing of the head that was pushed meanwhile', async () => {
  const story = await start(AUTO);
  const pull = open(story);
  const first = pull.head;
  let later: Promise<unknown> | undefined;
  const { forge } = story.request;
  story.request = {
    ...story.request,
    forge: {
      ...forge,
      readReviewed: undefined,
      readReviews: async (...all: Parameters<GateForge['readReviews']>) => {
        if (!later) {
          story.request = { ...story.request, forge };
          story.hub.push(pull, HARMFUL);
          later = story.pull('synchronize', pull);
          await later;
        }
        return forge.readReviews(...all);
      },
    },
  };
  await story.pull('opened', pull);
  expect(story.states(first)[0]).toBe('pending');
  expect(story.states(pull.head)[0]).toBe('pending');
  expect(last(story, pull.head)).toBe('failure');
  expect(story.states(pull.head)).not.toContain('success');
  expect(story.comments(pull)).toEqual([expect.stringContaining(pull.head.slice(0, 7))]);
  expect(story.hub.forge.merges).toEqual([]);
});

test('S04: of two pull requests that are green alone, the second is red once the first is merged', async () => {
  const story = await start();
  const [one, two] = [open(story), open(story, FIRST)];
  for (const pull of [one, two]) {
    await story.pull('opened', pull);
    expect(last(story, pull.head)).toBe('success');
  }
  const before = story.hub.base();
  story.hub.moveBase(LAST, one.head);
  one.state = 'closed';
  expect(await added(story, two.head, () => story.pushed(before))).toEqual(['pending', 'failure']);
  expect(story.comments(one).length).toBeLessThanOrEqual(1);
  expect(story.comments(two)).toHaveLength(1);
});

test('S04: a base that moves after the success and before the merge keeps the gate from merging', async () => {
  const story = await start(AUTO);
  const pull = open(story, FIRST);
  let isMoved = false;
  story.hub.forge.faults.push(({ operation, body }) => {
    if (!operation.includes('/statuses/') || body?.state !== 'success' || isMoved) return undefined;
    isMoved = true;
    story.hub.moveBase(LAST);
    return undefined;
  });
  await story.pull('opened', pull);
  expect(isMoved).toBe(true);
  expect(story.hub.forge.merges).toEqual([]);
  expect(last(story, pull.head)).not.toBe('success');
});

test('S05: a pull request that is for another branch now is checked for that branch', async () => {
  const story = await start();
  const { hub } = story;
  hub.repository.git('branch', 'staging', hub.base());
  const pull = open(story, LAST, { into: 'staging' });
  await story.pull('opened', pull);
  expect(last(story, pull.head)).toBe('success');
  hub.moveBase(FIRST);
  pull.into = 'main';
  const changes = (from: string) => ({ changes: { base: { ref: { from }, sha: { from: pull.base } } } });
  expect(await added(story, pull.head, () => story.pull('edited', pull, changes('staging')))).toEqual([
    'pending',
    'failure',
  ]);
  expect(story.comments(pull)).toHaveLength(1);
  pull.into = 'staging';
  expect(await added(story, pull.head, () => story.pull('edited', pull, changes('main')))).toEqual([
    'pending',
    'success',
  ]);
});

test('S06: another title is no reason to check again', async () => {
  const story = await start();
  const pull = open(story);
  await story.pull('opened', pull);
  const comments = story.comments(pull);
  const edited = () => story.pull('edited', pull, { changes: { title: { from: 'a' }, body: { from: '' } } });
  expect(await added(story, pull.head, edited)).toEqual([]);
  expect(story.comments(pull)).toEqual(comments);
});

test('S07: a commit of two pull requests has the worse status, until one is closed', async () => {
  const story = await start();
  const { hub } = story;
  hub.repository.git('branch', 'release-4.19', hub.base());
  hub.moveBase(FIRST);
  const one = open(story);
  one.head = hub.repository.commit(LAST, { parents: [hub.tip('release-4.19')], branch: 'pull-one' });
  await story.pull('opened', one);
  expect(last(story, one.head)).toBe('failure');
  const two: FakePull = { ...one, number: one.number + 1, into: 'release-4.19', labels: [], reviews: [] };
  hub.forge.pulls.set(two.number, two);
  const more = await added(story, one.head, () => story.pull('opened', two));
  expect(more).not.toContain('success');
  expect(last(story, one.head)).toBe('failure');
  one.state = 'closed';
  await story.pull('closed', one);
  expect(last(story, one.head)).toBe('success');
  expect(story.comments(one)).toHaveLength(1);
  expect(story.comments(two).length).toBeLessThanOrEqual(1);
  one.state = 'open';
  expect(await added(story, one.head, () => story.pull('reopened', one))).toEqual(['pending', 'failure']);
});

test('S08: an older head that is pushed again is checked with the base of today', async () => {
  const story = await start(AUTO);
  const { hub } = story;
  const pull = open(story);
  const first = pull.head;
  await story.pull('opened', pull);
  expect(story.states(first)).toContain('success');
  hub.push(pull, HARMFUL);
  await story.pull('synchronize', pull);
  expect(last(story, pull.head)).toBe('failure');
  hub.moveBase(FIRST);
  pull.head = first;
  const states = await added(story, first, () => story.pull('synchronize', pull));
  expect(states[0]).toBe('pending');
  expect(states).not.toContain('success');
  expect(hub.forge.merges).toEqual([]);
  hub.moveBase(WITHOUT_FIRST);
  expect(await added(story, first, () => story.pull('synchronize', pull))).toEqual(['pending', 'success']);
  expect(story.comments(pull)).toEqual([expect.stringContaining(first.slice(0, 7))]);
});

test('S11: a merge queue has the status on its own commit, and the gate does not merge around it', async () => {
  const story = await start(AUTO);
  const { hub } = story;
  hub.forge.rules.push('merge_queue');
  const pull = open(story);
  await story.pull('opened', pull);
  expect(story.mergeCalls()).toEqual([]);
  const [states, comments] = [story.states(pull.head), story.comments(pull)];
  const [queued = ''] = hub.queue([pull]);
  await grouped(story, queued, hub.base());
  expect(story.states(queued)).toEqual(['pending', 'success']);
  expect([story.states(pull.head), story.comments(pull)]).toEqual([states, comments]);
  expect(story.mergeCalls()).toEqual([]);
});

test('S12: of two groups, the second is checked on top of the first', async () => {
  const story = await start();
  const { hub } = story;
  const {
    pulls: [one, two],
    first,
    second,
  } = await queueTwo(story);
  expect([last(story, first), last(story, second)]).toEqual(['success', 'failure']);
  const destroyed = () => grouped(story, second, first, 'destroyed');
  expect(await added(story, second, destroyed)).toEqual([]);
  const before = hub.base();
  hub.moveBase(LAST, one.head);
  one.state = 'closed';
  hub.forge.queue.length = 0;
  expect(await added(story, two.head, () => story.pushed(before))).toEqual(['pending', 'failure']);
  expect(story.comments(two)).toHaveLength(1);
});

test('S13: a group is checked even if its pull request is green', async () => {
  const story = await start();
  const { hub } = story;
  const pull = await openGreen(story);
  hub.moveBase(FIRST);
  const [queued = ''] = hub.queue([pull]);
  await grouped(story, queued, hub.base());
  expect(story.states(queued)).toEqual(['pending', 'failure']);
});

test('S14: a run that may write no status leaves none, and fails with a hint', async () => {
  const story = await start();
  const { hub } = story;
  const pull = open(story, LAST, { author: 'mallory' });
  hub.forge.faults.push(({ operation }) =>
    /^(?:POST|PATCH|PUT|DELETE) /.test(operation) && !operation.endsWith('/graphql')
      ? { status: 403, data: { message: 'Resource not accessible by integration' } }
      : undefined,
  );
  const payload = pullPayload(hub.forge, pull, { action: 'opened' });
  const { status, log } = await runStep({ event: 'pull_request', payload, forge: hub.forge });
  expect(status).not.toBe(0);
  expect(log).toContain('pull_request_target');
  expect([hub.forge.statuses, hub.forge.checkRuns, story.comments(pull)]).toEqual([[], [], []]);
});

test('S14: a run that may write one goes by the base alone, and runs nothing of the fork', async () => {
  const story = await start();
  const { hub } = story;
  const mine = { [POLICY_PATH]: POLICY.replace("['alice#1', amy]", '[mallory]') };
  const pull = open(story, { ...LAST, ...mine }, { author: 'mallory' });
  const payload = pullPayload(hub.forge, pull, { action: 'opened' });
  await runStep({ event: 'pull_request_target', payload, forge: hub.forge });
  expect(story.states(pull.head)[0]).toBe('pending');
  expect(story.states(pull.head)).not.toContain('success');
  expect(story.comments(pull).length).toBeLessThanOrEqual(1);
});

test('S15: a pull request that changes the policy is checked by the policy of the base', async () => {
  const story = await start(AUTO);
  const { hub } = story;
  const mine = {
    [POLICY_PATH]: `${POLICY.replace("['alice#1', amy]", '[mallory]')}${AUTO}rules: {'*': off}\n`,
    'catalogs/v4.20/etcd/channel.yaml': null,
  };
  const pull = open(story, mine, { author: 'mallory' });
  await story.pull('opened', pull);
  expect(last(story, pull.head)).toBe('failure');
  await story.deliver('issue_comment', {
    action: 'created',
    issue: { number: pull.number, pull_request: { url: 'x' } },
    comment: { body: '/override', user: { login: 'mallory', id: 66 } },
  });
  expect(last(story, pull.head)).toBe('failure');
  expect(story.comments(pull)).toHaveLength(1);
  expect(hub.forge.merges).toEqual([]);
});

test('S16: a status that somebody else set is set again, and merges nothing', async () => {
  const story = await start(AUTO);
  const { hub } = story;
  const pull = open(story, HARMFUL);
  await story.pull('opened', pull);
  expect(last(story, pull.head)).toBe('failure');
  const forged = { sha: pull.head, context: 'portolan', state: 'success', description: 'all good' };
  hub.forge.statuses.push(forged);
  const count = hub.forge.statuses.length;
  await story.deliver('status', {
    ...{ sha: pull.head, context: 'portolan', state: 'success' },
    sender: { login: 'carol', id: 12 },
  });
  expect(last(story, pull.head)).toBe('failure');
  expect(hub.forge.statuses.length - count).toBeLessThanOrEqual(2);
  expect(hub.forge.merges).toEqual([]);
  expect(story.comments(pull).length).toBeLessThanOrEqual(1);
});

test('S17: events that change nothing use up no statuses', async () => {
  const story = await start();
  const pull = open(story);
  await story.pull('opened', pull);
  const states = await added(story, pull.head, async () => {
    for (let i = 0; i < 10; i++) await story.pull('labeled', pull, { label: { name: `area/${i}` } });
  });
  expect(states.length).toBeLessThanOrEqual(2);
  expect(last(story, pull.head)).toBe('success');
});

test('S17: where GitHub takes no more statuses, nothing is merged, and the comment says so', async () => {
  const story = await start(AUTO);
  const { hub } = story;
  const pull = open(story, LAST, { labels: ['hold'] });
  await story.pull('opened', pull);
  pull.labels = [];
  hub.forge.faults.push(({ operation, path }) =>
    operation.startsWith('POST ') && operation.endsWith('/statuses/{sha}') && path['sha'] === pull.head
      ? {
          status: 422,
          data: { message: 'This SHA and context has reached the maximum number of statuses.' },
        }
      : undefined,
  );
  hub.moveBase(FIRST);
  await story.pull('unlabeled', pull);
  expect(hub.forge.merges).toEqual([]);
  expect(story.comments(pull)).toEqual([expect.stringContaining('maximum number of statuses')]);
  const other = open(story, { 'docs/a.md': 'x' }, { author: 'alice' });
  await story.pull('opened', other);
  expect(story.states(other.head)).toContain('success');
});

test('S18: a long reason fits into the status, and is whole in the comment', async () => {
  const story = await start();
  const name = `etcd.v1.2.0-${'🚢é'.repeat(150)}`;
  const channel = Object.entries(LAST).find(([path]) => path.endsWith('channel.yaml'))?.[1];
  const text = String(channel).replace('- name: etcd.v1.2.0', `- name: ${name}`);
  const pull = open(story, { 'catalogs/v4.20/etcd/channel.yaml': text });
  await story.pull('opened', pull);
  expect(last(story, pull.head)).toBe('failure');
  const { description } = story.hub.forge.statuses.at(-1);
  expect([...description].length).toBeLessThanOrEqual(140);
  expect(description.isWellFormed()).toBe(true);
  expect(story.comments(pull)).toEqual([expect.stringContaining(name)]);
});

/** The status of a result is refused as with a token that has expired. */
function expire({ hub }: Story, commit: string, times: number): void {
  let left = times;
  hub.forge.faults.push(({ operation, path, body }) => {
    const isResult = operation.endsWith('/statuses/{sha}') && body?.state === 'success';
    if (!isResult || path['sha'] !== commit || left-- <= 0) return undefined;
    return { status: 401, data: { message: 'Bad credentials' } };
  });
}

test('S19: a token that expires between check and status is replaced', async () => {
  const story = await start();
  const pull = open(story);
  expire(story, pull.head, 1);
  await story.pull('opened', pull);
  expect(last(story, pull.head)).toBe('success');
  expect(story.failed).toEqual([]);
});

test('S19: where that does not help, the status stays pending, and others are checked', async () => {
  const story = await start(AUTO);
  const pull = open(story);
  expire(story, pull.head, 100);
  await story.pull('opened', pull);
  expect(last(story, pull.head)).toBe('pending');
  expect(story.failed).toHaveLength(1);
  expect(story.hub.forge.merges).toEqual([]);
  const other = open(story, FIRST);
  await story.pull('opened', other);
  expect(story.states(other.head)).toContain('success');
  expect(story.comments(pull).length).toBeLessThanOrEqual(1);
});

test('S20: after a crash behind the comment there is still one comment', async () => {
  const story = await start();
  const pull = open(story, HARMFUL);
  const { forge } = story.request;
  let isDead = false;
  const mortal = new Proxy(forge, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...all: unknown[]) => {
        if (isDead) throw new Error('the process is gone');
        const result = await Reflect.apply(value, target, all);
        if (name === 'postComment') isDead = true;
        return result;
      };
    },
  });
  story.request = { ...story.request, forge: mortal };
  await story.pull('opened', pull);
  expect(isDead).toBe(true);
  expect(story.comments(pull)).toHaveLength(1);
  story.request = { ...story.request, forge };
  await story.pull('opened', pull);
  expect(story.comments(pull)).toHaveLength(1);
  expect(last(story, pull.head)).toBe('failure');
});

test('S21: two runs that write the comment at once leave one', async () => {
  const story = await start();
  const { hub } = story;
  const pull = open(story, HARMFUL);
  const github = unpaced(hub.forge);
  let arrived = 0;
  let both = (): void => undefined;
  const met = new Promise<void>((done) => {
    both = done;
  });
  github.hook.before('request', async ({ method, url }) => {
    if (method !== 'POST' || !url.endsWith('/comments')) return;
    if (++arrived >= 2) both();
    await Promise.race([met, new Promise((done) => setTimeout(done, 2000))]);
  });
  story.request = { ...story.request, forge: gitHubForge({ github, repository: NAME }) };
  await Promise.all([story.pull('opened', pull), story.pull('labeled', pull)]);
  const [own = ''] = story.comments(pull);
  hub.forge.comments.get(pull.number)?.push({ id: 7777, by: 'mallory', body: `> ${own}\n${own}` });
  await story.pull('synchronize', pull);
  expect(story.comments(pull)).toHaveLength(1);
  expect(hub.forge.comments.get(pull.number)?.at(-1)).toMatchObject({ id: 7777, body: `> ${own}\n${own}` });
  expect(last(story, pull.head)).toBe('failure');
});

test('S22: a push of which no event came is not merged, and any other event finds it', async () => {
  const story = await start(AUTO);
  const { hub } = story;
  const pull = open(story, LAST, { labels: ['hold'] });
  await story.pull('opened', pull);
  hub.push(pull, HARMFUL);
  pull.labels = [];
  expect(story.states(pull.head)).toEqual([]);
  await story.deliver('membership', { action: 'added', organization: { login: 'example' } });
  expect(story.states(pull.head)).toEqual(['pending', 'failure']);
  expect(hub.forge.merges).toEqual([]);
  expect(story.comments(pull)).toEqual([expect.stringContaining(pull.head.slice(0, 7))]);
});

test('S23: events out of order leave the newest head current', async () => {
  const story = await start(AUTO);
  const { hub } = story;
  const pull = open(story, LAST, { labels: ['hold'] });
  await story.pull('opened', pull);
  hub.push(pull, REPAIRED);
  const second = { ...pull };
  hub.push(pull, HARMFUL);
  pull.labels = [];
  await story.pull('synchronize', pull);
  await story.pull('synchronize', second);
  expect(story.states(pull.head)[0]).toBe('pending');
  expect(last(story, pull.head)).toBe('failure');
  expect(story.comments(pull)).toEqual([expect.stringContaining(pull.head.slice(0, 7))]);
  expect(hub.forge.merges).toEqual([]);
});

test('S24: an event that is delivered again, and statuses of others, have nothing checked', async () => {
  const story = await start();
  const { hub } = story;
  const pull = open(story);
  const sent = await story.pull('synchronize', pull);
  for (let i = 0; i < 2; i++) await story.deliver('pull_request', {}, sent);
  for (let i = 0; i < 20; i++) {
    const status = { sha: pull.head, context: `ci/${i}`, state: 'success' };
    await story.deliver('status', { ...status, sender: { login: 'carol', id: 12 } });
  }
  expect(hub.forge.statuses.map(({ state }) => state)).toEqual(['pending', 'success']);
  expect(story.comments(pull).length).toBeLessThanOrEqual(1);
});

test('S25: what no longer is to be merged by itself is not merged', async () => {
  const story = await start(AUTO);
  const { hub } = story;
  const pull = open(story);
  // The policy is what opts in here.
  story.before(REVIEWS, () => void hub.moveBase({ [POLICY_PATH]: POLICY }));
  await story.pull('opened', pull);
  expect(last(story, pull.head)).toBe('success');
  expect(story.mergeCalls()).toEqual([]);
  expect(story.comments(pull).join()).not.toMatch(/merging|trying to merge/);
});

test('S27: an approval is for the head that it saw', async () => {
  const story = await start();
  const { hub } = story;
  const pull = open(story, LAST, { author: 'mallory' });
  await story.pull('opened', pull);
  expect(story.states(pull.head)).not.toContain('success');
  const review = async (by: string, state: string): Promise<void> => {
    pull.reviews.push({ by, state, commit: pull.head });
    const number = { pull_request: { number: pull.number, updated_at: '2026-01-10T00:00:00Z' } };
    await story.deliver('pull_request_review', { action: 'submitted', ...number, review: { state } });
  };
  await review('bob', 'APPROVED');
  expect(last(story, pull.head)).toBe('success');
  hub.push(pull, { 'catalogs/v4.20/etcd/1.0.0.json': null, ...SPLIT_WITHOUT_OLDEST });
  await story.pull('synchronize', pull);
  expect(story.states(pull.head)[0]).toBe('pending');
  expect(story.states(pull.head)).not.toContain('success');
  hub.push(pull, {
    ...LAST,
    'catalogs/v4.20/etcd/1.0.0.json': SPLIT['catalogs/v4.20/etcd/1.0.0.json'] ?? null,
    'docs/x.md': 'x',
  });
  pull.reviews.push({ by: 'alice', state: 'APPROVED', commit: pull.head });
  await review('bob', 'APPROVED');
  expect(last(story, pull.head)).toBe('success');
  for (const one of pull.reviews) one.state = 'DISMISSED';
  const number = { pull_request: { number: pull.number, updated_at: '2026-01-10T00:00:00Z' } };
  await story.deliver('pull_request_review', { action: 'dismissed', ...number });
  expect(last(story, pull.head)).not.toBe('success');
  expect(story.comments(pull)).toHaveLength(1);
});

const SPLIT_WITHOUT_OLDEST: Files = {
  'catalogs/v4.20/etcd/channel.yaml':
    'schema: olm.channel\npackage: etcd\nname: stable\nentries:\n- name: etcd.v1.1.0\n- name: etcd.v1.2.0\n  replaces: etcd.v1.1.0\n',
};

test('S28: the first status is pending, and success comes once', async () => {
  const story = await start();
  const { hub } = story;
  const pull = open(story, HARMFUL, { author: 'bob' });
  let fetched: number | undefined;
  story.before(/^POST .*\/statuses\//, () => {
    fetched = hub.forge.git.requests;
  });
  await story.pull('opened', pull);
  expect(fetched, 'fetches before the first status').toBe(0);
  expect(story.states(pull.head)).toEqual(['pending', 'failure']);
  expect(story.comments(pull)).toHaveLength(1);
  hub.push(pull, REPAIRED);
  await story.pull('synchronize', pull);
  expect(story.states(pull.head)).toEqual(['pending', 'success']);
});

test('S29: drafts, closed and reopened pull requests are checked when they count again', async () => {
  const story = await start(AUTO);
  const { hub } = story;
  const pull = open(story, LAST, { draft: true });
  await story.pull('opened', pull);
  expect(story.states(pull.head)[0]).toBe('pending');
  expect(story.mergeCalls()).toEqual([]);
  expect(story.comments(pull).join()).not.toContain('405');
  hub.moveBase(FIRST);
  pull.draft = false;
  expect(await added(story, pull.head, () => story.pull('ready_for_review', pull))).toEqual([
    'pending',
    'failure',
  ]);
  expect(hub.forge.merges).toEqual([]);
  pull.state = 'closed';
  const before = hub.base();
  const closed = async (): Promise<void> => {
    await story.pull('closed', pull);
    hub.moveBase(WITHOUT_FIRST);
    await story.pushed(before);
  };
  expect(await added(story, pull.head, closed)).toEqual([]);
  pull.state = 'open';
  expect((await added(story, pull.head, () => story.pull('reopened', pull))).slice(0, 2)).toEqual([
    'pending',
    'success',
  ]);
  expect(story.comments(pull)).toHaveLength(1);
});
