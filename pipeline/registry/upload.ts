/**
 * Uploads of blobs: nothing is sent that is there or that can be mounted from another
 * repository; small blobs go in one request, large ones in chunks, so that what breaks goes on.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pushing-blobs
 */
import { repositoryName } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import type { BlobOutcome, BlobSource, PutBlobOptions, Repository, UploadMemory } from '../ports.ts';
import { failure, header } from './answer.ts';
import type { Access } from './auth.ts';
import { headBlob } from './blob.ts';
import { algorithmOf, checked, contradicts, corrupt, isDigest } from './digest.ts';
import type { Endpoint } from './endpoint.ts';
import type { Answer, RequestBody } from './exchange.ts';
import type { Budget } from './retry.ts';
import { allOf, only, readingOf } from './stream.ts';

/** Bytes of a chunk, and the size up to which a blob goes in one request. */
export const CHUNK: number = 16 * 1024 * 1024;

interface Upload {
  readonly endpoint: Endpoint;
  readonly to: Repository;
  readonly blob: BlobSource;
  readonly chunk: number;
  readonly budget: Budget;
  readonly memory: UploadMemory | undefined;
  readonly gate: NonNullable<PutBlobOptions['gate']>;
}

/** An upload that the registry has opened. */
interface Session {
  readonly location: URL;
  /** Bytes that a chunk must have, the last one excepted; 0 for no such rule. */
  readonly smallest: number;
}

/**
 * Sees to it that a repository holds a blob.
 *
 * @throws PipelineError `corrupt` when the source's bytes are not those of its digest
 */
export function putBlob(
  endpoint: Endpoint,
  to: Repository,
  blob: BlobSource,
  { mountFrom = [], chunk = CHUNK, absent = false, memory, gate = (_, send) => send() }: PutBlobOptions = {},
): Promise<BlobOutcome> {
  let [mount] = mountFrom.filter((repository) => repository !== to.repository);
  let isAbsent = absent;
  let begun = memory?.location;
  const reading = readingOf(blob);
  const source: BlobSource = { ...blob, open: reading.open };
  const work = endpoint.attempt(async (budget) => {
    const upload: Upload = { endpoint, to, blob: source, chunk, budget, memory, gate };
    const head = { digest: blob.digest, actions: 'pull,push', budget } as const;
    if (!isAbsent && (await headBlob(endpoint, to, head))) return 'present';
    // What broke off may have arrived.
    isAbsent = false;
    const earlier = begun;
    begun = undefined;
    if (earlier !== undefined && (await goOn(upload, earlier))) return 'uploaded';
    const session = await open(upload, mount);
    if (session === 'mounted') return 'mounted';
    // A mount that came to nothing once does so again.
    mount = undefined;
    await send(upload, session);
    return 'uploaded';
  });
  return work.finally(reading.close);
}

/** Ends an upload that an earlier try began; false when the registry does not know it any more. */
async function goOn(upload: Upload, location: string): Promise<boolean> {
  const { endpoint, chunk } = upload;
  // The address comes out of a file: it may lead to the registry only.
  if (!URL.canParse(location) || new URL(location).origin !== endpoint.base.origin) return false;
  try {
    const known = await progress(upload, new URL(location));
    if (known.offset === 0) return false;
    await commit(upload, await sendChunks(upload, known, chunk), undefined);
    return true;
  } catch (error) {
    if (error instanceof PipelineError && !['unreachable', 'rate-limited'].includes(error.code)) return false;
    throw error;
  }
}

async function open(upload: Upload, mount: string | undefined): Promise<Session | 'mounted'> {
  const { endpoint, to, blob, budget } = upload;
  const path = `${to.repository}/blobs/uploads/`;
  const what = `the upload of ${blob.digest} to ${repositoryName(to)}`;
  const access: Access = { repository: to.repository, actions: 'pull,push' };
  const mounted = mount === undefined ? undefined : await openByMount(upload, mount);
  if (mounted !== undefined) return mounted;
  const algorithm = algorithmOf(blob.digest);
  const query = algorithm === 'sha256' ? '' : `?digest-algorithm=${algorithm}`;
  const answer = await endpoint.ask({ method: 'POST', to: path + query, access, what }, budget);
  if (answer.status !== 202) throw await failure(answer, what);
  await answer.discard();
  return sessionOf(endpoint, answer);
}

/** Undefined when the registry does not mount: there is always the plain way. */
async function openByMount(
  { endpoint, to, blob, budget }: Upload,
  from: string,
): Promise<Session | 'mounted' | undefined> {
  const query = new URLSearchParams({ mount: blob.digest, from });
  const access: Access = { repository: to.repository, actions: 'pull,push', from };
  const what = `the mount of ${blob.digest} from ${from}`;
  try {
    const path = `${to.repository}/blobs/uploads/?${query}`;
    const answer = await endpoint.ask({ method: 'POST', to: path, access, what }, budget);
    await answer.discard();
    if (answer.status === 201) return 'mounted';
    return answer.status === 202 ? sessionOf(endpoint, answer) : undefined;
  } catch (error) {
    // No token that may read the other repository, for one.
    if (error instanceof PipelineError && !error.retryable) return undefined;
    throw error;
  }
}

function sessionOf(endpoint: Endpoint, answer: Answer): Session {
  const smallest = Number(header(answer, 'oci-chunk-min-length') ?? 0);
  return {
    location: endpoint.follow(header(answer, 'location'), answer.url),
    smallest: Number.isSafeInteger(smallest) && smallest > 0 ? smallest : 0,
  };
}

