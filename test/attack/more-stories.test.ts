/** More stories from public issue threads: queues, forks, owners, and events that come twice, late or never. */
import { expect, test } from 'vitest';
import type { FakePull } from '../fakes/github/forge.ts';
import type { Answer } from '../fakes/github/server.ts';
import { pullData } from '../fakes/github/writing.ts';
import {
  added,
  closeStories,
  DIRECT,
  grouped,
  last,
  NEXT,
  OWNERS,
  open,
  openGreen,
  queueTwo,
  review,
  reviewed,
  start,
  tolerate,
} from '../fakes/stories.ts';
import { FIRST, HARMFUL, LAST, REPAIRED, type Story } from '../fakes/story.ts';

closeStories();

// istio/api#976, Mergifyio/mergify#448
test('N10: what was put into the merge queue without an approval of an owner fails to pass in the queue, too', async () => {
  const story = await start();
  const { hub } = story;
  const pull = open(story, LAST, { author: 'mallory' });
  await story.pull('opened', pull);
  await review(story, pull, 'carol', 'APPROVED');
  expect(story.states(pull.head)).not.toContain('success');
  const [queued = ''] = hub.queue([pull]);
  await grouped(story, queued, hub.base());
  expect(story.states(queued)[0]).toBe('pending');
  expect(story.states(queued)).not.toContain('success');
  await grouped(story, queued, hub.base(), 'destroyed');
  hub.forge.queue.length = 0;
  await review(story, pull, 'bob', 'APPROVED');
  expect(last(story, pull.head)).toBe('success');
  hub.moveBase({ 'docs/y.md': 'y' });
  const [again = ''] = hub.queue([pull]);
  await grouped(story, again, hub.base());
  expect(story.states(again)).toEqual(['pending', 'success']);
  expect(story.states(queued)).not.toContain('success');
  expect(story.mergeCalls()).toEqual([]);
});

// ExpediaGroup/github-helpers#321, aranya-project/aranya-core#363
test('N11: when the first leaves the queue, the group of the second that is made anew is checked for itself', async () => {
  const story = await start();
  const { hub } = story;
  const {
    pulls: [one, two],
    first,
    second,
  } = await queueTwo(story);
  expect(last(story, second)).toBe('failure');
  hub.forge.queue.length = 0;
  for (const [head, base] of [
    [first, hub.base()],
    [second, first],
  ] as const)
    await grouped(story, head, base, 'destroyed');
  const [anew = '', behind = ''] = hub.queue([two, one]);
  await grouped(story, anew, hub.base());
  expect(story.states(anew)).toEqual(['pending', 'success']);
  await grouped(story, behind, anew);
  expect(story.states(behind)).toEqual(['pending', 'failure']);
  expect(last(story, second)).toBe('failure');
  for (const pull of [one, two]) expect(last(story, pull.head)).toBe('success');
  expect(story.mergeCalls()).toEqual([]);
});

// amd/gaia#685, root-project/root#20747, cirrus-actions/rebase#77
test('N15: a branch of a fork that is called main is not main', async () => {
  const story = await start();
  const { hub } = story;
  const pull = open(story, HARMFUL, { branch: 'main' });
  await story.pull('opened', pull);
  expect(story.states(pull.head)).toEqual(['pending', 'failure']);
  const before = hub.base();
  hub.moveBase({ 'docs/y.md': 'y' });
  await story.pushed(before);
  expect(last(story, pull.head)).toBe('failure');
  hub.push(pull, REPAIRED);
  await story.pull('synchronize', pull);
  expect(last(story, pull.head)).toBe('success');
  expect(story.states(hub.base())).toEqual([]);
  expect(story.comments(pull)).toEqual([expect.stringContaining(pull.head.slice(0, 7))]);
});

/** GitHub no longer knows the repository of the head. */
function loseFork({ hub: { forge } }: Story): void {
  tolerate(/\/head\/repo/);
  const account = (login: string | null | undefined): unknown =>
    forge.accounts.find((one) => one.login === login) ?? null;
  const orphan = (pull: FakePull): unknown => {
    const data = pullData(pull, account, forge) as { head: object };
    return { ...data, head: { ...data.head, repo: null } };
  };
  forge.faults.push(({ operation, path, query }): Answer | undefined => {
    if (operation === 'GET /repos/{owner}/{repo}/pulls/{pull_number}') {
      const pull = forge.pulls.get(Number(path['pull_number']));
      return pull && { data: orphan(pull) };
    }
    if (operation !== 'GET /repos/{owner}/{repo}/pulls') return undefined;
    const listed = [...forge.pulls.values()].filter(
      ({ state, into = 'main' }) =>
        query['head'] === undefined &&
        state === (query['state'] ?? 'open') &&
        into === (query['base'] ?? into),
    );
    return { data: listed.map(orphan) };
  });
}

