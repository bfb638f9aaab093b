import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseReference } from '../../../catalog/reference.ts';
import { type ImageLocation, parseLocation } from '../../../pipeline/oci/registry/image-location.ts';
import { openDestination } from '../../../pipeline/oci/registry/open.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import type { Registry } from '../../../pipeline/ports.ts';
import { publishedLayers } from '../../../pipeline/publish/publish.ts';
import { folder } from '../../fakes/folder.ts';
import { testClient } from '../../fakes/host.ts';
import { bytesOf, sampleImage, source } from '../../fakes/image.ts';
import { registry } from '../../fakes/registry.ts';

const image = sampleImage({ layers: ['a layer'] });
const [layer = source(Buffer.from(''))] = image.blobs;

async function readIn(place: ImageLocation, client: Registry): Promise<Buffer> {
  const read = publishedLayers(place, client);
  if (!read) throw new Error('nothing is read there');
  return bytesOf(read(layer));
}

test('layers are read where the image is published to, in a registry and in a directory', async () => {
  const { host } = await registry();
  const client = testClient([host]);
  await pushImage(client, parseReference(`${host}/a:v1`), { image });
  const directory = parseLocation(`oci:${join(folder(), 'layout')}:v1`);
  const to = await openDestination(directory, client);
  await pushImage(to.registry, to.reference, { image });
  for (const place of [parseLocation(`${host}/a:v1`), directory]) {
    expect(await readIn(place, client)).toEqual(await bytesOf(layer.open(0)));
  }
});

test('a directory that is not there has none, and is not made', async () => {
  const path = join(folder(), 'none');
  const reading = readIn(parseLocation(`oci:${path}:v1`), testClient([]));
  await expect(reading).rejects.toMatchObject({ code: 'not-found' });
  expect(existsSync(path)).toBe(false);
});

test('an archive is written anew: nothing of it is read', () => {
  expect(publishedLayers(parseLocation('oci-archive:a.tar'), testClient([]))).toBeUndefined();
});
