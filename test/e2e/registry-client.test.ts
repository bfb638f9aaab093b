/** Our client against registries that others wrote, read back by tools that others wrote. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseReference, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../../pipeline/error.ts';
import { digestOf } from '../../pipeline/oci/digest.ts';
import { copyImage, pushImage, readImage } from '../../pipeline/oci/registry/push.ts';
import type { BlobSource } from '../../pipeline/ports.ts';
import { folder } from '../fakes/folder.ts';
import { bytesOf, noise, sampleImage, sampleReferrer, source } from '../fakes/image.ts';
import { craneRegistry, dockerRegistry, guardedRegistry } from '../fakes/real-registry.ts';
import { isOnPath, run } from '../fakes/tools.ts';

const image = sampleImage({ architectures: ['amd64', 's390x'], layers: ['a', noise(700_000)] });

describe.each([
  ['docker-registry', ['docker-registry'], dockerRegistry, true],
  ['docker-registry with htpasswd and TLS', ['docker-registry', 'htpasswd'], guardedRegistry, true],
  ['the registry of go-containerregistry', ['registry'], craneRegistry, false],
] as const)('%s', (_, needed, begin, resumes) => {
  const missing = [...needed, 'skopeo'].filter((program) => !isOnPath(program));

  test.skipIf(missing.length > 0)(
    `push, pull, mount, list${missing.length > 0 ? ` (needs ${missing})` : ''}`,
    async () => {
      const { host, client, skopeo } = await begin();
      const tag = parseReference(`${host}/org/app:v1`);
      const report = await pushImage(client, tag, { image });
      expect(report.blobs.uploaded).toBe(4);
      const raw = await run('skopeo', 'inspect', '--raw', ...skopeo, `docker://${host}/org/app:v1`);
      expect(digestOf(raw)).toBe(image.root.digest);

      expect(await pushImage(client, tag, { image })).toMatchObject({ unchanged: true });
      const { root, manifests, blobs } = await readImage(client, tag);
      expect([root, ...manifests]).toEqual([image.root, ...image.manifests]);
      for (const blob of blobs) expect(digestOf(await bytesOf(blob.open(0)))).toBe(blob.digest);

      const before = client.traffic().get(host)?.sent ?? 0;
      const copy = { registry: client, reference: parseReference(`${host}/other:v1`) };
      const { blobs: moved } = await copyImage({ registry: client, reference: tag }, copy);
      // The last of the three keeps one pool of blobs for all repositories: nothing to mount there.
      expect(moved).toMatchObject({ uploaded: 0 });
      expect((client.traffic().get(host)?.sent ?? 0) - before).toBeLessThan(5000);

      const tags: string[] = [];
      for await (const name of client.listTags(tag)) tags.push(name);
      expect(tags).toEqual(['v1']);
    },
  );

  test.skipIf(missing.length > 0)('an upload that broke goes on where it broke', async () => {
    const { host, client } = await begin();
    const big = sampleImage({ layers: [noise(3_000_000)] });
    const layer = big.blobs.find(({ size }) => size > 1_000_000) ?? source(Buffer.alloc(0));
    const offsets: number[] = [];
    let broke = false;
    // The source fails once in the middle of the third chunk, as a line that is cut does.
    const frail: BlobSource = {
      ...layer,
      open: async function* (from) {
        offsets.push(from);
        let at = from;
        for await (const chunk of layer.open(from)) {
          if (!broke && at > 500_000) {
            broke = true;
            throw new PipelineError('unreachable', 'the line was cut', { retryable: true });
          }
          at += chunk.length;
          yield chunk;
        }
      },
    };
    const to = { registry: host, repository: 'org/app' };
    expect(await client.putBlob(to, frail)).toBe('uploaded');
    expect(broke).toBe(true);
    expect(offsets).toEqual(resumes ? [0, 400_000] : [0, 0]);
    expect(digestOf(await bytesOf(client.getBlob(to, layer)))).toBe(layer.digest);
    // A registry that does not say how far it got takes the blob anew.
    expect(client.traffic().get(host)?.sent ?? 0).toBeLessThan(1.5 * layer.size);
  });

  test.skipIf(missing.length > 0)('referrers, by the tag where there is no API', async () => {
    const { host, client, skopeo } = await begin();
    const tag = parseReference(`${host}/org/app:v1`);
    await pushImage(client, tag, { image });
    const about = [sampleReferrer(image.root, 'test/sbom'), sampleReferrer(image.root, 'test/signature')];
    for (const one of about) await pushImage(client, withDigest(tag, one.root.digest), { image: one });
    const found = await client.listReferrers(tag, image.root.digest);
    expect(new Set(found.map(({ digest }) => digest))).toEqual(new Set(about.map(({ root }) => root.digest)));
    expect(await client.listReferrers(tag, image.root.digest, 'test/sbom')).toHaveLength(1);
    const list = `docker://${host}/org/app:${image.root.digest.replace(':', '-')}`;
    expect(
      JSON.parse((await run('skopeo', 'inspect', '--raw', ...skopeo, list)).toString()).manifests,
    ).toHaveLength(2);
  });

  test.skipIf(missing.length > 0)('what skopeo pushed is read', async () => {
    const { host, client, skopeo } = await begin();
    const layout = `oci:${join(folder(), 'layout')}:v1`;
    const { openDestination } = await import('../../pipeline/oci/registry/open.ts');
    const { parseLocation } = await import('../../pipeline/oci/registry/image-location.ts');
    const to = await openDestination(parseLocation(layout), client);
    await pushImage(to.registry, to.reference, { image });
    const flags = skopeo.map((flag) => flag.replace('--tls-verify', '--dest-tls-verify'));
    await run('skopeo', 'copy', '-q', '--all', ...flags, layout, `docker://${host}/org/app:v1`);
    const tag = parseReference(`${host}/org/app:v1`);
    expect(await client.resolve(tag)).toMatchObject({ digest: image.root.digest });
    for (const blob of (await readImage(client, tag)).blobs) {
      expect(digestOf(await bytesOf(blob.open(0)))).toBe(blob.digest);
    }
  });
});
