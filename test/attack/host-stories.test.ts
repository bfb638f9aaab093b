/** Stories from public issue threads about GitLab and Gitea: pipelines, forks, approvals and outages. */
import { expect, test } from 'vitest';
import { handleGate } from '../../functions/gate.ts';
import { forgejoClient, forgejoForge } from '../../pipeline/forge/forgejo/forge.ts';
import { gitLabClient, gitLabForge } from '../../pipeline/forge/gitlab/forge.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { FORGEJO_TOKEN, fakeForgejo } from '../fakes/forgejo.ts';
import { POLICY } from '../fakes/gate.ts';
import { gateRequest } from '../fakes/gate-request.ts';
import type { FakePull } from '../fakes/github/forge.ts';
import { fakeGitLab, GITLAB_TOKEN } from '../fakes/gitlab.ts';
import type { Bend } from '../fakes/host.ts';
import { AUTO, closeStories, NEXT, opens } from '../fakes/stories.ts';
import { FIRST, HARMFUL, LAST, NAME, REPAIRED, SPLIT } from '../fakes/story.ts';
import { onForgejo, onGitLab } from '../fakes/story-hosts.ts';

closeStories();

test('S30: on GitLab, a status that is pending already is no error, and goes back from success', async () => {
  const hub = await opens();
  hub.moveBase(SPLIT);
  const fake = await fakeGitLab(hub);
  const client = gitLabClient(fake.api, async () => GITLAB_TOKEN);
  const request = gateRequest(hub, gitLabForge(client, NAME));
  const pull = hub.open(LAST, { author: 'bob' });
  const states = () => fake.statusesOf(pull.number).map(({ state }) => state);
  pull.labels = ['hold'];
  for (let i = 0; i < 2; i++) await handleGate(pull.number, request);
  expect(states().at(-1)).toBe('pending');
  pull.labels = [];
  await handleGate(pull.number, request);
  expect(states().at(-1)).toBe('success');
  hub.moveBase(FIRST);
  await handleGate(pull.number, request);
  expect(states().at(-1)).toBe('failed');
  expect(fake.notes).toHaveLength(1);
  const fork = hub.open(LAST, { author: 'mallory' });
  fake.forks.add(fork.number);
  fake.refusals.push(403, 404, 403, 404, 403, 404);
  await handleGate(fork.number, request).catch(() => undefined);
  expect(fake.statusesOf(fork.number).map(({ state }) => state)).not.toContain('success');
  expect(hub.forge.merges).toEqual([]);
});

