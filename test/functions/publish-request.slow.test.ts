/** Jobs that ask for a publish, by real tokens: the publishing job is answered, everybody else is refused. */
import { generateKeyPair } from 'jose';
import { describe, expect, test } from 'vitest';
import { ROOM } from '../../functions/aws/http.ts';
import { type AskPorts, answerJob, type JobRequest, tokenReader } from '../../functions/publish-request.ts';
import type { Message } from '../../pipeline/ports.ts';
import { noteOutcome, type Outcome } from '../../pipeline/publish/delivery/outcome.ts';
import { directoryRecords } from '../../pipeline/publish/records/directory.ts';
import { folder } from '../fakes/folder.ts';
import { type Issuer, type Signing, startIssuer } from '../fakes/issuer.ts';

const COMMIT = 'c'.repeat(40);
const NEWER = 'd'.repeat(40);
const DOCUMENTS = 'documents/v4.20/x/y/';
const AUDIENCE = 'https://x.lambda-url.us-east-1.on.aws';
const WORKFLOW = '.github/workflows/portolan-publish.yml';
const CLAIMS = {
  aud: `${AUDIENCE}/`,
  sub: 'repo:sea@12/catalogs@4711:environment:catalog-publish',
  repository: 'sea/catalogs',
  repository_id: '4711',
  repository_owner_id: '12',
  ref: 'refs/heads/main',
  event_name: 'push',
  environment: 'catalog-publish',
  workflow_ref: `sea/catalogs/${WORKFLOW}@refs/heads/main`,
  job_workflow_ref: `sea/catalogs/${WORKFLOW}@refs/heads/main`,
  run_id: '1',
  run_attempt: '1',
};

interface Address {
  readonly ports: AskPorts;
  readonly issuer: Issuer;
  readonly queued: readonly Message[];
  readonly logged: readonly string[];
  /** What the worker says of the publish once it was sent; it stays silent when undefined. */
  says: Pick<Outcome, 'state' | 'detail' | 'documents'> | undefined;
}

async function address(): Promise<Address> {
  const issuer = await startIssuer();
  const queued: Message[] = [];
  const logged: string[] = [];
  const records = directoryRecords(folder());
  await records.put(`${DOCUMENTS}receipt.json`, new TextEncoder().encode('{"digest": "sha256:1"}'));
  await records.put(`${DOCUMENTS}mapping.txt`, new TextEncoder().encode('a=b\n'));
  let time = Date.now();
  const job = { ownerId: 12, workflow: WORKFLOW, environment: 'catalog-publish' };
  const url = 'https://github.com/sea/catalogs.git';
  const at: Address = {
    says: { state: 'published', detail: 'sha256:1', documents: DOCUMENTS },
    issuer,
    queued,
    logged,
    ports: {
      sources: [
        { repository: 'sea/catalogs', id: 4711, branch: 'main', url, job },
        { repository: 'sea/other', id: 4712, branch: 'main', url },
      ],
      issuer: issuer.url,
      readToken: tokenReader(issuer.url),
      queue: {
        send: async (message) => {
          queued.push(message);
          const { repository, catalog, commit } = JSON.parse(message.body);
          if (at.says) await noteOutcome(records, { repository, catalog, commit, ...at.says });
        },
      },
      records,
      clock: {
        now: () => time,
        sleep: async (milliseconds) => {
          time += milliseconds;
        },
      },
      patience: 10_000,
      room: ROOM,
      log: (line) => logged.push(line),
    },
  };
  return at;
}

const BODY = JSON.stringify({ repository: 'sea/catalogs', commit: COMMIT, catalog: 'v4.20' });

async function asking(at: Address, differing: object = {}, signing: Signing = {}): Promise<JobRequest> {
  const token = await at.issuer.token({ ...CLAIMS, ...differing }, signing);
  return withToken(token);
}

function withToken(token: string, body = BODY): JobRequest {
  const headers = { authorization: `Bearer ${token}` };
  return { headers, body: new TextEncoder().encode(body), audience: AUDIENCE };
}

test('the publishing job gets its receipt and the documents; the queue got one message', async () => {
  const at = await address();
  const answer = await answerJob(await asking(at), at.ports);
  expect(answer).toEqual({
    status: 200,
    body: {
      published: true,
      receipt: { digest: 'sha256:1' },
      files: { 'receipt.json': '{"digest": "sha256:1"}', 'mapping.txt': 'a=b\n' },
      tooLarge: [],
    },
  });
  expect(at.queued.map(({ body }) => JSON.parse(body))).toEqual([
    { v: 1, kind: 'catalog', repository: 'sea/catalogs', branch: 'main', commit: COMMIT, catalog: 'v4.20' },
  ]);
  // Asked again, it is answered without any work.
  expect(await answerJob(await asking(at, { run_attempt: '2' }), at.ports)).toEqual(answer);
  expect(at.queued).toHaveLength(1);
});

