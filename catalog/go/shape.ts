/**
 * Shapes: what Go structs expect of JSON, as data. Checking a value against a shape
 * finds every place where Go's `json.Unmarshal` would refuse it.
 *
 * @see https://pkg.go.dev/encoding/json#Unmarshal
 */
import { encodeBase64 } from './base64.ts';

/** Keys and indexes that lead from a document's root to a node. */
export type Path = readonly (string | number)[];

export type Shape =
  /** Text; the Go type's name where that is not `string`. */
  | { readonly kind: 'string'; readonly goName?: string }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'number' }
  /** A whole number within the bits of the Go type. */
  | { readonly kind: 'integer'; readonly bits: 32 | 64 }
  /** Base64 text that stands for bytes. */
  | { readonly kind: 'bytes' }
  /** Any JSON. */
  | { readonly kind: 'any' }
  /** What a Go type with a reader of its own accepts. */
  | CheckedShape
  | { readonly kind: 'list'; readonly items: Shape }
  | { readonly kind: 'map'; readonly values: Shape }
  | StructShape;

export interface CheckedShape {
  readonly kind: 'checked';
  readonly goName: string;
  /** What is expected, in words. */
  readonly expected: string;
  /** What Go says of a value that is not null; undefined when it is accepted. */
  readonly refusal: (value: unknown) => string | undefined;
  /** Set when Go's reader of the type gets null, too, and may refuse it. */
  readonly readsNull?: true;
  /** Set when an object, also one of a list, is read as the struct whose field this is. */
  readonly holdsOwner?: true;
}

export interface StructShape {
  readonly kind: 'struct';
  /** Go's name of the type with its package, such as `declcfg.Channel`: Go prints it in messages. */
  readonly name: string;
  readonly fields: Readonly<Record<string, Shape>>;
  /** Whether keys count only as they are spelled, as where Kubernetes itself decodes. */
  readonly exactKeys?: true;
}

export const text: Shape = { kind: 'string' };
export const bool: Shape = { kind: 'boolean' };
export const int32: Shape = { kind: 'integer', bits: 32 };
export const int64: Shape = { kind: 'integer', bits: 64 };
export const float: Shape = { kind: 'number' };
export const bytes: Shape = { kind: 'bytes' };
export const any: Shape = { kind: 'any' };
export function listOf(items: Shape): Shape {
  return { kind: 'list', items };
}
export function mapOf(values: Shape): Shape {
  return { kind: 'map', values };
}
export function structShape(name: string, fields: Readonly<Record<string, Shape>>): StructShape {
  return { kind: 'struct', name, fields };
}

/** A place where a value does not fit. */
export interface Misfit {
  readonly path: Path;
  /** What stands there: `string`, `number`, `bool`, `array`, `object`, `null`. */
  readonly found: string;
  /** The text that stands there, where text of another form is expected. */
  readonly text?: string;
  /** What the shape expects, in words. */
  readonly expected: string;
  /** What Go's json package says of it. */
  readonly go: string;
}

/**
 * Fits a value to a struct: fields under their proper names whatever their case,
 * unknown fields left out, missing ones absent, null treated as absent.
 *
 * @returns the value itself where it fits as it is
 */
export function fitStruct(
  value: unknown,
  shape: StructShape,
): { value: Readonly<Record<string, unknown>>; misfits: Misfit[] } {
  if (isObject(value) && fitsAsIs(value, shape)) return { value, misfits: [] };
  const misfits: Misfit[] = [];
  const fitted = structValue(value, shape, { struct: '', goPath: [], path: [], misfits });
  return { value: isObject(fitted) ? fitted : {}, misfits };
}

