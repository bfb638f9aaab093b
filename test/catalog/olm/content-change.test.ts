import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import type { Blobs } from '../../../catalog/fbc/model.ts';
import {
  contentChange,
  newBlobs,
  promotionClasses,
  sameBundle,
} from '../../../catalog/olm/content-change.ts';
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
        expect(promotionClasses(a, [b]).includes('promote')).toBe(a.bundles.length > 0 && contained);
      }),
      runs(200),
    ));
});

type Document = Readonly<Record<string, unknown>>;

const BUNDLE = (name: string, more: Document = {}): Document => ({
  schema: 'olm.bundle',
  package: 'p',
  name,
  image: `q/i:${name}`,
  ...more,
});
const CHANNEL = (name: string, entries: readonly Document[], more: Document = {}): Document => ({
  schema: 'olm.channel',
  package: 'p',
  name,
  entries,
  ...more,
});
const A = { name: 'a' };
const B = { name: 'b', replaces: 'a', skips: ['x', 'y'], skipRange: '<2.0.0' };
const C = { name: 'c', replaces: 'b' };
const DEPRECATIONS = (...names: readonly string[]): Document => ({
  schema: 'olm.deprecations',
  package: 'p',
  entries: names.map((name) => ({ reference: { schema: 'olm.bundle', name }, message: 'old' })),
});
const OTHER = (name: string, value = 1): Document => ({ schema: 'example.com', package: 'p', name, value });
const PACKAGE = { schema: 'olm.package', name: 'p', defaultChannel: 'stable' };

/** What a change of these documents is; all else stays. */
interface Documents {
  readonly package?: Document | null;
  readonly channels?: readonly Document[];
  readonly bundles?: readonly Document[];
  readonly rest?: readonly Document[];
}

async function loaded({ package: own = PACKAGE, channels, bundles, rest = [] }: Documents): Promise<Blobs> {
  const documents = [
    ...(own ? [own] : []),
    ...(channels ?? [CHANNEL('stable', [A, B])]),
    ...(bundles ?? [BUNDLE('a'), BUNDLE('b')]),
    ...rest,
  ];
  return (await load(sourceOf({ file: documents.map((one) => JSON.stringify(one)).join('\n') }))).blobs;
}

const WITH_C = { bundles: [BUNDLE('a'), BUNDLE('b'), BUNDLE('c')] };
const edited = (b: Document): Documents => ({ ...WITH_C, channels: [CHANNEL('stable', [A, b, C])] });

