/**
 * The files of an image, read from its layers as a node would stack them: whiteouts take
 * away, later layers win. Layers are somebody else's bytes: sizes and counts are bounded,
 * and no path leads out of the tree.
 *
 * @see https://github.com/opencontainers/image-spec/blob/main/layer.md
 */
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FilePieces } from '../../../catalog/source.ts';
import { withFileErrors } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { piecesIn } from '../../file-pieces.ts';
import { type StreamedEntry, tarEntries } from '../tar-stream.ts';
import { decompressed } from './decompress.ts';

export interface ImageTree {
  /** Files, folders and links by path, without a slash before it. */
  readonly entries: ReadonlyMap<string, ImageEntry>;
  /** The content of a file. */
  read(entry: ImageEntry): Uint8Array;
  /** The content piece by piece. */
  pieces(entry: ImageEntry): FilePieces;
  /** Removes what was unpacked. */
  close(): void;
}

export interface ImageEntry {
  readonly kind: 'file' | 'directory' | 'link';
  /** Permission bits. */
  readonly mode: number;
  /** In bytes. */
  readonly size: number;
  /** Target of a symbolic link. */
  readonly target?: string;
  /** Offset of the content in the unpacked bytes. */
  readonly offset: number;
}

/** Limits for reading layers. */
export interface TreeLimits {
  /** Bytes of all layers together, decompressed. */
  readonly bytes: number;
  /** Bytes of one layer, decompressed. */
  readonly layerBytes: number;
  /** Bytes of one file that is wanted: each is read whole, and takes three times as much memory. */
  readonly fileBytes: number;
  /** Files, folders and links of all layers together. */
  readonly entries: number;
}

/** Limits where the caller gives none. */
export const TREE_LIMITS: TreeLimits = {
  bytes: 4 * 2 ** 30,
  layerBytes: 2 * 2 ** 30,
  fileBytes: 256 * 2 ** 20,
  entries: 1_000_000,
};

/**
 * A wanted file has at most so many bytes, and beyond them at most so many times the compressed bytes of its layer. Catalogs
 * take 5 to 40 times: a few bytes must not stand for very many.
 */
const FREE_FILE_BYTES = 64 * 2 ** 20;
const MOST_TIMES = 100;

export interface TreeOptions {
  /** An existing directory for the files' content. */
  readonly scratch: string;
  /** Which paths are wanted; the content of others is passed over. */
  readonly wanted: (path: string) => boolean;
  readonly limits?: TreeLimits;
}

/**
 * Unpacks the layers of an image over each other, and gives its files.
 *
 * @param layers compressed bytes of each layer, the lowest first
 * @throws PipelineError `corrupt` when a layer is not an archive, `too-large`, `io`
 */
export async function readTree(
  layers: readonly AsyncIterable<Uint8Array>[],
  { scratch, wanted, limits = TREE_LIMITS }: TreeOptions,
): Promise<ImageTree> {
  const path = join(scratch, `tree-${process.pid}-${++trees}`);
  const file = withFileErrors(path, () => openSync(path, 'w+'));
  const close = (): void => {
    closeSync(file);
    rmSync(path, { force: true });
  };
  const state: Unpacking = {
    stack: emptyStack(),
    file,
    path,
    offset: 0,
    bytes: 0,
    compressed: 0,
    count: 0,
    limits,
    wanted,
  };
  try {
    for (const layer of layers) {
      const added = await unpackLayer(layer, state);
      for (const [name, entry] of added.entries) putEntry(state.stack, name, entry);
    }
  } catch (error) {
    close();
    throw error;
  }
  // Links that are not wanted were kept only for what lies behind them.
  const entries = new Map([...state.stack.entries].filter(([name]) => wanted(name)));
  return { entries, read: (entry) => readAt(state, entry), pieces: (entry) => piecesAt(state, entry), close };
}

/** Trees that this process has read: each unpacks into a file of its own name. */
let trees = 0;

/** The layers so far, as one tree. */
interface Stack {
  readonly entries: Map<string, ImageEntry>;
  /** Paths in each folder, so that taking a folder away costs what was in it. */
  readonly children: Map<string, Set<string>>;
}

function emptyStack(): Stack {
  return { entries: new Map(), children: new Map() };
}

/**
 * Adds an entry, with the folders that it is in. As nodes unpack layers, what is not a folder replaces a folder with all
 * that is in it.
 */
function putEntry({ entries, children }: Stack, path: string, entry: ImageEntry): void {
  if (entry.kind !== 'directory') removeBelow({ entries, children }, path);
  entries.set(path, entry);
  for (let below = path; below !== ''; ) {
    const folder = folderOf(below);
    const siblings = children.get(folder);
    // A path that its folder knows was put in with all folders above it.
    if (siblings?.has(below)) return;
    if (siblings) siblings.add(below);
    else children.set(folder, new Set([below]));
    below = folder;
  }
}

