/**
 * Reads a pack: the form in which git sends objects. Whoever serves it may be hostile, so nothing in it is believed:
 * sizes are limited before memory is taken, and ids are computed.
 *
 * @see https://git-scm.com/docs/gitformat-pack
 */
import { createHash } from 'node:crypto';
import { inflateSync, type ZlibOptions } from 'node:zlib';
import { PipelineError } from '../../error.ts';
import type { GitObject, ObjectType } from '../objects.ts';

/** Which function makes ids of objects. */
export type ObjectFormat = 'sha1' | 'sha256';

export interface PackLimits {
  /** Objects in one pack. */
  readonly objects: number;
  /** Bytes of one object. */
  readonly object: number;
  /** Bytes of all objects of a pack, and of the deltas that make them. */
  readonly total: number;
}

const TYPES: Readonly<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
/** A delta whose base stands so many bytes before it. */
const OFFSET_DELTA = 6;
/** A delta whose base is named by its id. */
const NAMED_DELTA = 7;

/** Bytes of a pack before its first object: `PACK`, its version, and how many there are. */
const HEAD = 12;
const ID_BYTES: Readonly<Record<ObjectFormat, number>> = { sha1: 20, sha256: 32 };

/** What one entry of a pack holds. */
interface Entry {
  readonly kind: ObjectType | 'delta';
  /** Where its base begins, or the base's id; for a delta only. */
  readonly base: number | string | undefined;
  readonly bytes: Buffer;
}

/**
 * The objects of a pack, by their ids. The pack must be complete in itself: no delta may need an object that is not
 * in it.
 *
 * @throws PipelineError `corrupt` for a damaged pack, `too-large` beyond a limit
 */
export function readPack(pack: Buffer, format: ObjectFormat, limits: PackLimits): Map<string, GitObject> {
  const end = pack.length - ID_BYTES[format];
  if (end < HEAD || pack.toString('latin1', 0, 4) !== 'PACK') throw damaged('it does not begin as a pack');
  const version = pack.readUInt32BE(4);
  if (version !== 2 && version !== 3) throw damaged(`its version is ${version}`);
  const sum = createHash(format).update(pack.subarray(0, end)).digest();
  if (!sum.equals(pack.subarray(end))) throw damaged('its checksum is wrong');
  const count = pack.readUInt32BE(8);
  if (count > limits.objects) throw tooLarge(`${count} objects`, `${limits.objects}`);
  const room = new Room(limits);
  const reader = new EntryReader(pack.subarray(0, end), format, room);
  const entries = Array.from({ length: count }, () => reader.next());
  if (reader.at !== end) throw damaged('bytes follow its last object');
  return new Assembly(format, room).assemble(entries);
}

/** Counts bytes against the limits, before they are taken. */
class Room {
  readonly #limits: PackLimits;
  #taken = 0;

  constructor(limits: PackLimits) {
    this.#limits = limits;
  }

