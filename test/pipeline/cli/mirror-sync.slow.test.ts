/** One command for a mirror: plan, build, copy, verify, documents, prune; run again and again. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reachedReadiness } from '../../../catalog/mirror/report.ts';
import { parseReference, type Reference } from '../../../catalog/reference.ts';
import { sourceOf } from '../../../catalog/source.ts';
import { prepareMirror } from '../../../pipeline/mirror/prepare.ts';
import { bytesBlob, digestOf } from '../../../pipeline/oci/digest.ts';
import { BUILD_DEFAULTS, buildCatalogImage } from '../../../pipeline/oci/image/build.ts';
import { OCI_MANIFEST } from '../../../pipeline/oci/media-types.ts';
import { type ImageContent, pushImage, readImage } from '../../../pipeline/oci/registry/push.ts';
import { folder } from '../../fakes/folder.ts';
import { testClient } from '../../fakes/host.ts';
import { bytesOf, sampleImage } from '../../fakes/image.ts';
import { registry } from '../../fakes/registry.ts';
import { portolan } from '../../fakes/terminal.ts';

const operator = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['operator'] });

/** An index image with the packages `a` and `b`, whose images are beside it, and an empty mirror. */
async function scene({ takesSparse = false, lacks = '' } = {}) {
  const directory = folder();
  const [source, mirror] = [await registry(), await registry({ takesSparse })];
  const client = testClient([source.host, mirror.host]);
  const text = ['a', 'b'].flatMap((name) => [
    `---\nschema: olm.package\nname: ${name}\ndefaultChannel: stable\n`,
    `---\nschema: olm.channel\nname: stable\npackage: ${name}\nentries: [{name: ${name}.v1.0.0}]\n`,
    `---\nschema: olm.bundle\nname: ${name}.v1.0.0\npackage: ${name}\nimage: ${source.host}/org/${name}-bundle:v1\n`,
    `properties: [{type: olm.package, value: {packageName: ${name}, version: 1.0.0}}]\n`,
    `relatedImages: [{name: op, image: '${source.host}/org/${name}@${operator.root.digest}'}]\n`,
  ]);
  const catalog = sourceOf({ 'catalog.yaml': text.join('') });
  const { built } = await buildCatalogImage(catalog, undefined, { ...BUILD_DEFAULTS, scratch: folder() });
  if (!built) throw new Error('nothing was built');
  const { manifestList: root, manifests, blobs } = built.image;
  const at = (name: string) => parseReference(`${source.host}/org/${name}`);
  await pushImage(client, at('index:v1'), { image: { root, manifests, blobs } });
  for (const name of ['a', 'b']) {
    await pushImage(client, at(`${name}-bundle:v1`), { image: sampleImage({ layers: [name] }) });
    if (name !== lacks) await pushImage(client, at(`${name}:v1`), { image: operator });
  }
  const config = (operators: string, more = ''): void =>
    writeFileSync(
      join(directory, 'isc.yaml'),
      `kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\n${more}mirror:\n  operators:\n  - catalog: ${source.host}/org/index:v1\n${operators}`,
    );
  const hosts = [source.host, mirror.host].flatMap((host) => ['--insecure', host]);
  const sync = (...words: string[]) =>
    portolan(directory, 'mirror', 'sync', 'isc.yaml', '--to', `${mirror.host}/m`, ...hosts, ...words);
  const file = (name: string): string => readFileSync(join(directory, 'mirror', name), 'utf8');
  return { directory, source, mirror, client, config, sync, file };
}

/** The image for one platform, with what its configuration names to start. */
async function starting(
  { root, manifests, blobs }: ImageContent,
  command: readonly string[],
): Promise<ImageContent> {
  const { config, ...manifest } = JSON.parse(Buffer.from((manifests[0] ?? root).bytes).toString());
  const found = blobs.find(({ digest }) => digest === config.digest);
  if (!found) throw new Error('the image has no configuration');
  const before = JSON.parse((await bytesOf(found.open(0))).toString());
  const changed = { ...before, config: { ...before.config, Entrypoint: [], Cmd: command } };
  const bytes = Buffer.from(JSON.stringify(changed));
  const digest = digestOf(bytes);
  const text = Buffer.from(
    JSON.stringify({ ...manifest, config: { ...config, digest, size: bytes.length } }),
  );
  const layers = blobs.filter((blob) =>
    manifest.layers.some((one: { digest: string }) => one.digest === blob.digest),
  );
  return {
    root: { mediaType: manifest.mediaType ?? OCI_MANIFEST, digest: digestOf(text), bytes: text },
    manifests: [],
    blobs: [...layers, bytesBlob(bytes)],
  };
}

