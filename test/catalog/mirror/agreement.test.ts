// What a plan writes agrees with itself, whatever the catalog names: the mapping puts each image where
// a node with the documents asks for it, no two images land in one place, order changes no byte.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { appliedTo, mirrorDocuments } from '../../../catalog/mirror/documents/documents.ts';
import { catalogImages } from '../../../catalog/mirror/images.ts';
import { type KubernetesObject, objectsText } from '../../../catalog/mirror/kubernetes-object.ts';
import { mappingText, readMapping } from '../../../catalog/mirror/mapping.ts';
import { mappingsOf, planMirror } from '../../../catalog/mirror/plan.ts';
import type { PlanRequest } from '../../../catalog/mirror/plan-request.ts';
import { mirrorReport } from '../../../catalog/mirror/report.ts';
import { judgeOf } from '../../fakes/crd.ts';

const FOLDER = 'test/catalog/mirror/crds';
const JUDGES = new Map(
  readdirSync(FOLDER).flatMap((name) => {
    const { kinds, judge } = judgeOf(join(FOLDER, name));
    return kinds.map((kind) => [kind, judge] as const);
  }),
);

const part = fc.constantFrom(
  'a',
  'b',
  'my-app',
  'x_y',
  'v.z',
  'team1',
  'q__r',
  'long-name-of-a-thing'.repeat(2),
);
const path = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'));
const host = fc.constantFrom(
  'quay.io/',
  'ghcr.io/',
  'registry.local:5000/',
  'localhost:5000/',
  'docker.io/',
  'index.docker.io/',
  '',
);
const tag = fc.constantFrom('v1', 'latest', 'V2.3_x', `t${'9'.repeat(127)}`);
const digest = fc.constantFrom('1', '2', 'e').map((digit) => `sha256:${digit.repeat(64)}`);
const suffix = fc.oneof(
  tag.map((text) => `:${text}`),
  digest.map((text) => `@${text}`),
  fc.tuple(tag, digest).map(([name, hash]) => `:${name}@${hash}`),
  fc.constant(''),
);
const reference = fc.tuple(host, path, suffix).map((texts) => texts.join(''));
const index = fc
  .tuple(
    fc.constantFrom('quay.io/', 'registry.local:5000/'),
    path,
    fc.oneof(
      tag.map((text) => `:${text}`),
      digest.map((text) => `@${text}`),
    ),
  )
  .map((texts) => texts.join(''));
const way: fc.Arbitrary<Omit<PlanRequest, 'catalogs'>> = fc.oneof(
  fc.record({
    style: fc.constant('nested' as const),
    to: fc.constantFrom('mirror.example.com', 'mirror.example.com:5000/olm', 'm.io/a/b/c'),
    maxComponents: fc.constantFrom(undefined, 0, 2, 3),
    scope: fc.constantFrom(undefined, 'repository' as const, 'namespace' as const, 'registry' as const),
  }),
  fc.record({
    style: fc.constant('oc' as const),
    to: fc.constantFrom('mirror.example.com', 'mirror.example.com:5000/olm', 'm.io/a/b/c'),
    maxComponents: fc.constantFrom(undefined, 0, 2, 3, 5),
    scope: fc.constantFrom(undefined, 'repository' as const, 'registry' as const),
  }),
  fc.record({
    style: fc.constant('oc-mirror' as const),
    to: fc.constantFrom('mirror.example.com', 'mirror.example.com:5000/olm'),
    maxComponents: fc.constantFrom(undefined, 0, 1, 2, 4),
  }),
);

function catalogOf(references: readonly string[]) {
  const bundle = { schema: 'olm.bundle', name: 'foo.v1.0.0', package: 'foo', image: 'quay.io/foo/bundle:v1' };
  const relatedImages = references.map((image) => ({ name: '', image }));
  const text = `${JSON.stringify({ ...bundle, relatedImages })}\n`;
  return catalogImages({
    files: async () => [{ path: 'catalog.json', read: async () => new TextEncoder().encode(text) }],
  });
}

test('mapping, documents and nodes agree', async () => {
  const input = fc.record({ index, way, references: fc.array(reference, { minLength: 1, maxLength: 12 }) });
  await fc.assert(
    fc.asyncProperty(input, async ({ index: named, way: how, references }) => {
      const made = async (ordered: readonly string[]) => {
        const images = await catalogOf(ordered);
        const plan = planMirror({ ...how, catalogs: [{ reference: named, images }] });
        return { images, plan, documents: mirrorDocuments(plan) };
      };
      const { images, plan, documents } = await made(references);
      const report = mirrorReport(plan, documents, { images: [images] });
      const unplaced = new Set(plan.unplaced.map(({ written }) => written));
      expect(report.ready.missing.filter((one) => !unplaced.has(one.reference))).toEqual([]);

      const text = mappingText(mappingsOf(plan));
      const read = readMapping(text, 'mapping.txt');
      // Among them: two images on one tag.
      expect(read.findings).toEqual([]);
      const objects = appliedTo('4.19').flatMap((name) => documents[name]) as KubernetesObject[];
      for (const object of objects) {
        expect(JUDGES.get(`${object.apiVersion} ${object.kind}`)?.(object), JSON.stringify(object)).toEqual(
          [],
        );
        expect(object.metadata.name).toMatch(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/);
      }
      const again = await made([...references].reverse());
      expect(mappingText(mappingsOf(again.plan))).toBe(text);
      const all = (of: typeof documents): string =>
        objectsText(Object.values(of).flat() as KubernetesObject[]);
      expect(all(again.documents)).toBe(all(documents));
    }),
    { numRuns: Number(process.env['RUNS'] ?? 60), seed: Number(process.env['SEED'] ?? 7) },
  );
});
