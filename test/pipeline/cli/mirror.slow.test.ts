import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseReference, withDigest } from '../../../catalog/reference.ts';
import { directorySource } from '../../../pipeline/directory.ts';
import { BUILD_DEFAULTS, buildCatalogImage } from '../../../pipeline/oci/image/build.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import { planArtifact } from '../../../pipeline/publish/artifacts.ts';
import { folder } from '../../fakes/folder.ts';
import { testClient } from '../../fakes/host.ts';
import { sampleImage } from '../../fakes/image.ts';
import { registry } from '../../fakes/registry.ts';
import { portolan } from '../../fakes/terminal.ts';

// Registries that keep what they get on the disk: slow where many tests share one.
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

test.each([
  ['4.12', 'imageContentSourcePolicy.yaml', undefined],
  ['4.17', 'imageDigestMirrorSet.yaml', 'catalogd.operatorframework.io/v1alpha1'],
  ['4.22', 'imageDigestMirrorSet.yaml', 'olm.operatorframework.io/v1'],
  ['5.0', 'imageDigestMirrorSet.yaml', 'olm.operatorframework.io/v1'],
  ['v5.1', 'imageDigestMirrorSet.yaml', 'olm.operatorframework.io/v1'],
])('the documents for OpenShift %s', async (platform, mirrors, api) => {
  const { run, directory, index } = await scene();
  const words = ['plan', 'catalog', '--as', index, '--to', 'mirror.example.com/m', '--platform', platform];
  // Policies mirror digests only, and the catalog names a tag.
  expect(await run(...words)).toMatchObject({ exit: platform === '4.12' ? 1 : 0 });
  const written = (name: string) => readFileSync(join(directory, 'mirror', name), 'utf8');
  const resources = written('kustomization.yaml');
  expect(resources).toContain(mirrors);
  expect(resources.includes('clusterCatalog.yaml')).toBe(api !== undefined);
  if (api !== undefined) expect(written('clusterCatalog.yaml')).toContain(`apiVersion: ${api}\n`);
});

test.each(['3.11', '5', 'latest'])('%s is not a version of OpenShift', async (platform) => {
  const { run, index } = await scene();
  const ran = await run(
    'plan',
    'catalog',
    '--as',
    index,
    '--to',
    'mirror.example.com/m',
    '--platform',
    platform,
  );
  expect(ran.exit).toBe(2);
  expect(ran.err).toContain(`--platform is "${platform}", expected a version, for example 4.16 or 5.0`);
});

test('images that only deployments name are read from bundle directories, and missed in the mirror', async () => {
  const { run, directory, index } = await scene();
  const csv = (image: string): string =>
    JSON.stringify({
      kind: 'ClusterServiceVersion',
      metadata: { name: 'foo.v1.0.0' },
      spec: {
        install: {
          spec: {
            deployments: [
              {
                name: 'foo',
                spec: {
                  template: {
                    spec: { containers: [{ name: 'foo', env: [{ name: 'RELATED_IMAGE_X', value: image }] }] },
                  },
                },
              },
            ],
          },
        },
      },
    });
  const bundles = join(directory, 'bundles/foo/1.0.0/manifests');
  mkdirSync(bundles, { recursive: true });
  const plan = (...more: string[]) =>
    run('plan', 'catalog', '--as', index, '--to', 'mirror.example.com/m', ...more);
  const verify = () => run('verify', 'catalog', '--documents', 'mirror', '--bundles', 'bundles');
  const operand = `quay.io/org/operand@sha256:${'5'.repeat(64)}`;
  writeFileSync(join(bundles, 'foo.clusterserviceversion.json'), csv(operand));
  await plan();
  expect(await verify()).toMatchObject({ exit: 1, out: expect.stringContaining(`  ${operand}: `) });
  // A plan that knows of it brings it; without such an image nothing more is needed.
  const whole = { exit: 0, out: 'Ready for disconnected clusters: 1 of 1 bundle\n' };
  expect(await plan('--bundles', 'bundles')).toMatchObject(whole);
  expect(await verify()).toMatchObject(whole);
  writeFileSync(join(bundles, 'foo.clusterserviceversion.json'), csv(''));
  await plan();
  expect(await verify()).toMatchObject(whole);
});

