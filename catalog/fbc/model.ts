/**
 * A catalog as data: what its blobs say, in the words of the file-based catalog
 * specification. Everything is readonly; nothing here validates.
 *
 * @see https://olm.operatorframework.io/docs/reference/file-based-catalogs/
 */

import type { Location } from '../finding.ts';
import type { Path } from '../go/shape.ts';
import type { Version } from '../version/version.ts';
import { inFile, type SourceDocument } from './document.ts';

/** One object of a file-based catalog, whatever its schema. */
export interface Blob {
  readonly schema: string;
  /** The package that the blob belongs to, or the empty string. */
  readonly package: string;
  readonly name: string;
  /** The whole object as JSON, unknown fields included. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly document: SourceDocument;
}

export interface PackageBlob extends Blob {
  readonly defaultChannel: string;
  readonly description: string;
  readonly icon?: Icon;
  readonly properties: readonly Property[];
}

export interface Icon {
  /** Base64, as written. */
  readonly base64data: string;
  readonly mediatype: string;
}

export interface Channel extends Blob {
  readonly entries: readonly Entry[];
  readonly properties: readonly Property[];
}

/** A node of the upgrade graph: one bundle's place in one channel. */
export interface Entry {
  readonly name: string;
  /** Name of the bundle that this one replaces, or the empty string. */
  readonly replaces: string;
  readonly skips: readonly string[];
  /** Range of versions that this entry may follow, or the empty string. */
  readonly skipRange: string;
  /** Position in the channel's list. */
  readonly index: number;
}

export interface Bundle extends Blob {
  readonly image: string;
  readonly properties: readonly Property[];
  readonly relatedImages: readonly RelatedImage[];
  /** From the `olm.package` property; undefined when that is missing or no version. */
  readonly version: Version | undefined;
  /** The explicit release of the `olm.package` property, or the empty string. */
  readonly release: string;
}

export interface Property {
  readonly type: string;
  readonly value: unknown;
}

export interface RelatedImage {
  readonly name: string;
  readonly image: string;
}

/** An `olm.deprecations` blob. */
export interface Deprecations extends Blob {
  readonly entries: readonly DeprecationEntry[];
}

export interface DeprecationEntry {
  /** `olm.package`, `olm.channel` or `olm.bundle`. */
  readonly schema: string;
  /** Name of the channel or bundle; empty for the package itself. */
  readonly name: string;
  readonly message: string;
  /** Position in the blob's list. */
  readonly index: number;
}

/** The blobs of a catalog by kind, each kind in the order of loading, duplicates included. */
export interface Blobs extends ByKind<Blob> {
  readonly packages: readonly PackageBlob[];
  readonly channels: readonly Channel[];
  readonly bundles: readonly Bundle[];
  readonly deprecations: readonly Deprecations[];
}

export const NO_BLOBS: Blobs = { packages: [], channels: [], bundles: [], deprecations: [], others: [] };

/** Blobs, or what stands for them, by kind. */
export interface ByKind<T> {
  readonly packages: readonly T[];
  readonly channels: readonly T[];
  readonly bundles: readonly T[];
  readonly deprecations: readonly T[];
  /** Blobs of every other schema. */
  readonly others: readonly T[];
}

/** A catalog by package. The first of two blobs with the same name counts. */
export interface Catalog {
  readonly packages: ReadonlyMap<string, Package>;
  readonly blobs: Blobs;
}

export interface Package {
  readonly name: string;
  /** Undefined when channels or bundles name a package that has no `olm.package` blob. */
  readonly blob: PackageBlob | undefined;
  readonly defaultChannel: string;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly bundles: ReadonlyMap<string, Bundle>;
  /** Deprecation messages. */
  readonly deprecation: string | undefined;
  readonly deprecatedChannels: ReadonlyMap<string, string>;
  readonly deprecatedBundles: ReadonlyMap<string, string>;
}

/** How many blobs of all schemas there are. */
export function blobCount(blobs: Blobs): number {
  return Object.values(blobs).reduce((sum, { length }) => sum + length, 0);
}

/** Place of a blob's part, such as `locate(channel, 'entries', 2, 'replaces')`. */
export function locate(blob: Blob, ...path: Path): Location {
  return blob.document.locate(path);
}

