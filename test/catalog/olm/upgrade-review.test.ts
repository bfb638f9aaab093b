import { expect, test } from 'vitest';
import { inspectedBundle } from '../../../catalog/bundle/inspect.ts';
import { reviewedFiles, reviewUpgrade } from '../../../catalog/olm/upgrade-review.ts';
import { upgradePage } from '../../../pipeline/report/page/upgrade-page.ts';
import { reviewHeadline, reviewLines, reviewText } from '../../../pipeline/report/review-text.ts';

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
  const inspected = await inspectedBundle({
    files: async () =>
      files.map(([path, value]) => ({ path, read: async () => Buffer.from(JSON.stringify(value)) })),
  });
  return reviewedFiles(inspected);
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

test('permissions that differ only in names are one item', async () => {
  const rule = (...resourceNames: readonly string[]) => ({
    apiGroups: [''],
    resources: ['secrets'],
    verbs: ['get'],
    resourceNames,
  });
  const text = async (...names: readonly string[]) =>
    (await items({}, { rules: [rule(...names)] }, 'Permissions'))?.map((one) => one.text);
  expect(await text('a', 'b')).toEqual(['new: secrets "a", "b" (get)']);
  expect(await text('a', 'b', 'c', 'd', 'e', 'f')).toEqual([
    'new: secrets "a", "b", "c", "d", "e" and 1 more (get)',
  ]);
});

