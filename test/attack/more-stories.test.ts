/** Thirty more stories from public issue threads about statuses, queues, forks and bots: what went wrong there. */
import { afterEach, expect, test, vi } from 'vitest';
import { handleGate } from '../../functions/gate.ts';
import type { Event } from '../../pipeline/action/event.ts';
import { forgejoClient, forgejoForge } from '../../pipeline/forge/forgejo/forge.ts';
import { gitLabClient, gitLabForge } from '../../pipeline/forge/gitlab/forge.ts';
import { rerunReport, runWorkflow, type WorkflowRun } from '../fakes/action-jobs.ts';
import { type FakeForgejo, FORGEJO_TOKEN, fakeForgejo } from '../fakes/forgejo.ts';
import { bundle, documents, PEOPLE } from '../fakes/gate.ts';
import { gateRequest } from '../fakes/gate-request.ts';
import type { FakePull } from '../fakes/github/forge.ts';
import type { Answer, Asked } from '../fakes/github/server.ts';
import { pullData } from '../fakes/github/writing.ts';
import { type FakeGitLab, fakeGitLab, GITLAB_TOKEN } from '../fakes/gitlab.ts';
import type { Bend } from '../fakes/host.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import type { Files } from '../fakes/repository.ts';
import { FIRST, HARMFUL, LAST, NAME, openStory, REPAIRED, SPLIT, type Story } from '../fakes/story.ts';

vi.mock('@actions/core', async () => (await import('../fakes/action-core.ts')).CORE);
vi.mock('../../pipeline/action/clone.ts', async (original) => ({
  ...(await original<object>()),
  checkerOf: () => undefined,
}));
vi.mock('../../pipeline/github/client.ts', async (original) => {
  const { unpaced } = await import('../fakes/github/client.ts');
  return { ...(await original<object>()), openGitHub: unpaced };
});

let opened: Hub | undefined;
/** Defects of the fake itself that a story brings about: GitHub answers null where its description has no null. */
let tolerated: RegExp | undefined;
afterEach(async () => {
  await opened?.close();
  const defects = opened?.forge.defects.filter((defect) => !tolerated?.test(defect));
  tolerated = undefined;
  expect(defects).toEqual([]);
});

const DIRECT = 'merge: {mode: auto, via: direct}\n';
const CHANNEL = 'catalogs/v4.20/etcd/channel.yaml';
const OWNERS = 'operators/etcd/ci.yaml';
/** Adds 1.3.0 on top of {@link LAST}. */
const NEXT: Files = {
  [CHANNEL]: `${String(LAST[CHANNEL])}- name: etcd.v1.3.0\n  replaces: etcd.v1.2.0\n`,
  'catalogs/v4.20/etcd/1.3.0.json': documents(bundle('etcd', '1.3.0')),
};

async function start(policy = ''): Promise<Story> {
  const story = await openStory(policy);
  opened = story.hub;
  return story;
}

const last = (story: Story, commit: string): string | undefined => story.states(commit).at(-1);
const open = ({ hub }: Story, files: Files = LAST, more: Partial<FakePull> = {}): FakePull =>
  hub.open(files, { author: 'bob', ...more });

/** States that an act adds to a commit. */
async function added(story: Story, commit: string, act: () => Promise<unknown>): Promise<string[]> {
  const before = story.states(commit).length;
  await act();
  return story.states(commit).slice(before);
}

/** A review, and its event. */
async function review(story: Story, pull: FakePull, by: string, state: string): Promise<void> {
  pull.reviews.push({ by, state, commit: pull.head });
  await reviewed(story, pull, 'submitted', state);
}

function reviewed(story: Story, pull: FakePull, action: string, state: string): Promise<number> {
  const number = { pull_request: { number: pull.number, updated_at: '2026-01-10T00:00:00Z' } };
  return story.deliver('pull_request_review', { action, ...number, review: { state } });
}

/** The event of a group of the merge queue. */
function grouped(story: Story, head: string, base: string, action = 'checks_requested'): Promise<number> {
  const group = { head_sha: head, base_sha: base, base_ref: 'refs/heads/main', head_ref: 'refs/heads/gh-q' };
  return story.deliver('merge_group', { action, merge_group: group });
}

// The Action's jobs.

let runs = 0;
function runOf(event: Event): WorkflowRun {
  runs += 1;
  return { event, id: runs, attempt: 1, failures: [] };
}

async function play(story: Story, event: Event): Promise<WorkflowRun> {
  const run = runOf(event);
  await runWorkflow(run, story.hub.forge);
  return run;
}

function changeOf(story: Story, pull: FakePull, action: string): Event {
  const { number, head, draft, into: branch = 'main' } = pull;
  const people = { author: PEOPLE.bob, sender: PEOPLE.bob, pusher: PEOPLE.bob };
  const at = { number, action, base: story.hub.base(), head, left: undefined, branch, draft };
  return { kind: 'pull request', ...at, ...people };
}

