import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseReference, type Reference, withDigest } from '../../../../catalog/reference.ts';
import { OCI_INDEX } from '../../../../pipeline/oci/media-types.ts';
import {
  copyImage,
  type ImageContent,
  pushImage,
  readImage,
} from '../../../../pipeline/oci/registry/push.ts';
import type { Descriptor, Manifest } from '../../../../pipeline/ports.ts';
import { reply, startHost, testClient } from '../../../fakes/host.ts';
import { bytesOf, describe as described, manifestOf, noise, sampleImage } from '../../../fakes/image.ts';
import { registry } from '../../../fakes/registry.ts';

const image = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['a', 'b', noise(50_000)] });

/** Of every blob and manifest, each once. */
function bytesOfAll({ root, manifests, blobs }: ImageContent): number {
  const pieces = [root, ...manifests].map(({ digest, bytes }) => ({ digest, size: bytes.length }));
  const sizes = new Map([...pieces, ...blobs].map(({ digest, size }) => [digest, size]));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

describe('a push', () => {
  test('sends blobs, then manifests, then the tag', async () => {
    const { host, seen } = await registry();
    const report = await pushImage(testClient([host]), parseReference(`${host}/a:v1`), { image });
    expect(report).toEqual({
      digest: image.root.digest,
      blobs: { present: 0, mounted: 0, uploaded: 5 },
      bytes: bytesOfAll(image),
      unchanged: false,
    });
    const writes = seen
      .filter(({ method }) => method === 'PUT')
      .map(({ url }) => url.replace(/\?.*/, '').split('/')[3]);
    expect(writes).toEqual([
      'blobs',
      'blobs',
      'blobs',
      'blobs',
      'blobs',
      'manifests',
      'manifests',
      'manifests',
    ]);
    expect(seen.at(-1)?.url).toBe('/v2/a/manifests/v1');
  });

  test('of the same again sends nothing, in two requests', async () => {
    const { host } = await registry();
    const tag = parseReference(`${host}/a:v1`);
    await pushImage(testClient([host]), tag, { image });
    const client = testClient([host]);
    const report = await pushImage(client, tag, { image });
    expect(report.unchanged).toBe(true);
    expect(client.traffic().get(host)).toMatchObject({ requests: 2, sent: 0 });
  });

  test('of one more layer sends that layer and what names it', async () => {
    const { host } = await registry();
    const tag = parseReference(`${host}/a:v1`);
    await pushImage(testClient([host]), tag, { image });
    const next = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['a', 'b', noise(50_000), 'new'] });
    const client = testClient([host]);
    const report = await pushImage(client, tag, { image: next });
    expect(report.blobs).toEqual({ present: 3, mounted: 0, uploaded: 3 });
    // The tag and two of its manifests are read; three blobs and two manifests go there, and the tag.
    expect(client.traffic().get(host)?.requests).toBe(1 + 3 + 3 * 3 + 2 + 1);
  });

  test('beside an image asks for none of the blobs that it names', async () => {
    const { host, seen } = await registry();
    const tag = parseReference(`${host}/a:v1`);
    await pushImage(testClient([host]), tag, { image });
    const next = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['a', 'b', noise(50_000), 'new'] });
    seen.splice(0);
    await pushImage(testClient([host]), withDigest(tag, next.root.digest), { image: next, beside: tag });
    const asked = seen.filter(({ method, url }) => method === 'HEAD' && url.includes('/blobs/'));
    expect(asked).toHaveLength(3);
  });

  test('over an image of which the registry has lost a blob brings it back', async () => {
    const { host, directory } = await registry();
    const tag = parseReference(`${host}/a:v1`);
    await pushImage(testClient([host]), tag, { image });
    const lost = image.blobs[1]?.digest ?? '';
    rmSync(join(directory, 'blobs', lost.replace(':', '/')));
    const next = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['a', 'b', noise(50_000), 'new'] });
    const report = await pushImage(testClient([host]), tag, { image: next });
    expect(report.blobs.uploaded).toBe(1);
    const client = testClient([host]);
    for (const { digest } of next.blobs) expect(await client.hasBlob(tag, digest)).toBe(true);
  });

  describe.each([
    ['fenced', (tag: Reference, { digest }: Manifest) => withDigest(tag, digest)],
    ['unfenced', (tag: Reference) => tag],
  ])('%s, back to an image of which a cleanup has left the list', (_, to) => {
    const architectures = ['amd64', 'arm64'];
    const later = sampleImage({ architectures, layers: ['a', 'b', 'later'] });
    const publish = async (host: string, content: ImageContent) => {
      const client = testClient([host]);
      const tag = parseReference(`${host}/a:v1`);
      const report = await pushImage(client, to(tag, content.root), { image: content, beside: tag });
      await client.putManifest(tag, content.root);
      return report;
    };
    test.each<[string, string]>([
      ['a platform', image.manifests[1]?.digest ?? ''],
      ['a layer of its own', image.blobs[2]?.digest ?? ''],
      ['a layer that the tagged image names too', image.blobs[0]?.digest ?? ''],
    ])('brings back %s', async (__, lost) => {
      const { host, directory } = await registry();
      await publish(host, image);
      await publish(host, later);
      rmSync(join(directory, 'blobs', lost.replace(':', '/')));
      expect(await publish(host, image)).toMatchObject({ unchanged: false });
      const client = testClient([host]);
      const tag = parseReference(`${host}/a:v1`);
      const { root, blobs } = await readImage(client, tag);
      expect(root).toEqual(image.root);
      for (const blob of blobs) expect(await bytesOf(blob.open(0))).toHaveLength(blob.size);
      expect(await publish(host, image)).toMatchObject({ unchanged: true });
    });
  });

  test('beside a tag asks for the tag only, where that names the image already', async () => {
    const { host, seen } = await registry();
    const tag = parseReference(`${host}/a:v1`);
    await pushImage(testClient([host]), tag, { image });
    seen.splice(0);
    const to = withDigest(tag, image.root.digest);
    expect(await pushImage(testClient([host]), to, { image, beside: tag })).toMatchObject({
      unchanged: true,
      bytes: 0,
    });
    expect(seen.map(({ url }) => url)).toEqual(['/v2/', '/v2/a/manifests/v1']);
  });

  test('that fails leaves the tag where it was', async () => {
    const { host } = await registry();
    const client = testClient([host]);
    const tag = parseReference(`${host}/a:v1`);
    const before = sampleImage();
    await pushImage(client, tag, { image: before });
    const broken = {
      ...image,
      blobs: image.blobs.map((blob, i) =>
        i === 2
          ? {
              ...blob,
              async *open() {
                yield Buffer.alloc(1);
                throw new Error('disk');
              },
            }
          : blob,
      ),
    };
    await expect(pushImage(client, tag, { image: broken })).rejects.toThrow(new Error('disk'));
    expect(await client.resolve(tag)).toMatchObject({ digest: before.root.digest });
    await pushImage(client, tag, { image });
    expect(await client.resolve(tag)).toMatchObject({ digest: image.root.digest });
  });
});

