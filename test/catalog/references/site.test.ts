import { expect, test } from 'vitest';
import { referenceSites } from '../../../catalog/references/site.ts';
import { sourceOf } from '../../../catalog/source.ts';

const BLOB = `schema: olm.bundle\npackage: a\nname: a.v1\nimage: example.com/a:v1
properties:\n- type: olm.package\n  value: {packageName: a, version: 1.0.0}\n`;
const CSV = `kind: ClusterServiceVersion\nmetadata: {name: b.v1, annotations: {containerImage: 'example.com/b:v1'}}\n`;

async function read(files: Readonly<Record<string, string>>): Promise<unknown> {
  const { sites, findings } = await referenceSites(sourceOf(files));
  return {
    images: sites.map(({ written }) => written),
    unread: findings.map(({ location }) => location.file),
  };
}

test.each([
  ['', ''],
  ['x/', ''],
  ['x/', 'x/manifests/'],
])('files called as those of a bundle do not hide a catalog: %s, %s', async (bundle, catalog) => {
  const stray = { [`${bundle}manifests/a.txt`]: '', [`${bundle}metadata/a.txt`]: '' };
  expect(await read({ ...stray, [`${catalog}catalog.yaml`]: BLOB })).toEqual({
    images: ['example.com/a:v1'],
    unread: [],
  });
});

test('80: a manifest of more than 8 MiB among bundles is an error, and not read', async () => {
  const files = { 'x/manifests/csv.yaml': CSV, 'x/metadata/annotations.yaml': 'annotations: {}' };
  const large = `${CSV}# ${'a'.repeat(8 * 2 ** 20)}\n`;
  expect(await read({ ...files, 'x/manifests/large.yaml': large })).toEqual({
    images: ['example.com/b:v1'],
    unread: ['x/manifests/large.yaml'],
  });
});

test('files of other tools beside bundles are not catalogs; a manifest among the blobs of one is an error', async () => {
  const bundle = {
    'x/manifests/csv.yaml': CSV,
    'x/metadata/annotations.yaml': 'annotations: {}',
    'ci.yaml': 'a: b',
  };
  expect(await read(bundle)).toEqual({ images: ['example.com/b:v1'], unread: [] });
  const both = { ...bundle, 'catalog.yaml': BLOB };
  expect(await read(both)).toEqual({
    images: ['example.com/a:v1', 'example.com/b:v1'],
    unread: ['ci.yaml', 'x/manifests/csv.yaml', 'x/metadata/annotations.yaml'],
  });
  expect(await read({ ...both, '.indexignore': 'x\nci.yaml' })).toEqual({
    images: ['example.com/a:v1'],
    unread: [],
  });
});

test('the images of a substitutes template are those of its entries, and the names of its substitutions', async () => {
  const bundle = { schema: 'olm.bundle', name: 'a.v1', image: 'example.com/a:v1' };
  const template = {
    schema: 'olm.template.substitutes',
    entries: [bundle],
    substitutions: [{ name: 'example.com/a:v2', base: 'a.v1' }],
  };
  const files = { 'template.json': JSON.stringify(template) };
  expect(await read(files)).toEqual({ images: ['example.com/a:v1', 'example.com/a:v2'], unread: [] });
});
