/** Old images in a registry that others wrote. */
import { describe, expect, test } from 'vitest';
import { imageOf, oldImages, tagOf } from '../fakes/old-images.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { isOnPath } from '../fakes/tools.ts';

describe.skipIf(!isOnPath('docker-registry'))('docker-registry', () => {
  test('deletes old images with their platforms, and keeps the others', async () => {
    const { host, client } = await dockerRegistry();
    const old = oldImages(client, host);
    for (const day of [1, 2, 3]) await old.push(tagOf(day), imageOf(day));
    await old.push('v4.20', imageOf(1));
    expect(await old.keep(1)).toEqual([tagOf(2)]);
    expect(await old.there(imageOf(1))).toEqual([true, true, true]);
    expect(await old.there(imageOf(2))).toEqual([false, false, false]);
    expect(await old.there(imageOf(3))).toEqual([true, true, true]);
    expect(await old.keep(1)).toEqual([]);
  });
});
