import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { load } from '../../../../catalog/fbc/load.ts';
import { renderJson, renderOrder } from '../../../../catalog/fbc/render.ts';
import { parseReference } from '../../../../catalog/reference.ts';
import type { CatalogSource } from '../../../../catalog/source.ts';
import { openCatalog } from '../../../../pipeline/catalogs/source/open.ts';
import { directorySource } from '../../../../pipeline/directory.ts';
import {
  BUILD_DEFAULTS,
  type BuiltCatalog,
  buildCatalogImage,
} from '../../../../pipeline/oci/image/build.ts';
import { createRegistryClient, type RegistryClient } from '../../../../pipeline/oci/registry/client.ts';
import { parseLocation } from '../../../../pipeline/oci/registry/image-location.ts';
import { openDestination } from '../../../../pipeline/oci/registry/open.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import type { BlobSource, Manifest } from '../../../../pipeline/ports.ts';
import { folder } from '../../../fakes/folder.ts';
import {
  source as blobOf,
  describe as described,
  manifestOf,
  sampleImage,
  sampleReferrer,
  tar,
} from '../../../fakes/image.ts';
import { registry, type TestRegistry } from '../../../fakes/registry.ts';

const SAMPLE = 'test/catalogs/sample/catalogs/v4.20';

function clientFor({ host }: TestRegistry): RegistryClient {
  return createRegistryClient({ plainHttp: [host], internal: [host] });
}

async function built(): Promise<BuiltCatalog> {
  const options = { ...BUILD_DEFAULTS, scratch: folder() };
  const { built: image } = await buildCatalogImage(directorySource(SAMPLE), undefined, options);
  if (!image) throw new Error('nothing was built');
  return image;
}

function contentOf({ image }: BuiltCatalog) {
  return { root: image.manifestList, manifests: image.manifests, blobs: image.blobs };
}

async function rendered(source: CatalogSource): Promise<string> {
  const { blobs, findings } = await load(source);
  expect(findings).toEqual([]);
  return renderOrder(blobs).map(renderJson).join('');
}

test('an index image in a registry is the catalog that it was built of, and its cache stays there', async () => {
  const far = await registry();
  const client = clientFor(far);
  const image = await built();
  await pushImage(client, parseReference(`${far.host}/org/catalog:v1`), { image: contentOf(image) });
  const before = far.seen.length;
  const opened = await openCatalog(`${far.host}/org/catalog:v1`, { directory: '.', registry: () => client });
  expect(opened.image?.digest).toBe(image.image.manifestList.digest);
  expect(await rendered(opened.source)).toBe(await rendered(directorySource(SAMPLE)));
  await opened.close();
  const seen = far.seen.slice(before).filter(({ url }) => url.includes('/blobs/'));
  const { layers } = JSON.parse(Buffer.from(image.image.manifests[0]?.bytes ?? []).toString());
  const fetched = layers.filter(({ digest }: { digest: string }) =>
    seen.some(({ url }) => url.includes(digest)),
  );
  expect(fetched.length).toBeLessThan(layers.length);
  expect(seen).toHaveLength(fetched.length + 1);
});

test.each(['oci:images:v1', 'oci-archive:images.tar', 'docker-archive:images.tar'])('%s', async (text) => {
  const directory = folder();
  const client = createRegistryClient();
  const image = await built();
  const to = await openDestination(parseLocation(text.replace(':images', `:${directory}/images`)), client);
  const content = contentOf(image);
  // An archive of Docker's holds one image, not a list.
  const [manifest] = content.manifests;
  const single =
    text.startsWith('docker') && manifest ? { ...content, root: manifest, manifests: [] } : content;
  await pushImage(to.registry, to.reference, { image: single });
  await to.finish();
  const opened = await openCatalog(text, { directory, registry: () => client });
  expect(await rendered(opened.source)).toBe(await rendered(directorySource(SAMPLE)));
  await opened.close();
});

test('a directory is what it is, whatever it is called', async () => {
  const directory = folder();
  mkdirSync(join(directory, 'quay.io', 'org'), { recursive: true });
  writeFileSync(join(directory, 'quay.io', 'org', 'a.yaml'), 'schema: olm.package\nname: a\n');
  const opened = await openCatalog('quay.io/org', { directory, registry: () => createRegistryClient() });
  expect((await opened.source.files()).map(({ path }) => path)).toEqual(['a.yaml']);
  expect(opened.image).toBeUndefined();
});

