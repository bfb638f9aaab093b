/**
 * Catalogs within all limits of size that ask for more work than their size says, each in shapes that grow. All of them
 * strand the versions 1.0.0 and 1.1.0 of the package etcd, so a check that reads them to the end fails.
 */
import { bundle, catalogOf, documents } from './gate.ts';
import type { Files } from './repository.ts';

const PLACE = 'catalogs/v4.20/etcd/catalog.yaml';
const PACKAGE = { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' };

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
/** Versions behind those that clusters have. */
const version = (i: number): string => `2.${Math.floor(i / 1000)}.${i % 1000}`;
const nameOf = (i: number): string => `etcd.v${version(i)}`;

type Extra = (i: number) => object;
const nothing: Extra = () => ({});

function channel(name: string, count: number, extra: Extra = nothing): object {
  const entries = numbers(count).map((i) => ({
    name: nameOf(i),
    ...(i === 0 ? {} : { replaces: nameOf(i - 1) }),
    ...extra(i),
  }));
  return { schema: 'olm.channel', package: 'etcd', name, entries };
}

const bundles = (count: number, extra: Extra = nothing): object[] =>
  numbers(count).map((i) => bundle('etcd', version(i), extra(i)));

const etcd = (...all: readonly object[]): Files => ({ [PLACE]: documents(PACKAGE, ...all) });

/** A bundle's properties: its own package, and more. */
const withProperties =
  (more: (i: number) => readonly object[]): Extra =>
  (i) => ({
    properties: [{ type: 'olm.package', value: { packageName: 'etcd', version: version(i) } }, ...more(i)],
  });

const ofEach = (count: number, one: (i: number) => object): object[] => numbers(count).map(one);
const manyOf = <T>(count: number, one: (i: number) => T): T[] => numbers(count).map(one);

const PINNED = `sha256:${'1'.repeat(64)}`;

/** A package of which each version requires one of two versions of each of the others. */
export function entangled(p: number, packages: number): string {
  const name = `p${p}`;
  const others = numbers(packages).filter((q) => q !== p);
  const requires = (i: number): object[] =>
    others.map((q) => {
      const least = (i + q) % 10;
      return {
        type: 'olm.package.required',
        value: { packageName: `p${q}`, versionRange: `>=1.${least}.0 <1.${least + 2}.0` },
      };
    });
  const entries = ofEach(10, (i) => ({
    name: `${name}.v1.${i}.0`,
    ...(i === 0 ? {} : { replaces: `${name}.v1.${i - 1}.0` }),
  }));
  return documents(
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', package: name, name: 'stable', entries },
    ...ofEach(10, (i) =>
      bundle(name, `1.${i}.0`, {
        properties: [
          { type: 'olm.package', value: { packageName: name, version: `1.${i}.0` } },
          ...requires(i),
        ],
      }),
    ),
  );
}

function nestedConstraint(depth: number): object {
  if (depth === 0) return { package: { packageName: 'quay', versionRange: '>=3.0.0' } };
  const kind = ['all', 'any', 'not'][depth % 3] ?? 'all';
  return { [kind]: { constraints: [nestedConstraint(depth - 1), nestedConstraint(depth - 1)] } };
}

const stranding: Files = etcd(channel('stable', 1), ...bundles(1));

/** Shapes by name: the files of a pull request. */
export const EXHAUSTING: Readonly<Record<string, () => Files>> = {
  'a chain of 6,000 versions': () => etcd(channel('stable', 6000), ...bundles(6000)),
  '3,000 ranges over all versions before': () =>
    etcd(
      channel('stable', 3000, (i) => ({ skipRange: `>=2.0.0 <${version(i)}` })),
      ...bundles(3000),
    ),
  '1,500 versions that skip all before': () =>
    etcd(
      channel('stable', 1500, (i) => ({ skips: manyOf(Math.max(0, i - 1), nameOf) })),
      ...bundles(1500),
    ),
  '400 channels of the same 400 versions': () =>
    etcd(channel('stable', 400), ...ofEach(399, (i) => channel(`c${i}`, 400)), ...bundles(400)),
  '20 ranges of 50,000 alternatives': () => {
    const skipRange = manyOf(50_000, (i) => `>=0.${i}.0 <0.${i}.1`).join(' || ');
    return etcd(
      channel('stable', 20, () => ({ skipRange })),
      ...bundles(20),
    );
  },
  'versions of 20,000 parts': () => {
    const long = (i: number): string => `2.${i}.0-${'1.'.repeat(20_000)}1`;
    const all = manyOf(60, (i) => bundle('etcd', long(i), { name: nameOf(i) }));
    return etcd(channel('stable', 60), ...all);
  },
  'constraints of 4,096 leaves': () => {
    const constraint = { type: 'olm.constraint', value: { failureMessage: 'x', ...nestedConstraint(12) } };
    return etcd(
      channel('stable', 30),
      ...bundles(
        30,
        withProperties(() => [constraint]),
      ),
    );
  },
  '60 packages that require each other': () => ({
    ...stranding,
    ...Object.fromEntries(manyOf(60, (p) => [`catalogs/v4.20/p${p}/catalog.yaml`, entangled(p, 60)])),
  }),
  '2,900 new packages': () => ({
    ...stranding,
    ...Object.fromEntries(
      manyOf(2900, (p) => [`catalogs/v4.20/q${p}/catalog.yaml`, catalogOf(`q${p}`, ['1.0.0'])]),
    ),
  }),
  '18,000 documents of one schema': () =>
    etcd(
      channel('stable', 2),
      ...bundles(2),
      ...ofEach(18_000, (i) => ({ schema: 'x', package: 'etcd', name: `n${i}` })),
      { schema: 'y', package: 'etcd', text: 'a\n'.repeat(4_000_000) },
    ),
  '200,000 related images': () => {
    const relatedImages = ofEach(40_000, (k) => ({ name: `r${k}`, image: `quay.io/o/x${k}@${PINNED}` }));
    return etcd(channel('stable', 5), ...bundles(5, () => ({ relatedImages })));
  },
  '5,000 APIs offered and 5,000 required, 20 times': () => {
    const apis = numbers(5000).flatMap((k) => [
      { type: 'olm.gvk', value: { group: `g${k}`, version: 'v1', kind: `K${k}` } },
      { type: 'olm.gvk.required', value: { group: `h${k}`, version: 'v1', kind: 'K' } },
    ]);
    return etcd(
      channel('stable', 20),
      ...bundles(
        20,
        withProperties(() => apis),
      ),
    );
  },
  '3,000 versions that replace the first': () =>
    etcd(
      channel('stable', 3000, (i) => (i === 0 ? {} : { replaces: nameOf(0) })),
      ...bundles(3000),
    ),
  '100,000 lists of 90 levels': () => {
    const deep = `- ${'['.repeat(90)}${']'.repeat(90)}\n`.repeat(100_000);
    return { [PLACE]: `schema: x\npackage: etcd\nv:\n${deep}---\n${stranding[PLACE]}` };
  },
  'an ignore file of 150,000 lines, and 1,000 files': () => ({
    ...stranding,
    'catalogs/v4.20/etcd/.indexignore': `f*\n${manyOf(150_000, (i) => `x${i}\n`).join('')}`,
    ...Object.fromEntries(manyOf(1000, (i) => [`catalogs/v4.20/etcd/d/f${i}`, 'x'])),
  }),
};