/** Whether a value fits its type without any change. Most do, and this check makes no copy. */
function fitsAsIs(value: unknown, shape: Shape): boolean {
  switch (shape.kind) {
    case 'any':
      return true;
    case 'string':
    case 'boolean':
    case 'number':
      return typeof value === shape.kind;
    case 'checked':
      return value !== null && shape.refusal(value) === undefined;
    case 'bytes':
      return typeof value === 'string' && base64Defect(value) < 0;
    case 'list':
      return Array.isArray(value) && listFitsAsIs(value, shape.items);
    case 'map':
      return isObject(value) && mapFitsAsIs(value, shape.values);
    case 'struct':
      return isObject(value) && structFitsAsIs(value, shape);
    // Integers are few: `fitInteger` compares their bits.
    default:
      return false;
  }
}

function listFitsAsIs(list: readonly unknown[], items: Shape): boolean {
  for (const item of list) if (!fitsAsIs(item, items)) return false;
  return true;
}

function mapFitsAsIs(map: Readonly<Record<string, unknown>>, values: Shape): boolean {
  for (const key in map) if (!fitsAsIs(map[key], values)) return false;
  return true;
}

/** Whether an object fits a struct without any change: its keys are all spelled as the fields. */
function structFitsAsIs(value: Readonly<Record<string, unknown>>, shape: StructShape): boolean {
  for (const key in value) {
    const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
    if (!field || !fitsAsIs(value[key], field)) return false;
    if (holdsOwner(field) && !heldFitsAsIs(value[key], shape)) return false;
  }
  return true;
}

function holdsOwner(shape: Shape): boolean {
  return shape.kind === 'checked' && shape.holdsOwner === true;
}

/** Whether an object, or each of a list, fits the struct in whose field it stands. */
function heldFitsAsIs(value: unknown, owner: StructShape): boolean {
  if (Array.isArray(value)) return listFitsAsIs(value, owner);
  return !isObject(value) || structFitsAsIs(value, owner);
}

interface Context {
  /** Short name of the innermost Go struct and the field names from the root, which Go prints. */
  readonly struct: string;
  readonly goPath: readonly string[];
  readonly path: Path;
  readonly misfits: Misfit[];
}

/** A value as Go decodes it into a type; undefined, with a misfit in `context`, if it does not fit. */
function fitValue(value: unknown, shape: Shape, context: Context): unknown {
  if (value === undefined || shape.kind === 'any') return value;
  if (value === null) return readsNull(shape) ? fitChecked(value, shape, context) : value;
  switch (shape.kind) {
    case 'string':
      return typeof value === 'string' ? value : misfit(value, goName(shape), 'a string', context);
    case 'boolean':
      return typeof value === 'boolean' ? value : misfit(value, 'bool', 'true or false', context);
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint'
        ? value
        : misfit(value, 'float64', 'a number', context);
    case 'checked':
      return fitChecked(value, shape, context);
    case 'integer':
      return fitInteger(value, shape.bits, context);
    case 'bytes':
      return fitBytes(value, context);
    case 'list':
      return fitList(value, shape.items, context);
    case 'map':
      return fitMap(value, shape.values, context);
    case 'struct':
      return structValue(value, shape, context);
  }
}

function readsNull(shape: Shape): shape is CheckedShape {
  return shape.kind === 'checked' && shape.readsNull === true;
}

/**
 * Notes that a value has another type.
 *
 * @returns undefined, which stands for the value
 */
function misfit(value: unknown, goType: string, expected: string, context: Context): undefined {
  const found = typeName(value);
  const field =
    context.goPath.length > 0
      ? `Go struct field ${context.struct}.${context.goPath.join('.')} of type `
      : 'Go value of type ';
  const go = `json: cannot unmarshal ${found} into ${field}${goType}`;
  context.misfits.push({ path: context.path, found, expected, go });
  return undefined;
}

/** What kind of JSON a value is, by the name that Go has for it. */
function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

/** A value as a Go type with a reader of its own accepts it; undefined, with a misfit, if it does not. */
function fitChecked(value: unknown, shape: CheckedShape, context: Context): unknown {
  const go = shape.refusal(value);
  if (go === undefined) return value;
  const found = typeName(value);
  const written = typeof value === 'string' ? { text: value } : {};
  context.misfits.push({ path: context.path, found, expected: shape.expected, go, ...written });
  return undefined;
}

