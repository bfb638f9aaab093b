/** What goes with an image that is deleted from a mirror, and what stays. */
import { expect, test } from 'vitest';
import { parseReference, type Reference, withDigest } from '../../../catalog/reference.ts';
import { pruneImages } from '../../../pipeline/mirror/prune.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import type { Registry } from '../../../pipeline/ports.ts';
import { testClient } from '../../fakes/host.ts';
import { sampleImage, sampleReferrer } from '../../fakes/image.ts';
import { registry } from '../../fakes/registry.ts';

/** Two lists that share the image of one platform, with signatures of the lists and of the platforms. */
async function scene() {
  const { host } = await registry();
  const client = testClient([host]);
  const at = (tag: string) => parseReference(`${host}/m/app:${tag}`);
  const list = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['one'] });
  const [child] = list.manifests;
  if (!child) throw new Error('the list has no manifests');
  await pushImage(client, at('v1'), { image: list });
  const sbom = sampleReferrer(list.root, 'test/sbom');
  const aboutSbom = sampleReferrer(sbom.root, 'test/signature');
  for (const { root, ...image } of [sbom, aboutSbom])
    await pushImage(client, withDigest(at('v1'), root.digest), { image: { root, ...image } });
  const tagFor = (digest: string, suffix: string) => at(`${digest.replace(':', '-')}.${suffix}`);
  const ofList = [tagFor(list.root.digest, 'sig'), tagFor(list.root.digest, 'att')];
  const ofChild = tagFor(child.digest, 'sig');
  for (const [i, tag] of [...ofList, ofChild].entries())
    await pushImage(client, tag, { image: sampleImage({ layers: [`signature ${i}`] }) });
  const referrers = [sbom, aboutSbom].map(({ root }) => withDigest(at('v1'), root.digest));
  return { client, at, list, child, ofList, ofChild, referrers };
}

async function thereOf(client: Registry, references: readonly Reference[]): Promise<boolean[]> {
  return Promise.all(references.map(async (one) => (await client.resolve(one)) !== undefined));
}

test('signatures, attestations and referrers go with an image, those of its platforms too', async () => {
  const { client, at, ofList, ofChild, referrers } = await scene();
  const all = [...ofList, ofChild, ...referrers];
  expect(await thereOf(client, all)).toEqual([true, true, true, true, true]);
  expect(await pruneImages(client, [at('v1')])).toMatchObject({ deleted: [expect.any(String)], failed: [] });
  expect(await thereOf(client, all)).toEqual([false, false, false, false, false]);
});

test('attack 56: what belongs to an image that stays is not deleted', async () => {
  const { client, at, child, list, ofList, ofChild, referrers } = await scene();
  await pushImage(client, at('platform'), { image: { ...list, root: child, manifests: [] } });
  await pruneImages(client, [at('v1')]);
  expect(await thereOf(client, [...ofList, ofChild, ...referrers])).toEqual([
    false,
    false,
    true,
    false,
    false,
  ]);
  // Under another tag the whole list stays, and all that belongs to it.
  const second = await scene();
  await pushImage(second.client, second.at('v2'), { image: second.list });
  await pruneImages(second.client, [second.at('v1')]);
  expect(
    await thereOf(second.client, [...second.ofList, second.ofChild, ...second.referrers, second.at('v2')]),
  ).toEqual([true, true, true, true, true, true]);
});