test('plan, copy, verify: what the nodes ask for is there, and what is not is named', async () => {
  const { source, mirror, client, hosts, index, run, directory } = await scene();
  expect(await run('plan', 'catalog', '--as', index, '--to', `${mirror.host}/m`)).toMatchObject({ exit: 0 });
  const before = await run('verify', 'catalog', '--documents', 'mirror', '--online', ...hosts);
  expect(before.exit).toBe(1);
  expect(before.out).toContain('Ready for disconnected clusters: 0 of 1 bundle');
  expect(before.out).toContain('where the image is missing (needed by foo/foo.v1.0.0)');
  expect(before.out).toContain('no such image');
  const copied = await run('copy', 'mirror/mapping.txt', ...hosts);
  expect(copied).toMatchObject({ exit: 0 });
  expect(copied.out).toContain('3 images: 3 copied, 0 already existed, 0 failed');
  expect(await run('verify', 'catalog', '--documents', 'mirror', '--online', ...hosts)).toMatchObject({
    exit: 0,
    out: 'Ready for disconnected clusters: 0 of 1 bundle; 1 not checked: the catalog does not contain their deployments\n',
  });
  const asked = source.seen.length;
  expect(await run('verify', 'catalog', '--documents', 'mirror', '--online', ...hosts)).toMatchObject({
    exit: 0,
  });
  expect(source.seen.length).toBe(asked);
  const both = ['--online', '--sources', ...hosts];
  expect(await run('verify', 'catalog', '--documents', 'mirror', ...both)).toMatchObject({ exit: 0 });
  expect(source.seen.length).toBeGreaterThan(asked);
  const destination = readFileSync(join(directory, 'mirror/mapping.txt'), 'utf8')
    .split('\n')
    .find((line) => line.includes(list.root.digest))
    ?.split('=')[1];
  await pushImage(client, parseReference(destination ?? ''), { image: bundle });
  const after = await run('verify', 'catalog', '--documents', 'mirror', '--online', ...hosts);
  expect(after.exit).toBe(1);
  expect(after.out).toContain(`it is ${bundle.root.digest}, not ${list.root.digest}`);
});

test('verify takes the mapping beside the documents, and asks which one where there are two', async () => {
  const { directory, index, run } = await scene();
  await run('plan', 'catalog', '--as', index, '--to', 'mirror.example.com/m', '--out', 'one');
  cpSync(join(directory, 'one'), join(directory, 'two'), { recursive: true });
  const verify = () => run('verify', 'catalog', '--documents', 'one', '--documents', 'two');
  expect(await verify()).toMatchObject({ exit: 2, err: expect.stringContaining('--mapping is required') });
  rmSync(join(directory, 'one/mapping.txt'));
  expect(await verify()).toMatchObject({ exit: 0 });
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
  expect(next.out).toContain('0 copied, 3 already existed');
  const verified = await run('verify', 'catalog', '--documents', 'mirror', '--online', ...hosts);
  expect(verified).toMatchObject({ exit: 0 });
});

test('verify names a blob of which the mirror has only a part', async () => {
  const { mirror, hosts, index, run } = await scene();
  await run('plan', 'catalog', '--as', index, '--to', `${mirror.host}/m`);
  await run('copy', 'mirror/mapping.txt', ...hosts);
  const verify = () => run('verify', 'catalog', '--documents', 'mirror', '--online', ...hosts);
  expect(await verify()).toMatchObject({ exit: 0 });
  const [layer] = bundle.blobs;
  truncateSync(join(mirror.directory, 'blobs', (layer?.digest ?? '').replace(':', '/')), 10);
  const { exit, out } = await verify();
  expect(exit).toBe(1);
  expect(out).toContain(`has 10 bytes, expected ${layer?.size}`);
});

