import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { valueInterner } from '../../../../catalog/crd/intern.ts';
import { folderOfVersion, isCsvOf } from '../../../../pipeline/catalogs/bundle/manifest-lookups.ts';
import { etcdCrd } from '../../../fakes/crd-object.ts';
import { folder } from '../../../fakes/folder.ts';
import { bundle, documents } from '../../../fakes/gate.ts';
import { portolan } from '../../../fakes/terminal.ts';

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const CATALOG = documents(
  { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
  {
    schema: 'olm.channel',
    package: 'etcd',
    name: 'stable',
    entries: [{ name: 'etcd.v1.0.0' }, { name: 'etcd.v1.1.0', replaces: 'etcd.v1.0.0' }],
  },
  ...['1.0.0', '1.1.0'].map((version) =>
    bundle('etcd', version, {
      image: `quay.io/example/etcd:v${version}`,
      properties: [
        { type: 'olm.package', value: { packageName: 'etcd', version } },
        { type: 'olm.gvk', value: { group: 'etcd.io', version: 'v1', kind: 'Etcd' } },
      ],
    }),
  ),
);

test('bundles beside a catalog tell whether definitions change safely', async () => {
  const root = folder();
  write(root, 'catalog/etcd/catalog.yaml', CATALOG);
  write(root, 'bundles/etcd/1.0.0/manifests/crd.json', etcdCrd(['size', 'region', 'zone']));
  // Found by the name of its ClusterServiceVersion.
  write(root, 'bundles/etcd/second/manifests/crd.json', etcdCrd(['size']));
  write(root, 'bundles/etcd/second/manifests/csv.yaml', 'metadata:\n  name: etcd.v1.1.0\n');
  const { out } = await portolan(root, 'audit', 'catalog', '--bundles', 'bundles', '--format', 'json');
  const found = JSON.parse(out).findings.filter(
    ({ rule }: { rule: string }) => rule === 'graph/crd-unsafe-edge',
  );
  expect(found).toMatchObject([{ severity: 'error', installed: ['1.0.0'] }]);
  expect(found[0].message).toMatch(/on the upgrade 1\.0\.0 → 1\.1\.0: .*removed field : v1\.\^\.region; /);
  const without = JSON.parse((await portolan(root, 'audit', 'catalog', '--format', 'json')).out);
  expect(JSON.stringify(without.findings)).toContain('not checked: whether custom resources survive');
});

test.each([
  ['metadata:\n  name: "etcd.v1.1.0"\n', true],
  ["metadata:\r\n  name: 'etcd.v1.1.0' # the second\r\n", true],
  ['metadata: {namespace: a, name: etcd.v1.1.0}', true],
  ['{"metadata": {"name":"etcd.v1.1.0"}}', true],
  ['metadata:\n  name: etcd.v1.1.0', true],
  ['metadata:\n  name: etcd.v1.1.0-rc.1\n', false],
  ['metadata:\n  name: old-etcd.v1.1.0\n', false],
  ['spec:\n  displayname: etcd.v1.1.0\n', false],
  ['spec:\n  replaces: etcd.v1.1.0\n', false],
])('the name of a ClusterServiceVersion, however it is written: %j', (text, is) => {
  expect(isCsvOf(Buffer.from(text), { name: 'etcd.v1.1.0' })).toBe(is);
});

test('a bundle without a version is in the folder of none', () => {
  expect(folderOfVersion(['v', ''], { version: undefined })).toBeUndefined();
});

test('equal parts are one, whatever they are called', () => {
  const intern = valueInterner();
  const a = intern({ properties: { __proto__x: { type: 'string', minimum: 1 }, list: [1, 'a', null] } });
  const b = intern({ properties: { other: { type: 'string', minimum: 1 }, list: [1, 'a', null] } });
  expect(a.properties.__proto__x).toBe(b.properties.other);
  expect(a.properties.list).toBe(b.properties.list);
  expect(intern(['1'])).not.toEqual(intern([1]));
  const hostile = JSON.parse('{"__proto__": {"type": "string"}}');
  expect(intern(hostile)).toEqual(JSON.parse('{"__proto__": {"type": "string"}}'));
  expect(({} as { type?: string }).type).toBeUndefined();
});
