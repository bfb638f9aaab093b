import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import type { Blobs } from '../../../catalog/fbc/model.ts';
import { contentChange, isPromotion, newBlobs, sameBundle } from '../../../catalog/olm/content-change.ts';
import { sourceOf } from '../../../catalog/source.ts';
import { runs } from '../../fakes/runs.ts';

interface Spec {
  readonly channels: Readonly<Record<string, readonly string[]>>;
  readonly image: string;
}

async function blobsOf({ channels, image }: Spec): Promise<Blobs> {
  const bundles = new Set(Object.values(channels).flat());
  const documents = [
    { schema: 'olm.package', name: 'p' },
    ...Object.entries(channels).map(([name, entries]) => ({
      schema: 'olm.channel',
      package: 'p',
      name,
      entries: entries.map((entry) => ({ name: entry })),
    })),
    ...[...bundles].map((name) => ({ schema: 'olm.bundle', package: 'p', name, image })),
  ];
  return (await load(sourceOf({ file: documents.map((one) => JSON.stringify(one)).join('\n') }))).blobs;
}

const spec: fc.Arbitrary<Spec> = fc.record({
  channels: fc.dictionary(
    fc.constantFrom('stable', 'fast'),
    fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 }),
  ),
  image: fc.constantFrom('q/i@sha256:1', 'q/i@sha256:2'),
});

describe('laws', () => {
  test('nothing changes between equal contents', () =>
    fc.assert(
      fc.asyncProperty(spec, async (one) => {
        const [a, b] = [await blobsOf(one), await blobsOf(one)];
        expect([...contentChange(a, b).classes]).toEqual(['edit-graph']);
        expect(newBlobs(a, b)).toEqual([]);
        expect(a.bundles.every((bundle, i) => sameBundle(bundle, b.bundles[i] ?? bundle))).toBe(true);
      }),
      runs(100),
    ));

  test('what is added one way is lost the other way', () =>
    fc.assert(
      fc.asyncProperty(spec, spec, async (one, two) => {
        const [a, b] = [await blobsOf(one), await blobsOf(two)];
        const there = contentChange(a, b);
        const back = contentChange(b, a);
        if (there.classes.has('add-entry')) expect(back.classes).toContain('prune');
        expect(there.classes.has('mutate-published')).toBe(back.classes.has('mutate-published'));
        expect(there.mutated).toEqual(expect.arrayContaining([...back.mutated]));
      }),
      runs(200),
    ));

  test('a promotion brings no bundle that is not elsewhere', () =>
    fc.assert(
      fc.asyncProperty(spec, spec, async (one, two) => {
        const [a, b] = [await blobsOf(one), await blobsOf(two)];
        const names = new Set(b.bundles.map(({ name }) => name));
        const contained = a.bundles.every(({ name }) => names.has(name)) && one.image === two.image;
        expect(isPromotion(a, [b])).toBe(a.bundles.length > 0 && contained);
      }),
      runs(200),
    ));
});
