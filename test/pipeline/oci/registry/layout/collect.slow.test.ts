import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Reference } from '../../../../../catalog/reference.ts';
import { collectGarbage } from '../../../../../pipeline/oci/registry/layout/collect.ts';
import { openLayout } from '../../../../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../../../../pipeline/oci/registry/layout/registry.ts';
import { pushImage, readImage } from '../../../../../pipeline/oci/registry/push.ts';
import { folder } from '../../../../fakes/folder.ts';
import { bytesOf, noise, sampleImage, sampleReferrer, source } from '../../../../fakes/image.ts';
import { registry } from '../../../../fakes/registry.ts';

const HOUR = 3600_000;
const own = { registry: '', repository: '' };
const tag = (name: string, repository = ''): Reference => ({
  kind: 'tag',
  registry: '',
  repository,
  tag: name,
});
const keepAll = { youngest: HOUR, dryRun: false };

const list = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['list', noise(500)] });
const old = sampleImage({ layers: ['old', noise(600)] });
const lone = source(noise(700));

/** A layout with a list under a tag and its signature, an image that lost its tag, and a blob that nobody names. */
async function layout() {
  const directory = join(folder(), 'layout');
  const held = layoutRegistry(await openLayout(directory, { create: true }));
  await pushImage(held, tag('v1', 'a/b'), { image: old });
  await pushImage(held, tag('v1', 'a/b'), { image: list });
  const signature = sampleReferrer(list.root, 'application/vnd.example.signature');
  await pushImage(
    held,
    { kind: 'digest', registry: '', repository: 'a/b', digest: signature.root.digest },
    {
      image: signature,
    },
  );
  await held.putBlob(own, lone);
  return { directory, registry: held, signature };
}

const files = (directory: string): string[] => readdirSync(join(directory, 'blobs', 'sha256'));

function age(directory: string, milliseconds: number): void {
  const then = new Date(Date.now() - milliseconds);
  for (const name of files(directory)) utimesSync(join(directory, 'blobs', 'sha256', name), then, then);
}

test('what is young stays: its manifest may be on the way', async () => {
  const { directory } = await layout();
  const before = files(directory);
  const { blobs, manifests } = await collectGarbage(directory, { ...keepAll, untagged: HOUR });
  expect({ blobs, manifests }).toEqual({ blobs: [], manifests: [] });
  expect(files(directory)).toEqual(before);
});

test('a blob that no manifest names goes, and everything that one names stays', async () => {
  const { directory, registry, signature } = await layout();
  age(directory, 2 * HOUR);
  const tried = await collectGarbage(directory, { ...keepAll, dryRun: true });
  expect(tried).toMatchObject({ blobs: [lone.digest], bytes: 700, manifests: [] });
  expect(await registry.hasBlob(own, lone.digest)).toBe(true);
  expect(await collectGarbage(directory, keepAll)).toEqual(tried);
  expect(await registry.hasBlob(own, lone.digest)).toBe(false);
  for (const digest of [list.root.digest, old.root.digest, signature.root.digest]) {
    const { blobs } = await readImage(registry, { kind: 'digest', registry: '', repository: 'a/b', digest });
    for (const blob of blobs) await bytesOf(blob.open(0));
  }
  expect(await collectGarbage(directory, keepAll)).toMatchObject({ blobs: [], bytes: 0 });
});

test('a manifest without a tag goes when asked; parts of a list, and what is about one that stays, do not', async () => {
  const { directory, registry, signature } = await layout();
  age(directory, 2 * HOUR);
  const { manifests, blobs } = await collectGarbage(directory, { ...keepAll, untagged: HOUR });
  expect(manifests.map(({ descriptor }) => descriptor.digest)).toEqual([old.root.digest]);
  expect(blobs).toHaveLength(5);
  const { tags, manifests: held } = await (await openLayout(directory, { create: false })).contents('a/b');
  expect([...tags.keys()]).toEqual(['v1']);
  expect([...held.keys()].sort()).toEqual(
    [list.root, ...list.manifests, signature.root].map(({ digest }) => digest).sort(),
  );
  await registry.deleteManifest(tag('v1', 'a/b'));
  const rest = await collectGarbage(directory, { ...keepAll, untagged: HOUR });
  expect(rest).toMatchObject({ kept: 0 });
  expect(files(directory)).toEqual([]);
});