const BOTH = '    packages: [{name: a}, {name: b}]\n';

test('a selection: its index image is built and copied, everything is there, and the manifests name it', async () => {
  const { client, mirror, config, sync, file } = await scene();
  config(BOTH);
  const ran = await sync();
  expect(ran).toMatchObject({ exit: 0 });
  expect(ran.out).toContain('5 images: 5 copied, 0 already existed, 0 failed\n');
  expect(ran.out).toContain('5 of 5 images are complete in the mirror\n');
  expect(ran.out).toContain('Ready for disconnected clusters: 0 of 2 bundles; 2 not checked: ');
  expect(ran.out).toContain('to configure the clusters: oc apply -k mirror\n');
  const image = /image: (\S+)/.exec(file('catalogSource.yaml'))?.[1] ?? '';
  expect(image).toContain(`${mirror.host}/m/`);
  expect(await client.resolve(parseReference(image))).toBeDefined();
  const before = mirror.seen.length;
  const again = await sync('--json');
  expect(JSON.parse(again.out)).toMatchObject({
    copy: { copied: 0, unchanged: 5, bytes: 0 },
    verified: { images: 5, missing: [] },
    ready: { ready: 0, unchecked: 2, bundles: 2 },
    documents: 'mirror',
    pruned: { superseded: [] },
  });
  expect(mirror.seen.slice(before).filter(({ method }) => method === 'PUT' || method === 'POST')).toEqual([]);
});

test('the status page has what is mirrored, what failed, and the upgrades that clusters get', async () => {
  const { config, sync, directory, source } = await scene();
  const page = () => readFileSync(join(directory, 'status.html'), 'utf8');
  const data = () =>
    JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/.exec(page())?.[1] ?? '');
  config(BOTH);
  await sync('--status-page', 'status.html');
  expect(data()).toMatchObject({
    title: expect.stringMatching(/^Mirror 127/),
    headline: expect.stringMatching(
      /^\d{4}-\d\d-\d\d \d\d:\d\d UTC: 5 images: 5 copied, 0 already existed, 0 failed$/,
    ),
    asked: expect.arrayContaining(['5 of 5 images are complete in the mirror']),
    findings: [],
  });
  // Only what is selected, and as a whole catalog all of it.
  config('    packages: [{name: a}]\n');
  await sync('--status-page', 'status.html');
  const names = () => JSON.stringify(data().graph);
  expect(names()).toContain('"a"');
  expect(names()).not.toContain('"b"');
  config('    full: true\n');
  await sync('--status-page', 'status.html');
  expect(names()).toContain('"b"');
  config(`${BOTH}  additionalImages: [{name: "${source.host}/org/gone:1"}]\n`);
  expect(await sync('--status-page', 'status.html')).toMatchObject({ exit: 1 });
  expect(data().findings).toMatchObject([
    { message: expect.stringContaining('/org/gone:1 is not in the mirror: ') },
  ]);
});

test.each([
  [undefined, true],
  [[], true],
  [['opm', 'serve'], false],
])('a whole catalog whose image starts %j: the cluster extracts it: %s', async (command, extracts) => {
  const { config, sync, file, directory, source, client } = await scene();
  const index = parseReference(`${source.host}/org/index:v1`);
  if (command)
    await pushImage(client, index, { image: await starting(await readImage(client, index), command) });
  config('    full: true\n');
  expect(await sync()).toMatchObject({ exit: 0 });
  const extracted = 'extractContent:\n      cacheDir: /tmp/cache\n      catalogDir: /configs\n';
  expect(file('catalogSource.yaml').includes(extracted)).toBe(extracts);
  const words = ['mirror', 'plan', `${source.host}/org/index:v1`, '--to', 'mirror.example.com/m'];
  const ran = await portolan(directory, ...words, '--out', 'plan', '--insecure', source.host);
  expect(ran).toMatchObject({ exit: 0 });
  const planned = readFileSync(join(directory, 'plan', 'catalogSource.yaml'), 'utf8');
  expect(planned.includes(extracted)).toBe(extracts);
});