/** The catalog of these blobs, grouped by package. If two have the same name, the first counts. */
export function catalogOf(blobs: Blobs): Catalog {
  const packages = new Map<string, PackageBuilder>();
  const packageNamed = (name: string): PackageBuilder => {
    let found = packages.get(name);
    if (!found) {
      found = new PackageBuilder(name);
      packages.set(name, found);
    }
    return found;
  };
  for (const blob of blobs.packages) packageNamed(blob.name).setBlob(blob);
  for (const channel of blobs.channels) addFirst(packageNamed(channel.package).channels, channel);
  for (const bundle of blobs.bundles) addFirst(packageNamed(bundle.package).bundles, bundle);
  for (const deprecations of blobs.deprecations) packageNamed(deprecations.package).deprecate(deprecations);
  return { packages, blobs };
}

function addFirst<T extends Blob>(to: Map<string, T>, blob: T): void {
  if (!to.has(blob.name)) to.set(blob.name, blob);
}

class PackageBuilder implements Package {
  readonly name: string;
  blob: PackageBlob | undefined;
  readonly channels = new Map<string, Channel>();
  readonly bundles = new Map<string, Bundle>();
  deprecation: string | undefined;
  readonly deprecatedChannels = new Map<string, string>();
  readonly deprecatedBundles = new Map<string, string>();

  constructor(name: string) {
    this.name = name;
  }

  get defaultChannel(): string {
    return this.blob?.defaultChannel ?? '';
  }

  setBlob(blob: PackageBlob): void {
    this.blob ??= blob;
  }

  deprecate(blob: Deprecations): void {
    for (const entry of blob.entries) {
      if (entry.schema === 'olm.package') this.deprecation ??= entry.message;
      else if (entry.schema === 'olm.channel') setFirst(this.deprecatedChannels, entry);
      else if (entry.schema === 'olm.bundle') setFirst(this.deprecatedBundles, entry);
    }
  }
}

function setFirst(to: Map<string, string>, entry: DeprecationEntry): void {
  if (!to.has(entry.name)) to.set(entry.name, entry.message);
}

/**
 * A package in which some parts are otherwise; all others stay as they are. They are named one by one, because a spread does
 * not copy getters such as `defaultChannel`.
 */
export function packageWith(
  ofPackage: Package,
  changed: Partial<Pick<Package, 'channels' | 'bundles' | 'defaultChannel' | 'deprecatedBundles'>>,
): Package {
  const { name, blob, defaultChannel, channels, bundles } = ofPackage;
  const { deprecation, deprecatedChannels, deprecatedBundles } = ofPackage;
  return {
    name,
    blob,
    defaultChannel,
    channels,
    bundles,
    deprecation,
    deprecatedChannels,
    deprecatedBundles,
    ...changed,
  };
}

// Blobs of several files together, as one catalog has them.

/** Copies of blobs, located in another file with the same content: equal files are read only once. */
export function placedBlobs(
  { packages, channels, bundles, deprecations, others }: Blobs,
  file: string,
): Blobs {
  const here = <T extends Blob>(blob: T): T => ({ ...blob, document: inFile(blob.document, file) });
  return {
    packages: packages.map(here),
    channels: channels.map(here),
    bundles: bundles.map(here),
    deprecations: deprecations.map(here),
    others: others.map(here),
  };
}

/** The blobs of all parts, in their order. */
export function joinedBlobs(parts: readonly Blobs[]): Blobs {
  return {
    packages: parts.flatMap(({ packages }) => packages),
    channels: parts.flatMap(({ channels }) => channels),
    bundles: parts.flatMap(({ bundles }) => bundles),
    deprecations: parts.flatMap(({ deprecations }) => deprecations),
    others: parts.flatMap(({ others }) => others),
  };
}

/** The blobs of the packages that are wanted; those of no package go by the empty name. */
export function blobsOfPackages(blobs: Blobs, isWanted: (pkg: string) => boolean): Blobs {
  const ofWanted = (blob: { readonly package: string }): boolean => isWanted(blob.package);
  return {
    packages: blobs.packages.filter(({ name }) => isWanted(name)),
    channels: blobs.channels.filter(ofWanted),
    bundles: blobs.bundles.filter(ofWanted),
    deprecations: blobs.deprecations.filter(ofWanted),
    others: blobs.others.filter(ofWanted),
  };
}

/** Applies a function to the blobs of each kind. */
export function mapKinds<T, U>(
  blobs: ByKind<T>,
  mapList: (list: readonly T[], kind: keyof ByKind<T>) => readonly U[],
): ByKind<U> {
  return {
    packages: mapList(blobs.packages, 'packages'),
    channels: mapList(blobs.channels, 'channels'),
    bundles: mapList(blobs.bundles, 'bundles'),
    deprecations: mapList(blobs.deprecations, 'deprecations'),
    others: mapList(blobs.others, 'others'),
  };
}
