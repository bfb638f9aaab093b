/**
 * The order in which go-yaml v2 writes the keys of a mapping: letters by code point,
 * everything else before letters, and runs of digits as the numbers they are.
 *
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/sorter.go
 */

const ZERO = 48;

/** Sorts keys as go-yaml does; the array itself is sorted. */
export function sortKeys(keys: string[]): string[] {
  for (let i = 1; i < keys.length; i++) {
    if (compareKeys(keys[i - 1]!, keys[i]!) > 0) return keys.sort(compareKeys);
  }
  return keys;
}

/** Compares keys as go-yaml sorts them: letters behind other characters, numbers by their value. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === length) return a.length - b.length;
  // The second halves of two characters may differ alone.
  if (at > 0 && isHighSurrogate(a.charCodeAt(at - 1))) at--;
  const x = a.codePointAt(at) ?? 0;
  const y = b.codePointAt(at) ?? 0;
  const xIsLetter = isLetter(x);
  const yIsLetter = isLetter(y);
  if (xIsLetter && yIsLetter) return x - y;
  if (xIsLetter !== yIsLetter) return xIsLetter ? 1 : -1;
  return compareNumbers(a, b, at) || x - y;
}

/** Compares the digits at `at` as numbers; a position without digits counts as an empty number. */
function compareNumbers(a: string, b: string, at: number): number {
  // Zeros inside a number count, those before it do not: a 1 stands for the digits before.
  const inside = (a.charCodeAt(at) === ZERO || b.charCodeAt(at) === ZERO) && followsNumber(a, at);
  const x = digitsAt(a, at, inside);
  const y = digitsAt(b, at, inside);
  if (x.value !== y.value) return x.value < y.value ? -1 : 1;
  return x.length - y.length;
}

/** Whether a number stands before a place: digits that are not all zeros. */
function followsNumber(text: string, at: number): boolean {
  const before = [...text.slice(0, at)];
  for (let i = before.length - 1; i >= 0; i--) {
    const code = before[i]!.codePointAt(0)!;
    if (!isDigit(code)) return false;
    if (code !== ZERO) return true;
  }
  return false;
}

/**
 * The digits from `from` on as a number, which overflows as an int64 does.
 *
 * @param inside whether they go on a number, of which a 1 stands for the digits before
 */
function digitsAt(text: string, from: number, inside: boolean): { value: bigint; length: number } {
  let value = inside ? 1n : 0n;
  let length = 0;
  for (let at = from; at < text.length; ) {
    const code = text.codePointAt(at)!;
    if (!isDigit(code)) break;
    value = BigInt.asIntN(64, value * 10n + BigInt(code - ZERO));
    length++;
    at += code > 0xffff ? 2 : 1;
  }
  return { value, length };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLetter(code: number): boolean {
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
  return /\p{L}/u.test(String.fromCodePoint(code));
}

function isDigit(code: number): boolean {
  if (code < 128) return code >= ZERO && code <= ZERO + 9;
  return /\p{Nd}/u.test(String.fromCodePoint(code));
}