test('what a mirror does not need any more is deleted after asking', async () => {
  const { mirror, client, hosts, index, run, directory } = await scene();
  await run('plan', 'catalog', '--as', index, '--to', `${mirror.host}/m`, '--out', 'old');
  await run('copy', 'old/mapping.txt', ...hosts);
  const mapping = readFileSync(join(directory, 'old/mapping.txt'), 'utf8').split('\n');
  const kept = mapping.filter((line) => !line.includes('org/operator'));
  const gone = mapping.find((line) => line.includes('org/operator'))?.split('=')[1] ?? '';
  writeFileSync(join(directory, 'new.txt'), kept.join('\n'));
  await run('diff', 'old', 'new.txt', '--delete-images', 'gone.yaml');
  const refused = await run('prune', 'gone.yaml', ...hosts);
  expect(refused).toMatchObject({ exit: 1 });
  expect(refused.err).toContain(`- ${gone}`);
  expect(await client.resolve(parseReference(gone))).toBeDefined();
  expect(await run('prune', 'gone.yaml', '--yes', ...hosts)).toMatchObject({
    exit: 0,
    out: '1 image: 1 deleted, 0 did not exist, 0 failed\n',
  });
  expect(await client.resolve(parseReference(gone))).toBeUndefined();
  expect((await run('prune', 'gone.yaml', '--yes', ...hosts)).out).toContain(
    '1 image: 0 deleted, 1 did not exist',
  );
  writeFileSync(join(directory, 'bad.yaml'), 'apiVersion: v1\nkind: Pod\n');
  expect((await run('prune', 'bad.yaml', '--yes')).err).toContain('expected a DeleteImageList');
});

test("oc-mirror's configuration is followed, and written for those who go on with it", async () => {
  const { mirror, client, hosts, run, directory, source } = await scene();
  const { built } = await buildCatalogImage(directorySource(join(directory, 'catalog')), undefined, {
    ...BUILD_DEFAULTS,
    scratch: folder(),
  });
  if (!built) throw new Error('nothing was built');
  const { manifestList: root, manifests, blobs } = built.image;
  const reference = `${source.host}/org/index:v1`;
  await pushImage(client, parseReference(reference), { image: { root, manifests, blobs } });
  const configuration = (full: string): string =>
    `kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  operators:\n  - catalog: ${reference}\n${full}`;
  writeFileSync(join(directory, 'isc.yaml'), configuration('    full: true\n'));
  const words = ['--to', `docker://${mirror.host}/m`, '--style', 'oc-mirror', ...hosts];
  expect(await run('plan', '--image-set', 'isc.yaml', ...words)).toMatchObject({ exit: 0 });
  const mapping = readFileSync(join(directory, 'mirror/mapping.txt'), 'utf8');
  expect(mapping).toContain(
    `docker://${source.host}/org/index@${root.digest}=docker://${mirror.host}/m/org/index:v1`,
  );
  expect(await run('copy', 'mirror/mapping.txt', ...hosts)).toMatchObject({ exit: 0 });
  writeFileSync(join(directory, 'isc.yaml'), configuration('    packages: [{name: nothing}]\n'));
  expect((await run('plan', '--image-set', 'isc.yaml', ...words)).exit).toBe(1);
  // An image is built of one catalog: another one would be left out.
  const other = `${source.host}/org/other:v1`;
  await pushImage(client, parseReference(other), { image: { root, manifests, blobs } });
  writeFileSync(
    join(directory, 'isc.yaml'),
    configuration(`    packages: [{name: foo}]\n  - catalog: ${other}\n    packages: [{name: foo}]\n`),
  );
  const build = ['--build', `${mirror.host}/m/built:v1`, '--out', 'built'];
  expect(await run('plan', '--image-set', 'isc.yaml', ...words, ...build)).toMatchObject({
    exit: 2,
    err: expect.stringContaining('--build requires exactly one selected catalog, found 2'),
  });
  expect(existsSync(join(directory, 'built'))).toBe(false);
  // Nothing is deleted by a configuration whose packages are not found.
  const deletes = configuration('    packages: [{name: nothing}]\n').replace('mirror:\n', 'delete:\n');
  writeFileSync(join(directory, 'disc.yaml'), deletes.replace('kind: ', 'kind: Delete'));
  expect((await run('plan', '--image-set', 'disc.yaml', ...words, '--out', 'deletes')).exit).toBe(1);
  expect(existsSync(join(directory, 'deletes'))).toBe(false);
  writeFileSync(join(directory, 'isc.yaml'), `${configuration('    full: true\n')}  samples: [{name: a}]\n`);
  const refused = await run('plan', '--image-set', 'isc.yaml', ...words, '--out', 'refused');
  expect(refused).toMatchObject({
    exit: 2,
    err: expect.stringContaining('does not support mirror.samples'),
  });
  expect(existsSync(join(directory, 'refused'))).toBe(false);
  expect(
    await run('plan', '--image-set', 'isc.yaml', '--skip-unsupported', ...words, '--out', 'skipped'),
  ).toMatchObject({ exit: 0, err: expect.stringContaining('warning: skipped') });
  await run('plan', reference, '--to', mirror.host, '--out', 'ours', ...hosts);
  const written = readFileSync(join(directory, 'ours/imageSetConfiguration.yaml'), 'utf8');
  expect(written).toContain(`  - catalog: ${reference}\n    full: true\n`);
});

