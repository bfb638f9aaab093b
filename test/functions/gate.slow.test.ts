/** The gate as an App, against a fake GitHub that checks every request by GitHub's own description. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { type GateRequest, handleGate, handleGates } from '../../functions/gate.ts';
import { memoryStore } from '../../pipeline/oci/image/stores.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { catalogOf, POLICY } from '../fakes/gate.ts';
import { gateRequest } from '../fakes/gate-request.ts';
import { testClient } from '../fakes/host.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { labelledImage } from '../fakes/labelled-image.ts';
import { registry } from '../fakes/registry.ts';

let hub: Hub;
let request: GateRequest;
beforeEach(async () => {
  hub = await openHub();
  request = gateRequest(hub);
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
    kind: 'checked',
    report: { head: pull.head, authority: { decision: 'needs' } },
  });
  expect(hub.forge.statuses.at(-1)).toMatchObject({ sha: pull.head, context: 'portolan', state: 'pending' });
});

test('reads a released index image once for all pull requests', async () => {
  const { host, seen } = await registry();
  const labels = { 'operators.operatorframework.io.index.configs.v1': '/configs' };
  const image = await labelledImage(labels, { 'configs/etcd/catalog.json': catalogOf('etcd', ['1.0.0']) });
  await pushImage(testClient([host]), parseReference(`${host}/org/index:v4.20`), { image });
  const released = `graph: {released: {'v4.*': {image: '${host}/org/index:v{minor}'}}}\n`;
  const registries = `registries: {allow: ['${host}'], internal: ['${host}']}\nrules: {image/*: off}\n`;
  hub.moveBase({ '.github/portolan.yaml': POLICY + released + registries });
  const asking = { ...request, registries: { plainHttp: [host] }, cache: memoryStore() };
  const mutated = async (version: string): Promise<unknown> => {
    const before = catalogOf('etcd', ['1.0.0', '1.1.0']).split('\n');
    const text = before.map((line) =>
      line.includes(`"name":"etcd.v${version}","image"`)
        ? line.replace(/sha256:[0-9a-f]{64}/, `sha256:${'0'.repeat(63)}2`)
        : line,
    );
    const pull = hub.open({ 'catalogs/v4.20/etcd/catalog.yaml': text.join('\n') }, { author: 'bob' });
    seen.length = 0;
    const outcome = await handleGate(pull.number, asking);
    if (outcome.kind !== 'checked') return outcome;
    const { verdict, findings } = outcome.report;
    const mutations = findings.filter(({ rule }) => rule === 'graph/bundle-mutated');
    return {
      verdict,
      mutations: mutations.map(({ severity }) => severity),
      blobs: seen.filter(({ url }) => url.includes('/blobs/')).length,
    };
  };
  expect(await mutated('1.1.0')).toEqual({ verdict: 'pass', mutations: ['info'], blobs: 2 });
  expect(await mutated('1.0.0')).toEqual({ verdict: 'fail', mutations: ['error'], blobs: 0 });
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

test('labels the pull request with its result, where the policy says so', async () => {
  const plain = hub.open(etcd, { author: 'mallory' });
  await handleGate(plain.number, request);
  expect(plain.labels).toEqual([]);
  hub.moveBase({ '.github/portolan.yaml': `${POLICY}labels: true\n` });
  const pull = hub.open(etcd, { author: 'mallory' });
  await handleGate(pull.number, request);
  expect(pull.labels).toEqual(['portolan/needs-approval']);
});

test('says in the log who is no collaborator', async () => {
  hub.moveBase({ '.github/portolan.yaml': `${POLICY}approval: {ask: true}\n` });
  hub.forge.outsiders.add('bob');
  const pull = hub.open(etcd, { author: 'mallory' });
  await handleGate(pull.number, request);
  expect(hub.forge.statuses.at(-1)).toMatchObject({ sha: pull.head, state: 'pending' });
  expect(hub.log).toContain('cannot request a review from accounts that are not collaborators: bob');
});

test('sets no status of a merge group for a branch without a gate, where it would stay pending', async () => {
  hub.moveBase({ '.github/portolan.yaml': `${POLICY}branches: [release-*]\n` });
  const pull = hub.open(etcd);
  const [head = ''] = hub.queue([pull]);
  const group = { base: hub.base(), head, branch: 'main' };
  const gateGroup = async () => ({ kind: 'skipped', why: 'no gate' }) as const;
  expect(await handleGates({ kind: 'group', group }, { ...request, gateGroup })).toEqual([]);
  expect(hub.forge.statuses).toEqual([]);
});
