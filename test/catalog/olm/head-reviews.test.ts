import { expect, test } from 'vitest';
import { changeOf } from '../../../catalog/olm/foresight/world.ts';
import { headReviews } from '../../../catalog/olm/head-reviews.ts';
import { bundleName, catalogFrom, PACKAGE, type WrittenPackage } from './universe.ts';

/** A bundle's metadata in a catalog, as opm writes it from OpenShift 4.17 on. */
const metadata = (...modes: readonly string[]) => ({
  type: 'olm.csv.metadata',
  value: {
    installModes: modes.map((type) => ({ type, supported: true })),
    crdDescriptions: { owned: [{ name: 'things.example.com', kind: 'Thing', version: 'v1' }] },
  },
});

const gvk = (version: string) => ({
  type: 'olm.gvk',
  value: { group: 'example.com', kind: 'Thing', version },
});

/** A bundle's manifests in a catalog. */
const manifests = (resource: string) => ({
  type: 'olm.bundle.object',
  value: {
    data: Buffer.from(
      JSON.stringify({
        apiVersion: 'operators.coreos.com/v1alpha1',
        kind: 'ClusterServiceVersion',
        metadata: { name: 'p' },
        spec: {
          installModes: [{ type: 'AllNamespaces', supported: true }],
          install: {
            spec: {
              clusterPermissions: [
                {
                  serviceAccountName: 'p',
                  rules: [{ apiGroups: [''], resources: [resource], verbs: ['get'] }],
                },
              ],
            },
          },
        },
      }),
    ).toString('base64'),
  },
});

const chain = (...versions: readonly string[]) =>
  versions.map((version, i) => ({
    name: bundleName(version),
    ...(i === 0 ? {} : { replaces: bundleName(versions[i - 1] ?? '') }),
  }));

async function reviews(before: WrittenPackage, after: WrittenPackage) {
  const options = async (one: WrittenPackage) => ({
    name: 'v4.20',
    catalog: await catalogFrom({ [PACKAGE]: one }),
  });
  return headReviews(await changeOf(await options(before), await options(after)), PACKAGE);
}

const properties = {
  '1.0.0': [metadata('AllNamespaces', 'OwnNamespace'), gvk('v1'), gvk('v1alpha1')],
  '1.1.0': [metadata('AllNamespaces'), gvk('v1')],
};
const BEFORE: WrittenPackage = {
  versions: ['1.0.0'],
  channels: { stable: chain('1.0.0'), fast: chain('1.0.0') },
  properties,
};

test('a new head is compared with the head before it, once for all channels, as far as the catalog tells', async () => {
  const channels = { stable: chain('1.0.0', '1.1.0'), fast: chain('1.0.0', '1.1.0') };
  const found = await reviews(BEFORE, { versions: ['1.0.0', '1.1.0'], channels, properties });
  expect(found).toHaveLength(1);
  const [review] = found;
  expect(review).toMatchObject({
    from: 'p.v1.0.0',
    to: 'p.v1.1.0',
    act: 2,
    know: 0,
    channels: ['fast', 'stable'],
    images: { from: 'quay.io/example/p:v1.0.0', to: 'quay.io/example/p:v1.1.0' },
  });
  const unknown = 'the manifests of p.v1.0.0 and p.v1.1.0 are not known';
  expect(review?.sections).toEqual([
    { title: 'Permissions', items: [], unknown },
    { title: 'Custom resources', items: [], unknown },
    {
      title: 'Dropped and deprecated APIs',
      items: [
        {
          weight: 'act',
          text: 'Thing (example.com/v1alpha1): no longer provided',
          means: 'change manifests and clients to another version first',
        },
      ],
      unknown,
    },
    { title: 'Webhooks', items: [], unknown },
    {
      title: 'Install modes and Kubernetes',
      items: [
        {
          weight: 'act',
          text: 'OwnNamespace is no longer supported',
          means: 'OLM v0 does not upgrade operators whose OperatorGroup needs it',
        },
      ],
    },
    { title: 'Images', items: [] },
  ]);
});

