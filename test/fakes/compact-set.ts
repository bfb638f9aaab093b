/**
 * A set of texts that keeps 64 bits of each: a search of many states fits into memory. Of ten million texts, two have
 * the same bits with a chance of three in a million; the second would then be taken for the first.
 */
export interface CompactSet {
  /** @returns whether the text is new */
  add(text: string): boolean;
  size(): number;
}

/** Part of the slots that may be taken: beyond, looking for a free one takes long. */
const FULL = 0.6;

export function compactSet(): CompactSet {
  let slots = new BigUint64Array(1 << 16);
  let size = 0;
  const place = (all: BigUint64Array, hash: bigint): number => {
    const mask = all.length - 1;
    let at = Number(hash & 0x7fffffffn) & mask;
    while (all[at] !== 0n && all[at] !== hash) at = (at + 1) & mask;
    return at;
  };
  const grow = (): void => {
    const before = slots;
    slots = new BigUint64Array(2 * before.length);
    for (const hash of before) if (hash !== 0n) slots[place(slots, hash)] = hash;
  };
  return {
    size: () => size,
    add: (text) => {
      const hash = hashOf(text);
      const at = place(slots, hash);
      if (slots[at] === hash) return false;
      slots[at] = hash;
      size++;
      if (size > FULL * slots.length) grow();
      return true;
    },
  };
}

/** Two hashes of 32 bits (MurmurHash's mixing, each with its own factors); never 0. */
function hashOf(text: string): bigint {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (BigInt(a >>> 0) << 32n) | BigInt(b >>> 0) || 1n;
}
