/** Small catalog repositories for the oracle: their states, whether opm accepts them, and their files. */
import { bundle, documents } from '../fakes/gate.ts';
import type { Files } from '../fakes/repository.ts';

/** An entry of a channel; bundles go by their versions. */
export interface Entry {
  readonly version: string;
  readonly replaces?: string;
  readonly skips?: readonly string[];
  readonly skipRange?: string;
}

export interface Package {
  readonly defaultChannel: string;
  readonly channels: Readonly<Record<string, readonly Entry[]>>;
  /** Versions whose image is not the first that they had. */
  readonly rebuilt: readonly string[];
  readonly deprecated: readonly string[];
  /** Ranges of package `pb` that versions require. */
  readonly requires: Readonly<Record<string, string>>;
}

export type Catalog = Readonly<Record<string, Package>>;
/** Catalogs by name; their names are in platform order. */
export type State = Readonly<Record<string, Catalog>>;

export const PROVIDER = 'pb';

/** Every version of a package, each once. */
export function versionsOf({ channels }: Package): string[] {
  return [...new Set(Object.values(channels).flatMap((entries) => entries.map(({ version }) => version)))];
}

/** Entries that nothing in their channel replaces or skips. */
export function headsOf(entries: readonly Entry[]): Entry[] {
  const followed = new Set(entries.flatMap(({ replaces, skips = [] }) => [replaces, ...skips]));
  return entries.filter(({ version }) => !followed.has(version));
}

/** Whether `opm validate` accepts a package: one head, no circle, and every entry on the way down or skipped. */
export function isValid({ channels, defaultChannel }: Package): boolean {
  return channels[defaultChannel] !== undefined && Object.values(channels).every(isValidChannel);
}

function isValidChannel(entries: readonly Entry[]): boolean {
  const [head, ...others] = headsOf(entries);
  if (!head || others.length > 0) return false;
  const skipped = new Set(entries.flatMap(({ skips = [] }) => skips));
  const seen = new Set<string>();
  for (let one: Entry | undefined = head; one; ) {
    if (seen.has(one.version)) return false;
    seen.add(one.version);
    const { replaces }: Entry = one;
    if (replaces !== undefined && seen.has(replaces)) return false;
    one = skipped.has(replaces ?? '') ? undefined : entries.find(({ version }) => version === replaces);
  }
  return entries.every(({ version }) => seen.has(version) || skipped.has(version));
}

/** The image of a version, which no other version ever has. */
export function imageOf(name: string, { rebuilt }: Package, version: string): string {
  const [major = '', minor = ''] = version.split('.');
  const digits = `${name === PROVIDER ? 'b' : 'a'}${major}${rebuilt.includes(version) ? 'f' : '0'}${minor}`;
  return `quay.io/org/${name}@sha256:${digits.padEnd(64, 'e')}`;
}

/** What each state writes on top of the one before: one file for each package and catalog, null for one that is gone. */
export function commitsOf(states: readonly State[]): Files[] {
  const all = states.map(filesOf);
  return all.map((files, i) => ({
    ...Object.fromEntries(Object.keys(all[i - 1] ?? {}).map((path) => [path, null])),
    ...files,
  }));
}

function filesOf(state: State): Files {
  const files = Object.entries(state).flatMap(([catalog, packages]) =>
    Object.entries(packages).map(([name, one]) => [
      `catalogs/${catalog}/${name}/catalog.yaml`,
      textOf(name, one),
    ]),
  );
  return { 'README.md': '# catalogs', ...Object.fromEntries(files) };
}

function textOf(name: string, ofPackage: Package): string {
  const named = (version: string): string => `${name}.v${version}`;
  const channels = Object.entries(ofPackage.channels).map(([channel, entries]) => ({
    schema: 'olm.channel',
    package: name,
    name: channel,
    entries: entries.map(({ version, replaces, skips, skipRange }) => ({
      name: named(version),
      ...(replaces === undefined ? {} : { replaces: named(replaces) }),
      ...(skips === undefined ? {} : { skips: skips.map(named) }),
      ...(skipRange === undefined ? {} : { skipRange }),
    })),
  }));
  const references = ofPackage.deprecated
    .filter((version) => versionsOf(ofPackage).includes(version))
    .map((version) => ({ reference: { schema: 'olm.bundle', name: named(version) }, message: 'old' }));
  return documents(
    { schema: 'olm.package', name, defaultChannel: ofPackage.defaultChannel },
    ...channels,
    ...versionsOf(ofPackage).map((version) => bundleOf(name, ofPackage, version)),
    ...(references.length > 0 ? [{ schema: 'olm.deprecations', package: name, entries: references }] : []),
  );
}

function bundleOf(name: string, ofPackage: Package, version: string): object {
  const required = ofPackage.requires[version];
  const properties = [
    { type: 'olm.package', value: { packageName: name, version } },
    ...(required === undefined
      ? []
      : [{ type: 'olm.package.required', value: { packageName: PROVIDER, versionRange: required } }]),
  ];
  return bundle(name, version, { properties, image: imageOf(name, ofPackage, version) });
}
