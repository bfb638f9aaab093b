import { expect, test } from 'vitest';
import { convertToBundles } from '../../../catalog/bundle/package-bundles.ts';
import { readPackageFolder } from '../../../catalog/bundle/package-manifest.ts';
import { sourceOf } from '../../../catalog/source.ts';

function csv(name: string, annotations: Readonly<Record<string, string>> = {}): string {
  return JSON.stringify({
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name, annotations },
    spec: { version: name.slice(name.indexOf('.v') + 2) },
  });
}

function packageFile(channels: Readonly<Record<string, string>>, defaultChannel?: string): string {
  const all = Object.entries(channels).map(([name, currentCSV]) => ({ name, currentCSV }));
  return JSON.stringify({ packageName: 'etcd', channels: all, ...(defaultChannel && { defaultChannel }) });
}

async function converted(files: Readonly<Record<string, string>>) {
  const { files: made, findings } = convertToBundles(await readPackageFolder(sourceOf(files)));
  return {
    files: Object.fromEntries([...made].map(([path, one]) => [path, 'text' in one ? one.text : one])),
    findings: findings.map(({ rule, message }) => `${rule}: ${message}`),
  };
}

test('a version has the files of its folder, and labels as operator-sdk writes them', async () => {
  const stamps = {
    'operators.operatorframework.io/builder': 'operator-sdk-v1.0.0',
    'operators.operatorframework.io/project_layout': 'go.kubebuilder.io/v2',
    other: 'x',
  };
  const { files, findings } = await converted({
    'etcd.package.yaml': packageFile({ alpha: 'etcd.v1.0.0', stable: 'etcd.v1.0.0' }, 'stable'),
    'a/1.0.0/csv.yaml': csv('etcd.v1.0.0', stamps),
    'a/1.0.0/crd.yaml': '{kind: CustomResourceDefinition, metadata: {name: x}}',
    'a/1.0.0/test.yaml': '{kind: Configuration, apiVersion: scorecard.operatorframework.io/v1alpha3}',
    'a/1.0.0/below/crd.yaml': '{kind: CustomResourceDefinition, metadata: {name: y}}',
  });
  expect(findings).toEqual([]);
  expect(files).toEqual({
    'bundle-1.0.0/bundle.Dockerfile': `FROM scratch

# Core bundle labels.
LABEL operators.operatorframework.io.bundle.mediatype.v1=registry+v1
LABEL operators.operatorframework.io.bundle.manifests.v1=manifests/
LABEL operators.operatorframework.io.bundle.metadata.v1=metadata/
LABEL operators.operatorframework.io.bundle.package.v1=etcd
LABEL operators.operatorframework.io.bundle.channels.v1=alpha,stable
LABEL operators.operatorframework.io.bundle.channel.default.v1=stable
LABEL operators.operatorframework.io/builder=operator-sdk-v1.0.0
LABEL operators.operatorframework.io/project_layout=go.kubebuilder.io/v2

# Labels for testing.
LABEL operators.operatorframework.io.test.mediatype.v1=scorecard+v1
LABEL operators.operatorframework.io.test.config.v1=tests/scorecard/

# Copy files to locations specified by labels.
COPY bundle/manifests /manifests/
COPY bundle/metadata /metadata/
COPY bundle/tests/scorecard /tests/scorecard/
`,
    'bundle-1.0.0/bundle/manifests/crd.yaml': { from: 'a/1.0.0/crd.yaml' },
    'bundle-1.0.0/bundle/manifests/csv.yaml': { from: 'a/1.0.0/csv.yaml' },
    'bundle-1.0.0/bundle/tests/scorecard/config.yaml': { from: 'a/1.0.0/test.yaml' },
    'bundle-1.0.0/bundle/metadata/annotations.yaml': `annotations:
  # Core bundle annotations.
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: etcd
  operators.operatorframework.io.bundle.channels.v1: alpha,stable
  operators.operatorframework.io.bundle.channel.default.v1: stable
  operators.operatorframework.io/builder: operator-sdk-v1.0.0
  operators.operatorframework.io/project_layout: go.kubebuilder.io/v2

  # Annotations for testing.
  operators.operatorframework.io.test.mediatype.v1: scorecard+v1
  operators.operatorframework.io.test.config.v1: tests/scorecard/
`,
  });
});