test('what a smaller selection does not need is named, and deleted only with --prune', async () => {
  const { config, sync, client, mirror, file } = await scene();
  config(BOTH);
  await sync();
  const line = file('mapping.txt')
    .split('\n')
    .find((one) => one.includes('org/b-bundle'));
  const gone = parseReference(line?.split('=')[1] ?? '');
  const kept = file('mapping.txt')
    .split('\n')
    .find((one) => one.includes('org/a-bundle'));
  config('    packages: [{name: a}]\n');
  // The index image of the smaller selection has the tag of the larger one, so it is no image to delete.
  expect(await sync()).toMatchObject({ exit: 0, out: expect.stringContaining('2 images can be deleted') });
  expect(await client.resolve(gone)).toBeDefined();
  const pruned = await sync('--prune');
  expect(pruned).toMatchObject({ exit: 0, out: expect.stringContaining('2 images deleted from the mirror') });
  expect(await client.resolve(gone)).toBeUndefined();
  expect(await client.resolve(parseReference(kept?.split('=')[1] ?? ''))).toBeDefined();
  expect(mirror.seen.filter(({ method }) => method === 'DELETE').length).toBeGreaterThan(0);
  expect(await sync('--prune')).toMatchObject({ out: expect.stringContaining('0 images deleted') });
});

/** Destinations in the mapping of a directory whose line has the text. */
function destinations(directory: string, folderName: string, text: string): Reference[] {
  const lines = readFileSync(join(directory, folderName, 'mapping.txt'), 'utf8').split('\n');
  return lines.filter((line) => line.includes(text)).map((line) => parseReference(line.split('=')[1] ?? ''));
}

/** A second configuration for the same path of the mirror, which needs the images of some packages and no catalog. */
async function sharedScene() {
  const all = await scene();
  const { directory, config, sync, source } = all;
  const team = (...packages: string[]): void => {
    const names = packages.flatMap((name) => [`${name}-bundle:v1`, `${name}@${operator.root.digest}`]);
    const images = names.map((name) => `  - name: ${source.host}/org/${name}\n`).join('');
    const head = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\n';
    writeFileSync(join(directory, 'team.yaml'), `${head}mirror:\n  additionalImages:\n${images}`);
  };
  config(BOTH);
  expect(await sync()).toMatchObject({ exit: 0 });
  const hosts = [all.source.host, all.mirror.host].flatMap((host) => ['--insecure', host]);
  const other = (...words: string[]) =>
    portolan(directory, 'mirror', 'sync', 'team.yaml', '--to', `${all.mirror.host}/m`, ...hosts, ...words);
  return { ...all, team, other };
}

test('attack 56: --prune keeps what another configuration needs, names it, and deletes it once nobody does', async () => {
  const { directory, client, config, sync, team, other, mirror } = await sharedScene();
  team('a', 'b');
  expect(await other('--out', 'team')).toMatchObject({ exit: 0 });
  const shared = destinations(directory, 'mirror', 'org/b');
  expect(shared).toHaveLength(2);
  config('    packages: [{name: a}]\n');
  const kept = await sync('--prune');
  expect(kept).toMatchObject({ exit: 0, out: expect.stringContaining('0 images deleted from the mirror') });
  expect(kept.out).toMatch(/org\/b-bundle:\S+ is kept: the configuration "team.yaml" \(record .+\) needs it/);
  for (const image of shared) expect(await client.resolve(image)).toBeDefined();
  // It needs them no more: whoever prunes next deletes them.
  team('a');
  expect(await other('--out', 'team')).toMatchObject({ exit: 0 });
  expect(await sync('--prune')).toMatchObject({ out: expect.stringContaining('2 images deleted') });
  for (const image of shared) expect(await client.resolve(image)).toBeUndefined();
  expect(mirror.seen.filter(({ method }) => method === 'DELETE')).toHaveLength(2);
});