const changed = (story: Story, pull: FakePull, action: string): Promise<WorkflowRun> =>
  play(story, changeOf(story, pull, action));
const moved = (story: Story, before: string): Promise<WorkflowRun> =>
  play(story, { kind: 'moved', branch: 'main', before, commit: story.hub.base() });
const isMerge = ({ operation }: Asked): boolean =>
  operation.startsWith('PUT ') && operation.endsWith('/merge');
const merges = ({ hub }: Story): string[] => hub.forge.merges.map(({ sha }) => sha);

/** Answers the next merges with what GitHub says where it cannot merge. */
function refuseMerges({ hub }: Story, times: number): void {
  let left = times;
  hub.forge.faults.push((asked) =>
    isMerge(asked) && left-- > 0
      ? { status: 405, data: { message: 'Pull Request is not mergeable' } }
      : undefined,
  );
}

// GitLab and Forgejo.

interface OnGitLab {
  readonly hub: Hub;
  readonly fake: FakeGitLab;
  check(pull: FakePull): Promise<unknown>;
  states(pull: FakePull): string[];
  notes(pull: FakePull): string[];
}

async function onGitLab(): Promise<OnGitLab> {
  const hub = await openHub();
  opened = hub;
  hub.moveBase(SPLIT);
  const fake = await fakeGitLab(hub);
  const request = gateRequest(
    hub,
    gitLabForge(
      gitLabClient(fake.api, async () => GITLAB_TOKEN),
      NAME,
    ),
  );
  return {
    ...{ hub, fake },
    check: ({ number }) => handleGate(number, request),
    states: ({ number }) => fake.statusesOf(number).map(({ state }) => state),
    notes: ({ number }) => fake.notes.filter((note) => note.number === number).map(({ body }) => body),
  };
}

interface OnForgejo {
  readonly hub: Hub;
  readonly fake: FakeForgejo;
  check(pull: FakePull): Promise<unknown>;
  /** As a queue delivers: again while the handler fails. */
  settle(pull: FakePull): Promise<void>;
  states(commit: string): string[];
  comments(pull: FakePull): string[];
}

async function onForgejo(bend?: Bend): Promise<OnForgejo> {
  const hub = await openHub();
  opened = hub;
  hub.moveBase(SPLIT);
  const fake = await fakeForgejo(hub, bend);
  const request = gateRequest(
    hub,
    forgejoForge(
      forgejoClient(fake.api, async () => FORGEJO_TOKEN),
      NAME,
    ),
  );
  const check = ({ number }: FakePull): Promise<unknown> => handleGate(number, request);
  return {
    ...{ hub, fake, check },
    settle: async (pull) => {
      for (let tries = 1; ; tries++) {
        try {
          await check(pull);
          return;
        } catch (error) {
          if (tries >= 5) throw error;
        }
      }
    },
    states: (commit) => fake.statuses.filter(({ sha }) => sha === commit).map(({ state }) => state),
    comments: ({ number }) => fake.comments.filter((one) => one.number === number).map(({ body }) => body),
  };
}

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
  const [one, two] = [open(story), open(story, FIRST)];
  for (const pull of [one, two]) await story.pull('opened', pull);
  const [first = '', second = ''] = hub.queue([one, two]);
  await grouped(story, first, hub.base());
  await grouped(story, second, first);
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

// kubernetes/test-infra#6343
test('N12: the head is what the pull request says, not the commit that is listed last', async () => {
  const story = await start(DIRECT);
  const { hub } = story;
  const pull = open(story, HARMFUL);
  const first = pull.head;
  hub.push(pull, REPAIRED);
  // Listed by their dates, which a rebase has mixed up.
  pull.commits = [
    { sha: pull.head, author: 'bob' },
    { sha: first, author: 'bob' },
  ];
  await changed(story, pull, 'opened');
  expect(story.states(first)).toEqual([]);
  expect(last(story, pull.head)).toBe('success');
  expect(story.mergeCalls()).toEqual([pull.head]);
  expect(merges(story)).toEqual([pull.head]);
});

