/** Images at places, written and read as commands do. */
import { open } from 'node:fs/promises';
import { readTarIndex } from '../../pipeline/oci/registry/archive/tar.ts';
import { createRegistryClient } from '../../pipeline/oci/registry/client.ts';
import { parseLocation } from '../../pipeline/oci/registry/image-location.ts';
import { openDestination, openSource } from '../../pipeline/oci/registry/open.ts';
import { type ImageContent, pushImage, readImage } from '../../pipeline/oci/registry/push.ts';

const client = createRegistryClient();

export async function writeTo(place: string, image: ImageContent): Promise<void> {
  const to = await openDestination(parseLocation(place), client);
  await pushImage(to.registry, to.reference, { image });
  await to.finish();
}

export async function readFrom(place: string): Promise<ImageContent & { close(): Promise<void> }> {
  const from = await openSource(parseLocation(place), client);
  return { ...(await readImage(from.registry, from.reference)), close: from.close };
}

/** What a tar file says of its entries. */
export async function tarIndex(file: string): ReturnType<typeof readTarIndex> {
  const handle = await open(file, 'r');
  try {
    return await readTarIndex(handle, file);
  } finally {
    await handle.close();
  }
}