test('two configurations in one directory do not delete what the other needs', async () => {
  const { directory, client, team, other } = await sharedScene();
  team('a');
  const images = destinations(directory, 'mirror', 'org/b');
  expect(await other('--prune')).toMatchObject({ out: expect.stringContaining('"isc.yaml"') });
  for (const image of images) expect(await client.resolve(image)).toBeDefined();
});

test('attack 56: a catalog tag of another configuration is refused before anything is copied; a chosen name is the same one', async () => {
  const { directory, mirror, config, sync } = await scene();
  config(BOTH);
  expect(await sync()).toMatchObject({ exit: 0 });
  const before = mirror.seen.length;
  const rival = await sync('--out', 'elsewhere');
  expect(rival).toMatchObject({ exit: 2, out: '' });
  expect(rival.err).toMatch(/:v1 is the catalog of another configuration, "isc.yaml" \(record /);
  expect(mirror.seen.slice(before).filter(({ method }) => method !== 'GET' && method !== 'HEAD')).toEqual([]);
  expect(existsSync(join(directory, 'elsewhere', 'history.txt'))).toBe(false);
  expect(await sync('--name', 'sea')).toMatchObject({ exit: 2 });
  const named = await scene();
  named.config(BOTH);
  expect(await named.sync('--name', 'sea')).toMatchObject({ exit: 0 });
  expect(await named.sync('--name', 'sea', '--out', 'fresh')).toMatchObject({ exit: 0 });
});

test('attack 56: --prune keeps what is needed under another name of the registry', async () => {
  const { directory, client, config, source, mirror, file, team, other } = await sharedScene();
  const all = destinations(directory, 'mirror', 'org/');
  const named = mirror.host.replace('127.0.0.1', 'localhost');
  const hosts = [source.host, named].flatMap((host) => ['--insecure', host]);
  const renamed = (...words: string[]) =>
    portolan(directory, 'mirror', 'sync', 'isc.yaml', '--to', `${named}/m`, ...hosts, ...words);
  expect(await renamed('--prune')).toMatchObject({
    exit: 0,
    out: expect.stringContaining('0 images deleted from the mirror'),
  });
  expect(file('mapping.txt')).toContain(`${named}/m/`);
  for (const image of all) expect(await client.resolve(image)).toBeDefined();
  // Another configuration has recorded its needs under the first name.
  team('a', 'b');
  expect(await other('--out', 'team')).toMatchObject({ exit: 0 });
  config('    packages: [{name: a}]\n');
  expect((await renamed('--prune')).out).toMatch(/org\/b-bundle:\S+ is kept: the configuration "team.yaml"/);
  for (const image of all) expect(await client.resolve(image)).toBeDefined();
  expect(await renamed('--out', 'elsewhere')).toMatchObject({ exit: 2, out: '' });
});

test('attack 56: a record that cannot be read: nothing is copied or deleted', async () => {
  const { client, mirror, config, sync } = await scene();
  config(BOTH);
  expect(await sync()).toMatchObject({ exit: 0 });
  const bad = parseReference(`${mirror.host}/m/portolan-records:bad`);
  await pushImage(client, bad, { image: sampleImage({ layers: ['no record'] }) });
  config('    packages: [{name: a}]\n');
  const ran = await sync('--prune');
  expect(ran).toMatchObject({ exit: 2, out: '' });
  expect(ran.err).toMatch(/nothing is deleted: \S+portolan-records:bad is not the record of a configuration/);
  expect(mirror.seen.filter(({ method }) => method === 'DELETE')).toEqual([]);
});

test('an image that is nowhere: its bundle is not ready, the others are, and nothing is deleted', async () => {
  const { config, sync, file } = await scene({ lacks: 'b' });
  config(BOTH);
  const ran = await sync('--prune');
  expect(ran.exit).toBe(1);
  expect(ran.err).toContain('/org/b@');
  expect(ran.out).toContain('4 of 5 images are complete in the mirror');
  expect(ran.out).toContain('Ready for disconnected clusters: 0 of 2 bundles; 1 not checked: ');
  expect(ran.out).not.toContain('deleted from the mirror');
  expect(file('catalogSource.yaml')).toContain('kind: CatalogSource');
});

test('without its index image nothing of a catalog is ready', async () => {
  const bundle = `schema: olm.bundle\nname: a.v1.0.0\npackage: a\nimage: quay.io/org/a-bundle:v1\n`;
  const properties = 'properties: [{type: olm.package, value: {packageName: a, version: 1.0.0}}]\n';
  const outcome = await prepareMirror({
    catalogs: [
      { source: sourceOf({ 'catalog.yaml': bundle + properties }), reference: 'quay.io/org/index:v1' },
    ],
    to: 'mirror.example.com',
    documents: {},
  });
  const all = new Set(outcome.report.images.map(({ destination }) => destination));
  expect(reachedReadiness(outcome, undefined, all)).toMatchObject({
    ready: { ready: 0, unchecked: 1, missing: [] },
  });
  const index = outcome.report.catalogs[0]?.destination ?? '';
  expect(all.delete(index)).toBe(true);
  expect(reachedReadiness(outcome, undefined, all).ready).toMatchObject({
    ready: 0,
    missing: [{ reference: index, why: 'the index image is not in the mirror', bundles: ['a/a.v1.0.0'] }],
  });
});

test('platforms that an earlier sync left out are brought once they are not left out any more', async () => {
  const { config, sync } = await scene({ takesSparse: true });
  config(`${BOTH}    platforms: [{os: linux, architecture: amd64}]\n`);
  expect(await sync()).toMatchObject({ exit: 0 });
  config(BOTH);
  const ran = await sync();
  expect(ran.exit).toBe(0);
  expect(ran.out).toContain('5 of 5 images are complete in the mirror');
});

test('to an archive, whose size the configuration says', async () => {
  const { directory, config, sync } = await scene();
  config(BOTH, 'archiveSize: 1\n');
  expect(await sync('--to-archive', 'disk')).toMatchObject({
    exit: 0,
    out: expect.stringContaining('archive size'),
  });
  expect(JSON.parse(readFileSync(join(directory, 'disk/receipt.json'), 'utf8')).part).toBe(2 ** 30);
  expect((await sync('--to-archive', 'disk', '--prune')).exit).toBe(2);
});

test('the CatalogSource begins from the template; a file that is none is refused before anything is copied', async () => {
  const { directory, config, sync, file, mirror } = await scene();
  config(`${BOTH}    targetCatalogSourceTemplate: template.yaml\n`);
  writeFileSync(join(directory, 'template.yaml'), 'apiVersion: v1\nkind: Pod\n');
  expect(await sync()).toMatchObject({
    exit: 2,
    err: expect.stringContaining('targetCatalogSourceTemplate template.yaml must be one CatalogSource'),
  });
  expect(mirror.seen).toEqual([]);
  const template =
    'metadata: {name: x, labels: {team: sea}}\nspec: {grpcPodConfig: {nodeSelector: {infra: ""}}}\n';
  writeFileSync(
    join(directory, 'template.yaml'),
    `apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\n${template}`,
  );
  expect(await sync()).toMatchObject({ exit: 0 });
  expect(file('catalogSource.yaml')).toContain('team: sea');
  expect(file('catalogSource.yaml')).toContain('nodeSelector:');
  expect(file('catalogSource.yaml')).not.toContain('name: x\n');
});

test('what to delete is for mirror prune, and a selection of nothing copies nothing', async () => {
  const { directory, config, sync, mirror } = await scene();
  config('    packages: [{name: nothing}]\n');
  expect(await sync()).toMatchObject({
    exit: 1,
    err: expect.stringMatching(/has no package "nothing".*\n {4}fix: portolan list channels \S+: lists/),
  });
  const text = readFileSync(join(directory, 'isc.yaml'), 'utf8');
  writeFileSync(
    join(directory, 'isc.yaml'),
    text.replace('kind: ImageSet', 'kind: DeleteImageSet').replace('mirror:\n', 'delete:\n'),
  );
  expect(await sync()).toMatchObject({ exit: 2, err: expect.stringContaining('mirror prune') });
  expect(mirror.seen).toEqual([]);
});
