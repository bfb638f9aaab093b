/** Manifests: what a reference names, the bytes of it, writing and removing. */

import { formatReference, type Reference } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { Descriptor, Manifest, PutManifestOptions } from '../../ports.ts';
import { algorithmOf, digestMismatch, digestOf, digestsContradict, isDigest } from '../digest.ts';
import type { Access } from './auth.ts';
import type { Endpoint, EndpointRequest } from './endpoint.ts';
import type { Answer } from './http/exchange.ts';
import type { Budget } from './http/retry.ts';
import { isManifestType, MANIFEST_TYPES, manifestType } from './image.ts';
import { contentType, failureOf, headerOf, readAll } from './response.ts';
import { streamOf } from './stream.ts';

const ACCEPT = { accept: MANIFEST_TYPES.join(', ') };

/** The digest or tag: the last part of the path. */
function nameOf(reference: Reference): string {
  return reference.kind === 'digest' ? reference.digest : reference.tag;
}

/** The parts that all requests for a manifest share. */
function manifestRequest(reference: Reference, actions: Access['actions']): Omit<EndpointRequest, 'method'> {
  return {
    to: `${reference.repository}/manifests/${nameOf(reference)}`,
    access: { repository: reference.repository, actions },
    what: manifestName(reference),
  };
}

/** A manifest and where it is, for messages. */
function manifestName(reference: Reference): string {
  return `the manifest ${formatReference(reference)}`;
}

/** What a reference names; undefined if nothing. HEAD answers in most cases; where it does not say all, GET does. */
export async function resolveManifest(
  endpoint: Endpoint,
  reference: Reference,
  limit: number,
): Promise<Descriptor | undefined> {
  const told = await endpoint.attempt(async (budget) => {
    const request = { ...manifestRequest(reference, 'pull'), method: 'HEAD', headers: ACCEPT } as const;
    const answer = await endpoint.ask(request, budget);
    await answer.discard();
    return answer.status === 200 ? descriptorInHead(answer, reference) : undefined;
  });
  if (told) return told;
  // Some registries answer HEAD with 404 or 403 for what GET would give.
  const manifest = await getManifest(endpoint, reference, limit);
  return manifest && { mediaType: manifest.mediaType, digest: manifest.digest, size: manifest.bytes.length };
}

/** The descriptor in the headers of a successful HEAD; undefined if they lack a part of it. */
function descriptorInHead(answer: Answer, reference: Reference): Descriptor | undefined {
  const digest = headerOf(answer, 'docker-content-digest');
  const length = headerOf(answer, 'content-length');
  const mediaType = contentType(answer);
  if (!isDigest(digest) || length === undefined || !/^\d+$/.test(length)) return undefined;
  if (!isManifestType(mediaType)) return undefined;
  if (reference.kind === 'digest') {
    if (digestsContradict(digest, reference.digest))
      throw digestMismatch(manifestName(reference), reference.digest, digest);
    // A digest of another algorithm: only the bytes can tell.
    if (digest !== reference.digest) return undefined;
  }
  return { mediaType, digest, size: Number(length) };
}

/**
 * Reads a manifest; undefined if there is none.
 *
 * @param limit bytes of it at most
 * @throws PipelineError `corrupt` if its digest is not that of the reference or of the registry
 */
export function getManifest(
  endpoint: Endpoint,
  reference: Reference,
  limit: number,
): Promise<Manifest | undefined> {
  const look = { ...manifestRequest(reference, 'pull'), isLook: true, headers: ACCEPT };
  const request = { ...look, method: 'GET' } as const;
  return endpoint.attempt(async (budget) => {
    const answer = await endpoint.ask(request, budget);
    if (answer.status === 404) {
      await answer.discard();
      return undefined;
    }
    if (answer.status !== 200) throw await failureOf(answer, request.what);
    return readManifest(answer, reference, limit);
  });
}

/**
 * The manifest in an answer, with the digest of its bytes.
 *
 * @throws PipelineError `corrupt` if that is not the one that was asked for or announced
 */
async function readManifest(answer: Answer, reference: Reference, limit: number): Promise<Manifest> {
  const announced = headerOf(answer, 'docker-content-digest');
  const bytes = await readAll(answer, limit, manifestName(reference));
  const trusted = isDigest(announced) ? announced : undefined;
  const expected = reference.kind === 'digest' ? reference.digest : trusted;
  const digest = digestOf(bytes, expected === undefined ? undefined : algorithmOf(expected));
  if (expected !== undefined && digest !== expected)
    throw digestMismatch(manifestName(reference), expected, digest);
  // Beside a digest in the reference, the registry may have announced another one.
  if (isDigest(announced) && digestsContradict(announced, digest))
    throw digestMismatch(manifestName(reference), announced, digest);
  return { mediaType: manifestType(bytes, contentType(answer)), digest, bytes };
}

