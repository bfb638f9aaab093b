import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { catalogOf } from '../../../fakes/gate.ts';
import { registry } from '../../../fakes/registry.ts';
import { portolan } from '../../../fakes/terminal.ts';

const IMAGE = `quay.io/org/etcd@sha256:${'0'.repeat(63)}1`;
const NEW = `quay.io/org/etcd-new@sha256:${'0'.repeat(63)}2`;

const FILES: Readonly<Record<string, string>> = {
  'operators/etcd/1.1.0/manifests/etcd.clusterserviceversion.yaml': `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: etcd.v1.1.0}
spec: {version: 1.1.0, displayName: etcd, install: {strategy: deployment, spec: {deployments: []}}}
`,
  'operators/etcd/1.1.0/metadata/annotations.yaml': `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: etcd
  operators.operatorframework.io.bundle.channels.v1: stable
`,
  'operators/etcd/1.1.0/release-config.yaml': `catalog_templates:
- {template_name: basic.yaml, channels: [stable], replaces: etcd.v1.0.0}
`,
  'operators/etcd/ci.yaml': `fbc:
  enabled: true
  catalog_mapping:
  - {template_name: basic.yaml, catalog_names: [v4.19, v4.20], type: olm.template.basic}
`,
  'operators/etcd/catalog-templates/basic.yaml': `schema: olm.template.basic
entries:
- {schema: olm.package, name: etcd, defaultChannel: stable}
- schema: olm.channel
  package: etcd
  name: stable
  entries:
  - name: etcd.v1.0.0
- {schema: olm.bundle, image: '${IMAGE}'}
`,
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
};

function workTree(more: Readonly<Record<string, string>> = {}): string {
  const directory = folder();
  for (const [path, text] of Object.entries({ ...FILES, ...more })) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return directory;
}

test('a bundle comes into its templates and all their catalogs, in one step and without a registry', async () => {
  const directory = workTree();
  const { exit, out, err } = await portolan(directory, 'release', 'etcd', '1.1.0', '--image', NEW);
  expect(exit, err).toBe(0);
  expect(err).toContain('etcd (changed) in v4.20\n');
  expect(err).not.toContain('error');
  expect(out.split('\n')).toEqual([
    'operators/etcd/catalog-templates/basic.yaml',
    'catalogs/v4.19/etcd/catalog.yaml',
    'catalogs/v4.20/etcd/catalog.yaml',
    '',
  ]);
  const catalog = readFileSync(join(directory, 'catalogs/v4.20/etcd/catalog.yaml'), 'utf8');
  expect(catalog).toContain('- name: etcd.v1.1.0\n  replaces: etcd.v1.0.0\n');
  expect(catalog).toContain(`image: ${NEW}\n`);
  expect(readFileSync(join(directory, 'catalogs/v4.19/etcd/catalog.yaml'), 'utf8')).toBe(catalog);
  expect((await portolan(directory, 'validate', 'catalogs/v4.20')).exit).toBe(0);
  expect((await portolan(directory, 'release', 'etcd', '1.1.0', '--image', NEW)).out).toBe('');
});

test.each([
  [
    'a template that ci.yaml does not map',
    { 'operators/etcd/ci.yaml': 'fbc: {}\n' },
    'has no fbc.catalog_mapping for the template "basic.yaml"',
  ],
  [
    'no release-config.yaml',
    { 'operators/etcd/1.1.0/release-config.yaml': '{}\n' },
    'lists no catalog_templates',
  ],
  [
    'a path in place of a name',
    {
      'operators/etcd/1.1.0/release-config.yaml':
        'catalog_templates: [{template_name: ../../x, channels: [a]}]\n',
    },
    'for the template "../../x"',
  ],
  // YAML reads each of these as a number, which has lost its last digit.
  ...[
    ['a channel', 'channels: [1.10]', 'channels has 1.1, expected a text'],
    ['a default channel', 'channels: [a], default_channel: 1.10', 'default_channel has 1.1, expected a text'],
    ['a bundle to replace', 'channels: [a], replaces: 1.10', 'replaces has 1.1, expected a text'],
    ['one text in place of a list', 'channels: [a], skips: etcd.v0.9.0', 'skips is not a list'],
  ].map(([what = '', fields = '', message = '']): [string, Record<string, string>, string] => [
    `${what} that is not a text`,
    {
      'operators/etcd/1.1.0/release-config.yaml': `catalog_templates: [{template_name: basic.yaml, ${fields}}]\n`,
    },
    message,
  ]),
  [
    'a catalog that is not a text',
    {
      'operators/etcd/ci.yaml':
        'fbc: {catalog_mapping: [{template_name: basic.yaml, catalog_names: [4.20], type: olm.template.basic}]}\n',
    },
    'catalog_names has 4.2, expected a text',
  ],
])('%s is refused', async (_, files, message) => {
  const { exit, err } = await portolan(workTree(files), 'release', 'etcd', '1.1.0', '--image', NEW);
  expect([exit, err]).toEqual([2, expect.stringContaining(message)]);
});

