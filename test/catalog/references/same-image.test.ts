import { expect, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import type { Bundle } from '../../../catalog/fbc/model.ts';
import { newPins } from '../../../catalog/references/same-image.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const TAGGED = 'quay.io/o/a:v1';
const OTHER = 'quay.io/o/b:v1';
const PINNED = `quay.io/o/a@${DIGEST}`;

/** A bundle with these related images: name and image of each. */
async function bundleOf(...images: readonly (readonly [string, string])[]): Promise<Bundle> {
  const relatedImages = images.map(([name, image]) => ({ name, image }));
  const text = JSON.stringify({
    schema: 'olm.bundle',
    package: 'p',
    name: 'p.v1',
    image: 'x',
    relatedImages,
  });
  const read = async (): Promise<Uint8Array> => new TextEncoder().encode(text);
  const { blobs } = await load({ files: async () => [{ path: 'catalog.json', read }] });
  const [bundle] = blobs.bundles;
  if (!bundle) throw new Error('no bundle');
  return bundle;
}

test.each([
  [
    'in a list in another order',
    [
      ['a', TAGGED],
      ['b', OTHER],
    ],
    [
      ['b', OTHER],
      ['a', PINNED],
    ],
    TAGGED,
  ],
  [
    'without names, by their places',
    [
      ['', TAGGED],
      ['', OTHER],
    ],
    [
      ['', PINNED],
      ['', OTHER],
    ],
    TAGGED,
  ],
  ['under a new name, by its place', [['a', TAGGED]], [['c', PINNED]], TAGGED],
  [
    'of a new name beside moved ones',
    [
      ['b', OTHER],
      ['d', OTHER],
    ],
    [
      ['c', PINNED],
      ['b', OTHER],
    ],
    undefined,
  ],
  [
    'in a longer list',
    [['a', TAGGED]],
    [
      ['b', OTHER],
      ['a', PINNED],
    ],
    TAGGED,
  ],
] as const)('a pin %s', async (_, was, is, tag) => {
  const pins = newPins(await bundleOf(...was), await bundleOf(...is));
  expect(pins.map(({ before, digest }) => [before, digest])).toEqual(
    tag === undefined ? [] : [[tag, DIGEST]],
  );
});
