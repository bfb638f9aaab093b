import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limitComponents, nestedNaming, ocMirrorNaming } from '../../../catalog/mirror/destination-names.ts';
import { parseReference } from '../../../catalog/reference.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const TAG_OF_DIGEST = `sha256_${'ab'.repeat(32)}`;

/** `source -> destination` of a reference whose tag means a digest, where that is known. */
function placed(written: string, { path = 'olm', maxComponents = 0, digest = '' } = {}): string {
  const { place } = nestedNaming({ registry: 'mirror.example.com:5000', path, maxComponents });
  const wanted = parseReference(written);
  const found = place({ role: 'related', written, wanted, digest: digest === '' ? undefined : digest });
  if (typeof found === 'string') return found;
  const { source, destination } = found;
  return `${source} -> ${destination.transport}:${destination.registry}/${destination.repository}:${destination.tag}`;
}

describe('the place of an image', () => {
  test.each([
    ['quay.io/org/app:v1', {}, 'quay.io/org/app:v1', 'olm/quay.io/org/app:v1'],
    ['quay.io/org/app:v1', { path: '' }, 'quay.io/org/app:v1', 'quay.io/org/app:v1'],
    ['Quay.IO:443/org/app:v1', {}, 'Quay.IO:443/org/app:v1', 'olm/quay.io_443/org/app:v1'],
    ['quay.io/org/app:v1', { digest: DIGEST }, `quay.io/org/app@${DIGEST}`, 'olm/quay.io/org/app:v1'],
    [`quay.io/org/app@${DIGEST}`, {}, `quay.io/org/app@${DIGEST}`, `olm/quay.io/org/app:${TAG_OF_DIGEST}`],
    // The reference names a digest already: what the tag beside it means does not matter.
    [
      `quay.io/org/app:v1@${DIGEST}`,
      { digest: `sha256:${'0'.repeat(64)}` },
      `quay.io/org/app@${DIGEST}`,
      'olm/quay.io/org/app:v1',
    ],
    ['quay.io/org/app:v1', { maxComponents: 2 }, 'quay.io/org/app:v1', 'olm/quay.io-org-app:v1'],
    ['quay.io/org/app:v1', { maxComponents: 3 }, 'quay.io/org/app:v1', 'olm/quay.io/org-app:v1'],
  ])('%s %o', (written, options, source, destination) => {
    expect(placed(written, options)).toBe(`${source} -> registry:mirror.example.com:5000/${destination}`);
  });
});

test('a path has at most so many components, and only the last of them is joined', () => {
  const component = fc.stringMatching(/^[a-z]{1,3}$/);
  fc.assert(
    fc.property(
      fc.array(component, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 0, max: 7 }),
      (all, most) => {
        const flat = limitComponents(all, most).split('/');
        expect(flat.length).toBe(most === 0 ? all.length : Math.min(all.length, most));
        expect(flat.slice(0, -1)).toEqual(all.slice(0, flat.length - 1));
        expect(flat.at(-1)).toBe(all.slice(flat.length - 1).join('-'));
      },
    ),
  );
});

test('oc-mirror cuts the tag of a sha512 digest to 127 characters, and keeps shorter ones whole', () => {
  const { place } = ocMirrorNaming({ registry: 'mirror', path: '', maxComponents: 0 }, new Map());
  const tagOf = (digest: string): unknown => {
    const written = `quay.io/org/app@${digest}`;
    return place({ role: 'related', written, wanted: parseReference(written), digest: undefined });
  };
  expect(tagOf(`sha512:${'ab'.repeat(64)}`)).toMatchObject({
    destination: { tag: `sha512-${'ab'.repeat(60)}` },
  });
  expect(tagOf(DIGEST)).toMatchObject({ destination: { tag: `sha256-${'ab'.repeat(32)}` } });
});