test('a new catalog has metadata from OpenShift 4.17 on, whatever stands before the version in its name', async () => {
  const names = ['stage-v4.16', 'stage-v4.17', 'catalog-4-20'];
  const ci = `fbc: {catalog_mapping: [{template_name: basic.yaml, catalog_names: [${names}], type: olm.template.basic}]}\n`;
  const template =
    'schema: olm.template.basic\nentries:\n- {schema: olm.package, name: etcd, defaultChannel: stable}\n';
  const directory = workTree({
    'operators/etcd/ci.yaml': ci,
    'operators/etcd/catalog-templates/basic.yaml': template,
    'operators/etcd/1.1.0/release-config.yaml':
      'catalog_templates: [{template_name: basic.yaml, channels: [stable]}]\n',
  });
  const { exit, err } = await portolan(directory, 'release', 'etcd', '1.1.0', '--image', NEW);
  expect(exit, err).toBe(0);
  const hasMetadata = (name: string): boolean =>
    readFileSync(join(directory, `catalogs/${name}/etcd/catalog.yaml`), 'utf8').includes('olm.csv.metadata');
  expect(names.map(hasMetadata)).toEqual([false, true, true]);
});

test('a bundle outside of the operators is none', async () => {
  const { exit, err } = await portolan(workTree(), 'release', '../etcd', '1.1.0', '--image', NEW);
  expect([exit, err]).toEqual([2, expect.stringContaining('is not a valid bundle')]);
});

test('the image is named by the digest that it will have; pushed, it is there, and never another one', async () => {
  const { host } = await registry();
  const pattern = `${host}/org/{package}-bundle:v{version}`;
  const policy = `apiVersion: portolan/v1alpha1\nkind: Portolan\nrelease: {bundles: '${pattern}'}\n`;
  const directory = workTree({ '.github/portolan.yaml': policy });
  const words = ['release', 'etcd', '1.1.0'];
  expect((await portolan(directory, ...words)).exit).toBe(0);
  const catalog = readFileSync(join(directory, 'catalogs/v4.20/etcd/catalog.yaml'), 'utf8');
  const [, digest = ''] = /etcd-bundle@(sha256:[0-9a-f]{64})/.exec(catalog) ?? [];
  const pushed = await portolan(directory, ...words, '--push', '--insecure', host);
  expect(pushed).toMatchObject({ exit: 0, out: '' });
  expect(pushed.err).toContain(`${host}/org/etcd-bundle@${digest} pushed\n`);
  expect((await portolan(directory, ...words, '--push', '--insecure', host)).err).toContain('already exists');
  const built = await portolan(directory, 'bundle', 'build', 'operators/etcd/1.1.0', 'oci:image', '--force');
  expect(built.out).toBe(`${digest}\n`);
  writeFileSync(join(directory, 'operators/etcd/1.1.0/metadata/more.yaml'), '{}\n');
  expect(await portolan(directory, ...words, '--push', '--insecure', host)).toMatchObject({ exit: 2 });
  const nowhere = await portolan(workTree(), ...words);
  expect([nowhere.exit, nowhere.err]).toEqual([2, expect.stringContaining('has no release.bundles')]);
});

test('84: a bundle that asks for very many catalogs is not released', async () => {
  const asking = (templates: number, catalogs: number): string => {
    const names = Array.from({ length: catalogs }, (_, i) => `v4.${i}`).join(', ');
    return workTree({
      'operators/etcd/1.1.0/release-config.yaml': `catalog_templates:\n${'- {template_name: basic.yaml, channels: [stable], replaces: etcd.v1.0.0}\n'.repeat(templates)}`,
      'operators/etcd/ci.yaml': `fbc:
  catalog_mapping:
  - {template_name: basic.yaml, catalog_names: [${names}], type: olm.template.basic}
`,
      'catalogs/v4.0/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
    });
  };
  const words = ['release', 'etcd', '1.1.0', '--image', NEW];
  const many = await portolan(asking(20, 26), ...words);
  expect(many.exit).toBe(2);
  expect(many.err).toContain('ask for 520 catalogs, the limit is 500');
  expect(await portolan(asking(1, 26), ...words)).toMatchObject({ exit: 0 });
});
