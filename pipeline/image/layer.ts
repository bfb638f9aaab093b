/**
 * Layers: files as a tar archive with nothing in it but names and content (times are 0,
 * modes and owners fixed), compressed, into a file of a scratch directory.
 */
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DIRECTORY_MODE, FILE_MODE, sizeOf, type TreePart } from '../../catalog/cache/layout.ts';
import { TAR_END, tarHeader, tarPadding } from '../../catalog/cache/tar.ts';
import { fileError } from '../directory.ts';
import type { BlobSource } from '../ports.ts';
import { type Codec, compressor } from './compress.ts';

/** What is known of a layer without its bytes. Sizes in bytes. */
export interface LayerFacts {
  /** Digest of the archive before compression. */
  readonly diffId: string;
  readonly digest: string;
  readonly size: number;
  readonly codec: Codec;
}

/** A layer in the making. */
export interface LayerSink {
  /** Adds a file or folder; its path is the one in the image, without a slash before it. */
  add(part: TreePart): Promise<void>;
  /** Closes the layer. Its bytes then stand in the scratch directory, under their digest. */
  finish(): Promise<LayerFacts>;
  /** Gives up and removes what was written. */
  abandon(): void;
}

/** Whom `opm generate dockerfile` and its users give the files to: any user of the root group can read them. */
const OWNER = { uid: 1001, gid: 0 };

/** Bytes that are collected before they are compressed. */
const CHUNK = 1 << 18;

/**
 * @param scratch an existing directory with room for the compressed layer
 * @throws PipelineError `io` when the directory cannot be written to or is full
 */
export async function openLayer(scratch: string, name: string, codec: Codec): Promise<LayerSink> {
  const temporary = join(scratch, `${name}.part`);
  const file = attempt(temporary, () => openSync(temporary, 'w'));
  const digest = createHash('sha256');
  const diffId = createHash('sha256');
  let size = 0;
  let open = true;
  const compress = await compressor(codec, (bytes) => {
    digest.update(bytes);
    size += bytes.length;
    attempt(temporary, () => writeWhole(file, bytes));
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
    const full = chunk.subarray(0, filled);
    diffId.update(full);
    await compress.write(full);
    [chunk, spare] = [spare, chunk];
    filled = 0;
  };
  const write = async (bytes: Uint8Array): Promise<void> => {
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + CHUNK - filled);
      chunk.set(piece, filled);
      filled += piece.length;
      at += piece.length;
      if (filled === CHUNK) await flush();
    }
  };
  return {
    async add({ path, kind, pieces }) {
      const size = sizeOf(pieces);
      const name = kind === 'file' ? path : `${path}/`;
      await write(
        tarHeader({ name, kind, mode: kind === 'file' ? FILE_MODE : DIRECTORY_MODE, size, ...OWNER }),
      );
      for (const piece of pieces) await write(piece);
      await write(new Uint8Array(tarPadding(size)));
    },
    async finish() {
      await write(TAR_END);
      await flush();
      await compress.end();
      close();
      const facts = {
        diffId: `sha256:${diffId.digest('hex')}`,
        digest: `sha256:${digest.digest('hex')}`,
        size,
        codec,
      };
      attempt(temporary, () => renameSync(temporary, layerFile(scratch, facts.digest)));
      return facts;
    },
    abandon() {
      close();
      rmSync(temporary, { force: true });
    },
  };
}

function writeWhole(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

function attempt<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw fileError(error, path);
  }
}

function layerFile(scratch: string, digest: string): string {
  return join(scratch, digest.replace(':', '-'));
}

/**
 * A layer as a blob. What is not in the scratch directory (any more) is made again: the
 * bytes follow from the catalog.
 */
export function layerBlob(scratch: string, facts: LayerFacts, make: () => Promise<void>): BlobSource {
  const path = layerFile(scratch, facts.digest);
  return {
    digest: facts.digest,
    size: facts.size,
    async *open(from) {
      try {
        yield* bytesOf(path, from);
        return;
      } catch (error) {
        if (!isMissing(error)) throw fileError(error, path);
      }
      await make();
      yield* bytesOf(path, from);
    },
  };
}

async function* bytesOf(path: string, from: number): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { start: from, highWaterMark: 1 << 18 });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
