/** Manifests in `olm.bundle.object` properties: however they are written, rules see them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crdsOfBundle } from '../../../catalog/crd/crd.ts';
import { manifestIn, manifestOfKind } from '../../../catalog/fbc/bundle-object.ts';
import { csvOf as opmCsvOf } from '../../../catalog/fbc/cache/bundle.ts';
import type { Bundle } from '../../../catalog/fbc/model.ts';
import { manifestsOfBundle } from '../../../catalog/olm/manifests.ts';
import { csvOf } from '../../../catalog/references/csv.ts';
import { emitYaml } from '../../../catalog/yaml/emit.ts';
import type { Json } from '../../../catalog/yaml/scalar.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const bundleWith = (data: string): Bundle =>
  ({ name: 'p.v1.0.0', properties: [{ type: 'olm.bundle.object', value: { data } }] }) as unknown as Bundle;

const spelled = (value: unknown): Bundle =>
  ({ name: 'p.v1.0.0', properties: [{ type: 'olm.bundle.object', value }] }) as unknown as Bundle;

const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'as.a.io' },
};
const CSV = {
  apiVersion: 'operators.coreos.com/v1alpha1',
  kind: 'ClusterServiceVersion',
  metadata: { name: 'p.v1.0.0' },
};

/** A manifest, written in every way that OLM's tools read. */
const WAYS: Readonly<Record<string, (manifest: Json) => string>> = {
  JSON: (manifest) => base64(JSON.stringify(manifest)),
  'JSON behind a blank': (manifest) => base64(` \n${JSON.stringify(manifest)}`),
  'JSON with escaped letters': (manifest) =>
    base64(JSON.stringify(manifest).replace('Custom', '\\u0043ustom').replace('Cluster', 'Clus\\u0074er')),
  'JSON in lines of base64': (manifest) => base64(JSON.stringify(manifest)).replaceAll(/.{40}/g, '$&\r\n'),
  YAML: (manifest) => base64(emitYaml(manifest)),
  'YAML with escaped letters': (manifest) =>
    base64(
      emitYaml(manifest).replace(
        /kind: (.)(.*)/,
        (_, first: string, rest: string) => `kind: "\\x${first.charCodeAt(0).toString(16)}${rest}"`,
      ),
    ),
  'YAML with a name over two lines': (manifest) =>
    base64(emitYaml(manifest).replace(/kind: (.{6})(.*)/, 'kind: "$1\\\n  $2"')),
  'YAML with braces': (manifest) => base64(JSON.stringify(manifest).replaceAll(/"(\w+)":/g, '$1: ')),
};

test.each(Object.entries(WAYS))('64: rules see the manifests of a bundle in %s', (_, write) => {
  expect(crdsOfBundle(bundleWith(write(CRD)))?.map(({ name }) => name)).toEqual(['as.a.io']);
  expect(manifestsOfBundle(bundleWith(write(CRD))).objects?.map(({ kind }) => kind)).toEqual([CRD.kind]);
  expect(csvOf(bundleWith(write(CSV)))).toEqual(CSV);
  expect(manifestsOfBundle(bundleWith(write(CSV))).csv?.name).toBe('p.v1.0.0');
});

test.each<[string, (data: string) => Json]>([
  ['in capitals', (data) => ({ DATA: data })],
  ['as a list of numbers', (data) => ({ data: [...Buffer.from(data, 'base64')] })],
])('64: rules see the manifests of a bundle with its key %s', (_, value) => {
  expect(crdsOfBundle(spelled(value(base64(JSON.stringify(CRD)))))?.map(({ name }) => name)).toEqual([
    'as.a.io',
  ]);
  const bundle = spelled(value(base64(JSON.stringify(CSV))));
  expect(csvOf(bundle)).toEqual(CSV);
  expect(opmCsvOf(bundle)).toEqual(CSV);
  expect(manifestsOfBundle(bundle).csv?.name).toBe('p.v1.0.0');
});

test.each(['', 'a: [', '[1]', 'text', '\0'])('what is not an object is none: %j', (text) => {
  expect(manifestIn(base64(text))).toBeUndefined();
});

test('64: what is not parsed because it has another kind would not have had it', () => {
  const escaped = (text: string): string =>
    text.replaceAll(/[A-Z]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  fc.assert(
    fc.property(
      fc.constantFrom('Word', 'Sword', 'W', 'word'),
      fc.json(),
      fc.boolean(),
      fc.nat(10),
      (kind, more, isEscaped, width) => {
        const json = JSON.stringify({ more: JSON.parse(more), kind });
        const data = base64(isEscaped ? escaped(json) : json);
        for (const written of [
          data,
          data.replaceAll(new RegExp(`.{${width + 1}}`, 'g'), '$&\n'),
          `*${data}`,
        ]) {
          expect(manifestOfKind('Word', written)?.['kind']).toBe(kind === 'Word' ? 'Word' : undefined);
          expect(manifestIn(written)?.['kind']).toBe(kind);
        }
      },
    ),
  );
});