// Mergifyio/mergify#2829 and #4437, desktop/desktop#3022, iterwheel/voyager#267
test('N16: a pull request whose fork was deleted is still checked, and nothing crashes', async () => {
  const story = await start();
  const { hub } = story;
  const harmful = open(story, HARMFUL);
  await story.pull('opened', harmful);
  loseFork(story);
  const fine = open(story, LAST);
  await story.pull('opened', fine);
  expect(['pending', 'success']).toContain(last(story, fine.head));
  expect(story.states(fine.head)).not.toContain('failure');
  const before = hub.base();
  hub.moveBase({ 'docs/y.md': 'y' });
  await story.pushed(before);
  expect(last(story, harmful.head)).toBe('failure');
  expect(story.comments(harmful)).toHaveLength(1);
  const late = open(story, HARMFUL);
  await story.pull('opened', late);
  expect(story.states(late.head)[0]).toBe('pending');
  expect(last(story, late.head)).toBe('failure');
  expect(story.failed).toEqual([]);
});

// CodSpeedHQ/action#62
test('N17: two forks with branches of one name are not taken for each other', async () => {
  const story = await start();
  const foreign = open(story, LAST, { author: 'mallory', branch: 'etcd-update' });
  const own = open(story, FIRST, { branch: 'etcd-update' });
  for (const pull of [own, foreign]) await story.pull('opened', pull);
  for (const pull of [foreign, own]) await story.pull('labeled', pull);
  expect(last(story, own.head)).toBe('success');
  expect(story.states(foreign.head)[0]).toBe('pending');
  expect(story.states(foreign.head)).not.toContain('success');
  expect(story.comments(own).length).toBeLessThanOrEqual(1);
  expect(story.comments(foreign).length).toBeLessThanOrEqual(1);
  foreign.state = 'closed';
  await story.pull('closed', foreign);
  expect(last(story, own.head)).toBe('success');
});

// palantir/policy-bot#583, #1263
test('N18: what a stranger pushes to an owner’s pull request is not the owner’s', async () => {
  const story = await start(DIRECT);
  const { hub } = story;
  const pull = open(story, LAST, { labels: ['hold'] });
  const first = pull.head;
  await story.pull('opened', pull);
  hub.push(pull, NEXT);
  [pull.pusher, pull.labels] = ['mallory', []];
  pull.commits = [
    { sha: first, author: 'bob' },
    { sha: pull.head, author: 'mallory' },
  ];
  await story.pull('synchronize', pull);
  expect(story.states(pull.head)[0]).toBe('pending');
  expect(story.states(pull.head)).not.toContain('success');
  expect(hub.forge.merges).toEqual([]);
  await review(story, pull, 'alice', 'APPROVED');
  expect(last(story, pull.head)).toBe('success');
  expect(story.comments(pull).length).toBeLessThanOrEqual(1);
});

// multimediallc/codeowners-plus#74
test('N19: owners are those of the base, whoever a pull request makes owners of itself', async () => {
  const story = await start(DIRECT);
  const { hub } = story;
  const mine = { [OWNERS]: 'reviewers:\n- mallory\n- dan\n' };
  const pull = open(story, { ...LAST, ...mine }, { author: 'mallory' });
  await story.pull('opened', pull);
  expect(story.states(pull.head)[0]).toBe('pending');
  await review(story, pull, 'dan', 'APPROVED');
  expect(story.states(pull.head)).not.toContain('success');
  hub.push(pull, { 'docs/a.md': 'x' });
  await story.pull('synchronize', pull);
  await review(story, pull, 'dan', 'APPROVED');
  expect(story.states(pull.head)).not.toContain('success');
  expect(hub.forge.merges).toEqual([]);
  expect(story.comments(pull).length).toBeLessThanOrEqual(1);
});

