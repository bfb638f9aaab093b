/**
 * Escape sequences in double-quoted YAML.
 *
 * @see https://yaml.org/spec/1.1/#c-ns-esc-char
 */

/** The character for each escape. In addition to the specification, Go knows `\'`, but it does not know `\/`. */
export const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '0': '\0',
    a: '\x07',
    b: '\b',
    t: '\t',
    '\t': '\t',
    n: '\n',
    v: '\v',
    f: '\f',
    r: '\r',
    e: '\x1b',
    ' ': ' ',
    '"': '"',
    "'": "'",
    '\\': '\\',
    N: '\x85',
    _: '\xa0',
    L: '\u2028',
    P: '\u2029',
  }),
);

/** How many hexadecimal digits follow a letter. */
export const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

/** The character of a hexadecimal code; undefined for half of a surrogate pair and beyond Unicode. */
export function characterOf(hex: string): string | undefined {
  const code = Number.parseInt(hex, 16);
  if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return undefined;
  return String.fromCodePoint(code);
}

const HEX = /^[0-9a-fA-F]+$/;

export function isHex(text: string, digits: number): boolean {
  return text.length === digits && HEX.test(text);
}

/** Resolves the escapes of a text on one line; undefined when one of them means nothing. */
export function unescapeText(raw: string): string | undefined {
  let from = raw.indexOf('\\');
  let value = raw.slice(0, Math.max(from, 0));
  while (from >= 0) {
    const letter = raw.charAt(from + 1);
    const digits = HEX_DIGITS.get(letter) ?? 0;
    const after = from + 2 + digits;
    const hex = raw.slice(from + 2, after);
    const character = digits === 0 ? ESCAPES.get(letter) : isHex(hex, digits) ? characterOf(hex) : undefined;
    if (character === undefined) return undefined;
    from = raw.indexOf('\\', after);
    value += character + raw.slice(after, from < 0 ? raw.length : from);
  }
  return value;
}
