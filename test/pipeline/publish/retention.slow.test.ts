/** Which old images a registry keeps. */
import { expect, onTestFinished, test } from 'vitest';
import { withDigest } from '../../../catalog/reference.ts';
import { PipelineError } from '../../../pipeline/error.ts';
import { openRepository } from '../../../pipeline/git/repository.ts';
import { COSIGN_PREDICATE } from '../../../pipeline/oci/signatures/verify.ts';
import type { Policy } from '../../../pipeline/policy/policy.ts';
import { policyAt } from '../../../pipeline/policy/read-policy.ts';
import { attachDocument, PREDICATE_TYPE, SBOM_TYPE } from '../../../pipeline/publish/attest/artifact.ts';
import { PROVENANCE_PREDICATE } from '../../../pipeline/publish/attest/provenance.ts';
import { BUNDLE_TYPE } from '../../../pipeline/publish/attest/sign.ts';
import { deleteOld, isPublished } from '../../../pipeline/publish/retention.ts';
import { targetOf } from '../../../pipeline/publish/target.ts';
import { testClient } from '../../fakes/host.ts';
import { imageOf, oldImages, tagOf } from '../../fakes/old-images.ts';
import { registry } from '../../fakes/registry.ts';
import { harbourRepository } from '../../fakes/sample.ts';

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

