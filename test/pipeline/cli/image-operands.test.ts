import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseReference } from '../../../catalog/reference.ts';
import { directorySource } from '../../../pipeline/directory.ts';
import { BUILD_DEFAULTS, buildCatalogImage } from '../../../pipeline/oci/image/build.ts';
import { createRegistryClient } from '../../../pipeline/oci/registry/client.ts';
import { parseLocation } from '../../../pipeline/oci/registry/image-location.ts';
import { openDestination } from '../../../pipeline/oci/registry/open.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import { folder } from '../../fakes/folder.ts';
import { registry } from '../../fakes/registry.ts';
import { portolan } from '../../fakes/terminal.ts';

const SAMPLE = 'test/catalogs/sample/catalogs/v4.20';

async function indexImage() {
  const options = { ...BUILD_DEFAULTS, scratch: folder() };
  const { built } = await buildCatalogImage(directorySource(SAMPLE), undefined, options);
  if (!built) throw new Error('nothing was built');
  const { manifestList, manifests, blobs } = built.image;
  return { root: manifestList, manifests, blobs };
}

/** The lines of a mapping but that of the index image itself, whose name depends on where it is. */
function mapping(out: string, name: string): string[] {
  const lines = readFileSync(join(out, 'mapping.txt'), 'utf8').split('\n');
  return lines.filter((line) => !line.startsWith(name));
}

test('a mirror is planned from an index image as from its directory, with its name and digest', async () => {
  const far = await registry();
  const client = createRegistryClient({ plainHttp: [far.host], internal: [far.host] });
  const image = await indexImage();
  const name = `${far.host}/org/catalog`;
  await pushImage(client, parseReference(`${name}:v4.20`), { image });
  client.close();
  const [a, b] = [folder(), folder()];
  const to = ['--to', 'mirror.example.com/olm', '--out'];
  const fromImage = await portolan('.', 'mirror', 'plan', `${name}:v4.20`, '--insecure', far.host, ...to, a);
  expect(fromImage).toMatchObject({ exit: 0 });
  expect(fromImage.err).not.toContain('--as names the real one');
  await portolan('.', 'mirror', 'plan', SAMPLE, '--as', `${name}:v4.20`, ...to, b);
  expect(mapping(a, name)).toEqual(mapping(b, name));
  const own = readFileSync(join(a, 'mapping.txt'), 'utf8')
    .split('\n')
    .find((line) => line.startsWith(name));
  expect(own).toContain(image.root.digest);
  const verified = await portolan(
    '.',
    ...['mirror', 'verify', `${name}:v4.20`, '--insecure', far.host],
    '--documents',
    a,
  );
  expect(verified.exit).toBe(0);
});

test('an image in a directory has no name that clusters know: one is made up, and said', async () => {
  const directory = folder();
  const image = await indexImage();
  const to = await openDestination(parseLocation(`oci:${directory}/images:v1`), createRegistryClient());
  await pushImage(to.registry, to.reference, { image });
  const ran = await portolan(directory, 'mirror', 'plan', 'oci:images:v1', '--to', 'mirror.example.com');
  expect(ran.exit).toBe(0);
  expect(ran.err).toContain('using localhost/catalog:');
  expect(readFileSync(join(directory, 'mirror', 'mapping.txt'), 'utf8')).toContain(image.root.digest);
});

test('a directory beside an image is called after its last folder, unless the image has that name', async () => {
  const directory = folder();
  const image = await indexImage();
  for (const tag of ['v1', 'v4.20']) {
    const to = await openDestination(parseLocation(`oci:${directory}/images:${tag}`), createRegistryClient());
    await pushImage(to.registry, to.reference, { image });
    await to.finish();
  }
  cpSync(SAMPLE, join(directory, 'catalogs/v4.20'), { recursive: true });
  const asked = ['next', '--package', 'ferry-operator', '--version', '1.4.0', '--olm', 'v0', '--json'];
  const placed = async (tag: string, catalog: string): Promise<string> => {
    const operands = ['catalogs/v4.20', `oci:images:${tag}`];
    const { out } = await portolan(directory, ...asked, '--catalog', catalog, ...operands);
    return JSON.parse(out).paths[0].where;
  };
  expect(await placed('v1', 'v4.20')).toMatch(/ of v4\.20$/);
  expect(await placed('v4.20', 'catalogs/v4.20')).toMatch(/ of catalogs\/v4\.20$/);
});

test('what is published is compared with what is about to be', async () => {
  const directory = folder();
  const image = await indexImage();
  const to = await openDestination(parseLocation(`oci:${directory}/images:v1`), createRegistryClient());
  await pushImage(to.registry, to.reference, { image });
  cpSync(SAMPLE, join(directory, 'next'), { recursive: true });
  const same = await portolan(directory, 'diff', 'oci:images:v1', 'next', '--format', 'json');
  expect(same.exit).toBe(0);
  expect(JSON.parse(same.out)).toEqual({ packages: [] });
  rmSync(join(directory, 'next', 'ferry-operator'), { recursive: true });
  const other = await portolan(directory, 'diff', 'oci:images:v1', 'next', '--format', 'json');
  expect(JSON.parse(other.out).packages).toMatchObject([{ package: 'ferry-operator' }]);
});
