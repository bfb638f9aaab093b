/**
 * FNV-1a. With 32 bits, over the UTF-8 bytes of a text, it makes short names that stay the same
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

// FNV-1a with 64 bits, the hash that opm seals its caches with, fast in plain
// JavaScript: the state is kept in three small integers while bytes run through.
//
// @see https://pkg.go.dev/hash/fnv

/** The state before the first byte. */
export const FNV_START = 0xcbf29ce484222325n;

const PRIME_64 = 0x100000001b3n;
const MASK = 0xffff_ffff_ffff_ffffn;

/** The state of a 64-bit FNV-1a hash after more bytes. */
export function fnv1a(bytes: Uint8Array, state: bigint = FNV_START): bigint {
  // Limbs of 22, 22 and 20 bits: their products with the prime's low part (435) stay below 2^31.
  let low = Number(state & 0x3fffffn) | 0;
  let middle = Number((state >> 22n) & 0x3fffffn) | 0;
  let high = Number(state >> 44n) | 0;
  const length = bytes.length;
  for (let i = 0; i < length; i++) {
    const mixed = low ^ (bytes[i] as number);
    const product = Math.imul(mixed, 435);
    // The prime's high bit, 2^40, adds the state 40 bits further up.
    const carried = Math.imul(middle, 435) + (product >>> 22) + ((mixed & 15) << 18);
    high = (Math.imul(high, 435) + (carried >>> 22) + (mixed >>> 4) + ((middle & 3) << 18)) & 0xfffff;
    middle = carried & 0x3fffff;
    low = product & 0x3fffff;
  }
  return BigInt(low) | (BigInt(middle) << 22n) | (BigInt(high) << 44n);
}

/** The sum as Go prints it of the hash's bytes: 16 hex digits. */
export function fnv64Hex(state: bigint): string {
  return state.toString(16).padStart(16, '0');
}

/**
 * What a stretch of bytes does to a state whose lowest byte is the one that the stretch
 * was measured for. The bytes only ever touch the lowest byte, and how that one runs does
 * not depend on the others: so for one lowest byte a stretch multiplies by a power of the
 * prime and adds a number, and need not be read again to be hashed again.
 */
export interface Stretch {
  /** Length in bytes. */
  readonly length: number;
  /** What is added after the multiplication. */
  readonly addend: bigint;
}

/** The stretch of `length` bytes that takes the state `low`, one byte, to `state`. */
export function stretchTo(state: bigint, low: number, length: number): Stretch {
  return { length, addend: (state - BigInt(low) * primePower(length)) & MASK };
}

/** The state behind a stretch; the caller knows that the state ends in the right byte. */
export function applyStretch({ length, addend }: Stretch, state: bigint): bigint {
  return (state * primePower(length) + addend) & MASK;
}

/** The prime to a power, of which the state keeps the lowest bits. Squaring takes few steps also for long stretches. */
function primePower(exponent: number): bigint {
  let power = 1n;
  let square = PRIME_64;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = (power * square) & MASK;
    square = (square * square) & MASK;
  }
  return power;
}
