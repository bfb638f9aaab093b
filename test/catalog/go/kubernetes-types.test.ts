import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { quantity, time } from '../../../catalog/go/kubernetes-readers.ts';
import { CRD_V1, DEPLOYMENT_SPEC, JSON_SCHEMA } from '../../../catalog/go/kubernetes-types.ts';
import { fitStruct } from '../../../catalog/go/shape.ts';

test('comes from the modules that its generator names', () => {
  const read = (path: string): string => readFileSync(path, 'utf8');
  const [, version = ''] = /k8s\.io\/api (\S+)/.exec(read('scripts/kubernetes-types/go.mod')) ?? [];
  expect(version).toMatch(/^v0\.\d+\.\d+$/);
  expect(read('catalog/go/kubernetes-types.ts').split('\n')[0]).toContain(`Kubernetes ${version} `);
});

describe('a deployment', () => {
  const pod = (spec: object): object => ({ template: { spec } });
  const misfitsOf = (spec: object): readonly string[] =>
    fitStruct(pod(spec), DEPLOYMENT_SPEC).misfits.map(({ go }) => go);

  test('keeps every field that Kubernetes has', () => {
    const spec = pod({
      volumes: [
        { name: 'data', ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'] } } } },
      ],
      schedulingGates: [{ name: 'example.com/wait' }],
      containers: [
        { name: 'manager', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] },
      ],
    });
    expect(fitStruct(spec, DEPLOYMENT_SPEC)).toEqual({ value: spec, misfits: [] });
  });

  test.each([
    [
      { containers: [{ ports: [{ protocol: 6 }] }] },
      /cannot unmarshal number into Go struct field .* of type v1\.Protocol$/,
    ],
    [
      { ephemeralContainers: [{ name: 1 }] },
      /cannot unmarshal number into Go struct field .* of type string$/,
    ],
    [{ volumes: [{ ephemeral: 'yes' }] }, /of type v1\.EphemeralVolumeSource$/],
  ])('is refused as Go refuses it: %j', (spec, message) => {
    expect(misfitsOf(spec)).toEqual([expect.stringMatching(message)]);
  });
});

test('a CRD has its names as they are spelled, in schemas within schemas as well', () => {
  const withSchema = (schema: object): object => ({
    spec: { versions: [{ schema: { openAPIV3Schema: schema } }] },
  });
  const written = withSchema({ properties: { a: { externalDocs: { url: 'https://example.com' } } } });
  expect(fitStruct(written, CRD_V1)).toEqual({ value: written, misfits: [] });
  const { value } = fitStruct(withSchema({ properties: { a: { externalDocs: { URL: 'x' } } } }), CRD_V1);
  expect(value).toEqual(withSchema({ properties: { a: { externalDocs: {} } } }));
  expect(JSON_SCHEMA.exactKeys).toBe(true);
});

test('spaces around a quantity are not read, but white space that JSON escapes is refused', () => {
  for (const text of ['100m', ' 100m', '100m ']) expect(quantity.refusal(text)).toBeUndefined();
  for (const text of ['100m\n', '\t100m', '100m\u2028'])
    expect(quantity.refusal(text)).toMatch(/^quantities must match/);
});

// Recorded of opm, which reads a creationTimestamp: what Go's time.Parse says.
test.each([
  ['2026-01-02T03:04:05Z', undefined],
  ['2026-01-02T3:04:05Z', undefined],
  ['2026-01-02T03:04:05,5Z', undefined],
  ['2026-01-02T03:04:05.123456789+24:00', undefined],
  ['2026-01-02T03:04:05+01:60', undefined],
  ['0000-02-29T00:00:00Z', undefined],
  ['2026-02-30T03:04:05Z', 'day out of range'],
  ['1900-02-29T00:00:00Z', 'day out of range'],
  ['2026-13-01T03:04:05Z', 'month out of range'],
  ['2026-01-02T24:00:00Z', 'hour out of range'],
  ['2026-01-02T03:04:60Z', 'second out of range'],
  ['2026-01-02T03:04:05+25:00', 'time zone offset hour out of range'],
  ['2026-01-02T03:04:05+01:61', 'time zone offset minute out of range'],
  ['2026-01-02t03:04:05Z', 'cannot parse'],
  ['2026-01-02T03:04:05z', 'cannot parse'],
  ['2026-01-02T03:04:05.Z', 'cannot parse'],
])('the time %s: %s', (written, refusal) => {
  const found = time.refusal(written);
  expect(found === undefined ? undefined : found.slice(-(refusal ?? '').length)).toBe(refusal);
});