test('of a repository with two branches that are published, the job of each is answered', async () => {
  const at = await address();
  const [main] = at.ports.sources;
  if (!main) throw new Error('there is no source');
  const ports = { ...at.ports, sources: [main, { ...main, branch: 'release' }] };
  const ref = 'refs/heads/release';
  const workflow = `sea/catalogs/${WORKFLOW}@${ref}`;
  const release = await asking(at, { ref, workflow_ref: workflow, job_workflow_ref: workflow });
  expect((await answerJob(release, ports)).status).toBe(200);
  expect(at.queued.map(({ body }) => JSON.parse(body).branch)).toEqual(['release']);
  expect((await answerJob(await asking(at, { ref: 'refs/heads/other' }), ports)).status).toBe(403);
});

describe('what others published since', () => {
  const third = async ({ records }: AskPorts): Promise<void> => {
    const documents = 'documents/v4.20/x/z/';
    await records.put(`${documents}receipt.json`, new TextEncoder().encode('{"digest": "sha256:3"}'));
    const current = {
      catalog: 'v4.20',
      image: 'x',
      epoch: 0,
      commit: 'e'.repeat(40),
      digest: 'd',
      documents,
    };
    await records.put('published/v4.20/x', new TextEncoder().encode(JSON.stringify(current)));
  };

  test('a run that is run again is answered with what is published by now', async () => {
    const at = await address();
    expect(await answerJob(await asking(at), at.ports)).toMatchObject({
      body: { receipt: { digest: 'sha256:1' } },
    });
    await third(at.ports);
    const again = await answerJob(await asking(at, { run_attempt: '2' }), at.ports);
    expect(again).toMatchObject({ status: 200, body: { receipt: { digest: 'sha256:3' } } });
  });

  test('a commit that a newer one overtook, and a third one that one: the third is the answer', async () => {
    const at = await address();
    at.says = { state: 'superseded', detail: NEWER, documents: DOCUMENTS };
    await third(at.ports);
    const answer = await answerJob(await asking(at), at.ports);
    expect(answer).toMatchObject({ status: 200, body: { receipt: { digest: 'sha256:3' } } });
  });

  test('an end that names no documents, as it was once noted, is asked for anew', async () => {
    const at = await address();
    const of = { repository: 'sea/catalogs', catalog: 'v4.20', commit: COMMIT } as const;
    await noteOutcome(at.ports.records, { ...of, state: 'superseded', detail: NEWER });
    const answer = await answerJob(await asking(at), at.ports);
    expect(answer).toMatchObject({ status: 200, body: { receipt: { digest: 'sha256:1' } } });
    expect(at.queued).toHaveLength(1);
  });
});

test('documents that an answer of Lambda has no room for are named, and the receipt is always in it', async () => {
  const at = await address();
  const put = (name: string, text: string): Promise<void> =>
    at.ports.records.put(`${DOCUMENTS}${name}`, new TextEncoder().encode(text));
  await put('page.html', 'x'.repeat(1_048_577));
  // A quote is sent as four bytes.
  for (const n of [1, 2, 3, 4, 5, 6]) await put(`${n}.yaml`, '"'.repeat(400_000));
  const answer = await answerJob(await asking(at), at.ports);
  expect(answer).toMatchObject({ status: 200, body: { receipt: { digest: 'sha256:1' } } });
  const body = JSON.stringify(answer.body);
  expect(Buffer.byteLength(JSON.stringify({ statusCode: 200, body }))).toBeLessThan(6_000_000);
  const { files, tooLarge } = JSON.parse(body);
  expect(Object.keys(files).sort()).toEqual(['1.yaml', '2.yaml', '3.yaml', 'mapping.txt', 'receipt.json']);
  const left = ['4.yaml', '5.yaml', '6.yaml', 'page.html'];
  expect(tooLarge).toEqual(left.map((name) => `${DOCUMENTS}${name}`));
});

