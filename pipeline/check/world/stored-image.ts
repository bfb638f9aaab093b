/** What follows from an index image, kept by its digest: an image that is known takes one request, for its tag's digest. */
import type { Loaded } from '../../../catalog/fbc/load.ts';
import type { Blobs } from '../../../catalog/fbc/model.ts';
import { formatReference, withDigest } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import { contentKey, type Store } from '../../oci/image/build-cache.ts';
import { writtenReference } from '../../oci/registry/image-location.ts';
import type { Registry } from '../../ports.ts';

export interface ImagePorts {
  readonly registry: Registry;
  /** Keeps what images have, by their digests. */
  readonly store?: Store | undefined;
}

interface Derived<T> {
  /** Names what is kept: two kinds may be kept of one image. */
  readonly kind: string;
  /** Reads what was kept; undefined for what is not whole. */
  readonly parse: (bytes: Uint8Array) => Promise<T | undefined> | T | undefined;
  readonly format: (value: T) => Uint8Array;
  /** Derives it from the image of a reference by digest. */
  readonly derive: (name: string) => Promise<T>;
}

/**
 * What follows from the content of an image: as it was kept by the image's digest, else derived and kept.
 *
 * @param text a reference; never a path, whatever it looks like
 * @throws PipelineError `not-found`, and what a registry and `derive` may throw
 */
export async function derivedOnce<T>(
  text: string,
  { registry, store }: ImagePorts,
  { kind, parse, format, derive }: Derived<T>,
): Promise<T> {
  const reference = writtenReference(text);
  const descriptor = reference.kind === 'digest' ? reference : await registry.resolve(reference);
  if (!descriptor) throw new PipelineError('not-found', `image ${formatReference(reference)} not found`);
  const key = contentKey(kind, descriptor.digest);
  const bytes = await store?.get(key);
  const known = bytes && (await parse(bytes));
  if (known) return known;
  const value = await derive(formatReference(withDigest(reference, descriptor.digest)));
  await store?.put(key, format(value));
  return value;
}

/**
 * The blobs of a catalog that has no errors: what cannot be read might be what is asked for.
 *
 * @throws PipelineError `corrupt` if a file cannot be read
 */
export function blobsUnlessBroken(
  name: string,
  { blobs, findings }: Pick<Loaded, 'blobs' | 'findings'>,
): Blobs {
  const broken = findings.find(({ severity }) => severity === 'error');
  if (broken) throw new PipelineError('corrupt', `${name}: ${broken.location.file}: ${broken.message}`);
  return blobs;
}
