import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { withDigest } from '../../../../../catalog/reference.ts';
import { openArchive } from '../../../../../pipeline/oci/registry/archive/file.ts';
import { createRegistryClient } from '../../../../../pipeline/oci/registry/client.ts';
import { parseLocation } from '../../../../../pipeline/oci/registry/image-location.ts';
import { openDestination, openSource } from '../../../../../pipeline/oci/registry/open.ts';
import { copyImage, type ImageContent, pushImage } from '../../../../../pipeline/oci/registry/push.ts';
import { folder } from '../../../../fakes/folder.ts';
import { bytesOf, noise, sampleImage, tar } from '../../../../fakes/image.ts';
import { readFrom, tarIndex, writeTo } from '../../../../fakes/place.ts';
import { runs } from '../../../../fakes/runs.ts';

const client = createRegistryClient();

const two = ['amd64', 's390x'];

describe.each(['oci', 'oci-archive'])('%s', (kind) => {
  test('what is written is read', async () => {
    const place = `${kind}:${join(folder(), 'image')}:v1`;
    const image = sampleImage({ architectures: two, layers: ['a', noise(100_000)] });
    await writeTo(place, image);
    const found = await readFrom(place);
    expect(found.root).toEqual(image.root);
    expect(found.manifests).toEqual(image.manifests);
    for (const blob of found.blobs) {
      const same = image.blobs.find(({ digest }) => digest === blob.digest);
      expect((await bytesOf(blob.open(0))).equals(await bytesOf(same?.open(0) ?? blob.open(0)))).toBe(true);
      expect(await bytesOf(blob.open(3))).toHaveLength(blob.size - 3);
    }
    await found.close();
  });

  test('without a tag the only image is meant, or `latest`', async () => {
    const place = `${kind}:${join(folder(), 'image')}`;
    const image = sampleImage();
    await writeTo(`${place}:v1`, image);
    const found = await readFrom(place);
    expect(found.root).toEqual(image.root);
    await found.close();
    await expect(readFrom(`${place}:v2`)).rejects.toMatchObject({
      code: 'not-found',
      hint: expect.stringContaining('v1'),
    });
  });

  test('what is not there is said to be so', async () => {
    await expect(readFrom(`${kind}:${join(folder(), 'none')}`)).rejects.toMatchObject({ code: 'not-found' });
    await expect(writeTo(`${kind}:/proc/none/x`, sampleImage())).rejects.toMatchObject({
      code: expect.stringMatching(/io|not-found/),
    });
  });
});

test.each(['localhost:5000/app:v1', 'my image'])(
  'the only image of a layout is found if another program calls it %s',
  async (name) => {
    const path = join(folder(), 'image');
    const image = sampleImage({ architectures: two });
    await writeTo(`oci:${path}:v1`, image);
    const index = readFileSync(join(path, 'index.json'), 'utf8');
    const renamed = index.replace('"v1"', JSON.stringify(name));
    expect(renamed).not.toBe(index);
    writeFileSync(join(path, 'index.json'), renamed);
    const found = await readFrom(`oci:${path}`);
    expect([found.root, found.manifests]).toEqual([image.root, image.manifests]);
    await found.close();
    // It stays whole: its name is not ours to take away.
    const { registry, reference } = await openDestination(parseLocation(`oci:${path}`), client);
    for (const { digest } of [image.root, ...image.manifests])
      await expect(registry.deleteManifest(withDigest(reference, digest))).rejects.toMatchObject({
        code: 'conflict',
      });
    const again = await readFrom(`oci:${path}`);
    expect([again.root, again.manifests]).toEqual([image.root, image.manifests]);
    await again.close();
  },
);

test('of several images in a layout one must be named', async () => {
  const path = `oci:${join(folder(), 'image')}`;
  await writeTo(`${path}:v1`, sampleImage({ layers: ['1'] }));
  await writeTo(`${path}:a/b:v2`, sampleImage({ layers: ['2'] }));
  await expect(readFrom(path)).rejects.toMatchObject({ code: 'usage', hint: 'its tags: v1, a/b:v2' });
  expect((await readFrom(`${path}:a/b:v2`)).root).toEqual(sampleImage({ layers: ['2'] }).root);
});

