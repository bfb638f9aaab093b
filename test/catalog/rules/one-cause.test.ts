/** What is wrong with many bundles, entries or channels for one reason is one finding that lists them. */
import { expect, test } from 'vitest';
import { readCrd } from '../../../catalog/crd/crd.ts';
import { load } from '../../../catalog/fbc/load.ts';
import { type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { changeOf, type WorldOptions, worldOf } from '../../../catalog/olm/foresight/world.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runComparison, runForesight } from '../../../catalog/rules/rule.ts';
import { causesOf } from '../../../catalog/rules/unsafe-edges.ts';
import { sourceOf } from '../../../catalog/source.ts';
import { Undecided } from '../../../catalog/undecided.ts';
import { crdObject } from '../../fakes/crd-object.ts';

interface Written {
  readonly versions: readonly string[];
  readonly channels?: readonly string[];
  readonly skipRange?: string;
  /** Of each bundle. */
  readonly properties?: readonly object[];
  readonly deprecated?: string;
  readonly digit?: string;
}

async function catalog({ versions, channels = ['stable'], ...written }: Written): Promise<Catalog> {
  const { skipRange, properties = [], deprecated, digit = '0' } = written;
  const named = (version: string | undefined): string => `p.v${version}`;
  const entries = versions.map((version, i) => ({
    name: named(version),
    ...(i > 0 ? { replaces: named(versions[i - 1]) } : {}),
    ...(i > 0 && skipRange ? { skipRange } : {}),
  }));
  const reference = { schema: 'olm.bundle', name: named(deprecated) };
  const blobs = [
    { schema: 'olm.package', name: 'p', defaultChannel: channels[0] },
    ...channels.map((name) => ({ schema: 'olm.channel', package: 'p', name, entries })),
    ...versions.map((version, i) => ({
      schema: 'olm.bundle',
      name: named(version),
      package: 'p',
      image: `quay.io/o/p@sha256:${String(i).repeat(63)}${digit}`,
      properties: [{ type: 'olm.package', value: { packageName: 'p', version } }, ...properties],
    })),
    ...(deprecated === undefined
      ? []
      : [{ schema: 'olm.deprecations', package: 'p', entries: [{ reference, message: 'old' }] }]),
  ];
  const text = blobs.map((blob) => `${JSON.stringify(blob)}\n`).join('');
  return catalogOf((await load(sourceOf({ 'catalog.json': text }))).blobs);
}

const optionsFor = async (written: Written): Promise<WorldOptions> => ({
  name: 'v4.20',
  platform: { major: 4, minor: 20 },
  catalog: await catalog(written),
});

function object(value: object): object {
  return {
    type: 'olm.bundle.object',
    value: { data: Buffer.from(JSON.stringify(value)).toString('base64') },
  };
}

function csv(spec: object): object {
  const meta = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: 'p' },
  };
  return object({
    ...meta,
    spec: { install: { strategy: 'deployment', spec: { deployments: [] } }, ...spec },
  });
}

function budget(apiVersion: string): object {
  return object({ apiVersion, kind: 'PodDisruptionBudget', metadata: { name: 'b' } });
}

function converting(...modes: readonly string[]): object {
  return csv({
    webhookdefinitions: [{ type: 'ConversionWebhook', generateName: 'c', conversionCRDs: [] }],
    installModes: modes.map((type) => ({ type, supported: true })),
  });
}

const GVK = { type: 'olm.gvk', value: { group: 'example.com', version: 'v1', kind: 'P' } };
const VERSIONS = ['1.0.0', '1.1.0', '1.2.0'];

test.each<[string, string[], Omit<Written, 'versions'>, Omit<Written, 'versions'>]>([
  [
    'min-kube-version',
    ['1.1.0', '1.2.0'],
    { properties: [csv({ minKubeVersion: '1.99.0' })] },
    { properties: [csv({ minKubeVersion: '1.20.0' })] },
  ],
  [
    'removed-api',
    ['1.1.0', '1.2.0'],
    { properties: [budget('policy/v1beta1')] },
    { properties: [budget('policy/v1')] },
  ],
  [
    'conversion-modes',
    ['1.1.0', '1.2.0'],
    { properties: [converting('AllNamespaces', 'OwnNamespace')] },
    { properties: [converting('AllNamespaces')] },
  ],
  ['repeated-gvk', VERSIONS, { properties: [GVK, GVK] }, { properties: [GVK] }],
  [
    'deprecated-head',
    ['1.2.0'],
    { channels: ['fast', 'stable'], deprecated: '1.2.0' },
    { channels: ['fast', 'stable'], deprecated: '1.1.0' },
  ],
])('graph/%s in many places', async (name, installed, wrong, right) => {
  const found = async (written: Omit<Written, 'versions'>): Promise<Finding[]> => {
    const all = runForesight(await worldOf(await optionsFor({ versions: VERSIONS, ...written })), RULES);
    return all.filter(({ rule }) => rule === `graph/${name}`);
  };
  expect(await found(wrong)).toEqual([expect.objectContaining({ installed })]);
  expect(await found(right)).toEqual([]);
});

test.each<[string, string, Partial<Written>]>([
  ['bundle-mutated', '3 bundles of package "p" are published and now differ: ', { digit: '1' }],
  [
    'edge-removed-or-changed',
    '2 entries of channel "stable" of package "p" change: ',
    { skipRange: '>=1.0.0 <1.1.0' },
  ],
  [
    'new-major',
    'channel "stable" of package "p", like "fast", gets its first version 2.x',
    { versions: [...VERSIONS, '2.0.0'] },
  ],
])('graph/%s of a change in many places', async (name, begin, after) => {
  const channels = name === 'new-major' ? ['stable', 'fast'] : ['stable'];
  const before = { versions: VERSIONS, channels };
  const found = async (now: Written): Promise<Finding[]> => {
    const change = await changeOf(await optionsFor(before), await optionsFor(now));
    return runComparison(change, RULES).filter(({ rule }) => rule === `graph/${name}`);
  };
  expect(await found({ ...before, ...after })).toEqual([
    expect.objectContaining({ message: expect.stringContaining(begin) }),
  ]);
  expect(await found(before)).toEqual([]);
});

test('110: the unsafe changes of all upgrades together are limited', () => {
  const crdOf = (type: string) => {
    const fields = Array.from({ length: 1000 }, (_, i) => [`f${i}`, { type }] as const);
    return readCrd(crdObject('as.a.io', Object.fromEntries(fields))) ?? never();
  };
  const [before, after] = [crdOf('string'), crdOf('integer')];
  const to = { name: 'etcd.v2.0.0' };
  const causes = (count: number) => {
    const edges = Array.from({ length: count }, (_, i) => ({
      channel: { package: 'etcd', name: 'stable' },
      from: { name: `etcd.v1.${i}.0` },
      to,
      choices: [{ olm: 'v1', channel: '' }],
    }));
    return [...causesOf(edges as never, { crds: (bundle) => [bundle.name === to.name ? after : before] })];
  };
  expect(causes(400)).toMatchObject([{ crd: 'as.a.io', changes: { length: 1000 }, edges: { length: 400 } }]);
  expect(() => causes(401)).toThrow(Undecided);
});

function never(): never {
  throw new Error('not a CRD');
}
