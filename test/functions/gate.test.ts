/** The gate as an App, against a fake GitHub that checks every request by GitHub's own description. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type GateRequest, handleGate } from '../../functions/gate.ts';
import { openGitHub } from '../../pipeline/github/client.ts';
import { catalogOf, POLICY } from '../fakes/gate.ts';
import { TOKEN } from '../fakes/github/forge.ts';
import { type Hub, openHub } from '../fakes/hub.ts';

vi.setConfig({ testTimeout: 30_000 });
let hub: Hub;
let request: GateRequest;
beforeEach(async () => {
  hub = await openHub();
  const log = (line: string): void => void hub.log.push(line);
  request = {
    github: openGitHub({ url: hub.forge.url, identity: { kind: 'token', token: TOKEN }, log }),
    source: { repository: 'example/catalogs', url: `${hub.forge.url}/example/catalogs.git` },
    token: TOKEN,
    git: { searchPath: process.env['PATH'] },
    registries: {},
    now: new Date('2026-01-01T00:00:00Z'),
    log,
  };
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

const etcd = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };

test('judges a pull request as it stands, and says so in a status, a check run and a comment', async () => {
  const pull = hub.open(etcd, { author: 'mallory' });
  const outcome = await handleGate(pull.number, request);
  expect(outcome).toMatchObject({
    kind: 'judged',
    report: { head: pull.head, authority: { decision: 'needs' } },
  });
  expect(hub.forge.statuses.at(-1)).toMatchObject({ sha: pull.head, context: 'portolan', state: 'pending' });
});

test('says nothing of a pull request that is closed', async () => {
  const pull = hub.open(etcd, { state: 'closed' });
  expect(await handleGate(pull.number, request)).toMatchObject({
    kind: 'skipped',
  });
  expect(hub.forge.statuses).toEqual([]);
});

test('asks the owner for the review that is missing, once, where the policy says so', async () => {
  hub.moveBase({ '.github/portolan.yaml': `${POLICY}approval: {ask: true}\n` });
  const pull = hub.open(etcd, { author: 'mallory' });
  await handleGate(pull.number, request);
  await handleGate(pull.number, request);
  expect(hub.forge.requests).toEqual([{ number: pull.number, login: 'bob' }]);
  expect(hub.log).toContain('asked for a review: bob');
});

test('says in the log who is no collaborator', async () => {
  hub.moveBase({ '.github/portolan.yaml': `${POLICY}approval: {ask: true}\n` });
  hub.forge.outsiders.add('bob');
  const pull = hub.open(etcd, { author: 'mallory' });
  await handleGate(pull.number, request);
  expect(hub.forge.statuses.at(-1)).toMatchObject({ sha: pull.head, state: 'pending' });
  expect(hub.log).toContain('cannot be asked for a review, since they are no collaborators: bob');
});
