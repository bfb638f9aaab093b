/**
 * Blobs on their way into a mirror: each is sent once to a registry and mounted from there
 * into the other repositories that need it. How much is on its way at a time is limited,
 * because a kill loses just that.
 */
import { repositoryName } from '../../catalog/reference.ts';
import { createAllowance } from '../parallel.ts';
import type { BlobOutcome, BlobSource, PutBlobOptions, Registry, Repository } from '../ports.ts';
import type { CopyMemory } from './copy-memory.ts';
import { untilSound } from './until-sound.ts';

/** Brings blobs into repositories. */
export interface BlobMover {
  /** @throws PipelineError what source and destination answer */
  move(blob: BlobSource, to: Repository, hints: MoveHints): Promise<BlobOutcome>;
  /** Told how much there is to send in all, in bytes: how much a kill may lose follows from it. */
  expect(bytes: number): void;
}

/** What is known of the destination: each saves a request. */
export interface MoveHints {
  /** The repository is new: nothing is in it that was not put there now. */
  readonly isNew: boolean;
  /** A repository of the same registry that has the blob. */
  readonly beside: string | undefined;
  /** Asks the registry even for what came before. */
  readonly doubted?: boolean;
}

const MIB = 1024 * 1024;
/** The share of all bytes that may be on their way at a time, so that twenty kills lose less than a tenth. */
const SHARE_LEAVING = 1 / 200;
/** Bytes that may be on their way, whatever the share of a small or a large copy is. */
const LEAST_LEAVING = 192 * 1024;
const MOST_LEAVING = 32 * MIB;
/** Bytes of a body that the kernel takes at once: it arrives also when whoever sent it is killed the next moment. */
const AT_ONCE = 32 * 1024;
/** Bytes that are read ahead: a body begins to leave when all of it is here, as far as it is not larger. */
const AHEAD = 64 * MIB;
/** Bytes of an upload's chunk at most. */
const CHUNK = 16 * MIB;
/** A chunk at least, where the registry goes on with what broke: what is smaller is not worth a request more. */
const LEAST_CHUNK = MIB;

/** Told of what leaves. */
interface Watcher {
  /** Bytes of a blob have left, up to an offset. */
  sent(digest: string, upTo: number): void;
  /** An upload has ended, well or not, in which so many bytes left; what was there before is not among them. */
  bytesSent(bytes: number): void;
}

/** Moves blobs to a registry. Each is sent to a registry once, and mounted from there into other repositories. */
export function createBlobMover(
  registry: Pick<Registry, 'putBlob'>,
  memory: CopyMemory,
  watcher: Watcher,
): BlobMover {
  const leaving = createAllowance(LEAST_LEAVING);
  const ahead = createAllowance(AHEAD);
  // Bytes of a chunk of an upload that goes on after a kill, if the registry can; a smaller blob begins anew.
  let resumed = CHUNK;
  /** By registry and digest: which repositories have it, or are about to. */
  const places = new Map<string, Map<string, Promise<BlobOutcome>>>();
  const put = (blob: BlobSource, to: Repository, options: PutBlobOptions): Promise<BlobOutcome> => {
    const key = `${repositoryName(to)}@${blob.digest}`;
    const memo = blob.size > resumed ? memory.upload(key, resumed) : undefined;
    // A body that arrives at once leaves no open upload behind.
    const uploads = blob.size > AT_ONCE ? memory.uploads(key) : undefined;
    const { source, bytesRead } = watchedBlob(blob, watcher);
    const putting: PutBlobOptions = {
      ...options,
      chunk: CHUNK,
      gate: (bytes, send) => (bytes <= AT_ONCE ? send() : leaving.within(bytes, send)),
      ...(memo && { memory: memo }),
      ...(uploads && { uploads }),
    };
    return ahead.within(Math.min(blob.size, CHUNK), () =>
      untilSound(() => registry.putBlob(to, source, putting)).then(
        (outcome) => {
          if (outcome === 'uploaded') watcher.bytesSent(bytesRead());
          return outcome;
        },
        (error: unknown) => {
          watcher.bytesSent(bytesRead());
          throw error;
        },
      ),
    );
  };
  /** Mounts the blob from where it is on the registry, else sends it. */
  const bring = async (
    blob: BlobSource,
    to: Repository,
    { isNew, beside, moves }: MoveHints & { readonly moves: ReadonlyMap<string, Promise<BlobOutcome>> },
  ): Promise<BlobOutcome> => {
    // Waits for a move of the same blob to another repository: a mount is cheaper than to send it twice.
    const near = (await firstOf(moves)) ?? beside;
    // The repository itself is not another one to mount from: it is asked whether it has the blob.
    const holder = near === to.repository ? undefined : near;
    const mountFrom = holder === undefined ? {} : { mountFrom: [holder] };
    return put(blob, to, { ...mountFrom, ...(isNew || holder !== undefined ? { absent: true } : {}) });
  };
  return {
    move: (blob, to, hints) => {
      const key = `${to.registry} ${blob.digest}`;
      const moves = places.get(key) ?? new Map<string, Promise<BlobOutcome>>();
      places.set(key, moves);
      const earlier = moves.get(to.repository);
      // Another image of the same repository needs the blob, too: it waits for that move.
      if (earlier && !hints.doubted) return earlier.then(() => 'present');
      // A copy of the moves: this one is entered below, and must not wait for itself.
      const coming = bring(blob, to, { ...hints, moves: new Map(hints.doubted ? [] : moves) });
      moves.set(to.repository, coming);
      // A later image that needs the blob tries again.
      coming.catch(() => moves.delete(to.repository));
      return coming;
    },
    expect: (bytes) => {
      const part = Math.round(bytes * SHARE_LEAVING);
      leaving.resize(Math.min(MOST_LEAVING, Math.max(LEAST_LEAVING, part)));
      resumed = Math.min(CHUNK, Math.max(LEAST_CHUNK, part));
    },
  };
}

/** The first repository that has the blob, once it has it; those that fail are passed over. */
async function firstOf(moves: ReadonlyMap<string, Promise<BlobOutcome>>): Promise<string | undefined> {
  for (const [repository, coming] of moves) {
    const came = await coming.then(
      () => true,
      () => false,
    );
    if (came) return repository;
  }
  return undefined;
}

/** A blob that tells the watcher how far it has left, and how many of its bytes were read, each counted once. */
function watchedBlob(
  blob: BlobSource,
  watcher: Watcher,
): { readonly source: BlobSource; readonly bytesRead: () => number } {
  const read = { bytes: 0, upTo: 0 };
  const open = (from: number): AsyncIterable<Uint8Array> =>
    watch(blob, from, (upTo) => {
      // What is read again after a break was sent before, or is skipped.
      if (upTo > read.upTo) read.bytes += upTo - Math.max(read.upTo, from);
      read.upTo = Math.max(read.upTo, upTo);
      watcher.sent(blob.digest, upTo);
    });
  return { source: { ...blob, open }, bytesRead: () => read.bytes };
}

/**
 * A blob's bytes from an offset on. It tells up to where they were taken, once the next ones are asked for.
 */
async function* watch(
  blob: BlobSource,
  from: number,
  sent: (upTo: number) => void,
): AsyncGenerator<Uint8Array> {
  let at = from;
  for await (const chunk of blob.open(from)) {
    at += chunk.length;
    yield chunk;
    sent(at);
  }
}
