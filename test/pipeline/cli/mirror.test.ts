import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseReference } from '../../../catalog/reference.ts';
import { pushImage } from '../../../pipeline/registry/push.ts';
import { folder } from '../../fakes/folder.ts';
import { testClient } from '../../fakes/host.ts';
import { sampleImage } from '../../fakes/image.ts';
import { registry } from '../../fakes/registry.ts';
import { portolan } from '../../fakes/terminal.ts';

const list = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['operator'] });
const bundle = sampleImage({ layers: ['bundle'] });

/** A catalog with one bundle whose images are in one registry, and a mirror that is empty. */
async function scene() {
  const directory = folder();
  const [source, mirror] = [await registry(), await registry()];
  const client = testClient([source.host, mirror.host]);
  const operator = `${source.host}/org/operator@${list.root.digest}`;
  const image = `${source.host}/org/bundle:v1`;
  await pushImage(client, parseReference(`${source.host}/org/operator:v1`), { image: list });
  await pushImage(client, parseReference(image), { image: bundle });
  mkdirSync(join(directory, 'catalog'));
  writeFileSync(
    join(directory, 'catalog', 'catalog.yaml'),
    [
      '---\nschema: olm.package\nname: foo\ndefaultChannel: stable\n',
      '---\nschema: olm.channel\nname: stable\npackage: foo\nentries: [{name: foo.v1.0.0}]\n',
      `---\nschema: olm.bundle\nname: foo.v1.0.0\npackage: foo\nimage: ${image}\n`,
      `properties: [{type: olm.package, value: {packageName: foo, version: 1.0.0}}]\n`,
      `relatedImages: [{name: op, image: '${operator}'}]\n`,
    ].join(''),
  );
  const hosts = [source.host, mirror.host].flatMap((host) => ['--insecure', host]);
  const index = `${source.host}/org/catalog:v1`;
  await pushImage(client, parseReference(index), { image: bundle });
  const run = (...words: string[]) => portolan(directory, 'mirror', ...words);
  return { directory, source, mirror, client, hosts, index, run };
}

test('plan, copy, verify: what the nodes ask for is there, and what is not is named', async () => {
  const { mirror, client, hosts, index, run, directory } = await scene();
  expect(await run('plan', 'catalog', '--as', index, '--to', `${mirror.host}/m`)).toMatchObject({ exit: 0 });
  const before = await run('verify', 'catalog', '--documents', 'mirror', '--online', ...hosts);
  expect(before.exit).toBe(1);
  expect(before.out).toContain('Disconnected ready: 0 of 1 bundles');
  expect(before.out).toContain('there is no such image');
  const copied = await run('copy', 'mirror/mapping.txt', ...hosts);
  expect(copied).toMatchObject({ exit: 0 });
  expect(copied.out).toContain('3 images: 3 copied, 0 were there, 0 failed');
  expect(await run('verify', 'catalog', '--documents', 'mirror', '--online', ...hosts)).toMatchObject({
    exit: 0,
    out: 'Disconnected ready: 1 of 1 bundles\n',
  });
  const destination = readFileSync(join(directory, 'mirror/mapping.txt'), 'utf8')
    .split('\n')
    .find((line) => line.includes(list.root.digest))
    ?.split('=')[1];
  await pushImage(client, parseReference(destination ?? ''), { image: bundle });
  const after = await run('verify', 'catalog', '--documents', 'mirror', '--online', ...hosts);
  expect(after.exit).toBe(1);
  expect(after.out).toContain(`it is ${bundle.root.digest}, not ${list.root.digest}`);
});

test('through an archive on a disk', async () => {
  const { mirror, hosts, index, run, directory } = await scene();
  await run('plan', 'catalog', '--as', index, '--to', `${mirror.host}/m`);
  const mapping = 'mirror/mapping.txt';
  const written = await run('copy', mapping, '--to-archive', 'disk/1', '--archive-size', '4Ki', ...hosts);
  expect(written.exit).toBe(0);
  cpSync(join(directory, 'disk/1'), join(directory, 'elsewhere'), { recursive: true });
  expect(await run('copy', '--from-archive', 'elsewhere', ...hosts)).toMatchObject({ exit: 0 });
  const next = await run('copy', mapping, '--to-archive', 'disk/2', '--since', 'disk/1', ...hosts);
  expect(next.out).toContain('0 copied, 3 were there');
  const verified = await run('verify', 'catalog', '--documents', 'mirror', '--online', ...hosts);
  expect(verified).toMatchObject({ exit: 0 });
});
