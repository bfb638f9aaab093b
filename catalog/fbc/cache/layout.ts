/**
 * Where everything stands in an index image, and in which pieces its cache digest can be
 * put together without reading what did not change.
 *
 * A package's files follow each other in the order of the walk, in both trees. How a
 * stretch of bytes changes an FNV-1a state depends on nothing of that state but its lowest
 * byte (see fnv.ts). So the last file of each package ends in a line of blanks, chosen so
 * that the lowest byte behind the package is what it was before it. Readers of JSON pass
 * over the line. A package's stretch is then the same whatever packages stand around it.
 */
import { applyStretch, FNV_START, fnv1a, fnv64Hex, type Stretch, stretchTo } from '../../go/fnv.ts';
import { compareText } from '../../go/text.ts';
import { TAR_END, tarHeader, tarPadding } from './tar.ts';

/** Folders of the image, without the slash at their beginning. */
export const CONFIGS = 'configs';
export const CACHE = 'tmp/cache';
export const CACHE_FILES = 'tmp/cache/cache';

/** Permissions of everything that we put into an image, which the digest covers. */
export const DIRECTORY_MODE = 0o755;
export const FILE_MODE = 0o644;

/** A file or folder below one of the two trees' roots. */
export interface TreePart {
  readonly path: string;
  readonly kind: 'file' | 'directory';
  /** Content in pieces; empty for folders. */
  readonly pieces: readonly Uint8Array[];
}

/** The two trees, in the order in which the digest covers them. */
export type Tree = 'configs' | 'cache';

/** The lowest byte of the state behind a tree's root folder: there every stretch begins and ends. */
const LOW: Readonly<Record<Tree, number>> = lowBytes();

function rootHeader(): Uint8Array {
  return tarHeader({ name: '.', kind: 'directory', mode: DIRECTORY_MODE, size: 0 });
}

/**
 * The digest covers configs first, so the state before the cache is the one behind all of configs: its lowest byte is
 * the same, whatever stands in them.
 */
function lowBytes(): Record<Tree, number> {
  const configs = Number(fnv1a(rootHeader()) & 0xffn);
  const cache = Number(fnv1a(rootHeader(), fnv1a(TAR_END, BigInt(configs))) & 0xffn);
  return { configs, cache };
}

/**
 * Measures parts that follow each other in a tree, and ends the last of them, which must
 * be a file, in a line of blanks.
 *
 * @returns the parts one by one; at the end the stretch that they make
 */
export function* sealedParts(tree: Tree, parts: Iterable<TreePart>): Generator<TreePart, Stretch> {
  const low = LOW[tree];
  let state = BigInt(low);
  let length = 0;
  // Only the last part gets the line, so each waits until the next one is there.
  let waiting: TreePart | undefined;
  const measure = (part: TreePart, size: number): void => {
    for (const bytes of archivedPart(part, size)) {
      state = fnv1a(bytes, state);
      length += bytes.length;
    }
  };
  for (const part of parts) {
    if (waiting) {
      measure(waiting, sizeOf(waiting.pieces));
      state = fnv1a(padding(sizeOf(waiting.pieces)), state);
      length += tarPadding(sizeOf(waiting.pieces));
      yield waiting;
    }
    waiting = part;
  }
  if (waiting) {
    if (waiting.kind !== 'file')
      throw new Error(`${waiting.path} is not a regular file, so no line can be added`);
    const size = sizeOf(waiting.pieces) + LINE;
    measure(waiting, size);
    const line = blankLine(Number(state & 0xffn), low, tarPadding(size));
    for (const bytes of [line, padding(size)]) state = fnv1a(bytes, state);
    length += line.length + tarPadding(size);
    yield { ...waiting, pieces: [...waiting.pieces, line] };
  }
  return stretchTo(state, low, length);
}

/** A part as in the archive that the digest covers, without the padding of its last block. */
function* archivedPart({ path, kind, pieces }: TreePart, size: number): Generator<Uint8Array> {
  yield tarHeader({ name: path, kind, mode: kind === 'file' ? FILE_MODE : DIRECTORY_MODE, size });
  yield* pieces;
}

function padding(size: number): Uint8Array {
  return new Uint8Array(tarPadding(size));
}

/** How many bytes pieces have together. */
export function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((size, piece) => size + piece.length, 0);
}

/** Twelve blanks or tabs and a line feed lead from every byte to every other. */
const LINE = 13;
const BLANK = 0x20;
const TAB = 0x09;
const LINE_FEED = 0x0a;

/**
 * A line of blanks and tabs that takes the sum from one lowest byte to another, with `zeros` zero bytes in between. Of
 * all such lines, the first in order.
 */
function blankLine(from: number, to: number, zeros: number): Uint8Array {
  let goal = to;
  for (let i = 0; i < zeros; i++) goal = lowBefore(goal, 0);
  // For each number of characters left, the bytes from which the goal can still be reached.
  const reachable: Set<number>[] = [new Set([lowBefore(goal, LINE_FEED)])];
  for (let left = 1; left < LINE; left++) {
    const next = [...(reachable[left - 1] ?? [])];
    reachable.push(
      new Set([...next.map((low) => lowBefore(low, BLANK)), ...next.map((low) => lowBefore(low, TAB))]),
    );
  }
  const line = new Uint8Array(LINE).fill(LINE_FEED);
  let low = from;
  for (let i = 0; i < LINE - 1; i++) {
    // So many characters are left between this one and the line feed.
    const left = LINE - i - 2;
    const byte = reachable[left]?.has(lowAfter(low, BLANK)) ? BLANK : TAB;
    line[i] = byte;
    low = lowAfter(low, byte);
  }
  return line;
}

/** FNV's prime in its lowest byte, and what undoes the multiplication by it. */
const FACTOR = 0xb3;
const INVERSE = 0x7b;

function lowAfter(low: number, byte: number): number {
  return ((low ^ byte) * FACTOR) & 0xff;
}

function lowBefore(low: number, byte: number): number {
  return ((low * INVERSE) & 0xff) ^ byte;
}

/** A stretch with the path at which it begins in its tree. */
export interface PlacedStretch {
  readonly path: string;
  readonly stretch: Stretch;
}

/** The digest of the whole cache, from the stretches of both trees, in any order. */
export function sealDigest(configs: readonly PlacedStretch[], cache: readonly PlacedStretch[]): string {
  const state = overTree(FNV_START, configs);
  return fnv64Hex(overTree(state, cache));
}

/** The state behind a tree in the archive: its root, its stretches by path, and the end. */
function overTree(start: bigint, stretches: readonly PlacedStretch[]): bigint {
  const root = fnv1a(rootHeader(), start);
  const sorted = [...stretches].sort((a, b) => compareText(a.path, b.path));
  const state = sorted.reduce((at, { stretch }) => applyStretch(stretch, at), root);
  return fnv1a(TAR_END, state);
}