async function send(upload: Upload, session: Session): Promise<void> {
  const { blob, chunk, endpoint } = upload;
  if (endpoint.quirks.monolithic || blob.size <= chunk)
    return commit(upload, session.location, await wholeBody(blob));
  const size = Math.max(chunk, session.smallest);
  const start = { location: session.location, offset: 0 };
  return commit(upload, await sendChunks(upload, start, size), undefined);
}

/**
 * Bytes up to which a body is read before its request begins: a kill then leaves a request that is
 * complete, or none. A registry that got half of a chunk gives the whole upload up.
 */
const READ_AHEAD = CHUNK;

/** The blob, checked as it leaves: what a registry says about a wrong digest is then its own doing. */
async function wholeBody(blob: BlobSource): Promise<RequestBody> {
  const { size } = blob;
  const open = (): AsyncGenerator<Uint8Array> => checked(blob.open(0), blob);
  return size > READ_AHEAD ? { size, open } : bodyOf(await allOf(open()));
}

function bodyOf(bytes: Uint8Array): RequestBody {
  return { size: bytes.length, open: () => only(bytes) };
}

/** Closes an upload, with the bytes in the same request when there is a body. */
async function commit(upload: Upload, location: URL, body: RequestBody | undefined): Promise<void> {
  const { endpoint, blob, budget, gate } = upload;
  // Appended, not set: the location's own query may be signed and must stay as it is spelt.
  const url = new URL(location);
  url.search += `${url.search === '' ? '?' : '&'}digest=${encodeURIComponent(blob.digest)}`;
  const request = { ...uploadRequest(upload), method: 'PUT', to: url, ...(body && { body }) } as const;
  const answer = await gate(body?.size ?? 0, () => endpoint.ask(request, budget));
  if (answer.status !== 201 && answer.status !== 204) throw await refusedUpload(upload, answer);
  await answer.discard();
  const digest = header(answer, 'docker-content-digest');
  if (isDigest(digest) && contradicts(digest, blob.digest)) throw corrupt(blob.digest, digest);
}

function uploadRequest({ to, blob }: Upload): {
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

/**
 * A registry that does not know the upload any more, or that got other bytes than left here,
 * may do better in a new upload.
 */
async function refusedUpload(upload: Upload, answer: Answer): Promise<PipelineError> {
  const error = await failure(answer, uploadRequest(upload).what);
  const changed = /DIGEST_INVALID|SIZE_INVALID/.test(error.message);
  if (changed) await readThrough(upload.blob);
  if (!changed && answer.status !== 404 && answer.status !== 416) return error;
  return new PipelineError(changed ? 'corrupt' : error.code, error.message, { retryable: true });
}

/** @throws PipelineError `corrupt` when it was the source that has other bytes */
async function readThrough(blob: BlobSource): Promise<void> {
  for await (const _ of checked(blob.open(0), blob));
}

/** Breaks in a row, without progress between them, after which an upload is begun anew. */
const BREAKS = 3;

/** Sends all chunks; after a break the registry is asked how far it got. */
async function sendChunks(upload: Upload, start: Progress, size: number): Promise<URL> {
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
      const known = await progress(upload, location);
      // Behind what was confirmed before: this upload has lost bytes.
      if (known.offset < offset) throw error;
      ({ location, offset } = known);
    }
    if (breaks > BREAKS) throw stuck(upload);
  }
  return location;
}

interface Progress {
  readonly location: URL;
  /** Bytes that the registry has. */
  readonly offset: number;
}

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
  if (answer.status !== 202 && answer.status !== 204) throw await refusedUpload(upload, answer);
  await answer.discard();
  return progressOf(upload, answer, end);
}

/** Asks how far an upload has got. */
async function progress(upload: Upload, location: URL): Promise<Progress> {
  const { endpoint, budget } = upload;
  const request = uploadRequest(upload);
  const answer = await endpoint.ask({ ...request, method: 'GET', to: location }, budget);
  if (answer.status !== 204) throw await unsaid(answer, request.what);
  await answer.discard();
  return progressOf(upload, answer, 0);
}

/** A registry that does not say how far it got takes the blob anew. */
async function unsaid(answer: Answer, what: string): Promise<PipelineError> {
  const { code, message, retryable } = await failure(answer, what);
  return new PipelineError(code, message, { retryable: retryable || answer.status < 500 });
}

function progressOf({ endpoint, blob }: Upload, answer: Answer, otherwise: number): Progress {
  const last = /^(?:bytes[= ])?0-(\d+)/.exec(header(answer, 'range') ?? '')?.[1];
  // `0-0` is said for no byte at all as well, and chunks are never of one byte.
  const offset = last === undefined ? otherwise : last === '0' ? 0 : Number(last) + 1;
  if (offset > blob.size) {
    throw new PipelineError('corrupt', `${endpoint.registry} has more of ${blob.digest} than was sent`, {
      retryable: true,
    });
  }
  return { location: endpoint.follow(header(answer, 'location') ?? answer.url.href, answer.url), offset };
}

function stuck({ endpoint, blob }: Upload): PipelineError {
  return new PipelineError('bad-answer', `${endpoint.registry} takes no more of ${blob.digest}`, {
    retryable: true,
  });
}

/** Bytes of a blob from an offset up to another one. */
async function* part(blob: BlobSource, offset: number, end: number): AsyncGenerator<Uint8Array> {
  let left = end - offset;
  for await (const chunk of blob.open(offset)) {
    yield chunk.length <= left ? chunk : chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}
