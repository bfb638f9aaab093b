/**
 * However Portolan publishes: of three commits, the oldest published last leaves the tag where it is, from a new clone each time.
 * Each way has such a test; the Action with a token has its own here.
 */
import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { catalogOf, POLICY } from '../fakes/gate.ts';
import { example } from '../fakes/github/payload.ts';
import { testClient } from '../fakes/host.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { buildProgram } from '../fakes/program.ts';
import { registry } from '../fakes/registry.ts';
import { runStep } from '../fakes/step.ts';

/** Where each way to publish is tried: its file, and the beginning of the test's name. */
const WAYS: Readonly<Record<string, readonly [string, string]>> = {
  'portolan publish': [
    'test/pipeline/cli/publish/publish.slow.test.ts',
    'the oldest of three commits, published last, leaves the tag where it is',
  ],
  'portolan publish --fence URL': [
    'test/pipeline/cli/publish/publish.slow.test.ts',
    'with a fence on a server, the oldest of three commits, published last, leaves the tag where it is',
  ],
  'portolan publish --local': [
    'test/pipeline/cli/publish/local.slow.test.ts',
    'publishes every catalog of the policy; status says so',
  ],
  "Tekton's task": [
    'test/e2e/tekton.test.ts',
    'portolan-publish of an older commit in a new workspace leaves the tag where it is',
  ],
  'the Action on a given clone': [
    'test/pipeline/action/publish.slow.test.ts',
    'of three pushes, the oldest run last, in a new clone each, leaves the tag where it is',
  ],
  'the Action with a token': [
    'test/e2e/publish-order.test.ts',
    'the Action with a token: of three pushes, the oldest run last leaves the tag where it is',
  ],
  'Kubernetes, and each forge there': [
    'test/e2e/kubernetes-faults.test.ts',
    'under thirty faults no tag moves backwards, nothing is lost, and each merge ends with one status',
  ],
  'AWS, and the Action that asks the functions': [
    'test/e2e/functions-faults.test.ts',
    'under thirty faults no tag moves backwards, nothing is lost, and each merge ends with one status',
  ],
};

test.each(Object.entries(WAYS))('%s has a test of the order', (_, [file, name]) => {
  expect(readFileSync(file, 'utf8')).toContain(`'${name}'`);
});

beforeAll(buildProgram);

let hub: Hub;
afterEach(() => hub?.close());

test('the Action with a token: of three pushes, the oldest run last leaves the tag where it is', async () => {
  const { host } = await registry();
  hub = await openHub({
    [POLICY_PATH]: `${POLICY}publish: {catalogs: {'v4.20': {image: '${host}/org/index:{catalog}'}}}\n`,
    'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
  });
  const publish = async (after: string, before: string) => {
    const payload = { ...example('push'), ref: 'refs/heads/main', before, after, deleted: false };
    const inputs = { mode: 'publish', 'plain-http': host };
    const { status, log, outputs } = await runStep({ event: 'push', payload, forge: hub.forge, inputs });
    expect(status, log).toBe(0);
    return JSON.parse(outputs['published'] ?? '{}')['v4.20']?.digest;
  };
  const tagged = async () =>
    (await testClient([host]).resolve(parseReference(`${host}/org/index:v4.20`)))?.digest;
  const commits = [hub.base()];
  for (const versions of [
    ['1.0.0', '1.1.0'],
    ['1.0.0', '1.1.0', '1.2.0'],
  ]) {
    hub.moveBase({ 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', versions) });
    commits.push(hub.base());
  }
  const [oldest = '', middle = '', newest = ''] = commits;
  const first = await publish(oldest, '0'.repeat(40));
  expect(first).toBe(await tagged());
  await publish(middle, oldest);
  const last = await publish(newest, middle);
  expect(last).toBe(await tagged());
  expect(last).not.toBe(first);
  for (const [late, before] of [
    [middle, oldest],
    [oldest, '0'.repeat(40)],
  ] as const) {
    expect(await publish(late, before)).toBeUndefined();
    expect(await tagged()).toBe(last);
  }
});
