/**
 * The commit that an index image was published from, attached to the image. The image's own bytes depend on the catalog
 * alone. Whoever has only the registry and a clone can so tell which of two commits is newer.
 */
import { type Reference, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { isObjectId } from '../git/objects.ts';
import { parseManifest } from '../oci/registry/image.ts';
import type { ImageContent } from '../oci/registry/push.ts';
import type { Claim, Descriptor, Fence, Manifest, Registry } from '../ports.ts';
import { filesArtifact } from './artifacts.ts';

/** The type of the artifact: its annotations name the commit and the epoch. */
export const COMMIT_TYPE = 'application/vnd.dev.portolan.published-commit.v1';
/** @see https://github.com/opencontainers/image-spec/blob/main/annotations.md */
const REVISION = 'org.opencontainers.image.revision';
/** The annotation with the epoch, a decimal number. */
const EPOCH = 'dev.portolan.epoch';

/** A commit, and how often the branch's history had been rewritten before. */
export type PublishedCommit = Pick<Claim, 'commit' | 'epoch'>;

/** Commits that are read of one image at most. */
const MOST_COMMITS = 1000;

/** The artifact with the commit of an image; the same commit makes the same bytes. */
export function commitArtifact(subject: Manifest, { commit, epoch }: PublishedCommit): ImageContent {
  const annotations = { [REVISION]: commit, [EPOCH]: String(epoch) };
  const files = new Map([['commit.txt', `${commit}\n`]]);
  return filesArtifact(subject, { type: COMMIT_TYPE, annotations, files });
}

/**
 * The commits that an image was published from: more than one where a later commit has the same catalog.
 *
 * @throws PipelineError `too-large`, and what the registry answers
 */
async function publishedCommits(
  registry: Registry,
  image: Reference,
  digest: string,
): Promise<PublishedCommit[]> {
  const listed = await registry.listReferrers(image, digest, COMMIT_TYPE);
  if (listed.length > MOST_COMMITS)
    throw new PipelineError('too-large', `the image ${digest} names ${listed.length} commits`);
  const read = await Promise.all(listed.map((one) => commitIn(registry, image, one)));
  return read.filter((one) => one !== undefined);
}

/**
 * The commit that an artifact names, from its annotations. Some registries list artifacts without them: then
 * its manifest is read.
 */
async function commitIn(
  registry: Registry,
  image: Reference,
  { digest, annotations }: Descriptor,
): Promise<PublishedCommit | undefined> {
  if (annotations?.[REVISION] !== undefined) return commitOf(annotations);
  const manifest = await registry.getManifest(withDigest(image, digest));
  const artifact = manifest && parseManifest(manifest);
  return artifact?.kind === 'image' ? commitOf(artifact.annotations ?? {}) : undefined;
}

/** The commit and epoch in annotations; undefined where one is missing or malformed. */
function commitOf(annotations: Readonly<Record<string, string>>): PublishedCommit | undefined {
  const { [REVISION]: commit = '', [EPOCH]: epoch = '' } = annotations;
  const isWhole = isObjectId(commit) && /^[0-9]{1,9}$/.test(epoch);
  return isWhole ? { commit, epoch: Number(epoch) } : undefined;
}

/** The image behind a tag, and a comparison of commits. */
interface PublishedPlace {
  readonly registry: Registry;
  readonly tag: Reference;
  /** The place's name in messages. */
  readonly place: string;
  readonly isAncestor: (older: string, newer: string) => Promise<boolean>;
}

/**
 * Tells a fence that only this clone or machine reads what the image behind the tag says. Another publisher may have
 * published since, with a fence of its own.
 *
 * @param name of the fence
 * @param takeOver whether a tag may be moved whose image names no commit
 * @throws PipelineError `conflict` for an image that names no commit, `not-found` for a commit that the clone lacks
 */
export async function learnFromImage(
  fence: Fence,
  name: string,
  { registry, tag, place, isAncestor, takeOver }: PublishedPlace & { readonly takeOver: boolean },
): Promise<void> {
  const standing = await fence.read(name);
  const tagged = await registry.resolve(tag);
  if (!tagged || tagged.digest === standing?.digest) return;
  const newest = await newestOf(await publishedCommits(registry, tag, tagged.digest), isAncestor);
  if (!newest) {
    // The fence has a claim to compare commits with, or the caller takes the tag over.
    if (standing || takeOver) return;
    throw new PipelineError(
      'conflict',
      `cannot tell which commit the image behind ${place} was published from`,
      {
        hint: 'if the newest commit may replace it, add once: --take-over; or use a fence that all publishers share: --fence URL',
      },
    );
  }
  // The fence may know of a newer claim than the tag shows: a publisher claims first and moves the tag after.
  const isAhead =
    standing &&
    (standing.epoch > newest.epoch ||
      (standing.epoch === newest.epoch && (await isAncestor(newest.commit, standing.commit))));
  if (!isAhead) await fence.replace(name, { ...newest, digest: tagged.digest }, standing);
}

/** The last commit of the latest epoch. */
async function newestOf(
  commits: readonly PublishedCommit[],
  isAncestor: PublishedPlace['isAncestor'],
): Promise<PublishedCommit | undefined> {
  let newest: PublishedCommit | undefined;
  for (const one of commits) {
    if (newest && one.epoch < newest.epoch) continue;
    const isNewer = !newest || one.epoch > newest.epoch || (await isAncestor(newest.commit, one.commit));
    if (isNewer) newest = one;
  }
  return newest;
}
