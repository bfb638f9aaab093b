/** Webhooks as anybody may send them: what is GitHub's is taken in once, everything else is refused. */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Answer, type Delivery, type ReceivePorts, receiveDelivery } from '../../functions/receive.ts';
import { gitLabWebhooks } from '../../pipeline/forge/gitlab/webhook.ts';
import { gitHubWebhooks } from '../../pipeline/github/webhook.ts';
import type { Message } from '../../pipeline/ports.ts';
import { directoryRecords } from '../../pipeline/publish/records/directory.ts';
import { folder } from '../fakes/folder.ts';

const SECRET = "It's a Secret to Everybody";
const COMMIT = 'c'.repeat(40);
const NOW = new Date('2026-01-10T00:00:00Z');

interface Address {
  readonly send: (delivery: Delivery) => Promise<Answer>;
  /** Without what a push asks of open pull requests. */
  readonly queued: readonly Message[];
  readonly checks: readonly Message[];
  readonly logged: readonly string[];
}

function address(differing: Partial<ReceivePorts> = {}): Address {
  const queued: Message[] = [];
  const checks: Message[] = [];
  const logged: string[] = [];
  const ports: ReceivePorts = {
    webhooks: gitHubWebhooks,
    secret: async () => SECRET,
    sources: [
      { repository: 'sea/catalogs', id: 1, branch: 'main', url: 'https://github.com/sea/catalogs.git' },
    ],
    checksPulls: true,
    queue: {
      send: async (message) => {
        const isCheck = message.body.includes('"kind":"gate"') && message.body.includes('"branch"');
        (isCheck ? checks : queued).push(message);
      },
    },
    records: directoryRecords(folder()),
    now: () => NOW,
    log: (line) => logged.push(line),
    ...differing,
  };
  return { send: (delivery) => receiveDelivery(delivery, ports), queued, checks, logged };
}

function payload(differing: object = {}): string {
  const repository = { id: 1, full_name: 'sea/catalogs', pushed_at: NOW.getTime() / 1000 };
  return JSON.stringify({ ref: 'refs/heads/main', after: COMMIT, deleted: false, repository, ...differing });
}

function signed(text: string, secret = SECRET, headers: Delivery['headers'] = {}): Delivery {
  const signature = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
  return {
    headers: { 'x-github-event': 'push', 'x-hub-signature-256': signature, ...headers },
    body: new TextEncoder().encode(text),
  };
}

test("GitHub's own example of a signature is taken for one", async () => {
  const { send } = address();
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const headers = { 'x-github-event': 'ping', 'x-hub-signature-256': signature };
  const answer = await send({ headers, body: new TextEncoder().encode('Hello, World!') });
  expect(answer.status).toBe(202);
});

test('a push is queued, in the group of its repository', async () => {
  const { send, queued } = address();
  expect(await send(signed(payload()))).toEqual({ status: 202, text: 'accepted' });
  expect(queued.map(({ body }) => JSON.parse(body))).toEqual([
    { v: 1, kind: 'push', repository: 'sea/catalogs', branch: 'main', commit: COMMIT },
  ]);
});

test.each([
  ['b'.repeat(40), { before: 'b'.repeat(40) }],
  // A branch that is new.
  ['0'.repeat(40), {}],
  ['../x', {}],
  [7, {}],
])('the commit before a push is passed on, if it is one: %j', async (before, expected) => {
  const { send, queued } = address();
  await send(signed(payload({ before })));
  const push = { v: 1, kind: 'push', repository: 'sea/catalogs', branch: 'main', commit: COMMIT };
  expect(queued.map(({ body }) => JSON.parse(body))).toEqual([{ ...push, ...expected }]);
});

test('of a repository with two branches that are published, each is heard', async () => {
  const source = { repository: 'sea/catalogs', id: 1, url: 'https://github.com/sea/catalogs.git' };
  const sources = [
    { ...source, branch: 'main' },
    { ...source, branch: 'release' },
  ];
  const { send, queued, checks } = address({ sources });
  for (const branch of ['main', 'release']) await send(signed(payload({ ref: `refs/heads/${branch}` })));
  expect(queued.map(({ body }) => JSON.parse(body).branch)).toEqual(['main', 'release']);
  await send(signed(payload({ ref: 'refs/heads/other', before: 'b'.repeat(40) })));
  expect(queued).toHaveLength(2);
  // Open pull requests may be for a branch that is not published.
  expect(JSON.parse(checks.at(-1)?.body ?? '')).toMatchObject({
    kind: 'gate',
    branch: 'other',
    base: 'b'.repeat(40),
  });
});