test("oc-mirror's configuration of what to delete becomes a list, and then prune deletes it", async () => {
  const { mirror, client, hosts, run, directory, source } = await scene();
  const kept = `${mirror.host}/m/org/other:v1`;
  await pushImage(client, parseReference(kept), { image: bundle });
  await pushImage(client, parseReference(`${source.host}/org/extra:v1`), { image: bundle });
  const copied = parseReference(`${mirror.host}/m/org/extra:v1`);
  await pushImage(client, copied, { image: bundle });
  writeFileSync(
    join(directory, 'disc.yaml'),
    `kind: DeleteImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\ndelete:\n  additionalImages: [{name: ${source.host}/org/extra:v1}]\n`,
  );
  const words = ['--to', `docker://${mirror.host}/m`, '--style', 'oc-mirror', ...hosts];
  expect(await run('plan', '--image-set', 'disc.yaml', ...words)).toMatchObject({
    exit: 0,
    out: '1 image to delete in mirror/delete-images.yaml\n',
  });
  expect(readdirSync(join(directory, 'mirror'))).toEqual(['delete-images.yaml']);
  expect(await client.resolve(copied)).toBeDefined();
  expect(await run('prune', 'mirror/delete-images.yaml', '--yes', ...hosts)).toMatchObject({
    exit: 0,
    out: expect.stringContaining('1 deleted'),
  });
  expect(await client.resolve(copied)).toBeUndefined();
  expect(await client.resolve(parseReference(kept))).toBeDefined();
});

test('the plan that publish attached is found again by digest, with no rebuild', async () => {
  const { client, hosts, run, directory, source } = await scene();
  const reference = parseReference(`${source.host}/org/index:v1`);
  await pushImage(client, reference, { image: bundle });
  const attach = async (mirror: string, text: string): Promise<void> => {
    const files = new Map([
      ['mapping.txt', text],
      ['../outside', 'no'],
    ]);
    const image = planArtifact(bundle.root, { mirror, files });
    await pushImage(client, withDigest(reference, image.root.digest), { image });
  };
  const named = `${source.host}/org/index@${bundle.root.digest}`;
  const none = await run('plan', named, ...hosts);
  expect(none).toMatchObject({ exit: 2 });
  expect(none.err).toContain('no plan is attached');
  await attach('mirror.example.com/a', 'a=b\n');
  expect(await run('plan', named, '--out', 'found', ...hosts)).toMatchObject({ exit: 0 });
  expect(readdirSync(join(directory, 'found'))).toEqual(['mapping.txt']);
  expect(readFileSync(join(directory, 'found/mapping.txt'), 'utf8')).toBe('a=b\n');
  const receipt = {
    kind: 'PublishReceipt',
    image: `${source.host}/org/index:v1`,
    digest: bundle.root.digest,
  };
  writeFileSync(join(directory, 'receipt.json'), JSON.stringify(receipt));
  expect(await run('plan', 'receipt.json', '--out', 'again', ...hosts)).toMatchObject({ exit: 0 });
  await attach('mirror.example.com/b', 'c=d\n');
  expect((await run('plan', named, ...hosts)).err).toContain(
    '--to mirror.example.com/a, --to mirror.example.com/b',
  );
});

test('of catalogs with the same content, each tag has the plan that was attached for it', async () => {
  const { client, hosts, run, directory, source } = await scene();
  const at = (tag: string) => `${source.host}/org/index:${tag}`;
  const mirror = 'mirror.example.com/a';
  for (const tag of ['v1', 'v2', 'old']) {
    const reference = parseReference(at(tag));
    await pushImage(client, reference, { image: bundle });
    const files = new Map([['mapping.txt', `${tag}=${tag}\n`]]);
    const plan = planArtifact(bundle.root, { mirror, files, ...(tag !== 'old' && { image: at(tag) }) });
    await pushImage(client, withDigest(reference, plan.root.digest), { image: plan });
  }
  const mapping = () => readFileSync(join(directory, 'mirror/mapping.txt'), 'utf8');
  for (const tag of ['v1', 'v2']) {
    expect(await run('plan', at(tag), ...hosts)).toMatchObject({ exit: 0 });
    expect(mapping()).toBe(`${tag}=${tag}\n`);
    expect(await run('plan', `${at(tag)}@${bundle.root.digest}`, ...hosts)).toMatchObject({ exit: 0 });
  }
  for (const name of [at('old'), `${source.host}/org/index@${bundle.root.digest}`]) {
    const { exit, err } = await run('plan', name, ...hosts);
    expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining(`${at('v1')}, ${at('v2')}`) });
  }
});

