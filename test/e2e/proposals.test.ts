/** The loop after the merge, by the built action: bundles become images and catalogs, tags that move become pins. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { formatLock } from '../../catalog/references/lock.ts';
import { type BuiltBundle, builtBundle, pushMade } from '../../pipeline/catalogs/release/bundle-image.ts';
import { treeRepository } from '../../pipeline/catalogs/release/release-repository.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { folder } from '../fakes/folder.ts';
import { catalogOf, POLICY } from '../fakes/gate.ts';
import { TOKEN } from '../fakes/github/forge.ts';
import { example } from '../fakes/github/payload.ts';
import { testClient } from '../fakes/host.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { sampleImage } from '../fakes/image.ts';
import { basicTemplate, bundleFiles, CI, releaseConfig, withoutInstallModes } from '../fakes/operators.ts';
import { buildProgram } from '../fakes/program.ts';
import { registry } from '../fakes/registry.ts';
import type { Files } from '../fakes/repository.ts';
import { runStep, type Stepped } from '../fakes/step.ts';
import { runCommand } from '../fakes/terminal.ts';

const FIRST = `quay.io/org/etcd@sha256:${'0'.repeat(63)}1`;
const TEMPLATE = 'operators/etcd/catalog-templates/basic.yaml';
const CATALOG = 'catalogs/v4.20/etcd/catalog.yaml';

beforeAll(buildProgram);

let hub: Hub;
let host: string;
beforeEach(async () => {
  ({ host } = await registry());
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

const operator = (mode: string): Files => ({
  [POLICY_PATH]: `${POLICY}release: {bundles: '${host}/org/{package}-bundle:v{version}', mode: ${mode}}
publish: {catalogs: {'v4.20': {image: '${host}/org/index:{catalog}'}}}
`,
  ...bundleFiles('etcd', '1.0.0'),
  'operators/etcd/ci.yaml': CI,
  [TEMPLATE]: basicTemplate('etcd', '1.0.0', FIRST),
  [CATALOG]: catalogOf('etcd', ['1.0.0']),
});

function pushed(before: string, { branch = 'main', after = hub.base() } = {}): Promise<Stepped> {
  const payload = example('push');
  Object.assign(payload, { ref: `refs/heads/${branch}`, before, after, deleted: false });
  return runStep({
    event: 'push',
    payload,
    forge: hub.forge,
    inputs: { mode: 'publish', 'plain-http': host },
  });
}

/** The index image's digest under its tag. */
async function tagged(): Promise<string | undefined> {
  return (await testClient([host]).resolve(parseReference(`${host}/org/index:v4.20`)))?.digest;
}

