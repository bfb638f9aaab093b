/** What goes with an image that is deleted from a mirror, and what stays. */
import { expect, test } from 'vitest';
import { formatReference, parseReference, type Reference, withDigest } from '../../../catalog/reference.ts';
import { PipelineError } from '../../../pipeline/error.ts';
import { pruneImages } from '../../../pipeline/mirror/prune.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import type { Registry } from '../../../pipeline/ports.ts';
import { testClient } from '../../fakes/host.ts';
import { manifestOf, sampleImage, sampleReferrer } from '../../fakes/image.ts';
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

test('attack 56: what belongs to a platform of a list inside of a list that stays is not deleted', async () => {
  const { client, at, list, ofList, ofChild } = await scene();
  const { mediaType, digest, bytes } = list.root;
  const outer = manifestOf(mediaType, {
    schemaVersion: 2,
    mediaType,
    manifests: [{ mediaType, digest, size: bytes.length }],
  });
  await client.putManifest(at('outer'), outer);
  await pruneImages(client, [at('v1')]);
  expect(await thereOf(client, [...ofList, ofChild])).toEqual([true, true, true]);
  // The inner list has a tag of its own, too, which comes after the outer one.
  const second = await scene();
  await second.client.putManifest(second.at('outer'), outer);
  await pushImage(second.client, second.at('v2'), { image: second.list });
  await pruneImages(second.client, [second.at('v1')]);
  expect(await thereOf(second.client, [...second.ofList, second.ofChild])).toEqual([true, true, true]);
});

/** A registry that deletes manifests only by digest, as distribution 2.8. */
function withoutTagDeletion(client: Registry): Registry {
  return {
    ...client,
    deleteManifest: (image, options) =>
      image.kind === 'tag'
        ? Promise.reject(new PipelineError('denied', 'tags are not deleted'))
        : client.deleteManifest(image, options),
  };
}

test('181: an image stays where the registry does not list its own tag', async () => {
  const { client, at, child } = await scene();
  await client.putManifest(at('old'), child);
  await client.putManifest(at('new'), child);
  for (const listed of [[], ['v1']]) {
    const silent = {
      ...withoutTagDeletion(client),
      async *listTags(): AsyncGenerator<string> {
        yield* listed;
      },
    };
    const { failed } = await pruneImages(silent, [at('old')]);
    expect(failed[0]?.why).toContain('is missing in the list of tags');
    expect(await client.resolve(at('new'))).toBeDefined();
  }
});

test('attack 56: an image of one platform stays while a list that stays names it', async () => {
  const { client, at, child, list } = await scene();
  const digest = withDigest(at('v1'), child.digest);
  await client.putManifest(at('amd64'), child);
  const old = withoutTagDeletion(client);
  const reasons = async (images: readonly Reference[], keep: readonly string[] = []) =>
    (await pruneImages(old, images, new Set(keep))).failed.map(({ why }) => why);
  expect(await reasons([at('amd64')])).toEqual([
    `${formatReference(at('amd64'))} is also a part of v1, and the registry cannot delete a single tag`,
  ]);
  expect(await reasons([digest])).toEqual([
    expect.stringContaining('is also the image of amd64 and a part of v1'),
  ]);
  // The list has no tag, but somebody needs it by its digest.
  await client.deleteManifest(at('v1'));
  const kept = formatReference(withDigest(at('v1'), list.root.digest));
  expect(await reasons([at('amd64')], [kept])).toEqual([
    expect.stringContaining(`is also a part of ${kept}`),
  ]);
  expect(await thereOf(client, [digest])).toEqual([true]);
  expect(await reasons([at('amd64')])).toEqual([]);
  expect(await thereOf(client, [digest])).toEqual([false]);
});

test('an image goes with the list that names it, and with the last of its tags', async () => {
  const { client, at, child, list } = await scene();
  await client.putManifest(at('amd64'), child);
  const old = withoutTagDeletion(client);
  expect(await pruneImages(old, [at('amd64'), at('v1')])).toMatchObject({
    failed: [],
    deleted: Array(2).fill(expect.any(String)),
  });
  expect(
    await thereOf(
      client,
      [child, list.root].map(({ digest }) => withDigest(at('v1'), digest)),
    ),
  ).toEqual([false, false]);
});

test('what belongs to a digest that stays is not deleted with a tag of that digest', async () => {
  const { client, at, child, list, ofList, ofChild, referrers } = await scene();
  const keep = new Set([formatReference(withDigest(at('v1'), list.root.digest))]);
  expect(await pruneImages(client, [at('v1')], keep)).toMatchObject({ failed: [] });
  expect(await thereOf(client, [...ofList, ofChild, ...referrers])).toEqual(Array(5).fill(true));
  // Only one platform stays.
  const second = await scene();
  const kept = formatReference(withDigest(second.at('v1'), child.digest));
  await pruneImages(second.client, [second.at('v1')], new Set([kept]));
  expect(await thereOf(second.client, [...second.ofList, second.ofChild, ...second.referrers])).toEqual([
    ...[false, false],
    true,
    ...[false, false],
  ]);
});

test('a referrer with a tag of its own stays with its signatures', async () => {
  const { client, at, referrers } = await scene();
  const [sbom] = referrers;
  const manifest = sbom && (await client.getManifest(sbom));
  if (!manifest) throw new Error('there is no SBOM');
  await client.putManifest(at('sbom'), manifest);
  await pruneImages(client, [at('v1')]);
  expect(await thereOf(client, referrers)).toEqual([true, true]);
});

test('each artifact that cannot be deleted is named, and the others go', async () => {
  const { client, at, ofList, ofChild, referrers } = await scene();
  const all = [...ofList, ofChild, ...referrers];
  const refused = new Set([...ofList, ...referrers].slice(1, 3).map(formatReference));
  const picky: Registry = {
    ...client,
    deleteManifest: (image, options) =>
      refused.has(formatReference(image))
        ? Promise.reject(new PipelineError('unreachable', 'no answer', { retryable: true }))
        : client.deleteManifest(image, options),
  };
  const { failed } = await pruneImages(picky, [at('v1')]);
  expect(failed.map(({ image }) => image).sort()).toEqual([...refused].sort());
  expect(await thereOf(client, all)).toEqual(all.map((one) => refused.has(formatReference(one))));
});