test('what others named, and names that are none of ours, stay', async () => {
  const { directory } = await layout();
  const path = join(directory, 'index.json');
  const index = JSON.parse(readFileSync(path, 'utf8'));
  for (const one of index.manifests) one.annotations = { 'org.opencontainers.image.ref.name': 'Not/A:name' };
  writeFileSync(path, JSON.stringify(index));
  age(directory, 2 * HOUR);
  const { manifests, blobs } = await collectGarbage(directory, { ...keepAll, untagged: HOUR });
  expect({ manifests, blobs }).toEqual({ manifests: [], blobs: [lone.digest] });
});

test('nothing goes when a manifest cannot be read: nobody knows what it names', async () => {
  const { directory } = await layout();
  writeFileSync(join(directory, 'blobs', 'sha256', old.root.digest.slice(7)), '{}');
  age(directory, 2 * HOUR);
  const before = files(directory);
  await expect(collectGarbage(directory, keepAll)).rejects.toMatchObject({ code: 'corrupt' });
  expect(files(directory)).toEqual(before);
});

test.each([
  ['no index', undefined],
  ['null', 'null'],
  ['no list', '{}'],
])('nothing goes where the index says nothing: %s', async (_, text) => {
  const { directory } = await layout();
  const path = join(directory, 'index.json');
  if (text === undefined) rmSync(path);
  else writeFileSync(path, text);
  age(directory, 2 * HOUR);
  const before = files(directory);
  await expect(collectGarbage(directory, keepAll)).rejects.toMatchObject({ code: 'corrupt' });
  expect(files(directory)).toEqual(before);
});

test('nothing goes where a name leads to what is no manifest that we know, or to nothing', async () => {
  const mediaType = 'application/vnd.oci.artifact.manifest.v1+json';
  const artifact = source(Buffer.from(JSON.stringify({ mediaType, blobs: [{ digest: lone.digest }] })));
  for (const digest of [artifact.digest, `sha256:${'0'.repeat(64)}`]) {
    const { directory, registry: held } = await layout();
    await held.putBlob(own, artifact);
    const path = join(directory, 'index.json');
    const index = JSON.parse(readFileSync(path, 'utf8'));
    index.manifests.push({ mediaType, digest, size: artifact.size });
    writeFileSync(path, JSON.stringify(index));
    age(directory, 2 * HOUR);
    const before = files(directory);
    await expect(collectGarbage(directory, keepAll)).rejects.toMatchObject({ code: 'corrupt' });
    expect(files(directory)).toEqual(before);
  }
});

test('a link is not followed: what it leads to may be in use elsewhere', async () => {
  const { directory } = await layout();
  const other = join(folder(), 'blobs');
  renameSync(join(directory, 'blobs'), other);
  symlinkSync(other, join(directory, 'blobs'));
  age(directory, 2 * HOUR);
  await expect(collectGarbage(directory, keepAll)).rejects.toMatchObject({ code: 'usage' });
  expect(files(directory)).toContain(lone.digest.slice(7));
});

test('a blob that is pushed again is young again', async () => {
  const { directory } = await layout();
  age(directory, 2 * HOUR);
  const { url } = await registry({ directory });
  const body = new Uint8Array(await bytesOf(lone.open(0)));
  const answer = await fetch(`${url}/v2/a/blobs/uploads/?digest=${lone.digest}`, { method: 'POST', body });
  expect(answer.status).toBe(201);
  expect(await collectGarbage(directory, keepAll)).toMatchObject({ blobs: [] });
});

test('a directory that is not a layout is left alone', async () => {
  const directory = folder();
  await expect(collectGarbage(directory, keepAll)).rejects.toMatchObject({ code: 'not-found' });
  expect(readdirSync(directory)).toEqual([]);
});

test('a push that comes meanwhile keeps what it names', async () => {
  const { directory, registry } = await layout();
  age(directory, 2 * HOUR);
  // The layers of the image are old, and nothing names them any more when the collection begins.
  await registry.deleteManifest({ kind: 'digest', registry: '', repository: 'a/b', digest: old.root.digest });
  const [pushed] = await Promise.allSettled([
    pushImage(registry, tag('again', 'c'), { image: old }),
    collectGarbage(directory, keepAll),
  ]);
  const named = [old.root.digest, ...old.blobs.map(({ digest }) => digest)];
  const stands = await registry.resolve(tag('again', 'c'));
  expect(stands !== undefined).toBe(pushed.status === 'fulfilled');
  if (stands)
    for (const digest of named)
      expect(existsSync(join(directory, 'blobs', 'sha256', digest.slice(7))), digest).toBe(true);
  rmSync(directory, { recursive: true });
});