test.each([
  [
    'merge_group',
    {
      action: 'checks_requested',
      merge_group: { base_sha: 'b'.repeat(40), head_sha: COMMIT, base_ref: 'refs/heads/main' },
    },
    { commit: COMMIT, base: 'b'.repeat(40), branch: 'main' },
  ],
  ['check_run', { action: 'completed', check_run: { name: 'lint', head_sha: COMMIT } }, { commit: COMMIT }],
  [
    'workflow_run',
    { action: 'completed', workflow_run: { name: 'install', head_sha: COMMIT } },
    { commit: COMMIT },
  ],
  // The policy may require a check whose name begins as Portolan's own.
  [
    'check_run',
    { action: 'completed', check_run: { name: 'portolan-e2e', head_sha: COMMIT } },
    { commit: COMMIT },
  ],
  ['membership', { action: 'added', organization: { login: 'Sea' }, repository: undefined }, {}],
])('%s has pull requests checked again', async (event, differing, subject) => {
  const { send, queued, checks } = address();
  const answer = await send(signed(payload(differing), SECRET, { 'x-github-event': event }));
  expect(answer.text).toBe('accepted');
  const [message] = [...queued, ...checks];
  const { event: _, ...work } = JSON.parse(message?.body ?? '{}');
  expect(work).toEqual({ v: 1, kind: 'gate', repository: 'sea/catalogs', ...subject });
});

test.each([
  ['merge_group', { action: 'destroyed', merge_group: {} }],
  ['check_run', { action: 'created', check_run: { name: 'lint', head_sha: COMMIT } }],
  // Each check would have the next one begin.
  [
    'check_run',
    { action: 'completed', check_run: { name: 'portolan findings (do not require)', head_sha: COMMIT } },
  ],
  ['workflow_run', { action: 'completed', workflow_run: { name: 'portolan-publish', head_sha: COMMIT } }],
])('%s that says nothing new has nothing checked', async (event, differing) => {
  const { send, queued, checks } = address();
  await send(signed(payload(differing), SECRET, { 'x-github-event': event }));
  expect([...queued, ...checks]).toEqual([]);
});

test('members of another organization concern nobody here', async () => {
  const { send } = address();
  const other = payload({ organization: { login: 'se' }, repository: undefined });
  expect((await send(signed(other, SECRET, { 'x-github-event': 'membership' }))).status).toBe(403);
});

test('the same push again is taken in once, whatever id it says it has', async () => {
  const { send, queued } = address();
  for (const id of ['1', '1', '2']) {
    const { status } = await send(signed(payload(), SECRET, { 'x-github-delivery': id }));
    expect(status).toBe(202);
  }
  expect(queued).toHaveLength(1);
});

test('33: who is removed from a team again is removed: the text is the same, the delivery is not', async () => {
  const { send, queued, checks } = address();
  const text = payload({ action: 'removed', organization: { login: 'sea' }, repository: undefined });
  // The second one is sent again, as GitHub does when somebody asks for it.
  for (const id of ['1', '2', '2'])
    await send(signed(text, SECRET, { 'x-github-event': 'membership', 'x-github-delivery': id }));
  expect([...queued, ...checks]).toHaveLength(2);
});

test("an approval that is withdrawn once more is taken in: GitLab's text is the same, its delivery's key is not", async () => {
  const { send, queued } = address({ webhooks: gitLabWebhooks });
  const body = new TextEncoder().encode(
    JSON.stringify({ project: { id: 1 }, object_attributes: { iid: 7, action: 'unapproval' } }),
  );
  const headers = { 'x-gitlab-token': SECRET, 'x-gitlab-event': 'Merge Request Hook' };
  // The second one is sent again, as GitLab does when nobody answered.
  for (const key of ['1', '2', '2']) await send({ headers: { ...headers, 'idempotency-key': key }, body });
  expect(queued).toHaveLength(2);
  expect(new Set(queued.map(({ id }) => id)).size).toBe(2);
});

test('a signed text of GitLab, which has no time, counts once an hour, whatever key it is sent with', async () => {
  let now = NOW;
  const { send, queued } = address({ webhooks: gitLabWebhooks, now: () => now });
  const text = JSON.stringify({ project: { id: 1 }, object_attributes: { iid: 7, action: 'open' } });
  const signature = createHmac('sha256', SECRET).update(text).digest('hex');
  const headers = { 'x-gitlab-signature': signature, 'x-gitlab-event': 'Merge Request Hook' };
  const body = new TextEncoder().encode(text);
  for (let key = 0; key < 50; key++)
    await send({ headers: { ...headers, 'idempotency-key': String(key) }, body });
  expect(queued).toHaveLength(1);
  now = new Date(NOW.getTime() + 60 * 60 * 1000);
  await send({ headers, body });
  expect(queued).toHaveLength(2);
});

