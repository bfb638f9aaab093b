/** A dry run of the Action, in each mode: everything is told, and nothing is asked to change. */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { formatLock } from '../../catalog/references/lock.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { catalogOf, POLICY } from '../fakes/gate.ts';
import { example, pullPayload } from '../fakes/github/payload.ts';
import { testClient } from '../fakes/host.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { sampleImage } from '../fakes/image.ts';
import { basicTemplate, bundleFiles, CI, releaseConfig } from '../fakes/operators.ts';
import { buildProgram } from '../fakes/program.ts';
import { registry } from '../fakes/registry.ts';
import { runStep, type Stepped } from '../fakes/step.ts';

const FIRST = `quay.io/org/etcd@sha256:${'0'.repeat(63)}1`;

let hub: Hub;
let host: string;
let written: string[];
beforeAll(() => {
  buildProgram();
});
beforeEach(async () => {
  written = [];
  ({ host } = await registry({
    onRequest: ({ method, url }) => {
      if (method !== 'GET' && method !== 'HEAD') written.push(`${method} ${url}`);
    },
  }));
  const image = `${host}/org/catalog:{catalog}`;
  hub = await openHub({
    [POLICY_PATH]: [
      `${POLICY}release: {bundles: '${host}/org/{package}-bundle:v{version}', mode: commit}`,
      `registries: {allow: ['${host}', quay.io], internal: ['127.0.0.0/8']}`,
      `publish: {catalogs: {'v4.20': {image: '${image}'}}}\n`,
    ].join('\n'),
    ...bundleFiles('etcd', '1.0.0'),
    'operators/etcd/ci.yaml': CI,
    'operators/etcd/catalog-templates/basic.yaml': basicTemplate('etcd', '1.0.0', FIRST),
    'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
  });
});
afterEach(async () => {
  await hub.close();
});

async function dryRun(event: string, payload: unknown, more: Record<string, string> = {}): Promise<Stepped> {
  const refs = () => hub.repository.git('for-each-ref');
  const before = refs();
  const inputs = { 'dry-run': 'true', 'plain-http': host, ...more };
  const stepped = await runStep({ event, payload, forge: hub.forge, inputs });
  expect(stepped.status, stepped.log).toBe(0);
  // Questions of GraphQL are posted, and change nothing.
  const changing = hub.forge.asked
    .map(({ operation }) => operation)
    .filter((one) => !/^GET |\/graphql$/.test(one));
  expect(changing).toEqual([]);
  expect(written).toEqual([]);
  expect(refs()).toBe(before);
  return stepped;
}

test('of a pull request', async () => {
  const image = sampleImage();
  await pushImage(testClient([host]), parseReference(`${host}/org/etcd:v1.1.0`), { image });
  written.length = 0;
  const added = catalogOf('etcd', ['1.0.0', '1.1.0']).replace(
    /quay\.io\/org\/etcd@sha256:(?!0{63}1)[0-9a-f]{64}/,
    `${host}/org/etcd@${image.root.digest}`,
  );
  const pull = hub.open({ 'catalogs/v4.20/etcd/catalog.yaml': added });
  const { summary, outputs } = await dryRun('pull_request_target', pullPayload(hub.forge, pull));
  expect(outputs, summary).toMatchObject({
    verdict: 'pass',
    authority: 'allow',
    checked: 'true',
    judged: 'true',
  });
  expect(summary).toContain('etcd');
});

test('of a push that brings a bundle', async () => {
  const before = hub.base();
  const after = hub.moveBase(bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0')));
  const payload = { ...example('push'), ref: 'refs/heads/main', before, after, deleted: false };
  const { log, outputs } = await dryRun('push', payload);
  expect(log).toContain('would release etcd 1.1.0');
  expect(log).toContain('would publish v4.20');
  expect(outputs['published']).toBe('{}');
});

test('of drift', async () => {
  const client = testClient([host]);
  const image = sampleImage({ layers: ['new'], architectures: ['amd64'] });
  await pushImage(client, { kind: 'tag', registry: host, repository: 'org/etcd', tag: 'v1' }, { image });
  const old = `sha256:${'1'.repeat(64)}`;
  const bundle = `schema: olm.bundle\nname: etcd.v1\npackage: etcd\nimage: ${host}/org/etcd@${old} # v1\n`;
  hub.moveBase({
    'catalogs/v4.20/etcd/catalog.yaml': bundle,
    'catalogs/v4.20.lock.json': formatLock({ digests: new Map([[`${host}/org/etcd:v1`, old]]) }),
  });
  written = [];
  const { summary, outputs } = await dryRun('schedule', { schedule: '23 * * * *' }, { mode: 'drift' });
  expect(Number(outputs['drift'])).toBeGreaterThan(0);
  expect(summary).toContain('run it without dry\\-run to propose the new pins');
  expect(outputs['proposed']).toBe('{}');
});

test('what is neither true nor false is refused', async () => {
  const payload = { schedule: '23 * * * *' };
  const inputs = { 'dry-run': 'yes', mode: 'drift' };
  const { status, log } = await runStep({ event: 'schedule', payload, forge: hub.forge, inputs });
  expect([status, log]).toEqual([
    1,
    expect.stringContaining('the input dry-run is "yes", expected true or false'),
  ]);
});
