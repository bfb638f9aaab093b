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