test('a push that could not be queued is not remembered: it may come again', async () => {
  const records = directoryRecords(folder());
  const down = address({ records, queue: { send: () => Promise.reject(new Error('down')) } });
  await expect(down.send(signed(payload()))).rejects.toThrow('down');
  const up = address({ records });
  await up.send(signed(payload()));
  expect(up.queued).toHaveLength(1);
});

const REFUSED: readonly (readonly [string, Delivery, number])[] = [
  ['signed with another secret', signed(payload(), 'guess'), 401],
  ['without a signature', { ...signed(payload()), headers: { 'x-github-event': 'push' } }, 401],
  ['with the signature of another body', { ...signed(payload()), body: signed(payload({ x: 1 })).body }, 401],
  [
    'with the older, weaker signature',
    {
      body: signed(payload()).body,
      headers: {
        'x-github-event': 'push',
        'x-hub-signature': `sha1=${createHmac('sha1', SECRET).update(payload()).digest('hex')}`,
      },
    },
    401,
  ],
  ['with nothing', signed(''), 400],
  ['with bytes that are no text', { ...signed('\uFFFD'), body: Uint8Array.of(0xff) }, 400],
  ['larger than is looked at', signed(' '.repeat(5 * 1024 * 1024 + 1)), 413],
  [
    'of another repository of the same name',
    signed(payload({ repository: { id: 2, full_name: 'sea/catalogs', pushed_at: 1e9 } })),
    403,
  ],
  [
    'of four days ago',
    signed(payload({ repository: { id: 1, pushed_at: NOW.getTime() / 1000 - 4 * 86_400 } })),
    409,
  ],
  ['that is no push', signed('[]'), 400],
  ['with a commit that is none', signed(payload({ after: '--upload-pack=id' })), 400],
  ['with a branch that is none', signed(payload({ ref: 'refs/heads/a..b' })), 400],
];

test.each(REFUSED)('a delivery %s is refused', async (_, delivery, status) => {
  const { send, queued, logged } = address();
  expect(await send(delivery)).toMatchObject({ status });
  expect(queued).toEqual([]);
  expect(logged).toHaveLength(1);
  // Nothing that the sender wrote, and no secret.
  expect(logged[0]).toMatch(/^rejected a delivery: [a-z ]+$/);
});

function pull(updated: string): string {
  return JSON.stringify({
    action: 'synchronize',
    pull_request: { number: 7, updated_at: updated },
    repository: { id: 1, pushed_at: '2026-01-09T00:00:00Z' },
  });
}

test('without an App no pull request is judged: its events are not queued', async () => {
  const { send, queued } = address({ checksPulls: false });
  const event = signed(pull('2026-01-09T00:00:00Z'), SECRET, { 'x-github-event': 'pull_request' });
  expect(await send(event)).toEqual({ status: 202, text: 'pull requests are not checked here' });
  expect(queued).toEqual([]);
});

test('pull requests and their reviews are judged: each event is one message', async () => {
  const { send, queued } = address();
  for (const name of ['pull_request', 'pull_request_review']) {
    for (const updated of ['2026-01-09T00:00:00Z', '2026-01-09T00:00:01Z']) {
      const { status } = await send(signed(pull(updated), SECRET, { 'x-github-event': name }));
      expect(status).toBe(202);
    }
  }
  expect(queued.map(({ body }) => JSON.parse(body))).toMatchObject([
    { kind: 'gate', repository: 'sea/catalogs', number: 7 },
    { kind: 'gate', repository: 'sea/catalogs', number: 7 },
  ]);
  const stale = signed(pull('2026-01-01T00:00:00Z'), SECRET, { 'x-github-event': 'pull_request' });
  expect(await send(stale)).toMatchObject({ status: 409 });
});

test('while a secret is replaced, the old one and the new one sign; an empty line does not', async () => {
  const { send } = address({ secret: async () => `${SECRET}\n\nnext\n` });
  expect((await send(signed(payload()))).status).toBe(202);
  expect((await send(signed(payload(), 'next'))).status).toBe(202);
  for (const other of ['guess', `${SECRET}\n\nnext`])
    expect((await send(signed(payload(), other))).status).toBe(401);
});

test.each(['', '\0', '\0\0\n'])('an empty secret signs nothing: %j', async (secret) => {
  const { send } = address({ secret: async () => secret });
  expect((await send(signed(payload(), ''))).status).toBe(401);
});

test.each([
  ['another branch', payload({ ref: 'refs/heads/feature' })],
  ['a tag', payload({ ref: 'refs/tags/main' })],
  ['a branch that was deleted', payload({ deleted: true, after: '0'.repeat(40) })],
])('%s needs nothing', async (_, text) => {
  const { send, queued } = address();
  expect((await send(signed(text))).status).toBe(202);
  expect(queued).toEqual([]);
});
