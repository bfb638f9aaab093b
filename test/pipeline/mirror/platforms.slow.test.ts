/** Chosen platforms of manifest lists: what is copied, verified and archived, and which registries refuse. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMapping } from '../../../catalog/mirror/mapping.ts';
import { parseReference, withDigest } from '../../../catalog/reference.ts';
import { copyJobs } from '../../../pipeline/mirror/copy-jobs.ts';
import { lookOnline } from '../../../pipeline/mirror/presence.ts';
import { OCI_INDEX } from '../../../pipeline/oci/media-types.ts';
import { parseLocation } from '../../../pipeline/oci/registry/image-location.ts';
import { openDestination } from '../../../pipeline/oci/registry/open.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import type { Manifest } from '../../../pipeline/ports.ts';
import { folder } from '../../fakes/folder.ts';
import { testClient } from '../../fakes/host.ts';
import { describe, manifestOf, sampleImage, sampleReferrer } from '../../fakes/image.ts';
import { registry } from '../../fakes/registry.ts';
import { portolan } from '../../fakes/terminal.ts';

const list = sampleImage({ architectures: ['amd64', 'arm64', 's390x'], layers: ['operator'] });
const single = sampleImage({ architectures: ['amd64'], layers: ['alone'] });
const [amd, arm, z] = list.manifests;

/** A mirror that may take incomplete lists, and two images to copy there. */
async function scene(takesSparse: boolean) {
  const directory = folder();
  const [source, mirror] = [await registry(), await registry({ takesSparse })];
  const client = testClient([source.host, mirror.host]);
  await pushImage(client, parseReference(`${source.host}/org/list:v1`), { image: list });
  await pushImage(client, parseReference(`${source.host}/org/single:v1`), { image: single });
  for (const [i, about] of list.manifests.entries()) {
    const image = sampleReferrer(about, 'test/signature', `${i}`);
    await pushImage(client, withDigest(parseReference(`${source.host}/org/list:v1`), image.root.digest), {
      image,
    });
  }
  const hosts = [source.host, mirror.host].flatMap((host) => ['--insecure', host]);
  const write = (platforms: string | undefined): void => {
    const comment = platforms === undefined ? '' : ` # platforms: ${platforms}`;
    const lines = ['list', 'single'].map(
      (name) => `${source.host}/org/${name}:v1=${mirror.host}/m/${name}:v1${comment}\n`,
    );
    writeFileSync(join(directory, 'mapping.txt'), lines.join(''));
  };
  const run = (...words: string[]) => portolan(directory, 'mirror', ...words, ...hosts);
  const has = async (digest = ''): Promise<boolean> =>
    (await client.resolve(withDigest(parseReference(`${mirror.host}/m/list:v1`), digest))) !== undefined;
  const there = async (): Promise<boolean[]> =>
    Promise.all([amd, arm, z].map((manifest) => has(manifest?.digest)));
  return { directory, source, mirror, client, run, write, has, there };
}

test('only the chosen platforms come, under the digest of the whole list, with what is attached to them', async () => {
  const { client, mirror, run, write, has, there } = await scene(true);
  write('linux/amd64,linux/arm64');
  const copied = await run('copy', 'mapping.txt');
  expect(copied).toMatchObject({ exit: 0, out: expect.stringContaining('2 images: 2 copied') });
  expect(copied.out).toContain('attached artifacts (signatures, SBOMs and others): 2 copied');
  expect(await has(list.root.digest)).toBe(true);
  expect(await there()).toEqual([true, true, false]);
  const named = await client.resolve(parseReference(`${mirror.host}/m/list:v1`));
  expect(named?.digest).toBe(list.root.digest);
  // What asked whether the registry takes incomplete lists is gone.
  const manifests = mirror.seen.filter(({ method, url }) => method === 'PUT' && url.includes('/manifests/'));
  const left = await Promise.all(
    manifests.map(({ url }) => has(/sha256:\w+/.exec(url)?.[0] ?? list.root.digest)),
  );
  expect(left.filter((isThere) => !isThere)).toHaveLength(1);
});

test('a second run sends nothing, a platform more brings its image, and all of them on demand', async () => {
  const { run, write, there } = await scene(true);
  write('linux/amd64');
  await run('copy', 'mapping.txt');
  expect((await run('copy', 'mapping.txt')).out).toContain('0 copied, 2 already existed');
  write('linux/amd64,linux/arm64');
  expect((await run('copy', 'mapping.txt')).out).toContain('1 copied, 1 already existed');
  expect(await there()).toEqual([true, true, false]);
  write(undefined);
  expect((await run('copy', 'mapping.txt')).out).toContain('0 copied');
  expect((await run('copy', 'mapping.txt', '--check-lists')).out).toContain('1 copied');
  expect(await there()).toEqual([true, true, true]);
});

test('looking into the mirror asks for the chosen platforms, and names those that are not there', async () => {
  const { directory, client, run, write } = await scene(true);
  write('linux/amd64');
  await run('copy', 'mapping.txt');
  const wrong = async (platforms: string | undefined) => {
    write(platforms);
    const file = join(directory, 'mapping.txt');
    const { jobs } = await copyJobs(
      readMapping(readFileSync(file, 'utf8'), file).mappings,
      client,
      undefined,
    );
    return (await lookOnline(jobs, client, { parallel: 4 })).map(({ atDestination }) => atDestination);
  };
  expect(await wrong('linux/amd64')).toEqual([undefined, undefined]);
  expect(await wrong('linux/amd64,linux/arm64')).toEqual([
    `the manifest list lacks linux/arm64 ${arm?.digest}`,
    undefined,
  ]);
  expect((await wrong(undefined))[0]).toContain(`linux/s390x ${z?.digest}`);
  expect((await wrong('windows/amd64'))[0]).toBe('the manifest list lacks windows/amd64');
});