describe('a copy', () => {
  test('within a registry mounts', async () => {
    const { host } = await registry();
    const client = testClient([host]);
    const from = parseReference(`${host}/a:v1`);
    const to = parseReference(`${host}/b:v1`);
    await pushImage(client, from, { image });
    const before = client.traffic().get(host)?.sent ?? 0;
    const report = await copyImage(
      { registry: client, reference: from },
      { registry: client, reference: to },
    );
    expect(report.blobs).toEqual({ present: 0, mounted: 5, uploaded: 0 });
    const manifests = [image.root, ...image.manifests].reduce((sum, { bytes }) => sum + bytes.length, 0);
    expect((client.traffic().get(host)?.sent ?? 0) - before).toBe(manifests);
  });

  test('to another registry streams, with one request at a time too', async () => {
    const one = await registry();
    const other = await registry();
    const client = testClient([one.host, other.host], { concurrency: 1 });
    const from = { registry: client, reference: parseReference(`${one.host}/a:v1`) };
    const to = { registry: client, reference: parseReference(`${other.host}/a:v1`) };
    await pushImage(client, from.reference, { image });
    await copyImage(from, to);
    expect(await readManifests(to)).toEqual(await readManifests(from));
  });

  const readManifests = async ({ registry: source, reference }: Parameters<typeof copyImage>[0]) => {
    const { root, manifests } = await readImage(source, reference);
    return { root, manifests };
  };

  test('of what is not there, or not whole, or endless, fails', async () => {
    const { host } = await registry();
    const client = testClient([host]);
    const none = readImage(client, parseReference(`${host}/a:v1`));
    await expect(none).rejects.toMatchObject({ code: 'not-found' });
    const nested = await startHost((request, response) => {
      const children = Array.from({ length: 2000 }, (_, i) => ({
        mediaType: OCI_INDEX,
        size: 1,
        digest: `sha256:${String(i).padStart(64, '0')}`,
      }));
      const list = manifestOf(OCI_INDEX, { manifests: children });
      if (request.url === '/v2/') return reply(response, 200);
      reply(response, 200, list.bytes, { 'content-type': OCI_INDEX });
    });
    const endless = readImage(testClient([nested.host]), parseReference(`${nested.host}/a:v1`));
    await expect(endless).rejects.toMatchObject({ code: 'too-large' });
  });

  /** Lists around an image, each made of those within it; the last is the image's root. */
  function nested(
    ...lists: readonly ((within: readonly Descriptor[]) => readonly Descriptor[])[]
  ): ImageContent {
    const { root, blobs } = sampleImage();
    const all = [root];
    for (const list of lists) {
      const within = all.map(({ mediaType, bytes }) => described(mediaType, Buffer.from(bytes)));
      const manifests = list(within);
      all.push(manifestOf(OCI_INDEX, { schemaVersion: 2, mediaType: OCI_INDEX, manifests }));
    }
    return { root: all.at(-1) ?? root, manifests: all.slice(0, -1), blobs };
  }
  const last = (within: readonly Descriptor[]): Descriptor[] => within.slice(-1);

  test('of lists that name the same list a hundred times asks for each once', async () => {
    const { host, seen } = await registry();
    const often = (within: readonly Descriptor[]) => Array(100).fill(within.at(-1));
    const reference = parseReference(`${host}/a:v1`);
    const content = nested(often, often, often, often);
    await pushImage(testClient([host]), reference, { image: content });
    seen.splice(0);
    const read = await readImage(testClient([host]), reference);
    expect(read.manifests).toEqual(content.manifests);
    expect(seen.filter(({ url }) => url.includes('/manifests/'))).toHaveLength(5);
  });

  test('puts what a list names in front of it, also where a list around it names both', async () => {
    const { host } = await registry();
    const client = testClient([host]);
    const reference = parseReference(`${host}/a:v1`);
    const content = nested(last, last, (within) => within.toReversed());
    await pushImage(client, reference, { image: content });
    expect((await readImage(client, reference)).manifests).toEqual(content.manifests);
  });

  test('of too many manifests fails, though no list has too many, and of lists too deep in lists', async () => {
    const { host } = await registry();
    const client = testClient([host]);
    const deep = nested(last, last, last, last, last);
    const reference = parseReference(`${host}/a:v1`);
    await pushImage(client, reference, { image: deep });
    await expect(readImage(client, reference)).rejects.toMatchObject({
      code: 'bad-answer',
      message: expect.stringContaining('too deep'),
    });
    const listOf = (manifests: readonly Descriptor[]) =>
      manifestOf(OCI_INDEX, { schemaVersion: 2, mediaType: OCI_INDEX, manifests });
    const halves = [0, 600].map((from) =>
      listOf(Array.from({ length: 600 }, (_, i) => described(OCI_INDEX, Buffer.from(String(from + i))))),
    );
    const wide = listOf(halves.map(({ bytes }) => described(OCI_INDEX, Buffer.from(bytes))));
    const lists = {
      ...client,
      getManifest: async (at: Reference) =>
        at.kind === 'tag' ? wide : halves.find(({ digest }) => digest === at.digest),
    };
    await expect(readImage(lists, reference)).rejects.toMatchObject({ code: 'too-large' });
  });
});
