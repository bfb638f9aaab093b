import { describe, expect, test } from 'vitest';
import { bundleFiles, metaFile, packageMember, packagesJson } from '../../../../catalog/fbc/cache/files.ts';
import { load } from '../../../../catalog/fbc/load.ts';
import { catalogOf, type Package } from '../../../../catalog/fbc/model.ts';
import { sourceOf } from '../../../../catalog/source.ts';
import { cpuTime } from '../../../fakes/cpu-time.ts';

const PACKAGE = 'schema: olm.package\nname: etcd\ndefaultChannel: stable\n';
const CHANNEL = 'schema: olm.channel\npackage: etcd\nname: stable\nentries: [{name: etcd.v1}]\n';
const BUNDLE = `schema: olm.bundle
package: etcd
name: etcd.v1
image: quay.io/example/etcd:v1
properties:
- {type: olm.package, value: {packageName: etcd, version: 1.0.0}}
`;

async function read(...documents: string[]): Promise<{ pkg: Package; metas: string[] }> {
  const { blobs } = await load(sourceOf({ 'c.yaml': documents.join('---\n') }));
  const pkg = catalogOf(blobs).packages.get('etcd');
  if (!pkg) throw new Error('no package');
  return { pkg, metas: blobs.others.map((blob) => metaFile(blob).path) };
}

function filesOf(pkg: Package): Record<string, string> {
  return Object.fromEntries(
    [...bundleFiles(pkg)].map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]),
  );
}

