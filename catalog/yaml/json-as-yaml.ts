/**
 * What becomes of JSON when go-yaml reads it as YAML, which is how Go's tools turn
 * JSON into YAML: characters that it refuses, a line break that JSON does not know,
 * numbers that change their type.
 */
import { formatG } from './scalar.ts';

/** Why a string, key or number cannot be written as YAML. */
export class Refusal extends Error {}

/** What go-yaml's reader refuses and JSON does not escape. */
const FORBIDDEN = /[\x7f-\x84\x86-\x9f\ufffe\uffff]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * The string that go-yaml finds in JSON's quotes: U+0085 is a line break there, which
 * is folded, and the spaces around it are lost.
 *
 * @throws Refusal
 */
export function readString(text: string): string {
  const forbidden = FORBIDDEN.exec(text);
  if (forbidden) {
    const code = forbidden[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    throw new Refusal(`control characters are not allowed: found U+${code}`);
  }
  const wellFormed = text.replaceAll(LONE_SURROGATE, '\ufffd');
  if (!wellFormed.includes('\x85')) return wellFormed;
  if (/\x85(?:---|\.\.\.)[ \x85]/.test(wellFormed)) {
    throw new Refusal('found unexpected document indicator: --- or ... behind the line break U+0085');
  }
  return wellFormed.replaceAll(/(?<! ) *\x85[ \x85]*/g, (found) => {
    const breaks = found.split('\x85').length - 1;
    return breaks === 1 ? ' ' : '\n'.repeat(breaks - 1);
  });
}

/** go-yaml looks for the colon of a key no further than this, in characters of the JSON text. */
const MAX_KEY = 1024;
/** What Go's JSON writes with six characters, and with two. */
const SIX = /[\p{Cc}<>&\u2028\u2029]/gu;
const TWO = /["\\\b\f\n\r\t]/g;

/**
 * Checks a key that is too long to be recognized without looking ahead.
 *
 * @throws Refusal
 */
export function checkKey(key: string): void {
  if (key.includes('\x85')) throw new Refusal('a key must not hold the line break U+0085');
  const json = key
    .slice(0, 2 * MAX_KEY)
    .replaceAll(TWO, '--')
    .replaceAll(SIX, '------');
  if ([...json].length + 2 > MAX_KEY) {
    throw new Refusal(`a key of more than ${MAX_KEY} characters in JSON, its quotes and escapes counted`);
  }
}

const MAX_UINT64 = 2n ** 64n - 1n;
const MIN_INT64 = -(2n ** 63n);

/**
 * @returns an integer as its digits while 64 bits hold them, other numbers in Go's `g` format
 * @throws Refusal
 */
export function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new Refusal(`${value} is not a valid JSON number`);
  if (Number.isSafeInteger(value)) return String(value === 0 ? 0 : value);
  // JSON writes integers below 10^21 as digits.
  if (!Number.isInteger(value) || Math.abs(value) >= 1e21) return formatG(value);
  const digits = String(value);
  const integer = BigInt(digits);
  return integer < MIN_INT64 || integer > MAX_UINT64 ? formatG(value) : digits;
}
