/**
 * What a plain (unquoted) YAML scalar means to the Go tools that read catalogs.
 *
 * Those tools read YAML 1.1 through go-yaml v2 and then turn the result into JSON,
 * so `yes` is true, `010` is 8, `1_000` is a number, dates and base-60 numbers stay
 * strings, and every number ends as a 64-bit float.
 *
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/resolve.go
 */

import { outOfRange } from '../go/time.ts';

/** What a scalar is to go-yaml. A timestamp becomes text all the same. */
export type ScalarKind = 'null' | 'bool' | 'int' | 'float' | 'timestamp' | 'str';

/** A value as JSON has it. Objects have only own, enumerable, string keys. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((w) => [w, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (w) => [w, false] as const,
  ),
  ...['', '~', 'null', 'Null', 'NULL'].map((w) => [w, null] as const),
]);
/** Characters of the longest of these words. */
const LONGEST_WORD = 5;

const NOT_FINITE: ReadonlyMap<string, number> = new Map([
  ...['.nan', '.NaN', '.NAN'].map((w) => [w, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((w) => [w, Number.POSITIVE_INFINITY] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((w) => [w, Number.NEGATIVE_INFINITY] as const),
]);

const INTEGER = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
/** Most integers of catalogs: with 15 digits at most, a float holds them. */
const SHORT_DECIMAL = /^(?:0|[1-9][0-9]{0,14})$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** Behind a leading dot Go minds where underscores stand; elsewhere go-yaml drops them all. */
const DOT_FLOAT = /^\.[0-9](?:_?[0-9])*(?:[eE][-+]?[0-9](?:_?[0-9])*)?$/;
/** Go tries a leading `0b` once more by itself, so that a sign may follow the prefix. */
const SIGNED_BINARY = /^0b([-+])([01]+)$/;
const YEAR = /^[0-9]{4}-/;

const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

const DOT = 46;
const NINE = 57;

/** First characters of a plain scalar that can mean anything but a string. */
const HINTS = new Uint8Array(128);
for (const c of '+-0123456789.yYnNtTfFoO~') HINTS[c.charCodeAt(0)] = 1;

/**
 * The value of a plain scalar. `.inf` and `.nan` come back as such: JSON has no
 * place for them, so the caller must refuse them.
 */
export function resolvePlain(text: string): null | boolean | number | string {
  if (text === '') return null;
  const first = text.charCodeAt(0);
  if (first > 127 || HINTS[first] === 0) return text;
  if (text.length <= LONGEST_WORD) {
    const word = WORDS.get(text);
    if (word !== undefined) return word;
    const special = NOT_FINITE.get(text);
    if (special !== undefined) return special;
  }
  // Letters can only be words; digits, signs and a dot can be numbers.
  return first > NINE ? text : resolveNumber(text);
}

/** The number that a plain scalar means; the text itself if it is not a number. */
function resolveNumber(text: string): number | string {
  if (SHORT_DECIMAL.test(text)) return Number(text);
  // No number has a dash after four digits; a date has, and stays text.
  if (YEAR.test(text)) return text;
  const integer = integerOf(text);
  return integer === undefined ? resolveFloat(text) : Number(integer);
}

/** Go's ParseFloat fails beyond the range of a float64, and the scalar stays a string. */
function resolveFloat(text: string): number | string {
  const plain = text.replaceAll('_', '');
  const fits = text.charCodeAt(0) === DOT ? DOT_FLOAT.test(text) : FLOAT.test(plain);
  const value = fits ? Number(plain) : Number.NaN;
  return Number.isFinite(value) ? value : text;
}

/** The integer that Go's `ParseInt(s, 0, 64)`, then `ParseUint`, read; undefined when it fits neither. */
function integerOf(text: string): bigint | undefined {
  const plain = text.replaceAll('_', '');
  const binary = SIGNED_BINARY.exec(plain);
  if (!binary && !INTEGER.test(plain)) return undefined;
  const sign = binary ? binary[1] : plain.charAt(0);
  const signed = sign === '-' || sign === '+';
  const magnitude = magnitudeOf(binary ? `0b${binary[2]}` : plain.slice(signed ? 1 : 0));
  if (magnitude === undefined) return undefined;
  const value = sign === '-' ? -magnitude : magnitude;
  // ParseUint takes no sign, so a signed literal must fit an int64.
  return value < MIN_INT64 || value > (signed ? MAX_INT64 : MAX_UINT64) ? undefined : value;
}

/** The value of a number without its sign. @returns undefined if it has more digits than any number of 64 bits */
function magnitudeOf(literal: string): bigint | undefined {
  const prefix = /^0[xXbBoO]?/.exec(literal)?.[0] ?? '';
  const digits = literal.slice(prefix.length).replace(/^0+/, '');
  if (digits.length > 64) return undefined;
  return BigInt(`${prefix === '0' ? '0o' : prefix}${digits === '' ? '0' : digits}`);
}

/** What a plain scalar is to go-yaml. */
export function kindOfPlain(text: string): ScalarKind {
  const value = resolvePlain(text);
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return isTimestamp(text) ? 'timestamp' : 'str';
  return integerOf(text) !== undefined ? 'int' : 'float';
}

const TIMESTAMP =
  /^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[Tt]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?(?:Z|[-+]([0-9]{2}):([0-9]{2}))| +([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?)?$/;

/** Whether Go's `time.Parse` accepts the text in one of go-yaml's four formats. */
function isTimestamp(text: string): boolean {
  if (!YEAR.test(text)) return false;
  const found = TIMESTAMP.exec(text);
  if (!found) return false;
  const parts = found.slice(1).map((part) => Number(part ?? 0));
  // A time with its zone, or one of the format without a zone.
  const time = found[9] === undefined ? parts.slice(3, 8) : parts.slice(8);
  return outOfRange([...parts.slice(0, 3), ...time]) === undefined;
}

const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

/**
 * Whether a string may be written plain: it reads back as a string, and other readers
 * of YAML 1.1 do not take it for a number in base 60.
 */
export function isPlainString(text: string): boolean {
  return kindOfPlain(text) === 'str' && !BASE_60.test(text);
}

/**
 * The name that a key gets in JSON: Go prints its value. Undefined for null and for an
 * integer beyond an int64, which sigs.k8s.io/yaml refuses as keys.
 *
 * @param text the key as written: the digits of its integers must not pass through a float
 */
export function keyText(
  { kind, value }: { readonly kind: ScalarKind; readonly value: null | boolean | number | string },
  text: string,
): string | undefined {
  if (value === null) return undefined;
  if (typeof value !== 'number') return String(value);
  if (kind === 'float') return formatFloat32(value);
  const integer = integerOf(text);
  return integer === undefined || integer > MAX_INT64 ? undefined : String(integer);
}

/** The decimal digits of a scalar of the kind `int`. */
export function integerText(text: string): string {
  return String(integerOf(text));
}

/** Go's `strconv.FormatFloat(x, 'g', -1, 32)`: the shortest text that reads back as the same 32-bit float. */
export function formatFloat32(value: number): string {
  const rounded = Math.fround(value);
  if (!Number.isFinite(rounded) || rounded === 0) return formatG(rounded);
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(roundHalfEven(rounded, digits));
    if (Math.fround(short) === rounded) return formatG(short);
  }
  // Nine digits tell any two of them apart.
  return formatG(Number(rounded.toPrecision(9)));
}

/** To so many digits; where `toPrecision` takes the larger of two equally close ones, Go takes the even one. */
function roundHalfEven(value: number, digits: number): string {
  const up = value.toExponential(digits - 1);
  const exact = value.toExponential(digits);
  if (Number(exact) !== value || !/5e/.test(exact)) return up;
  const down = exact.replace(/\.?5e/, 'e');
  return /[02468]e/.test(down) ? down : up;
}

/**
 * Go's `strconv.FormatFloat(x, 'g', -1, 64)`, the shortest digits that read back as the
 * same float, with infinities and NaN as YAML writes them.
 */
export function formatG(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  if (Object.is(value, -0)) return '-0';
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  // Go takes six digits for the threshold when it prints as many as are needed.
  if (exponent >= -4 && exponent < 6) return plainDecimal(mantissa, exponent);
  const sign = exponent < 0 ? '-' : '+';
  return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** Digits with the decimal point where the exponent puts it. */
function plainDecimal(mantissa: string, exponent: number): string {
  const negative = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace('-', '').replace('.', '');
  if (exponent < 0) return `${negative}0.${'0'.repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return `${negative}${digits.padEnd(exponent + 1, '0')}`;
  return `${negative}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}