// godotengine/godot#116006
test('N20: who is no owner any more on the base loses the success of open pull requests', async () => {
  const story = await start();
  const { hub } = story;
  const pull = await openGreen(story);
  const before = hub.base();
  hub.moveBase({ [OWNERS]: 'reviewers:\n- carol\n' });
  const states = await added(story, pull.head, () => story.pushed(before));
  expect(states[0]).toBe('pending');
  expect(states).not.toContain('success');
  await review(story, pull, 'carol', 'APPROVED');
  expect(last(story, pull.head)).toBe('success');
  expect(story.comments(pull).length).toBeLessThanOrEqual(1);
});

// odoo/runbot#137, dpb587/github-status-resource#3
test('N23: a status that was set though its answer was lost is set right in the end', async () => {
  const story = await start();
  const { forge } = story.hub;
  const pull = open(story);
  let lost = 0;
  forge.deaf = () => {
    const asked = forge.asked.at(-1);
    const isResult = asked?.operation.endsWith('/statuses/{sha}') && asked.body?.state === 'success';
    if (lost > 0 || !isResult) return false;
    lost += 1;
    return true;
  };
  await story.pull('opened', pull);
  expect(lost).toBe(1);
  expect(story.states(pull.head)[0]).toBe('pending');
  expect(last(story, pull.head)).toBe('success');
  expect(story.states(pull.head).length).toBeLessThanOrEqual(4);
  expect(story.failed).toEqual([]);
  expect(story.comments(pull).length).toBeLessThanOrEqual(1);
});

// all-contributors/app#79, DefinitelyTyped/dt-mergebot#49
test('N24: a delivery that comes twice at the same time is one', async () => {
  const story = await start();
  const pull = open(story, HARMFUL);
  const sent = story.pull('opened', pull);
  await Promise.all([sent, story.deliver('pull_request', {}, 0)]);
  expect(story.states(pull.head)[0]).toBe('pending');
  expect(last(story, pull.head)).toBe('failure');
  expect(story.states(pull.head)).not.toContain('success');
  expect(story.comments(pull)).toHaveLength(1);
  expect(await added(story, pull.head, () => story.deliver('pull_request', {}, 0))).toEqual([]);
  expect(story.comments(pull)).toHaveLength(1);
});

// kubernetes/test-infra#2229, octokit/octokit.js#900, probot/stale#83
test('N25: a pull request that the API does not know yet when its event comes is not forgotten', async () => {
  const story = await start();
  const pull = open(story);
  let left = 1;
  story.hub.forge.faults.push(({ operation, path }) =>
    operation.startsWith('GET /repos/{owner}/{repo}/pulls/{pull_number}') &&
    Number(path['pull_number']) === pull.number &&
    left-- > 0
      ? { status: 404, data: { message: 'Not Found' } }
      : undefined,
  );
  await story.pull('opened', pull);
  // Pending, if not yet checked; but not nothing.
  expect(['pending', 'success']).toContain(last(story, pull.head));
  await story.pull('labeled', pull);
  expect(last(story, pull.head)).toBe('success');
  expect(story.comments(pull).length).toBeLessThanOrEqual(1);
});

// kubernetes/test-infra#27774
test('N26: the failure of a pull request that was closed, of which no event came, is none of the next one', async () => {
  const story = await start();
  const { hub } = story;
  hub.repository.git('branch', 'release-4.19', hub.base());
  const release = hub.tip('release-4.19');
  hub.moveBase(FIRST);
  const one = open(story);
  one.head = hub.repository.commit(LAST, { parents: [release], branch: 'pull-one' });
  await story.pull('opened', one);
  expect(last(story, one.head)).toBe('failure');
  one.state = 'closed';
  const two: FakePull = {
    ...{ ...one, number: one.number + 1, state: 'open', into: 'release-4.19', base: release },
    ...{ labels: [], reviews: [] },
  };
  hub.forge.pulls.set(two.number, two);
  const states = await added(story, two.head, () => story.pull('opened', two));
  expect([states[0], states.at(-1)]).toEqual(['pending', 'success']);
  expect(story.comments(one)).toHaveLength(1);
  expect(story.comments(two).length).toBeLessThanOrEqual(1);
});

