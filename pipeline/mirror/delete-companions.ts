/** Deleting what belongs to images that are deleted: signatures, attestations, bills of materials, referrers. */
import { formatReference, type Reference, withDigest } from '../../catalog/reference.ts';
import { parseManifest } from '../oci/registry/image.ts';
import type { Registry, Repository } from '../ports.ts';
import { companionsOf } from './companions.ts';
import type { TagLists } from './tag-lists.ts';

/** How far a signature of a signature, and so on, is followed. */
const DEPTH = 3;

/** An image and what belongs to each of its digests, by digest. */
export type Belongings = ReadonlyMap<string, readonly Reference[]>;

interface Places {
  readonly registry: Registry;
  readonly tags: TagLists;
}

/** What belongs to an image and to those of its platforms. @throws PipelineError when the registry does not answer */
export async function belongingsOf(
  image: Reference,
  digest: string,
  { registry, tags }: Places,
): Promise<Belongings> {
  const digests = [digest, ...(await childrenOf(withDigest(image, digest), registry))];
  const found = new Map<string, readonly Reference[]>();
  for (const one of new Set(digests))
    found.set(one, await companionsBelow(image, one, { registry, tags, depth: 0 }));
  return found;
}

async function companionsBelow(
  image: Reference,
  digest: string,
  { registry, tags, depth }: Places & { readonly depth: number },
): Promise<Reference[]> {
  const source = { registry, tags, keepsReferrers: () => undefined };
  const found: Reference[] = [];
  for (const { reference, subject } of await companionsOf(image, [digest], source)) {
    if (subject === undefined || reference.kind === 'tag') found.push(reference);
    // A list in a tag may name what is about something else.
    else if ((await subjectOf(reference, registry)) === subject) {
      const below =
        depth < DEPTH
          ? await companionsBelow(image, reference.digest, { registry, tags, depth: depth + 1 })
          : [];
      found.push(...below, reference);
    }
  }
  return found;
}

async function subjectOf(reference: Reference, registry: Registry): Promise<string | undefined> {
  const manifest = await registry.getManifest(reference);
  return manifest && parseManifest(manifest).subject?.digest;
}

async function childrenOf(image: Reference, registry: Registry): Promise<readonly string[]> {
  const manifest = await registry.getManifest(image);
  const parsed = manifest && parseManifest(manifest);
  return parsed?.kind === 'list' ? parsed.manifests.map(({ digest }) => digest) : [];
}

/** The digests that tags of a repository name, those of the platforms among them. */
async function taggedDigests(of: Repository, registry: Registry): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const { registry: host, repository } = of;
  for await (const tag of registry.listTags(of)) {
    const name = { kind: 'tag', registry: host, repository, tag } as const;
    const digest = (await registry.resolve(name))?.digest;
    if (digest === undefined || found.has(digest) || isReferrersTag(tag, digest)) continue;
    found.add(digest);
    for (const child of await childrenOf(withDigest(name, digest), registry)) found.add(child);
  }
  return found;
}

/**
 * A list of referrers keeps none of them. oc-mirror gives an image such a tag, too: then it has the image's own digest.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#referrers-tag-schema
 */
function isReferrersTag(tag: string, digest: string): boolean {
  return /^sha(256|384|512)-[0-9a-f]{64,}$/.test(tag) && !digest.replace(':', '-').startsWith(tag);
}

/**
 * Deletes what belonged to deleted images of one repository. What belongs to an image or a platform that a tag still
 * names stays, and so does what is itself an image that somebody needs.
 *
 * @param keep references that stay
 * @throws PipelineError what the registry answers
 */
export async function deleteBelongings(
  of: Repository,
  belongings: readonly Belongings[],
  {
    registry,
    keep,
    remove,
  }: {
    readonly registry: Registry;
    readonly keep: ReadonlySet<string>;
    readonly remove: (reference: Reference, going: ReadonlySet<string>) => Promise<unknown>;
  },
): Promise<void> {
  if (belongings.every((one) => [...one.values()].flat().length === 0)) return;
  const tagged = await taggedDigests(of, registry);
  const all = belongings.flatMap((one) =>
    [...one].flatMap(([digest, references]) => (tagged.has(digest) ? [] : references)),
  );
  const going = new Map(all.map((reference) => [formatReference(reference), reference]));
  for (const name of keep) going.delete(name);
  for (const reference of going.values()) {
    if (reference.kind === 'digest' && tagged.has(reference.digest)) continue;
    await remove(reference, new Set(going.keys()));
  }
}
