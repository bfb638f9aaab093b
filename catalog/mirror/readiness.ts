/**
 * Whether a disconnected cluster can install each bundle: every reference is followed as
 * a node follows it, and looked for among what the mirror will hold.
 */
import type { Location } from '../finding.ts';
import { appendToGroup, groupedBy } from '../go/grouped.ts';
import { compareText } from '../go/text.ts';
import {
  formatReference,
  parseReference,
  type Reference,
  repositoryName,
  tryParseReference,
} from '../reference.ts';
import type { CatalogImages } from './images.ts';
import type { Mapping } from './mapping.ts';
import { type NodeConfig, type Pull, pullOnNode } from './node/node.ts';
import { formatDestination, type Placement } from './placement.ts';

/** What a mirror holds, or will hold. */
export interface MirrorContents {
  /** Whether a place that a node asks, written in full, has the image that a reference means. */
  readonly has: (asked: string, written: string) => boolean;
  /** Where the image is, if anywhere. */
  readonly places: (written: string) => readonly string[];
  /** Where a copy is to bring the image, for a mirror that was looked at. */
  readonly due?: (written: string) => readonly string[];
  /** Why clusters cannot read a catalog itself: its index image is not in the mirror. */
  readonly missingIndex?: (catalog: CatalogImages) => MissingReference | undefined;
}

/** Why a node cannot pull a reference. */
export type MissingReason =
  /** No node can read the reference. */
  | 'invalid'
  /** The node's configuration is refused as a whole, or leads to a name that is none. */
  | 'refused'
  /** Nothing copies the image. */
  | 'not mapped'
  /** The image is to be copied, and is not there. */
  | 'not copied'
  /** The image is in the mirror, but the node does not ask there. */
  | 'not asked';

export interface MissingReference {
  readonly reference: string;
  readonly reason: MissingReason;
  /** One sentence: what the node asks, where the image is. */
  readonly why: string;
}

export interface BundleReadiness {
  readonly package: string;
  readonly name: string;
  readonly missing: readonly MissingReference[];
  /** Whether everything that the bundle runs is known; else images that only its deployments name are not. */
  readonly hasDeployments: boolean;
  readonly location: Location;
}

export interface PackageReadiness {
  readonly package: string;
  readonly bundles: number;
  readonly ready: number;
  /** Bundles of which nothing is known to be missing, but whose deployments are unknown. */
  readonly unchecked: number;
}

export interface Readiness {
  readonly bundles: readonly BundleReadiness[];
  /** Sorted by name. */
  readonly packages: readonly PackageReadiness[];
  /** How many bundles a disconnected node can pull in full. */
  readonly ready: number;
  /** Bundles of which nothing is known to be missing, but whose deployments are unknown: nobody can say that they run. */
  readonly unchecked: number;
  /** Distinct references, and how many of them a node can pull. */
  readonly references: number;
  readonly pullable: number;
}

/** Checks for every image of the catalogs' bundles whether a node with this configuration can pull it. */
export function mirrorReadiness(
  catalogs: readonly CatalogImages[],
  config: NodeConfig,
  contents: MirrorContents,
): Readiness {
  const bundles = catalogs.flatMap((catalog) => {
    const index = contents.missingIndex?.(catalog);
    return catalog.bundles.map((bundle) => ({
      ...bundle,
      missingIndexes: index === undefined ? [] : [index],
    }));
  });
  const seen = new Map<string, MissingReference | undefined>();
  const missingOf = (reference: string): MissingReference | undefined => {
    if (!seen.has(reference)) {
      const read = catalogs.find(({ readable }) => readable.has(reference))?.readable.get(reference);
      seen.set(reference, missingReference(reference, pullOnNode(config, reference, read), contents));
    }
    return seen.get(reference);
  };
  const result = bundles.map(
    ({ package: name, name: bundle, references, hasDeployments, location, missingIndexes }) => ({
      package: name,
      name: bundle,
      hasDeployments,
      missing: [...missingIndexes, ...references.map(missingOf).filter((one) => one !== undefined)],
      location,
    }),
  );
  const { ready, unchecked } = countsOf(result);
  return {
    bundles: result,
    packages: packagesOf(result),
    ready,
    unchecked,
    references: seen.size,
    pullable: [...seen.values()].filter((one) => one === undefined).length,
  };
}

