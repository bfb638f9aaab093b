/** Retired catalogs in registries that others wrote. */
import { describe, expect, test } from 'vitest';
import type { Retirement } from '../../pipeline/ports.ts';
import { claimTag, fenceName, moveFollowers } from '../../pipeline/publish/fence.ts';
import { recordFence } from '../../pipeline/publish/fence-records.ts';
import { followingTag } from '../../pipeline/publish/fence-tag.ts';
import { directoryRecords } from '../../pipeline/publish/records/directory.ts';
import { retireAt } from '../../pipeline/publish/retire.ts';
import { commitOf, isAncestor } from '../fakes/fence-contract.ts';
import { folder } from '../fakes/folder.ts';
import { imageOf, oldImages, tagOf } from '../fakes/old-images.ts';
import { craneRegistry, dockerRegistry, type RealRegistry } from '../fakes/real-registry.ts';
import { isOnPath } from '../fakes/tools.ts';

/** A catalog with two images, of which the second one is published; then it is retired. */
async function retiredIn({ host, client }: RealRegistry, retired: Retirement) {
  const old = oldImages(client, host);
  const { published } = old;
  for (const day of [1, 2]) await old.push(tagOf(day), imageOf(day));
  await old.push('other', imageOf(3));
  const fence = recordFence(directoryRecords(folder()));
  const place = { kind: 'registry', reference: published } as const;
  const name = fenceName('v4.20', `${host}/sea/catalog:v4.20`);
  const { digest } = imageOf(2).root;
  const claimed = await claimTag({ fence, name, isAncestor }, { commit: commitOf(1), digest });
  await moveFollowers({ fence, name }, claimed.claim, [followingTag(client, published)]);
  expect(await old.tags()).toContain('v4.20');
  const retire = (commit: number) =>
    retireAt(
      { fence, registry: client, isAncestor },
      { catalog: 'v4.20', place, commit: commitOf(commit), last: digest, retired, attest: [], beside: [] },
    );
  return { ...old, retire, digest };
}

describe.skipIf(!isOnPath('docker-registry'))('docker-registry, which deletes by digest alone', () => {
  test('delete: the images of the catalog are gone, and those of others stay', async () => {
    const { retire, tags, there } = await retiredIn(await dockerRegistry(), 'delete');
    expect((await retire(2))?.retired).toBe('delete');
    expect(await tags()).toEqual(['other']);
    expect(await there(imageOf(2))).toEqual([false, false, false]);
    expect(await there(imageOf(3))).toEqual([true, true, true]);
    expect((await retire(2))?.retired, 'once more').toBe('delete');
  });

  test('retag: it says that the registry cannot, and the tag stays', async () => {
    const { retire, tags } = await retiredIn(await dockerRegistry(), 'retag');
    await expect(retire(2)).rejects.toMatchObject({ code: 'denied' });
    expect(await tags()).toContain('v4.20');
  });
});

describe.skipIf(!isOnPath('registry'))('the registry of go-containerregistry', () => {
  test('retag: the image has another tag', async () => {
    const { retire, tags, digest } = await retiredIn(await craneRegistry(), 'retag');
    expect((await retire(2))?.retired).toBe('retag');
    expect(await tags()).toEqual(['other', `retired-v4.20-${digest.slice(7, 19)}`, tagOf(1), tagOf(2)]);
  });

  test('keep: nothing is sent to the registry', async () => {
    const { retire, tags } = await retiredIn(await craneRegistry(), 'keep');
    const before = await tags();
    expect((await retire(2))?.retired).toBe('keep');
    expect(await tags()).toEqual(before);
  });
});
