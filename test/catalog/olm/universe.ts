import fc from 'fast-check';
import { load } from '../../../catalog/fbc/load.ts';
import { type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import type { ScopeCatalog } from '../../../catalog/olm/resolve/snapshot.ts';
import { sourceOf } from '../../../catalog/source.ts';

/** A channel's entry as it is written. */
export interface WrittenEntry {
  readonly name: string;
  readonly replaces?: string;
  readonly skips?: readonly string[];
  readonly skipRange?: string;
}

/** A package as it is written: `versions` are its bundles, called `p.v<version>`. */
export interface WrittenPackage {
  readonly versions: readonly string[];
  readonly channels: Readonly<Record<string, readonly WrittenEntry[]>>;
  readonly properties?: Readonly<Record<string, readonly { type: string; value: unknown }[]>>;
  readonly deprecated?: readonly string[];
  /** The first channel if it is absent. */
  readonly defaultChannel?: string;
}

export const PACKAGE = 'p';

export function bundleName(version: string, ofPackage: string = PACKAGE): string {
  return `${ofPackage}.v${version}`;
}

/** The text of a catalog with these packages. */
export function written(packages: Readonly<Record<string, WrittenPackage>>): string {
  return Object.entries(packages)
    .flatMap(([name, { versions, channels, properties = {}, deprecated = [], defaultChannel }]) => [
      { schema: 'olm.package', name, defaultChannel: defaultChannel ?? Object.keys(channels)[0] },
      ...Object.entries(channels).map(([channel, entries]) => ({
        schema: 'olm.channel',
        package: name,
        name: channel,
        entries,
      })),
      ...versions.map((version) => ({
        schema: 'olm.bundle',
        package: name,
        name: bundleName(version, name),
        image: `quay.io/example/${name}:v${version.replace('+', '_')}`,
        properties: [
          { type: 'olm.package', value: { packageName: name, version } },
          ...(properties[version] ?? []),
        ],
      })),
      ...(deprecated.length === 0
        ? []
        : [
            {
              schema: 'olm.deprecations',
              package: name,
              entries: deprecated.map((version) => ({
                reference: { schema: 'olm.bundle', name: bundleName(version, name) },
                message: 'old',
              })),
            },
          ]),
    ])
    .map((blob) => JSON.stringify(blob))
    .join('\n');
}

export async function catalogFrom(packages: Readonly<Record<string, WrittenPackage>>): Promise<Catalog> {
  const { blobs, findings } = await load(sourceOf({ 'catalog.json': written(packages) }));
  if (findings.length > 0) throw new Error(JSON.stringify(findings));
  return catalogOf(blobs);
}

export async function sourceFrom(packages: Readonly<Record<string, WrittenPackage>>): Promise<ScopeCatalog> {
  return { name: 'cat', namespace: 'olm', priority: 0, serving: true, catalog: await catalogFrom(packages) };
}

export const VERSIONS: readonly string[] = [
  '0.9.0',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.0+2',
  '1.0.1-1',
  '1.0.1',
  '1.1.0',
  '1.2.0',
  '2.0.0',
];

const RANGES = [
  '>=1.0.0 <1.2.0',
  '<1.1.0',
  '>=1.0.0',
  '1.x',
  '!1.0.0',
  '>=2.0.0 || <1.0.0',
  'none',
  '=1.0.1',
];

const anyName: fc.Arbitrary<string> = fc.constantFrom(...VERSIONS).map((version) => bundleName(version));

function entry(name: string): fc.Arbitrary<WrittenEntry> {
  return fc.record(
    {
      name: fc.constant(name),
      replaces: anyName,
      skips: fc.uniqueArray(anyName, { maxLength: 3 }),
      skipRange: fc.constantFrom(...RANGES),
    },
    { requiredKeys: ['name'] },
  );
}

function channel(versions: readonly string[]): fc.Arbitrary<WrittenEntry[]> {
  return fc
    .subarray([...versions], { minLength: 1 })
    .chain((chosen) => fc.tuple(...chosen.map((version) => entry(bundleName(version)))));
}

/** Packages with every kind of edge, sound and unsound. */
export const anyPackage: fc.Arbitrary<WrittenPackage> = fc
  .subarray([...VERSIONS], { minLength: 1 })
  .chain((versions) =>
    fc.record({
      versions: fc.constant(versions),
      channels: fc.record({ a: channel(versions), b: channel(versions) }, { requiredKeys: ['a'] }),
      deprecated: fc.oneof(fc.constant([]), fc.subarray(versions)),
    }),
  );

/** Packages whose channels are chains of replacements, some of it skipped or jumped over by ranges. */
export const soundPackage: fc.Arbitrary<WrittenPackage> = fc
  .subarray([...VERSIONS], { minLength: 1 })
  .chain((versions) =>
    fc.tuple(fc.constant(versions), fc.array(fc.nat(99), { minLength: 40, maxLength: 40 })),
  )
  .map(([versions, dice]) => {
    const roll = (
      (at) => (): number =>
        dice[at++ % dice.length] ?? 0
    )(0);
    const entries = versions.map((version, i) => {
      const below = versions.slice(0, i).map((one) => bundleName(one));
      const skips = below.filter((_, j) => j < i - 1 && roll() < 20);
      return {
        name: bundleName(version),
        ...(i > 0 ? { replaces: below[i - 1] as string } : {}),
        ...(skips.length > 0 ? { skips } : {}),
        ...(roll() < 30 ? { skipRange: `>=${versions[roll() % (i + 1)]} <${version}` } : {}),
      };
    });
    return { versions, channels: { a: entries } };
  });
