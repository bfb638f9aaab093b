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