test('CRDs: what an unsafe change means for existing objects; a safe one leaves them valid', async () => {
  const before = { crds: [crd('things', [version('v1', SIZE)])] };
  const described = (size: object) => ({ crds: [crd('things', [version('v1', { size })])] });
  const one = described({ type: 'integer', description: 'a' });
  const reordered = described({ description: 'a', type: 'integer' });
  expect(await items(one, reordered, 'Custom resources')).toEqual([]);
  const removed = { crds: [crd('things', [version('v1', {})])] };
  const grown = { crds: [crd('things', [version('v1', { ...SIZE, color: { type: 'string' } })])] };
  expect(await items(before, removed, 'Custom resources')).toMatchObject([
    {
      weight: 'act',
      means: expect.stringContaining('OLM v1 refuses the upgrade, OLM v0 does not'),
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
  const stored = { crds: [crd('things', [version('v2', SIZE)])] };
  expect(await items(before, stored, 'Custom resources')).toMatchObject([
    { weight: 'act', means: 'OLM v0 and OLM v1 refuse the upgrade' },
  ]);
  expect(await items(before, {}, 'Custom resources')).toMatchObject([
    { weight: 'act', text: 'things.example.com: no longer part of the bundle' },
  ]);
});

test('CRDs that change without harm are one item', async () => {
  const crds = (properties: object) => ['a', 'b'].map((name) => crd(name, [version('v1', properties)]));
  const grown = { ...SIZE, color: { type: 'string' } };
  expect(await items({ crds: crds(SIZE) }, { crds: crds(grown) }, 'Custom resources')).toEqual([
    {
      weight: 'know',
      text: '2 CRDs: changed',
      means: 'OLM v1 finds no change that may break existing objects',
      details: ['a.example.com', 'b.example.com'],
    },
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
  const replaced = await items(
    { crds: [crd('things', [{ ...old, storage: true }])] },
    { crds: [crd('things', [newer])] },
    'Dropped and deprecated APIs',
  );
  expect(replaced).toMatchObject([{ means: expect.stringContaining('together with the upgrade') }]);
  const deprecated = { crds: [crd('things', [{ ...old, deprecated: true }, newer])] };
  expect(await items(before, deprecated, 'Dropped and deprecated APIs')).toMatchObject([
    { weight: 'know', text: 'things.example.com v1alpha1 is deprecated' },
  ]);
});

test('a higher lowest version of Kubernetes must be prepared for, a lower one is to know', async () => {
  const changed = (from: string, to: string) =>
    items(
      { spec: { minKubeVersion: from } },
      { spec: { minKubeVersion: to } },
      'Install modes and Kubernetes',
    );
  expect(await changed('1.25.0', '1.26.0')).toMatchObject([
    { weight: 'act', text: 'Kubernetes: at least 1.26.0, before at least 1.25.0' },
  ]);
  expect(await changed('', '1.26.0')).toMatchObject([
    { weight: 'act', text: 'Kubernetes: at least 1.26.0, before any version' },
  ]);
  expect(await changed('1.26.0', '1.25.0')).toMatchObject([{ weight: 'know' }]);
  expect(await changed('1.26.0', '')).toMatchObject([
    { weight: 'know', text: 'Kubernetes: any version, before at least 1.26.0' },
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
  // A webhook of another type, or one more of the same type, under a name that is there already.
  const others = [
    { ...hook, type: 'MutatingAdmissionWebhook' },
    { ...hook, rules: [{ resources: ['secrets'], operations: ['CREATE'] }] },
  ];
  for (const more of others)
    expect(await items({ webhooks: [hook] }, { webhooks: [more, hook] }, 'Webhooks')).toHaveLength(1);
  expect(
    await items({ modes: ['AllNamespaces', 'OwnNamespace'] }, {}, 'Install modes and Kubernetes'),
  ).toMatchObject([{ weight: 'act', text: 'OwnNamespace is no longer supported' }]);
  const images = ['quay.io/a/b:2', 'oci://ghcr.io/a/c:1'];
  expect(await items({ images: ['quay.io/a/b:1', 'quay.io/a/d:1'] }, { images }, 'Images')).toEqual([
    {
      weight: 'act',
      text: 'new registry: ghcr.io',
      means: 'clusters must be able to pull from it, or from a mirror of it',
    },
    { weight: 'know', text: 'new: oci://ghcr.io/a/c:1' },
    { weight: 'know', text: 'quay.io/a/b: 1 → 2' },
    { weight: 'know', text: 'gone: quay.io/a/d:1' },
  ]);
  expect(await items({}, { images: ['quay.io/a/b:1', 'quay.io/a/c:1', 'quay.io/a/c:2'] }, 'Images')).toEqual([
    { weight: 'know', text: 'new: quay.io/a/c: 1, 2' },
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
    '<h2>Permissions</h2><ul><li class="act"><p><span class="tag">check</span> new: secrets (get)</p>',
  );
  expect(page).toContain(
    '<p class="where">No change: Custom resources, Dropped and deprecated APIs, Webhooks, Install modes and Kubernetes.</p>',
  );
  expect(reviewText(review)).toContain('Permissions\n  ! new: secrets (get): in all namespaces\n');
});

test('a part that cannot be compared is not one without changes', async () => {
  const [before, after] = [await bundleOf('a.v1', {}), await bundleOf('a.v2', {})];
  const review = reviewUpgrade({ ...before, csv: undefined, crds: undefined }, after);
  expect(reviewHeadline(review)).toBe('No change found; 5 parts not compared.');
  expect(reviewLines(review)).toEqual([
    'Not compared: Permissions, Custom resources, Dropped and deprecated APIs, Webhooks, Install modes and Kubernetes: the manifests of a.v1 are not known',
  ]);
  expect(upgradePage(review)).toContain('<p class="warn">Not compared: the manifests of a.v1 are not known');
});

test('a CRD with too many versions to compare is one that was not compared', async () => {
  const versions = Array.from({ length: 60 }, (_, i) => version(`v${i + 1}`, SIZE, { storage: i === 0 }));
  const before = await bundleOf('a.v1', { crds: [crd('things', versions)] });
  const grown = versions.map((one, i) => (i === 0 ? version('v1', { ...SIZE, color: {} }) : one));
  const after = await bundleOf('a.v2', { crds: [crd('things', grown)] });
  const review = reviewUpgrade(before, after);
  expect(review.sections[1]).toEqual({
    title: 'Custom resources',
    items: [],
    unknown: expect.stringContaining('at most 50 are compared'),
  });
});

test('a report shows the first items of each part, what must be accepted before the rest', async () => {
  const rules = Array.from({ length: 9 }, (_, i) => ({
    apiGroups: [''],
    resources: [`r${i}`],
    verbs: ['get'],
  }));
  const review = reviewUpgrade(
    await bundleOf('a.v1', {}),
    await bundleOf('a.v2', { rules, images: ['quay.io/a/b:2'] }),
  );
  expect(reviewLines(review)).toEqual([
    'Permissions:',
    ...Array.from({ length: 8 }, (_, i) => `  ❗ new: r${i} (get): in all namespaces`),
    '  and 1 more',
    'Images:',
    '  quay.io/a/b: 1 → 2',
  ]);
  expect(reviewLines(review, 'act')).not.toContain('Images:');
});
