/**
 * JSON by the JavaScript engine's own writer, several times as fast as any of ours, for the values of
 * which it writes what Go's encoding/json does.
 */
import { isObject } from '../go/shape.ts';

/**
 * A value with the keys of its objects in byte order.
 *
 * @returns undefined when the engine would write it otherwise than Go: a negative zero, keys
 *   that look like indexes, anything that is not of JSON
 */
export function inByteOrder(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return Object.is(value, -0) ? undefined : value;
  if (Array.isArray(value)) return listInOrder(value);
  return isObject(value) && Object.getPrototypeOf(value) === Object.prototype
    ? objectInOrder(value)
    : undefined;
}

/** The list, or a copy if an item changes; undefined as for {@link inByteOrder}. */
function listInOrder(list: readonly unknown[]): readonly unknown[] | undefined {
  let changed: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const ordered = inByteOrder(list[i]);
    if (ordered === undefined) return undefined;
    if (ordered === list[i]) continue;
    changed ??= [...list];
    changed[i] = ordered;
  }
  return changed ?? list;
}

/** Keys that the JavaScript engine puts first or treats specially, or sorts otherwise by UTF-16 units than Go by bytes. */
const SPECIAL = /^(?:[0-9]+|__proto__)$|[\ud800-\uffff]/;

/** The object, or a copy with its keys in byte order if they are not; undefined as for {@link inByteOrder}. */
function objectInOrder(object: Readonly<Record<string, unknown>>): unknown {
  const keys = Object.keys(object);
  let isOrdered = true;
  let before = '';
  for (const key of keys) {
    if (SPECIAL.test(key)) return undefined;
    if (key < before) isOrdered = false;
    before = key;
  }
  if (!isOrdered) return orderedCopy(object, keys.sort());
  for (const key of keys) {
    const ordered = inByteOrder(object[key]);
    if (ordered === undefined) return undefined;
    if (ordered !== object[key]) return orderedCopy(object, keys);
  }
  return object;
}

/** A copy with the keys in this order; undefined as for {@link inByteOrder}. */
function orderedCopy(object: Readonly<Record<string, unknown>>, keys: readonly string[]): unknown {
  const copy: Record<string, unknown> = {};
  for (const key of keys) {
    const ordered = inByteOrder(object[key]);
    if (ordered === undefined) return undefined;
    copy[key] = ordered;
  }
  return copy;
}

/**
 * JSON as Go's encoding/json writes it with an indent of four spaces, its keys in the order that they have.
 *
 * @returns undefined if a text may hold half of a surrogate pair, which Go writes otherwise: the slower writer must do it
 */
export function indentedGoJson(value: unknown): string | undefined {
  const json = JSON.stringify(value, null, 4);
  // JavaScript escapes half a pair as \ud…; a text that spells this itself takes the slow way, too.
  if (json.includes('\\ud')) return undefined;
  // Go escapes these two as well; they stand within strings only.
  return json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
