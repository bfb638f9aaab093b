// Every object that a plan has, as a cluster would judge it: by the published definitions, rules in CEL included.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type DocumentOptions,
  type MirrorDocuments,
  mirrorDocuments,
} from '../../../catalog/mirror/documents/documents.ts';
import { catalogImages } from '../../../catalog/mirror/images.ts';
import type { KubernetesObject } from '../../../catalog/mirror/kubernetes-object.ts';
import { planMirror } from '../../../catalog/mirror/plan.ts';
import type { PlanRequest } from '../../../catalog/mirror/plan-request.ts';
import type { CatalogSource } from '../../../catalog/source.ts';
import { judgeOf } from '../../fakes/crd.ts';

const FOLDER = 'test/catalog/mirror/crds';
const JUDGES = new Map(
  readdirSync(FOLDER).flatMap((name) => {
    const { kinds, judge } = judgeOf(join(FOLDER, name));
    return kinds.map((kind) => [kind, judge] as const);
  }),
);
const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;

const REFERENCES = [
  `quay.io/org/app@${digest('1')}`,
  'quay.io/org/app:v1',
  `registry.example.com:5000/a/b/c/d/operand:v2@${digest('2')}`,
  'busybox',
  `docker.io/library/redis@${digest('3')}`,
  'index.docker.io/acme/tool:1.0',
  'quay.io/acme/Upper',
  `ghcr.io/a_b/c__d/e--f.g@${digest('4')}`,
];

const source: CatalogSource = {
  files: async () => [
    {
      path: 'catalog.yaml',
      read: async () =>
        new TextEncoder().encode(
          [
            '---\nschema: olm.package\nname: foo\ndefaultChannel: stable\n',
            '---\nschema: olm.channel\nname: stable\npackage: foo\nentries: [{name: foo.v1.0.0}]\n',
            `---\nschema: olm.bundle\nname: foo.v1.0.0\npackage: foo\nimage: quay.io/foo/foo-bundle@${digest('9')}\n`,
            `relatedImages:\n${REFERENCES.map((image) => `- {name: '', image: '${image}'}\n`).join('')}`,
          ].join(''),
        ),
    },
  ],
};
const images = await catalogImages(source);
const keyData = Buffer.from('-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n').toString(
  'base64',
);

const plans: Record<string, Omit<PlanRequest, 'catalogs'>> = {
  nested: { to: 'mirror.example.com:5000/olm' },
  'nested, few components': { to: 'mirror.example.com', maxComponents: 2 },
  'nested, wide': { to: 'mirror.example.com', scope: 'registry' },
  oc: { to: 'mirror.example.com:5000/olm', style: 'oc' },
  'oc-mirror': { to: 'mirror.example.com:5000/olm', style: 'oc-mirror' },
};
const references = ['quay.io/my/index:v4.20', `quay.io/My_Org.x/index@${digest('5')}`.toLowerCase()];
const options: Record<string, DocumentOptions> = {
  'nothing chosen': {},
  'everything chosen': {
    sourcePolicy: 'NeverContactSource',
    catalogSource: {
      displayName: 'Catalog',
      publisher: 'Us',
      secrets: ['pull'],
      priority: -100,
      securityContext: 'restricted',
      extractContent: { cacheDir: '/tmp/cache', catalogDir: '/configs' },
    },
    clusterCatalog: { priority: 10 },
    signers: [{ scope: 'quay.io/my', keyData }],
  },
  polling: { catalogSource: { pollInterval: '30m' }, clusterCatalog: { pollInterval: '30m' } },
};

const cases = Object.entries(plans).flatMap(([style, plan]) =>
  references.flatMap((reference) =>
    Object.entries(options).map(([chosen, documents]) => ({ style, reference, chosen, plan, documents })),
  ),
);

describe.each(cases)('$style, $reference, $chosen', ({ reference, plan, documents, chosen }) => {
  test('each object is one that its definition allows', () => {
    const polls = chosen === 'polling';
    // A digest never changes: asking for it again is refused before there is an object.
    if (polls && reference.includes('@') && plan.style === 'oc') {
      expect(() => made(reference, plan, documents)).toThrow('never changes');
      return;
    }
    const objects = Object.values(made(reference, plan, documents)).flat() as KubernetesObject[];
    expect(objects.length).toBeGreaterThan(5);
    for (const object of objects) {
      const judge = JUDGES.get(`${object.apiVersion} ${object.kind}`);
      expect(judge, `${object.apiVersion} ${object.kind}`).toBeDefined();
      expect(judge?.(object), JSON.stringify(object)).toEqual([]);
      expect(object.metadata.name).toMatch(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/);
    }
  });
});

function made(
  reference: string,
  plan: Omit<PlanRequest, 'catalogs'>,
  documents: DocumentOptions,
): MirrorDocuments {
  return mirrorDocuments(planMirror({ ...plan, catalogs: [{ reference, images }] }), documents);
}

test('the judgement is one: what is wrong is refused', () => {
  const object = { metadata: { name: 'a' } };
  const catalog = { ...object, apiVersion: 'olm.operatorframework.io/v1', kind: 'ClusterCatalog' };
  const judge = JUDGES.get(`${catalog.apiVersion} ${catalog.kind}`);
  const image = { ref: `a.io/b@${digest('1')}` };
  expect(judge?.({ ...catalog, spec: { source: { type: 'Image', image } } })).toEqual([]);
  expect(
    judge?.({ ...catalog, spec: { source: { type: 'Image', image: { ...image, pollIntervalMinutes: 3 } } } }),
  ).toEqual([expect.stringContaining('cannot specify pollIntervalMinutes')]);
  expect(judge?.({ ...catalog, spec: { source: { type: 'Image', image: { ref: 'a.io/b' } } } })).not.toEqual(
    [],
  );
  expect(judge?.({ ...catalog, spec: { nonsense: 1, source: { type: 'Image', image } } })).not.toEqual([]);
});