test('a version that is no head comes into the default channel, the only one where none is named', async () => {
  const { files, findings } = await converted({
    'etcd.package.yaml': packageFile({ alpha: 'etcd.v2.0.0' }),
    '1.0.0/csv.yaml': csv('etcd.v1.0.0'),
    '2.0.0/csv.yaml': csv('etcd.v2.0.0'),
  });
  expect(findings).toEqual([
    'package-manifest/channels-lost: the bundle of "etcd.v1.0.0" declares only the channel "alpha": it is not the head of any channel',
  ]);
  for (const version of ['1.0.0', '2.0.0']) {
    const text = files[`bundle-${version}/bundle/metadata/annotations.yaml`];
    expect(text).toContain('bundle.channels.v1: alpha\n');
    expect(text).not.toContain('Annotations for testing');
    expect(files[`bundle-${version}/bundle.Dockerfile`]).not.toContain('test');
  }
});

test.each([
  ['no package file', {}],
  ['two channels and no default', { 'p.package.yaml': packageFile({ a: 'etcd.v1.0.0', b: 'etcd.v1.0.0' }) }],
  ['a channel without a name', { 'p.package.yaml': packageFile({ '': 'etcd.v1.0.0' }) }],
])('nothing is made of a folder with %s', async (_, files: Readonly<Record<string, string>>) => {
  expect(await converted({ ...files, '1.0.0/csv.yaml': csv('etcd.v1.0.0') })).toEqual({
    files: {},
    findings: [],
  });
});

test('versions without a folder of their own are left out', async () => {
  const { files, findings } = await converted({
    'etcd.package.yaml': packageFile({ alpha: 'etcd.v3.0.0' }),
    'csv.yaml': csv('etcd.v1.0.0'),
    'both/a.yaml': csv('etcd.v2.0.0'),
    'both/b.yaml': csv('etcd.v2.1.0'),
    'own/csv.yaml': csv('etcd.v3.0.0'),
  });
  expect(findings).toEqual([
    'package-manifest/version-folder: "etcd.v1.0.0" has no folder, so its files cannot be told from those of the package',
  ]);
  expect(Object.keys(files).filter((path) => path.endsWith('.Dockerfile'))).toEqual([
    'bundle-own/bundle.Dockerfile',
  ]);
});

test('90: names and annotations of package manifests are values in a Dockerfile and in YAML', async () => {
  const stamp = 'operators.operatorframework.io/builder';
  const version = (builder: string) => ({ 'a/1.0.0/csv.yaml': csv('etcd.v1.0.0', { [stamp]: builder }) });
  const manifest = packageFile({ 'a b': 'etcd.v1.0.0' }, 'a b');
  const { files } = await converted({ 'etcd.package.yaml': manifest, ...version('x y: "z"') });
  expect(files['bundle-1.0.0/bundle.Dockerfile']).toContain('.channels.v1="a b"\n');
  expect(files['bundle-1.0.0/bundle.Dockerfile']).toContain(`LABEL ${stamp}="x y: \\"z\\""\n`);
  expect(files['bundle-1.0.0/bundle/metadata/annotations.yaml']).toContain(`  ${stamp}: 'x y: "z"'\n`);
  const plain = await converted({ 'etcd.package.yaml': manifest, ...version('x\nRUN evil') });
  expect(JSON.stringify(plain.files)).not.toContain('evil');
  const hostile = packageFile({ 'a\nRUN evil': 'etcd.v1.0.0' }, 'a\nRUN evil');
  expect(await converted({ 'etcd.package.yaml': hostile, ...version('x') })).toEqual({
    files: {},
    findings: ['package-manifest/name: "a\\nRUN evil" cannot be a label: it has a control character'],
  });
});
