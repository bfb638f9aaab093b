import { describe, expect, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import { catalogImages, imagesOf } from '../../../catalog/mirror/images.ts';
import { planReadiness } from '../../../catalog/mirror/report.ts';
import { sourceOf } from '../../../catalog/source.ts';

const digest = (letter: string): string => `@sha256:${letter.repeat(64)}`;
const OWN = `quay.io/example/bundle${digest('a')}`;
const LISTED = `quay.io/example/operator${digest('b')}`;
const VARIABLE = `quay.io/example/operand${digest('c')}`;
const INIT = `quay.io/example/init${digest('d')}`;

const csv = {
  kind: 'ClusterServiceVersion',
  spec: {
    install: {
      spec: {
        deployments: [
          {
            name: 'operator',
            spec: {
              template: {
                spec: {
                  initContainers: [{ name: 'init', image: INIT }],
                  containers: [
                    {
                      name: 'manager',
                      image: LISTED,
                      env: [{ name: 'RELATED_IMAGE_OPERAND', value: VARIABLE }],
                    },
                  ],
                },
              },
            },
          },
        ],
      },
    },
  },
};

/** A bundle in YAML, whose properties are left out where nothing in them names an image. */
const text = (data: string | undefined): string => `---
schema: olm.bundle
name: p.v1.0.0
package: p
image: ${OWN}
properties:
- type: olm.package
  value: {packageName: p, version: 1.0.0}
${data === undefined ? '' : `- type: olm.bundle.object\n  value: {data: ${data}}\n`}relatedImages:
- {name: operator, image: '${LISTED}'}
`;

const encoded = Buffer.from(JSON.stringify(csv)).toString('base64');

test('an image that is called as a package or bundle before it is one all the same', async () => {
  const bundle = (name: string, image: string): string =>
    `schema: olm.bundle\nname: ${name}\npackage: p\nimage: ${image}\n`;
  const { doubtful, readable } = await catalogImages(
    sourceOf({ 'a.yaml': `${bundle('q', OWN)}---\n${bundle('r', 'p')}---\n${bundle('s', 'q')}` }),
  );
  expect([...doubtful.keys()]).toEqual(['p', 'q']);
  expect([...readable.keys()]).toEqual([OWN, 'p', 'q']);
});

describe('what a bundle needs', () => {
  test.each([
    ['what only init containers and environment variables name', encoded, [OWN, LISTED, INIT, VARIABLE]],
    ['nothing but what it lists, where the catalog holds no manifests', undefined, [OWN, LISTED]],
  ])('is also %s', async (_, data, expected) => {
    const source = sourceOf({ 'catalog.yaml': text(data) });
    const { blobs } = await load(source);
    for (const images of [await catalogImages(source), imagesOf(blobs)]) {
      expect(images.bundles.map(({ references }) => references)).toEqual([expected]);
      expect(planReadiness(images)).toMatchObject({ references: expected.length });
    }
  });
});
