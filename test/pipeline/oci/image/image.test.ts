import { describe, expect, test } from 'vitest';
import { bytesBlob, digestOf } from '../../../../pipeline/oci/digest.ts';
import { type BaseImage, readBase } from '../../../../pipeline/oci/image/base.ts';
import {
  type CatalogImage,
  catalogImage,
  type ImageOptions,
  type Layer,
  PLATFORMS,
} from '../../../../pipeline/oci/image/image.ts';
import { fakeBase, reader } from '../../../fakes/base-image.ts';

const OPTIONS: ImageOptions = { labels: { team: 'x' }, cache: true, platforms: PLATFORMS };

function layer(text: string): Layer {
  const blob = bytesBlob(Buffer.from(text));
  return {
    facts: {
      diffId: digestOf(Buffer.from(`tar of ${text}`)),
      digest: blob.digest,
      size: blob.size,
      codec: 'gzip',
    },
    blob,
    folder: '/configs',
  };
}

// biome-ignore lint/suspicious/noExplicitAny: documents of which a test looks at one corner
function json(bytes: Uint8Array): any {
  return JSON.parse(Buffer.from(bytes).toString());
}

function base(family: 'oci' | 'docker'): Promise<BaseImage> {
  const fake = fakeBase(family);
  return readBase(fake.list, reader(fake));
}

async function content(image: CatalogImage, digest: string): Promise<Uint8Array> {
  const blob = image.blobs.find((candidate) => candidate.digest === digest);
  const pieces: Uint8Array[] = [];
  for await (const piece of blob?.open(0) ?? []) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe.each(['oci', 'docker'] as const)('on a base of %s', (family) => {
  test('every platform gets the base below and the same layers above', async () => {
    const image = catalogImage(await base(family), [layer('a'), layer('b')], OPTIONS);
    const list = json(image.manifestList.bytes);
    expect(list.manifests.map((m: { platform: unknown }) => m.platform)).toEqual([
      { architecture: 'amd64', os: 'linux' },
      { architecture: 'arm64', os: 'linux' },
    ]);
    expect(image.manifests.map(({ digest }) => digest)).toEqual(
      list.manifests.map((m: { digest: string }) => m.digest),
    );
    for (const [i, manifest] of image.manifests.entries()) {
      const { layers } = json(manifest.bytes);
      const below = (await base(family)).platforms[i]?.layers ?? [];
      expect(layers.slice(0, 2)).toEqual(below);
      expect(layers.slice(2).map((l: { digest: string }) => l.digest)).toEqual(
        [layer('a'), layer('b')].map(({ blob }) => blob.digest),
      );
    }
    expect(image.baseLayers).toHaveLength(4);
  });

  test('all media types are of one family', async () => {
    const image = catalogImage(await base(family), [layer('a')], OPTIONS);
    const { config, layers } = json(image.manifests[0]?.bytes ?? new Uint8Array());
    const types = [
      image.manifestList.mediaType,
      image.manifests[0]?.mediaType,
      config.mediaType,
      ...layers.map((l: { mediaType: string }) => l.mediaType),
    ];
    expect(types.every((type) => type.includes(family === 'oci' ? '.oci.' : '.docker.'))).toBe(true);
  });

  test('the configuration is the base’s with what opm generate dockerfile sets', async () => {
    const image = catalogImage(await base(family), [layer('a')], OPTIONS);
    const config = json(
      await content(image, json(image.manifests[0]?.bytes ?? new Uint8Array()).config.digest),
    );
    expect(config).toMatchObject({ author: 'kept', created: '2026-01-02T03:04:05Z', architecture: 'amd64' });
    expect(config.config).toEqual({
      User: '1001',
      Env: ['PATH=/bin'],
      Entrypoint: ['/bin/opm'],
      Cmd: ['serve', '/configs', '--cache-dir=/tmp/cache'],
      Labels: { 'operators.operatorframework.io.index.configs.v1': '/configs', team: 'x' },
    });
    expect(config.rootfs.diff_ids.slice(2)).toEqual([layer('a').facts.diffId]);
    expect(config.history).toHaveLength(2);
  });
});

test('without a cache the server is not told of one: it would refuse to start', async () => {
  const image = catalogImage(await base('oci'), [], { ...OPTIONS, cache: false });
  const config = json(
    await content(image, json(image.manifests[0]?.bytes ?? new Uint8Array()).config.digest),
  );
  expect(config.config.Cmd).toEqual(['serve', '/configs']);
});

test('on nothing, an image has no command and is for the platforms that are asked for', async () => {
  const image = catalogImage(undefined, [layer('a')], OPTIONS);
  expect(
    json(image.manifestList.bytes).manifests.map(
      (m: { platform: { architecture: string } }) => m.platform.architecture,
    ),
  ).toEqual(['amd64', 'arm64', 'ppc64le', 's390x']);
  const config = json(
    await content(image, json(image.manifests[3]?.bytes ?? new Uint8Array()).config.digest),
  );
  expect(config.config).toEqual({
    Labels: { 'operators.operatorframework.io.index.configs.v1': '/configs', team: 'x' },
  });
  expect(config.created).toBe('1970-01-01T00:00:00Z');
});

describe('a base that cannot be used', () => {
  test('holds a catalog', async () => {
    const fake = fakeBase('oci', { 'operators.operatorframework.io.index.configs.v1': '/configs' });
    await expect(readBase(fake.list, reader(fake))).rejects.toMatchObject({ code: 'usage' });
  });

  test.each(['sha384', 'sha512'])('is named by %s', async (algorithm) => {
    const fake = fakeBase('oci', {}, algorithm);
    expect((await readBase(fake.list, reader(fake))).platforms).toHaveLength(2);
  });

  test('comes with other bytes than it names', async () => {
    const fake = fakeBase('oci');
    const lying = async (): Promise<Uint8Array> => Buffer.from('{}');
    await expect(readBase(fake.list, lying, 'quay.io/acme/opm:v1')).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining('of the base image quay.io/acme/opm:v1: expected sha256:'),
    });
  });

  test.each([{}, { os: 'linux' }, { architecture: 'amd64' }])(
    'is one image whose configuration has no platform: %o',
    async (config) => {
      const bytes = Buffer.from(JSON.stringify(config));
      const text = JSON.stringify({
        config: { mediaType: 'x', digest: digestOf(bytes), size: bytes.length },
        layers: [],
      });
      const mediaType = 'application/vnd.oci.image.manifest.v1+json';
      const manifest = { mediaType, digest: digestOf(Buffer.from(text)), bytes: Buffer.from(text) };
      await expect(readBase(manifest, async () => bytes)).rejects.toMatchObject({
        code: 'bad-answer',
        message: expect.stringContaining('does not declare a platform'),
      });
    },
  );

  test.each([
    ['no JSON', 'hello'],
    ['a list of nothing', '{"manifests":[]}'],
    ['a list of what is no descriptor', '{"manifests":[{"digest":"sha256:x","size":1}]}'],
    ['no configuration', '{"layers":[]}'],
  ])('is %s', async (_, text) => {
    const bytes = Buffer.from(text);
    const manifest = { mediaType: 'application/vnd.oci.image.index.v1+json', digest: digestOf(bytes), bytes };
    await expect(readBase(manifest, async () => bytes)).rejects.toMatchObject({ code: 'bad-answer' });
  });
});