test.each(['My Catalog', 'UPPER', 'index'])(
  'an index image is called like its directory; where it cannot be, the error has the path (%s)',
  async (name) => {
    const { mirror, hosts, index, run, directory } = await scene();
    const words = ['catalog', '--as', index, '--to', `${mirror.host}/m`, '--only', 'foo@stable', ...hosts];
    expect(await run('plan', ...words, '--build', 'oci:built')).toMatchObject({ exit: 0 });
    const path = join(directory, name);
    cpSync(join(directory, 'built'), path, { recursive: true });
    const catalog = JSON.stringify(`oci://${path}`);
    writeFileSync(
      join(directory, 'isc.yaml'),
      `kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  operators:\n  - catalog: ${catalog}\n    full: true\n`,
    );
    const ran = await run('plan', '--image-set', 'isc.yaml', '--to', `${mirror.host}/m`, ...hosts);
    const error = `portolan: the mirror calls the index image of ${catalog} like its directory, but ${JSON.stringify(name)} is not`;
    if (name === 'index') expect(ran).toMatchObject({ exit: 0 });
    else expect(ran).toMatchObject({ exit: 2, err: expect.stringContaining(error) });
  },
);

test('a part of a catalog without its image: that nothing copies it is said, and it is not to be deleted', async () => {
  const { run, directory } = await scene();
  const words = ['plan', 'catalog', '--as', 'quay.io/acme/catalog:v1', '--to', 'mirror.example.com/m'];
  const index = 'mirror.example.com/m/quay.io/acme/catalog:v1';
  expect((await run(...words, '--out', 'whole')).err).not.toContain('the plan does not copy');
  const part = await run(...words, '--only', 'foo@stable', '--out', 'part');
  expect(part).toMatchObject({
    exit: 0,
    err: expect.stringContaining(
      `the plan does not copy the index image of the selection to ${index}: use --build to build it\n`,
    ),
  });
  const diff = await run('diff', 'whole', 'part', '--delete-images', 'old.yaml');
  expect(diff.out).toContain(`= ${index}: still needed\n0 to add, 0 to change, 2 unchanged, 0 can be`);
  expect(readFileSync(join(directory, 'old.yaml'), 'utf8')).not.toContain(index);
});

test('a part of a catalog: its image is built, copied, and served from the mirror', async () => {
  const { mirror, client, hosts, index, run, directory } = await scene();
  const words = ['catalog', '--as', index, '--to', `${mirror.host}/m`, '--only', 'foo@stable', ...hosts];
  const planned = await run('plan', ...words, '--build', 'oci:built');
  expect(planned.exit).toBe(0);
  expect(planned.err).not.toContain('the plan does not copy');
  const mapping = readFileSync(join(directory, 'mirror/mapping.txt'), 'utf8');
  expect(mapping).toContain(`oci://${join(directory, 'built')}=${mirror.host}/m/`);
  const image =
    /image: (\S+)/.exec(readFileSync(join(directory, 'mirror/catalogSource.yaml'), 'utf8'))?.[1] ?? '';
  expect(image).toContain('/org/catalog@sha256:');
  expect(await run('copy', 'mirror/mapping.txt', ...hosts)).toMatchObject({ exit: 0 });
  expect(await client.resolve(parseReference(image))).toBeDefined();
  expect(await run('verify', image, '--documents', 'mirror', '--online', ...hosts)).toMatchObject({
    exit: 0,
  });
  const again = await run('plan', ...words, '--build', `${mirror.host}/parts/foo:v1`);
  expect(again).toMatchObject({ exit: 0 });
  expect(readFileSync(join(directory, 'mirror/mapping.txt'), 'utf8')).toContain(
    `${mirror.host}/parts/foo@${image.slice(image.indexOf('@') + 1)}=`,
  );
  expect((await run('plan', 'catalog', '--as', index, '--to', mirror.host, '--build', 'oci:x')).exit).toBe(2);
});
