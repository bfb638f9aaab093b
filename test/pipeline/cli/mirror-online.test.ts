/** Images that cannot be copied are named in the plan: absent ones, and those of Docker's first schema. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { digestOf } from '../../../pipeline/oci/digest.ts';
import { folder } from '../../fakes/folder.ts';
import { sampleImage } from '../../fakes/image.ts';
import { portolan } from '../../fakes/terminal.ts';

const good = sampleImage();

function schema1(config: unknown): { mediaType: string; bytes: Uint8Array; digest: string } {
  const history = [{ v1Compatibility: JSON.stringify(config) }];
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 1, name: 'org/old', history }));
  return {
    mediaType: 'application/vnd.docker.distribution.manifest.v1+prettyjws',
    bytes,
    digest: digestOf(bytes),
  };
}

const SERVED = new Map([
  ['good', good.root],
  ['bundle', good.root],
  ['index', good.root],
  ['old', schema1({ config: { Labels: { maintainer: 'Ann <ann@example.com>' } } })],
  ['older', schema1({})],
]);

/** A registry that serves manifests and counts what else it is asked. */
async function serving() {
  const asked: string[] = [];
  const server = createServer(({ url = '', method }, response) => {
    asked.push(`${method} ${url}`);
    const manifest = SERVED.get(/\/v2\/org\/(\w+)\/manifests\//.exec(url)?.[1] ?? '');
    response.statusCode = manifest ? 200 : 404;
    if (manifest)
      for (const [name, value] of [
        ['content-type', manifest.mediaType],
        ['docker-content-digest', manifest.digest],
        ['content-length', `${manifest.bytes.length}`],
      ])
        response.setHeader(name ?? '', value ?? '');
    response.end(manifest && method === 'GET' ? manifest.bytes : undefined);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function plan(images: readonly string[], ...words: string[]) {
  const { host, asked } = await serving();
  const directory = folder();
  mkdirSync(join(directory, 'catalog'));
  const related = images.map((name) => `{name: ${name}, image: '${host}/org/${name}:v1'}`).join(', ');
  writeFileSync(
    join(directory, 'catalog', 'catalog.yaml'),
    [
      '---\nschema: olm.package\nname: foo\ndefaultChannel: stable\n',
      '---\nschema: olm.channel\nname: stable\npackage: foo\nentries: [{name: foo.v1.0.0}]\n',
      `---\nschema: olm.bundle\nname: foo.v1.0.0\npackage: foo\nimage: ${host}/org/bundle:v1\n`,
      'properties: [{type: olm.package, value: {packageName: foo, version: 1.0.0}}]\n',
      `relatedImages: [${related}]\n`,
    ].join(''),
  );
  const ran = await portolan(
    directory,
    'mirror',
    'plan',
    'catalog',
    '--as',
    `${host}/org/index:v1`,
    '--to',
    'mirror.example.com',
    '--insecure',
    host,
    ...words,
  );
  return { ...ran, host, asked, directory };
}

test('a schema 1 image is named with whom to write to, and its bundle is not ready', async () => {
  const { exit, err, out, host, directory } = await plan(['good', 'old'], '--online');
  expect(exit).toBe(1);
  expect(err).toContain(
    `${host}/org/old:v1 is a Docker schema 1 manifest, which registries and nodes no longer accept (needed by foo/foo.v1.0.0)`,
  );
  expect(err).toContain('ask Ann <ann@example.com> to push the image again');
  expect(err).toContain('catalog.yaml:');
  expect(err).not.toContain('/org/good');
  expect(out).toContain('Ready for disconnected clusters: 0 of 1 bundle');
  expect(existsSync(join(directory, 'mirror/mapping.txt'))).toBe(true);
});

test('without a maintainer the owner of the repository is named; what is absent is, too', async () => {
  const { exit, err, host } = await plan(['older', 'gone'], '--online');
  expect(exit).toBe(1);
  expect(err).toContain(`ask the owner of ${host}/org/older to push`);
  expect(err).toContain(`${host}/org/gone:v1 does not exist (needed by foo/foo.v1.0.0)`);
});

test('sound images need one request each, and without --online nobody is asked', async () => {
  const { exit, asked } = await plan(['good'], '--online');
  expect(exit).toBe(0);
  expect(asked.filter((one) => one.includes('/manifests/'))).toHaveLength(3);
  expect((await plan(['gone'])).asked).toEqual([]);
});

test('a copy says so, too', async () => {
  const { host, directory } = await plan(['old']);
  writeFileSync(join(directory, 'mapping.txt'), `${host}/org/old:v1=${host}/m/old:v1\n`);
  const ran = await portolan(directory, 'mirror', 'copy', 'mapping.txt', '--insecure', host);
  expect(ran.exit).toBe(1);
  expect(ran.err).toContain('is a Docker schema 1 manifest: its owner must push the image again');
});
