import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { eventOf } from '../../../pipeline/action/event.ts';
import { canChangeResult, headBefore } from '../../../pipeline/github/webhook.ts';
import { example } from '../../fakes/github/payload.ts';

const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as {
  readonly name: string;
  readonly examples: Record<string, unknown>[];
}[];
const of = (name: string): Record<string, unknown>[] =>
  examples.find((one) => one.name === name)?.examples ?? [];

describe("GitHub's own examples", () => {
  test.each(['pull_request', 'pull_request_review'])(
    '%s: what can change a result has it checked',
    (name) => {
      const payloads = of(name);
      expect(payloads.length).toBeGreaterThan(2);
      for (const payload of payloads) {
        if (!canChangeResult(payload)) {
          expect(eventOf(name, payload).kind).toBe('none');
          continue;
        }
        expect(eventOf(name, payload)).toMatchObject({
          kind: 'pull request',
          number: (payload['pull_request'] as { number: number }).number,
          head: expect.stringMatching(/^[0-9a-f]{40}$/),
        });
      }
    },
  );

  test.each([
    [{ action: 'opened' }, true],
    [{ action: 'closed' }, true],
    [{ action: 'synchronize' }, true],
    [{ action: 'converted_to_draft' }, true],
    // GitHub may add others.
    [{ action: 'teleported' }, true],
    [{ action: 'labeled', label: { name: 'hold' } }, true],
    [{ action: 'unlabeled', label: { name: 'do-not-merge/later' } }, true],
    [{ action: 'labeled', label: { name: 'area/docs' } }, false],
    [{ action: 'unlabeled', label: {} }, true],
    [{ action: 'labeled' }, true],
    [{ action: 'edited', changes: { title: { from: 'a' }, body: { from: '' } } }, false],
    [{ action: 'edited', changes: { base: { ref: { from: 'dev' } } } }, true],
    [{ action: 'edited' }, true],
    [{ action: 'assigned' }, false],
    [{ action: 'review_requested' }, false],
    [{ action: 'enqueued' }, false],
    [{ action: 'submitted', review: { state: 'approved' } }, true],
    [{ action: 'submitted', review: { state: 'COMMENTED' } }, false],
    [{ action: 'dismissed', review: { state: 'dismissed' } }, true],
    [{ action: 'edited', review: { state: 'approved' } }, false],
  ])('%j can change a result: %s', (payload, expected) => {
    expect(canChangeResult(payload)).toBe(expected);
  });

  test('a push names the head that it leaves', () => {
    const before = 'b'.repeat(40);
    expect(headBefore({ action: 'synchronize', before })).toBe(before);
    expect(headBefore({ action: 'synchronize', before: '--help' })).toBeUndefined();
    expect(headBefore({ action: 'opened', before })).toBeUndefined();
  });

  test('of statuses only the one that a branch may require counts', () => {
    const sha = 'a'.repeat(40);
    expect(eventOf('status', { context: 'portolan', sha })).toEqual({ kind: 'status', commit: sha });
    expect(eventOf('status', { context: 'portolan/publish v4.20', sha }).kind).toBe('none');
  });

  test('of comments only a new /recheck on a pull request counts', () => {
    for (const payload of of('issue_comment')) expect(eventOf('issue_comment', payload).kind).toBe('none');
    const payload = example('issue_comment', 'created');
    Object.assign(payload['comment'] as object, { body: '/recheck' });
    expect(eventOf('issue_comment', payload).kind).toBe('none');
    Object.assign(payload['issue'] as object, { number: 7, pull_request: {} });
    expect(eventOf('issue_comment', payload)).toEqual({ kind: 'recheck', number: 7 });
  });

  test.each([
    ['/who', { kind: 'who' }],
    ['/who \r\nplease', { kind: 'who' }],
    ['/explain graph/cycle', { kind: 'explain', rule: 'graph/cycle' }],
    ['/explain graph/cycle\n/approve', { kind: 'explain', rule: 'graph/cycle' }],
  ])('the comment %j asks a question', (body, question) => {
    const payload = example('issue_comment', 'created');
    Object.assign(payload['comment'] as object, { body });
    Object.assign(payload['issue'] as object, { number: 7, pull_request: {} });
    expect(eventOf('issue_comment', payload)).toEqual({ kind: 'recheck', number: 7, question });
  });

  test.each([
    ' /who',
    '/whoever',
    '/who is it',
    '/explain',
    '/explain @all',
    '/explain a/b c',
    '/explain A/b',
    'x\n/who',
  ])('the comment %j asks nothing', (body) => {
    const payload = example('issue_comment', 'created');
    Object.assign(payload['comment'] as object, { body });
    Object.assign(payload['issue'] as object, { number: 7, pull_request: {} });
    expect(eventOf('issue_comment', payload).kind).toBe('none');
  });

  test('of pushes those to branches that stay', () => {
    for (const payload of of('push').filter(({ ref }) => String(ref).startsWith('refs/heads/'))) {
      expect(eventOf('push', payload).kind).toBe(payload['deleted'] === true ? 'none' : 'push');
    }
  });

  test('groups of a queue, runs of workflows, the clock', () => {
    expect(eventOf('merge_group', example('merge_group', 'checks_requested'))).toMatchObject({
      kind: 'group',
    });
    expect(eventOf('workflow_run', example('workflow_run', 'completed'))).toMatchObject({
      kind: 'commit signal',
    });
    expect(eventOf('schedule', { schedule: '* * * * *' })).toEqual({ kind: 'clock' });
    expect(eventOf('gollum', {})).toMatchObject({ kind: 'none' });
  });
});

describe('who pushed', () => {
  const repository = (id: number, owner: number) => ({ id, owner: { login: `of-${owner}`, id: owner } });
  const pusherOf = (action: string, head: object | null, type = 'User'): number | undefined => {
    const payload = {
      action,
      sender: { login: 'bob', id: 11, type },
      pull_request: {
        number: 7,
        user: { login: 'bob', id: 11 },
        base: { ref: 'main', sha: 'a'.repeat(40), repo: repository(1, 11) },
        head: { ref: 'x', sha: 'b'.repeat(40), repo: head },
      },
    };
    const event = eventOf('pull_request_target', payload);
    return event.kind === 'pull request' ? event.pusher?.id : undefined;
  };

  test('is whoever the event of a push names', () => {
    expect(pusherOf('synchronize', repository(1, 11))).toBe(11);
    expect(pusherOf('synchronize', repository(1, 11), 'Bot')).toBe(11);
  });

  test('15: is not whoever opens it over a branch that others may push', () => {
    expect(pusherOf('opened', repository(1, 11))).toBeUndefined();
    expect(pusherOf('opened', repository(2, 12))).toBeUndefined();
    expect(pusherOf('opened', null)).toBeUndefined();
    expect(pusherOf('opened', repository(2, 11), 'Bot')).toBeUndefined();
    expect(pusherOf('labeled', repository(2, 11))).toBeUndefined();
    expect(pusherOf('opened', repository(2, 11))).toBe(11);
  });
});

test.each<[string, Record<string, unknown>]>([
  ['no pull request', {}],
  [
    'a head that is no commit',
    {
      pull_request: {
        number: 1,
        user: { login: 'a', id: 1 },
        base: { sha: 'a'.repeat(40) },
        head: { sha: '--upload-pack=x' },
      },
    },
  ],
  ['a number that is none', { pull_request: { number: '1; rm', user: { login: 'a', id: 1 } } }],
])('a payload with %s is no event', (_, payload) => {
  expect(() => eventOf('pull_request_target', payload)).toThrow(/the event has no/);
});
