/**
 * Deleting images from a mirror, with what belongs to them. Where a registry removes no tag by itself, the manifest goes
 * with all its tags: then only when every one of them is to go.
 */
import { appendToGroup } from '../../catalog/go/grouped.ts';
import {
  type DigestReference,
  formatReference,
  type Reference,
  repositoryName,
  withDigest,
} from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { entriesOf, LIST_TYPES, parseManifest } from '../oci/registry/image.ts';
import { eachOf } from '../parallel.ts';
import type { Registry, Repository } from '../ports.ts';
import { companionsOf, createTagLists, type TagLists } from './companions.ts';

export interface PruneReport {
  readonly deleted: readonly string[];
  /** Images that were already gone. */
  readonly absent: readonly string[];
  readonly failed: readonly { readonly image: string; readonly why: string }[];
}

/** Repositories that images are deleted from at a time. */
const PARALLEL = 16;

/**
 * Deletes images, their signatures, attestations and referrers; what fails stops nothing else.
 *
 * @param keep what is not deleted even where it belongs to one of the images
 */
export async function pruneImages(
  registry: Registry,
  images: readonly Reference[],
  keep: ReadonlySet<string> = new Set(),
): Promise<PruneReport> {
  const deleted: string[] = [];
  const absent: string[] = [];
  const failed: { image: string; why: string }[] = [];
  const tags = createTagLists(registry);
  const childrenAt = rememberedChildren(registry);
  const deleteOne = (image: Reference, going: ReadonlySet<string>) =>
    deleteImage(registry, image, { going, keep, childrenAt });
  const going = new Set(images.map(formatReference));
  const repositories = new Map<string, Reference[]>();
  for (const image of images) {
    const name = repositoryName(image);
    appendToGroup(repositories, name, image);
  }
  // One after the other in a repository: two tags may be one manifest.
  await eachOf([...repositories.values()], PARALLEL, async (group) => {
    const belongings: Belonging[] = [];
    const attempt = async (image: string, run: () => Promise<void>): Promise<void> =>
      run().catch((error: unknown) => {
        if (!(error instanceof PipelineError)) throw error;
        failed.push({ image, why: error.message });
      });
    for (const image of group) {
      const name = formatReference(image);
      await attempt(name, async () => {
        const standing = await registry.resolve(image);
        // Looked for first: once the image is gone, nothing leads to what belonged to it.
        const found = standing
          ? await belongingsOf(image, standing.digest, { registry, tags, childrenAt })
          : [];
        const isDeleted = await deleteOne(image, going);
        (isDeleted ? deleted : absent).push(name);
        if (isDeleted) belongings.push(...found);
      });
    }
    const [first] = group;
    if (!first) return;
    await attempt(`what belongs to images of ${repositoryName(first)}`, async () => {
      const orphans = await orphansOf(first, belongings, { registry, keep, childrenAt });
      const names = new Set(orphans.map(formatReference));
      // Nothing leads to them any more: one that fails is named, and does not stop the others.
      for (const orphan of orphans)
        await attempt(formatReference(orphan), async () => void (await deleteOne(orphan, names)));
    });
  });
  return { deleted: deleted.sort(), absent: absent.sort(), failed };
}

/** What decides whether a manifest may go. */
interface Deleting {
  /** References that go as well. */
  readonly going: ReadonlySet<string>;
  /** References that stay. */
  readonly keep: ReadonlySet<string>;
  readonly childrenAt: ChildrenAt;
}

/**
 * Deletes a tag, or its manifest.
 *
 * @returns false if it was gone already
 */
