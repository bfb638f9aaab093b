/** Looking through bytes for what the fast reader does not read, before there is text. */

const TAB = 9;
const LF = 10;
/** The first printable character, and the last of ASCII. */
const SPACE = 32;
const TILDE = 126;

/**
 * Whether bytes are printable ASCII, tabs and line feeds, and nothing else: what nearly
 * all of a catalog is. Four bytes are looked at together, which is several times as
 * fast as any look at the text that they stand for.
 */
export function isPlainBytes(bytes: Uint8Array): boolean {
  const { buffer, byteOffset, length } = bytes;
  const head = (4 - (byteOffset & 3)) & 3;
  const count = (length - head) >> 2;
  if (count <= 0) return arePlain(bytes, 0, length);
  return (
    arePlain(bytes, 0, head) &&
    arePlain(bytes, head + 4 * count, length) &&
    areWordsPlain(new Int32Array(buffer, byteOffset + head, count))
  );
}

/** Looks at bytes one by one: those that no word holds whole, and short texts. */
function arePlain(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!;
    if (byte > TILDE || (byte < SPACE && byte !== LF && byte !== TAB)) return false;
  }
  return true;
}

/**
 * Adding as much to each byte as brings the least one that is looked for to 128 shows in
 * its highest bit whether it is reached. No byte of ASCII carries into the next one then.
 */
function areWordsPlain(words: Int32Array): boolean {
  // Numbers of the function's own: the engine takes those of the file for what may change.
  const highest = 0x80808080;
  const ones = 0x01010101;
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    // Most words hold no byte below a space; a byte that borrows from the next is looked at again.
    if ((((word - SPACE * ones) | (word + ones)) & highest) === 0) continue;
    // The highest bit of each byte then says: below a space, not a line feed, not a tab.
    const low = ~(word + (128 - SPACE) * ones);
    const noFeed = (word ^ (LF * ones)) + 127 * ones;
    const noTab = (word ^ (TAB * ones)) + 127 * ones;
    if ((((low & noFeed & noTab) | (word + ones) | word) & highest) !== 0) return false;
  }
  return true;
}