// Mergifyio/mergify#699, solana-labs/solana#31574
test('N13: a pull request that somebody merges under the check is left in peace', async () => {
  const story = await start(DIRECT);
  const { hub } = story;
  const pull = open(story);
  const before = hub.base();
  let isMerged = false;
  hub.forge.faults.push((asked): Answer | undefined => {
    if (isMerge(asked) && isMerged)
      return { status: 405, data: { message: 'Pull Request is not mergeable' } };
    if (asked.operation.includes('/statuses/') && asked.body?.state === 'success' && !isMerged) {
      isMerged = true;
      hub.moveBase(LAST, pull.head);
      [pull.state, pull.merged] = ['closed', true];
    }
    return undefined;
  });
  const run = await changed(story, pull, 'opened');
  expect(isMerged).toBe(true);
  expect(merges(story)).toEqual([]);
  expect(story.mergeCalls().length).toBeLessThanOrEqual(1);
  expect(run.failures).toEqual([]);
  const later = async (): Promise<void> => {
    await changed(story, pull, 'closed');
    await moved(story, before);
  };
  expect(await added(story, pull.head, later)).toEqual([]);
  expect(story.comments(pull).length).toBeLessThanOrEqual(1);
  expect(story.comments(pull).join()).not.toMatch(/conflict|trying to merge/);
  expect(story.mergeCalls().length).toBeLessThanOrEqual(1);
});

// vaneyckt/Jently#12
test('N14: what the gate has merged counts for the next at once, before the push event comes', async () => {
  const story = await start(DIRECT);
  const { hub } = story;
  const [one, two] = [open(story), open(story, FIRST, { labels: ['hold'] })];
  const before = hub.base();
  await changed(story, two, 'opened');
  expect(last(story, two.head)).toBe('pending');
  let isMoved = false;
  hub.forge.faults.push((asked) => {
    if (!isMerge(asked) || asked.body?.sha !== one.head || isMoved) return undefined;
    isMoved = true;
    hub.moveBase(LAST, one.head);
    return undefined;
  });
  await changed(story, one, 'opened');
  expect(merges(story)).toEqual([one.head]);
  two.labels = [];
  await play(story, { ...changeOf(story, two, 'unlabeled'), base: before } as Event);
  expect(last(story, two.head)).toBe('failure');
  await moved(story, before);
  expect(last(story, two.head)).toBe('failure');
  expect(story.states(two.head)).not.toContain('success');
  expect(merges(story)).toEqual([one.head]);
  expect(story.comments(two)).toHaveLength(1);
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
  tolerated = /\/head\/repo/;
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
  const pull = open(story);
  await story.pull('opened', pull);
  expect(last(story, pull.head)).toBe('success');
  const before = hub.base();
  hub.moveBase({ [OWNERS]: 'reviewers:\n- carol\n' });
  const states = await added(story, pull.head, () => story.pushed(before));
  expect(states[0]).toBe('pending');
  expect(states).not.toContain('success');
  await review(story, pull, 'carol', 'APPROVED');
  expect(last(story, pull.head)).toBe('success');
  expect(story.comments(pull).length).toBeLessThanOrEqual(1);
});

// spiceai/spiceai#12805
test('N21: the last job that is run once more with its old result neither sets nor merges it', async () => {
  const story = await start(DIRECT);
  const { hub } = story;
  const pull = open(story);
  refuseMerges(story, 1);
  const run = await changed(story, pull, 'opened');
  expect(last(story, pull.head)).toBe('success');
  expect(merges(story)).toEqual([]);
  const before = hub.base();
  hub.moveBase(FIRST);
  await moved(story, before);
  expect(last(story, pull.head)).toBe('failure');
  await rerunReport(run, hub.forge);
  expect(last(story, pull.head)).not.toBe('success');
  expect(merges(story)).toEqual([]);
  expect(story.comments(pull)).toHaveLength(1);
});

// llm-d/llm-d-router#2199, flutter/flutter#140232, calcom/cal.diy#26113
test('N22: a run that is run once more goes by the labels and heads of now', async () => {
  const story = await start(DIRECT);
  const { hub } = story;
  const held = open(story, LAST, { labels: ['hold'] });
  const run = await changed(story, held, 'labeled');
  expect(last(story, held.head)).toBe('pending');
  // No event tells that the label is gone.
  held.labels = [];
  run.attempt = 2;
  await runWorkflow(run, hub.forge);
  expect(last(story, held.head)).toBe('success');
  expect(merges(story)).toEqual([held.head]);
  hub.moveBase(LAST, held.head);
  const green = open(story, NEXT);
  refuseMerges(story, 1);
  const other = await changed(story, green, 'opened');
  expect(last(story, green.head)).toBe('success');
  green.labels = ['hold'];
  other.attempt = 2;
  await runWorkflow(other, hub.forge);
  expect(last(story, green.head)).toBe('pending');
  green.labels = [];
  hub.push(green, HARMFUL);
  other.attempt = 3;
  await runWorkflow(other, hub.forge);
  expect(story.states(green.head)).not.toContain('success');
  expect(merges(story)).toEqual([held.head]);
  expect(story.comments(green).length).toBeLessThanOrEqual(1);
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
  const pull = open(story);
  await story.pull('opened', pull);
  expect(last(story, pull.head)).toBe('success');
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
