/**
 * Placements: which image goes where. A style of naming makes them, one by one; here
 * they are put together so that no two images land on one tag.
 */

import { fnvHex } from '../go/fnv.ts';
import { groupedBy } from '../go/grouped.ts';
import { formatReference, type Reference, repositoryName } from '../reference.ts';
import { eitherPlatforms, type Platforms, withPlatforms } from './platforms.ts';

/** What an image is to the catalog; `graph` is the update graph, which no catalog and no node asks for. */
export type ImageRole = 'index' | 'bundle' | 'related' | 'additional' | 'graph';

/** A place in a registry, or below a directory of oc's layout. */
export interface Destination {
  readonly transport: 'registry' | 'file';
  /** Host with its port; empty for files. */
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
}

export interface Placement {
  readonly role: ImageRole;
  /** The reference as the catalog or the command line writes it. */
  readonly written: string;
  /** The same as a node reads it. */
  readonly wanted: Reference;
  /** Where it is copied from: the left side of `mapping.txt`. */
  readonly source: string;
  readonly destination: Destination;
  /** Which images of a manifest list are copied; absent: all. */
  readonly platforms?: Platforms;
}

/** A reference for which there is no place. */
export interface Unplaced {
  readonly role: ImageRole;
  readonly written: string;
  /** Why, in words that follow the reference. */
  readonly why: string;
}

/** How a style names images in a mirror. */
export interface Naming {
  /** The place of an image, or why there is none, in words that follow the reference. */
  readonly place: (request: ImageRequest) => Placement | string;
}

export interface ImageRequest {
  readonly role: ImageRole;
  readonly written: string;
  readonly wanted: Reference;
  /** What the reference's tag means at this moment, where that was resolved: it pins the copy. */
  readonly digest: string | undefined;
}

/** Several images that the style would have put on one tag. */
export interface Collision {
  /** The tag that they would have shared. */
  readonly destination: string;
  /** Left sides of the mapping; the first one kept the place. */
  readonly sources: readonly string[];
}

/** `registry/repository` of a destination, with the prefix of its transport. */
export function destinationRepository({ transport, registry, repository }: Destination): string {
  const name = repositoryName({ registry, repository });
  return transport === 'file' ? `file://${name}` : name;
}

/** The right side of `mapping.txt`. */
export function formatDestination(destination: Destination): string {
  return `${destinationRepository(destination)}:${destination.tag}`;
}

/** The repository that a node asks for. */
export function wantedRepository({ wanted }: Placement): string {
  return repositoryName(wanted);
}

/** Sorted by source, then destination. */
function comparePlacements(a: Placement, b: Placement): number {
  return (
    compareAscii(a.source, b.source) ||
    compareAscii(formatDestination(a.destination), formatDestination(b.destination)) ||
    compareAscii(a.written, b.written)
  );
}

/** The engine's own comparison: references are ASCII, where it agrees with the order of bytes. */
function compareAscii(a: string, b: string): number {
  return a < b ? -1 : Number(a !== b);
}

interface Settled {
  /** Sorted, each destination with one image. */
  readonly placements: readonly Placement[];
  readonly collisions: readonly Collision[];
  readonly unplaced: readonly Unplaced[];
}

/**
 * Takes one of several spellings of an image, and gives images that would share a tag
 * places of their own: within a repository the plain tag wins over references that name
 * a digest; of several repositories the first in byte order keeps its place, and the
 * others get a suffix, with all that is in them.
 */
export function settlePlacements(placements: readonly Placement[]): Settled {
  const collisions: Collision[] = [];
  let settled = distinctPlacements(placements);
  let groups = placementsOnOneTag(settled);
  // A new place may be taken as well, though only on purpose; each round moves what is left.
  for (let round = 0; groups.length > 0 && round < ROUNDS; round++) {
    for (const group of groups) collisions.push(collisionOf(group));
    settled = separatePlacements(settled, groups).sort(comparePlacements);
    groups = placementsOnOneTag(settled);
  }
  const withoutTag = new Set(groups.flatMap((group) => group.slice(1)));
  const unplaced = [...withoutTag].map(({ role, written, destination }) => ({
    role,
    written,
    why: `${formatDestination(destination)} and all similar names are used by other images`,
  }));
  return { placements: settled.filter((placement) => !withoutTag.has(placement)), collisions, unplaced };
}

/** Rounds in which images that share a tag get other places: one is enough unless somebody chose names that collide again. */
const ROUNDS = 4;

/** Says which images would have shared a tag. */
function collisionOf(group: readonly Placement[]): Collision {
  return {
    destination: formatDestination(first(group).destination),
    sources: [...new Set(group.map(({ source }) => source))],
  };
}