test('the head of a new channel is compared with that of the default channel', async () => {
  const channels = { fast: chain('1.0.0'), stable: chain('1.0.0', '1.1.0') };
  const own = { ...properties, '1.2.0': [metadata('OwnNamespace')] };
  const before = { versions: ['1.0.0', '1.1.0'], channels, properties: own, defaultChannel: 'stable' };
  const found = await reviews(before, {
    ...before,
    versions: ['1.0.0', '1.1.0', '1.2.0'],
    channels: { ...channels, next: chain('1.0.0', '1.1.0', '1.2.0') },
  });
  expect(found.map(({ from, to, channels: of }) => [from, to, of])).toEqual([
    ['p.v1.1.0', 'p.v1.2.0', ['next']],
  ]);
});

test('a kind that goes with its CRD is told once, and as an API where no metadata names CRDs', async () => {
  const one = (...all: readonly object[]) => ({ '1.0.0': all, '1.1.0': [] });
  const told = async (own: WrittenPackage['properties']) => {
    const [review] = await reviews(
      { versions: ['1.0.0'], channels: { stable: chain('1.0.0') }, properties: own ?? {} },
      {
        versions: ['1.0.0', '1.1.0'],
        channels: { stable: chain('1.0.0', '1.1.0') },
        properties: own ?? {},
      },
    );
    return review?.sections.flatMap(({ items }) => items.map(({ text }) => text));
  };
  const bare = {
    type: 'olm.csv.metadata',
    value: { installModes: [{ type: 'AllNamespaces', supported: true }] },
  };
  const all = [metadata('AllNamespaces'), gvk('v1')] as const;
  expect(await told({ '1.0.0': [...all], '1.1.0': [bare] })).toEqual(['things.example.com: no longer owned']);
  expect(await told(one(gvk('v1')) as WrittenPackage['properties'])).toEqual([
    'Thing (example.com/v1): no longer provided',
  ]);
});

test('what a catalog holds of manifests is compared', async () => {
  const own = { '1.0.0': [manifests('pods')], '1.1.0': [manifests('secrets')] };
  const [review] = await reviews(
    { versions: ['1.0.0'], channels: { stable: chain('1.0.0') }, properties: own },
    { versions: ['1.0.0', '1.1.0'], channels: { stable: chain('1.0.0', '1.1.0') }, properties: own },
  );
  expect(review?.sections[0]).toEqual({
    title: 'Permissions',
    items: [
      { weight: 'act', text: 'new: secrets (get)', means: 'in all namespaces' },
      { weight: 'know', text: 'gone: pods (get)', means: 'in all namespaces' },
    ],
  });
  expect(review?.sections.every(({ unknown }) => unknown === undefined)).toBe(true);
});

test('a new channel is compared with the head of the channel that clusters come from', async () => {
  const channels = { ...BEFORE.channels, 'stable-1.1': chain('1.0.0', '1.1.0') };
  const found = await reviews(BEFORE, { versions: ['1.0.0', '1.1.0'], channels, properties });
  expect(found.map(({ from, to, channels: its }) => [from, to, its])).toEqual([
    ['p.v1.0.0', 'p.v1.1.0', ['stable-1.1']],
  ]);
});

test.each([
  ['a head that clusters do not reach', { stable: [{ name: bundleName('1.1.0') }] }],
  ['a head that stays', { stable: [...chain('1.0.0'), { name: bundleName('0.9.0') }].slice(0, 1) }],
])('%s needs no approval', async (_, channels) => {
  expect(await reviews(BEFORE, { versions: ['1.0.0', '1.1.0'], channels, properties })).toEqual([]);
});

test('nothing is said of an upgrade of which nothing is known', async () => {
  const channels = { stable: chain('1.0.0', '1.1.0') };
  expect(
    await reviews(
      { versions: ['1.0.0'], channels: { stable: chain('1.0.0') } },
      { versions: ['1.0.0', '1.1.0'], channels },
    ),
  ).toEqual([]);
});
