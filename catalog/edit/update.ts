/**
 * Bundles put into a catalog as `opm index add` put them into its database: the edges come from
 * the bundles themselves, or from their versions.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/registry/populator.go
 * @see https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/registry/bundlegraphloader.go
 */
import { fieldsOf } from '../blob.ts';
import { compareText, type Location } from '../finding.ts';
import { madeBlob, madeDocument } from '../made.ts';
import { type Blobs, type Bundle, type Catalog, catalogOf, type Entry, type Package } from '../model.ts';
import { compareVersions, type Version } from '../version.ts';
import { EditError } from './package.ts';

export const UPDATE_MODES = ['replaces', 'semver', 'semver-skippatch'] as const;
export type UpdateMode = (typeof UPDATE_MODES)[number];

/** A bundle with what it says of its place. */
export interface PlacedBundle {
  readonly blob: Bundle;
  readonly version: Version;
  readonly channels: readonly string[];
  /** Empty when the bundle names none. */
  readonly defaultChannel: string;
  readonly replaces: string;
  readonly skips: readonly string[];
  readonly skipRange: string;
  readonly icon?: { readonly base64data: string; readonly mediatype: string };
}

type Edges = Pick<Entry, 'name' | 'replaces' | 'skips' | 'skipRange'>;
/** Entries by channel. */
type Lanes = Map<string, Edges[]>;

/**
 * The catalog with bundles more. They are added one after another, the lowest version first.
 *
 * @throws EditError for a bundle that has no place
 */
export function addBundles(base: Blobs, bundles: readonly PlacedBundle[], mode: UpdateMode): Blobs {
  let blobs = base;
  for (const bundle of [...bundles].sort((a, b) => compareVersions(a.version, b.version))) {
    blobs = added(blobs, catalogOf(blobs), { bundle, mode });
  }
  return blobs;
}

function added(
  blobs: Blobs,
  catalog: Catalog,
  { bundle, mode }: { readonly bundle: PlacedBundle; readonly mode: UpdateMode },
): Blobs {
  const { blob } = bundle;
  const pkg = catalog.packages.get(blob.package);
  if (pkg?.bundles.has(blob.name)) {
    throw new EditError(`the package ${quoted(pkg.name)} has the bundle ${quoted(blob.name)} already`);
  }
  if (bundle.channels.length === 0) {
    throw new EditError(`the bundle ${quoted(blob.name)} names no channels`, 'annotate its metadata');
  }
  const lanes: Lanes = new Map();
  for (const [name, { entries }] of pkg?.channels ?? []) lanes.set(name, [...entries]);
  for (const name of new Set(bundle.channels)) {
    const lane = lanes.get(name) ?? [];
    lanes.set(
      name,
      mode === 'replaces' ? byReplaces(lane, bundle, pkg) : byVersion(lane, bundle, { pkg, mode }),
    );
  }
  const place = blob.document.locate([]);
  const isOther = (of: { readonly package: string }): boolean => of.package !== blob.package;
  return {
    ...blobs,
    packages: [
      ...blobs.packages.filter(({ name }) => name !== blob.package),
      packageBlob(bundle, pkg, { lanes, place }),
    ],
    channels: [
      ...blobs.channels.filter(isOther),
      ...[...lanes].map((lane) => channelBlob(blob.package, lane, place)),
    ],
    bundles: [...blobs.bundles, blob],
  };
}

/** The bundle's own edges; what it replaces comes into the channel with it. */
function byReplaces(lane: readonly Edges[], bundle: PlacedBundle, pkg: Package | undefined): Edges[] {
  const { blob, replaces, skips, skipRange } = bundle;
  const entries: Edges[] = [...lane, { name: blob.name, replaces, skips, skipRange }];
  for (let next = replaces; next !== '' && !entries.some(({ name }) => name === next); ) {
    const elsewhere = [...(pkg?.channels.values() ?? [])].flatMap((channel) => channel.entries);
    const found = elsewhere.find(({ name }) => name === next);
    if (!found || !pkg?.bundles.has(next)) {
      throw new EditError(
        `the bundle ${quoted(blob.name)} replaces ${quoted(next)}, which the package does not have`,
        'add that one, too',
      );
    }
    entries.push(found);
    next = found.replaces;
  }
  return entries;
}