test('a catalog with errors is refused, and may be asked for again', async () => {
  const at = await address();
  at.says = { state: 'refused', detail: 'fbc/x: it is broken' };
  expect(await answerJob(await asking(at), at.ports)).toEqual({
    status: 422,
    body: { error: 'fbc/x: it is broken' },
  });
  at.says = { state: 'published', detail: 'sha256:1', documents: DOCUMENTS };
  expect(await answerJob(await asking(at, { run_attempt: '2' }), at.ports)).toMatchObject({ status: 200 });
  expect(new Set(at.queued.map(({ id }) => id)).size).toBe(2);
});

test('an end that does not come is not waited for without end', async () => {
  const at = await address();
  at.says = { state: 'failed', detail: 'the registry answered 503' };
  expect(await answerJob(await asking(at), at.ports)).toEqual({
    status: 503,
    body: { error: 'not published yet: the registry answered 503' },
  });
});

test.each<[string, object]>([
  ['of another repository', { repository_id: '666', repository: 'sea/catalogs' }],
  ['of a repository that no job may publish', { repository_id: '4712' }],
  ['of a repository whose name somebody else took', { repository_owner_id: '13' }],
  ['for somebody else', { aud: 'https://elsewhere.example' }],
  ['for two', { aud: [AUDIENCE, 'https://elsewhere.example'] }],
  ['of another branch', { ref: 'refs/heads/feature' }],
  ['of a pull request', { ref: 'refs/pull/7/merge', event_name: 'pull_request' }],
  ['of a pull request that runs on the base', { event_name: 'pull_request_target' }],
  ['of another workflow', { workflow_ref: 'sea/catalogs/.github/workflows/ci.yml@refs/heads/main' }],
  ['of another repository’s workflow', { job_workflow_ref: `evil/x/${WORKFLOW}@refs/heads/main` }],
  ['without the environment', { environment: undefined }],
  ['of another issuer', { iss: 'https://evil.example' }],
])('29: a token %s is refused', async (_, differing) => {
  const at = await address();
  const refusal = await answerJob(await asking(at, differing), at.ports);
  expect(refusal.status).toBe(403);
  expectRefused(at);
});

test('29: a token with another signature is refused: another key, another algorithm, none, an old one', async () => {
  const at = await address();
  const { privateKey: key } = await generateKeyPair('RS256');
  const secret = new TextEncoder().encode('x'.repeat(32));
  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const good = (await asking(at)).headers['authorization']?.slice('Bearer '.length) ?? '';
  const [head = '', , signature = ''] = good.split('.');
  const tokens = [
    await at.issuer.token(CLAIMS, { key }),
    await at.issuer.token(CLAIMS, { key: secret as never, algorithm: 'HS256' }),
    await at.issuer.token(CLAIMS, { issuedAt: Math.floor(Date.now() / 1000) - 3600 }),
    await at.issuer.token(CLAIMS, { issuedAt: Math.floor(Date.now() / 1000) + 3600 }),
    `${encoded({ alg: 'none' })}.${encoded({ iss: at.issuer.url, ...CLAIMS })}.`,
    `${head}.${encoded({ iss: at.issuer.url, ...CLAIMS, exp: 4e9 })}.${signature}`,
    '',
    'x.y.z',
    `x.${'y'.repeat(100_000)}.z`,
  ];
  for (const token of tokens) expect((await answerJob(withToken(token), at.ports)).status).toBe(403);
  expectRefused(at);
});

test.each([
  ['no JSON', 'x'],
  ['a commit that is none', JSON.stringify({ commit: '--upload-pack=id', catalog: 'v4.20' })],
  ['no catalog', JSON.stringify({ commit: COMMIT })],
  ['too much', ' '.repeat(20_000)],
])('%s is refused', async (_, body) => {
  const at = await address();
  const { headers } = await asking(at);
  const refusal = await answerJob(
    { headers, body: new TextEncoder().encode(body), audience: AUDIENCE },
    at.ports,
  );
  expect(refusal.status).toBe(400);
  expectRefused(at);
});

test('while the keys cannot be had, nobody is believed', async () => {
  const at = await address();
  at.issuer.isUp = false;
  expect((await answerJob(await asking(at), at.ports)).status).toBe(503);
  expectRefused(at);
});

/** Nothing was queued or written, and the log has one line for each, without any token. */
function expectRefused({ queued, logged }: Address): void {
  expect(queued).toEqual([]);
  expect(logged.length).toBeGreaterThan(0);
  for (const line of logged) {
    expect(line).toMatch(/^refused a job: /);
    expect(line).not.toMatch(/eyJ|Bearer/);
  }
}
