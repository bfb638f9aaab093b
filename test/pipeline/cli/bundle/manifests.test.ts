import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readManifestFile } from '../../../../catalog/bundle/manifest.ts';
import { folder } from '../../../fakes/folder.ts';
import { portolan } from '../../../fakes/terminal.ts';

const SAMPLE = 'test/catalogs/bundle';

interface Found {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly { resources: string[]; resourceNames?: string[]; verbs: string[] }[];
  readonly spec?: unknown;
}

function documentsIn(text: string): Found[] {
  const { documents } = readManifestFile('out.yaml', new TextEncoder().encode(text));
  return documents.flatMap((document) => (document.kind === 'value' ? [document.value as Found] : []));
}

function changed(from: RegExp, to: string): string {
  const directory = folder();
  cpSync(SAMPLE, directory, { recursive: true });
  const path = join(directory, 'manifests/csv.yaml');
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
  return directory;
}

const COMMAND = ['bundle', 'manifests', '.'];

test('OLM v1 before operator-controller 1.11: an installer that may make what the bundle brings, and grant what it asks for', async () => {
  const { exit, out } = await portolan(SAMPLE, ...COMMAND, '--olm-v1-before', '--namespace', 'sea');
  const documents = documentsIn(out);
  expect(exit).toBe(0);
  expect(
    documents.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`),
  ).toEqual([
    'Namespace /sea',
    'ServiceAccount sea/etcd-installer',
    'ClusterRole /etcd-installer',
    'ClusterRoleBinding /etcd-installer',
    'Role sea/etcd-installer',
    'RoleBinding sea/etcd-installer',
    'ClusterExtension /etcd',
  ]);
  const cluster = documents[2]?.rules ?? [];
  expect(cluster).toContainEqual({
    apiGroups: ['', 'etcd.io'],
    resources: ['pods', 'etcds'],
    verbs: ['get'],
  });
  expect(cluster).toContainEqual({
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    resourceNames: ['etcds.etcd.io'],
    verbs: ['get', 'update', 'patch', 'delete'],
  });
  expect(JSON.stringify([cluster, documents[4]?.rules])).not.toContain('*');
  expect(documents[6]?.spec).toEqual({
    namespace: 'sea',
    serviceAccount: { name: 'etcd-installer' },
    source: { sourceType: 'Catalog', catalog: { packageName: 'etcd', version: '1.0.0' } },
  });
});

test.each([
  ['--release', '4.22', 'ServiceAccount'],
  ['--release', '5.0', 'ValidatingAdmissionPolicy'],
])('OLM v1 of %s %s limits installations by a %s', async (option, release, kind) => {
  const { exit, out } = await portolan(SAMPLE, ...COMMAND, option, release);
  expect(exit).toBe(0);
  expect(documentsIn(out)[1]?.kind).toBe(kind);
  expect(out.includes('serviceAccount:')).toBe(kind === 'ServiceAccount');
});

test('OLM v1: one policy of the allowed packages, for all but administrators or for a group', async () => {
  const { exit, out, err } = await portolan(SAMPLE, ...COMMAND, '--allow-package', 'vault');
  const [namespace, policy, bound, extension] = documentsIn(out);
  expect({ exit, err }).toEqual({ exit: 0, err: '' });
  expect(namespace?.kind).toBe('Namespace');
  expect(policy).toMatchObject({
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'clusterextension-packages' },
    spec: {
      failurePolicy: 'Fail',
      matchConditions: [{ expression: "!authorizer.group('*').resource('*').check('*').allowed()" }],
      validations: [{ message: 'only these packages are allowed: etcd, vault' }],
    },
  });
  expect(JSON.stringify(policy)).toContain(JSON.stringify('packageName in ["etcd","vault"]').slice(1, -1));
  expect(bound?.spec).toEqual({ policyName: 'clusterextension-packages', validationActions: ['Deny'] });
  expect(extension?.spec).toEqual({
    namespace: 'etcd',
    source: { sourceType: 'Catalog', catalog: { packageName: 'etcd', version: '1.0.0' } },
  });
  const [, ofTeam] = documentsIn((await portolan(SAMPLE, ...COMMAND, '--group', 'Team "A"')).out);
  expect(ofTeam).toMatchObject({
    metadata: { name: expect.stringMatching(/^clusterextension-packages-team-a-[0-9a-f]{8}$/) },
    spec: { matchConditions: [{ expression: '"Team \\"A\\"" in request.userInfo.groups' }] },
  });
  const names = new Set<unknown>();
  for (const group of ['team-a', 'Team A', 'team:a', '*']) {
    const [, { metadata } = {}] = documentsIn((await portolan(SAMPLE, ...COMMAND, '--group', group)).out);
    names.add(metadata?.['name']);
  }
  expect([names.size, names.has('clusterextension-packages-team-a')]).toEqual([4, true]);
});

test('OpenShift 4.17: the ClusterExtension of the technology preview', async () => {
  const of = async (...words: string[]) =>
    documentsIn((await portolan(SAMPLE, ...COMMAND, '--release', '4.17', ...words)).out).at(-1);
  expect(await of('--channel', 'stable', '--version', '1.x')).toEqual({
    apiVersion: 'olm.operatorframework.io/v1alpha1',
    kind: 'ClusterExtension',
    metadata: { name: 'etcd' },
    spec: {
      packageName: 'etcd',
      installNamespace: 'etcd',
      serviceAccount: { name: 'etcd-installer' },
      channel: 'stable',
      version: '1.x',
    },
  });
  const loose = await of('--upgrade-constraint-policy', 'SelfCertified', '--crd-upgrade-safety', 'None');
  expect(loose?.spec).toMatchObject({
    upgradeConstraintPolicy: 'Ignore',
    preflight: { crdUpgradeSafety: { disabled: true } },
  });
  const { exit, err } = await portolan(SAMPLE, ...COMMAND, '--release', '4.16');
  expect(exit).toBe(2);
  expect(err).toContain('OLM v1 is in OpenShift 4.17 and later: use --olm v0 for 4.16');
});

test('OLM v1: the checks of upgrades, and settings of deployments', async () => {
  const directory = changed(/ {2}displayName: etcd/, '  displayName: etcd');
  writeFileSync(join(directory, 'config.yaml'), 'env: [{name: LOG_LEVEL, value: debug}]\n');
  const words = ['--upgrade-constraint-policy', 'CatalogProvided', '--crd-upgrade-safety', 'Strict'];
  const { out, err } = await portolan(directory, ...COMMAND, ...words, '--deployment-config', 'config.yaml');
  expect(documentsIn(out).at(-1)?.spec).toMatchObject({
    source: { catalog: { upgradeConstraintPolicy: 'CatalogProvided' } },
    install: { preflight: { crdUpgradeSafety: { enforcement: 'Strict' } } },
    config: {
      configType: 'Inline',
      inline: { deploymentConfig: { env: [{ name: 'LOG_LEVEL', value: 'debug' }] } },
    },
  });
  expect(err).toBe('the ClusterExtension needs the feature gate DeploymentConfig\n');
  for (const text of ['', '[]\n', '{}\n', 'a: 1\n---\nb: 2\n', 'a: [\n']) {
    writeFileSync(join(directory, 'config.yaml'), text);
    const refused = await portolan(directory, ...COMMAND, '--deployment-config', 'config.yaml');
    expect(refused).toMatchObject({ exit: 2, out: '' });
  }
});

/** The bundle with these install modes only. */
function withModes(...types: readonly string[]): string {
  const modes = types.map((type) => `  - {type: ${type}, supported: true}\n`).join('');
  return changed(/installModes:\n( {2}-.*\n {4}.*\n)*/, `installModes:\n${modes}`);
}

test.each([
  [['OwnNamespace'], [], 'etcd'],
  [['SingleNamespace'], ['--watch-namespace', 'apps'], 'apps'],
  [['AllNamespaces', 'SingleNamespace'], ['--watch-namespace', 'apps'], 'apps'],
  [['AllNamespaces', 'OwnNamespace'], [], undefined],
])('OLM v1: a bundle of %s with %s watches %s', async (modes, words, watched) => {
  const { out, err } = await portolan(withModes(...modes), ...COMMAND, ...words);
  const spec = documentsIn(out).at(-1)?.spec as { readonly config?: unknown };
  expect(spec.config).toEqual(
    watched === undefined ? undefined : { configType: 'Inline', inline: { watchNamespace: watched } },
  );
  expect(err.includes('SingleOwnNamespaceInstallSupport')).toBe(watched !== undefined);
});

test.each([
  [['SingleNamespace'], [], 'it only watches one other namespace: set --watch-namespace'],
  [['OwnNamespace'], ['--watch-namespace', 'apps'], 'it does not support SingleNamespace'],
  [['AllNamespaces'], ['--watch-namespace', 'etcd'], 'it does not support OwnNamespace'],
  [['MultiNamespace'], [], 'it only supports MultiNamespace'],
])('a bundle of %s with %s is refused by both versions of OLM', async (modes, words, why) => {
  for (const olm of ['v0', 'v1']) {
    const { exit, out, err } = await portolan(withModes(...modes), ...COMMAND, '--olm', olm, ...words);
    expect({ exit, out }).toEqual({ exit: 2, out: '' });
    expect(err).toContain(why);
  }
});

test.each([
  [['--olm', 'v0', '--group', 'a'], '--group has no effect with --olm v0'],
  [['--service-account', 'a'], '--service-account has no effect with --olm v1'],
  [['--olm-v1-before', '--allow-package', 'a'], '--allow-package needs OLM v1 of OpenShift 5.0 or later'],
  [['--release', '4.22', '--group', 'a'], '--group needs OLM v1 of OpenShift 5.0 or later'],
])('options that the OLM does not know: %s', async (words, message) => {
  const { exit, out, err } = await portolan(SAMPLE, ...COMMAND, ...words);
  expect({ exit, out }).toEqual({ exit: 2, out: '' });
  expect(err).toContain(message);
});

test('a range or a channel instead of the version', async () => {
  const spec = async (...words: string[]): Promise<unknown> =>
    documentsIn((await portolan(SAMPLE, 'bundle', 'manifests', '.', ...words)).out).at(-1)?.spec;
  expect(await spec('--version', '>=1.0.0 <2.0.0')).toMatchObject({
    source: { catalog: { packageName: 'etcd', version: '>=1.0.0 <2.0.0' } },
  });
  expect(await spec('--channel', 'stable')).toMatchObject({
    source: { catalog: { packageName: 'etcd', channels: ['stable'] } },
  });
});

test('OLM v0: the group for the install modes, and the subscription', async () => {
  const all = await portolan(SAMPLE, 'bundle', 'manifests', '.', '--olm', 'v0', '--catalog', 'ours');
  const [, group, subscription] = documentsIn(all.out);
  expect(group).toMatchObject({ kind: 'OperatorGroup', spec: {} });
  expect(subscription?.spec).toEqual({
    channel: 'stable',
    name: 'etcd',
    source: 'ours',
    sourceNamespace: 'olm',
    startingCSV: 'etcd.v1.0.0',
    installPlanApproval: 'Manual',
  });
  const own = changed(
    /supported: false\n(.*)\n(.*)supported: true/,
    'supported: true\n$1\n$2supported: false',
  );
  const [, single] = documentsIn((await portolan(own, 'bundle', 'manifests', '.', '--olm', 'v0')).out);
  expect(single?.spec).toEqual({ targetNamespaces: ['etcd'] });
});

test('OLM v0: a service account with what the installation takes', async () => {
  const { out } = await portolan(SAMPLE, ...COMMAND, '--olm', 'v0', '--service-account', 'etcd-installer');
  const documents = documentsIn(out);
  expect(documents.map(({ kind }) => kind)).toEqual([
    'Namespace',
    'ServiceAccount',
    'Role',
    'RoleBinding',
    'OperatorGroup',
    'Subscription',
  ]);
  expect(documents[2]?.rules).toContainEqual({
    apiGroups: ['', 'etcd.io'],
    resources: ['pods', 'etcds'],
    verbs: ['get'],
  });
  expect(documents[4]?.spec).toEqual({ serviceAccountName: 'etcd-installer' });
  const cluster = changed(/ {6}permissions:/, '      clusterPermissions:');
  const ofCluster = documentsIn(
    (await portolan(cluster, ...COMMAND, '--olm', 'v0', '--service-account', 'a')).out,
  ).find(({ kind }) => kind === 'ClusterRole');
  expect(ofCluster?.rules).toContainEqual({
    apiGroups: ['', 'etcd.io'],
    resources: ['pods', 'etcds'],
    verbs: ['get'],
  });
});

test('what a release of OLM v1 cannot install', async () => {
  const webhook = changed(
    / {2}customresourcedefinitions:/,
    '  webhookdefinitions:\n  - {type: ValidatingAdmissionWebhook, generateName: v.etcd.io, deploymentName: etcd}\n  customresourcedefinitions:',
  );
  const old = await portolan(webhook, 'bundle', 'manifests', '.', '--release', '4.18');
  expect(old).toMatchObject({ exit: 1, out: '' });
  expect(old.err).toContain('(olmv1/webhooks)');
  const current = await portolan(webhook, ...COMMAND, '--release', '4.20');
  expect(current.out).toContain('validatingwebhookconfigurations');
  expect((await portolan(webhook, 'bundle', 'manifests', '.', '--release', '5.0')).exit).toBe(0);
  const own = withModes('OwnNamespace');
  expect((await portolan(own, ...COMMAND, '--olm-v1-before')).err).toContain('(olmv1/install-mode)');
});

test('values that OLM or Kubernetes would refuse are usage errors', async () => {
  const run = (...words: string[]) => portolan(SAMPLE, 'bundle', 'manifests', '.', ...words);
  const refused: Readonly<Record<string, readonly string[]>> = {
    '--namespace': ['A b', 'a.b', ''],
    '--name': ['A b', ''],
    '--version': ['abc', '', `>=1.0.0 <${'1'.repeat(64)}.0.0`],
    '--channel': ['A b', ''],
    '--catalog': ['a b'],
    '--catalog-namespace': ['??'],
    '--release': ['abc'],
    '--watch-namespace': ['a.b'],
    '--allow-package': ['A b'],
  };
  for (const [option, values] of Object.entries(refused)) {
    for (const value of values) {
      const { exit, out, err } = await run(option, value);
      expect({ exit, out }).toEqual({ exit: 2, out: '' });
      expect(err).toContain(`${option} must be a`);
    }
  }
  expect((await run('--namespace', 'a-b', '--name', 'a.b', '--version', '1.x || ~2.0')).exit).toBe(0);
  expect((await run('--olm', 'v0', '--channel', 'Beta_1')).exit).toBe(0);
});

test('a namespace of Kubernetes itself is not taken from a bundle', async () => {
  const suggesting = (name: string): string =>
    changed(/annotations:\n/, `annotations:\n    operatorframework.io/suggested-namespace: ${name}\n`);
  for (const name of ['kube-system', 'default']) {
    const { exit, out, err } = await portolan(suggesting(name), ...COMMAND);
    expect({ exit, out }).toEqual({ exit: 2, out: '' });
    expect(err).toContain(
      `the bundle suggests the namespace "${name}", which is not for operators\n  name one, for example --namespace etcd`,
    );
    expect((await portolan(suggesting(name), ...COMMAND, '--namespace', name)).exit).toBe(0);
  }
  expect((await portolan(suggesting('openshift-operators'), ...COMMAND)).out).toContain(
    'name: openshift-operators',
  );
});

test('119: a name that YAML readers take for another type is quoted', async () => {
  const directory = folder();
  cpSync(SAMPLE, directory, { recursive: true });
  const path = join(directory, 'metadata/annotations.yaml');
  const text = readFileSync(path, 'utf8');
  for (const name of ['~', '=', '<<']) {
    writeFileSync(path, text.replace(/(package\.v1:).*/, `$1 '${name}'`));
    const { out } = await portolan(
      directory,
      ...COMMAND,
      '--release',
      '4.18',
      '--namespace',
      'sea',
      '--name',
      'etcd',
    );
    expect(out).toContain(`packageName: "${name}"\n`);
  }
});
