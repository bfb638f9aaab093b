/** What stories of pull requests on GitHub begin with, and what happens in them. */
import { afterEach, expect } from 'vitest';
import { bundle, documents } from './gate.ts';
import type { FakePull } from './github/forge.ts';
import { type Hub, openHub } from './hub.ts';
import type { Files } from './repository.ts';
import { CHANNEL, FIRST, LAST, openStory, type Story } from './story.ts';

let opened: Hub | undefined;
let tolerated: RegExp | undefined;

/** Closes what each test opened. No test may ask the fake for what the platform's description lacks. */
export function closeStories(): void {
  afterEach(async () => {
    await opened?.close();
    const defects = opened?.forge.defects.filter((defect) => !tolerated?.test(defect));
    tolerated = undefined;
    expect(defects).toEqual([]);
  });
}

/** Defects of the fake itself that a story brings about: GitHub answers null where its description has no null. */
export function tolerate(defects: RegExp): void {
  tolerated = defects;
}

/** The forge of one test. */
export async function opens(): Promise<Hub> {
  opened = await openHub();
  return opened;
}

export const AUTO = 'merge: {mode: auto}\n';
export const DIRECT = 'merge: {mode: auto, via: direct}\n';
export const OWNERS = 'operators/etcd/ci.yaml';
/** Adds 1.3.0 on top of {@link LAST}. */
export const NEXT: Files = {
  [CHANNEL]: `${String(LAST[CHANNEL])}- name: etcd.v1.3.0\n  replaces: etcd.v1.2.0\n`,
  'catalogs/v4.20/etcd/1.3.0.json': documents(bundle('etcd', '1.3.0')),
};

/** @param policy lines beside those of `gate.ts` */
export async function start(policy = ''): Promise<Story> {
  const story = await openStory(policy);
  opened = story.hub;
  return story;
}

export const last = (story: Story, commit: string): string | undefined => story.states(commit).at(-1);
export const open = ({ hub }: Story, files: Files = LAST, more: Partial<FakePull> = {}): FakePull =>
  hub.open(files, { author: 'bob', ...more });

/** States that an act adds to a commit. */
export async function added(story: Story, commit: string, act: () => Promise<unknown>): Promise<string[]> {
  const before = story.states(commit).length;
  await act();
  return story.states(commit).slice(before);
}

/** A review, and its event. */
export async function review(story: Story, pull: FakePull, by: string, state: string): Promise<void> {
  pull.reviews.push({ by, state, commit: pull.head });
  await reviewed(story, pull, 'submitted', state);
}

export function reviewed(story: Story, pull: FakePull, action: string, state: string): Promise<number> {
  const number = { pull_request: { number: pull.number, updated_at: '2026-01-10T00:00:00Z' } };
  return story.deliver('pull_request_review', { action, ...number, review: { state } });
}

/** The event of a group of the merge queue. */
export function grouped(
  story: Story,
  head: string,
  base: string,
  action = 'checks_requested',
): Promise<number> {
  const group = { head_sha: head, base_sha: base, base_ref: 'refs/heads/main', head_ref: 'refs/heads/gh-q' };
  return story.deliver('merge_group', { action, merge_group: group });
}

/** A pull request that was checked and is green. */
export async function openGreen(story: Story): Promise<FakePull> {
  const pull = open(story);
  await story.pull('opened', pull);
  expect(last(story, pull.head)).toBe('success');
  return pull;
}

interface QueuedTwo {
  readonly pulls: readonly [FakePull, FakePull];
  /** Heads of the groups. */
  readonly first: string;
  readonly second: string;
}

/** Two pull requests that are green alone, and the heads of their groups in the merge queue. */
export async function queueTwo(story: Story): Promise<QueuedTwo> {
  const pulls = [open(story), open(story, FIRST)] as const;
  for (const pull of pulls) await story.pull('opened', pull);
  const [first = '', second = ''] = story.hub.queue([...pulls]);
  await grouped(story, first, story.hub.base());
  await grouped(story, second, first);
  return { pulls, first, second };
}