/** A whole number that has no more bits than its type; undefined, with a misfit, for anything else. */
function fitInteger(value: unknown, bits: 32 | 64, context: Context): unknown {
  if (typeof value === 'bigint' && bits === 64) return value;
  if (typeof value !== 'number') return misfit(value, `int${bits}`, 'a whole number', context);
  const limit = bits === 32 ? 2 ** 31 : 2 ** 63;
  return Number.isInteger(value) && value >= -limit && value < limit
    ? value
    : misfit(value, `int${bits}`, `a whole number of ${bits} bits`, context);
}

/** Base64 text, also made of a list of bytes; undefined, with a misfit, for anything else. */
function fitBytes(value: unknown, context: Context): unknown {
  if (Array.isArray(value)) return fitByteList(value, context);
  if (typeof value !== 'string') return misfit(value, '[]uint8', 'base64 text', context);
  const offset = base64Defect(value);
  if (offset < 0) return value;
  const go = `illegal base64 data at input byte ${offset}`;
  context.misfits.push({ path: context.path, found: 'text that is not base64', expected: 'base64 text', go });
  return undefined;
}

/** Go takes a list of numbers for bytes, too. @returns base64 text */
function fitByteList(value: readonly unknown[], context: Context): unknown {
  const misfits = context.misfits.length;
  for (const [i, item] of value.entries()) {
    const isByte = typeof item === 'number' && Number.isInteger(item) && item >= 0 && item < 256;
    if (!isByte && item !== null) misfit(item, 'uint8', 'a byte', { ...context, path: [...context.path, i] });
  }
  if (context.misfits.length > misfits) return undefined;
  // As in Go, null is the byte 0.
  return encodeBase64(Uint8Array.from(value, Number));
}

/** Offset at which Go's base64 decoder gives up, or -1 for good base64. Line breaks are allowed. */
export function base64Defect(value: string): number {
  if (isUnbrokenBase64(value)) return -1;
  let digits = 0;
  let i = 0;
  for (; i < value.length; i++) {
    const c = value.charAt(i);
    if (c === '\n' || c === '\r') continue;
    if (c === '=') return paddingDefect(value, i, digits % 4);
    if (!/[A-Za-z0-9+/]/.test(c)) return i;
    digits++;
  }
  // A quantum that ends early is reported where it began.
  return digits % 4 === 0 ? -1 : i - (digits % 4);
}

/**
 * Whether a text is base64 without line breaks, which nearly all of it is. The engine's
 * own decoder is several times faster than any look at the digits; it takes spaces as
 * well, and what it decodes is shorter then.
 */
function isUnbrokenBase64(value: string): boolean {
  if (value.length % 4 !== 0) return false;
  const padding = value.endsWith('==') ? 2 : value.endsWith('=') ? 1 : 0;
  try {
    return atob(value).length === (value.length / 4) * 3 - padding;
  } catch {
    return false;
  }
}

/** The offset at which Go's decoder refuses the padding that begins at `at`, or -1. */
function paddingDefect(value: string, at: number, digits: number): number {
  if (digits < 2) return at;
  let i = at + 1;
  const skipBreaks = (): void => {
    while (value.charAt(i) === '\n' || value.charAt(i) === '\r') i++;
  };
  if (digits === 2) {
    skipBreaks();
    if (i === value.length) return value.length;
    if (value.charAt(i) !== '=') return i;
    i++;
  }
  skipBreaks();
  return i < value.length ? i : -1;
}

/** A list whose items fit, or are undefined; the same list if all of them fit as they are. */
function fitList(value: unknown, items: Shape, context: Context): unknown {
  if (!Array.isArray(value)) return misfit(value, `[]${goName(items)}`, 'a list', context);
  let changed: unknown[] | undefined;
  for (const [i, item] of value.entries()) {
    const fitted = fitValue(item, items, { ...context, path: [...context.path, i] });
    if (fitted !== item) {
      changed ??= [...value];
      changed[i] = fitted;
    }
  }
  return changed ?? value;
}

