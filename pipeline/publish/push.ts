/** An index image into its place: our layers are sent, the base's are mounted or copied. */
import { withDigest } from '../../catalog/reference.ts';
import type { CatalogImage } from '../image/image.ts';
import type { Registry } from '../ports.ts';
import { openDestination } from '../registry/open.ts';
import type { Place } from '../registry/place.ts';
import { blobOf, type PushReport, pushImage } from '../registry/push.ts';
import type { OpenBase } from './base.ts';
import type { Follower } from './fence.ts';
import { followingTag } from './fence-tag.ts';

export interface PushTo {
  readonly place: Place;
  readonly base: OpenBase | undefined;
  /** Moves the tag once the image is there by its digest; without it the push itself does. */
  readonly promote?: ((tag: Follower) => Promise<void>) | undefined;
}

/** @throws PipelineError, and then the place names what it named before */
export async function pushCatalogImage(
  client: Registry,
  { manifestList, manifests, blobs, baseLayers }: CatalogImage,
  { place, base, promote }: PushTo,
): Promise<PushReport> {
  const to = await openDestination(place, client);
  try {
    // Layers with addresses of their own may be nowhere else, and need not be here.
    const below = base
      ? baseLayers
          .filter(({ urls }) => urls === undefined)
          .map((layer) => blobOf(base.source.registry, base.source.reference, layer))
      : [];
    const fenced = isFenced(place) ? promote : undefined;
    const name = fenced ? withDigest(to.reference, manifestList.digest) : to.reference;
    const report = await pushImage(to.registry, name, {
      image: { root: manifestList, manifests, blobs: [...blobs, ...below] },
      mountFrom: mountable(base, place),
    });
    await fenced?.(followingTag(to.registry, to.reference));
    await to.finish();
    return report;
  } catch (error) {
    await to.discard();
    throw error;
  }
}

/** Whether a place keeps what it had, so that an older image could come back: an archive is written anew. */
export function isFenced({ kind }: Place): boolean {
  return kind === 'registry' || kind === 'oci';
}

/** Repositories of the same registry that hold the base's layers. */
function mountable(base: OpenBase | undefined, place: Place): string[] {
  const from = base?.source.reference;
  const isSame = place.kind === 'registry' && from?.registry === place.reference.registry;
  return isSame ? [from.repository] : [];
}
