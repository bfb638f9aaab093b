/**
 * Uploads of blobs: nothing is sent that is there or that can be mounted from another
 * repository; small blobs go in one request, large ones in chunks, so that what breaks goes on.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pushing-blobs
 */
import { repositoryName } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { BlobOutcome, BlobSource, PutBlobOptions, Repository } from '../../ports.ts';
import { algorithmOf, checkedBytes, digestMismatch, digestsContradict, isDigest } from '../digest.ts';
import type { Access } from './auth.ts';
import { headBlob } from './blob.ts';
import {
  askProgress,
  bodyOf,
  CHUNK,
  READ_AHEAD,
  sendChunks,
  sentName,
  type Upload,
  uploadRefusal,
  uploadRequest,
} from './chunks.ts';
import type { Endpoint } from './endpoint.ts';
import type { Answer, RequestBody } from './http/exchange.ts';
import { failureOf, headerOf } from './response.ts';
import { allOf, readingOf } from './stream.ts';

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
  {
    mountFrom = [],
    chunk = CHUNK,
    absent = false,
    memory,
    uploads,
    gate = (_, sendBlob) => sendBlob(),
  }: PutBlobOptions = {},
): Promise<BlobOutcome> {
  // Below, what one try learns or begins stays for the next ones.
  /** Cancelled once it is known that the blob must be sent. */
  const abandoned = [...(uploads?.earlier ?? [])];
  // The likeliest one only: each further try would cost a request.
  let [mount] = mountFrom.filter((repository) => repository !== to.repository);
  let isAbsent = absent;
  /** Where an upload goes on that this run or an earlier one began. */
  let begun = memory?.location;
  let earlyBody: Promise<RequestBody> | undefined;
  const noting = memory && {
    ...memory,
    note: (location: string) => {
      begun = location;
      memory.note(location);
    },
  };
  const reading = readingOf(blob);
  const source: BlobSource = { ...blob, open: reading.open };
  const work = endpoint.attempt(async (budget) => {
    const upload: Upload = { endpoint, to, blob: source, chunk, budget, memory: noting, gate };
    const head = { digest: blob.digest, actions: 'pull,push', budget } as const;
    // If it is known that the blob must be sent, the source is read while the upload is opened.
    const mustSend = isAbsent && mount === undefined && begun === undefined;
    if (!isAbsent && (await headBlob(endpoint, to, head))) return 'present';
    // A request that broke off may have arrived all the same, so the next try asks.
    isAbsent = false;
    if (begun !== undefined && (await resumeUpload(upload, begun))) return 'uploaded';
    begun = undefined;
    for (const location of abandoned.splice(0)) await cancelEarlier(upload, location);
    const isOneRequest = blob.size <= Math.min(chunk, memory?.chunk ?? chunk);
    if (mustSend && isOneRequest) earlyBody ??= wholeBody(source, to);
    // If it fails, the next try reads anew. Without this handler, it would end the program before `sendAll` waits for it.
    earlyBody?.catch(() => {
      earlyBody = undefined;
    });
    const session = await openSession(upload, mount);
    if (session === 'mounted') return 'mounted';
    // A registry that did not mount the blob will not do so in the next try, either.
    mount = undefined;
    uploads?.begun(session.location.href);
    await sendAll(upload, session, earlyBody);
    return 'uploaded';
  });
  return work.finally(reading.close);
}

/** Deletes an upload that an earlier run opened; the address comes out of a file: it may lead to the registry only. */
async function cancelEarlier(upload: Upload, location: string): Promise<void> {
  const { base } = upload.endpoint;
  if (URL.canParse(location) && new URL(location).origin === base.origin)
    await cancelUpload(upload, new URL(location));
}

/** Continues an upload that an earlier try began. @returns false if the registry no longer knows it */
async function resumeUpload(upload: Upload, location: string): Promise<boolean> {
  const { endpoint, chunk, memory } = upload;
  // The address comes out of a file: it may lead to the registry only.
  if (!URL.canParse(location) || new URL(location).origin !== endpoint.base.origin) return false;
  const url = new URL(location);
  try {
    const progress = await askProgress(upload, url);
    // Nothing of it arrived, so there is nothing to go on with.
    if (progress.offset === 0) return await cancelUpload(upload, url);
    await commitUpload(upload, await sendChunks(upload, progress, memory?.chunk ?? chunk), undefined);
    return true;
  } catch (error) {
    // Errors of the way say nothing about the upload, which the next try goes on with.
    if (!(error instanceof PipelineError) || ['unreachable', 'rate-limited'].includes(error.code))
      throw error;
    return cancelUpload(upload, url);
  }
}

/**
 * Frees what a registry keeps of an upload that is not gone on with; it may know nothing of it any more.
 *
 * @returns false: the upload has not ended well
 */
async function cancelUpload(upload: Upload, location: URL): Promise<false> {
  const { endpoint, budget } = upload;
  const request = { ...uploadRequest(upload), method: 'DELETE', to: location } as const;
  try {
    await (await endpoint.ask(request, budget)).discard();
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
  }
  return false;
}