// dependabot/feedback#189, r-lib/bench#113
test('N27: pull requests for a branch with a new name are checked when that branch moves', async () => {
  const story = await start();
  const { hub } = story;
  const pull = await openGreen(story);
  const before = hub.base();
  hub.repository.git('branch', 'trunk', before);
  pull.into = 'trunk';
  await story.pull('edited', pull, {
    changes: { base: { ref: { from: 'main' }, sha: { from: pull.base } } },
  });
  await story.deliver('push', { ref: 'refs/heads/main', before, after: '0'.repeat(40), deleted: true });
  expect(last(story, pull.head)).toBe('success');
  hub.repository.commit(FIRST, { parents: [before], branch: 'trunk' });
  const states = await added(story, pull.head, () => story.pushed(before, 'trunk'));
  expect([states[0], states.at(-1)]).toEqual(['pending', 'failure']);
  expect(story.comments(pull)).toHaveLength(1);
  expect(story.failed).toEqual([]);
});

// cli/cli#14223, canonical/mir#1141, netresearch/git-workflow-skill#178
test('N28: a stacked pull request that the forge gave another base without an event is checked for that base', async () => {
  const story = await start();
  const { hub } = story;
  const parent = open(story, LAST, { branch: 'feature' });
  hub.repository.git('branch', 'feature', parent.head);
  const child = open(story, NEXT, { into: 'feature' });
  child.base = parent.head;
  child.head = hub.repository.commit(NEXT, { parents: [parent.head], branch: `pull-${child.number}` });
  for (const pull of [parent, child]) {
    await story.pull('opened', pull);
    expect(last(story, pull.head)).toBe('success');
  }
  // Squashed into main, where somebody was faster with another version.
  const before = hub.base();
  hub.moveBase(HARMFUL);
  [parent.state, parent.merged] = ['closed', true];
  child.into = 'main';
  const after = '0'.repeat(40);
  hub.repository.git('update-ref', '-d', 'refs/heads/feature');
  const states = await added(story, child.head, async () => {
    await story.deliver('push', { ref: 'refs/heads/feature', before: parent.head, after, deleted: true });
    await story.pushed(before);
  });
  expect(states[0]).toBe('pending');
  expect(states).not.toContain('success');
  expect(last(story, child.head)).not.toBe('success');
  const broken = hub.base();
  hub.moveBase({ ...LAST, 'catalogs/v4.20/etcd/1.1.1.json': null });
  await story.pushed(broken);
  child.base = hub.base();
  child.head = hub.repository.commit(NEXT, { parents: [hub.base()], branch: `pull-${child.number}` });
  await story.pull('synchronize', child);
  expect(story.states(child.head)[0]).toBe('pending');
  expect(last(story, child.head)).toBe('success');
  expect(story.comments(child)).toHaveLength(1);
});

// WordPress/props-bot-action#59, JoshuaKGoldberg/all-contributors-auto-action#1410
test('N29: among many comments the gate finds its own', async () => {
  const story = await start();
  const { hub } = story;
  const pull = open(story, HARMFUL);
  const talk = Array.from({ length: 130 }, (_, i) => ({ id: i + 1, by: 'mallory', body: `bump ${i}` }));
  hub.forge.comments.set(pull.number, talk);
  await story.pull('opened', pull);
  expect(story.comments(pull)).toHaveLength(1);
  hub.push(pull, { 'docs/a.md': 'x' });
  await story.pull('synchronize', pull);
  expect(last(story, pull.head)).toBe('failure');
  expect(story.comments(pull)).toEqual([expect.stringContaining(pull.head.slice(0, 7))]);
  hub.push(pull, { ...REPAIRED, 'docs/a.md': null });
  await story.pull('synchronize', pull);
  expect(last(story, pull.head)).toBe('success');
  expect(story.comments(pull)).toHaveLength(1);
  expect(hub.forge.comments.get(pull.number)).toHaveLength(131);
});

// palantir/policy-bot#119
test('N30: an older approval does not come back when a later request for changes is dismissed', async () => {
  const story = await start();
  const { hub } = story;
  const pull = open(story, LAST, { author: 'mallory' });
  await story.pull('opened', pull);
  await review(story, pull, 'bob', 'APPROVED');
  expect(last(story, pull.head)).toBe('success');
  await review(story, pull, 'bob', 'CHANGES_REQUESTED');
  expect(last(story, pull.head)).not.toBe('success');
  const [, second] = pull.reviews;
  if (second) second.state = 'DISMISSED';
  await reviewed(story, pull, 'dismissed', 'dismissed');
  await story.pull('labeled', pull);
  expect(last(story, pull.head)).not.toBe('success');
  expect(hub.forge.merges).toEqual([]);
  await review(story, pull, 'bob', 'APPROVED');
  expect(last(story, pull.head)).toBe('success');
  expect(story.comments(pull).length).toBeLessThanOrEqual(1);
});
