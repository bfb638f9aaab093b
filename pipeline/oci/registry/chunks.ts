/**
 * Uploads in chunks: a broken upload continues at the offset that the registry reports.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pushing-a-blob-in-chunks
 */
import { repositoryName } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { BlobSource, PutBlobOptions, Repository, UploadMemory } from '../../ports.ts';
import { checkedBytes } from '../digest.ts';
import type { Access } from './auth.ts';
import type { Endpoint } from './endpoint.ts';
import type { Answer, RequestBody } from './http/exchange.ts';
import type { Budget } from './http/retry.ts';
import { failureOf, headerOf } from './response.ts';
import { allOf, streamOf } from './stream.ts';

/** Bytes of a chunk, and the size up to which a blob goes in one request. */
export const CHUNK: number = 16 * 1024 * 1024;

/** One blob on its way into a repository. */
export interface Upload {
  readonly endpoint: Endpoint;
  readonly to: Repository;
  readonly blob: BlobSource;
  /** As in `PutBlobOptions`, like `memory` and `gate`. */
  readonly chunk: number;
  /** Of this try and those after it. */
  readonly budget: Budget;
  readonly memory: UploadMemory | undefined;
  readonly gate: NonNullable<PutBlobOptions['gate']>;
}

/**
 * Bytes up to which a body is read before its request begins: a kill then leaves a request that is
 * complete, or none. A registry that got half of a chunk gives the whole upload up.
 */
export const READ_AHEAD: number = CHUNK;

/** Bytes in memory as the body of a request, which can be sent again. */
export function bodyOf(bytes: Uint8Array): RequestBody {
  return { size: bytes.length, open: () => streamOf(bytes) };
}

/** Breaks in a row, without progress between them, after which an upload is begun anew. */
const BREAKS = 3;

/**
 * Sends all chunks; after a break the registry is asked how far it got.
 *
 * @param size bytes of a chunk; the last one may have fewer
 * @returns where the upload is to be closed
 * @throws PipelineError after {@link BREAKS} breaks in a row, or when the registry has lost bytes
 */
export async function sendChunks(upload: Upload, start: Progress, size: number): Promise<URL> {
  const { blob, memory } = upload;
  let { location, offset } = start;
  for (let breaks = 0; offset < blob.size; ) {
    const end = Math.min(offset + size, blob.size);
    try {
      const next = await sendChunk(upload, location, { offset, end });
      if (next.offset > offset) breaks = 0;
      else breaks++;
      ({ location, offset } = next);
      memory?.note(location.href);
    } catch (error) {
      if (!(error instanceof PipelineError) || !error.retryable || ++breaks > BREAKS) throw error;
      const progress = await askProgress(upload, location);
      // Behind what was confirmed before: this upload has lost bytes.
      if (progress.offset < offset) throw error;
      ({ location, offset } = progress);
    }
    if (breaks > BREAKS) throw stuckUpload(upload);
  }
  return location;
}

/** How far an upload has got. */
interface Progress {
  readonly location: URL;
  /** Bytes that the registry has. */
  readonly offset: number;
}

/** Sends one chunk. @returns how far the registry has got */
async function sendChunk(
  upload: Upload,
  location: URL,
  { offset, end }: { readonly offset: number; readonly end: number },
): Promise<Progress> {
  const { endpoint, budget, blob, gate } = upload;
  const request = uploadRequest(upload);
  const bytes = { size: end - offset, open: () => part(blob, offset, end) };
  const body = bytes.size > READ_AHEAD ? bytes : bodyOf(await allOf(bytes.open()));
  const headers = { ...request.headers, 'content-range': `${offset}-${end - 1}` };
  const answer = await gate(body.size, () =>
    endpoint.ask({ ...request, method: 'PATCH', to: location, headers, body }, budget),
  );
  if (answer.status !== 202 && answer.status !== 204) throw await uploadRefusal(upload, answer);
  await answer.discard();
  return progressOf(upload, answer, end);
}

