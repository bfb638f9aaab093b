import { expect, test } from 'vitest';
import { inspectedBundle } from '../../../catalog/bundle/inspect.ts';
import { reviewUpgrade } from '../../../catalog/olm/upgrade-review.ts';
import { reviewHeadline, reviewText, upgradePage } from '../../../pipeline/report/page/upgrade-page.ts';

interface Parts {
  readonly rules?: readonly object[];
  readonly modes?: readonly string[];
  readonly webhooks?: readonly object[];
  readonly crds?: readonly object[];
  readonly images?: readonly string[];
  readonly spec?: object;
}

function crd(name: string, versions: readonly object[]): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}.example.com` },
    spec: { group: 'example.com', scope: 'Namespaced', names: { plural: name, kind: 'Thing' }, versions },
  };
}

const version = (name: string, properties: object, more: object = {}): object => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
  ...more,
});

const SIZE = { size: { type: 'integer' } };

async function bundleOf(
  name: string,
  {
    rules = [],
    modes = ['AllNamespaces'],
    webhooks = [],
    crds = [],
    images = ['quay.io/a/b:1'],
    spec = {},
  }: Parts,
) {
  const csv = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name },
    spec: {
      installModes: modes.map((type) => ({ type, supported: true })),
      install: {
        strategy: 'deployment',
        spec: {
          clusterPermissions: [{ serviceAccountName: 'a', rules }],
          deployments: [
            {
              name: 'a',
              spec: {
                template: { spec: { containers: images.map((image, i) => ({ name: `c${i}`, image })) } },
              },
            },
          ],
        },
      },
      webhookdefinitions: webhooks,
      ...spec,
    },
  };
  const files = [
    ['manifests/csv.yaml', csv],
    ...crds.map((one, i) => [`manifests/crd${i}.yaml`, one] as const),
  ] as const;
  return inspectedBundle({
    files: async () =>
      files.map(([path, value]) => ({ path, read: async () => Buffer.from(JSON.stringify(value)) })),
  });
}

async function items(before: Parts, after: Parts, title: string) {
  const review = reviewUpgrade(await bundleOf('a.v1', before), await bundleOf('a.v2', after));
  return review.sections.find((section) => section.title === title)?.items;
}

test('nothing changes: nothing to accept', async () => {
  const parts = {
    crds: [crd('things', [version('v1', SIZE)])],
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  };
  const review = reviewUpgrade(await bundleOf('a.v1', parts), await bundleOf('a.v2', parts));
  expect(reviewHeadline(review)).toBe('Nothing that an administrator must know changes.');
});

test('permissions: what is new must be accepted, what is gone is to know', async () => {
  const [pods, secrets] = ['pods', 'secrets'].map((resource) => ({
    apiGroups: [''],
    resources: [resource],
    verbs: ['get'],
  }));
  expect(await items({ rules: [pods ?? {}] }, { rules: [secrets ?? {}] }, 'Permissions')).toEqual([
    { weight: 'act', text: 'new: secrets (get)', means: 'in all namespaces' },
    { weight: 'know', text: 'gone: pods (get)', means: 'in all namespaces' },
  ]);
});

test('CRDs: what an unsafe change means for existing objects; a safe one leaves them valid', async () => {
  const before = { crds: [crd('things', [version('v1', SIZE)])] };
  const removed = { crds: [crd('things', [version('v1', {})])] };
  const grown = { crds: [crd('things', [version('v1', { ...SIZE, color: { type: 'string' } })])] };
  expect(await items(before, removed, 'Custom resources')).toMatchObject([
    {
      weight: 'act',
      means: expect.stringContaining('OLM v1 refuses the upgrade; keep the field and deprecate it'),
    },
  ]);
  const two = {
    crds: [
      crd('things', [
        version('v1', { size: { type: 'string' } }, { storage: true }),
        version('v2', SIZE, { storage: false }),
      ]),
    ],
  };
  const both = { crds: [crd('things', [version('v1', {}), version('v2', {}, { storage: false })])] };
  expect(await items(two, both, 'Custom resources')).toMatchObject([
    {
      text: 'things.example.com: 2 changes that may break existing objects',
      details: [expect.any(String), expect.any(String)],
    },
  ]);
  expect(await items(before, grown, 'Custom resources')).toEqual([
    {
      weight: 'know',
      text: 'things.example.com: changed',
      means: 'OLM v1 finds no change that may break existing objects',
    },
  ]);
  expect(await items(before, {}, 'Custom resources')).toMatchObject([
    { weight: 'act', text: 'things.example.com: no longer part of the bundle' },
  ]);
});

test('APIs that are no longer served, and those that are deprecated', async () => {
  const [old, newer] = [version('v1alpha1', SIZE, { storage: false }), version('v1', SIZE)];
  const before = { crds: [crd('things', [old, newer])] };
  const after = { crds: [crd('things', [{ ...old, served: false }, newer])] };
  expect(await items(before, after, 'Dropped and deprecated APIs')).toEqual([
    {
      weight: 'act',
      text: 'things.example.com: v1alpha1 is no longer served',
      means: 'change manifests and clients to v1 first',
    },
  ]);
  const deprecated = { crds: [crd('things', [{ ...old, deprecated: true }, newer])] };
  expect(await items(before, deprecated, 'Dropped and deprecated APIs')).toMatchObject([
    { weight: 'know', text: 'things.example.com v1alpha1 is deprecated' },
  ]);
});

test('webhooks, install modes and images', async () => {
  const hook = {
    generateName: 'v.example.com',
    type: 'ValidatingAdmissionWebhook',
    rules: [{ resources: ['things'], operations: ['CREATE'] }],
  };
  expect(await items({}, { webhooks: [hook] }, 'Webhooks')).toEqual([
    {
      weight: 'act',
      text: 'v.example.com (ValidatingAdmissionWebhook): new',
      means: 'things (CREATE); requests fail while it is down',
    },
  ]);
  expect(await items({ webhooks: [hook] }, { webhooks: [hook] }, 'Webhooks')).toEqual([]);
  expect(
    await items({ modes: ['AllNamespaces', 'OwnNamespace'] }, {}, 'Install modes and Kubernetes'),
  ).toMatchObject([{ weight: 'act', text: 'OwnNamespace is no longer supported' }]);
  expect(await items({}, { images: ['quay.io/a/b:2'] }, 'Images')).toEqual([
    { weight: 'know', text: 'new: quay.io/a/b:2' },
    { weight: 'know', text: 'gone: quay.io/a/b:1' },
  ]);
});

test('the page escapes what bundles say, runs no scripts, and shows what must be accepted first', async () => {
  const images = ['quay.io/a/<script>'];
  const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
  const review = reviewUpgrade(await bundleOf('a.v1', {}), await bundleOf('a.v2', { images, rules }));
  const page = upgradePage(review);
  expect(page).not.toContain('<script');
  expect(page).toContain("default-src 'none'");
  expect(page).toContain(
    '<h2>Permissions</h2><ul><li class="act"><p><span class="tag">Check before the upgrade.</span> new: secrets (get)</p>',
  );
  expect(reviewText(review)).toContain('Permissions\n  ! new: secrets (get): in all namespaces\n');
});

test('a part that cannot be compared is not one without changes', async () => {
  const [before, after] = [await bundleOf('a.v1', {}), await bundleOf('a.v2', {})];
  const review = reviewUpgrade({ ...before, csv: undefined }, after);
  expect(reviewHeadline(review)).toContain('; 1 part not compared.');
  expect(upgradePage(review)).toContain(
    '<p class="warn">Not compared: a bundle has no ClusterServiceVersion',
  );
});