/** Opens an upload, or has the blob mounted from another repository. */
async function openSession(upload: Upload, mount: string | undefined): Promise<Session | 'mounted'> {
  const { endpoint, to, blob, budget } = upload;
  const path = `${to.repository}/blobs/uploads/`;
  const what = `the upload of ${blob.digest} to ${repositoryName(to)}`;
  const access: Access = { repository: to.repository, actions: 'pull,push' };
  const mounted = mount === undefined ? undefined : await openByMount(upload, mount);
  if (mounted !== undefined) return mounted;
  const algorithm = algorithmOf(blob.digest);
  const query = algorithm === 'sha256' ? '' : `?digest-algorithm=${algorithm}`;
  const answer = await endpoint.ask({ method: 'POST', to: path + query, access, what }, budget);
  if (answer.status !== 202) throw await failureOf(answer, what);
  await answer.discard();
  return sessionOf(endpoint, answer);
}

/**
 * Asks the registry to take a blob from another of its repositories.
 *
 * @returns `mounted`, or a session to upload it, or undefined if neither was given: the usual upload then follows
 */
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
    // For example, the token service gives no right to read the other repository.
    if (error instanceof PipelineError && !error.retryable) return undefined;
    throw error;
  }
}

/** The upload in a registry's answer. If the smallest chunk in it is not a number of bytes, chunks may have any size. */
function sessionOf(endpoint: Endpoint, answer: Answer): Session {
  const smallest = Number(headerOf(answer, 'oci-chunk-min-length') ?? 0);
  return {
    location: endpoint.follow(headerOf(answer, 'location'), answer.url),
    smallest: Number.isSafeInteger(smallest) && smallest > 0 ? smallest : 0,
  };
}

/**
 * Sends a blob: in one request if it is small enough, or in chunks.
 *
 * @param earlyBody its bytes, if they were asked for while the upload was being opened
 */
async function sendAll(
  upload: Upload,
  session: Session,
  earlyBody: Promise<RequestBody> | undefined,
): Promise<void> {
  const { blob, chunk, endpoint, memory } = upload;
  const isResumable =
    memory !== undefined && blob.size > memory.chunk && (await keepsBroken(upload, session));
  if (endpoint.quirks.monolithic || (blob.size <= chunk && !isResumable))
    return commitUpload(upload, session.location, await (earlyBody ?? wholeBody(blob, upload.to)));
  // `memory.chunk` is for an upload that another process may go on with; the registry's own least size counts over both.
  const size = Math.max(isResumable ? memory.chunk : chunk, session.smallest);
  const start = { location: session.location, offset: 0 };
  if (isResumable) memory.note(session.location.href);
  return commitUpload(upload, await sendChunks(upload, start, size), undefined);
}

/**
 * Whether an upload that broke off in a chunk can be gone on with. Version 2 of distribution signs into the address
 * (`_state`) how many bytes it has: after half a chunk, no address that was given fits any more. There one request is
 * better, which arrives in full even if whoever sent it is killed meanwhile.
 *
 * @see https://github.com/distribution/distribution/blob/v2.8.2/registry/handlers/blobupload.go
 */
function keepsBroken({ endpoint, budget, ...upload }: Upload, { location }: Session): Promise<boolean> {
  const isSigned = location.searchParams.has('_state');
  const ask = async (): Promise<boolean> => {
    // A registry that answers without the state does not depend on it.
    const unsigned = new URL(location);
    unsigned.search = '';
    const request = { ...uploadRequest(upload), method: 'GET', to: unsigned } as const;
    const answer = await endpoint.ask(request, budget);
    await answer.discard();
    return answer.status === 204;
  };
  endpoint.learnt.keepsBroken ??= isSigned ? ask().catch(() => false) : Promise.resolve(true);
  return endpoint.learnt.keepsBroken;
}

/** The blob, checked as it leaves: what a registry says about a wrong digest is then its own doing. */
async function wholeBody(blob: BlobSource, to: Repository): Promise<RequestBody> {
  const { size } = blob;
  const what = sentName(blob, to);
  const open = (): AsyncGenerator<Uint8Array> => checkedBytes(blob.open(0), blob, what);
  return size > READ_AHEAD ? { size, open } : bodyOf(await allOf(open()));
}

/** Closes an upload, with the bytes in the same request when there is a body. */
async function commitUpload(upload: Upload, location: URL, body: RequestBody | undefined): Promise<void> {
  const { endpoint, blob, budget, gate } = upload;
  // Appended, not set: the location's own query may be signed and must stay as it is spelt.
  const url = new URL(location);
  url.search += `${url.search === '' ? '?' : '&'}digest=${encodeURIComponent(blob.digest)}`;
  const request = { ...uploadRequest(upload), method: 'PUT', to: url, ...(body && { body }) } as const;
  const answer = await gate(body?.size ?? 0, () => endpoint.ask(request, budget));
  if (answer.status !== 201 && answer.status !== 204) throw await uploadRefusal(upload, answer);
  await answer.discard();
  const digest = headerOf(answer, 'docker-content-digest');
  if (isDigest(digest) && digestsContradict(digest, blob.digest))
    throw digestMismatch(request.what, blob.digest, digest);
}
