/** Blobs of several files together, as one catalog has them. */
import { inFile } from './document.ts';
import type { Blob, Blobs } from './model.ts';

/** The same blobs in another file: equal files are read once, and may lie in several places. */
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
