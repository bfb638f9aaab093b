/** Blobs on their way in: files that grow with every chunk until a digest closes them. */
import { createHash, type Hash, randomUUID } from 'node:crypto';
import { type FileHandle, rm } from 'node:fs/promises';
import { PipelineError } from '../../../error.ts';
import { algorithmOf, corrupt } from '../digest.ts';
import { type Blobs, writeAll } from '../layout/blobs.ts';
import { fileError } from '../layout/files.ts';

export interface Uploads {
  open(repository: string): Promise<Upload>;
  /** An upload of this repository that is under way. */
  find(repository: string, id: string): Upload | undefined;
  /** Ends all uploads and removes their files. */
  close(): Promise<void>;
}

export interface Upload {
  readonly id: string;
  /** Bytes so far. */
  size(): number;
  /** Adds bytes; what came before a break stays. Others wait for their turn. */
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
  readonly path: string;
  readonly handle: FileHandle;
  readonly hash: Hash;
  size: number;
  /** Work that must end before the next may begin. */
  tail: Promise<unknown>;
}

export function createUploads(blobs: Blobs): Uploads {
  const known = new Map<string, Upload & { readonly repository: string }>();
  const open = async (repository: string): Promise<Upload> => {
    const id = randomUUID();
    const { path, handle } = await blobs.temporary();
    const state: State = { path, handle, hash: createHash('sha256'), size: 0, tail: Promise.resolve() };
    const end = async (): Promise<void> => {
      known.delete(id);
      await handle.close();
      await rm(path, { force: true });
    };
    const upload = {
      id,
      repository,
      size: () => state.size,
      append: (bytes: AsyncIterable<Uint8Array>) => inTurn(state, () => append(state, bytes)),
      commit: (digest: string) => inTurn(state, () => commit(state, { blobs, digest }).finally(end)),
      cancel: () => inTurn(state, end),
    };
    known.set(id, upload);
    return upload;
  };
  return {
    open,
    find: (repository, id) => {
      const upload = known.get(id);
      return upload?.repository === repository ? upload : undefined;
    },
    close: async () => {
      for (const upload of [...known.values()]) await upload.cancel();
    },
  };
}

function inTurn<T>(state: State, work: () => Promise<T>): Promise<T> {
  const turn = state.tail.then(work);
  state.tail = turn.catch(() => undefined);
  return turn;
}

async function append(state: State, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of bytes) {
    try {
      await writeAll(state.handle, chunk);
    } catch (error) {
      throw fileError('cannot store the upload', error);
    }
    state.hash.update(chunk);
    state.size += chunk.length;
  }
}

async function commit(state: State, { blobs, digest }: { blobs: Blobs; digest: string }): Promise<void> {
  const found =
    algorithmOf(digest) === 'sha256' ? state.hash.copy() : await hashFile(state, algorithmOf(digest));
  const name = `${algorithmOf(digest)}:${found.digest('hex')}`;
  if (name !== digest) throw corrupt(digest, name);
  if ((await blobs.size(digest)) === state.size) return;
  try {
    await state.handle.sync();
  } catch (error) {
    throw fileError('cannot store the upload', error);
  }
  await blobs.adopt(state.path, digest);
}

async function hashFile(state: State, algorithm: string): Promise<Hash> {
  const hash = createHash(algorithm);
  const buffer = Buffer.allocUnsafe(256 * 1024);
  for (let at = 0; at < state.size; ) {
    const { bytesRead } = await state.handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) throw new PipelineError('io', 'the stored upload is incomplete');
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash;
}
