import { describe, expect, test } from 'vitest';
import {
  DOCKER_LIST,
  DOCKER_MANIFEST,
  OCI_INDEX,
  OCI_MANIFEST,
} from '../../../../pipeline/oci/media-types.ts';
import {
  contentOf,
  manifestType,
  parseManifest,
  referrerDescriptor,
} from '../../../../pipeline/oci/registry/image.ts';
import { manifestOf, sampleImage } from '../../../fakes/image.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const blob = { mediaType: 'x/y', digest, size: 3 };

describe('reading', () => {
  test('an image', () => {
    const manifest = manifestOf(OCI_MANIFEST, {
      schemaVersion: 2,
      artifactType: 'a/b',
      config: blob,
      layers: [{ ...blob, urls: ['https://elsewhere'], annotations: { k: 'v', n: 1 } }],
      subject: { ...blob, mediaType: OCI_MANIFEST },
      annotations: { note: 'x', __proto__x: 'y' },
    });
    expect(parseManifest(manifest)).toEqual({
      kind: 'image',
      mediaType: OCI_MANIFEST,
      artifactType: 'a/b',
      config: blob,
      layers: [{ ...blob, urls: ['https://elsewhere'], annotations: { k: 'v' } }],
      subject: { ...blob, mediaType: OCI_MANIFEST },
      annotations: { note: 'x', __proto__x: 'y' },
    });
  });

  test('a list with its platforms', () => {
    const platform = { os: 'windows', architecture: 'amd64', variant: 'v2', 'os.version': '10.0' };
    const manifest = manifestOf(DOCKER_LIST, { mediaType: DOCKER_LIST, manifests: [{ ...blob, platform }] });
    expect(parseManifest(manifest)).toEqual({
      kind: 'list',
      mediaType: DOCKER_LIST,
      manifests: [
        { ...blob, platform: { os: 'windows', architecture: 'amd64', variant: 'v2', osVersion: '10.0' } },
      ],
    });
  });

  test('a key that reaches for prototypes is a key', () => {
    const bytes = Buffer.from(
      `{"config":${JSON.stringify(blob)},"layers":[],"annotations":{"__proto__":"x"}}`,
    );
    const parsed = parseManifest({ mediaType: OCI_MANIFEST, digest, bytes });
    expect(Object.hasOwn(parsed.annotations ?? {}, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test.each<[string, string, unknown]>([
    ['no object', OCI_MANIFEST, []],
    ['an image and a list at once', OCI_INDEX, { manifests: [], config: blob, layers: [] }],
    ['a list with layers', OCI_INDEX, { layers: [] }],
    ['an image with manifests', OCI_MANIFEST, { manifests: [] }],
    ['another type inside', OCI_MANIFEST, { mediaType: OCI_INDEX, config: blob, layers: [] }],
    ['no config', OCI_MANIFEST, { layers: [] }],
    ['layers that are no list', OCI_MANIFEST, { config: blob, layers: {} }],
    ['a digest that is none', OCI_MANIFEST, { config: { ...blob, digest: 'sha256:../../x' }, layers: [] }],
    [
      'a digest of an unknown algorithm',
      OCI_MANIFEST,
      { config: { ...blob, digest: `md5:${'a'.repeat(32)}` }, layers: [] },
    ],
    ['a negative size', OCI_MANIFEST, { config: { ...blob, size: -1 }, layers: [] }],
    ['a size beyond counting', OCI_MANIFEST, { config: { ...blob, size: 1e300 }, layers: [] }],
    [
      'a type that is not known',
      'application/vnd.docker.distribution.manifest.v1+json',
      { config: blob, layers: [] },
    ],
    ['a child that is not an object', OCI_INDEX, { manifests: ['x'] }],
  ])('%s is refused', (_, type, value) => {
    const manifest = { ...manifestOf(type, value), mediaType: type };
    expect(() => parseManifest(manifest)).toThrow(expect.objectContaining({ code: 'bad-answer' }));
  });

  const described = JSON.stringify(blob);
  test.each([
    [OCI_MANIFEST, `{"config":${described},"layers":[],"layers":[${described}]}`],
    [OCI_MANIFEST, `{"config":${described},"layers":[],"Layers":[${described}]}`],
    [OCI_MANIFEST, `{"config":${described},"layers":[{${described.slice(1, -1)},"DIGEST":"${digest}"}]}`],
    [OCI_INDEX, `{"manifests":[],"manife\u017ft\u017f":[${described}]}`],
    [OCI_INDEX, `{"manifests":[{${described.slice(1, -1)},"platform":{"os":"linux","OS":"windows"}}]}`],
  ])('%s in which tools read different images is refused: %s', (mediaType, text) => {
    const manifest = { mediaType, digest, bytes: Buffer.from(text) };
    expect(() => parseManifest(manifest)).toThrow(/the key "layers" twice|in place of/);
  });

  test('annotations may differ in the case of their keys', () => {
    const manifest = manifestOf(OCI_INDEX, { manifests: [], annotations: { OS: '1', os: '2' } });
    expect(parseManifest(manifest).annotations).toEqual({ OS: '1', os: '2' });
  });

  test('bytes that are no UTF-8 are refused', () => {
    const manifest = { mediaType: OCI_MANIFEST, digest, bytes: Buffer.from([0x7b, 0xff, 0x7d]) };
    expect(() => parseManifest(manifest)).toThrow(expect.objectContaining({ code: 'bad-answer' }));
  });
});

test.each([
  [OCI_INDEX, {}, OCI_INDEX],
  ['application/json', { mediaType: DOCKER_LIST, manifests: [] }, DOCKER_LIST],
  ['', { manifests: [] }, OCI_INDEX],
  ['text/plain', { config: {}, layers: [] }, OCI_MANIFEST],
  ['text/plain', { fsLayers: [] }, 'text/plain'],
  [DOCKER_MANIFEST, { mediaType: OCI_MANIFEST }, DOCKER_MANIFEST],
])('what came as %j with %j is %s', (header, value, expected) => {
  expect(manifestType(Buffer.from(JSON.stringify(value)), header)).toBe(expected);
});

test('what must be there: config and layers, but for those that licences keep elsewhere', () => {
  const foreign = { ...blob, mediaType: 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip' };
  const held = { ...blob, mediaType: 'application/vnd.oci.image.layer.nondistributable.v1.tar' };
  const manifest = manifestOf(OCI_MANIFEST, { config: blob, layers: [blob, foreign, held] });
  expect(contentOf(parseManifest(manifest))).toEqual([blob, blob]);
  const list = sampleImage({ architectures: ['a', 'b'] });
  expect(contentOf(parseManifest(list.root)).map((child) => child.digest)).toEqual(
    list.manifests.map((child) => child.digest),
  );
});

test('a referrer is described by its artifact type, or by the type of its config', () => {
  const image = parseManifest(manifestOf(OCI_MANIFEST, { config: blob, layers: [] }));
  expect(referrerDescriptor(blob, image)).toEqual({ ...blob, artifactType: 'x/y' });
  const list = parseManifest(manifestOf(OCI_INDEX, { manifests: [], annotations: { a: 'b' } }));
  expect(referrerDescriptor(blob, list)).toEqual({ ...blob, annotations: { a: 'b' } });
});
