/** Stories from public issue threads about merges that come too early: S02, S03, S09, S10 and S26, played by the Action's jobs. */
import { afterEach, expect, test, vi } from 'vitest';
import type { Event } from '../../pipeline/action/event.ts';
import { runWorkflow } from '../fakes/action-jobs.ts';
import { PEOPLE } from '../fakes/gate.ts';
import type { FakePull } from '../fakes/github/forge.ts';
import type { Answer, Asked } from '../fakes/github/server.ts';
import { FIRST, HARMFUL, LAST, openStory, REPAIRED, type Story } from '../fakes/story.ts';

vi.mock('@actions/core', async () => (await import('../fakes/action-core.ts')).CORE);
vi.mock('../../pipeline/action/clone.ts', async (original) => ({
  ...(await original<object>()),
  checkerOf: () => undefined,
}));
vi.mock('../../pipeline/github/client.ts', async (original) => {
  const { unpaced } = await import('../fakes/github/client.ts');
  return { ...(await original<object>()), openGitHub: unpaced };
});

let story: Story;
afterEach(async () => {
  await story.hub.close();
  expect(story.hub.forge.defects).toEqual([]);
});

async function start(): Promise<FakePull> {
  story = await openStory('merge: {mode: auto, via: direct}\n');
  return story.hub.open(LAST, { author: 'bob' });
}

let runs = 0;
async function play(event: Event): Promise<void> {
  runs += 1;
  await runWorkflow({ event, id: runs, attempt: 1, failures: [] }, story.hub.forge);
}

function changed(pull: FakePull, action: string): Promise<void> {
  const { number, head, draft, into: branch = 'main' } = pull;
  const people = { author: PEOPLE.bob, sender: PEOPLE.bob, pusher: PEOPLE.bob };
  const at = { number, action, base: story.hub.base(), head, left: undefined, branch, draft };
  return play({ kind: 'pull request', ...at, ...people });
}

function moved(before: string): Promise<void> {
  return play({ kind: 'moved', branch: 'main', before, commit: story.hub.base() });
}

/** Happens once, when the merge is asked for and before GitHub looks at it. */
function atMerge(act: (asked: Asked) => Answer | undefined): void {
  let isDone = false;
  story.hub.forge.faults.push((asked) => {
    if (isDone || !isMerge(asked)) return undefined;
    isDone = true;
    return act(asked);
  });
}

const isMerge = ({ operation }: Asked): boolean =>
  operation.startsWith('PUT ') && operation.endsWith('/merge');
const merges = (): string[] => story.hub.forge.merges.map(({ sha }) => sha);
const last = (pull: FakePull): string | undefined => story.states(pull.head).at(-1);

test('what is allowed and green is merged once', async () => {
  const pull = await start();
  await changed(pull, 'opened');
  expect(merges()).toEqual([pull.head]);
  expect(story.comments(pull)).toHaveLength(1);
});

test.each([
  ['harmless', { 'docs/a.md': 'x' }, 'pending'],
  ['harmful', HARMFUL, 'failure'],
])('S02: a %s push between the last look and the merge is not merged unchecked', async (_, files, state) => {
  const pull = await start();
  atMerge(() => {
    story.hub.push(pull, files);
    return undefined;
  });
  await changed(pull, 'opened');
  expect(merges()).toEqual([]);
  await changed(pull, 'synchronize');
  expect(story.states(pull.head)[0]).toBe('pending');
  expect(last(pull)).toBe(state);
  expect(merges()).toEqual([]);
});

test.each([
  ['harmless', { 'docs/a.md': 'x' }, 'success', 1],
  ['harmful', FIRST, 'failure', 0],
])(
  'S03: a base that moves under the merge and is %s has it checked again',
  async (_, files, state, count) => {
    const pull = await start();
    const before = story.hub.base();
    atMerge(() => {
      story.hub.moveBase(files);
      return { status: 405, data: { message: 'Base branch was modified. Review and try the merge again.' } };
    });
    await changed(pull, 'opened');
    if (pull.state === 'open') await moved(before);
    expect(last(pull)).toBe(state);
    expect(merges()).toHaveLength(count);
    expect(story.comments(pull)).toHaveLength(1);
  },
);

test('S09: a head that the API does not show yet is not merged', async () => {
  const pull = await start();
  const shown = pull.head;
  story.hub.push(pull, HARMFUL);
  const pushed = pull.head;
  // Reads lag behind; what merges does not.
  pull.head = shown;
  atMerge(() => {
    pull.head = pushed;
    return undefined;
  });
  await changed(pull, 'opened');
  expect(story.mergeCalls()).toEqual([shown]);
  expect(merges()).toEqual([]);
  await changed(pull, 'synchronize');
  expect(last(pull)).toBe('failure');
  expect(merges()).toEqual([]);
});

test.each([
  ['not mergeable', 'Pull Request is not mergeable'],
  ['forbidden by a rule', '2 of 2 required status checks are expected.'],
])(
  'S10: where GitHub says %s, the status is as before, nothing is said of a conflict, and it is not tried for ever',
  async (_, message) => {
    const pull = await start();
    story.hub.forge.faults.push((asked) => (isMerge(asked) ? { status: 405, data: { message } } : undefined));
    await changed(pull, 'opened');
    expect(merges()).toEqual([]);
    expect(story.mergeCalls()).toHaveLength(1);
    expect(last(pull)).toBe('success');
    expect(story.comments(pull).join()).not.toMatch(/conflict|merging/);
  },
);

test('S26: a hold that comes after the success keeps it from being merged, until it is gone', async () => {
  const pull = await start();
  story.hub.forge.faults.push(({ operation, body }) => {
    if (operation.includes('/statuses/') && body?.state === 'success' && runs === held)
      pull.labels = ['hold'];
    return undefined;
  });
  const held = runs + 1;
  await changed(pull, 'opened');
  expect(merges()).toEqual([]);
  expect(last(pull)).toBe('pending');
  pull.labels = [];
  await changed(pull, 'unlabeled');
  expect(last(pull)).toBe('success');
  expect(merges()).toEqual([pull.head]);
});

test('S26: a hold that comes with the last look, before the merge, has it checked again', async () => {
  const pull = await start();
  let isHeld = false;
  story.hub.forge.faults.push(({ operation }) => {
    // The comment is written after the status, and before the merge.
    if (operation.startsWith('POST ') && operation.endsWith('/comments') && !isHeld) {
      isHeld = true;
      pull.labels = ['hold'];
    }
    return undefined;
  });
  await changed(pull, 'opened');
  expect(isHeld).toBe(true);
  expect(merges()).toEqual([]);
  expect(last(pull)).toBe('pending');
});

test('a repaired head is merged, and only that', async () => {
  const pull = await start();
  story.hub.push(pull, HARMFUL);
  await changed(pull, 'opened');
  expect(merges()).toEqual([]);
  story.hub.push(pull, REPAIRED);
  await changed(pull, 'synchronize');
  expect(merges()).toEqual([pull.head]);
});