/**
 * Writes a manifest.
 *
 * @returns the subject that the registry took note of, when it keeps referrers itself
 * @throws PipelineError `conflict` when the tag stands and may not move
 */
export function putManifest(
  endpoint: Endpoint,
  reference: Reference,
  manifest: Manifest,
  { within, again }: PutManifestOptions = {},
): Promise<string | undefined> {
  if (reference.kind === 'digest' && reference.digest !== manifest.digest) {
    return Promise.reject(digestMismatch(manifestName(reference), reference.digest, manifest.digest));
  }
  const { bytes, mediaType } = manifest;
  const request: EndpointRequest = {
    ...manifestRequest(reference, 'pull,push'),
    method: 'PUT',
    headers: { 'content-type': mediaType },
    body: {
      size: bytes.length,
      open: () => streamOf(bytes),
    },
  };
  const cut = cutOffAfter(within);
  let isUnderWay = false;
  return endpoint.attempt(async (budget) => {
    cut(budget);
    if (isUnderWay) again?.();
    isUnderWay = true;
    const answer = await endpoint.ask(request, budget).catch((error: unknown) => {
      // A registry that asks to come back later has not written the manifest: the next try is not a second one.
      if (error instanceof PipelineError && error.code === 'rate-limited') isUnderWay = false;
      throw error;
    });
    if (answer.status < 200 || answer.status > 299) {
      const error = await failureOf(answer, request.what);
      // A registry that misses content may have the same manifest without it: that one does not count as written.
      const isMissing = error.code === 'not-found' || /BLOB_UNKNOWN/.test(error.message);
      if (!isMissing && (await isStored(endpoint, reference, { manifest, budget }))) return undefined;
      throw error;
    }
    await answer.discard();
    const digest = headerOf(answer, 'docker-content-digest');
    if (isDigest(digest) && digestsContradict(digest, manifest.digest))
      throw digestMismatch(request.what, manifest.digest, digest);
    return headerOf(answer, 'oci-subject');
  });
}

/**
 * Makes a limit of time for the tries of one call.
 *
 * @param within milliseconds; no limit when undefined
 * @returns puts the limit on the call's budget; a second call for the same one changes nothing
 */
function cutOffAfter(within: number | undefined): (budget: Budget) => void {
  // The time runs from here on, over all tries; each budget keeps its own signal beside it.
  const cutOff = within === undefined ? undefined : AbortSignal.timeout(within);
  let signal: AbortSignal | undefined;
  return (budget) => {
    if (!cutOff || signal) return;
    signal = budget.signal ? AbortSignal.any([budget.signal, cutOff]) : cutOff;
    Object.assign(budget, { signal });
  };
}

/**
 * Whether a reference names a manifest already. Registries refuse to write an immutable tag even if it names the very same
 * manifest, and then there is nothing left to do.
 */
async function isStored(
  endpoint: Endpoint,
  reference: Reference,
  { manifest, budget }: { manifest: Manifest; budget: Budget },
): Promise<boolean> {
  // With the token of the write: no other one is asked for.
  const request = { ...manifestRequest(reference, 'pull,push'), method: 'HEAD', headers: ACCEPT } as const;
  const answer = await endpoint.ask(request, budget);
  await answer.discard();
  return answer.status === 200 && headerOf(answer, 'docker-content-digest') === manifest.digest;
}

/** Deletes a manifest or a tag. @returns false when there was none from the first try on */
export function deleteManifest(
  endpoint: Endpoint,
  reference: Reference,
  { within }: Pick<PutManifestOptions, 'within'> = {},
): Promise<boolean> {
  const request = { ...manifestRequest(reference, 'pull,push,delete'), method: 'DELETE' } as const;
  const cut = cutOffAfter(within);
  let tries = 0;
  return endpoint.attempt(async (budget) => {
    cut(budget);
    tries++;
    const answer = await endpoint.ask(request, budget);
    if (answer.status === 404) {
      await answer.discard();
      // A try whose answer was lost may have deleted it.
      return tries > 1;
    }
    if (answer.status < 200 || answer.status > 299)
      throw await refusedDelete(answer, reference, request.what);
    await answer.discard();
    return true;
  });
}

/** The error of a refused deletion, with a hint at what the registry does not support. */
async function refusedDelete(answer: Answer, reference: Reference, what: string): Promise<PipelineError> {
  const error = await failureOf(answer, `deleting ${what}`);
  // Registries that take every name for a digest find none in a tag.
  if (answer.status === 400 && reference.kind === 'tag') {
    return new PipelineError('denied', error.message, {
      hint: 'this registry deletes images, but no tags',
    });
  }
  if (answer.status !== 405) return error;
  return new PipelineError('denied', error.message, {
    hint: 'this registry does not support deletion through its API',
  });
}