describe('archives', () => {
  test('have the same bytes each time', async () => {
    for (const kind of ['oci-archive', 'docker-archive']) {
      const image = sampleImage({ layers: ['a', 'b'], format: 'docker' });
      const files = [join(folder(), 'one.tar'), join(folder(), 'two.tar')];
      for (const file of files) await writeTo(`${kind}:${file}`, image);
      const [one, other] = files.map((file) => readFileSync(file));
      expect(one?.equals(other ?? Buffer.alloc(0))).toBe(true);
    }
  });

  test('are there whole or not at all, and take the place of older ones', async () => {
    const directory = folder();
    const file = join(directory, 'image.tar');
    await writeTo(`oci-archive:${file}:v1`, sampleImage());
    const before = readFileSync(file);
    const to = await openDestination(parseLocation(`oci-archive:${file}:v2`), client);
    await pushImage(to.registry, to.reference, { image: sampleImage({ layers: ['new'] }) });
    expect(readFileSync(file).equals(before)).toBe(true);
    await to.discard();
    expect(readdirSync(directory)).toEqual(['image.tar']);
    await writeTo(`oci-archive:${file}:v2`, sampleImage({ layers: ['new'] }));
    expect(readdirSync(directory)).toEqual(['image.tar']);
    await expect(readFrom(`oci-archive:${file}:v1`)).rejects.toMatchObject({ code: 'not-found' });
  });

  test('may be gzipped', async () => {
    const file = join(folder(), 'image.tar');
    await writeTo(`oci-archive:${file}:v1`, sampleImage());
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file)));
    const found = await readFrom(`oci-archive:${file}.gz:v1`);
    expect(found.root).toEqual(sampleImage().root);
    await found.close();
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file)).subarray(0, 300));
    await expect(readFrom(`oci-archive:${file}.gz:v1`)).rejects.toMatchObject({ code: 'corrupt' });
  });

  test.each([
    ['text', Buffer.from('x'.repeat(2000))],
    ['an empty file', Buffer.alloc(0)],
    ['another tar', tar('notes.txt', Buffer.from('x'))],
    ['a tar that was cut', tar('index.json', Buffer.alloc(5000)).subarray(0, 2000)],
  ])('%s is none', async (_, bytes) => {
    const file = join(folder(), 'x.tar');
    writeFileSync(file, bytes);
    for (const kind of ['oci-archive', 'docker-archive']) {
      await expect(readFrom(`${kind}:${file}`)).rejects.toMatchObject({ code: 'corrupt' });
    }
  });
});

