/**
 * What belongs to an image and is not part of it: referrers, and the tags under which
 * cosign keeps signatures, attestations and bills of materials.
 *
 * @see https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md
 */
import { type Reference, repositoryName, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { isTag } from '../oci/registry/name.ts';
import { referrersTag } from '../oci/registry/referrers.ts';
import type { Registry, Repository } from '../ports.ts';

/** What cosign keeps under the tags `sha256-HEX.SUFFIX`: signatures, attestations, SBOMs. */
const SUFFIXES = ['sig', 'att', 'sbom'] as const;

/** One thing that belongs to an image. */
export interface Companion {
  /** In the repository of the image, by tag or by digest. */
  readonly reference: Reference;
  /** The image's digest that a referrer is about; undefined for a tag, which says so itself. */
  readonly subject: string | undefined;
}

export interface CompanionSource {
  readonly registry: Registry;
  readonly tags: TagLists;
  /** Whether a registry keeps lists of referrers itself; undefined when that is not known. */
  readonly keepsReferrers: (registry: string) => boolean | undefined;
  /** By registry: the first list of referrers. All others wait for it, since it tells whether there is an API. */
  readonly firstLists: Map<string, Promise<unknown>>;
}

/**
 * Finds what belongs to the digests of an image.
 *
 * @throws PipelineError when the source does not answer
 */
export async function companionsOf(
  image: Reference,
  digests: readonly string[],
  source: CompanionSource,
): Promise<Companion[]> {
  const tags = await source.tags.of(image);
  const found = await Promise.all(
    digests.map(async (digest) => [
      ...(await signatureTags(image, digest, { ...source, knownTags: tags })),
      ...(await referrers(image, digest, { ...source, knownTags: tags })),
    ]),
  );
  return found.flat();
}

/** A source with the tags of the image's repository, undefined where they cannot be listed. */
interface Search extends CompanionSource {
  readonly knownTags: ReadonlySet<string> | undefined;
}

/** The tags by which cosign attaches signatures, attestations and SBOMs to a digest, if they exist. */
async function signatureTags(
  image: Reference,
  digest: string,
  { registry, knownTags }: Search,
): Promise<Companion[]> {
  const { registry: host, repository } = image;
  // That of a sha512 digest would be too long for a tag: nobody has written it.
  const tags = SUFFIXES.map((suffix) => `${digest.replace(':', '-')}.${suffix}`).filter(isTag);
  const references = tags.map((tag): Reference => ({ kind: 'tag', registry: host, repository, tag }));
  const isThere = async (reference: Reference): Promise<boolean> =>
    reference.kind === 'tag' && knownTags
      ? knownTags.has(reference.tag)
      : (await registry.resolve(reference)) !== undefined;
  const there = await Promise.all(references.map(isThere));
  return references.filter((_, i) => there[i]).map((reference) => ({ reference, subject: undefined }));
}

/**
 * The referrers of a digest. Where the registry has no API for them, the list of tags tells without a request
 * that there are none.
 */
async function referrers(
  image: Reference,
  digest: string,
  { registry, knownTags, keepsReferrers, firstLists }: Search,
): Promise<Companion[]> {
  // The first answer of a registry tells whether it has the API: the others wait for it.
  const first = firstLists.get(image.registry);
  if (first) await first;
  // Without an API the list is in a tag, and the tags are known.
  if (
    keepsReferrers(image.registry) === false &&
    knownTags &&
    !knownTags.has(referrersTag(image, digest).tag)
  )
    return [];
  const listing = registry.listReferrers(image, digest);
  // Of several digests that are looked at together, one asks first.
  if (!first && !firstLists.has(image.registry))
    firstLists.set(
      image.registry,
      listing.catch(() => undefined),
    );
  return (await listing).map((one) => ({ reference: withDigest(image, one.digest), subject: digest }));
}

/** The error of something that could not be copied along, naming the image that it belongs to. */
export function companionError({ reference }: Companion, image: string, cause: unknown): PipelineError {
  const name = reference.kind === 'digest' ? reference.digest : reference.tag;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new PipelineError(
    cause instanceof PipelineError ? cause.code : 'bad-answer',
    `${repositoryName(reference)} ${name}, which belongs to ${image}: ${why}`,
    cause instanceof PipelineError ? { cause, retryable: cause.retryable, status: cause.status } : { cause },
  );
}

// What stands at a destination before a copy: asked once a repository.

/** The tags of repositories, each listed once. */
export interface TagLists {
  /** Undefined where they cannot be listed, or are too many to be worth it. */
  of(repository: Repository): Promise<ReadonlySet<string> | undefined>;
}

/** Tags that are read of one repository at most. */
const MOST_TAGS = 5000;

/** Lists the tags of each repository once, for all images of it. */
export function createTagLists(registry: Pick<Registry, 'listTags'>): TagLists {
  const lists = new Map<string, Promise<ReadonlySet<string> | undefined>>();
  return {
    of: (repository) => {
      const name = repositoryName(repository);
      const tags = lists.get(name) ?? readTags(registry, repository);
      lists.set(name, tags);
      return tags;
    },
  };
}

/** The tags of a repository; undefined if there are too many, or if they may not be listed. */
async function readTags(
  registry: Pick<Registry, 'listTags'>,
  repository: Repository,
): Promise<ReadonlySet<string> | undefined> {
  const tags = new Set<string>();
  try {
    for await (const tag of registry.listTags(repository)) {
      tags.add(tag);
      if (tags.size > MOST_TAGS) return undefined;
    }
    return tags;
  } catch (error) {
    // An account that may pull an image may lack the permission to list its tags.
    if (error instanceof PipelineError) return undefined;
    throw error;
  }
}
