/** Blobs: whether they are there, and their bytes. */

import { repositoryName } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { Descriptor, Repository } from '../../ports.ts';
import { checkedBytes, digestMismatch, digestsContradict, isDigest } from '../digest.ts';
import type { Access } from './auth.ts';
import type { Endpoint, EndpointRequest } from './endpoint.ts';
import type { Answer } from './http/exchange.ts';
import type { Budget } from './http/retry.ts';
import { failureOf, headerOf } from './response.ts';
import { withoutFirstBytes } from './stream.ts';

type Blob = Pick<Descriptor, 'digest' | 'size'>;

/** The parts that all requests for a blob share. */
function blobRequest(
  repository: Repository,
  digest: string,
  actions: Access['actions'],
): Omit<EndpointRequest, 'method'> {
  return {
    to: `${repository.repository}/blobs/${digest}`,
    access: { repository: repository.repository, actions },
    what: blobName(repository, digest),
  };
}

/** A blob and where it is, for messages. */
function blobName(repository: Repository, digest: string): string {
  return `the blob ${digest} of ${repositoryName(repository)}`;
}

/**
 * Whether a repository has a blob. If HEAD does not confirm it, a GET of one byte decides: HEAD may lack the size, or fail.
 *
 * @throws PipelineError `corrupt` if the blob has another size than the given one
 */
export function hasBlob(
  endpoint: Endpoint,
  of: Repository,
  { digest, size }: Pick<Blob, 'digest'> & Partial<Blob>,
): Promise<boolean> {
  const request = {
    ...blobRequest(of, digest, 'pull'),
    method: 'GET',
    headers: { range: 'bytes=0-0' },
  } as const;
  return endpoint.attempt(async (budget) => {
    if (await headBlob(endpoint, of, { digest, size, actions: 'pull', budget })) return true;
    const answer = await endpoint.ask(request, budget);
    // 416: an empty blob has no first byte.
    const there = [200, 206, 416].includes(answer.status);
    if (!there && answer.status !== 404) throw await failureOf(answer, request.what);
    await answer.discard();
    const found = there ? wholeSize(answer) : undefined;
    if (size !== undefined && found !== undefined && found !== size)
      throw new PipelineError('corrupt', `${request.what} has ${found} bytes, expected ${size}`);
    return there;
  });
}

/** How many bytes the whole blob has, as an answer to a GET of a part of it says; undefined if it does not. */
function wholeSize(answer: Answer): number | undefined {
  // `bytes 0-0/SIZE`; `*` stands for a size that the registry does not know.
  const range = headerOf(answer, 'content-range');
  const said = answer.status === 200 ? headerOf(answer, 'content-length') : range?.split('/')[1];
  return said !== undefined && /^\d+$/.test(said) ? Number(said) : undefined;
}

/** Whether HEAD confirms the blob, and its size if one is given; false for all other replies. */
export async function headBlob(
  endpoint: Endpoint,
  of: Repository,
  {
    digest,
    size,
    actions,
    budget,
  }: { digest: string; size?: number | undefined; actions: Access['actions']; budget: Budget },
): Promise<boolean> {
  const answer = await endpoint.ask({ ...blobRequest(of, digest, actions), method: 'HEAD' }, budget);
  await answer.discard();
  const hasSize = size === undefined || headerOf(answer, 'content-length') === String(size);
  return answer.status === 200 && hasSize;
}

/** The bytes of a blob, checked at the end; a broken download goes on where it broke. */
export function getBlob(
  endpoint: Endpoint,
  of: Repository,
  blob: Blob,
): AsyncGenerator<Uint8Array, void, undefined> {
  return checkedBytes(resumedBytes(endpoint, of, blob), blob, blobName(of, blob.digest));
}

/** Bytes up to which a blob is read at once: a stream and its timers would take longer than a body of one piece. */
const SMALL = 64 * 1024;

/** Breaks in a row, without a byte between them, after which a download is given up; and breaks at all. */
const BREAKS = 4;
const MOST_BREAKS = 50;

/** The bytes of a blob. A broken download continues where it ended, a limited number of times. */
async function* resumedBytes(endpoint: Endpoint, of: Repository, blob: Blob): AsyncGenerator<Uint8Array> {
  let offset = 0;
  for (let breaks = 0, tries = 1; ; tries++) {
    try {
      for await (const chunk of bytesFrom(endpoint, of, { ...blob, offset })) {
        offset += chunk.length;
        breaks = 0;
        yield chunk;
      }
      if (offset >= blob.size) return;
      throw new PipelineError('unreachable', `${endpoint.registry} sent an incomplete blob ${blob.digest}`, {
        retryable: true,
      });
    } catch (error) {
      if (!(error instanceof PipelineError) || !error.retryable) throw error;
      // Behind the last byte there is nothing to ask for. An empty blob was not there at all.
      if (offset > 0 && offset === blob.size) return;
      // Bytes in between reset the first count; the second one ends a download that only trickles.
      if (++breaks > BREAKS || tries > MOST_BREAKS) throw error;
    }
  }
}

/** The bytes from an offset on, as far as they come. */
async function* bytesFrom(
  endpoint: Endpoint,
  of: Repository,
  { digest, size, offset }: Blob & { readonly offset: number },
): AsyncGenerator<Uint8Array> {
  const request: EndpointRequest = {
    ...blobRequest(of, digest, 'pull'),
    method: 'GET',
    headers: offset === 0 ? {} : { range: `bytes=${offset}-` },
  };
  const answer = await endpoint.attempt(async (budget) => {
    const got = await endpoint.ask(request, budget);
    if (got.status === 200 || (got.status === 206 && offset > 0)) return got;
    throw await failureOf(got, request.what);
  });
  const skip = await checkHead(answer, { digest, size, offset }, request.what);
  if (size > SMALL) return yield* withoutFirstBytes(answer.body, skip);
  const { bytes, error } = await answer.whole(size);
  if (bytes.length > skip) yield bytes.subarray(skip);
  if (error) throw error;
}

/**
 * Checks the head of a response with a blob, or the rest of one.
 *
 * @returns how many bytes to pass over, when the whole blob came instead of the rest
 */
async function checkHead(
  answer: Answer,
  { digest, size, offset }: Blob & { offset: number },
  what: string,
): Promise<number> {
  const said = headerOf(answer, 'docker-content-digest');
  const length = headerOf(answer, 'content-length');
  const rest = answer.status === 206 ? size - offset : size;
  const start = /^bytes (\d+)-/.exec(headerOf(answer, 'content-range') ?? '')?.[1];
  let error: PipelineError | undefined;
  if (isDigest(said) && digestsContradict(said, digest)) error = digestMismatch(what, digest, said);
  else if (length !== undefined && Number(length) !== rest) {
    error = new PipelineError('corrupt', `${what} has ${Number(length)} bytes, expected ${rest}`);
  } else if (answer.status === 206 && start !== String(offset)) {
    error = new PipelineError('bad-answer', `${what} continues at another offset than requested`);
  }
  if (error === undefined) return answer.status === 206 ? 0 : offset;
  await answer.discard();
  throw error;
}
