/** Stories from public issue threads about merges that come too early, and jobs that run once more, played by the Action's jobs. */
import { expect, test, vi } from 'vitest';
import type { Event } from '../../pipeline/action/event.ts';
import { rerunReport, runWorkflow } from '../fakes/action-jobs.ts';
import type { Answer } from '../fakes/github/server.ts';
import { added, closeStories, DIRECT, last, NEXT, open, start } from '../fakes/stories.ts';
import { FIRST, HARMFUL, LAST, REPAIRED } from '../fakes/story.ts';
import {
  atMerge,
  changed,
  changeOf,
  isMerge,
  merges,
  moved,
  play,
  refuseMerges,
} from '../fakes/story-jobs.ts';

vi.mock('@actions/core', async () => (await import('../fakes/action-core.ts')).CORE);
vi.mock('../../pipeline/action/clone.ts', async (original) => ({
  ...(await original<object>()),
  checkerOf: () => undefined,
}));
vi.mock('../../pipeline/github/client.ts', async (original) => {
  const { unpaced } = await import('../fakes/github/client.ts');
  return { ...(await original<object>()), openGitHub: unpaced };
});

closeStories();

test('what is allowed and green is merged once', async () => {
  const story = await start(DIRECT);
  const pull = open(story);
  await changed(story, pull, 'opened');
  expect(merges(story)).toEqual([pull.head]);
  expect(story.comments(pull)).toHaveLength(1);
});

test.each([
  ['harmless', { 'docs/a.md': 'x' }, 'pending'],
  ['harmful', HARMFUL, 'failure'],
])('S02: a %s push between the last look and the merge is not merged unchecked', async (_, files, state) => {
  const story = await start(DIRECT);
  const pull = open(story);
  atMerge(story, () => {
    story.hub.push(pull, files);
    return undefined;
  });
  await changed(story, pull, 'opened');
  expect(merges(story)).toEqual([]);
  await changed(story, pull, 'synchronize');
  expect(story.states(pull.head)[0]).toBe('pending');
  expect(last(story, pull.head)).toBe(state);
  expect(merges(story)).toEqual([]);
});

test.each([
  ['harmless', { 'docs/a.md': 'x' }, 'success', 1],
  ['harmful', FIRST, 'failure', 0],
])(
  'S03: a base that moves under the merge and is %s has it checked again',
  async (_, files, state, count) => {
    const story = await start(DIRECT);
    const pull = open(story);
    const before = story.hub.base();
    atMerge(story, () => {
      story.hub.moveBase(files);
      return { status: 405, data: { message: 'Base branch was modified. Review and try the merge again.' } };
    });
    await changed(story, pull, 'opened');
    if (pull.state === 'open') await moved(story, before);
    expect(last(story, pull.head)).toBe(state);
    expect(merges(story)).toHaveLength(count);
    expect(story.comments(pull)).toHaveLength(1);
  },
);

test('S09: a head that the API does not show yet is not merged', async () => {
  const story = await start(DIRECT);
  const pull = open(story);
  const shown = pull.head;
  story.hub.push(pull, HARMFUL);
  const pushed = pull.head;
  // Reads lag behind; what merges does not.
  pull.head = shown;
  atMerge(story, () => {
    pull.head = pushed;
    return undefined;
  });
  await changed(story, pull, 'opened');
  expect(story.mergeCalls()).toEqual([shown]);
  expect(merges(story)).toEqual([]);
  await changed(story, pull, 'synchronize');
  expect(last(story, pull.head)).toBe('failure');
  expect(merges(story)).toEqual([]);
});

test.each([
  ['not mergeable', 'Pull Request is not mergeable'],
  ['forbidden by a rule', '2 of 2 required status checks are expected.'],
])(
  'S10: where GitHub says %s, the status is as before, nothing is said of a conflict, and it is not tried for ever',
  async (_, message) => {
    const story = await start(DIRECT);
    const pull = open(story);
    story.hub.forge.faults.push((asked) => (isMerge(asked) ? { status: 405, data: { message } } : undefined));
    await changed(story, pull, 'opened');
    expect(merges(story)).toEqual([]);
    expect(story.mergeCalls()).toHaveLength(1);
    expect(last(story, pull.head)).toBe('success');
    expect(story.comments(pull).join()).not.toMatch(/conflict|merging/);
  },
);

test('S26: a hold that comes after the success keeps it from being merged, until it is gone', async () => {
  const story = await start(DIRECT);
  const pull = open(story);
  let isFirst = true;
  story.hub.forge.faults.push(({ operation, body }) => {
    if (operation.includes('/statuses/') && body?.state === 'success' && isFirst) pull.labels = ['hold'];
    return undefined;
  });
  await changed(story, pull, 'opened');
  isFirst = false;
  expect(merges(story)).toEqual([]);
  expect(last(story, pull.head)).toBe('pending');
  pull.labels = [];
  await changed(story, pull, 'unlabeled');
  expect(last(story, pull.head)).toBe('success');
  expect(merges(story)).toEqual([pull.head]);
});

test('S26: a hold that comes with the last look, before the merge, has it checked again', async () => {
  const story = await start(DIRECT);
  const pull = open(story);
  let isHeld = false;
  story.hub.forge.faults.push(({ operation }) => {
    // The comment is written after the status, and before the merge.
    if (operation.startsWith('POST ') && operation.endsWith('/comments') && !isHeld) {
      isHeld = true;
      pull.labels = ['hold'];
    }
    return undefined;
  });
  await changed(story, pull, 'opened');
  expect(isHeld).toBe(true);
  expect(merges(story)).toEqual([]);
  expect(last(story, pull.head)).toBe('pending');
});

test('a repaired head is merged, and only that', async () => {
  const story = await start(DIRECT);
  const pull = open(story);
  story.hub.push(pull, HARMFUL);
  await changed(story, pull, 'opened');
  expect(merges(story)).toEqual([]);
  story.hub.push(pull, REPAIRED);
  await changed(story, pull, 'synchronize');
  expect(merges(story)).toEqual([pull.head]);
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
