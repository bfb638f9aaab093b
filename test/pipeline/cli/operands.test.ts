import { expect, test } from 'vitest';
import { parseReference } from '../../../catalog/reference.ts';
import { directorySource } from '../../../pipeline/directory.ts';
import { BUILD_DEFAULTS, buildCatalogImage } from '../../../pipeline/oci/image/build.ts';
import { createRegistryClient } from '../../../pipeline/oci/registry/client.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import { folder } from '../../fakes/folder.ts';
import { registry } from '../../fakes/registry.ts';
import { runCommand } from '../../fakes/terminal.ts';

const SAMPLE = 'test/catalogs/sample/catalogs/v4.20';

test('an index image answers as the directory that it was built of', async () => {
  const { host } = await registry();
  const options = { ...BUILD_DEFAULTS, scratch: folder() };
  const { built } = await buildCatalogImage(directorySource(SAMPLE), undefined, options);
  if (!built) throw new Error('nothing was built');
  const { manifestList: root, manifests, blobs } = built.image;
  const client = createRegistryClient({ plainHttp: [host], internal: [host] });
  const reference = `${host}/sea/catalog:v4.20`;
  await pushImage(client, parseReference(reference), { image: { root, manifests, blobs } });
  client.close();
  const far = await runCommand(['list', 'bundles', reference, '--insecure', host]);
  const near = await runCommand(['list', 'bundles', SAMPLE]);
  expect(far).toEqual(near);
  const words = ['next', '--package', 'ferry-operator', '--version', '1.4.0', '--json'];
  const asked = await runCommand([...words, reference, '--insecure', host]);
  expect(asked).toEqual(await runCommand([...words, SAMPLE]));
});
