/** From a merged bundle to its catalogs: the image first, then a pull request or a commit, as the policy says. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BundleName, builtBundle, pushMade } from '../../pipeline/catalogs/release/bundle-image.ts';
import { treeRepository } from '../../pipeline/catalogs/release/release-repository.ts';
import { authorizationHeader } from '../../pipeline/git/process.ts';
import { openRemote } from '../../pipeline/git/remote.ts';
import type { Repository } from '../../pipeline/git/repository.ts';
import { type BundleRelease, releaseBundles } from '../../pipeline/github/proposals/release-bundles.ts';
import { POLICY_PATH, policyAt } from '../../pipeline/policy/read-policy.ts';
import { catalogOf, POLICY } from '../fakes/gate.ts';
import { unpaced } from '../fakes/github/client.ts';
import { TOKEN } from '../fakes/github/forge.ts';
import { testClient } from '../fakes/host.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { basicTemplate, bundleFiles, CI, releaseConfig, withoutInstallModes } from '../fakes/operators.ts';
import { registry } from '../fakes/registry.ts';

const FIRST = `quay.io/org/etcd@sha256:${'0'.repeat(63)}1`;
const TEMPLATE = 'operators/etcd/catalog-templates/basic.yaml';

let hub: Hub;
let repository: Repository;
let host: string;
beforeEach(async () => {
  ({ host } = await registry());
  hub = await openHub({
    ...policyOf('propose'),
    ...bundleFiles('etcd', '1.0.0'),
    'operators/etcd/ci.yaml': CI,
    [TEMPLATE]: basicTemplate('etcd', '1.0.0', FIRST),
    'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
  });
  const remote = { url: `${hub.forge.url}/example/catalogs.git`, header: authorizationHeader(TOKEN) };
  repository = openRemote(remote, { searchPath: process.env['PATH'] });
});
afterEach(async () => {
  await repository.close();
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

function policyOf(mode: string): Record<string, string> {
  const release = `release: {bundles: '${host}/org/{package}-bundle:v{version}', mode: ${mode}}\n`;
  return { [POLICY_PATH]: `${POLICY}${release}` };
}

async function released(
  before: string,
  commit: string,
  { branch = 'main', refused = [] }: { branch?: string; refused?: readonly BundleName[] } = {},
): Promise<BundleRelease[]> {
  await repository.bring([before, commit]);
  const { policy, findings } = await policyAt(repository.objects, commit);
  if (!policy) throw new Error(JSON.stringify(findings));
  const client = testClient([host]);
  const ports = {
    github: unpaced(hub.forge),
    name: { owner: 'example', repo: 'catalogs' },
    repository,
    registry: client,
    registryFor: () => client,
  };
  return releaseBundles(ports, { branch, before, commit, refused, policy, today: '2026-01-01' });
}

const show = (version: string, path: string): string =>
  hub.repository.git('show', `portolan/release/etcd/${version}:${path}`);

test('a merged bundle is pushed, and its catalogs are a pull request that follows the branch', async () => {
  const before = hub.base();
  const commit = hub.moveBase(bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0')));
  const [one] = await released(before, commit);
  // Files come together, not one by one.
  expect(hub.forge.git.requests).toBeLessThanOrEqual(16);
  expect(one).toMatchObject({ findings: [], proposed: { kind: 'opened', number: 7 } });
  const image = one?.image ?? '';
  expect(image).toMatch(new RegExp(`^${host}/org/etcd-bundle@sha256:`));
  expect(hub.repository.git('diff', '--name-only', 'main...portolan/release/etcd/1.1.0').split('\n')).toEqual(
    ['catalogs/v4.12/etcd/catalog.yaml', 'catalogs/v4.20/etcd/catalog.yaml', TEMPLATE],
  );
  expect(show('1.1.0', TEMPLATE)).toContain('# by hand');
  expect(show('1.1.0', 'catalogs/v4.20/etcd/catalog.yaml')).toContain(`image: ${image}`);
  // In the form that each platform takes.
  const formOf = (catalog: string) =>
    /olm\.(?:bundle\.object|csv\.metadata)/.exec(show('1.1.0', `catalogs/${catalog}/etcd/catalog.yaml`))?.[0];
  expect([formOf('v4.12'), formOf('v4.20')]).toEqual(['olm.bundle.object', 'olm.csv.metadata']);
  expect(hub.forge.pulls.get(7)).toMatchObject({ title: 'Release etcd 1.1.0' });
  expect(await released(before, commit)).toMatchObject([{ image, proposed: { kind: 'standing' } }]);
  // A second version meanwhile: a pull request of its own; when it is merged the first one is made anew, or closed.
  const next = hub.moveBase(bundleFiles('etcd', '1.0.1', releaseConfig('etcd.v1.0.0')));
  expect(await released(commit, next)).toMatchObject([
    { version: '1.1.0', proposed: { kind: 'standing' } },
    { version: '1.0.1', proposed: { kind: 'opened', number: 8 } },
  ]);
  const merged = hub.moveBase({ [TEMPLATE]: `${show('1.0.1', TEMPLATE)}\n` });
  expect(await released(next, merged)).toMatchObject([
    { version: '1.0.1', proposed: { kind: 'updated' } },
    { version: '1.1.0', proposed: { kind: 'updated' } },
  ]);
  expect(show('1.1.0', TEMPLATE)).toMatch(/etcd\.v1\.0\.1[\s\S]*etcd\.v1\.1\.0/);
});

test('what was proposed of a bundle that is gone is taken back, by its own branch', async () => {
  const before = hub.base();
  const commit = hub.moveBase(bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0')));
  await released(before, commit);
  hub.repository.git('branch', 'release-4.18', before);
  expect(await released(before, before, { branch: 'release-4.18' })).toEqual([]);
  expect(hub.forge.pulls.get(7)?.state).toBe('open');
  const paths = Object.keys(bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0')));
  const gone = hub.moveBase(Object.fromEntries(paths.map((path) => [path, null])));
  const taken = { findings: [], image: undefined, proposed: { kind: 'closed', number: 7 } };
  expect(await released(commit, gone)).toMatchObject([{ package: 'etcd', version: '1.1.0', ...taken }]);
  expect(await released(gone, gone)).toEqual([]);
});

test('a bundle that came back is left to the run that was told of it', async () => {
  const before = hub.base();
  const bundle = bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0'));
  const commit = hub.moveBase(bundle);
  await released(before, commit);
  const gone = hub.moveBase(Object.fromEntries(Object.keys(bundle).map((path) => [path, null])));
  hub.moveBase(bundle);
  expect(await released(commit, gone)).toMatchObject([{ findings: [], proposed: { kind: 'left' } }]);
  expect(hub.forge.pulls.get(7)?.state).toBe('open');
});

test('committed onto the branch, where that takes it', async () => {
  hub.moveBase(policyOf('commit'));
  const before = hub.base();
  const commit = hub.moveBase({
    ...bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0')),
    ...bundleFiles('etcd', '1.2.0', releaseConfig('etcd.v1.1.0')),
  });
  const done = await released(before, commit);
  const tip = hub.repository.git('rev-parse', 'main');
  expect(done.map((one) => one.commit)).toEqual([hub.repository.git('rev-parse', 'main^'), tip]);
  expect(hub.repository.git('rev-parse', 'main~2')).toBe(commit);
  expect(hub.repository.git('show', 'main:catalogs/v4.20/etcd/catalog.yaml')).toMatch(
    /etcd\.v1\.2\.0\n {2}replaces: etcd\.v1\.1\.0/,
  );
  // Twice is once.
  expect((await released(before, tip)).map((one) => one.commit)).toEqual([undefined, undefined]);
  // A branch that takes no pushes: a pull request.
  hub.forge.faults.push(({ operation, path }) =>
    operation.startsWith('PATCH') && path['ref'] === 'heads/main'
      ? { status: 422, data: { message: 'Changes must be made through a pull request.' } }
      : undefined,
  );
  const more = hub.repository.commit(bundleFiles('etcd', '1.3.0', releaseConfig('etcd.v1.2.0')), {
    parents: ['main'],
  });
  expect(await released(tip, more)).toMatchObject([{ version: '1.3.0', proposed: { kind: 'opened' } }]);
});

test('a bundle is judged as the check judges it: under the policy and its waivers', async () => {
  const before = hub.base();
  const bad = withoutInstallModes(bundleFiles('etcd', '1.1.0'));
  const commit = hub.moveBase(bad);
  const where = 'operators/etcd/1.1.0/manifests/etcd.clusterserviceversion.yaml';
  expect(await released(before, commit)).toMatchObject([
    { image: undefined, findings: [{ rule: 'csv/install-modes', location: { file: where } }] },
  ]);
  // What was refused is looked at again as long as it is there, whatever the later commit brings.
  const later = [
    { package: 'etcd', version: '1.1.0' },
    { package: 'etcd', version: '0.0.1' },
  ];
  expect(await released(commit, commit, { refused: later })).toMatchObject([
    { version: '1.1.0', missing: [`${host}/org/etcd-bundle:v1.1.0`, expect.stringContaining('@sha256:')] },
  ]);
  // No image can be made of it: by its tag a catalog names it all the same.
  const none = hub.moveBase({ 'operators/etcd/1.1.0/metadata/annotations.yaml': 'annotations: {}\n' });
  expect(await released(before, none)).toMatchObject([{ missing: [`${host}/org/etcd-bundle:v1.1.0`] }]);
  hub.moveBase(bad);
  const [[path = '', text = ''] = []] = Object.entries(policyOf('propose'));
  for (const more of [
    'rules: {csv/install-modes: warning}\n',
    'waivers: [{rule: csv/install-modes, package: etcd, until: 2026-12-31, reason: a library}]\n',
  ]) {
    const next = hub.moveBase({ [path]: text + more });
    expect(await released(before, next)).toMatchObject([{ image: expect.any(String), findings: [] }]);
  }
  // What only others than OLM v0 ask for counts where the policy names it.
  const strict = hub.moveBase({
    [path]: `${text}rules: {csv/icon-missing: error, csv/install-modes: off}\n`,
  });
  expect(await released(before, strict)).toMatchObject([
    { image: undefined, findings: [{ rule: 'csv/icon-missing' }] },
  ]);
});

test('what the check could not look at is proposed, not committed, and so is what waits', async () => {
  hub.moveBase(policyOf('commit'));
  const before = hub.base();
  await repository.bring([before]);
  // An image that no catalog holds yet: the check asks nobody for it.
  const folder = await treeRepository(repository.objects, before).folder('operators/etcd/1.0.0');
  if (!folder) throw new Error('no bundle');
  const pattern = `${host}/other/{package}:v{version}`;
  const other = await builtBundle(pattern, { package: 'etcd', version: '1.0.0' }, folder);
  await pushMade(testClient([host]), other);
  const commit = hub.moveBase({
    [TEMPLATE]: basicTemplate('etcd', '1.0.0', other.reference),
    ...bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0')),
  });
  expect(await released(before, commit)).toMatchObject([
    { findings: [], commit: undefined, proposed: { kind: 'opened' } },
  ]);
  expect(hub.repository.git('rev-parse', 'main')).toBe(commit);
  // Now nothing is fetched for it any more, and nobody has judged what it makes of that.
  const next = hub.moveBase({
    [TEMPLATE]: basicTemplate('etcd', '1.0.0', FIRST),
    'operators/etcd/ci.yaml': CI.replace('v4.20]', 'v4.20, v9.99]'),
  });
  expect(await released(commit, next)).toMatchObject([
    { version: '1.1.0', commit: undefined, proposed: { kind: 'updated' } },
  ]);
  expect(hub.repository.git('rev-parse', 'main')).toBe(next);
});

test('what cannot be released is told apart, and the others go on', async () => {
  const before = hub.base();
  const commit = hub.moveBase({
    ...bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0')),
    ...bundleFiles('etcd', '1.2.0', 'catalog_templates: [{template_name: none.yaml, channels: [stable]}]\n'),
    ...bundleFiles('quay', '3.0.0'),
  });
  expect(await released(before, commit)).toMatchObject([
    { package: 'etcd', version: '1.1.0', findings: [], proposed: { kind: 'opened' } },
    {
      version: '1.2.0',
      findings: [
        {
          message: expect.stringContaining('"none.yaml"'),
          location: { file: 'operators/etcd/1.2.0/release-config.yaml' },
        },
      ],
    },
    // Nothing says which catalogs take it.
    { package: 'quay', image: expect.stringContaining('quay-bundle@'), proposed: { kind: 'nothing' } },
  ]);
  // Another image under the tag of a version.
  const csv = 'operators/etcd/1.1.0/manifests/etcd.clusterserviceversion.yaml';
  const changed = hub.repository.commit(
    { [csv]: `${hub.repository.git('show', `main:${csv}`)}\n# changed\n` },
    { parents: ['main'] },
  );
  const [first] = await released(before, changed);
  expect(first).toMatchObject({
    image: undefined,
    findings: [
      {
        message: expect.stringContaining('etcd-bundle:v1.1.0 already is sha256:'),
        hint: expect.stringContaining('use a new version'),
      },
    ],
  });
});
