/**
 * FNV-1a with 32 bits, over the UTF-8 bytes of a text: short names that stay the same
 * from run to run. No protection against anybody who wants two texts to agree.
 *
 * @see http://www.isthe.com/chongo/tech/comp/fnv/
 */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** An unsigned integer of 32 bits. */
export function fnvHash(text: string): number {
  let hash = OFFSET;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, PRIME);
  return hash >>> 0;
}

/** Eight hexadecimal digits. */
export function fnvHex(text: string): string {
  return fnvHash(text).toString(16).padStart(8, '0');
}
