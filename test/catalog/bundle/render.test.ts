import { describe, expect, test } from 'vitest';
import { readPackageFolder } from '../../../catalog/bundle/package-manifest.ts';
import { readBundle } from '../../../catalog/bundle/registry-bundle.ts';
import {
  type BundleRenderOptions,
  parseImageTemplate,
  renderBundle,
} from '../../../catalog/bundle/render.ts';
import { renderJson } from '../../../catalog/fbc/render.ts';
import { sourceOf } from '../../../catalog/source.ts';

const ANNOTATIONS = `annotations:
  operators.operatorframework.io.bundle.package.v1: etcd
  operators.operatorframework.io.bundle.channels.v1: stable
`;
const CSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: etcd.v1.0.0
  annotations:
    olm.properties: '[{"type": "my.x", "value": {"b": "<", "a": [1, {}]}}]'
spec:
  version: 1.0.0
`;

async function rendered(files: Record<string, string>, options: BundleRenderOptions = {}): Promise<string> {
  const { bundle, findings } = await readBundle(sourceOf(files));
  if (!bundle) return findings.map(({ message }) => message).join('\n');
  const { blob, findings: refusals } = renderBundle(bundle, options);
  return blob ? renderJson(blob) : refusals.map(({ message }) => message).join('\n');
}

describe('rendering a bundle', () => {
  test('keeps the spelling of properties that the ClusterServiceVersion carries', async () => {
    const text = await rendered({ 'manifests/csv.yaml': CSV, 'metadata/annotations.yaml': ANNOTATIONS });
    expect(text).toContain(
      '"value": {\n                "b": "<",\n                "a": [\n                    1,\n                    {}\n                ]\n            }',
    );
  });

  test('keeps integers of 64 bits and lets larger ones round', async () => {
    const numbers = `${CSV}  x: [9007199254740993, 9223372036854775807, 12345678901234567890]\n`;
    const text = await rendered({ 'manifests/csv.yaml': numbers, 'metadata/annotations.yaml': ANNOTATIONS });
    const data = /"data": "([^"]+)"/.exec(text)?.[1] ?? '';
    expect(atob(data)).toContain('"x":[9007199254740993,9223372036854775807,12345678901234567000]');
  });

  test('takes numbers for text in annotations that are JSON, and null for a value that says nothing', async () => {
    const annotations = { 'operators.operatorframework.io.bundle.package.v1': 1 };
    const text = await rendered({
      'manifests/csv.yaml': CSV,
      'metadata/annotations.yaml': JSON.stringify({ annotations }),
      'metadata/dependencies.yaml': 'dependencies: [{type: olm.gvk, value: null}]\n',
    });
    const { package: name, properties } = JSON.parse(text);
    expect(name).toBe('1');
    expect(properties).toContainEqual({
      type: 'olm.gvk.required',
      value: { group: '', kind: '', version: '' },
    });
  });

  test('a known property whose value is not an object is refused by name', async () => {
    const text = await rendered({
      'manifests/csv.yaml': CSV,
      'metadata/annotations.yaml': ANNOTATIONS,
      'metadata/dependencies.yaml': 'dependencies: [{type: olm.gvk, value: 5}]\n',
    });
    expect(text).toMatch(/^property "olm.gvk[a-z.]*": the value must be /);
  });

  test.each([
    [
      '[null, 5, {"type": "a"}]',
      [
        { type: '', value: null },
        { type: 'a', value: null },
      ],
    ],
    ['[{"type": 1, "value": 2}]', [{ type: '', value: 2 }]],
    ['[{"Type": "b", "type": "a", "typ\\u0065": "c", "VALUE": 1}]', [{ type: 'c', value: 1 }]],
    ['[{"type": "a", "value": 1}] x', []],
  ])('reads the annotation olm.properties as Go does: %s', async (annotation, expected) => {
    const csv = CSV.replace(/olm.properties: .*/, `olm.properties: '${annotation}'`);
    const text = await rendered({ 'manifests/csv.yaml': csv, 'metadata/annotations.yaml': ANNOTATIONS });
    const { properties } = JSON.parse(text) as { properties: { type: string }[] };
    expect(properties.filter(({ type }) => !type.startsWith('olm.'))).toEqual(expected);
  });

  test.each([
    ['1', '1'],
    ['1.5', '1.5'],
    ['1e-7', '1e-07'],
    ['100000000000000000000', '1e+20'],
    ['9007199254740993', '9007199254740992'],
  ])('writes the release %s as opm does', async (release, expected) => {
    const csv = `${CSV}  release: ${release}\n`;
    const text = await rendered({ 'manifests/csv.yaml': csv, 'metadata/annotations.yaml': ANNOTATIONS });
    expect(text).toContain(`"release": "${expected}"`);
  });

  test.each([
    'properties: [{type: b, value: 1}]\nProperties: [{type: a, value: 1}]\n',
    '{"Properties": [{"type": "a", "value": 1}], "properties": [{"type": "b", "value": 1}]}',
  ])('takes the last of two lists of properties in byte order: %s', async (properties) => {
    const text = await rendered({
      'manifests/csv.yaml': CSV,
      'metadata/annotations.yaml': ANNOTATIONS,
      'metadata/properties.yaml': properties,
    });
    expect(text).toContain('"type": "b"');
    expect(text).not.toContain('"type": "a"');
  });

  test.each([
    ['manifests/a.txt', 'metadata/annotations.yaml', 'no manifests'],
    ['manifests/csv.yaml', 'metadata/x.txt', 'metadata/ has no file with the annotations of a bundle'],
  ])('%s and %s: %s', async (manifest, metadata, message) => {
    const text = await rendered({
      [manifest]: manifest.endsWith('.yaml') ? CSV : 'x',
      [metadata]: metadata.endsWith('.yaml') ? ANNOTATIONS : 'x',
    });
    expect(text).toBe(message);
  });

  test('makes up the image that a template says', async () => {
    const imageTemplate = parseImageTemplate('quay.io/{{ .Package -}} /x:v{{.Version}}{{/* y */}}');
    const files = { 'manifests/csv.yaml': CSV, 'metadata/annotations.yaml': ANNOTATIONS };
    expect(await rendered(files, { imageTemplate })).toContain('"image": "quay.io/etcd/x:v1.0.0"');
  });

  test.each(['{{.Image}}', '{{', '{{printf "%s" .Name}}'])('refuses the template %s', (text) => {
    expect(() => parseImageTemplate(text)).toThrow(SyntaxError);
  });
});

test.each([
  ['a link out of the clone', 'manifests/s.yaml is a link out of the clone'],
  ['a link to nothing', ''],
])('a file of a bundle or of a package manifest that is %s', async (unreadable, message) => {
  const link = { path: 'manifests/s.yaml', unreadable, read: () => Promise.reject(new Error('not read')) };
  const files = await sourceOf({
    'manifests/csv.yaml': CSV,
    'metadata/annotations.yaml': ANNOTATIONS,
  }).files();
  const source = { files: async () => [...files, link] };
  const { findings } = await readBundle(source);
  expect(findings.map((finding) => finding.message).join()).toBe(message);
  const { findings: ofFolder } = await readPackageFolder(source);
  const own = ofFolder.filter(({ location }) => location.file === link.path);
  expect(own.map((finding) => finding.message)).toEqual(message === '' ? [] : [unreadable]);
});

test('80: a manifest that no cluster could take is refused unread', async () => {
  const source = sourceOf({
    'manifests/csv.yaml': CSV,
    'manifests/large.json': `{"a": "${'a'.repeat(8 * 2 ** 20)}"}`,
    'metadata/annotations.yaml': ANNOTATIONS,
  });
  const { bundle, findings } = await readBundle(source);
  expect(bundle).toBeUndefined();
  expect(findings.map(({ message }) => message)).toEqual([
    'manifests/large.json is too large: it has more than 8 MiB',
  ]);
  const { files } = await readPackageFolder(source);
  expect(files.map(({ path }) => path)).not.toContain('manifests/large.json');
});
