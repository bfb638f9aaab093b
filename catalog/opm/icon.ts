/**
 * What kind of image some bytes are, found by how they begin, as opm finds it for the icon of
 * a package.
 *
 * @see https://github.com/h2non/filetype/blob/master/matchers/image.go
 * @see https://github.com/h2non/go-is-svg/blob/master/svg.go
 */

/** Beginnings by media type: two hexadecimal digits a byte, dots for any byte, also where only the length counts. */
const BEGINNINGS: readonly (readonly [mediaType: string, pattern: RegExp])[] = [
  ['image/jpeg', /^ffd8ff/],
  ['image/jp2', /^0000000c6a5020200d0a870a00/],
  ['image/png', /^89504e47/],
  ['image/gif', /^474946/],
  ['image/webp', /^.{16}57454250/],
  ['image/x-canon-cr2', /^(?:49492a00|4d4d002a).{8}435202/],
  ['image/tiff', /^(?:49492a00|4d4d002a).{14}/],
  ['image/bmp', /^424d/],
  ['image/vnd.ms-photo', /^4949bc/],
  ['image/vnd.adobe.photoshop', /^38425053/],
  ['image/vnd.microsoft.icon', /^00000100/],
  ['image/vnd.dwg', /^41433130/],
];

/** Most bytes that any beginning looks at. */
const LONGEST = 16;

/** The media type of an image, or undefined for anything else. */
export function imageType(bytes: Uint8Array): string | undefined {
  if (isSvg(bytes)) return 'image/svg+xml';
  const beginning = [...bytes.subarray(0, LONGEST)]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  return BEGINNINGS.find(([, pattern]) => pattern.test(beginning))?.[0] ?? containerType(bytes);
}

/** White space is that of Go's expressions: ASCII only. */
const SVG =
  /^[\t\n\f\r ]*(?:<\?xml[^>]*>[\t\n\f\r ]*)?(?:<!doctype svg[^>]*>[\t\n\f\r ]*)?<svg[^>]*>[^*]*<\/svg>[\t\n\f\r ]*$/i;

/** Whether bytes are an SVG image, by go-is-svg's expression for the whole text. */
function isSvg(bytes: Uint8Array): boolean {
  // As in go-is-svg, such bytes at the beginning are those of a binary file.
  if (bytes.length >= 24 && bytes.subarray(0, 24).some((byte) => byte <= 8)) return false;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return SVG.test(withoutComments(text));
}

/** An expression would look for the end of each comment that has none, to the end of the text. */
function withoutComments(text: string): string {
  const parts: string[] = [];
  for (let from = 0; ; ) {
    const begin = text.indexOf('<!--', from);
    const end = begin < 0 ? -1 : text.indexOf('-->', begin + 4);
    if (end < 0) return [...parts, text.slice(from)].join('');
    parts.push(text.slice(from, begin));
    from = end + 3;
  }
}

/** Images in the container of ISO's media files are told apart by their brands. */
function containerType(bytes: Uint8Array): string | undefined {
  const ascii = (from: number): string => String.fromCharCode(...bytes.subarray(from, from + 4));
  if (bytes.length < 17 || ascii(4) !== 'ftyp') return undefined;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  if (bytes.length < length) return undefined;
  const brands = [ascii(8)];
  // These two say nothing of the format: the brands behind them do.
  if (brands[0] === 'mif1' || brands[0] === 'msf1') {
    for (let at = 16; at < length && at + 4 <= bytes.length; at += 4) brands.push(ascii(at));
  }
  return brands.includes('heic') ? 'image/heif' : undefined;
}