test('a merged bundle is proposed for its catalogs; merged, they are published, and all that they name is there', async () => {
  hub = await openHub(operator('propose'));
  const before = hub.base();
  hub.moveBase(bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0')));
  const first = await pushed(before);
  expect(first.status, first.log).toBe(0);
  const [released] = JSON.parse(first.outputs['released'] ?? '[]');
  expect(released).toMatchObject({ package: 'etcd', proposed: { kind: 'opened', number: 7 } });
  expect(first.summary).toContain('pull request 7');
  const twice = await pushed(before);
  expect(twice.status, twice.log).toBe(0);
  expect(hub.forge.pulls.size).toBe(1);
  const branch = 'portolan/release/etcd/1.1.0';
  const parent = hub.base();
  hub.moveBase(
    Object.fromEntries(
      [TEMPLATE, CATALOG, 'catalogs/v4.12/etcd/catalog.yaml'].map((path) => [
        path,
        `${hub.repository.git('show', `${branch}:${path}`)}\n`,
      ]),
    ),
  );
  for (const pull of hub.forge.pulls.values()) Object.assign(pull, { state: 'closed', merged: true });
  const old = await tagged();
  const third = await pushed(parent);
  expect(third.status, third.log).toBe(0);
  const { 'v4.20': receipt } = JSON.parse(third.outputs['published'] ?? '{}');
  expect(receipt).toMatchObject({ commit: hub.base() });
  expect(await tagged()).toBe(receipt.digest);
  expect(receipt.digest).not.toBe(old);
  const listed = await runCommand(['list', 'bundles', `${host}/org/index:v4.20`, '--insecure', host]);
  expect(listed.out).toContain(released.image);
  expect(await testClient([host]).resolve(parseReference(released.image))).toBeDefined();
  // The branch of what was merged is gone.
  expect(hub.repository.git('branch', '--list', 'portolan/*')).toBe('');
});

test('committed and published in one run', async () => {
  hub = await openHub(operator('commit'));
  const before = hub.base();
  hub.moveBase(bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0')));
  const { status, log, outputs } = await pushed(before);
  expect(status, log).toBe(0);
  const tip = hub.repository.git('rev-parse', 'main');
  expect(hub.repository.git('rev-parse', 'main^')).toBe(hub.base());
  expect(JSON.parse(outputs['published'] ?? '{}')).toMatchObject({ 'v4.20': { commit: tip } });
  const [{ image }] = JSON.parse(outputs['released'] ?? '[]');
  const listed = await runCommand(['list', 'bundles', `${host}/org/index:v4.20`, '--insecure', host]);
  expect(listed.out).toContain(image);
});

test('what one branch has released is new to another', async () => {
  hub = await openHub(operator('off'));
  const before = hub.base();
  const bundle = bundleFiles('etcd', '1.1.0');
  hub.moveBase(bundle);
  const first = await pushed(before);
  const after = hub.repository.commit(bundle, { parents: [before], branch: 'stable' });
  const second = await pushed(before, { branch: 'stable', after });
  for (const { status, log, outputs } of [first, second]) {
    expect(status, log).toBe(0);
    expect(JSON.parse(outputs['released'] ?? '')).toMatchObject([{ version: '1.1.0', findings: [] }]);
  }
  const noted = hub.forge.deployments.filter(({ environment }) => environment.startsWith('bundles'));
  expect(noted.map(({ environment, ref }) => [environment, ref])).toEqual([
    ['bundles', hub.base()],
    ['bundles/stable', after],
  ]);
});

test('bundle and catalog in one pull request: the bundle is pushed before the catalog that names it', async () => {
  hub = await openHub(operator('off'));
  const before = hub.base();
  const bundle = bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0'));
  hub.repository.commit(bundle, { parents: [before], branch: 'side' });
  const clone = folder();
  hub.repository.git('worktree', 'add', '--quiet', clone, 'side');
  const made = await runCommand(['release', 'etcd', '1.1.0', '--repo', clone]);
  const paths = made.out.split('\n').filter(Boolean);
  expect(paths, made.err).toContain(CATALOG);
  hub.moveBase({
    ...bundle,
    ...Object.fromEntries(paths.map((path) => [path, readFileSync(join(clone, path), 'utf8')])),
  });
  const { status, log, outputs } = await pushed(before);
  expect(status, log).toBe(0);
  const [{ image, proposed }] = JSON.parse(outputs['released'] ?? '[]');
  expect([await testClient([host]).resolve(parseReference(image)), proposed]).toEqual([
    expect.objectContaining({ digest: image.split('@')[1] }),
    undefined,
  ]);
  const listed = await runCommand(['list', 'bundles', `${host}/org/index:v4.20`, '--insecure', host]);
  expect(listed.out).toContain(image);
  expect(log.indexOf('released etcd 1.1.0')).toBeLessThan(log.indexOf('publishing v4.20'));
});

/** The catalog, with 1.1.0 by digest. */
const naming = (digest: string): Files => ({
  [CATALOG]: catalogOf('etcd', ['1.0.0', '1.1.0']).replace(
    /(etcd\.v1\.1\.0","image":")[^"]+/,
    `$1${host}/org/etcd-bundle@${digest}`,
  ),
});

/** The image of 1.1.0. */
async function madeOf(files: Files): Promise<BuiltBundle> {
  const commit = hub.repository.commit(files, { parents: [hub.base()], branch: 'side' });
  const repository = await openRepository(hub.repository.directory, { searchPath: process.env['PATH'] });
  const source = await treeRepository(repository.objects, commit).folder('operators/etcd/1.1.0');
  if (!source) throw new Error('no bundle');
  const name = { package: 'etcd', version: '1.1.0' };
  const made = await builtBundle(`${host}/org/{package}-bundle:v{version}`, name, source);
  await repository.close();
  return made;
}

test('a catalog is held back as long as a refused bundle is nowhere, and no longer', async () => {
  hub = await openHub(operator('off'));
  const before = hub.base();
  const bad = withoutInstallModes(bundleFiles('etcd', '1.1.0'));
  const made = await madeOf(bad);
  hub.moveBase({ ...bad, ...naming(made.digest) });
  const first = await pushed(before);
  expect(first.log).toContain(`v4.20 is held back: it references ${made.reference}`);
  const missing = () =>
    hub.forge.deployments.filter(({ environment }) => environment === 'bundles').at(-1)?.payload;
  expect(missing()).toMatchObject({ missing: [`${host}/org/etcd-bundle:v1.1.0`, made.reference] });
  // By hand, and nothing is left to be released.
  await pushMade(testClient([host]), made);
  const parent = hub.base();
  hub.moveBase(Object.fromEntries(Object.keys(bad).map((path) => [path, null])));
  const second = await pushed(parent);
  expect(second.status, second.log).toBe(0);
  expect(second.outputs['released']).toBe('[]');
  expect(Object.keys(JSON.parse(second.outputs['published'] ?? '{}'))).toEqual(['v4.20']);
  expect(missing()).toMatchObject({ refused: [], missing: [] });
});

test('a catalog that names a refused bundle is held back until both are corrected', async () => {
  hub = await openHub(operator('off'));
  const before = hub.base();
  const bundle = bundleFiles('etcd', '1.1.0');
  const digestOf = async (files: Files): Promise<string> => (await madeOf(files)).digest;
  const bad = withoutInstallModes(bundle);
  const refused = await digestOf(bad);
  hub.moveBase({ ...bad, ...naming(refused) });
  const first = await pushed(before);
  expect(first.status).toBe(1);
  expect(first.log).toContain('csv/install-modes');
  expect(first.log).toContain(`v4.20 is held back: it references ${host}/org/etcd-bundle@${refused}`);
  expect([first.outputs['published'], await tagged()]).toEqual(['{}', undefined]);
  // The directory was there before: it is built all the same. The catalog names what nobody has.
  let parent = hub.base();
  hub.moveBase(bundle);
  const second = await pushed(parent);
  const [{ image, findings }] = JSON.parse(second.outputs['released'] ?? '[]');
  expect([image, findings]).toEqual([`${host}/org/etcd-bundle@${await digestOf(bundle)}`, []]);
  expect([second.status, await tagged()]).toEqual([1, undefined]);
  parent = hub.base();
  hub.moveBase(naming(image.split('@')[1]));
  const third = await pushed(parent);
  expect(third.status, third.log).toBe(0);
  expect(await tagged()).toBeDefined();
  expect(third.outputs['released']).toBe('[]');
});

test('tags that moved are proposed by the schedule, in the name of the token', async () => {
  const client = testClient([host]);
  const push = async (content: string): Promise<string> => {
    const image = sampleImage({ layers: [content] });
    await pushImage(client, parseReference(`${host}/org/etcd:v1`), { image });
    return image.root.digest;
  };
  const old = await push('old');
  const catalog = catalogOf('etcd', ['1.0.0']).replaceAll(FIRST, `${host}/org/etcd@${old}`);
  hub = await openHub({
    [POLICY_PATH]: `${POLICY}registries: {allow: ['${host}'], internal: ['127.0.0.0/8']}\n`,
    [CATALOG]: catalog,
    'catalogs/v4.20.lock.json': formatLock({ digests: new Map([[`${host}/org/etcd:v1`, old]]) }),
  });
  const fresh = await push('fresh');
  const drift = { event: 'schedule', payload: { schedule: '' }, forge: hub.forge };
  const inputs = { mode: 'drift', 'plain-http': host };
  const { status, log, outputs, summary } = await runStep({ ...drift, inputs });
  expect(status, log).toBe(0);
  expect(JSON.parse(outputs['proposed'] ?? '{}')).toMatchObject({ 'v4.20': { kind: 'opened', number: 7 } });
  expect(summary).toContain('pull request 7: merge it, or close it');
  expect(hub.repository.git('show', `portolan/drift/v4.20:${CATALOG}`)).toBe(
    catalog.replaceAll(old, fresh).trimEnd(),
  );
  expect((await runStep({ ...drift, inputs })).outputs['proposed']).toContain('standing');
  // A job that may not write says what it lacks, and fails for it no more than for anything else that drifted.
  hub.moveBase({ 'catalogs/v4.20.lock.json': formatLock({ digests: new Map() }) });
  hub.forge.faults.push(({ operation }) =>
    operation.startsWith('POST /repos/{owner}/{repo}/git/')
      ? { status: 403, data: { message: 'no' } }
      : undefined,
  );
  hub.moveBase({ [CATALOG]: catalog.replace(`${host}/org/etcd@${old}`, `${host}/org/etcd:v1`) });
  const denied = await runStep({ ...drift, inputs });
  expect([denied.status, denied.outputs['drift']], denied.log).toEqual([0, '1']);
  expect(denied.summary).toContain('pull\\-requests: write');
  expect(denied.summary + denied.log.replaceAll(/^::add-mask::.*$/gm, '')).not.toContain(TOKEN);
});

test('a rollback by the command line is a pull request', async () => {
  hub = await openHub({ [CATALOG]: catalogOf('etcd', ['1.0.0']) });
  const to = hub.base();
  hub.moveBase({ [CATALOG]: catalogOf('etcd', ['1.0.0', '1.1.0']) });
  const environment = {
    PATH: process.env['PATH'],
    GITHUB_TOKEN: TOKEN,
    GITHUB_API_URL: hub.forge.url,
    GITHUB_SERVER_URL: hub.forge.url,
  };
  const words = ['rollback', 'v4.20', '--to', to.slice(0, 12), '--repo', 'example/catalogs'];
  const refused = await runCommand(words, { environment });
  expect([refused.exit, refused.err]).toEqual([1, expect.stringContaining('--accept-stranding')]);
  const ran = await runCommand([...words, '--accept-stranding'], { environment });
  expect([ran.exit, ran.out], ran.err).toEqual([0, expect.stringContaining('opened pull request 7')]);
  expect(hub.repository.git('diff', '--name-only', 'main...portolan/rollback/v4.20')).toBe(CATALOG);
});
