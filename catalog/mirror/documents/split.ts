/**
 * Objects that hold a list of entries, as many as it takes to keep each below a size:
 * what a cluster stores of one object is limited.
 */

import { InvalidOption } from '../invalid-option.ts';
import { type KubernetesObject, objectText } from '../kubernetes-object.ts';
import type { MirrorEntry } from '../scope.ts';

/** oc's limit, in bytes: a quarter of a million. */
export const MAX_OBJECT_BYTES = 250_000;

/** Makes the object of that index with those entries. */
export type ObjectOf = (entries: readonly MirrorEntry[], index: number) => KubernetesObject;

/**
 * Fills one object after the other, in the order of the entries.
 *
 * @throws InvalidOption when an object with a single entry is larger than `maxBytes`
 */
export function splitBySize(
  entries: readonly MirrorEntry[],
  objectOf: ObjectOf,
  maxBytes: number,
): KubernetesObject[] {
  // Most plans are small: one look at the whole settles it.
  if (entries.length === 0) return [];
  const whole = objectOf(entries, 0);
  if (countedBytes(whole) <= maxBytes) return [whole];
  const objects: KubernetesObject[] = [];
  let part: MirrorEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    if (part.length > 0) bytes += entryBytes(entry, objectOf);
    if (part.length > 0 && bytes > maxBytes) {
      objects.push(objectOf(part, objects.length));
      part = [];
    }
    if (part.length === 0) bytes = checkedBytes(entry, objectOf([entry], objects.length), maxBytes);
    part.push(entry);
  }
  if (part.length > 0) objects.push(objectOf(part, objects.length));
  return objects;
}

/** What an entry adds to a list: the text of a list is that of its entries. */
function entryBytes(entry: MirrorEntry, objectOf: ObjectOf): number {
  return countedBytes(objectOf([entry, entry], 0)) - countedBytes(objectOf([entry], 0));
}

function checkedBytes(entry: MirrorEntry, alone: KubernetesObject, maxBytes: number): number {
  const bytes = countedBytes(alone);
  if (bytes <= maxBytes) return bytes;
  throw new InvalidOption(
    `an ${alone.kind} with only the mirror of ${entry.source} has ${bytes} bytes, the limit is ${maxBytes}`,
  );
}

/** The field that Go's types of mirror sets print even when it is empty; oc counts it, then leaves it out. */
const EMPTY_STATUS = 'status: {}\n'.length;

function countedBytes(object: KubernetesObject): number {
  const empty = object.kind === 'ImageContentSourcePolicy' ? 0 : EMPTY_STATUS;
  return new TextEncoder().encode(objectText(object)).length + empty;
}
