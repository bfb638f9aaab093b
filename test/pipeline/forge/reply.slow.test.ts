/** Replies that are not as the forge writes them: each of their fields, on each forge, in each request. */
import { afterEach, expect, test } from 'vitest';
import { PipelineError } from '../../../pipeline/error.ts';
import type { GateForge } from '../../../pipeline/forge/forge.ts';
import { forgejoClient, forgejoForge } from '../../../pipeline/forge/forgejo/forge.ts';
import { gitLabClient, gitLabForge } from '../../../pipeline/forge/gitlab/forge.ts';
import {
  commitId,
  day,
  flag,
  list,
  nullable,
  object,
  optional,
  text,
  time,
  whole,
} from '../../../pipeline/forge/reply.ts';
import { statusOf } from '../../../pipeline/forge/status.ts';
import { FORGEJO_TOKEN, fakeForgejo } from '../../fakes/forgejo.ts';
import { fakeGitLab, GITLAB_TOKEN } from '../../fakes/gitlab.ts';
import type { Bend } from '../../fakes/host.ts';
import { type Hub, openHub } from '../../fakes/hub.ts';
import { GREEN } from '../../fakes/report.ts';
import { fieldsOf, MEANINGFUL, SPOILS, spoilt, spotOf } from '../../fakes/spoil.ts';

const PLACE = { forge: 'Forge', request: 'GET /reviews', field: '' };

test('a wrong field is named with the forge, the request, what was found and what was expected', () => {
  const read = object({ approved_by: list(object({ user: object({ id: whole }) })) });
  expect(read({ approved_by: [{ user: { id: 7, name: 'x' } }], more: 1 }, PLACE)).toEqual({
    approved_by: [{ user: { id: 7 } }],
  });
  const errorOf = (value: unknown): unknown => {
    try {
      return read(value, PLACE);
    } catch (error) {
      return error;
    }
  };
  expect(errorOf({ approved_by: [{ user: { id: 7 } }, { user: { id: '8' } }] })).toMatchObject({
    message:
      'Forge returned an unexpected reply for GET /reviews: approved_by[1].user.id: found "8", expected a whole number',
    code: 'bad-answer',
    retryable: true,
  });
  expect(errorOf({ approved_by: [{}] })).toHaveProperty(
    'message',
    expect.stringContaining('approved_by[0].user: found nothing, expected an object'),
  );
  expect(errorOf([])).toHaveProperty(
    'message',
    expect.stringContaining('GET /reviews: found a list, expected'),
  );
});

test.each([
  ['text', text, ['', 'x'], [undefined, null, 7, {}, []]],
  ['flag', flag, [true, false], [undefined, null, 'true', 0]],
  ['whole', whole, [0, -1, 2 ** 52], [undefined, null, '7', 1.5, 2 ** 60, Number.NaN]],
  [
    'commitId',
    commitId,
    ['a'.repeat(40), '0'.repeat(64)],
    ['', 'main', 'A'.repeat(40), `-${'a'.repeat(39)}`, 7],
  ],
  [
    'time',
    time,
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.678+00:00', '2026-01-02T03:04:05-0800'],
    ['', '2026-01-02', '2026-01-02T03:04:05', '2026-13-02T03:04:05Z', 1767323045],
  ],
  ['nullable', nullable(text), [null, 'x'], [undefined, 7]],
  ['list', list(text), [[], ['x']], [undefined, null, {}, [7]]],
] as const)('%s', (_, read, taken, refused) => {
  for (const value of taken) expect(read(value, PLACE)).toEqual(value);
  for (const value of refused) expect(() => read(value, PLACE), JSON.stringify(value)).toThrow(PipelineError);
});

test.each([
  ['2026-03-01T12:00:00Z', '2026-03-01'],
  ['2026-03-01T01:30:00+02:00', '2026-02-28'],
  ['2026-02-28T23:30:00.000-01:00', '2026-03-01'],
])('the day of %s is %s', (written, expected) => {
  expect(day(written, PLACE)).toBe(expected);
});

test('what is optional may be left out', () => {
  const read = optional(text);
  expect([undefined, null, 'x'].map((value) => read(value, PLACE))).toEqual([undefined, undefined, 'x']);
  expect(() => read(7, PLACE)).toThrow(PipelineError);
});

let hub: Hub | undefined;
afterEach(() => hub?.close());

const NAME = { owner: 'example', repo: 'catalogs' };
const IDENTITIES = [
  { kind: 'account', login: 'bob', id: undefined },
  { kind: 'team', team: 'acme/storage' },
] as const;

/** What a forge offers besides its description: the compiler asks for a call of each new method. */
type Method = Exclude<keyof GateForge, 'name' | 'repository' | 'missingGuarantees'>;

interface Subject {
  readonly forge: GateForge;
  /** Puts things back to an old comment of our own beside somebody else's, and no status. */
  readonly reset: () => void;
  readonly written: () => unknown;
}

const OLD = '<!-- portolan:v1 -->\nold';
const OLD_FINDINGS = '<!-- portolan:findings 0 -->';
const [SELF, MALLORY] = [500, 66];

