/** The App's key, as GitHub takes it or not: what a function that stays warm does when the key is another one. */

import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { type AppSecret, appForge, type GitHubForge } from '../../functions/github.ts';
import { namedCheck } from '../../pipeline/github/checks.ts';
import { openGitHub } from '../../pipeline/github/client.ts';
import type { CommitStatus } from '../../pipeline/ports.ts';
import { type Host, reply, startHost } from '../fakes/host.ts';

function secretOf(): AppSecret {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { appId: 1, installationId: 2, privateKey };
}

/** A key takes a tenth of a second to make. */
const [BEFORE, AFTER] = [secretOf(), secretOf()];

/** Whether a JSON web token is signed by a key. */
function isSigned(token: string, { privateKey }: AppSecret): boolean {
  const [head, claims, signature = ''] = token.split('.');
  const text = Buffer.from(`${head}.${claims}`);
  return verify('sha256', text, createPublicKey(privateKey), Buffer.from(signature, 'base64url'));
}

/** GitHub with one key of the App, and a function that was started with another one. */
async function rotated() {
  const github = await startHost(({ url, headers }, response) => {
    const json = { 'content-type': 'application/json' };
    if (!url.endsWith('/access_tokens')) return reply(response, 201, '{}', json);
    const [, token = ''] = (headers.authorization ?? '').split(' ');
    if (!isSigned(token, AFTER)) return reply(response, 401, '{"message":"Integration not found"}', json);
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    reply(response, 201, JSON.stringify({ token: 'ghs_new', expires_at: expires, permissions: {} }), json);
  });
  const at = { secret: BEFORE, after: AFTER, github };
  const forge = appForge(async () => at.secret, { api: github.url, log: () => undefined });
  return Object.assign(at, { forge });
}

const tokensAsked = ({ asked }: Host): number =>
  asked.filter(({ url }) => url.endsWith('/access_tokens')).length;

test.each<[string, (forge: GitHubForge) => Promise<unknown>]>([
  ['a token', (forge) => forge.token()],
  ['a client', (forge) => forge.client()],
  [
    'a status',
    (forge) =>
      forge.report({
        repository: 'sea/catalogs',
        commit: 'c'.repeat(40),
        context: 'portolan/publish v4.20',
        state: 'success',
        description: 'published',
      }),
  ],
])(
  '%s: a key that GitHub no longer takes may be tried again, and the one of the secret is used',
  async (_, call) => {
    const at = await rotated();
    await expect(call(at.forge)).rejects.toMatchObject({ code: 'denied', retryable: true });
    at.secret = at.after;
    await call(at.forge);
    expect(tokensAsked(at.github)).toBe(2);
    // A secret that stays as it is keeps its token.
    at.secret = { ...at.after };
    await call(at.forge);
    expect(tokensAsked(at.github)).toBe(2);
  },
);

test('a status is sent once, and is shown where it is the newest one of its context', async () => {
  const kept: Record<string, unknown>[] = [];
  let isCut = true;
  const github = await startHost(({ url, method, body }, response) => {
    const json = { 'content-type': 'application/json' };
    if (url.endsWith('/access_tokens')) {
      const expires = new Date(Date.now() + 3_600_000).toISOString();
      return reply(
        response,
        201,
        JSON.stringify({ token: 'ghs', expires_at: expires, permissions: {} }),
        json,
      );
    }
    if (method === 'GET') return reply(response, 200, JSON.stringify(kept.toReversed()), json);
    kept.push(JSON.parse(body.toString()));
    // GitHub has taken it, and its front says that it has not.
    return reply(response, isCut ? 502 : 201, '{}', json);
  });
  const forge = appForge(async () => BEFORE, { api: github.url, log: () => undefined });
  const status = (description: string, context = 'portolan/publish v4.20', url?: string): CommitStatus => ({
    ...{ repository: 'sea/catalogs', commit: 'c'.repeat(40), context, state: 'error', description },
    ...(url === undefined ? {} : { url }),
  });
  const shows = (...of: Parameters<typeof status>) => forge.shows(status(...of));
  expect(await shows('one')).toBe(false);
  await expect(forge.report(status('one'))).rejects.toMatchObject({ retryable: true });
  expect(kept).toHaveLength(1);
  expect(await shows('one')).toBe(true);
  isCut = false;
  await forge.report(status('two', 'portolan/publish v4.21', 'https://example.com/'));
  expect([await shows('one'), await shows('two', 'portolan/publish v4.21')]).toEqual([true, false]);
  expect(await shows('two', 'portolan/publish v4.21', 'https://example.com/')).toBe(true);
  await forge.report(status('two'));
  expect([await shows('one'), await shows('two')]).toEqual([false, true]);
}, 30_000);

test.each([
  [[], [], undefined],
  [['success'], [], 'success'],
  [[], ['success', 'failure'], 'success'],
  [['success'], ['pending'], 'pending'],
  [['in_progress', 'success'], [], 'pending'],
  [['in_progress', 'cancelled'], [], 'failure'],
  [['neutral'], [], 'failure'],
  [['success'], ['error'], 'failure'],
] as const)(
  'a check by its name: runs %j and statuses %j, the newest first, are %s',
  async (runs, statuses, expected) => {
    const commit = 'c'.repeat(40);
    const github = await startHost(({ url }, response) => {
      const json = { 'content-type': 'application/json' };
      const run = (state: string, name = 'smoke', head = commit) => ({
        ...{ name, head_sha: head, status: state === 'in_progress' ? state : 'completed' },
        conclusion: state === 'in_progress' ? null : state,
      });
      const others = [run('failure', 'smoke2'), run('failure', 'smoke', 'd'.repeat(40))];
      if (url.includes('/check-runs')) {
        const all = [...others, ...runs.map((state) => run(state))];
        return reply(response, 200, JSON.stringify({ total_count: all.length, check_runs: all }), json);
      }
      const all = ['failure', ...statuses].map((state, i) => ({
        state,
        context: i === 0 ? 'other' : 'smoke',
      }));
      reply(response, 200, JSON.stringify(all), json);
    });
    const client = openGitHub({
      url: github.url,
      identity: { kind: 'token', token: 'x' },
      log: () => undefined,
    });
    const name = { owner: 'sea', repo: 'catalogs' };
    expect(await namedCheck(client, name, { commit, name: 'smoke' })).toBe(expected);
  },
);