/** Removes all that is in a folder, at any depth, but not the folder itself. */
function removeBelow({ entries, children }: Stack, folder: string): void {
  const folders = [folder];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const path of children.get(at) ?? []) {
      entries.delete(path);
      folders.push(path);
    }
    children.delete(at);
  }
}

/** Removes an entry and, for a folder, all that is in it. */
function removeEntry(stack: Stack, path: string): void {
  stack.entries.delete(path);
  removeBelow(stack, path);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** What goes on while the layers of one image are unpacked. */
interface Unpacking {
  readonly stack: Stack;
  /** The one file that gets the content of all wanted files, and its path. */
  readonly file: number;
  readonly path: string;
  readonly limits: TreeLimits;
  readonly wanted: (path: string) => boolean;
  /** Where the next content goes in that file. */
  offset: number;
  /** Bytes of all layers so far, decompressed. */
  bytes: number;
  /** Bytes of the layer that is read, as they came. */
  compressed: number;
  /** Entries of all layers so far. */
  count: number;
}

/** Unpacks one layer over those below it. @returns what it adds; what it removes is gone from the stack */
async function unpackLayer(layer: AsyncIterable<Uint8Array>, state: Unpacking): Promise<Stack> {
  const added = emptyStack();
  for await (const entry of tarEntries(withinLimits(decompressed(measured(layer, state)), state))) {
    if (++state.count > state.limits.entries) {
      throw tooLarge('the image has more files', 'per image', `${state.limits.entries} files`);
    }
    const path = cleanPath(entry.name);
    if (path !== '' && !applyWhiteout(path, state.stack)) await unpackEntry(path, entry, { added, state });
  }
  return added;
}

interface UnpackTarget {
  /** The entries that the layer added so far. */
  readonly added: Stack;
  readonly state: Unpacking;
}

/** Adds one entry of an archive. Whatever it is, it takes the place of what had its path. */
async function unpackEntry(
  path: string,
  header: StreamedEntry,
  { added, state }: UnpackTarget,
): Promise<void> {
  const { stack, limits, wanted } = state;
  const isWanted = wanted(path);
  if (isWanted) refuseUnreachable(path, added, stack);
  if (isWanted && header.kind === 'unknown')
    throw new PipelineError('corrupt', `a layer has ${JSON.stringify(path)} as a type that is not unpacked`);
  const isFile = header.kind === 'file';
  if (isFile && isWanted) checkSize(path, header, limits);
  const found = isFile ? undefined : entryOf(path, header, { added, stack, isWanted });
  for (const one of [added, stack]) {
    // A folder over a folder keeps what is in it. Anything else replaces all that had its path, in this layer and below.
    if (header.kind !== 'directory') removeEntry(one, path);
    else if (one.entries.get(path)?.kind === 'link') one.entries.delete(path);
  }
  if (isFile && isWanted) putEntry(added, path, await keepBody(header, state));
  // A link counts also where it is not wanted: what is wanted must not lie behind it.
  if (found && (isWanted || found.kind === 'link')) putEntry(added, path, found);
}

/**
 * Refuses a wanted path that nodes and opm do not read as this reader would: one that goes through a symbolic link leads them
 * into the link's target, one through a file cannot be unpacked, and opm reads only names in UTF-8.
 */
function refuseUnreachable(path: string, added: Stack, stack: Stack): void {
  // The decoder puts this character where bytes are not UTF-8.
  if (path.includes('\uFFFD')) {
    throw new PipelineError('corrupt', `a layer has ${JSON.stringify(path)}, a name that is not valid UTF-8`);
  }
  for (let folder = folderOf(path); folder !== ''; folder = folderOf(folder)) {
    // The layer that is read counts before those below it.
    const { kind } = added.entries.get(folder) ?? stack.entries.get(folder) ?? {};
    if (kind !== 'link' && kind !== 'file') continue;
    const through = kind === 'link' ? 'behind the symbolic link' : 'below the file';
    const what = `the layers put ${JSON.stringify(path)} ${through} ${JSON.stringify(folder)}`;
    throw new PipelineError('corrupt', what, {
      hint: `build the image with a folder in place of the ${kind}`,
    });
  }
}

/** Passes bytes on until a layer, or all of them, are too large. */
async function* withinLimits(bytes: AsyncIterable<Uint8Array>, state: Unpacking): AsyncGenerator<Uint8Array> {
  const { limits } = state;
  let layer = 0;
  for await (const chunk of bytes) {
    state.bytes += chunk.length;
    layer += chunk.length;
    if (layer > limits.layerBytes)
      throw tooLarge('a layer is larger when decompressed', 'per layer', bytesText(limits.layerBytes));
    if (state.bytes > limits.bytes)
      throw tooLarge('the layers are larger when decompressed', 'per image', bytesText(limits.bytes));
    yield chunk;
  }
}

/** Passes the bytes of a layer on and counts them: how many it has decides how large its files may be. */
async function* measured(bytes: AsyncIterable<Uint8Array>, state: Unpacking): AsyncGenerator<Uint8Array> {
  state.compressed = 0;
  for await (const chunk of bytes) {
    state.compressed += chunk.length;
    yield chunk;
  }
}

/** The header declares the size; the decoder refuses a file that has another one. */
function checkSize(path: string, { size }: StreamedEntry, { fileBytes }: TreeLimits): void {
  if (size <= fileBytes) return;
  throw tooLarge(`${JSON.stringify(path)} is larger (${bytesText(size)})`, 'per file', bytesText(fileBytes));
}

/** The error for an image that is beyond a limit of this reader. */
function tooLarge(what: string, scope: string, limit: string): PipelineError {
  return new PipelineError('too-large', `${what} than Portolan reads: the limit ${scope} is ${limit}`);
}

/** `512 MiB`, or bytes where they are not a whole number of them. */
function bytesText(bytes: number): string {
  return bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes} bytes`;
}

/** A path below the tree's root; archives write `./a`, `/a` and `a/` alike. */
function cleanPath(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || name.includes('\0')) {
    throw new PipelineError(
      'corrupt',
      `a layer contains the path ${JSON.stringify(name)}, which leads outside of it`,
    );
  }
  return parts.join('/');
}

const WHITEOUT = '.wh.';
/** The name of a file that takes away all that layers below have in its folder. */
export const OPAQUE = '.wh..wh..opq';

/**
 * Takes away what a whiteout names of the layers below: `a/.wh.b` removes `a/b`, and `a/.wh..wh..opq` all that is in `a`.
 *
 * @returns whether the path is a whiteout
 */
function applyWhiteout(path: string, stack: Stack): boolean {
  const folder = folderOf(path);
  const name = path.slice(folder === '' ? 0 : folder.length + 1);
  if (!name.startsWith(WHITEOUT)) return false;
  if (name === OPAQUE) removeBelow(stack, folder);
  else {
    const hidden = `${folder === '' ? '' : `${folder}/`}${name.slice(WHITEOUT.length)}`;
    removeEntry(stack, hidden);
  }
  return true;
}

/**
 * A folder, a symbolic link, or the file that a wanted hard link names; undefined for devices and the like, and for a hard link
 * that is not wanted.
 *
 * @throws PipelineError `corrupt` for a wanted hard link to a file that was passed over
 */
function entryOf(
  path: string,
  header: StreamedEntry,
  { added, stack, isWanted }: { readonly added: Stack; readonly stack: Stack; readonly isWanted: boolean },
): ImageEntry | undefined {
  const { mode, kind, target } = header;
  if (kind === 'directory') return { kind: 'directory', mode, size: 0, offset: 0 };
  if (kind === 'symlink') return { kind: 'link', mode, size: 0, offset: 0, target };
  if (kind !== 'link' || !isWanted) return undefined;
  const name = cleanPath(target);
  const original = added.entries.get(name) ?? stack.entries.get(name);
  if (original) return original;
  const what = `${JSON.stringify(path)} is a hard link to ${JSON.stringify(name)}, whose content Portolan does not read`;
  throw new PipelineError('corrupt', what, { hint: 'build the image with a file in place of the link' });
}

/** Appends a file to the one that holds all files of the image. */
async function keepBody({ name, mode, body }: StreamedEntry, state: Unpacking): Promise<ImageEntry> {
  const offset = state.offset;
  for await (const chunk of body) {
    withFileErrors(state.path, () => {
      for (let at = 0; at < chunk.length; ) at += writeSync(state.file, chunk, at);
    });
    state.offset += chunk.length;
    const most = Math.max(FREE_FILE_BYTES, MOST_TIMES * state.compressed);
    if (state.offset - offset > most) {
      const limit = `${bytesText(FREE_FILE_BYTES)}, or ${MOST_TIMES} times the compressed layer`;
      throw tooLarge(`${JSON.stringify(name)} is larger`, 'per file', limit);
    }
  }
  return { kind: 'file', mode, size: state.offset - offset, offset };
}

/** The content of a file, read from where it was unpacked. */
function readAt({ file, path }: Unpacking, { offset, size }: ImageEntry): Uint8Array {
  const bytes = new Uint8Array(size);
  withFileErrors(path, () => {
    for (let at = 0; at < size; ) at += readSync(file, bytes, at, size - at, offset + at);
  });
  return bytes;
}

/** The bytes of an entry in the unpacked file, in pieces. */
function piecesAt({ file, path }: Unpacking, { offset, size }: ImageEntry): FilePieces {
  let at = 0;
  /** Fills the buffer, or takes the rest: one call of the system may read fewer. */
  const read = (buffer: Buffer): number => {
    const from = at;
    withFileErrors(path, () => {
      while (at < size && at - from < buffer.length)
        at += readSync(
          file,
          buffer,
          at - from,
          Math.min(buffer.length - (at - from), size - at),
          offset + at,
        );
    });
    return at - from;
  };
  return { size, pieces: piecesIn(read, size) };
}
