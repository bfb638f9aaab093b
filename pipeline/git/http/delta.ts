/**
 * Objects that a pack holds as differences from others.
 *
 * @see https://git-scm.com/docs/gitformat-pack
 */

/** What a delta promises, and where its instructions begin. */
interface DeltaHead {
  /** Bytes of the object that it starts from. */
  readonly base: number;
  /** Bytes of the object that it makes. */
  readonly result: number;
  readonly at: number;
}

/** Bytes that a copy without a size takes. */
const WHOLE_COPY = 0x10000;

/** Size of the object that a delta makes, in bytes; undefined for a damaged delta. */
export function deltaSize(delta: Buffer): number | undefined {
  return headOf(delta)?.result;
}

/**
 * Makes the object that a delta describes; undefined for a damaged delta, or one of another base. An instruction copies from
 * the base, if its first bit is set, or inserts the 1 to 127 bytes that follow it; 0 is reserved.
 * The caller has checked that there is room for it ({@link deltaSize}).
 */
export function applyDelta(base: Buffer, delta: Buffer): Buffer | undefined {
  const head = headOf(delta);
  if (!head || head.base !== base.length) return undefined;
  const made = Buffer.allocUnsafeSlow(head.result);
  let written = 0;
  for (let at = head.at; at < delta.length; ) {
    const command = delta[at] ?? 0;
    if (command >= 0x80) {
      const copy = copyOf(delta, at);
      if (!copy || copy.from + copy.size > base.length || written + copy.size > made.length) return undefined;
      base.copy(made, written, copy.from, copy.from + copy.size);
      written += copy.size;
      at = copy.at;
    } else {
      const end = at + 1 + command;
      if (command === 0 || end > delta.length || written + command > made.length) return undefined;
      delta.copy(made, written, at + 1, end);
      written += command;
      at = end;
    }
  }
  return written === made.length ? made : undefined;
}

function headOf(delta: Buffer): DeltaHead | undefined {
  const base = sizeAt(delta, 0);
  const result = base && sizeAt(delta, base.at);
  return result && { base: base.size, result: result.size, at: result.at };
}

/** Seven bits a byte, the lowest first; the highest bit says that more follow. Undefined beyond what numbers hold exactly. */
function sizeAt(bytes: Buffer, start: number): { readonly size: number; readonly at: number } | undefined {
  let size = 0;
  let unit = 1;
  for (let at = start; at < bytes.length && unit < Number.MAX_SAFE_INTEGER / 128; at++, unit *= 128) {
    const byte = bytes[at] ?? 0;
    size += (byte & 0x7f) * unit;
    if (byte < 0x80) return { size, at: at + 1 };
  }
  return undefined;
}

interface Copy {
  readonly from: number;
  readonly size: number;
  /** Where the next instruction begins. */
  readonly at: number;
}

/**
 * Reads an instruction to copy. Seven bits of its first byte say which bytes follow: four of the start, three of the
 * size, the lowest first.
 */
function copyOf(delta: Buffer, start: number): Copy | undefined {
  const command = delta[start] ?? 0;
  let at = start + 1;
  let from = 0;
  let size = 0;
  for (let bit = 0; bit < 7; bit++) {
    if ((command & (1 << bit)) === 0) continue;
    const byte = delta[at++];
    if (byte === undefined) return undefined;
    if (bit < 4) from += byte * 2 ** (8 * bit);
    else size += byte * 2 ** (8 * (bit - 4));
  }
  return { from, size: size === 0 ? WHOLE_COPY : size, at };
}
