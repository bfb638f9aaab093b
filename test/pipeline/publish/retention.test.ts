/** Which old images a registry keeps. */
import { expect, test } from 'vitest';
import { withDigest } from '../../../catalog/reference.ts';
import { PipelineError } from '../../../pipeline/error.ts';
import { attach, SBOM_TYPE } from '../../../pipeline/publish/attest/artifact.ts';
import { deleteOld, isPublished } from '../../../pipeline/publish/retention.ts';
import { testClient } from '../../fakes/host.ts';
import { imageOf, oldImages, tagOf } from '../../fakes/old-images.ts';
import { registry } from '../../fakes/registry.ts';

/** Four images under immutable tags; the tag that moves names the newest. */
async function four() {
  const { host } = await registry();
  const client = testClient([host]);
  const old = oldImages(client, host);
  const images = [imageOf(1), imageOf(2), imageOf(3), imageOf(4)] as const;
  for (const [i, image] of images.entries()) await old.push(tagOf(i + 1), image);
  await old.push('v4.20', images[3]);
  return { client, old, images };
}

test('the newest stay; the others go with their platforms, and a second run finds nothing to do', async () => {
  const { old, images } = await four();
  expect(await old.keep(2)).toEqual([tagOf(1), tagOf(2)]);
  expect(await old.tags()).toEqual(['v4.20', tagOf(3), tagOf(4)]);
  expect(await Promise.all(images.map(old.there))).toEqual([
    [false, false, false],
    [false, false, false],
    [true, true, true],
    [true, true, true],
  ]);
  expect(await old.keep(2)).toEqual([]);
});

test('an old image stays that the moving tag, a tag of somebody else, or a claim names', async () => {
  const { old, images } = await four();
  await old.push('v4.20', images[0]);
  await old.push('in-use', images[1]);
  expect(await old.keep(1, [images[2].root.digest])).toEqual([]);
  expect(await old.tags()).toHaveLength(6);
  // Without the claim it goes: it was the claim that kept it.
  expect(await old.keep(1)).toEqual([tagOf(3)]);
});

test('a platform stays that an image has in common with one that stays', async () => {
  const { old } = await four();
  const [gone, stays] = [imageOf(1, ['amd64', 's390x']), imageOf(1, ['amd64', 'ppc64le'])];
  await old.push(tagOf(1), gone);
  await old.push('other', stays);
  await old.keep(2);
  expect(await old.there(gone)).toEqual([false, true, false]);
  expect(await old.there(stays)).toEqual([true, true, true]);
});

test("Portolan's own artifacts go with the image; somebody else's keep it, and so does a signature of cosign", async () => {
  const { client, old, images } = await four();
  const bytes = new TextEncoder().encode('{}');
  const put = (image: (typeof images)[number], artifactType: string) =>
    attach(client, { reference: old.published, manifest: image.root }, { artifactType, bytes });
  const { digest } = await put(images[0], SBOM_TYPE);
  await put(images[1], 'application/vnd.example.release-approval');
  await old.push(`${images[2].root.digest.replace(':', '-')}.sig`, imageOf(9, ['amd64']));
  expect(await old.keep(1)).toEqual([tagOf(1)]);
  expect(await client.resolve(withDigest(old.published, digest))).toBeUndefined();
  expect(await client.listReferrers(old.published, images[1].root.digest)).toHaveLength(1);
});

test('nothing is deleted where a tag cannot be read', async () => {
  const { client, old, images } = await four();
  const getManifest: typeof client.getManifest = async (reference) => {
    if (reference.kind === 'tag' && reference.tag === tagOf(3))
      throw new PipelineError('unreachable', 'no answer');
    return client.getManifest(reference);
  };
  const retention = { keep: 1, claimed: [], isOwn: isPublished };
  await expect(deleteOld({ ...client, getManifest }, old.published, retention)).rejects.toThrow('no answer');
  expect(await Promise.all(images.map(old.there))).toEqual(images.map(() => [true, true, true]));
});

test('a registry that does not delete is named, and the publish goes on', async () => {
  const { client, old } = await four();
  const { keepNewest } = await import('../../../pipeline/publish/keep.ts');
  const lines: string[] = [];
  const deleteManifest = async (): Promise<never> => {
    throw new PipelineError('denied', 'the registry answered 405');
  };
  const place = { kind: 'registry', reference: old.published };
  const planned = {
    target: { keep: 2, to: place, also: [], attest: [] },
    ports: { registry: { ...client, deleteManifest }, progress: (line: string) => lines.push(line) },
  };
  await keepNewest(planned as never, []);
  expect(lines).toEqual([
    expect.stringMatching(/^cannot delete old images of .*:v4.20: the registry answered 405$/),
  ]);
});
