/** Documents that are read back: the list of what may go, and policies that become mirror sets. */
import { expect, test } from 'vitest';
import { readDeleteList } from '../../../../catalog/mirror/documents/delete-list.ts';
import { migratePolicies } from '../../../../catalog/mirror/documents/migrate.ts';
import { readObjects } from '../../../../catalog/mirror/read.ts';

const ITEM = '{ "imageReference": "docker://mirror.example.com/org/app:v1" }';

test.each([
  `kind: DeleteImageList\napiVersion: mirror.openshift.io/v2alpha1\nitems: [${ITEM}]\n`,
  `kind: "DeleteImageList"\napiVersion: mirror.openshift.io/v2alpha1\nitems: [${ITEM}]\n`,
  `{ "apiVersion": "mirror.openshift.io/v2alpha1", "kind": "DeleteImageList", "items": [${ITEM}] }`,
])('a list of what may go is read in any style: %j', (text) => {
  const { images, findings } = readDeleteList(text, 'delete-images.yaml');
  expect(findings).toEqual([]);
  expect(images).toMatchObject([{ registry: 'mirror.example.com', repository: 'org/app', tag: 'v1' }]);
});

test('a wildcard may be a source, but no node can use it as a mirror', () => {
  const { objects } = readObjects(
    `apiVersion: operator.openshift.io/v1alpha1
kind: ImageContentSourcePolicy
metadata: { name: p }
spec:
  repositoryDigestMirrors:
    - source: '*.example.com'
      mirrors: ['*.mirror.org', mirror.org/all]
`,
    'icsp.yaml',
  );
  const migrated = migratePolicies(objects);
  expect(migrated.objects).toMatchObject([
    { spec: { imageDigestMirrors: [{ source: '*.example.com', mirrors: ['mirror.org/all'] }] } },
  ]);
  expect(migrated.findings).toMatchObject([
    { severity: 'error', message: expect.stringContaining('"*.mirror.org" is not a valid image location') },
  ]);
});

test('a migrated policy keeps its labels and annotations, but not what kubectl or a mistake left there', () => {
  const { objects } = readObjects(
    `apiVersion: operator.openshift.io/v1alpha1
kind: ImageContentSourcePolicy
metadata:
  name: p
  labels: { team: storage, tier: 1 }
  annotations: { note: ours, count: 2, kubectl.kubernetes.io/last-applied-configuration: '{}' }
spec:
  repositoryDigestMirrors: [{ source: example.com/a, mirrors: [mirror.org/a] }]
`,
    'icsp.yaml',
  );
  const [migrated] = migratePolicies(objects).objects;
  expect(migrated?.metadata).toEqual({
    name: 'p',
    labels: { team: 'storage' },
    annotations: { note: 'ours' },
  });
});