async function deleteImage(registry: Registry, image: Reference, deleting: Deleting): Promise<boolean> {
  const standing = await registry.resolve(image);
  if (!standing) return false;
  if (image.kind === 'tag') {
    const isDeleted = await registry.deleteManifest(image).catch((error: unknown) => {
      // The registry cannot delete a single tag: the manifest goes, if all of its tags do. Where deleting is denied, that
      // is denied as well, and says why. Some registries reply to a tag that they do not have it.
      if (error instanceof PipelineError && !error.retryable) return false;
      throw error;
    });
    if (isDeleted) return true;
  }
  const { tags, lists } = await stayingWith(registry, { image, digest: standing.digest }, deleting);
  const reasons = [
    ...(tags.length > 0 ? [`the image of ${tags.join(', ')}`] : []),
    ...(lists.length > 0 ? [`a part of ${lists.join(', ')}`] : []),
  ];
  if (reasons.length > 0) {
    throw new PipelineError(
      'conflict',
      `${formatReference(image)} is also ${reasons.join(' and ')}, and the registry cannot delete a single tag`,
    );
  }
  return registry.deleteManifest(withDigest(image, standing.digest));
}

/**
 * What stays in a repository and needs the manifest of an image: names of it, and lists that name it as one of their platforms.
 *
 * @throws PipelineError `conflict` where the registry does not list the image's own tag: others may be missing as well
 */
async function stayingWith(
  registry: Registry,
  { image, digest: manifest }: { readonly image: Reference; readonly digest: string },
  { going, keep, childrenAt }: Deleting,
): Promise<{ readonly tags: readonly string[]; readonly lists: readonly string[] }> {
  const tags: string[] = [];
  const lists: string[] = [];
  const look = async (name: string, digest: string, isList: boolean): Promise<void> => {
    if (digest === manifest) tags.push(name);
    else if (isList && (await childrenAt(withDigest(image, digest))).includes(manifest)) lists.push(name);
  };
  const repository = repositoryName(image);
  let isListed = image.kind === 'digest';
  for await (const tag of registry.listTags(image)) {
    isListed ||= image.kind === 'tag' && tag === image.tag;
    if (going.has(`${repository}:${tag}`)) continue;
    const standing = await registry.resolve({ ...image, kind: 'tag', tag });
    if (!standing) continue;
    const isList = LIST_TYPES.has(standing.mediaType) && !isReferrersTag(tag, standing.digest);
    await look(tag, standing.digest, isList);
  }
  if (!isListed) {
    const what = `${formatReference(image)} is missing in the list of tags`;
    throw new PipelineError(
      'conflict',
      `${what}: others may have its image, and the registry cannot delete a single tag`,
    );
  }
  for (const digest of digestsIn(repository, keep)) await look(`${repository}@${digest}`, digest, true);
  return { tags, lists };
}

/** The digests that references of a repository name: a destination may be a digest, which no tag names. */
function digestsIn(repository: string, references: ReadonlySet<string>): string[] {
  const prefix = `${repository}@`;
  return [...references].flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
}

// Deleting what belongs to images that are deleted: signatures, attestations, bills of materials, referrers.

/** How far a signature of a signature, and so on, is followed. */
const DEPTH = 3;

/** A signature, attestation, bill of materials or referrer. */
interface Belonging {
  /** Digest of what it is about: an image, one of its platforms, or another artifact. */
  readonly owner: string;
  readonly reference: Reference;
}

interface Places {
  readonly registry: Registry;
  readonly tags: TagLists;
}

/** What belongs to an image and to those of its platforms. @throws PipelineError when the registry does not answer */
async function belongingsOf(
  image: Reference,
  digest: string,
  { registry, tags, childrenAt }: Places & { readonly childrenAt: ChildrenAt },
): Promise<Belonging[]> {
  const digests = [digest, ...(await childrenAt(withDigest(image, digest)))];
  const found: Belonging[] = [];
  for (const one of new Set(digests))
    found.push(...(await companionsBelow(image, one, { registry, tags, depth: 0 })));
  return found;
}

/**
 * Everything attached to a digest, and to that, each behind its owner. A referrer counts only if its own manifest names the
 * digest: a list of referrers in a tag may name anything.
 */
async function companionsBelow(
  image: Reference,
  digest: string,
  { registry, tags, depth }: Places & { readonly depth: number },
): Promise<Belonging[]> {
  // Whether the registry keeps lists of referrers was not asked, so each list is read.
  const source = { registry, tags, keepsReferrers: () => undefined, firstLists: new Map() };
  const found: Belonging[] = [];
  for (const { reference, subject } of await companionsOf(image, [digest], source)) {
    if (subject === undefined || reference.kind === 'tag') found.push({ owner: digest, reference });
    else if ((await subjectOf(reference, registry)) === subject) {
      found.push({ owner: digest, reference });
      if (depth < DEPTH)
        found.push(...(await companionsBelow(image, reference.digest, { registry, tags, depth: depth + 1 })));
    }
  }
  return found;
}