/** One placement for an image on a tag, in the spelling that comes first. */
function distinctPlacements(placements: readonly Placement[]): Placement[] {
  const seen = new Map<string, Placement>();
  for (const placement of [...placements].sort(comparePlacements)) {
    const { destination, wanted } = placement;
    // An image by digest alone needs one tag in its repository, whichever it is.
    const place =
      wanted.kind === 'digest' && wanted.tag === undefined
        ? destinationRepository(destination)
        : formatDestination(destination);
    const key = `${imageIdentity(placement)} ${place}`;
    const known = seen.get(key);
    // An index image that a bundle needs as well gets the bundle's role, because nodes pull it.
    const isKnownIndex = known?.role === 'index' && known.source === placement.source;
    const one = !known || isKnownIndex ? placement : known;
    seen.set(key, known ? withEither(one, known, placement) : one);
  }
  return [...seen.values()];
}

/** The one of two placements, for the platforms of both. */
function withEither(one: Placement, a: Placement, b: Placement): Placement {
  if (a.platforms === undefined && b.platforms === undefined) return one;
  const { platforms: _, ...others } = one;
  return { ...others, ...withPlatforms(eitherPlatforms(a.platforms, b.platforms)) };
}

/** What makes two references the same image: the digest, else the name in full. */
function imageIdentity({ wanted }: Placement): string {
  return wanted.kind === 'digest' ? `${repositoryName(wanted)}@${wanted.digest}` : formatReference(wanted);
}

/** Groups of different images on one tag; the placement that keeps the place comes first. */
function placementsOnOneTag(placements: readonly Placement[]): Placement[][] {
  const byTag = groupedBy(placements, ({ destination }) => formatDestination(destination));
  return [...byTag.values()]
    .filter((group) => new Set(group.map(contentOfTag)).size > 1)
    .map((group) => group.sort(byPrecedence));
}

/** What a tag would hold: equal digests are one content, wherever they come from. */
function contentOfTag(placement: Placement): string {
  return placement.wanted.kind === 'digest' ? placement.wanted.digest : imageIdentity(placement);
}

/**
 * Which of several images keeps a tag: an index image, whose place clusters are told; then the repository that is
 * first; then the image that needs the tag most.
 */
function byPrecedence(a: Placement, b: Placement): number {
  return (
    Number(b.role === 'index') - Number(a.role === 'index') ||
    compareAscii(wantedRepository(a), wantedRepository(b)) ||
    tagRank(a) - tagRank(b) ||
    comparePlacements(a, b)
  );
}

/**
 * The rank of an image among those that want one tag; the lowest keeps it. First comes what nodes ask for by this very tag,
 * and find nowhere else; then what they ask for by another tag; last what they ask for by digest, whatever its tag.
 */
function tagRank({ wanted, destination }: Placement): number {
  if (wanted.kind === 'digest') return 2;
  return wanted.tag === destination.tag ? 0 : 1;
}

function first<T>(group: readonly T[]): T {
  const [one] = group;
  if (one === undefined) throw new TypeError('an empty group');
  return one;
}

/**
 * Separates images that share a tag: a repository other than the keeper's moves as a whole, and other content of the
 * keeper's repository gets a tag of its own.
 */
function separatePlacements(
  placements: readonly Placement[],
  groups: readonly (readonly Placement[])[],
): Placement[] {
  const moved = new Set<string>();
  const retagged = new Set<Placement>();
  for (const group of groups) {
    const keeper = first(group);
    for (const placement of group.slice(1)) {
      if (wantedRepository(placement) !== wantedRepository(keeper)) moved.add(wantedRepository(placement));
      else if (contentOfTag(placement) !== contentOfTag(keeper)) retagged.add(placement);
    }
  }
  return placements.map((placement) => {
    const { destination } = placement;
    const repository = wantedRepository(placement);
    // An index image stays even if its repository moves: clusters are told of its place.
    const suffix = moved.has(repository) && placement.role !== 'index' ? `-${fnvHex(repository)}` : '';
    const tag = retagged.has(placement) ? ownTag(placement) : destination.tag;
    if (suffix === '' && tag === destination.tag) return placement;
    return {
      ...placement,
      destination: { ...destination, repository: destination.repository + suffix, tag },
    };
  });
}

/** A tag that no other image of the repository has: one made of the digest, or the one that nodes ask for. */
function ownTag({ wanted }: Placement): string {
  return wanted.kind === 'digest' ? digestTag(wanted.digest) : wanted.tag;
}

/** Hexadecimal digits that fit into a tag beside the algorithm. */
const TAG_DIGITS = 64;

/**
 * The tag of an image that is named by digest: it keeps the image from being collected as
 * garbage. Not `sha256-…`, where clients look for an image's signatures.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#referrers-tag-schema
 */
export function digestTag(digest: string): string {
  const colon = digest.indexOf(':');
  return `${digest.slice(0, colon)}_${digest.slice(colon + 1, colon + 1 + TAG_DIGITS)}`;
}
