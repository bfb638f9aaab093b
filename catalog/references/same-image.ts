/**
 * Whether a bundle names the same images as before: a tag may become the digest that it stands for, and a
 * digest may be pulled from another registry.
 */
import type { Bundle } from '../fbc/model.ts';
import type { Path } from '../go/shape.ts';
import { type TagReference, tryParseReference } from '../reference.ts';
import { lookupKey } from './site.ts';

/**
 * The digests that tags stand for, by tag in full, as somebody says who is trusted: a lock that was merged, or
 * the registry. A tag that nobody was asked about is missing.
 */
export type TagDigests = ReadonlyMap<string, ReadonlySet<string>>;

/** `unconfirmed`: a tag became a digest, and nothing confirms that the tag names this digest. */
export type ImageChange = 'same' | 'unconfirmed' | 'other';

/** Subject of findings that a registry's answer may settle. */
export const UNCONFIRMED = 'unconfirmed digest';

/** What to do if nothing confirms which digest a tag names. */
export const CONFIRM_HINT =
  'let the check ask the registry (registries.allow in the policy), or merge a lock of the tags first: portolan resolve DIR --lock FILE';

/** A tag that became a digest. */
export interface NewPin {
  readonly tag: TagReference;
  readonly digest: string;
  /** As both are written. */
  readonly before: string;
  readonly after: string;
  /** Where the digest stands in the bundle. */
  readonly path: Path;
}

/** How the image of a reference changes. A tag may become its digest, and never a digest a tag: that may move. */
export function imageChange(before: string, after: string, digests: TagDigests = new Map()): ImageChange {
  if (before === after) return 'same';
  const [was, is] = [tryParseReference(before), tryParseReference(after)];
  if (!was || is?.kind !== 'digest') return 'other';
  if (was.kind === 'digest') return was.digest === is.digest ? 'same' : 'other';
  const known = digests.get(lookupKey(was));
  if (!known) return 'unconfirmed';
  return known.has(is.digest) ? 'same' : 'other';
}

/** The tags of a bundle that became digests: its image, and related images of the same name, or of another at the same place. */
export function newPins(before: Bundle, after: Bundle): NewPin[] {
  // The same list, by identity: nothing was written, as for most bundles of a change.
  if (before.image === after.image && before.relatedImages === after.relatedImages) return [];
  const pin = (was: string | undefined, is: string, path: Path): NewPin[] => {
    // Only a digest has an `@`: most references need not be parsed.
    if (was === undefined || was.includes('@') || !is.includes('@')) return [];
    const [tag, pinned] = [tryParseReference(was), tryParseReference(is)];
    const isPin = tag?.kind === 'tag' && pinned?.kind === 'digest';
    return isPin ? [{ tag, digest: pinned.digest, before: was, after: is, path }] : [];
  };
  const isSameList = before.relatedImages.length === after.relatedImages.length;
  const related = after.relatedImages.flatMap(({ name, image }, i) => {
    const atSamePlace = isSameList ? before.relatedImages[i] : undefined;
    const own = before.relatedImages.find((one) => name !== '' && one.name === name);
    const isRenamed = !after.relatedImages.some((one) => one.name === atSamePlace?.name);
    // At its place if the name is the same, then anywhere under its name, then at its place under a name that is gone.
    const was = atSamePlace?.name === name ? atSamePlace : (own ?? (isRenamed ? atSamePlace : undefined));
    return pin(was?.image, image, ['relatedImages', i, 'image']);
  });
  return [...pin(before.image, after.image, ['image']), ...related];
}

/** The known digests of tags, extended by these pins for tags that were not looked up. */
export function withAssumedPins(digests: TagDigests, pins: readonly NewPin[]): TagDigests {
  const all = new Map([...digests].map(([tag, known]) => [tag, new Set(known)]));
  for (const { tag, digest } of pins) {
    const key = lookupKey(tag);
    if (!digests.has(key)) all.set(key, new Set([...(all.get(key) ?? []), digest]));
  }
  return all;
}

/**
 * A key that is the same for two references of one image.
 *
 * @param others the references of the other side: a tag is the digest among them that it stands for
 */
export function imageKey(image: string, digests: TagDigests, others: ReadonlySet<string>): string {
  const reference = tryParseReference(image);
  if (reference?.kind === 'digest') return reference.digest;
  const known = reference && digests.get(lookupKey(reference));
  // What stays a tag is compared as one.
  if (!known || others.has(image)) return image;
  return [...known].find((digest) => [...others].some((other) => other.endsWith(`@${digest}`))) ?? image;
}