async function bundle(properties: string, ...more: string[]): Promise<Record<string, unknown>> {
  const { pkg } = await read(PACKAGE, CHANNEL, BUNDLE + properties, ...more);
  return JSON.parse(filesOf(pkg)['etcd_stable_etcd.v1.json'] ?? '');
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('bundle files', () => {
  test('hold what the API gives, and nothing that is empty', async () => {
    const { pkg } = await read(PACKAGE, CHANNEL, BUNDLE);
    expect(filesOf(pkg)).toEqual({
      'etcd_stable_etcd.v1.json':
        '{"csvName":"etcd.v1","packageName":"etcd","channelName":"stable","bundlePath":"quay.io/example/etcd:v1",' +
        '"version":"1.0.0","properties":[{"type":"olm.package","value":"{\\"packageName\\":\\"etcd\\",\\"version\\":\\"1.0.0\\"}"}]}',
    });
  });

  test('one for each entry, in the order of their names, with the edges of that channel', async () => {
    const { pkg } = await read(
      PACKAGE,
      CHANNEL,
      'schema: olm.channel\npackage: etcd\nname: beta\nentries: [{name: etcd.v1, replaces: etcd.v0, skips: [a], skipRange: <1.0.0}]\n',
      BUNDLE,
      'schema: olm.deprecations\npackage: etcd\nentries: [{reference: {schema: olm.bundle, name: etcd.v1}, message: old}]\n',
    );
    const files = filesOf(pkg);
    expect(Object.keys(files)).toEqual(['etcd_beta_etcd.v1.json', 'etcd_stable_etcd.v1.json']);
    expect(JSON.parse(files['etcd_beta_etcd.v1.json'] ?? '')).toMatchObject({
      channelName: 'beta',
      replaces: 'etcd.v0',
      skips: ['a'],
      skipRange: '<1.0.0',
      deprecation: { message: 'old' },
    });
  });

  test('the first manifest that is a CSV is the CSV; all manifests stay as they are', async () => {
    const other = '{"kind": "Service"}';
    const csv = ' {"kind": "ClusterServiceVersion", "spec": {"displayName": "<etcd>"}}';
    const found = await bundle(
      [other, csv].map((text) => `- {type: olm.bundle.object, value: {data: ${base64(text)}}}\n`).join(''),
    );
    expect(found['csvJson']).toBe(csv);
    expect(found['object']).toEqual([other, csv]);
    expect(JSON.stringify(found['properties'])).not.toContain('olm.bundle.object');
  });

  test('a manifest in YAML becomes JSON', async () => {
    const yaml = 'kind: ClusterServiceVersion\nspec: {displayName: "<etcd>", replicas: 010}\n';
    const found = await bundle(`- {type: olm.bundle.object, value: {data: ${base64(yaml)}}}\n`);
    expect(found['csvJson']).toBe(
      '{"kind":"ClusterServiceVersion","spec":{"displayName":"\\u003cetcd\\u003e","replicas":8}}',
    );
  });

  test.each([
    ['a key as long as YAML takes', 'x'.repeat(990), true],
    ['a longer key', 'x'.repeat(1100), false],
    ['a longer key with an escape', `\\n${'x'.repeat(1100)}`, false],
  ])('%s', async (_, key, isCsv) => {
    const csv = `{"kind": "ClusterServiceVersion", "${key}" : 1}`;
    const found = await bundle(`- {type: olm.bundle.object, value: {data: ${base64(csv)}}}\n`);
    expect(found['csvJson']).toBe(isCsv ? csv : undefined);
  });

  test.each([
    ['many escaped quotes', `\\"${'x'.repeat(1000)}`.repeat(3000)],
    ['millions of characters', 'x'.repeat(5 << 20)],
  ])('a manifest with %s in a string is read like others', async (_, text) => {
    const csv = `{"kind": "ClusterServiceVersion", "spec": {"description": "${text}"}}`;
    const spent = cpuTime();
    const found = await bundle(`- {type: olm.bundle.object, value: {data: ${base64(csv)}}}\n`);
    expect(found['csvJson'] === csv).toBe(true);
    expect(spent()).toBeLessThan(8000);
  });

  test('what begins with a brace is JSON, whatever white space of Unicode stands before it', async () => {
    for (const text of ['\u00a0{"kind":"A"}', '\u2003\n{not: [closed}', ' \t{"kind":"A"}']) {
      const made = await bundle(`- {type: olm.bundle.object, value: {data: ${base64(text)}}}\n`);
      expect(made['object']).toEqual([text]);
    }
  });

  test('of CSV metadata a CSV is made up, with the defaults of Go structs', async () => {
    const found = await bundle(`- type: olm.csv.metadata
  value:
    annotations: {"10": a, "9": null}
    displayName: etcd
    crdDescriptions: {owned: [{name: e, kind: E, version: v1, specDescriptors: [{path: p, value: {b: 1, a: <}}]}]}
    apiServiceDefinitions: {required: [{group: g, containerPort: 0}]}
    installModes: [{type: OwnNamespace}]
    nativeAPIs: [{kind: K}]
    provider: {NAME: case}
`);
    expect(found['object']).toEqual([found['csvJson']]);
    expect(found['csvJson']).toBe(
      '{"kind":"ClusterServiceVersion","apiVersion":"operators.coreos.com/v1alpha1",' +
        '"metadata":{"name":"etcd.v1","annotations":{"10":"a","9":""}},"spec":{' +
        '"install":{"strategy":"deployment","spec":{"deployments":null}},"version":"1.0.0",' +
        '"customresourcedefinitions":{"owned":[{"name":"e","version":"v1","kind":"E","specDescriptors":[{"path":"p","value":{"a":"\\u003c","b":1}}]}]},' +
        '"apiservicedefinitions":{"required":[{"name":"","group":"g","version":"","kind":""}]},' +
        '"nativeAPIs":[{"group":"","version":"","kind":"K"}],"displayName":"etcd","provider":{"name":"case"},' +
        '"installModes":[{"type":"OwnNamespace","supported":false}],"cleanup":{"enabled":false}},"status":{"cleanup":{}}}',
    );
  });

  test('requirements become dependencies', async () => {
    const found = await bundle(
      '- {type: olm.gvk.required, value: {kind: K, group: g, version: v1}}\n' +
        '- {type: olm.package.required, value: {packageName: p, versionRange: ">=1"}}\n',
    );
    expect(found['requiredApis']).toEqual([{ group: 'g', version: 'v1', kind: 'K' }]);
    expect(found['dependencies']).toEqual([
      { type: 'olm.gvk', value: '{"group":"g","kind":"K","version":"v1"}' },
      { type: 'olm.package', value: '{"packageName":"p","version":">=1"}' },
    ]);
  });
});

describe('packages.json', () => {
  test('tells absent skips from empty ones, and names the heads', async () => {
    const { pkg } = await read(
      PACKAGE,
      'schema: olm.channel\npackage: etcd\nname: stable\nentries: [{name: etcd.v1, skips: []}, {name: etcd.v2, replaces: etcd.v1}]\n',
      BUNDLE,
    );
    expect(packagesJson([packageMember(pkg, { icon: true })])).toBe(
      '{"etcd":{"name":"etcd","description":"","icon":null,"defaultChannel":"stable","Channels":{"stable":{"Name":"stable",' +
        '"Head":"etcd.v2","Bundles":{' +
        '"etcd.v1":{"package":"etcd","channel":"stable","name":"etcd.v1","replaces":"","skips":[]},' +
        '"etcd.v2":{"package":"etcd","channel":"stable","name":"etcd.v2","replaces":"etcd.v1","skips":null}}}}}}',
    );
  });

  test('holds the icon only when asked: no reader of the cache uses it', async () => {
    const icon = `${PACKAGE}icon: {base64data: "PHN2\\nZy8+", mediatype: image/svg+xml}\n`;
    const { pkg } = await read(icon, CHANNEL, BUNDLE);
    expect(packageMember(pkg, { icon: true })).toContain(
      '{"base64data":"PHN2Zy8+","mediatype":"image/svg+xml"}',
    );
    expect(packageMember(pkg, { icon: false })).toContain('"icon":null');
  });
});

test('blobs of other schemas are named by their content', async () => {
  const { metas } = await read(
    PACKAGE,
    'schema: custom.x\nv: root\n',
    'schema: custom.x\npackage: etcd\nv: 1\n',
  );
  expect(metas).toEqual([
    'metas/custom.x/6f0dc329684ffbd3.json',
    expect.stringMatching(/^metas\/custom.x\/etcd\/[0-9a-f]+\.json$/),
  ]);
});
