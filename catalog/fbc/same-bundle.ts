/** Whether bundles say the same before and after a change: most of them do, and several rules ask. */

import { isObject } from '../go/shape.ts';
import type { Bundle } from './model.ts';

/** What comparing two bundles said, by the one and then by the other. */
const known = new WeakMap<Bundle, WeakMap<Bundle, boolean>>();

/** Whether two bundles have the same image, properties and related images, keys in whatever order. */
export function sameBundle(a: Bundle, b: Bundle): boolean {
  if (a === b) return true;
  const comparedWith = known.get(a) ?? new WeakMap<Bundle, boolean>();
  known.set(a, comparedWith);
  const found =
    comparedWith.get(b) ??
    (a.image === b.image &&
      sameValue(a.properties, b.properties) &&
      sameValue(a.relatedImages, b.relatedImages));
  comparedWith.set(b, found);
  return found;
}

/** Whether two JSON values are equal; the order of keys means nothing. Keys are counted, because `b` may have more of them. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameValue(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  let count = 0;
  for (const key in a) {
    count++;
    if (!Object.hasOwn(b, key) || !sameValue(a[key], b[key])) return false;
  }
  return count === Object.keys(b).length;
}

/** A text that equal JSON values share: each object is written as a list of its members, sorted by key. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    isObject(item) ? Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)) : item,
  );
}