describe('docker-archive', () => {
  test.each([
    [1000, undefined],
    [1001, 'too-large'],
  ])('79: an image that names one file as %i layers', async (count, code) => {
    const file = join(folder(), 'image.tar');
    const images = [{ Config: 'c', Layers: Array.from({ length: count }, () => 'l'), RepoTags: [] }];
    const files = { c: '{}', l: 'x', 'manifest.json': JSON.stringify(images) };
    writeFileSync(
      file,
      Buffer.concat(
        Object.entries(files).map(([name, text]) => tar(name, Buffer.from(text)).subarray(0, -1024)),
      ),
    );
    const opened = openSource(parseLocation(`docker-archive:${file}`), client);
    if (code === undefined) await (await opened).close();
    else await expect(opened).rejects.toMatchObject({ code });
  });

  test('an image goes in unpacked and comes out as an image with the same config', async () => {
    const file = join(folder(), 'image.tar');
    const image = sampleImage({ layers: ['a', 'b', 'a'] });
    await writeTo(`docker-archive:${file}:quay.io/org/app:v1`, image);
    const found = await readFrom(`docker-archive:${file}:quay.io/org/app:v1`);
    const config = (content: ImageContent) =>
      JSON.parse(Buffer.from(content.root.bytes).toString()).config.digest;
    expect(config(found)).toBe(config(image));
    const layers = JSON.parse(Buffer.from(found.root.bytes).toString()).layers;
    expect(layers.map(({ mediaType }: { mediaType: string }) => mediaType)).toEqual(
      layers.map(() => 'application/vnd.docker.image.rootfs.diff.tar'),
    );
    for (const blob of found.blobs) expect(await bytesOf(blob.open(0))).toHaveLength(blob.size);
    await found.close();
    const unnamed = await readFrom(`docker-archive:${file}`);
    expect(unnamed.root).toEqual(found.root);
    await unnamed.close();
  });

  test('images of one name in two registries are told apart', async () => {
    const file = join(folder(), 'image.tar');
    const names = ['quay.io/org/app:v1', 'docker.io/org/app:v1', 'localhost:5000/org/app:v1'];
    const images = names.map((name, i) => ({ Config: `c${i}`, Layers: [], RepoTags: [name] }));
    const configs = names.map((name, i) => [`c${i}`, JSON.stringify({ author: name })] as const);
    const files = new Map([...configs, ['manifest.json', JSON.stringify(images)] as const]);
    writeFileSync(
      file,
      Buffer.concat([...files].map(([name, text]) => tar(name, Buffer.from(text)).subarray(0, -1024))),
    );
    for (const name of names) {
      const found = await readFrom(`docker-archive:${file}:${name}`);
      const [config] = found.blobs;
      expect(JSON.parse((await bytesOf(config?.open(0) as AsyncIterable<Uint8Array>)).toString())).toEqual({
        author: name,
      });
      await found.close();
    }
    await expect(readFrom(`docker-archive:${file}:org/app:v2`)).rejects.toMatchObject({
      hint: expect.stringContaining('quay.io/org/app:v1'),
    });
  });

  test('43: layers are unpacked by the decoder that has limits, whatever their type says', async () => {
    const file = join(folder(), 'image.tar');
    const image = sampleImage({ pack: (bytes) => bytes });
    await writeTo(`docker-archive:${file}`, image);
    const found = await readFrom(`docker-archive:${file}`);
    expect(found.blobs).toHaveLength(image.blobs.length);
    await found.close();
    const broken = sampleImage({ pack: (bytes) => gzipSync(bytes).subarray(0, 40) });
    await expect(writeTo(`docker-archive:${file}`, broken)).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('copies of copies stay the same', async () => {
    const directory = folder();
    await writeTo(`docker-archive:${directory}/1.tar`, sampleImage({ layers: ['a', 'b'] }));
    const from = await openSource(parseLocation(`docker-archive:${directory}/1.tar`), client);
    const to = await openDestination(parseLocation(`docker-archive:${directory}/2.tar`), client);
    await copyImage(from, to);
    await to.finish();
    await from.close();
    expect(readFileSync(`${directory}/2.tar`).equals(readFileSync(`${directory}/1.tar`))).toBe(true);
  });

  test('a list has no place in it', async () => {
    const file = join(folder(), 'image.tar');
    const writing = writeTo(`docker-archive:${file}`, sampleImage({ architectures: two }));
    await expect(writing).rejects.toMatchObject({ code: 'usage', hint: expect.stringContaining('platform') });
    expect(existsSync(file)).toBe(false);
  });
});

describe('tar', () => {
  test('any bytes are either an archive or refused', async () => {
    const file = join(folder(), 'x.tar');
    const good = tar('a', Buffer.from('content'));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 5 }),
        async (changes) => {
          const bytes = Buffer.from(good);
          for (const [at, value] of changes) bytes[at] = value;
          writeFileSync(file, bytes);
          const index = await tarIndex(file).catch((error: unknown) => {
            expect(error).toMatchObject({ code: 'corrupt' });
            return new Map();
          });
          for (const { offset, size } of index.values())
            expect(offset + size).toBeLessThanOrEqual(bytes.length);
        },
      ),
      runs(200),
    );
  });

  test('a gzipped archive that unpacks to far more than its size is not unpacked to the end', async () => {
    const file = join(folder(), 'x.tar.gz');
    const member = gzipSync(Buffer.alloc(30 * 2 ** 20), { level: 9 });
    writeFileSync(file, Buffer.concat(Array(10).fill(member)));
    const scratch = folder();
    vi.stubEnv('TMPDIR', scratch);
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(openArchive(file)).rejects.toMatchObject({
      code: 'too-large',
      message: expect.stringContaining('unpacks to more than 100 times its size'),
    });
    expect(readdirSync(scratch, { recursive: true })).toEqual([expect.stringMatching(/^portolan-\w+$/)]);
  });

  test.each([
    ['record that breaks off', '30 path=b', undefined],
    ['record without a length', 'nothing', undefined],
    ['whole record', '10 path=b\n', 'b'],
  ])('a %s in the header before an entry', async (_, record, name) => {
    const file = join(folder(), 'x.tar');
    const [extra, entry] = [tar('x', Buffer.from(record)), tar('a', Buffer.from('content'))];
    writeFileSync(file, Buffer.concat([asPaxHeader(extra.subarray(0, 1024)), entry]));
    if (name !== undefined) expect([...(await tarIndex(file)).keys()]).toEqual([name]);
    else await expect(tarIndex(file)).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('180: names for all entries do not count', async () => {
    const file = join(folder(), 'x.tar');
    const [extra, entry] = [tar('x', Buffer.from('10 path=b\n')), tar('a', Buffer.from('content'))];
    writeFileSync(file, Buffer.concat([asPaxHeader(extra.subarray(0, 1024), 'g'), entry]));
    expect([...(await tarIndex(file)).keys()]).toEqual(['a']);
  });
});

/** The entry as one that has records for the next, or for all. */
function asPaxHeader(entry: Buffer, type = 'x'): Buffer {
  const typed = Buffer.from(entry);
  typed.write(type, 156);
  const sum = Number.parseInt(typed.toString('latin1', 148, 154), 8) + type.charCodeAt(0) - (entry[156] ?? 0);
  typed.write(sum.toString(8).padStart(6, '0'), 148);
  return typed;
}