  take(bytes: number): void {
    if (bytes > this.#limits.object) throw tooLarge(`an object of ${bytes} bytes`, `${this.#limits.object}`);
    this.#taken += bytes;
    if (this.#taken > this.#limits.total)
      throw tooLarge(`more than ${this.#limits.total} bytes`, `${this.#limits.total}`);
  }
}

/** Reads entries one after the other. */
class EntryReader {
  readonly #pack: Buffer;
  readonly #format: ObjectFormat;
  readonly #room: Room;
  /** Where the next entry begins. */
  at = HEAD;

  constructor(pack: Buffer, format: ObjectFormat, room: Room) {
    this.#pack = pack;
    this.#format = format;
    this.#room = room;
  }

  /** Reads the next entry, which begins at `start`. @throws PipelineError `corrupt`, `too-large` before it is decompressed */
  next(): { readonly start: number; readonly entry: Entry } {
    const start = this.at;
    const { type, size } = this.#head();
    const kind = type === OFFSET_DELTA || type === NAMED_DELTA ? 'delta' : TYPES[type];
    if (kind === undefined) throw damaged(`an object has the unknown type ${type}`);
    const base = kind === 'delta' ? this.#base(type, start) : undefined;
    this.#room.take(size);
    return { start, entry: { kind, base, bytes: this.#inflate(size) } };
  }

  /** Reads the type and size of an entry: three bits of type and four of size, then seven bits of size in each byte. */
  #head(): { type: number; size: number } {
    const first = this.#byte();
    let size = first & 0x0f;
    let unit = 16;
    for (let byte = first; byte >= 0x80; unit *= 128) {
      byte = this.#byte();
      size += (byte & 0x7f) * unit;
      if (size > Number.MAX_SAFE_INTEGER / 128) throw damaged('the size of an object is too large');
    }
    return { type: (first >> 4) & 7, size };
  }

  /** The base of a delta: its id, or where it starts in the pack. */
  #base(type: number, start: number): number | string {
    if (type === NAMED_DELTA) {
      const end = this.at + ID_BYTES[this.#format];
      const id = this.#pack.toString('hex', this.at, end);
      this.at = end;
      return id;
    }
    let byte = this.#byte();
    let distance = byte & 0x7f;
    while (byte >= 0x80 && distance < start) {
      byte = this.#byte();
      distance = (distance + 1) * 128 + (byte & 0x7f);
    }
    if (distance <= 0 || distance > start) throw damaged('the base of a delta is outside of the pack');
    return start - distance;
  }

  #byte(): number {
    const byte = this.#pack[this.at++];
    if (byte === undefined) throw damaged('it ends within an object');
    return byte;
  }

  /** Decompresses an object. @throws PipelineError if it does not have exactly this size */
  #inflate(size: number): Buffer {
    // One byte more than is needed: the result then comes in one piece, and one that is too long shows.
    const options: ZlibOptions = { info: true, maxOutputLength: size + 1, chunkSize: Math.max(64, size + 1) };
    try {
      const { buffer, engine } = inflateSync(this.#pack.subarray(this.at), options) as unknown as Inflated;
      if (buffer.length !== size) throw damaged(`an object has ${buffer.length} bytes instead of ${size}`);
      this.at += engine.bytesWritten;
      return buffer;
    } catch (error) {
      if (error instanceof PipelineError) throw error;
      throw damaged('an object cannot be decompressed', error);
    }
  }
}

/** What zlib gives with `info`: the engine knows how much it has read. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

/** Turns entries into objects: a delta as soon as its base is there, wherever that stands. */
class Assembly {
  readonly #format: ObjectFormat;
  readonly #room: Room;
  readonly #objects = new Map<string, GitObject>();
  /** Deltas whose base is not made yet, by where that begins or by its id. */
  readonly #waiting = new Map<number | string, { readonly start: number; readonly delta: Buffer }[]>();
  /** Entries of which no object is made yet. */
  #left = 0;

  constructor(format: ObjectFormat, room: Room) {
    this.#format = format;
    this.#room = room;
  }

  /** Makes all objects, each delta once its base is made. @throws PipelineError if a base is missing */
  assemble(entries: readonly { readonly start: number; readonly entry: Entry }[]): Map<string, GitObject> {
    this.#left = entries.length;
    for (const { start, entry } of entries) {
      if (entry.base === undefined) continue;
      const waiting = this.#waiting.get(entry.base) ?? [];
      waiting.push({ start, delta: entry.bytes });
      this.#waiting.set(entry.base, waiting);
    }
    for (const { start, entry } of entries) {
      if (entry.kind !== 'delta') this.#finish(start, entry.kind, entry.bytes);
    }
    if (this.#left > 0) throw damaged(`the base of ${this.#left} deltas is not in it`);
    return this.#objects;
  }

  /** Keeps an object, and makes all that were waiting for it. */
  #finish(start: number, type: ObjectType, bytes: Buffer): void {
    // A list in place of recursion: a hostile pack may have long chains of deltas.
    const open = [{ start, bytes }];
    for (let next = open.pop(); next; next = open.pop()) {
      const id = objectId(type, next.bytes, this.#format);
      this.#objects.set(id, { type, size: next.bytes.length, bytes: next.bytes });
      this.#left--;
      for (const key of [next.start, id]) {
        const waiting = this.#waiting.get(key) ?? [];
        this.#waiting.delete(key);
        for (const { start: at, delta } of waiting)
          open.push({ start: at, bytes: this.#made(next.bytes, delta) });
      }
    }
  }

  /** The object that a delta makes of its base. */
  #made(base: Buffer, delta: Buffer): Buffer {
    const size = deltaSize(delta);
    if (size !== undefined) this.#room.take(size);
    const made = size === undefined ? undefined : applyDelta(base, delta);
    if (!made) throw damaged('a delta does not fit its base');
    return made;
  }
}

/** The id of an object by its type and bytes, in hexadecimal digits. */
export function objectId(type: ObjectType, bytes: Uint8Array, format: ObjectFormat): string {
  return createHash(format).update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
}

function damaged(why: string, cause?: unknown): PipelineError {
  return new PipelineError('corrupt', `the git server sent a damaged pack: ${why}`, { cause });
}

function tooLarge(what: string, limit: string): PipelineError {
  return new PipelineError('too-large', `the git server sent a pack with ${what}, the limit is ${limit}`);
}

// Objects that a pack holds as differences from others.
//
// @see https://git-scm.com/docs/gitformat-pack

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
function deltaSize(delta: Buffer): number | undefined {
  return headOf(delta)?.result;
}

/**
 * Makes the object that a delta describes; undefined for a damaged delta, or one of another base. An instruction copies from
 * the base, if its first bit is set, or inserts the 1 to 127 bytes that follow it; 0 is reserved.
 * The caller has checked that there is room for it ({@link deltaSize}).
 */
function applyDelta(base: Buffer, delta: Buffer): Buffer | undefined {
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
