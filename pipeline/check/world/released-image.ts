/**
 * What a released index image has: the names of its bundles by channel. They follow from the image's digest, so an
 * image is read once, wherever there is a store. Elsewhere only the files of the packages in question are parsed:
 * whole product catalogs have hundreds of megabytes.
 */

import type { Blobs, Bundle } from '../../../catalog/fbc/model.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import type { PublishedBundle } from '../../../catalog/olm/foresight/world.ts';
import { formatVersion, tryParseVersion } from '../../../catalog/version/version.ts';
import { renderImage } from '../../catalogs/render/image.ts';
import { mentionsAny } from '../../file-pieces.ts';
import type { Registry } from '../../ports.ts';
import { blobsUnlessBroken, derivedOnce, type ImagePorts } from './stored-image.ts';

/** By package. */
export type ReleasedPackages = ReadonlyMap<string, readonly PublishedBundle[]>;

interface ReleasedImagePorts extends ImagePorts {
  /** Names of the packages in question. */
  readonly packages: ReadonlySet<string>;
}

/**
 * What an image has.
 *
 * @param text a reference; never a path, whatever it looks like
 * @throws PipelineError `not-found`, `usage` for what is not an index image, `corrupt` for one that cannot be read
 *   whole, `too-large`, and what a registry may throw
 */
export function releasedPackages(
  text: string,
  { packages: wanted, ...ports }: ReleasedImagePorts,
): Promise<ReleasedPackages> {
  return derivedOnce(text, ports, {
    kind: 'released',
    parse: packagesIn,
    format: bytesOf,
    derive: (name) => readImage(name, ports.registry, ports.store ? undefined : namesPackage(wanted)),
  });
}

/** Tells whether a file names one of the packages. */
function namesPackage(packages: ReadonlySet<string>): (content: Uint8Array) => boolean {
  return (content) => mentionsAny(content, packages);
}

/**
 * The packages in an index image.
 *
 * @param parses which files must be parsed; by default all
 * @throws PipelineError `corrupt` for an image with a file that cannot be read
 */
async function readImage(
  name: string,
  registry: Registry,
  parses: ((content: Uint8Array) => boolean) | undefined,
): Promise<ReleasedPackages> {
  const options = {
    // The name is a reference, never a path, so no directory matters.
    directory: '/',
    registry: () => registry,
    only: 'catalogs',
    each: { bundle: withoutContents },
    ...(parses ? { parses } : {}),
  } as const;
  return packagesOf(blobsUnlessBroken(name, await renderImage(`docker://${name}`, options)));
}

/** A bundle without its properties, related images and text: they are most of a catalog's size, and nobody asks for them here. */
function withoutContents(bundle: Bundle): Bundle {
  return { ...bundle, value: {}, properties: [], relatedImages: [], document: bundle.document.detached() };
}

/** The entries of all channels by package, each with the version of its bundle. */
function packagesOf({ channels, bundles }: Blobs): ReleasedPackages {
  const keyOf = (name: string, bundle: string): string => `${name}\n${bundle}`;
  const versions = new Map(
    bundles.map(({ package: packageName, name, version }) => [keyOf(packageName, name), version]),
  );
  const packages = new Map<string, PublishedBundle[]>();
  for (const { package: packageName, name: channel, entries } of channels) {
    const published = packages.get(packageName) ?? [];
    packages.set(packageName, published);
    for (const { name } of entries)
      published.push({ channel, name, version: versions.get(keyOf(packageName, name)) });
  }
  return packages;
}

type Row = readonly [channel: string, name: string, version: string];

/** What an image has, in the form in which it is kept; {@link packagesIn} reads it. */
function bytesOf(packages: ReleasedPackages): Uint8Array {
  const rows = [...packages].map(([name, bundles]) => [
    name,
    bundles.map(
      ({ channel, name: bundle, version }): Row => [channel, bundle, version ? formatVersion(version) : ''],
    ),
  ]);
  return new TextEncoder().encode(JSON.stringify(Object.fromEntries(rows)));
}

/** What {@link bytesOf} kept of an image; undefined for damaged bytes, so that the image is read again. */
function packagesIn(bytes: Uint8Array): ReleasedPackages | undefined {
  const value: unknown = parsedJson(bytes);
  if (!isObject(value)) return undefined;
  const packages = new Map<string, PublishedBundle[]>();
  for (const [name, rows] of Object.entries(value)) {
    if (!Array.isArray(rows) || !rows.every(isRow)) return undefined;
    packages.set(
      name,
      rows.map(([channel, bundle, version]) => ({
        channel,
        name: bundle,
        version: tryParseVersion(version),
      })),
    );
  }
  return packages;
}

function isRow(value: unknown): value is Row {
  return Array.isArray(value) && value.length === 3 && value.every((one) => typeof one === 'string');
}
