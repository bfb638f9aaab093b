/**
 * Pieces of layers: files of an archive that follow each other, compressed on their own, in a
 * file of a scratch directory. gzip and zstd both allow that compressed pieces stand one
 * behind the other, so a layer is put together from pieces that were made at other times.
 *
 * @see https://www.rfc-editor.org/rfc/rfc1952 section 2.2, https://www.rfc-editor.org/rfc/rfc8878 section 3
 */
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, existsSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DIRECTORY_MODE, FILE_MODE, sizeOf, type TreePart } from '../../../catalog/fbc/cache/layout.ts';
import { TAR_END, tarHeader, tarPadding } from '../../../catalog/fbc/cache/tar.ts';
import { fileError, withFileErrors } from '../../directory.ts';
import type { BlobSource } from '../../ports.ts';
import { type Codec, openCompressor } from './compress.ts';
import { decompressed } from './decompress.ts';

/** A piece without its bytes: the digest and the size, in bytes, of what it is compressed. */
export interface PieceFacts {
  readonly digest: string;
  readonly size: number;
}

/** Bytes of a file. */
export interface Extent {
  readonly path: string;
  readonly offset: number;
  readonly size: number;
}

/** A piece in the making. */
export interface PieceSink {
  /** Adds a file or folder; its path is the one in the image, without a slash before it. */
  add(part: TreePart): Promise<void>;
  /** Closes the piece. Its bytes then stand in the scratch directory, under their digest. */
  finish(): Promise<PieceFacts>;
  /** Gives up and removes what was written. */
  abandon(): void;
}

/** Owner of the files, as with `opm generate dockerfile`: any user of the root group can read them. */
const OWNER = { uid: 1001, gid: 0 };

/** Bytes that are collected before they are compressed. */
const CHUNK = 1 << 18;

/**
 * Opens a piece of a layer to be written.
 *
 * @param scratch an existing directory with room for the compressed piece
 * @param name of its file while it is made
 * @throws PipelineError `io` when the directory cannot be written to or is full
 */
export async function openPiece(scratch: string, name: string, codec: Codec): Promise<PieceSink> {
  const { write, finish, abandon } = await openFile(scratch, name, codec);
  return {
    async add({ path, kind, pieces }) {
      const size = sizeOf(pieces);
      const name = kind === 'file' ? path : `${path}/`;
      const mode = kind === 'file' ? FILE_MODE : DIRECTORY_MODE;
      await write(tarHeader({ name, kind, mode, size, ...OWNER }));
      for (const piece of pieces) await write(piece);
      await write(new Uint8Array(tarPadding(size)));
    },
    finish,
    abandon,
  };
}

/** The piece that every layer ends with. */
export async function endPiece(scratch: string, codec: Codec): Promise<PieceFacts> {
  const { write, finish } = await openFile(scratch, 'end', codec);
  await write(TAR_END);
  return finish();
}

/** Writes a compressed file whose name is its digest once it is finished. */
async function openFile(
  scratch: string,
  name: string,
  codec: Codec,
): Promise<Omit<PieceSink, 'add'> & { write(bytes: Uint8Array): Promise<void> }> {
  const temporary = join(scratch, `${name}.part`);
  const file = withFileErrors(temporary, () => openSync(temporary, 'w'));
  const digest = createHash('sha256');
  let size = 0;
  let open = true;
  const compress = await openCompressor(codec, (bytes) => {
    // What is still compressed when the piece is given up must not get into the next file that is opened.
    if (!open) return;
    digest.update(bytes);
    size += bytes.length;
    withFileErrors(temporary, () => writeWhole(file, bytes));
  });
  const close = (): void => {
    if (open) closeSync(file);
    open = false;
  };
  // One chunk is filled while the other is compressed.
  let chunk = new Uint8Array(CHUNK);
  let spare = new Uint8Array(CHUNK);
  let filled = 0;
  const flush = async (): Promise<void> => {
    await compress.write(chunk.subarray(0, filled));
    [chunk, spare] = [spare, chunk];
    filled = 0;
  };
  return {
    async write(bytes) {
      for (let at = 0; at < bytes.length; ) {
        const piece = bytes.subarray(at, at + CHUNK - filled);
        chunk.set(piece, filled);
        filled += piece.length;
        at += piece.length;
        if (filled === CHUNK) await flush();
      }
    },
    async finish() {
      await flush();
      await compress.end();
      close();
      const facts = { digest: `sha256:${digest.digest('hex')}`, size };
      withFileErrors(temporary, () => renameSync(temporary, scratchFile(scratch, facts.digest)));
      return facts;
    },
    abandon() {
      close();
      rmSync(temporary, { force: true });
    },
  };
}

/** Writes bytes where a file stands; one call of the system may write fewer than all. */
function writeWhole(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** The path of content in the scratch directory. */
export function scratchFile(scratch: string, digest: string): string {
  return join(scratch, digest.replace(':', '-'));
}

/** A piece that was made in this build; undefined for one that was not. */
export function finishedPiece(scratch: string, { digest, size }: PieceFacts): Extent | undefined {
  const path = scratchFile(scratch, digest);
  return existsSync(path) ? { path, offset: 0, size } : undefined;
}

/**
 * The bytes of extents, one behind the other, from an offset on.
 *
 * @throws PipelineError `io` or `not-found`
 */
export async function* readExtents(extents: readonly Extent[], from = 0): AsyncGenerator<Uint8Array> {
  let passed = 0;
  for (const { path, offset, size } of extents) {
    // How many bytes of this extent lie before the offset.
    const skipped = Math.max(0, from - passed);
    passed += size;
    if (skipped >= size) continue;
    try {
      const range = { start: offset + skipped, end: offset + size - 1, highWaterMark: CHUNK };
      yield* createReadStream(path, range);
    } catch (error) {
      throw fileError(error, path);
    }
  }
}

// Layers: pieces one behind the other, as a tar archive with nothing in it but names and
// content (times are 0, modes and owners fixed).

/** The description of a layer without its bytes. Sizes are in bytes. */
export interface LayerFacts {
  /** Digest of the archive before compression. */
  readonly diffId: string;
  readonly digest: string;
  readonly size: number;
  readonly codec: Codec;
}

/**
 * The digests and the size of the layer that pieces make. They are decompressed for `diffId`, the digest of the archive
 * before compression, which costs a fraction of making them.
 *
 * @throws PipelineError `io`, `corrupt` for pieces that are damaged
 */
export async function layerOf(pieces: readonly Extent[], codec: Codec): Promise<LayerFacts> {
  const digest = createHash('sha256');
  const diffId = createHash('sha256');
  let size = 0;
  const compressed = async function* (): AsyncGenerator<Uint8Array> {
    for await (const bytes of readExtents(pieces)) {
      digest.update(bytes);
      size += bytes.length;
      yield bytes;
    }
  };
  const archive = decompressed(compressed());
  for await (const bytes of archive) diffId.update(bytes);
  return {
    diffId: `sha256:${diffId.digest('hex')}`,
    digest: `sha256:${digest.digest('hex')}`,
    size,
    codec,
  };
}

/** A layer as a blob. @param pieces asked for them when the bytes are wanted: they follow from the catalog */
export function layerBlob(
  { digest, size }: LayerFacts,
  pieces: () => Promise<readonly Extent[]>,
): BlobSource {
  return {
    digest,
    size,
    async *open(from) {
      yield* readExtents(await pieces(), from);
    },
  };
}