/** A map whose values fit, or are undefined; the same map if all of them fit as they are. */
function fitMap(value: unknown, values: Shape, context: Context): unknown {
  if (!isObject(value)) return misfit(value, `map[string]${goName(values)}`, 'a mapping', context);
  let changed: Record<string, unknown> | undefined;
  for (const [key, item] of Object.entries(value)) {
    const fitted = fitValue(item, values, { ...context, path: [...context.path, key] });
    if (fitted !== item) {
      changed ??= { ...value };
      changed[key] = fitted;
    }
  }
  return changed ?? value;
}

/** An object as Go decodes it into a struct. An object that fits is not copied. */
function structValue(value: unknown, shape: StructShape, context: Context): unknown {
  if (!isObject(value)) return misfit(value, goName(shape), 'a mapping', context);
  let isUnchanged = true;
  const fitted: Record<string, unknown> = {};
  // Where keys differ only by case, Go lets the last in byte order win.
  const keys = Object.keys(value);
  // Keys that are all spelled as the fields cannot meet, and need no order.
  for (const key of keys.some((k) => !Object.hasOwn(shape.fields, k)) ? keys.sort() : keys) {
    const name = fieldName(shape, key);
    if (name === undefined) {
      isUnchanged = false;
      continue;
    }
    const field = shape.fields[name];
    const item = value[key];
    if (!field || (item === null && field.kind !== 'any' && !readsNull(field))) {
      isUnchanged = false;
      continue;
    }
    const inner = {
      struct: shape.name.split('.').at(-1) ?? '',
      goPath: [...context.goPath, name],
      path: [...context.path, key],
      misfits: context.misfits,
    };
    const fittedItem = holdsOwner(field)
      ? fitHeld(fitValue(item, field, inner), shape, inner)
      : fitValue(item, field, inner);
    if (fittedItem !== undefined) fitted[name] = mergedFields(field, fitted[name], fittedItem);
    isUnchanged = isUnchanged && key === name && fittedItem === item;
  }
  return isUnchanged ? value : fitted;
}

/** What Go makes of a field that two keys name: it reads the second object into the first. */
function mergedFields({ kind }: Shape, first: unknown, second: unknown): unknown {
  const merges = kind === 'struct' || kind === 'map';
  return merges && isObject(first) && isObject(second) ? { ...first, ...second } : second;
}

/** Fits an object, or each of a list, to the struct in whose field it stands. */
function fitHeld(value: unknown, owner: StructShape, context: Context): unknown {
  if (Array.isArray(value)) return fitList(value, owner, context);
  return isObject(value) ? structValue(value, owner, context) : value;
}

/** The field that a key names: by exact name, or else ignoring case, as Go does. */
export function fieldName(shape: StructShape, key: string): string | undefined {
  if (Object.hasOwn(shape.fields, key)) return key;
  if (shape.exactKeys) return undefined;
  return nameLike(Object.keys(shape.fields), key);
}

/** The first of some names that Go takes for this one; undefined if there is none. */
export function nameLike(names: readonly string[], name: string): string | undefined {
  const folded = foldCase(name);
  return names.find((one) => foldCase(one) === folded);
}

/** Go folds ASCII, and the two characters outside of it that fold into ASCII. */
export function foldCase(key: string): string {
  return key.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').toLowerCase();
}

/** The name of a type in Go's error messages. */
function goName(shape: Shape): string {
  switch (shape.kind) {
    case 'string':
      return shape.goName ?? 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return 'float64';
    case 'integer':
      return `int${shape.bits}`;
    case 'bytes':
      return '[]uint8';
    case 'any':
      return 'interface {}';
    case 'checked':
      return shape.goName;
    case 'list':
      return `[]${goName(shape.items)}`;
    case 'map':
      return `map[string]${goName(shape.values)}`;
    case 'struct':
      return shape.name;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object; one without members for any other value. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/** A list; an empty one for any other value. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a list; none for any other value. */
export function objectsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** A text; the empty one for any other value. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