describe('what is no catalog is said to be none', () => {
  const options = { directory: folderless(), registry: () => createRegistryClient() };

  test.each([
    ['catalogs/v4.20', 'not-found', 'catalogs/v4.20: no such directory'],
    ['./nope', 'not-found', './nope: no such directory'],
    ['../nope.d/x', 'not-found', '../nope.d/x: no such directory'],
    ['package.json', 'usage', 'package.json is a file'],
    ['oci:nowhere', 'not-found', 'nowhere'],
  ])('%s', async (text, code, message) => {
    await expect(openCatalog(text, options)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  test.each([
    [{}, 'usage', 'is neither an index image nor a bundle: it has no labels'],
    [{ 'operators.operatorframework.io.index.database.v1': '/db' }, 'not-found', 'has no file /db'],
    [{ 'operators.operatorframework.io.index.configs.v1': '/../etc' }, 'not-found', 'has no directory /etc'],
  ])('labels %j', async (labels, code, message) => {
    const far = await registry();
    const client = clientFor(far);
    await pushLabelled(client, `${far.host}/org/x:v1`, labels, tar('configs/a.yaml', Buffer.from('')));
    const opening = openCatalog(`${far.host}/org/x:v1`, { directory: '.', registry: () => client });
    await expect(opening).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test('no such tag', async () => {
    const far = await registry();
    const opening = openCatalog(`${far.host}/org/x:v1`, { directory: '.', registry: () => clientFor(far) });
    await expect(opening).rejects.toMatchObject({ code: 'not-found' });
  });
});

test('an image of somebody else: the folder that its label names', async () => {
  const far = await registry();
  const client = clientFor(far);
  const labels = { 'operators.operatorframework.io.index.configs.v1': 'fbc/' };
  const layer = tar('fbc/a/catalog.yaml', Buffer.from('schema: olm.package\nname: a\n'));
  await pushLabelled(client, `${far.host}/org/x:v1`, labels, layer);
  const opened = await openCatalog(`${far.host}/org/x:v1`, { directory: '.', registry: () => client });
  expect((await opened.source.files()).map(({ path }) => path)).toEqual(['a/catalog.yaml']);
  await opened.close();
});

/** An image of a list, with what the list says of it. */
interface Listed {
  readonly root: Manifest;
  readonly blobs: readonly BlobSource[];
  readonly said?: object;
}

/** The image of a catalog, as a list may have it. */
async function builtOne(): Promise<Listed> {
  const { image } = await built();
  const [root] = image.manifests;
  if (!root) throw new Error('nothing was built');
  return { root, blobs: image.blobs };
}

/** The catalog that is read of a list. */
async function readOfList(listed: readonly Listed[]): Promise<string> {
  const far = await registry();
  const client = clientFor(far);
  const mediaType = 'application/vnd.oci.image.index.v1+json';
  const manifests = listed.map(({ root: { mediaType: own, bytes }, said }) => ({
    ...described(own, Buffer.from(bytes)),
    ...said,
  }));
  const image = {
    root: manifestOf(mediaType, { schemaVersion: 2, mediaType, manifests }),
    manifests: listed.map(({ root }) => root),
    blobs: listed.flatMap(({ blobs }) => blobs),
  };
  await pushImage(client, parseReference(`${far.host}/org/catalog:v1`), { image });
  const opened = await openCatalog(`${far.host}/org/catalog:v1`, { directory: '.', registry: () => client });
  const text = await rendered(opened.source);
  await opened.close();
  return text;
}

test('of a list without platforms the first image is read, and artifacts are not', async () => {
  const own = await builtOne();
  const type = 'application/vnd.example';
  const read = await readOfList([
    { ...sampleReferrer(own.root, type), said: { artifactType: type } },
    { ...sampleImage(), said: { platform: { os: 'linux', architecture: 'mips' } } },
    own,
  ]);
  expect(read).toBe(await rendered(directorySource(SAMPLE)));
});

test('of a list with variants the image without one is read', async () => {
  const own = await builtOne();
  const platform = { os: 'linux', architecture: process.arch === 'x64' ? 'amd64' : process.arch };
  const read = await readOfList([
    { ...sampleImage(), said: { platform: { ...platform, variant: 'v9' } } },
    { ...own, said: { platform } },
  ]);
  expect(read).toBe(await rendered(directorySource(SAMPLE)));
});

function folderless(): string {
  return process.cwd();
}

async function pushLabelled(
  client: RegistryClient,
  name: string,
  labels: Readonly<Record<string, string>>,
  layer: Buffer,
): Promise<void> {
  const config = Buffer.from(
    JSON.stringify({ os: 'linux', architecture: 'amd64', config: { Labels: labels } }),
  );
  const type = 'application/vnd.oci.image.manifest.v1+json';
  const root = manifestOf(type, {
    schemaVersion: 2,
    mediaType: type,
    config: described('application/vnd.oci.image.config.v1+json', config),
    layers: [described('application/vnd.oci.image.layer.v1.tar', layer)],
  });
  const image = { root, manifests: [], blobs: [blobOf(config), blobOf(layer)] };
  await pushImage(client, parseReference(name), { image });
}