test('S30: on Gitea, pending comes first, and a failure stays the latest', async () => {
  const hub = await opens();
  hub.moveBase({ ...SPLIT, [POLICY_PATH]: `${POLICY}${AUTO}` });
  const fake = await fakeForgejo(hub);
  const client = forgejoClient(fake.api, async () => FORGEJO_TOKEN);
  const request = gateRequest(hub, forgejoForge(client, NAME));
  const pull = hub.open(HARMFUL, { author: 'bob' });
  await handleGate(pull.number, request);
  const wrote = fake.asked.filter((what) => !what.startsWith('GET '));
  expect(wrote[0]).toMatch(/^POST .*\/statuses\//);
  expect(fake.statuses.map(({ state }) => state)).toEqual(['pending', 'failure']);
  expect(fake.comments).toHaveLength(1);
  expect(fake.asked.filter((what) => what.endsWith('/merge'))).toEqual([]);
});

// runatlantis/atlantis#2636 (and issue 2484)
test('N01: on GitLab, two merge requests with one commit each have the status of their own target', async () => {
  const { hub, check, states, notes } = await onGitLab();
  hub.repository.git('branch', 'release-4.19', hub.base());
  const release = hub.tip('release-4.19');
  hub.moveBase(FIRST);
  const one = hub.open(LAST, { author: 'bob', into: 'release-4.19' });
  one.head = hub.repository.commit(LAST, { parents: [release], branch: 'pull-one' });
  one.base = release;
  const two: FakePull = {
    ...one,
    number: one.number + 1,
    branch: 'copy',
    into: 'main',
    labels: [],
    reviews: [],
  };
  hub.forge.pulls.set(two.number, two);
  for (const pull of [two, one, two, one]) {
    await check(pull);
    expect(states(two)).not.toContain('success');
  }
  expect(states(two).at(-1)).toBe('failed');
  expect(notes(two)).toHaveLength(1);
  expect(notes(one).length).toBeLessThanOrEqual(1);
});

// jenkinsci/gitlab-branch-source-plugin#259, runatlantis/atlantis#3373
test('N02: on GitLab, a pipeline that is run anew has the status again, and not the one of before', async () => {
  const { hub, fake, check, states, notes } = await onGitLab();
  const pull = hub.open(LAST, { author: 'bob' });
  const run = (): void => {
    const ref = `refs/merge-requests/${pull.number}/head`;
    fake.pipelines.push({
      ...{ id: fake.pipelines.length + 1, sha: pull.head, ref },
      source: 'merge_request_event',
    });
  };
  run();
  await check(pull);
  expect(states(pull).at(-1)).toBe('success');
  run();
  expect(states(pull)).toEqual([]);
  await check(pull);
  expect(states(pull).at(-1)).toBe('success');
  hub.moveBase(FIRST);
  run();
  await check(pull);
  expect(states(pull).at(-1)).toBe('failed');
  expect(states(pull)).not.toContain('success');
  expect(notes(pull)).toHaveLength(1);
});

// smarkets/marge-bot#85
test('N03: on GitLab, an approval that is not reset yet after a push does not count for the push', async () => {
  const { hub, check, states, notes } = await onGitLab();
  const pull = hub.open(LAST, { author: 'mallory' });
  await check(pull);
  expect(states(pull)).not.toContain('success');
  pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
  await check(pull);
  expect(states(pull).at(-1)).toBe('success');
  hub.push(pull, NEXT);
  await check(pull);
  expect(states(pull).length).toBeGreaterThan(0);
  expect(states(pull)).not.toContain('success');
  pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
  await check(pull);
  expect(states(pull).at(-1)).toBe('success');
  expect(notes(pull).length).toBeLessThanOrEqual(1);
});

// jenkinsci/gitlab-plugin#549, #1044, samcontesse/gitlab-merge-request-resource#27, tektoncd/pipelines-as-code#2253
test('N04: on GitLab, a merge request from a fork has its status in the pipeline of the target project', async () => {
  const { hub, fake, check, states, notes } = await onGitLab();
  const pull = hub.open(HARMFUL, { author: 'bob' });
  fake.forks.add(pull.number);
  const run = (): void => {
    const ref = `refs/merge-requests/${pull.number}/head`;
    fake.pipelines.push({
      ...{ id: fake.pipelines.length + 1, sha: pull.head, ref },
      source: 'merge_request_event',
    });
  };
  fake.refusals.push(404, 403, 404, 403, 404, 403);
  await check(pull).catch(() => undefined);
  expect(states(pull)).not.toContain('success');
  fake.refusals.length = 0;
  run();
  await check(pull);
  expect(states(pull).at(-1)).toBe('failed');
  expect(notes(pull)).toHaveLength(1);
  hub.push(pull, REPAIRED);
  run();
  await check(pull);
  expect(states(pull).length).toBeGreaterThan(0);
  expect(states(pull).at(-1)).not.toBe('failed');
  // Who pushed to a fork may be unknown; an administrator's approval is enough anyway.
  pull.reviews.push({ by: 'alice', state: 'APPROVED', commit: pull.head });
  await check(pull);
  expect(states(pull).at(-1)).toBe('success');
  expect(notes(pull)).toHaveLength(1);
});

// go-gitea/gitea#37042
test('N05: on Gitea, what is not allowed is never a warning, for a warning does not block', async () => {
  const { hub, fake, check, states } = await onForgejo();
  const harmful = hub.open(HARMFUL, { author: 'bob' });
  const held = hub.open(LAST, { author: 'bob', labels: ['hold'] });
  const foreign = hub.open({ ...LAST, 'docs/a.md': 'x' }, { author: 'mallory' });
  for (const pull of [harmful, held, foreign]) await check(pull);
  expect(states(harmful.head).at(-1)).toBe('failure');
  expect(states(held.head).at(-1)).toBe('pending');
  expect(['pending', 'failure']).toContain(states(foreign.head).at(-1));
  const allowed = ['pending', 'success', 'failure', 'error'];
  expect(fake.statuses.map(({ state }) => state).filter((state) => !allowed.includes(state))).toEqual([]);
  expect(fake.statuses.map(({ state }) => state)).not.toContain('success');
});

// go-gitea/gitea#39214
test('N06: on Gitea, a rebased head begins without the success of the head before', async () => {
  const { hub, fake, check, states, comments } = await onForgejo();
  const pull = hub.open(LAST, { author: 'bob' });
  await check(pull);
  const green = pull.head;
  expect(states(green).at(-1)).toBe('success');
  const count = states(green).length;
  hub.moveBase(FIRST);
  pull.base = hub.base();
  pull.head = hub.repository.commit(HARMFUL, { parents: [hub.base()], branch: `pull-${pull.number}` });
  await check(pull);
  expect(states(pull.head)[0]).toBe('pending');
  expect(states(pull.head).at(-1)).toBe('failure');
  expect(states(pull.head)).not.toContain('success');
  expect(states(green).slice(count)).not.toContain('success');
  expect(comments(pull)).toEqual([expect.stringContaining(pull.head.slice(0, 7))]);
  expect(fake.asked.filter((what) => what.endsWith('/merge'))).toEqual([]);
});

// lab132/buildbot-gitea#21, go-gitea/gitea#9974
test('N07: on Gitea, a fork is told in the repository of the base, also when the fork is gone', async () => {
  let isGone = false;
  const forked = (value: unknown): unknown => {
    const { user, head } = value as { user: { id: number; login: string }; head: object };
    const repo = isGone ? null : { name: 'catalogs', owner: user };
    return { ...(value as object), head: { ...head, repo } };
  };
  const bend: Bend = (what, value) => {
    if (/^GET \/repos\/example\/catalogs\/pulls\/\d+$/.test(what)) return forked(value);
    if (what === 'GET /repos/example/catalogs/pulls') return (value as unknown[]).map(forked);
    return value;
  };
  const { hub, fake, settle, states, comments } = await onForgejo(bend);
  const harmful = hub.open(HARMFUL, { author: 'bob' });
  await settle(harmful);
  expect(states(harmful.head)[0]).toBe('pending');
  expect(states(harmful.head).at(-1)).toBe('failure');
  isGone = true;
  hub.moveBase({ 'docs/y.md': 'y' });
  await settle(harmful);
  expect(states(harmful.head).at(-1)).toBe('failure');
  const fine = hub.open(LAST, { author: 'bob' });
  await settle(fine);
  expect(['pending', 'success']).toContain(states(fine.head).at(-1));
  expect(states(fine.head)).not.toContain('failure');
  expect(comments(harmful)).toHaveLength(1);
  const wrote = fake.asked.filter((what) => /^POST .*\/statuses\//.test(what));
  expect(wrote.filter((what) => !what.startsWith('POST /repos/example/catalogs/'))).toEqual([]);
});

// go-gitea/gitea#8439
test('N08: on Gitea, commits after an approval are not approved', async () => {
  const { hub, check, states, comments } = await onForgejo();
  const pull = hub.open(LAST, { author: 'mallory' });
  pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
  await check(pull);
  expect(states(pull.head).at(-1)).toBe('success');
  hub.push(pull, NEXT);
  await check(pull);
  expect(states(pull.head)[0]).toBe('pending');
  expect(states(pull.head)).not.toContain('success');
  pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
  await check(pull);
  expect(states(pull.head).at(-1)).toBe('success');
  expect(comments(pull).length).toBeLessThanOrEqual(1);
});

// kimdre/doco-cd#1568
test('N09: on Gitea, an outage at the start and behind the first status leaves the right status in the end', async () => {
  let refuse: (() => void) | undefined;
  const { hub, fake, settle, states, comments } = await onForgejo((what, value) => {
    if (/^POST .*\/statuses\//.test(what)) refuse?.();
    return value;
  });
  fake.refusals.push(502, 502);
  const pull = hub.open(LAST, { author: 'bob' });
  await settle(pull);
  expect(states(pull.head).at(-1)).toBe('success');
  const other = hub.open(HARMFUL, { author: 'bob' });
  refuse = () => {
    refuse = undefined;
    fake.refusals.push(502);
  };
  await settle(other);
  expect(refuse).toBeUndefined();
  expect(states(other.head)[0]).toBe('pending');
  expect(states(other.head).at(-1)).toBe('failure');
  expect(states(other.head)).not.toContain('success');
  expect(comments(pull).length).toBeLessThanOrEqual(1);
  expect(comments(other)).toHaveLength(1);
});