test('an image of a layout is compared with the layout, where that is on this machine', async () => {
  const { directory, client, mirror } = await scene(true);
  const layout = join(directory, 'layout');
  const copied = await openDestination(parseLocation(`oci:${layout}`), client);
  await pushImage(copied.registry, copied.reference, { image: single });
  const to = parseReference(`${mirror.host}/m/index:v1`);
  const text = `oci://${layout}=${mirror.host}/m/index:v1\n`;
  const { jobs } = await copyJobs(readMapping(text, 'mapping.txt').mappings, client, undefined);
  const look = async (sources: boolean) => (await lookOnline(jobs, client, { parallel: 1, sources }))[0];
  await pushImage(client, to, { image: single });
  for (const sources of [false, true])
    expect(await look(sources)).toMatchObject({ atSource: undefined, atDestination: undefined });
  await pushImage(client, to, { image: list });
  for (const sources of [false, true])
    expect((await look(sources))?.atDestination).toBe(`it is ${list.root.digest}, not ${single.root.digest}`);
  rmSync(layout, { recursive: true });
  expect(await look(false)).toMatchObject({ atSource: undefined, atDestination: undefined });
  expect((await look(true))?.atSource).toContain('is not an OCI image layout');
});

test('looking for layers, too, names each image that lacks one, and asks for none twice', async () => {
  const { directory, client, mirror, run, write } = await scene(true);
  write('linux/amd64');
  await run('copy', 'mapping.txt');
  const file = join(directory, 'mapping.txt');
  const { jobs } = await copyJobs(readMapping(readFileSync(file, 'utf8'), file).mappings, client, undefined);
  const wrong = async () =>
    (await lookOnline(jobs, client, { parallel: 4, blobs: true })).map(({ atDestination }) => atDestination);
  mirror.seen.length = 0;
  expect(await wrong()).toEqual([undefined, undefined]);
  const asked = mirror.seen.filter(({ url }) => url.includes('/blobs/')).map(({ url }) => url);
  expect(asked).toHaveLength(new Set(asked).size);
  const layerOf = (manifest: Manifest | undefined): string =>
    JSON.parse(new TextDecoder().decode(manifest?.bytes)).layers[0].digest;
  const gone = [amd, single.root].map(layerOf);
  for (const digest of gone) rmSync(join(mirror.directory, 'blobs', digest.replace(':', '/')));
  expect(await wrong()).toEqual(gone.map((digest) => `the image lacks ${digest}`));
});

test.each([false, true])('a list within a list is looked into, with blobs: %s', async (blobs) => {
  const { host } = await registry({ takesSparse: true });
  const client = testClient([host]);
  const root = manifestOf(OCI_INDEX, {
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: [describe(OCI_INDEX, Buffer.from(list.root.bytes))],
  });
  const to = parseReference(`${host}/m/outer:v1`);
  const [last, ...others] = list.manifests;
  await pushImage(client, to, { image: { root, manifests: [...others, list.root], blobs: list.blobs } });
  const text = `example.com/a/outer@${root.digest}=${host}/m/outer:v1\n`;
  const { jobs } = await copyJobs(readMapping(text, 'mapping.txt').mappings, client, undefined);
  const wrong = async () =>
    (await lookOnline(jobs, client, { parallel: 1, sources: false, blobs }))[0]?.atDestination;
  expect(await wrong()).toContain(`has no image ${last?.digest}`);
  if (last) await client.putManifest(withDigest(to, last.digest), last);
  expect(await wrong()).toBeUndefined();
});

test('a registry that refuses is named before anything is sent; whole lists it takes', async () => {
  const { mirror, run, write } = await scene(false);
  write('linux/amd64');
  const refused = await run('copy', 'mapping.txt');
  expect(refused).toMatchObject({ exit: 2, out: '' });
  expect(refused.err).toContain(`${mirror.host} refuses manifest lists without all of their platforms`);
  expect(refused.err).toContain('FEATURE_SPARSE_INDEX');
  expect(mirror.seen.filter(({ status }) => status === 201 || status === 202)).toEqual([]);
  // All that the list has is chosen: it is not incomplete.
  write('linux/amd64,linux/arm64,linux/s390x');
  expect(await run('copy', 'mapping.txt')).toMatchObject({ exit: 0 });
});

test('a list without any of the platforms is named, and says which it has', async () => {
  const { run, write } = await scene(true);
  write('windows/amd64');
  const ran = await run('copy', 'mapping.txt');
  expect(ran).toMatchObject({
    exit: 1,
    out: expect.stringContaining('1 copied, 0 already existed, 1 failed'),
  });
  expect(ran.err).toContain('has no image for windows/amd64, only for linux/amd64, linux/arm64, linux/s390x');
});

test('through an archive: it holds the chosen platforms, and is loaded without the others', async () => {
  const { directory, run, write, there } = await scene(true);
  write(undefined);
  await run('copy', 'mapping.txt', '--to-archive', 'whole', '--no-signatures');
  write('linux/amd64');
  expect(await run('copy', 'mapping.txt', '--to-archive', 'part', '--no-signatures')).toMatchObject({
    exit: 0,
  });
  const blobs = (name: string): number =>
    JSON.parse(readFileSync(join(directory, name, 'receipt.json'), 'utf8')).blobs.length;
  // Two manifests and two configs less; the layers are those of all platforms.
  expect(blobs('whole') - blobs('part')).toBe(4);
  expect(await run('copy', '--from-archive', 'part')).toMatchObject({ exit: 0 });
  expect(await there()).toEqual([true, false, false]);
});
