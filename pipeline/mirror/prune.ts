/**
 * Deleting images from a mirror, with what belongs to them. Where a registry removes no tag by itself, the manifest goes
 * with all its tags: then only when every one of them is to go.
 */
import { append } from '../../catalog/go/grouped.ts';
import { formatReference, type Reference, repositoryName, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { eachOf } from '../parallel.ts';
import type { Registry, Repository } from '../ports.ts';
import { type Belongings, belongingsOf, deleteBelongings } from './delete-companions.ts';
import { createTagLists } from './tag-lists.ts';

export interface PruneReport {
  readonly deleted: readonly string[];
  /** Images that were already gone. */
  readonly absent: readonly string[];
  readonly failed: readonly { readonly image: string; readonly why: string }[];
}

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
  const going = new Set(images.map(formatReference));
  const tags = createTagLists(registry);
  const repositories = new Map<string, Reference[]>();
  for (const image of images) {
    const name = repositoryName(image);
    append(repositories, name, image);
  }
  // One after the other in a repository: two tags may be one manifest.
  await eachOf([...repositories.values()], 16, async (group) => {
    const belongings: Belongings[] = [];
    const tried = async (image: string, run: () => Promise<void>): Promise<void> =>
      run().catch((error: unknown) => {
        if (!(error instanceof PipelineError)) throw error;
        failed.push({ image, why: error.message });
      });
    for (const image of group) {
      const name = formatReference(image);
      await tried(name, async () => {
        const standing = await registry.resolve(image);
        const belonging = standing && (await belongingsOf(image, standing.digest, { registry, tags }));
        const isGone = await deleteImage(registry, image, going);
        (isGone ? deleted : absent).push(name);
        if (belonging && isGone) belongings.push(belonging);
      });
    }
    const [first] = group;
    if (!first) return;
    await tried(`what belongs to images of ${repositoryName(first)}`, async () => {
      const remove = (reference: Reference, along: ReadonlySet<string>) =>
        deleteImage(registry, reference, along);
      await deleteBelongings(first, belongings, { registry, keep, remove });
    });
  });
  return { deleted: deleted.sort(), absent: absent.sort(), failed };
}

/**
 * Deletes a tag, or its manifest.
 *
 * @returns false if it was gone already
 */
async function deleteImage(
  registry: Registry,
  image: Reference,
  going: ReadonlySet<string>,
): Promise<boolean> {
  const standing = await registry.resolve(image);
  if (!standing) return false;
  if (image.kind === 'tag') {
    const gone = await registry.deleteManifest(image).catch((error: unknown) => {
      // The registry cannot delete a single tag: the manifest goes, if all of its tags do.
      if (error instanceof PipelineError && !error.retryable) return false;
      throw error;
    });
    if (gone) return true;
  }
  const others = await tagsOf(registry, image, standing.digest);
  const staying = others.filter((tag) => !going.has(`${repositoryName(image)}:${tag}`));
  if (staying.length > 0) {
    throw new PipelineError(
      'conflict',
      `${formatReference(image)} is also the image of ${staying.join(', ')}, and the registry cannot delete a single tag`,
    );
  }
  return registry.deleteManifest(withDigest(image, standing.digest));
}

/** The tags of a repository that name a digest. */
async function tagsOf(registry: Registry, of: Repository, digest: string): Promise<string[]> {
  const tags: string[] = [];
  for await (const tag of registry.listTags(of)) {
    const { registry: host, repository } = of;
    const standing = await registry.resolve({ kind: 'tag', registry: host, repository, tag });
    if (standing?.digest === digest) tags.push(tag);
  }
  return tags;
}
