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

test('OLM v1: an installer that may make what the bundle brings, and grant what it asks for', async () => {
  const { exit, out } = await portolan(SAMPLE, 'bundle', 'manifests', '.', '--namespace', 'sea');
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
  expect(cluster).toContainEqual({ apiGroups: [''], resources: ['pods'], verbs: ['get'] });
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
  });
  const own = changed(
    /supported: false\n(.*)\n(.*)supported: true/,
    'supported: true\n$1\n$2supported: false',
  );
  const [, single] = documentsIn((await portolan(own, 'bundle', 'manifests', '.', '--olm', 'v0')).out);
  expect(single?.spec).toEqual({ targetNamespaces: ['etcd'] });
});

test('what a release of OLM v1 cannot install', async () => {
  const webhook = changed(
    / {2}customresourcedefinitions:/,
    '  webhookdefinitions:\n  - {type: ValidatingAdmissionWebhook, generateName: v.etcd.io, deploymentName: etcd}\n  customresourcedefinitions:',
  );
  const old = await portolan(webhook, 'bundle', 'manifests', '.', '--release', '4.18');
  expect(old).toMatchObject({ exit: 1, out: '' });
  expect(old.err).toContain('(olmv1/webhooks)');
  const current = await portolan(webhook, 'bundle', 'manifests', '.', '--release', '4.20');
  expect(current.out).toContain('validatingwebhookconfigurations');
  expect((await portolan(webhook, 'bundle', 'manifests', '.', '--release', '5.0')).exit).toBe(0);
  const own = changed(
    /supported: false\n(.*)\n(.*)supported: true/,
    'supported: true\n$1\n$2supported: false',
  );
  expect((await portolan(own, 'bundle', 'manifests', '.')).err).toContain('(olmv1/install-mode)');
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
