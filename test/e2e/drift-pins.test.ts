/** Tags that move after they were locked: one pull request a catalog, with everything around the pins as it was. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Reference } from '../../catalog/reference.ts';
import { formatLock } from '../../catalog/references/lock.ts';
import { clientUnder } from '../../pipeline/catalogs/references/client.ts';
import { checkPullRequest } from '../../pipeline/check/check.ts';
import { authorizationHeader } from '../../pipeline/git/process.ts';
import { openRemote } from '../../pipeline/git/remote.ts';
import type { Repository } from '../../pipeline/git/repository.ts';
import { type DriftPins, proposePins } from '../../pipeline/github/proposals/drift-pins.ts';
import { createRegistryClient, type RegistryClient } from '../../pipeline/oci/registry/client.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import type { Policy } from '../../pipeline/policy/policy.ts';
import { POLICY_PATH, policyAt } from '../../pipeline/policy/read-policy.ts';
import { POLICY } from '../fakes/gate.ts';
import { unpaced } from '../fakes/github/client.ts';
import { TOKEN } from '../fakes/github/forge.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { sampleImage } from '../fakes/image.ts';
import { registry } from '../fakes/registry.ts';

let hub: Hub;
let repository: Repository;
let host: string;
let old: string;
beforeEach(async () => {
  ({ host } = await registry());
  old = await push('etcd', 'v1', 'old');
  hub = await openHub(files(old));
  const remote = { url: `${hub.forge.url}/example/catalogs.git`, header: authorizationHeader(TOKEN) };
  repository = openRemote(remote, { searchPath: process.env['PATH'] });
});
afterEach(async () => {
  await repository.close();
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

/** Puts an image behind a tag; gives its digest. */
async function push(name: string, tag: string, content: string): Promise<string> {
  const client = createRegistryClient({ plainHttp: [host], internal: [host] });
  const image = sampleImage({ layers: [content], architectures: ['amd64', 'arm64'] });
  const reference: Reference = { kind: 'tag', registry: host, repository: `org/${name}`, tag };
  await pushImage(client, reference, { image });
  client.close();
  return image.root.digest;
}

const CATALOG = 'catalogs/v4.20/etcd/catalog.yaml';
const TEMPLATE = 'operators/etcd/catalog-templates/basic.yaml';
const LOCK = 'catalogs/v4.20.lock.json';

const catalog = (image: string): string =>
  `# ours\nschema: olm.bundle\nname: 'etcd.v1'   # by hand\npackage: etcd\nimage: "${image}" # v1\n`;
const template = (image: string): string =>
  `schema: olm.template.basic\nentries:\n- {schema: olm.bundle, image: '${image}'}\n`;

function files(digest: string): Readonly<Record<string, string>> {
  const pinned = `${host}/org/etcd@${digest}`;
  return {
    [POLICY_PATH]: `${POLICY}registries: {allow: ['${host}'], internal: ['127.0.0.0/8']}\n`,
    [CATALOG]: catalog(pinned),
    [TEMPLATE]: template(pinned),
    'catalogs/v4.19/etcd/catalog.yaml': catalog(pinned),
    [LOCK]: formatLock({ digests: new Map([[`${host}/org/etcd:v1`, digest]]) }),
  };
}

async function drift(): Promise<DriftPins> {
  const commit = hub.base();
  await repository.bring([commit]);
  const { policy } = await policyAt(repository.objects, commit);
  if (!policy) throw new Error('no policy');
  const github = unpaced(hub.forge);
  const name = { owner: 'example', repo: 'catalogs' };
  const client = clientUnder(policy, { plainHttp: [host] });
  try {
    return await proposePins(
      { github, name, repository, registryFor: () => client },
      { branch: 'main', commit, policy },
    );
  } finally {
    client.close();
  }
}

/** What the check says of the proposal: the classes of its packages, and findings about changed images. */
async function checkedClasses(): Promise<{ classes: string[]; pins: string[] }> {
  const [base, head] = [hub.base(), hub.repository.git('rev-parse', 'portolan/drift/v4.20')];
  await repository.bringHistory([base, head]);
  const clients: RegistryClient[] = [];
  const registryFor = (policy: Policy): RegistryClient => {
    const client = clientUnder(policy, { plainHttp: [host] });
    clients.push(client);
    return client;
  };
  const { findings, packages } = await checkPullRequest(repository, {
    base,
    head,
    today: '2026-01-01',
    registryFor,
  });
  for (const client of clients) client.close();
  const pins = findings.map(({ rule }) => rule).filter((rule) => /bundle-mutated|unconfirmed-pin/.test(rule));
  return { classes: packages.flatMap((one) => one.classes), pins };
}

const show = (path: string): string => `${hub.repository.git('show', `portolan/drift/v4.20:${path}`)}\n`;

test('a tag that moved is one pull request with the catalog, its templates and the lock; merged, there is none', async () => {
  expect(await drift()).toEqual({ proposed: new Map(), drift: [] });
  const fresh = await push('etcd', 'v1', 'fresh');
  const { proposed, drift: found } = await drift();
  expect([...proposed]).toMatchObject([['v4.20', { kind: 'opened', number: 7 }]]);
  expect(found).toMatchObject([
    {
      kind: 'tag',
      of: 'v4.20',
      message: `${host}/org/etcd:v1 was ${old}, it is ${fresh} now`,
      hint: 'pull request 7: merge it, or close it',
    },
  ]);
  expect(hub.repository.git('diff', '--name-only', 'main', 'portolan/drift/v4.20').split('\n')).toEqual([
    LOCK,
    CATALOG,
    TEMPLATE,
  ]);
  expect(show(CATALOG)).toBe(catalog(`${host}/org/etcd@${fresh}`));
  expect(show(TEMPLATE)).toBe(template(`${host}/org/etcd@${fresh}`));
  expect(JSON.parse(show(LOCK)).references).toEqual({ [`${host}/org/etcd:v1`]: fresh });
  expect(hub.forge.pulls.get(7)).toMatchObject({ title: 'Pin v4.20: 1 tag moved' });
  expect(hub.forge.pulls.get(7)?.body).toContain(fresh);
  expect((await drift()).proposed.get('v4.20')).toMatchObject({ kind: 'standing' });
  // It moves once more, and then back.
  const newer = await push('etcd', 'v1', 'newer');
  expect((await drift()).proposed.get('v4.20')).toMatchObject({ kind: 'updated', number: 7 });
  expect(show(CATALOG)).toBe(catalog(`${host}/org/etcd@${newer}`));
  await push('etcd', 'v1', 'old');
  expect((await drift()).proposed.get('v4.20')).toMatchObject({ kind: 'closed', number: 7 });
});

test('tags in the catalog itself are pinned; what is not answered leaves the pull request as it is', async () => {
  hub.moveBase({ [CATALOG]: catalog(`${host}/org/etcd:v1`) });
  expect((await drift()).proposed.get('v4.20')).toMatchObject({ kind: 'opened' });
  expect(show(CATALOG)).toBe(catalog(`${host}/org/etcd@${old}`));
  expect(await checkedClasses()).toEqual({ classes: ['edit-graph'], pins: [] });
  const head = hub.forge.pulls.get(7)?.head;
  hub.moveBase({ [CATALOG]: catalog(`${host}/org/none:v1`) });
  const { proposed, drift: found } = await drift();
  expect(proposed.size).toBe(0);
  expect(found).toMatchObject([
    { kind: 'unknown', of: 'v4.20', message: expect.stringContaining(`${CATALOG}:5`) },
  ]);
  expect(hub.forge.pulls.get(7)).toMatchObject({ state: 'open', head });
});
