/** Reading through mirrors: in order, then the source; what did not answer is no "not found". */
import { expect, test, vi } from 'vitest';
import { nodeConfig } from '../../../../catalog/mirror/node/node.ts';
import { parseReference, type Reference } from '../../../../catalog/reference.ts';
import { PipelineError } from '../../../../pipeline/error.ts';
import { readThroughMirrors } from '../../../../pipeline/oci/registry/mirrored.ts';
import { pushImage, readImage } from '../../../../pipeline/oci/registry/push.ts';
import type { Registry } from '../../../../pipeline/ports.ts';
import { testClient } from '../../../fakes/host.ts';
import { bytesOf, sampleImage, sampleReferrer } from '../../../fakes/image.ts';
import { registry } from '../../../fakes/registry.ts';

const image = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['a', 'b'] });

/** Two mirrors of a source; the image is where it is said to be. */
async function scene(where: readonly ('first' | 'second' | 'source')[], blocksSource = false) {
  const all = { first: await registry(), second: await registry(), source: await registry() };
  const client = testClient(Object.values(all).map(({ host }) => host));
  for (const name of where)
    await pushImage(client, parseReference(`${all[name].host}/org/app:v1`), { image });
  const rule = { source: all.source.host, mirrors: [all.first.host, all.second.host], blocksSource };
  const config = nodeConfig({ digest: [rule], tag: [rule] });
  for (const one of Object.values(all)) one.seen.length = 0;
  const reader = readThroughMirrors(client, { config, mirrors: client });
  const reference: Reference = parseReference(`${all.source.host}/org/app:v1`);
  const asked = (): string[] =>
    Object.entries(all).flatMap(([name, { seen }]) => (seen.length > 0 ? [name] : []));
  return { ...all, client, reader, reference, asked };
}

async function whole(reader: Registry, reference: Reference): Promise<void> {
  const read = await readImage(reader, reference);
  expect(read.root.digest).toBe(image.root.digest);
  for (const blob of read.blobs) expect((await bytesOf(blob.open(0))).length).toBe(blob.size);
}

test('the first mirror that has the image gives all of it, and nobody else is asked', async () => {
  const { reader, reference, asked } = await scene(['first', 'source']);
  await whole(reader, reference);
  expect(asked()).toEqual(['first']);
});

test('a mirror without the image is passed over, and its blobs come from where the manifest was', async () => {
  const { reader, reference, first, second, asked } = await scene(['second', 'source']);
  await whole(reader, reference);
  expect(asked()).toEqual(['first', 'second']);
  expect(first.seen.some(({ url }) => url.includes('/blobs/'))).toBe(false);
  // A registry counts an answer when it has gone out.
  await vi.waitFor(
    () => expect(second.seen.filter(({ url }) => url.includes('/blobs/'))).toHaveLength(image.blobs.length),
    60_000,
  );
});

test('the source is asked last, and never where that is forbidden', async () => {
  const open = await scene(['source']);
  await whole(open.reader, open.reference);
  expect(open.asked()).toEqual(['first', 'second', 'source']);
  const shut = await scene(['source'], true);
  expect(await shut.reader.getManifest(shut.reference)).toBeUndefined();
  expect(shut.asked()).toEqual(['first', 'second']);
  const blob = { digest: image.blobs[0]?.digest ?? '', size: image.blobs[0]?.size ?? 0 };
  await expect(bytesOf(shut.reader.getBlob(shut.reference, blob))).rejects.toThrow();
  expect(shut.asked()).toEqual(['first', 'second']);
});

test('what a mirror that does not answer has is not known: the image is not said to be absent', async () => {
  const { reader, reference, second } = await scene([]);
  expect(await reader.resolve(reference)).toBeUndefined();
  await second.close();
  await expect(reader.resolve(reference)).rejects.toMatchObject({ code: 'unreachable' });
  // One that has it is enough.
  const other = await scene(['second']);
  await other.first.close();
  await whole(other.reader, other.reference);
}, 60_000);

test.each([
  ['unreachable', 'not-found', 'unreachable'],
  ['not-found', 'unreachable', 'unreachable'],
  ['denied', 'unreachable', 'denied'],
  ['not-found', 'not-found', 'not-found'],
] as const)('of the errors %s and %s, %s counts, whatever is read', async (first, second, counts) => {
  const { client, reference } = await scene([]);
  const fail = (of: Reference) => {
    const code = of.registry === reference.registry ? second : first;
    return new PipelineError(code, `${code} from ${of.registry}`);
  };
  const failing = {
    ...client,
    resolve: (of: Reference) => Promise.reject(fail(of)),
    async *getBlob(of: Reference) {
      yield* [];
      throw fail(of);
    },
  } as unknown as Registry;
  const rule = { source: reference.registry, mirrors: ['mirror.example'], blocksSource: false };
  const config = nodeConfig({ digest: [rule], tag: [rule] });
  const reader = readThroughMirrors(failing, { config, mirrors: failing });
  const blob = { digest: image.root.digest, size: 1 };
  await expect(reader.resolve(reference)).rejects.toMatchObject({ code: counts });
  await expect(bytesOf(reader.getBlob(reference, blob))).rejects.toMatchObject({ code: counts });
});

test('tags and referrers come from mirrors, too; what is written goes where it is sent', async () => {
  const { reader, reference, client, first, second } = await scene(['first']);
  const about = sampleReferrer(image.root, 'test/signature');
  await pushImage(client, parseReference(`${second.host}/org/app@${about.root.digest}`), { image: about });
  const tags: string[] = [];
  for await (const tag of reader.listTags(reference)) tags.push(tag);
  expect(tags).toEqual(['v1']);
  expect((await reader.listReferrers(reference, image.root.digest)).map(({ digest }) => digest)).toEqual([
    about.root.digest,
  ]);
  first.seen.length = 0;
  await pushImage(reader, parseReference(`${reference.registry}/org/new:v1`), { image });
  expect(await client.resolve(parseReference(`${reference.registry}/org/new:v1`))).toBeDefined();
  expect(first.seen.filter(({ method }) => method === 'PUT' || method === 'POST')).toEqual([]);
});

test('a name that may not be asked for is not looked for in its mirrors either', async () => {
  const { client, reference, first, second, asked } = await scene(['first']);
  const rule = { source: reference.registry, mirrors: [first.host, second.host], blocksSource: false };
  const config = nodeConfig({ digest: [rule], tag: [rule] });
  const reader = readThroughMirrors(client, { config, mirrors: client, allows: () => false });
  await expect((async () => reader.resolve(reference))()).rejects.toMatchObject({ code: 'not-allowed' });
  expect(asked()).toEqual([]);
});
