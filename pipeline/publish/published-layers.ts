/** Layers of what was published before: a build takes from them what did not change. */
import type { ReadLayer } from '../oci/image/build-context.ts';
import type { ImageLocation } from '../oci/registry/image-location.ts';
import { openLayout } from '../oci/registry/layout/layout.ts';
import { layoutRegistry } from '../oci/registry/layout/registry.ts';
import type { Registry } from '../ports.ts';

/**
 * Reads layers where an image is published to. An archive is written anew each time: nothing is read of one.
 *
 * @param client for references
 */
export function publishedLayers(place: ImageLocation, client: Registry): ReadLayer | undefined {
  if (place.kind === 'registry') return (layer) => client.getBlob(place.reference, layer);
  if (place.kind !== 'oci') return undefined;
  return async function* read(layer) {
    const registry = layoutRegistry(await openLayout(place.path, { create: false }));
    yield* registry.getBlob({ registry: '', repository: place.tag?.repository ?? '' }, layer);
  };
}
