/** Blobs of several files together, as one catalog has them. */
import { inFile } from './document.ts';
import type { Blob, Blobs, ByKind } from './model.ts';

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