test.each<[string, Documents, Documents, readonly string[], { added?: string[]; lost?: string[] }]>([
  ['a new head', {}, edited(B), ['add-entry'], { added: ['c'] }],
  ['skips in another order', {}, edited({ ...B, skips: ['y', 'x', 'x'] }), ['add-entry'], { added: ['c'] }],
  ['one skip less', {}, edited({ ...B, skips: ['x'] }), ['add-entry', 'edit-graph'], { added: ['c'] }],
  ['another skip', {}, edited({ ...B, skips: ['x', 'z'] }), ['add-entry', 'edit-graph'], { added: ['c'] }],
  ['another replaces', {}, edited({ ...B, replaces: 'x' }), ['add-entry', 'edit-graph'], { added: ['c'] }],
  ['another range', {}, edited({ ...B, skipRange: '<3' }), ['add-entry', 'edit-graph'], { added: ['c'] }],
  [
    'another field of the channel',
    {},
    { ...WITH_C, channels: [CHANNEL('stable', [A, B, C], { properties: [] })] },
    ['add-entry', 'edit-graph'],
    { added: ['c'] },
  ],
  [
    'another default channel',
    {},
    { ...edited(B), package: { ...PACKAGE, defaultChannel: 'fast' } },
    ['add-entry', 'edit-graph'],
    { added: ['c'] },
  ],
  [
    'a deprecation',
    {},
    { ...edited(B), rest: [DEPRECATIONS('a')] },
    ['add-entry', 'edit-graph'],
    { added: ['c'] },
  ],
  [
    'a new channel of what there was',
    {},
    { channels: [CHANNEL('stable', [A, B]), CHANNEL('fast', [A])] },
    ['edit-graph'],
    {},
  ],
  [
    'a new channel with a bundle that was in the catalog, in no channel',
    WITH_C,
    { ...WITH_C, channels: [CHANNEL('stable', [A, B]), CHANNEL('fast', [C])] },
    ['edit-graph'],
    {},
  ],
  ['a bundle that was in no channel', WITH_C, edited(B), ['add-entry'], { added: ['c'] }],
  ['a bundle in no channel', {}, WITH_C, ['add-entry'], { added: ['c'] }],
  [
    'an entry of another channel',
    { channels: [CHANNEL('stable', [A, B]), CHANNEL('fast', [A])] },
    { channels: [CHANNEL('stable', [A, B]), CHANNEL('fast', [A, B])] },
    ['add-entry'],
    { added: ['b'] },
  ],
  [
    'a removed bundle',
    {},
    { channels: [CHANNEL('stable', [A])], bundles: [BUNDLE('a')] },
    ['prune'],
    { lost: ['entry b of channel stable', 'bundle b'] },
  ],
  [
    'a removed channel',
    { channels: [CHANNEL('stable', [A, B]), CHANNEL('fast', [A])] },
    {},
    ['prune'],
    { lost: ['channel fast'] },
  ],
  ['the removed package', {}, { package: null }, ['prune', 'edit-graph'], { lost: ['the olm.package blob'] }],
  [
    'a removed deprecation',
    { rest: [DEPRECATIONS('a', 'b')] },
    { rest: [DEPRECATIONS('b')] },
    ['prune', 'edit-graph'],
    { lost: ['deprecation of olm.bundle a'] },
  ],
  [
    'a removed blob of another schema',
    { rest: [OTHER('x'), OTHER('y')] },
    { rest: [OTHER('y')] },
    ['prune', 'edit-graph'],
    { lost: ['example.com x'] },
  ],
  [
    'one of two removed blobs of one schema and name',
    { rest: [OTHER('x'), OTHER('x', 2)] },
    { rest: [OTHER('x')] },
    ['prune', 'edit-graph'],
    { lost: ['example.com x'] },
  ],
  ['a changed blob of another schema', { rest: [OTHER('x')] }, { rest: [OTHER('x', 2)] }, ['edit-graph'], {}],
  [
    'another label of a bundle',
    {},
    { bundles: [BUNDLE('a'), BUNDLE('b', { label: 'x' })] },
    ['mutate-published'],
    {},
  ],
])('%s', async (_, before, after, classes, { added = [], lost = [] }) => {
  const change = contentChange(await loaded(before), await loaded(after));
  expect([...change.classes].sort()).toEqual([...classes].sort());
  expect([change.added, change.lost]).toEqual([added, lost]);
});

test('183: bundles with their metadata in another format are the same if opm makes the one of the other', async () => {
  const csv = (spec: object) => ({ kind: 'ClusterServiceVersion', metadata: { name: 'a' }, spec });
  const objectOf = (value: object) => ({
    type: 'olm.bundle.object',
    value: { data: Buffer.from(JSON.stringify(value)).toString('base64') },
  });
  const object = objectOf(csv({ displayName: 'P' }));
  const metadata = {
    type: 'olm.csv.metadata',
    value: { displayName: 'P', crdDescriptions: {}, provider: {} },
  };
  const own = { type: 'olm.gvk', value: { group: 'g', version: 'v1', kind: 'K' } };
  const one = async (properties: readonly unknown[], image = 'q/i@sha256:1') => {
    const { bundles } = await loaded({ bundles: [BUNDLE('a', { properties, image })] });
    const [bundle] = bundles;
    if (!bundle) throw new TypeError('no bundle');
    return bundle;
  };
  const a = await one([own, object]);
  expect(sameBundle(a, await one([metadata, own]))).toBe(true);
  expect(sameBundle(a, await one([metadata, own], 'q/i@sha256:2'))).toBe(false);
  expect(sameBundle(a, await one([metadata]))).toBe(false);
  expect(sameBundle(a, await one([object, own]))).toBe(true);
  expect(sameBundle(a, await one([objectOf(csv({ displayName: 'Q' })), own]))).toBe(false);
  expect(sameBundle(await one([metadata, own]), a)).toBe(true);
  expect(sameBundle(a, await one([{ ...metadata, value: { displayName: 'Q' } }, own]))).toBe(false);
  expect(sameBundle(a, await one([{ ...metadata, value: { displayName: 'P', maturity: 'x' } }, own]))).toBe(
    false,
  );
  // What the other format is of is not known.
  expect(sameBundle(await one([objectOf({ kind: 'Role' })]), await one([metadata]))).toBe(false);
  // Manifests where none were are new.
  expect(sameBundle(await one([own]), await one([own, object]))).toBe(false);
  expect(sameBundle(await one([own, metadata]), await one([own]))).toBe(false);
  expect(sameBundle(await one([metadata]), await one([{ ...metadata, value: { displayName: 'Q' } }]))).toBe(
    false,
  );
});