/** Asks how far an upload has got. */
export async function askProgress(upload: Upload, location: URL): Promise<Progress> {
  const { endpoint, budget } = upload;
  const request = uploadRequest(upload);
  const answer = await endpoint.ask({ ...request, method: 'GET', to: location }, budget);
  if (answer.status !== 204) throw await unknownProgress(answer, request.what);
  await answer.discard();
  return progressOf(upload, answer, 0);
}

/** The error of a registry that does not report its progress. Retryable below 500, too: the next try begins a new upload. */
async function unknownProgress(answer: Answer, what: string): Promise<PipelineError> {
  const { code, message, retryable } = await failureOf(answer, what);
  return new PipelineError(code, message, { retryable: retryable || answer.status < 500 });
}

/** The next offset and location of an upload. @param assumed the offset if the registry reports none */
function progressOf({ endpoint, blob }: Upload, answer: Answer, assumed: number): Progress {
  // `0-1023`, which some registries write as `bytes=0-1023` or `bytes 0-1023`.
  const last = /^(?:bytes[= ])?0-(\d+)/.exec(headerOf(answer, 'range') ?? '')?.[1];
  // Registries also report `0-0` if they have no bytes. The first chunk never has a single byte, so this means none.
  const reported = last === '0' ? 0 : Number(last) + 1;
  const offset = last === undefined ? assumed : reported;
  if (offset > blob.size) {
    throw new PipelineError(
      'corrupt',
      `${endpoint.registry} reports more bytes of ${blob.digest} than were sent`,
      {
        retryable: true,
      },
    );
  }
  return { location: endpoint.follow(headerOf(answer, 'location') ?? answer.url.href, answer.url), offset };
}

/** The error for a registry that takes chunks and gets no further. */
function stuckUpload({ endpoint, blob }: Upload): PipelineError {
  return new PipelineError('bad-answer', `${endpoint.registry} stopped accepting ${blob.digest}`, {
    retryable: true,
  });
}

/** Bytes of a blob from an offset up to another one. */
async function* part(blob: BlobSource, offset: number, end: number): AsyncGenerator<Uint8Array> {
  let rest = end - offset;
  for await (const chunk of blob.open(offset)) {
    yield chunk.length <= rest ? chunk : chunk.subarray(0, rest);
    rest -= chunk.length;
    if (rest <= 0) return;
  }
}

/** The parts that all requests of an upload share. */
export function uploadRequest({ to, blob }: Pick<Upload, 'to' | 'blob'>): {
  access: Access;
  headers: Record<string, string>;
  what: string;
} {
  return {
    access: { repository: to.repository, actions: 'pull,push' },
    headers: { 'content-type': 'application/octet-stream' },
    what: `the upload of ${blob.digest} to ${repositoryName(to)}`,
  };
}

/** The blob and its destination, for messages about the source's bytes. */
export function sentName({ digest }: BlobSource, to: Repository): string {
  return `the blob ${digest} for ${repositoryName(to)}`;
}

/**
 * The error of a registry that refused an upload. It may be retried in a new upload if the registry got other bytes than were
 * sent, does not know this upload any more (404), or expects another range of it (416).
 *
 * @throws PipelineError `corrupt` if the source itself has other bytes: then a new upload cannot help
 */
export async function uploadRefusal(upload: Upload, answer: Answer): Promise<PipelineError> {
  const error = await failureOf(answer, uploadRequest(upload).what);
  const hasOtherBytes = /DIGEST_INVALID|SIZE_INVALID/.test(error.message);
  if (hasOtherBytes) await verifySource(upload);
  if (!hasOtherBytes && answer.status !== 404 && answer.status !== 416) return error;
  return new PipelineError(hasOtherBytes ? 'corrupt' : error.code, error.message, { retryable: true });
}

/**
 * Reads a blob to its end, to find out whether its bytes are right.
 *
 * @throws PipelineError `corrupt` when it was the source that has other bytes
 */
async function verifySource({ blob, to }: Upload): Promise<void> {
  for await (const _ of checkedBytes(blob.open(0), blob, sentName(blob, to)));
}