/** Counts bundles of which nothing is missing. Without deployments, the images that they run are unknown. */
function countsOf(bundles: readonly BundleReadiness[]): Pick<Readiness, 'ready' | 'unchecked'> {
  const complete = bundles.filter(({ missing }) => missing.length === 0);
  const ready = complete.filter(({ hasDeployments }) => hasDeployments).length;
  return { ready, unchecked: complete.length - ready };
}

/** The readiness of bundles, counted for each package. */
function packagesOf(bundles: readonly BundleReadiness[]): PackageReadiness[] {
  return [...groupedBy(bundles, ({ package: name }) => name)]
    .map(([name, own]) => ({ package: name, bundles: own.length, ...countsOf(own) }))
    .sort((a, b) => compareText(a.package, b.package));
}

/** Why a reference cannot be pulled, or undefined when it can. */
function missingReference(
  reference: string,
  asked: Pull,
  contents: MirrorContents,
): MissingReference | undefined {
  if ('refused' in asked) {
    const reason = tryParseReference(reference) ? 'refused' : 'invalid';
    return { reference, reason, why: asked.refused };
  }
  // The place that nodes ask last is the source itself.
  const reachable = asked.sourceBlocked ? asked.asked.slice(0, -1) : asked.asked;
  if (reachable.some((place) => contents.has(place, reference))) return undefined;
  const mirrors = asked.asked.slice(0, -1);
  const question = mirrors.length === 0 ? 'nodes use no mirror' : `nodes try ${mirrors.join(', then ')}`;
  const places = contents.places(reference);
  const due = contents.due?.(reference) ?? [];
  if (places.length === 0 && due.length > 0)
    return { reference, reason: 'not copied', why: `${question}, where the image is missing` };
  if (places.length === 0)
    return { reference, reason: 'not mapped', why: `${question}, but the image is not in the mapping` };
  return {
    reference,
    reason: 'not asked',
    why: `${question}, but the image is at ${places.join(' and ')}`,
  };
}

/** What the lines of a `mapping.txt` leave in a mirror once they were carried out. */
export function contentsOf(mappings: readonly Mapping[]): MirrorContents {
  return contentsOfCopies(
    mappings.flatMap(({ source, destination }) => {
      const image = tryParseReference(source);
      return image ? [{ image, destination }] : [];
    }),
  );
}

/** What placements leave in a mirror once the images are copied. */
export function placedContents(placements: readonly Placement[]): MirrorContents {
  return contentsOfCopies(
    placements.map(({ wanted, source, destination }) => ({
      // A tag that was pinned is copied by its digest.
      image: wanted.kind === 'tag' && source.includes('@') ? (tryParseReference(source) ?? wanted) : wanted,
      destination: formatDestination(destination),
    })),
  );
}

interface CopiedImage {
  readonly image: Reference;
  readonly destination: string;
}

/** What a mirror has once these images are copied. */
function contentsOfCopies(copied: readonly CopiedImage[]): MirrorContents {
  const digests = new Set<string>();
  const tags = new Map<string, Reference[]>();
  let places: ReadonlyMap<string, readonly string[]> | undefined;
  for (const { image, destination } of copied) {
    appendToGroup(tags, destination, image);
    if (image.kind === 'digest') {
      digests.add(`${destination.slice(0, destination.lastIndexOf(':'))}@${image.digest}`);
    }
  }
  return {
    has: (asked, written) => {
      if (asked.includes('@')) return digests.has(asked);
      const imagesOfTag = tags.get(asked);
      if (!imagesOfTag) return false;
      const wanted = parseReference(written);
      // Two images on one tag: which of them is there in the end, nobody knows.
      return imagesOfTag.every((image) => isSame(image, wanted));
    },
    places: (written) => {
      // Asked for what is missing only: most plans never need it.
      places ??= placesOf(copied);
      const wanted = tryParseReference(written);
      return (wanted && places.get(imageKey(wanted))) ?? [];
    },
  };
}

/** Where copies bring each image. */
function placesOf(copied: readonly CopiedImage[]): Map<string, string[]> {
  const places = new Map<string, string[]>();
  for (const { image, destination } of copied) appendToGroup(places, imageKey(image), destination);
  return places;
}

function imageKey(image: Reference): string {
  return image.kind === 'digest' ? image.digest : formatReference(image);
}

/** Whether a copied image is what a tag means; a copy by digest was pinned from its own repository. */
function isSame(copied: Reference, wanted: Reference): boolean {
  if (repositoryName(copied) !== repositoryName(wanted)) return false;
  return copied.kind === 'digest' || copied.tag === wanted.tag;
}
