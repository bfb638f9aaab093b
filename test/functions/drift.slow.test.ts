/** What drifts, found on a schedule: a fake GitHub that checks every request, a real registry. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { formatLock } from '../../catalog/references/lock.ts';
import { handleDrift } from '../../functions/drift.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { POLICY } from '../fakes/gate.ts';
import { unpaced } from '../fakes/github/client.ts';
import { TOKEN } from '../fakes/github/forge.ts';
import { testClient } from '../fakes/host.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { sampleImage } from '../fakes/image.ts';
import { registry } from '../fakes/registry.ts';

let hub: Hub;
let host: string;
let old: string;
beforeEach(async () => {
  ({ host } = await registry());
  old = await push('old');
  hub = await openHub({
    [POLICY_PATH]: `${POLICY}registries: {allow: ['${host}'], internal: ['127.0.0.0/8']}\n`,
    'catalogs/v4.20/etcd/catalog.yaml': `schema: olm.bundle\nname: etcd.v1\npackage: etcd\nimage: ${host}/org/etcd@${old}\n`,
    'catalogs/v4.20.lock.json': formatLock({ digests: new Map([[`${host}/org/etcd:v1`, old]]) }),
    'operators/etcd/ci.yaml': 'reviewers: [nobody-any-more]\n',
  });
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

/** Puts an image behind the tag; gives its digest. */
async function push(content: string): Promise<string> {
  const image = sampleImage({ layers: [content], architectures: ['amd64'] });
  await pushImage(testClient([host]), parseReference(`${host}/org/etcd:v1`), { image });
  return image.root.digest;
}

function look(log: (line: string) => void = () => undefined): ReturnType<typeof handleDrift> {
  const url = `${hub.forge.url}/example/catalogs.git`;
  return handleDrift({
    github: unpaced(hub.forge),
    source: { repository: 'example/catalogs', id: 1, branch: 'main', url },
    token: TOKEN,
    // No git is there.
    git: { searchPath: '/nowhere' },
    registries: { plainHttp: [host, new URL(url).host] },
    now: new Date('2026-01-01T00:00:00Z'),
    log,
  });
}

test('a tag that moved is one pull request with its new pin, however often it is looked', async () => {
  expect((await look()).proposed).toEqual({});
  const fresh = await push('fresh');
  const { proposed, drift } = await look();
  expect(proposed['v4.20']).toMatchObject({ kind: 'opened' });
  expect(drift.map(({ kind, message }) => [kind, message])).toContainEqual([
    'tag',
    `${host}/org/etcd:v1 was ${old}, it is ${fresh} now`,
  ]);
  expect((await look()).proposed['v4.20']).toMatchObject({ kind: 'standing' });
});

test('a deployment of a commit that is gone is said, and ends nothing', async () => {
  const publish = `publish: {catalogs: {'v4.20': {image: '${host}/org/catalog:v4.20'}}}\n`;
  hub.moveBase({
    [POLICY_PATH]: `${POLICY}registries: {allow: ['${host}'], internal: ['127.0.0.0/8']}\n${publish}`,
  });
  const ref = 'e'.repeat(40);
  hub.forge.deployments.push({ id: 1, ref, environment: 'catalog/v4.20', states: ['success'], payload: {} });
  const { drift } = await look();
  expect(drift.map(({ kind, message, hint }) => [kind, message, hint])).toContainEqual([
    'unknown',
    'catalog v4.20 is published as of eeeeeeeeeeee, which is no longer in the repository',
    'run the publish workflow again',
  ]);
  expect(drift.map(({ kind }) => kind)).toContain('owner');
});

test('what has no fix is told in the log', async () => {
  const logged: string[] = [];
  await look((line) => logged.push(line));
  expect(logged.join('\n')).toContain('drift: owner: package etcd: nobody-any-more: no such GitHub account');
});

test('packages go to the catalog that the policy names, on the schedule; an unknown catalog ends nothing', async () => {
  const policy = `${POLICY}registries: {allow: ['${host}'], internal: ['127.0.0.0/8']}\n`;
  hub.moveBase({ [POLICY_PATH]: `${policy}promotion: {from: v4.20, to: v4.21}\n` });
  const subject = 'promote/v4.21/nobody-any-more';
  expect((await look()).proposed[subject]).toMatchObject({ kind: 'opened' });
  expect((await look()).proposed[subject]).toMatchObject({ kind: 'standing' });
  hub.moveBase({ [POLICY_PATH]: `${policy}promotion: {from: v4.19, to: v4.21, group: true}\n` });
  const { proposed, drift } = await look();
  expect(proposed).toEqual({});
  expect(drift).toContainEqual({
    ...{ kind: 'unknown', of: 'v4.21', hint: 'it has v4.20' },
    message: 'promotion: the repository has no catalog "v4.19"',
  });
});
