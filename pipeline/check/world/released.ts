/** What was released of the catalogs of which the policy says where that stands. */
import type { Blobs, Bundle } from '../../../catalog/fbc/model.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import type { PublishedBundle } from '../../../catalog/olm/foresight/world.ts';
import { formatVersion, tryParseVersion } from '../../../catalog/version/version.ts';
import { renderImage } from '../../catalogs/render/image.ts';
import { PipelineError } from '../../error.ts';
import { mentionsAny } from '../../file-pieces.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { entryAt } from '../../git/tree.ts';
import type { Store } from '../../oci/image/build-cache.ts';
import type { Policy, ReleasedSources } from '../../policy/policy.ts';
import { releasedImage, releasedOf } from '../../policy/released.ts';
import type { Registry } from '../../ports.ts';
import { readLedger } from './ledger.ts';
import type { Published } from './published.ts';
import { blobsUnlessBroken, derivedOnce, type ImagePorts } from './stored-image.ts';

interface ReleasedRequest {
  /** Id of the base branch's tip. */
  readonly base: string;
  readonly policy: Policy;
  /** Names of catalogs. */
  readonly catalogs: readonly string[];
  /** Names of the packages in question. */
  readonly packages: ReadonlySet<string>;
  /** Without it no image is read. */
  readonly registry?: Registry | undefined;
  readonly store?: Store | undefined;
}

interface ReleasedCatalogs {
  /** Everything that clusters may have of these catalogs. */
  readonly published: Published;
  /** What could not be read: everything that the branch has counts as published there. */
  readonly unread: readonly { readonly what: string; readonly why: string }[];
}

/** Reads what was released, place by place: only one image is in memory at a time. */
export async function releasedCatalogs(
  objects: ObjectReader,
  request: ReleasedRequest,
): Promise<ReleasedCatalogs> {
  const published = new Map<string, ReleasedPackages>();
  const unread: { what: string; why: string }[] = [];
  const read = reader(objects, request);
  for (const catalog of request.catalogs) {
    const by = releasedOf(request.policy.graph, catalog);
    if (by === 'branch') continue;
    try {
      published.set(catalog, by === 'nothing' ? new Map() : await releasedBy(by, catalog, read));
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      const what = `the published content of ${catalog} (Portolan treats everything on the branch as published)`;
      unread.push({ what, why: error.message });
    }
  }
  return { published, unread };
}

/** Reads each place once. */
interface Reader {
  image(reference: string): Promise<ReleasedPackages>;
  ledger(path: string): Promise<Published>;
}

/**
 * What was released of a catalog: in its image, in a ledger, or both.
 *
 * @throws PipelineError if one of them does not have the catalog
 */
async function releasedBy(
  { image, ledger }: ReleasedSources,
  catalog: string,
  read: Reader,
): Promise<ReleasedPackages> {
  const parts: ReleasedPackages[] = [];
  if (image !== undefined) {
    const reference = releasedImage(image, catalog);
    if (reference === undefined)
      throw new PipelineError('usage', `the name of ${catalog} has no version for {minor}`);
    parts.push(await read.image(reference));
  }
  if (ledger !== undefined) {
    const lines = (await read.ledger(ledger)).get(catalog);
    // A ledger that calls the catalog otherwise would let everything pass.
    if (!lines) throw new PipelineError('not-found', `the ledger ${ledger} has no line for ${catalog}`);
    parts.push(lines);
  }
  const names = new Set(parts.flatMap((part) => [...part.keys()]));
  return new Map(
    [...names].map((name) => [
      name,
      parts.flatMap((part): readonly PublishedBundle[] => part.get(name) ?? []),
    ]),
  );
}

/** Reads images and ledgers, each once. */
function reader(
  objects: ObjectReader,
  { base, policy: { limits }, registry, store, packages }: ReleasedRequest,
): Reader {
  return {
    image: readOnce((reference) => {
      if (!registry) throw new PipelineError('not-allowed', 'registries are not contacted');
      return releasedPackages(reference, { registry, store, packages });
    }),
    ledger: readOnce(async (path) => {
      const file = await entryAt(objects, base, path);
      if (!file) throw new PipelineError('not-found', `the ledger ${path} does not exist yet`);
      return readLedger((await objects.read(file.id, limits.fileBytes)).bytes.toString('utf8'), path);
    }),
  };
}

/** Reads each place once, also where that fails: several catalogs may have their releases in one image or ledger. */
function readOnce<T>(read: (place: string) => Promise<T>): (place: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (place) => {
    const found = known.get(place) ?? Promise.resolve().then(() => read(place));
    known.set(place, found);
    return found;
  };
}

// What a released index image has: the names of its bundles by channel. They follow from the image's digest, so an
// image is read once, wherever there is a store. Elsewhere only the files of the packages in question are parsed:
// whole product catalogs have hundreds of megabytes.

/** By package. */
type ReleasedPackages = ReadonlyMap<string, readonly PublishedBundle[]>;

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
function releasedPackages(
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
