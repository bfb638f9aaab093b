import { expect, onTestFinished, test } from 'vitest';
import { catalogOf } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const bundle = (version: string, name = 'etcd'): Files => ({
  [`operators/${name}/${version}/manifests/${name}.clusterserviceversion.yaml`]: `kind: ClusterServiceVersion\nmetadata: {name: ${name}.v${version}}\nspec: {version: ${version}}\n`,
  [`operators/${name}/${version}/metadata/annotations.yaml`]: `annotations: {operators.operatorframework.io.bundle.package.v1: ${name}}\n`,
});
const without = (files: Files): Files => Object.fromEntries(Object.keys(files).map((path) => [path, null]));
const CATALOG = 'catalogs/v4.20/etcd/catalog.yaml';
const BASE: Files = {
  'README.md': '# operators\n',
  'operators/etcd/ci.yaml': 'fbc: {enabled: true}\n',
  'operators/quay/ci.yaml': 'updateGraph: replaces-mode\n',
  ...bundle('1.0.0'),
  ...bundle('1.1.0'),
  ...bundle('3.0.0', 'quay'),
  [CATALOG]: catalogOf('etcd', ['1.1.0']),
};

/** What the gate refuses of a pull request as a whole: rule, file, line, message. */
async function refused(head: Files, preset = 'community'): Promise<string[]> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const policy = { '.github/portolan.yaml': 'apiVersion: portolan/v1alpha1\nkind: Portolan\n' };
  const before = repository.commit({ ...policy, ...BASE });
  const after = repository.commit(head, { parents: [before] });
  const run = ['check', '--base', before, '--head', after, '--format', 'json', '--preset', preset];
  const { findings, gates } = JSON.parse((await portolan(repository.directory, ...run)).out);
  const own = findings.filter(({ rule }: { rule: string }) =>
    /^operator\/(?:pull-request|bundle-)/.test(rule),
  );
  const row = gates[0].checks.find(({ check }: { check: string }) => check === 'detect-changes');
  expect(row?.errors ?? 0).toBe(own.length);
  return own.map(
    ({ rule, message, location: { file, line } }: never) => `${rule} ${file}:${line} ${message}`,
  );
}

test.each<[string, Files]>([
  ['one new bundle', bundle('1.2.0')],
  ['the settings of two operators', { 'operators/etcd/ci.yaml': '', 'operators/quay/ci.yaml': '' }],
  ['a catalog', { [CATALOG]: catalogOf('etcd', ['1.0.0', '1.1.0']) }],
  ['a deleted bundle that no catalog has', without(bundle('1.0.0'))],
  ['a deleted bundle, also from its catalog', { ...without(bundle('1.1.0')), [CATALOG]: null }],
  ['other files alone', { 'README.md': '# other\n' }],
])('%s may be a pull request', async (_, head) => {
  expect(await refused(head)).toEqual([]);
});

test.each<[string, Files, string]>([
  [
    'two bundles',
    { ...bundle('1.2.0'), ...bundle('1.3.0') },
    'operator/pull-request operators/etcd/1.3.0/manifests/etcd.clusterserviceversion.yaml:1 the pull request adds several bundles: etcd/1.2.0, etcd/1.3.0',
  ],
  [
    'a bundle and another operator',
    { ...bundle('1.2.0'), 'operators/quay/ci.yaml': 'updateGraph: semver-mode\n' },
    'operator/pull-request operators/quay/ci.yaml:1 the pull request changes a bundle and several operators: etcd, quay',
  ],
  [
    'a bundle and a catalog',
    { ...bundle('1.2.0'), [CATALOG]: catalogOf('etcd', ['1.0.0', '1.1.0']) },
    `operator/pull-request ${CATALOG}:1 the pull request changes etcd/1.2.0 and the catalogs v4.20/etcd`,
  ],
  [
    'a bundle and another file',
    { ...bundle('1.2.0'), 'README.md': '# other\n' },
    'operator/pull-request README.md:1 the pull request changes files outside of operators and catalogs: README.md',
  ],
  [
    'a new and a deleted bundle',
    { ...bundle('1.2.0'), ...without(bundle('1.0.0')) },
    'operator/pull-request operators/etcd/1.2.0/manifests/etcd.clusterserviceversion.yaml:1 the pull request adds etcd/1.2.0 and deletes etcd/1.0.0',
  ],
  [
    'a changed bundle',
    { 'operators/etcd/1.0.0/metadata/annotations.yaml': 'annotations: {a: b}\n' },
    'operator/bundle-changed operators/etcd/1.0.0/metadata/annotations.yaml:1 the pull request changes the bundle "etcd/1.0.0", which the base branch has already',
  ],
  [
    'a deleted bundle of an operator without catalogs',
    without(bundle('3.0.0', 'quay')),
    'operator/bundle-deleted operators/quay/3.0.0/manifests/quay.clusterserviceversion.yaml:1 the pull request deletes quay/3.0.0, and ci.yaml of the operator does not have fbc.enabled: true',
  ],
  [
    'a deleted bundle that a catalog has',
    without(bundle('1.1.0')),
    'operator/bundle-deleted operators/etcd/1.1.0/manifests/etcd.clusterserviceversion.yaml:1 the pull request deletes the bundle "etcd/1.1.0", which a catalog still has',
  ],
])('%s cannot be a pull request', async (_, head, expected) => {
  expect(await refused(head)).toEqual([expected]);
  expect(await refused(head, 'certified')).toEqual([expected]);
  expect(await refused(head, 'konflux')).toEqual([]);
});

test('an operator that is called as the folder of all operators is checked alone', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const policy = 'apiVersion: portolan/v1alpha1\nkind: Portolan\nrules: {operator/version-folder: error}\n';
  const before = repository.commit({ ...BASE, '.github/portolan.yaml': policy });
  const [csv = '', annotations = ''] = Object.keys(bundle('1.0.0', 'operators'));
  const own = {
    ...bundle('1.0.0', 'operators'),
    [csv]: 'kind: ClusterServiceVersion\nspec: {version: 1.0.1}\n',
  };
  const after = repository.commit(own, { parents: [before] });
  const run = ['check', '--base', before, '--head', after, '--format', 'json'];
  const { findings } = JSON.parse((await portolan(repository.directory, ...run)).out);
  const told = findings.filter(({ rule }: { rule: string }) => rule === 'operator/version-folder');
  expect(annotations).toContain('operators/operators/1.0.0');
  expect(told).toMatchObject([{ package: 'operators', location: { file: csv } }]);
});
