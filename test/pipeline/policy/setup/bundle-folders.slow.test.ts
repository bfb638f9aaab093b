import { expect, onTestFinished, test } from 'vitest';
import { catalogOf } from '../../../fakes/gate.ts';
import { bundleFiles, withoutInstallModes } from '../../../fakes/operators.ts';
import { type Files, makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

/** A bundle directory of etcd at another place than `operators/etcd/VERSION`. */
function bundleAt(folder: string, version = '1.0.0', files: Files = bundleFiles('etcd', version)): Files {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path.replace(`operators/etcd/${version}`, folder), text]),
  );
}

function repository(): TestRepository {
  const made = makeRepository();
  onTestFinished(made.remove);
  return made;
}

test.each<[string, Files, string[]]>([
  ['in a folder', bundleAt('olm/catalog/etcd/1.0.0'), ['olm/catalog/{package}/{version}/**']],
  ['at the top', bundleAt('etcd/v1.0.0'), ['{package:etcd}/{version}/**']],
  [
    'in two folders',
    { ...bundleAt('a/etcd/1.0.0'), ...bundleAt('b/etcd/1.0.0') },
    ['a/{package}/{version}/**', 'b/{package}/{version}/**'],
  ],
  ['in operators/', bundleFiles('etcd', '1.0.0'), []],
  ['without a version', bundleAt('bundle/etcd/latest'), []],
  ['in a folder that is not called after the package', bundleAt('releases/1.0.0'), []],
  ['of a test', bundleAt('test/etcd/1.0.0'), []],
  [
    'beside a catalog',
    { ...bundleAt('olm/etcd/1.0.0'), 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']) },
    [],
  ],
])('the policy names bundle directories %s', async (_, files, expected) => {
  const { directory, commit } = repository();
  const options = ['--commit', commit(files), '--admin', 'alice', '--dry-run', '--last', '0'];
  const { out } = await portolan(directory, 'setup', ...options);
  const [, written = ''] = /^layout:\n {2}bundle:\n((?: {2}- .*\n)+)/m.exec(out) ?? [];
  expect([...written.matchAll(/'(.*)'/g)].map(([, pattern]) => pattern)).toEqual(expected);
});

test.each<[string, Files, string | undefined]>([
  ['no version', bundleAt('bundle'), 'bundle'],
  ['a version above', bundleAt('releases/v1.0.0/bundle'), 'releases/v1.0.0/bundle'],
  ['no package', bundleAt('releases/1.0.0'), 'releases/*'],
  ['both', bundleAt('olm/etcd/1.0.0'), undefined],
  ['both, in operators/', bundleFiles('etcd', '1.0.0'), undefined],
])('setup says which no pattern names: folders with %s', async (_, files, expected) => {
  const { directory, commit } = repository();
  const options = ['--commit', commit(files), '--admin', 'alice', '--dry-run', '--last', '0'];
  const { out } = await portolan(directory, 'setup', ...options);
  expect(/^bundles: (.*): Portolan checks/m.exec(out)?.[1]).toBe(expected);
});

test('setup says that it does not check package manifests', async () => {
  const { directory, commit } = repository();
  const [csv = ''] = Object.entries(bundleFiles('etcd', '1.0.0')).flatMap(([path, text]) =>
    path.includes('clusterserviceversion') ? [String(text)] : [],
  );
  const files = {
    'deploy/olm/etcd.package.yaml': 'packageName: etcd\n',
    'deploy/olm/1.0.0/etcd.clusterserviceversion.yaml': csv,
    'docs/other.package.yaml': 'packageName: other\n',
  };
  const options = ['--commit', commit(files), '--admin', 'alice', '--dry-run', '--last', '0'];
  const { out } = await portolan(directory, 'setup', ...options);
  expect(/^package manifests: not checked, .*: (.*); portolan convert/m.exec(out)?.[1]).toBe('deploy/olm');
});

test('a check without a policy looks at them, as the policy of setup does', async () => {
  const { directory, commit } = repository();
  const base = commit(bundleAt('olm/etcd/1.0.0'));
  const broken = withoutInstallModes(bundleFiles('etcd', '1.1.0'));
  const head = commit(bundleAt('olm/etcd/1.1.0', '1.1.0', broken), { parents: [base] });
  const run = ['check', '--base', base, '--head', head, '--format', 'json'];
  const { findings } = JSON.parse((await portolan(directory, ...run)).out);
  const errors = findings.filter(({ severity }: { severity: string }) => severity === 'error');
  expect(errors.map(({ rule }: { rule: string }) => rule)).toEqual([
    'graph/install-modes-narrowed',
    'graph/newly-unsupported-v1',
    'csv/install-modes',
  ]);
  const files = errors.map(({ location }: { location: { file: string } }) => location.file);
  expect(new Set(files)).toEqual(new Set(['olm/etcd/1.1.0/manifests/etcd.clusterserviceversion.yaml']));
});
