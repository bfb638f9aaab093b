/** Blobs on their way in: files that grow with every chunk until a digest closes them. */
import { createHash, type Hash, randomUUID } from 'node:crypto';
import { type FileHandle, rm } from 'node:fs/promises';
import { PipelineError } from '../../../error.ts';
import { algorithmOf, digestMismatch } from '../../digest.ts';
import { type Blobs, writeAll } from '../layout/blobs.ts';
import { fileError } from '../layout/files.ts';

export interface Uploads {
  open(repository: string): Upload;
  /** An upload of this repository that is under way. */
  find(repository: string, id: string): Upload | undefined;
  /** Ends all uploads and removes their files. */
  close(): Promise<void>;
}

export interface Upload {
  readonly id: string;
  /** Bytes so far. */
  size(): number;
  /**
   * Adds bytes; what came before a break stays. Others wait for their turn.
   *
   * @throws PipelineError `rate-limited` while too many uploads hold bytes
   */
  append(bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Makes it a blob.
   *
   * @throws PipelineError `corrupt` when the bytes have another digest; the upload is over then
   */
  commit(digest: string): Promise<void>;
  cancel(): Promise<void>;
}

interface State {
  /** From the first byte on: an upload that was only announced costs no file. */
  file: { readonly path: string; readonly handle: FileHandle } | undefined;
  /** SHA-256 of the bytes so far, as most digests are. */
  readonly hash: Hash;
  /** Bytes so far. */
  size: number;
  /** Work that must end before the next may begin. */
  tail: Promise<unknown>;
  /** Pieces of work that have not ended. */
  busy: number;
  /** When the last one ended, by the clock of `performance.now()`. */
  idleSince: number;
}

interface KnownUpload {
  readonly repository: string;
  readonly upload: Upload;
  readonly state: State;
}

/** Milliseconds without a request after which an upload is over. */
const EXPIRY = 3600_000;
/** Uploads under way at most. Those with bytes have an open file each. */
const MOST = { announced: 2000, withBytes: 512 };
/** Milliseconds without a request after which an upload makes room for another. */
const YIELDING = 60_000;

/** Uploads that have begun. If there are too many, those that were idle longest make room. */
export function createUploads(blobs: Blobs): Uploads {
  /** The one that was used last comes last. */
  const uploads = new Map<string, KnownUpload>();
  const open = (repository: string): Upload => {
    makeRoom([...uploads.values()]);
    const id = randomUUID();
    const state: State = {
      file: undefined,
      hash: createHash('sha256'),
      size: 0,
      tail: Promise.resolve(),
      busy: 0,
      idleSince: performance.now(),
    };
    const end = async (): Promise<void> => {
      uploads.delete(id);
      await state.file?.handle.close();
      if (state.file) await rm(state.file.path, { force: true });
    };
    const upload = {
      id,
      size: () => state.size,
      append: (bytes: AsyncIterable<Uint8Array>) =>
        inTurn(state, () => {
          if (state.file === undefined) makeRoomForBytes([...uploads.values()]);
          return append(state, bytes, blobs);
        }),
      commit: (digest: string) => inTurn(state, () => commit(state, { blobs, digest }).finally(end)),
      cancel: () => inTurn(state, end),
    };
    uploads.set(id, { repository, upload, state });
    return upload;
  };
  return {
    open,
    find: (repository, id) => {
      const found = uploads.get(id);
      if (found?.repository !== repository) return undefined;
      // It moves to the end: it is the one that was used last.
      uploads.delete(id);
      uploads.set(id, found);
      return found.upload;
    },
    close: async () => {
      for (const { upload } of [...uploads.values()]) await upload.cancel();
    },
  };
}

/** Ends abandoned uploads and, if there are too many without bytes, the oldest of these. */
function makeRoom(uploads: readonly KnownUpload[]): void {
  const now = performance.now();
  const idle = uploads.filter(({ state }) => state.busy === 0);
  const over = new Set(idle.filter(({ state }) => now - state.idleSince > EXPIRY));
  const empty = idle.filter(({ state }) => state.file === undefined);
  // As many as there would be too many with the one that is opened now; the first ones were used longest ago.
  for (const one of empty.slice(0, Math.max(0, uploads.length + 1 - MOST.announced))) over.add(one);
  for (const { upload } of over) void upload.cancel().catch(() => undefined);
}

/**
 * Ends the upload that has waited longest where too many hold bytes.
 *
 * @throws PipelineError `rate-limited` when none has waited long
 */
function makeRoomForBytes(uploads: readonly KnownUpload[]): void {
  const holding = uploads.filter(({ state }) => state.file !== undefined);
  if (holding.length < MOST.withBytes) return;
  const now = performance.now();
  // The first that may go was used longest ago: `uploads` are in that order.
  const oldest = holding.find(({ state }) => state.busy === 0 && now - state.idleSince > YIELDING);
  if (oldest === undefined)
    throw new PipelineError('rate-limited', `${holding.length} uploads are under way`, { retryable: true });
  void oldest.upload.cancel().catch(() => undefined);
}

/**
 * Does work on an upload when the work before has ended: two requests must not write into one file at a time.
 */
function inTurn<T>(state: State, work: () => Promise<T>): Promise<T> {
  state.busy++;
  const turn = state.tail.then(work).finally(() => {
    state.busy--;
    state.idleSince = performance.now();
  });
  state.tail = turn.catch(() => undefined);
  return turn;
}

/** Writes bytes to an upload's file. What came before a break stays: its client goes on from there. */
async function append(state: State, bytes: AsyncIterable<Uint8Array>, blobs: Blobs): Promise<void> {
  for await (const chunk of bytes) {
    state.file ??= await blobs.temporary();
    try {
      await writeAll(state.file.handle, chunk, state.size);
    } catch (error) {
      throw fileError('cannot store the upload', error);
    }
    state.hash.update(chunk);
    state.size += chunk.length;
  }
}

/** Ends an upload: its bytes become a blob. @throws PipelineError if they do not have the digest */
async function commit(state: State, { blobs, digest }: { blobs: Blobs; digest: string }): Promise<void> {
  state.file ??= await blobs.temporary();
  const { handle, path } = state.file;
  const found =
    algorithmOf(digest) === 'sha256'
      ? state.hash.copy()
      : await hashFile(handle, state.size, algorithmOf(digest));
  const name = `${algorithmOf(digest)}:${found.digest('hex')}`;
  if (name !== digest) throw digestMismatch('the upload', digest, name);
  // The blob is there already: the upload's file is not needed, and its end removes it.
  if ((await blobs.size(digest)) === state.size) return blobs.touch(digest);
  try {
    // A chunk that failed in part may have left bytes behind those that count.
    await handle.truncate(state.size);
    await handle.sync();
  } catch (error) {
    throw fileError('cannot store the upload', error);
  }
  await blobs.adopt(path, digest);
}

/**
 * The hash of what was stored, for a digest of another algorithm than the one that is computed while bytes
 * arrive.
 */
async function hashFile(handle: FileHandle, size: number, algorithm: string): Promise<Hash> {
  const hash = createHash(algorithm);
  const buffer = Buffer.allocUnsafe(256 * 1024);
  for (let at = 0; at < size; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) throw new PipelineError('io', 'the stored upload is incomplete');
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash;
}
