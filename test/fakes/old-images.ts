/** A repository with images under immutable tags, to see which of them stay. */
import { withDigest } from '../../catalog/reference.ts';
import type { RegistryClient } from '../../pipeline/oci/registry/client.ts';
import { type ImageContent, pushImage } from '../../pipeline/oci/registry/push.ts';
import { immutableTag } from '../../pipeline/publish/immutable-tag.ts';
import { deleteOld, isPublished } from '../../pipeline/publish/retention.ts';
import { sampleImage } from './image.ts';

export interface OldImages {
  readonly published: { readonly kind: 'tag'; registry: string; repository: string; tag: string };
  /** Pushes an image under a tag. */
  readonly push: (tag: string, image: ImageContent) => Promise<void>;
  /** Deletes all but so many. @returns the tags that were deleted */
  readonly keep: (count: number, claimed?: readonly string[], lastRing?: string) => Promise<string[]>;
  readonly tags: () => Promise<string[]>;
  /** Whether the image and all of its platforms are there, or which of them; by digest. */
  readonly there: (image: ImageContent) => Promise<boolean[]>;
}

/** The image of a day. */
export function imageOf(day: number, architectures: readonly string[] = ['amd64', 'arm64']): ImageContent {
  return sampleImage({ architectures: [...architectures], layers: [`day ${day}`] });
}

/** The immutable tag of a day's image. */
export function tagOf(day: number): string {
  return immutableTag('v4.20', `2026010${day}000000-0123456789ab`);
}

export function oldImages(client: RegistryClient, host: string): OldImages {
  const published = { kind: 'tag', registry: host, repository: 'sea/catalog', tag: 'v4.20' } as const;
  const isThere = async (digest: string): Promise<boolean> =>
    (await client.resolve(withDigest(published, digest))) !== undefined;
  return {
    published,
    push: async (tag, image) => void (await pushImage(client, { ...published, tag }, { image })),
    keep: (keep, claimed = [], lastRing) =>
      deleteOld(client, published, { keep, claimed, isOwn: isPublished, lastRing }),
    tags: async () => {
      const tags: string[] = [];
      for await (const name of client.listTags(published)) tags.push(name);
      return tags.sort();
    },
    there: ({ root, manifests }) => Promise.all([root, ...manifests].map(({ digest }) => isThere(digest))),
  };
}