test('with rings, all stay that are newer than the image of the last ring; all where it has none', async () => {
  const { old, images } = await four();
  expect(await old.keep(1, [], 'v4.20-all')).toEqual([]);
  // An image of an older layout of tags: nobody knows what is newer.
  await old.push('v4.20-all', imageOf(9));
  expect(await old.keep(1, [], 'v4.20-all')).toEqual([]);
  await old.push('v4.20-all', images[1]);
  expect(await old.keep(1, [], 'v4.20-all')).toEqual([tagOf(1)]);
  expect(await Promise.all(images.slice(1).map(old.there))).toEqual([1, 2, 3].map(() => [true, true, true]));
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

test('a platform stays that a tag of somebody else names itself', async () => {
  const { client, old, images } = await four();
  const [image] = images;
  const [amd64, arm64] = image.manifests;
  if (!amd64 || !arm64) throw new Error('two platforms');
  await client.putManifest({ ...old.published, tag: 'pinned-arm64' }, arm64);
  expect(await old.keep(3, [amd64.digest])).toEqual([tagOf(1)]);
  expect(await old.there(image), 'one by its tag, one by a claim').toEqual([false, true, true]);
  expect(await old.tags()).toContain('pinned-arm64');
});

test.each(['an artifact', 'a signature of cosign'])(
  'an image stays that has %s of somebody else for one platform',
  async (what) => {
    const { client, old, images } = await four();
    const manifest = images[0].manifests[1] ?? images[0].root;
    const artifactType = 'application/vnd.example.release-approval';
    const attachment = { artifactType, bytes: new TextEncoder().encode('{}') };
    if (what === 'an artifact')
      await attachDocument(client, { reference: old.published, manifest }, attachment);
    else await old.push(`${manifest.digest.replace(':', '-')}.sig`, imageOf(9, ['amd64']));
    expect(await old.keep(2)).toEqual([tagOf(2)]);
    expect(await old.there(images[0])).toEqual([true, true, true]);
  },
);

test("Portolan's own artifacts go with the image; somebody else's keep it, and so does a signature of cosign", async () => {
  const { client, old, images } = await four();
  const bytes = new TextEncoder().encode('{}');
  const put = (image: (typeof images)[number], artifactType: string) =>
    attachDocument(client, { reference: old.published, manifest: image.root }, { artifactType, bytes });
  const { digest } = await put(images[0], SBOM_TYPE);
  await put(images[1], 'application/vnd.example.release-approval');
  await old.push(`${images[2].root.digest.replace(':', '-')}.sig`, imageOf(9, ['amd64']));
  expect(await old.keep(1)).toEqual([tagOf(1)]);
  expect(await client.resolve(withDigest(old.published, digest))).toBeUndefined();
  expect(await client.listReferrers(old.published, images[1].root.digest)).toHaveLength(1);
});

test('what the target signs goes with an image; where it signs nothing, somebody else has signed', async () => {
  for (const [attest, deleted] of [
    [['provenance'], 0],
    [['provenance', 'kms'], 1],
    [['upgrade-safety', 'keyless'], 2],
  ] as const) {
    const { client, old, images } = await four();
    const sign = (image: (typeof images)[number], predicate: string) => {
      const bytes = new TextEncoder().encode(JSON.stringify({ predicate }));
      const annotations = { [PREDICATE_TYPE]: predicate };
      const attachment = { artifactType: BUNDLE_TYPE, bytes, annotations };
      return attachDocument(client, { reference: old.published, manifest: image.root }, attachment);
    };
    await sign(images[0], PROVENANCE_PREDICATE);
    await sign(images[0], COSIGN_PREDICATE);
    await sign(images[1], 'urn:portolan:upgrade-safety:v1');
    const to = { kind: 'registry', reference: old.published };
    expect(await keepNewestOf(client, { to, attest }), attest.join()).toHaveLength(deleted);
  }
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

/** Deletes old images as a publish does. @returns what it says */
async function keepNewestOf(
  registry: object,
  target: object,
  around: { readonly ports?: object; readonly policy?: object; readonly commit?: string } = {},
): Promise<string[]> {
  const { keepNewest } = await import('../../../pipeline/publish/retention.ts');
  const lines: string[] = [];
  const ports = { registry, progress: (line: string) => lines.push(line), ...around.ports };
  const request = { catalog: 'v4.20' };
  const whole = { keep: 2, also: [], attest: [], rings: [], ...target };
  const commit = around.commit;
  await keepNewest({ target: whole, ports, request, policy: around.policy, commit } as never, []);
  return lines;
}

test('a registry that does not delete is named, and the publish goes on', async () => {
  const { client, old } = await four();
  const deleteManifest = async (): Promise<never> => {
    throw new PipelineError('denied', 'the registry answered 405');
  };
  const to = { kind: 'registry', reference: old.published };
  expect(await keepNewestOf({ ...client, deleteManifest }, { to })).toEqual([
    expect.stringMatching(/^cannot delete old images of .*:v4.20: the registry answered 405$/),
  ]);
});

test('where nobody knows what rings wait for, their images stay', async () => {
  const { client, old } = await four();
  const to = { kind: 'registry', reference: old.published };
  const last = { ...old.published, tag: tagOf(4) };
  const rings = [
    { tag: 'v4.20', place: to },
    { tag: last.tag, place: { kind: 'registry', reference: last } },
  ];
  expect(await keepNewestOf(client, { to, rings })).toEqual([
    expect.stringMatching(/^old images of .*:v4.20 stay: without a fence, /),
  ]);
  const corrupt = async (): Promise<never> => {
    throw new PipelineError('corrupt', 'rings/v4.20 is not a valid record of rings');
  };
  expect(await keepNewestOf(client, { to, rings }, { ports: { inRings: corrupt } })).toEqual([
    expect.stringMatching(/^cannot delete old images of .* is not a valid record of rings$/),
  ]);
  expect(await old.tags()).toHaveLength(5);
  // Once they are known, the others go.
  expect(await keepNewestOf(client, { to, rings }, { ports: { inRings: async () => [] } })).toHaveLength(2);
});

test("a registry's own rules have no limit for rings: they cannot know which image soaks", async () => {
  const sample = harbourRepository();
  onTestFinished(() => sample.remove());
  const repository = await openRepository(sample.directory, { searchPath: process.env['PATH'] });
  onTestFinished(repository.close);
  const { policy } = await policyAt(repository.objects, sample.base);
  const rings = [
    { tag: '{catalog}-canary', after: 0, unless: [], checks: [], approvals: 1 },
    { tag: '{catalog}', after: 1, unless: [], checks: [], approvals: 1 },
  ] as const;
  const written = async (own: object) => {
    const catalogs = policy?.publish.catalogs.map((one) => ({ ...one, ...own })) ?? [];
    const changed = { ...policy, publish: { ...policy?.publish, catalogs } } as unknown as Policy;
    const asked: unknown[] = [];
    const keepImages = async (_: unknown, rules: unknown): Promise<boolean> => asked.push(rules) > 0;
    const listTags = async function* (): AsyncIterable<string> {
      asked.push('tags');
      yield* [];
    };
    const target = targetOf(changed, 'v4.20', {});
    const ports = { repository, inRings: async () => [] };
    const lines = await keepNewestOf({ keepImages, listTags }, target, {
      ports,
      policy: changed,
      commit: sample.base,
    });
    return [...asked, ...lines];
  };
  expect(await written({ keep: 2 })).toEqual([
    [{ tag: 'v4.20', keep: 2 }],
    expect.stringMatching(/^old images of .*:v4.20 are left to the lifecycle policy of their repository$/),
  ]);
  // Portolan itself looks for old images then.
  expect(await written({ keep: 2, rings })).toEqual([
    [
      { tag: 'v4.20-canary', keep: undefined },
      { tag: 'v4.20', keep: undefined },
    ],
    'tags',
  ]);
});
