/**
 * Going through a catalog blob by blob and keeping none of it, so that a catalog of any
 * size passes through.
 */

import type { Finding } from '../finding.ts';
import type { CatalogSource } from '../source.ts';
import type { SourceDocument } from './document.ts';
import { DEFAULT_LIMITS, type LoadLimits, load } from './load.ts';
import type { Blob, Bundle, Channel, Deprecations, PackageBlob } from './model.ts';

/** What is done with each blob. Whatever is noted of a text must be a copy: a part keeps the whole file alive. */
export interface Visitor {
  readonly bundle: (bundle: Bundle) => void;
  /** Every blob that is not a bundle. */
  readonly other: (blob: Blob) => void;
}

/** Shows every blob of a catalog to a visitor. Returns what could not be read. */
export async function visitBlobs(
  source: CatalogSource,
  visitor: Visitor,
  limits: LoadLimits = DEFAULT_LIMITS,
): Promise<readonly Finding[]> {
  const shown = <B extends Blob>(blob: B, rest: B): B => {
    visitor.other(blob);
    return rest;
  };
  const { findings } = await load(source, limits, {
    bundle: (bundle) => {
      visitor.bundle(bundle);
      return NO_BUNDLE;
    },
    package: (blob) => shown(blob, NO_PACKAGE),
    channel: (blob) => shown(blob, NO_CHANNEL),
    deprecations: (blob) => shown(blob, NO_DEPRECATIONS),
    other: (blob) => shown(blob, NO_BLOB),
  });
  return findings;
}

/** The document of a blob whose location is never needed. */
export const NO_DOCUMENT: SourceDocument = {
  file: '',
  line: 1,
  locate: () => ({ file: '', line: 1, column: 1 }),
  detached: () => NO_DOCUMENT,
};

/** What stays of a blob that was seen: even its name would keep the file's text in memory. */
const NO_BLOB: Blob = {
  schema: '',
  package: '',
  name: '',
  value: {},
  document: NO_DOCUMENT,
};
const NO_PACKAGE: PackageBlob = { ...NO_BLOB, defaultChannel: '', description: '', properties: [] };
const NO_DEPRECATIONS: Deprecations = { ...NO_BLOB, entries: [] };
const NO_CHANNEL: Channel = { ...NO_BLOB, entries: [], properties: [] };
const NO_BUNDLE: Bundle = {
  ...NO_BLOB,
  image: '',
  properties: [],
  relatedImages: [],
  version: undefined,
  release: '',
};