const SUBJECTS = {
  Forgejo: async (own: Hub, bend: Bend): Promise<Subject> => {
    const fake = await fakeForgejo(own, bend);
    fake.teams.set('acme/storage', [{ id: 12, login: 'carol' }]);
    const client = forgejoClient(fake.api, async () => FORGEJO_TOKEN);
    return {
      forge: forgejoForge(client, NAME),
      reset: () => {
        fake.statuses.splice(0);
        const comments = [MALLORY, SELF].map((id) => ({
          id,
          number: 7,
          user: { id, login: 'x' },
          body: OLD,
        }));
        fake.comments.splice(0, 9, ...comments);
        fake.reviews.splice(0, 9, { id: 99, number: 7, body: OLD_FINDINGS, commit_id: '', comments: [] });
      },
      written: () => [fake.comments, fake.statuses, fake.reviews.map(({ body }) => body)],
    };
  },
  GitLab: async (own: Hub, bend: Bend): Promise<Subject> => {
    const fake = await fakeGitLab(own, bend);
    fake.groups.set('acme/storage', [{ id: 12, username: 'carol', access_level: 30, state: 'active' }]);
    const client = gitLabClient(fake.api, async () => GITLAB_TOKEN);
    return {
      forge: gitLabForge(client, NAME),
      reset: () => {
        fake.statuses.splice(0);
        const sha = own.forge.pulls.get(7)?.head ?? '';
        const ref = 'refs/merge-requests/7/head';
        fake.pipelines.splice(0, 9, { id: 1, sha, ref, source: 'merge_request_event' });
        const notes = [MALLORY, SELF].map((id) => ({
          id,
          number: 7,
          author: { id, username: 'x' },
          body: OLD,
        }));
        fake.notes.splice(0, 9, ...notes);
      },
      written: () => [fake.notes, fake.statuses],
    };
  },
};

test.each(['Forgejo', 'GitLab'] as const)(
  '%s: no field that is wrong is taken for an answer',
  async (name) => {
    const own = await openHub();
    hub = own;
    let bend: Bend = (_, value) => value;
    const { forge, reset, written } = await SUBJECTS[name](own, (what, value) => bend(what, value));
    const { number, head, reviews } = own.open({ 'README.md': 'x' }, { labels: ['hold'] });
    reviews.push({ by: 'carol', state: 'APPROVED', commit: head });
    reviews.push({ by: 'bob', state: 'CHANGES_REQUESTED', commit: head });
    const pull = await forge.readPull(number);
    const location = { file: 'README.md', line: 1, column: 1 };
    const findings = [{ rule: 'channel/head', severity: 'error' as const, message: 'two heads', location }];
    const about = { number, report: { ...GREEN, head, findings } };
    const calls: Record<Method, (() => Promise<unknown>) | undefined> = {
      readPull: () => forge.readPull(number),
      readReviews: () => forge.readReviews(number),
      readCommits: () => forge.readCommits(number),
      readPusher: () => forge.readPusher(pull),
      readDirectory: async () => {
        const { accounts, teams } = await forge.readDirectory(IDENTITIES);
        return [[...accounts], [...teams]];
      },
      readTip: () => forge.readTip('main'),
      readFile: () => forge.readFile('main', 'README.md'),
      readPathChanges: () => forge.readPathChanges(head, 'README.md', 9),
      readOpen: () => forge.readOpen(),
      readSelf: async () => forge.readSelf?.(),
      // Sends no request: neither forge has apps that make checks.
      readChecks: () => forge.readChecks(head, [{ name: 'lint', app: 1, workflow: undefined }]),
      postStatus: () => forge.postStatus(statusOf([about.report])),
      readStatuses: () => forge.readStatuses(head),
      postFindings: () => forge.postFindings(about),
      postComment: () => forge.postComment(about),
      // GitHub alone has these; its replies are read by Octokit.
      readReviewed: undefined,
      readAgain: undefined,
      expectPathChanges: undefined,
      ancestry: undefined,
      involve: undefined,
    };
    const absent = Object.entries(calls).flatMap(([method, call]) => (call ? [] : [method]));
    expect(
      absent.filter((method) => method in forge),
      'call these methods in this test',
    ).toEqual([]);
    const asks = Object.values(calls).flatMap((call) => call ?? []);
    const differs = new Set<string>();
    let checked = 0;
    for (const ask of asks) {
      const outcome = async (): Promise<string> => {
        reset();
        const read = await ask();
        return JSON.stringify([read, written()]);
      };
      const replies = new Map<string, Set<string>>();
      bend = (request, value) => {
        if (request.startsWith('GET'))
          replies.set(request, new Set([...(replies.get(request) ?? []), ...fieldsOf(value)]));
        return value;
      };
      const expected = await outcome();
      for (const [request, fields] of replies)
        for (const field of fields)
          for (const how of SPOILS) {
            bend = (asked, value) => (asked === request ? spoilt(value, field, how) : value);
            const found = await outcome().catch((error: unknown) => error);
            if (found === expected) continue;
            const spot = spotOf(request, field, how);
            if (found instanceof Error) {
              expect(found, spot).toMatchObject({ code: 'bad-answer' });
              expect(found.message.replaceAll(/\[\d+\]/g, '[]'), spot).toContain(
                `${request}: ${field === '' ? '' : `${field}: `}found`,
              );
            } else differs.add(spot);
            checked++;
          }
    }
    expect(checked).toBeGreaterThan(100);
    expect(differs).toEqual(new Set(MEANINGFUL[name]));
  },
);
