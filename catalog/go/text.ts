/** Text as Go's standard library prints it. */

const SHORT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '"': '\\"',
    '\\': '\\\\',
    '\x07': '\\a',
    '\b': '\\b',
    '\f': '\\f',
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    '\v': '\\v',
  }),
);

/**
 * White space as Go's `unicode.IsSpace` knows it: that of `\s` with U+0085 and without the
 * byte-order mark. To stand between brackets of a regular expression.
 */
export const GO_SPACE: string =
  '\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

const SPACE = new RegExp(`[${GO_SPACE}]`);

/** Text without the white space around it, as Go's `strings.TrimSpace` leaves it. */
export function goTrimmed(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && SPACE.test(text.charAt(from))) from++;
  // From the end: an expression would look at each run of white space in between from each of its characters.
  while (to > from && SPACE.test(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}

/** Text in quotes, as Go's `strconv.Quote` and `%q` write it. */
export function goQuoted(text: string): string {
  const inner = text.replaceAll(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    if (code > 0xffff) return `\\U${hex.padStart(8, '0')}`;
    if (code > 0x7f) return `\\u${hex.padStart(4, '0')}`;
    return SHORT.get(character) ?? `\\x${hex.padStart(2, '0')}`;
  });
  return `"${inner}"`;
}

/** Byte order of UTF-8, which is the order of Go's strings. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) {
      // Surrogates sort above every other code unit in UTF-8, not below U+E000.
      const high = x >= 0xd800 && x <= 0xdfff;
      if (high !== (y >= 0xd800 && y <= 0xdfff)) return high ? 1 : -1;
      return x < y ? -1 : 1;
    }
  }
  return a.length - b.length;
}

/**
 * A copy of a text, made by joining it with a space. A part of a string keeps the whole string alive, and with it the file
 * that it was cut from.
 */
export function ownText(text: string): string {
  return ` ${text}`.slice(1);
}