/** The digest that a manifest is about; undefined for one that is about none. */
async function subjectOf(reference: Reference, registry: Registry): Promise<string | undefined> {
  const manifest = await registry.getManifest(reference);
  return manifest && parseManifest(manifest).subject?.digest;
}

/** Digests of the images and lists below a list; none for an image. */
type ChildrenAt = (image: DigestReference) => Promise<readonly string[]>;

/** Reads each list once: a digest always names the same. */
function rememberedChildren(registry: Registry): ChildrenAt {
  const known = new Map<string, Promise<readonly string[]>>();
  const childrenAt: ChildrenAt = (image) => {
    const name = formatReference(image);
    const children = known.get(name) ?? childrenOf(image);
    known.set(name, children);
    return children;
  };
  const childrenOf = async (image: DigestReference): Promise<readonly string[]> => {
    const manifest = await registry.getManifest(image);
    const found = new Set<string>();
    for (const { digest, mediaType } of manifest ? entriesOf(manifest) : []) {
      found.add(digest);
      // A list may name further lists.
      if (!LIST_TYPES.has(mediaType)) continue;
      for (const inner of await childrenAt(withDigest(image, digest))) found.add(inner);
    }
    return [...found];
  };
  return childrenAt;
}

interface Staying {
  readonly registry: Registry;
  /** References that stay. */
  readonly keep: ReadonlySet<string>;
  readonly childrenAt: ChildrenAt;
}

/**
 * The digests that tags of a repository, or references that stay, name, those of the platforms among them; lists of referrers
 * do not count as images.
 */
async function stayingDigests(of: Repository, { registry, keep, childrenAt }: Staying): Promise<Set<string>> {
  const found = new Set<string>();
  const { registry: host, repository } = of;
  const note = async (digest: string): Promise<void> => {
    found.add(digest);
    const image = { kind: 'digest', registry: host, repository, digest } as const;
    for (const child of await childrenAt(image)) found.add(child);
  };
  for await (const tag of registry.listTags(of)) {
    const digest = (await registry.resolve({ kind: 'tag', registry: host, repository, tag }))?.digest;
    if (digest !== undefined && !isReferrersTag(tag, digest)) await note(digest);
  }
  for (const digest of digestsIn(repositoryName(of), keep)) await note(digest);
  return found;
}

/**
 * Whether a tag is a list of referrers, whose entries nobody needs for that. oc-mirror gives images such tags, too: then the tag
 * is the image's own digest.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#referrers-tag-schema
 */
function isReferrersTag(tag: string, digest: string): boolean {
  return /^sha(256|384|512)-[0-9a-f]{64,}$/.test(tag) && !digest.replace(':', '-').startsWith(tag);
}

/**
 * What belonged to deleted images of one repository and to nothing that stays. What is itself an image that somebody needs
 * stays, with all that belongs to it.
 *
 * @returns the innermost first, so that a break leaves nothing whose subject is gone
 * @throws PipelineError what the registry answers
 */
async function orphansOf(
  of: Repository,
  belongings: readonly Belonging[],
  { registry, keep, childrenAt }: Staying,
): Promise<Reference[]> {
  if (belongings.length === 0) return [];
  const staying = await stayingDigests(of, { registry, keep, childrenAt });
  const orphans = new Map<string, Reference>();
  for (const { owner, reference } of belongings) {
    const name = formatReference(reference);
    const digest = reference.kind === 'digest' ? reference.digest : undefined;
    if (!staying.has(owner) && !keep.has(name) && (digest === undefined || !staying.has(digest)))
      orphans.set(name, reference);
    // What is about it comes behind it, and stays with it.
    else if (digest !== undefined) staying.add(digest);
  }
  return [...orphans.values()].reverse();
}
