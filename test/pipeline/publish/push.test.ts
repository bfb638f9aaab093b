/** Index images into places: what of the base goes with them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseReference } from '../../../catalog/reference.ts';
import { OCI_INDEX, OCI_MANIFEST } from '../../../pipeline/oci/media-types.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import { sendCatalogImages } from '../../../pipeline/publish/push.ts';
import { folder } from '../../fakes/folder.ts';
import { testClient } from '../../fakes/host.ts';
import { describe, manifestOf, sampleImage, source } from '../../fakes/image.ts';
import { registry } from '../../fakes/registry.ts';

const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';
const FOREIGN = 'application/vnd.oci.image.layer.nondistributable.v1.tar+gzip';

test('a layer of the base is copied though it has further addresses, unless its type forbids that', async () => {
  const [from, to] = [await registry(), await registry()];
  const client = testClient([from.host, to.host]);
  const opm = Buffer.from('opm');
  const foreign = Buffer.from('foreign');
  const config = Buffer.from('{}');
  const urls = ['https://layers.example/opm'];
  const baseLayers = [
    { ...describe(LAYER, opm), urls },
    { ...describe(FOREIGN, foreign), urls },
  ];
  const type = 'application/vnd.oci.image.config.v1+json';
  const manifest = manifestOf(OCI_MANIFEST, {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: describe(type, config),
    layers: baseLayers,
  });
  const reference = parseReference(`${from.host}/base/opm:v1`);
  const blobs = [opm, config].map(source);
  await pushImage(client, reference, { image: { root: manifest, manifests: [], blobs } });
  const listed = describe(OCI_MANIFEST, Buffer.from(manifest.bytes));
  const image = {
    manifestList: manifestOf(OCI_INDEX, { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [listed] }),
    manifests: [manifest],
    blobs: [source(config)],
    baseLayers,
  };
  const place = { kind: 'registry', reference: parseReference(`${to.host}/sea/catalog:v1`) } as const;
  const base = {
    image: { digest: manifest.digest, family: 'oci', platforms: [] },
    name: 'opm',
    source: { registry: client, reference, close: async () => undefined },
  } as const;
  const sent = await sendCatalogImages(client, [{ image, place, base, untagged: false }]);
  await sent.tag();
  const has = (bytes: Buffer) => client.hasBlob(place.reference, describe('', bytes).digest);
  expect(await Promise.all([has(opm), has(foreign)])).toEqual([true, false]);
});

test.each(['sending', 'tagging'])('no staging folder of an archive stays when %s fails', async (step) => {
  const { host } = await registry();
  const client = testClient([host]);
  const { root, manifests, blobs } = sampleImage();
  const open = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('other bytes');
  };
  const content = step === 'sending' ? blobs.map((blob) => ({ ...blob, open })) : blobs;
  const image = { manifestList: root, manifests, blobs: content, baseLayers: [] };
  const directory = folder();
  const archive = { kind: 'oci-archive', path: join(directory, 'catalog.tar') } as const;
  const remote = { kind: 'registry', reference: parseReference(`${host}/sea/catalog:v1`) } as const;
  const promote = () => Promise.reject(new Error('the fence is down'));
  const rest = { image, base: undefined, untagged: false };
  const jobs = [
    ...(step === 'tagging' ? [{ ...rest, place: remote, promote }] : []),
    { ...rest, place: archive },
  ];
  const sending = sendCatalogImages(client, jobs).then((sent) => sent.tag());
  await expect(sending).rejects.toThrow();
  expect(readdirSync(directory)).toEqual([]);
});
