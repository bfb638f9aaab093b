/** Small catalog repositories for the oracle: their states, whether opm accepts them, and their files. */
import { createHash } from 'node:crypto';
import { compareBuild, gt, satisfies } from 'semver';
import { bundle, documents } from '../fakes/gate.ts';
import type { Files } from '../fakes/repository.ts';
import { type Crd, objectsOf } from './custom-resources.ts';

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
  /** Ranges of the other package that versions require. */
  readonly requires: Readonly<Record<string, string>>;
  /** The CRD of each version that has one; without it, the package has no manifests. */
  readonly crds?: Readonly<Record<string, Crd>>;
  /** The last platform of each version that has one, such as `4.19`. */
  readonly limits?: Readonly<Record<string, string>>;
  /** Channels that are deprecated, and `*` for the package. */
  readonly deprecatedChannels?: readonly string[];
  /** The folder; that of its name without it. */
  readonly folder?: string;
  /** Whether another catalog of the clusters has what this one lacks. */
  readonly isProvidedElsewhere?: boolean;
}

export type Catalog = Readonly<Record<string, Package>>;
/** Catalogs by name; their names are in platform order. */
export type State = Readonly<Record<string, Catalog>>;

export const PROVIDER = 'pb';

/** The package that a package's requirements are about. */
export function otherOf(name: string): string {
  return name === PROVIDER ? 'pa' : PROVIDER;
}

/** Precedence, and build metadata as a release: -1, 0 or 1. */
export function byVersion(a: string, b: string): number {
  return compareBuild(a, b);
}

/** Whether a version is in a range, as both OLM see it: a pre-release is in it if it lies between its ends. */
export function isIn(version: string, range: string): boolean {
  return range.split(' ').every((part) => satisfies(version, part, { includePrerelease: true }));
}

/** The minor version of a platform's catalog. */
export function minorOf(catalog: string): number {
  return Number(catalog.split('.')[1]);
}

/** Whether clusters with a version stay on their platform. */
export function isHeldBack({ limits = {} }: Package, version: string, next: string): boolean {
  const { [version]: limit } = limits;
  return limit !== undefined && gt(`${next.slice(1)}.0`, `${limit}.0`);
}

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
export function imageOf(name: string, { rebuilt, requires, crds }: Package, version: string): string {
  const content = JSON.stringify([
    name,
    version,
    rebuilt.includes(version),
    requires[version],
    crds?.[version],
  ]);
  return `quay.io/org/${name}@sha256:${createHash('sha256').update(content).digest('hex')}`;
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
      `catalogs/${catalog}/${one.folder ?? name}/catalog.yaml`,
      textOf(name, one),
    ]),
  );
  return { 'README.md': '# catalogs', ...Object.fromEntries(files) };
}

/** Names have no `+`. */
function named(name: string, version: string): string {
  return `${name}.v${version.replace('+', '-build.')}`;
}

function textOf(name: string, ofPackage: Package): string {
  const references = referencesOf(name, ofPackage).map((reference) => ({ reference, message: 'old' }));
  return documents(
    { schema: 'olm.package', name, defaultChannel: ofPackage.defaultChannel },
    ...channelsOf(name, ofPackage),
    ...versionsOf(ofPackage).map((version) => bundleOf(name, ofPackage, version)),
    ...(references.length > 0 ? [{ schema: 'olm.deprecations', package: name, entries: references }] : []),
  );
}

function channelsOf(name: string, { channels }: Package): object[] {
  return Object.entries(channels).map(([channel, entries]) => ({
    schema: 'olm.channel',
    package: name,
    name: channel,
    entries: entries.map(({ version, replaces, skips, skipRange }) => ({
      name: named(name, version),
      ...(replaces === undefined ? {} : { replaces: named(name, replaces) }),
      ...(skips === undefined ? {} : { skips: skips.map((one) => named(name, one)) }),
      ...(skipRange === undefined ? {} : { skipRange }),
    })),
  }));
}

/** What is deprecated, of what there is. */
function referencesOf(name: string, ofPackage: Package): object[] {
  const { deprecated, deprecatedChannels = [], channels } = ofPackage;
  return [
    ...(deprecatedChannels.includes('*') ? [{ schema: 'olm.package' }] : []),
    ...deprecatedChannels
      .filter((channel) => channels[channel] !== undefined)
      .map((channel) => ({ schema: 'olm.channel', name: channel })),
    ...deprecated
      .filter((version) => versionsOf(ofPackage).includes(version))
      .map((version) => ({ schema: 'olm.bundle', name: named(name, version) })),
  ];
}

function bundleOf(name: string, ofPackage: Package, version: string): object {
  const { requires, limits = {}, crds } = ofPackage;
  const { [version]: required } = requires;
  const { [version]: limit } = limits;
  const properties = [
    { type: 'olm.package', value: { packageName: name, version } },
    ...(required === undefined
      ? []
      : [{ type: 'olm.package.required', value: { packageName: otherOf(name), versionRange: required } }]),
    ...(limit === undefined ? [] : [{ type: 'olm.maxOpenShiftVersion', value: limit }]),
    ...(crds ? objectsOf(named(name, version), { package: name, version, crd: crds[version] }) : []),
  ];
  const image = imageOf(name, ofPackage, version);
  return bundle(name, version, { name: named(name, version), properties, image });
}