/** The bundle between the next lower and the next higher version of the channel. */
function byVersion(
  lane: readonly Edges[],
  { blob, version }: PlacedBundle,
  { pkg, mode }: { readonly pkg: Package | undefined; readonly mode: UpdateMode },
): Edges[] {
  const versionOf = ({ name }: Edges): Version | undefined => pkg?.bundles.get(name)?.version;
  const compared = lane.map((entry) => {
    const own = versionOf(entry);
    if (!own) throw new EditError(`the version of ${quoted(entry.name)} is not known`);
    return { entry, version: own, order: compareVersions(own, version) };
  });
  const same = compared.find(({ order }) => order === 0);
  if (same) {
    throw new EditError(`${quoted(same.entry.name)} has the version of ${quoted(blob.name)} already`);
  }
  const isPatch = (other: Version): boolean =>
    mode === 'semver-skippatch' && other.major === version.major && other.minor === version.minor;
  const sorted = compared.sort((a, b) => compareVersions(a.version, b.version));
  const lower = sorted.filter(({ order }) => order < 0);
  const higher = sorted.filter(({ order }) => order > 0);
  const behind = lower.findLast((other) => !isPatch(other.version))?.entry.name ?? '';
  const skips = lower.filter((other) => isPatch(other.version)).map(({ entry }) => entry.name);
  const newest = higher.findLast((other) => isPatch(other.version))?.entry;
  const ahead = newest ? undefined : higher[0]?.entry;
  return [
    ...lane.map((entry) => {
      if (entry === ahead) return { ...entry, replaces: blob.name };
      return entry === newest ? { ...entry, skips: [...entry.skips, blob.name] } : entry;
    }),
    { name: blob.name, replaces: behind, skips, skipRange: '' },
  ];
}

function packageBlob(
  { blob, version, channels, defaultChannel, icon }: PlacedBundle,
  pkg: Package | undefined,
  { lanes, place }: { readonly lanes: Lanes; readonly place: Location },
): Blobs['packages'][number] {
  const isNewest = [...(pkg?.bundles.values() ?? [])].every(
    (other) => !other.version || compareVersions(other.version, version) <= 0,
  );
  const inferred = lanes.size === 1 ? (channels[0] ?? '') : '';
  const wanted = isNewest && defaultChannel !== '' ? defaultChannel : (pkg?.defaultChannel ?? defaultChannel);
  const chosen = wanted === '' ? inferred : wanted;
  if (chosen === '') {
    throw new EditError(
      `the bundle ${quoted(blob.name)} has several channels, and none is the default`,
      'operators.operatorframework.io.bundle.channel.default.v1: CHANNEL in its annotations',
    );
  }
  const before = pkg?.blob
    ? fieldsOf(pkg.blob)
    : { schema: 'olm.package', name: blob.package, ...(icon ? { icon } : {}) };
  const decoded = madeBlob({ ...before, defaultChannel: chosen }, madeDocument(place));
  if (decoded.kind !== 'package') throw new TypeError('a package was made that is none');
  return decoded.blob;
}

function channelBlob(
  pkg: string,
  [name, entries]: readonly [string, readonly Edges[]],
  place: Location,
): Blobs['channels'][number] {
  const list = [...entries]
    .sort((a, b) => compareText(a.name, b.name))
    .map(({ name: entry, replaces, skips, skipRange }) => ({
      name: entry,
      ...(replaces === '' ? {} : { replaces }),
      ...(skips.length === 0 ? {} : { skips }),
      ...(skipRange === '' ? {} : { skipRange }),
    }));
  const value = { schema: 'olm.channel', name, package: pkg, entries: list };
  const decoded = madeBlob(value, madeDocument(place));
  if (decoded.kind !== 'channel') throw new TypeError('a channel was made that is none');
  return decoded.blob;
}

function quoted(name: string): string {
  return JSON.stringify(name);
}
