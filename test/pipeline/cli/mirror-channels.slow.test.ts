/** The releases that channels of an ImageSetConfiguration select, and the image of their update graph. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { expect, test } from 'vitest';
import { parseReference } from '../../../catalog/reference.ts';
import { parseManifest } from '../../../pipeline/oci/registry/image.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import { allOf } from '../../../pipeline/oci/registry/stream.ts';
import { folder, writeBelow } from '../../fakes/folder.ts';
import { startHost, testClient } from '../../fakes/host.ts';
import { sampleImage } from '../../fakes/image.ts';
import { nodeBase } from '../../fakes/node-base.ts';
import { pgpKey } from '../../fakes/openpgp.ts';
import { registry } from '../../fakes/registry.ts';
import { imageStream, payload } from '../../fakes/release.ts';
import { portolan } from '../../fakes/terminal.ts';

const HEAD = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  platform:\n';
const key = pgpKey();

/** Which versions update to a release, as its payload says. */
const PREVIOUS: Readonly<Record<string, readonly string[]>> = {
  '4.19.0': [],
  '4.19.1': ['4.19.0'],
  '4.20.0': ['4.19.0', '4.19.1'],
  '4.20.1': ['4.20.0', '4.19.1'],
};

const BOOT_IMAGES = 'release-manifests/0000_50_installer_coreos-bootimages.yaml';

/** A registry with the payloads of four signed releases, an empty mirror, and their update graph in each of its forms. */
async function scene() {
  const directory = folder();
  const [source, mirror] = [await registry(), await registry()];
  const client = testClient([source.host, mirror.host]);
  const part = sampleImage({ layers: ['etcd'] });
  await pushImage(client, parseReference(`${source.host}/ocp/art:etcd`), { image: part });
  const boot = sampleImage({ layers: ['boot'] });
  await pushImage(client, parseReference(`${source.host}/ocp/boot:1`), { image: boot });
  const stream = {
    architectures: {
      x86_64: { images: { kubevirt: { 'digest-ref': `${source.host}/ocp/boot@${boot.root.digest}` } } },
    },
  };
  const digests = new Map<string, string>();
  for (const [version, previous] of Object.entries(PREVIOUS)) {
    const references = imageStream({ etcd: `${source.host}/ocp/art@${part.root.digest}` }, version);
    const image = payload(references, ['amd64'], {
      'release-manifests/release-metadata': JSON.stringify({
        kind: 'cincinnati-metadata-v0',
        version,
        previous,
      }),
      [BOOT_IMAGES]: `kind: ConfigMap\ndata:\n  stream: '${JSON.stringify(stream)}'\n`,
    });
    const name = `${source.host}/ocp/release:${version}-x86_64`;
    await pushImage(client, parseReference(name), { image });
    const { digest } = image.root;
    digests.set(version, digest);
    const place = join(directory, 'signatures', digest.replace(':', '='));
    mkdirSync(place, { recursive: true });
    const critical = {
      type: 'atomic container signature',
      image: { 'docker-manifest-digest': digest },
      identity: { 'docker-reference': name },
    };
    writeFileSync(join(place, 'signature-1'), key.sign(JSON.stringify({ critical })));
  }
  const versions = Object.keys(PREVIOUS);
  const graph = JSON.stringify({
    nodes: versions.map((version) => ({
      version,
      payload: `${source.host}/ocp/release@${digests.get(version)}`,
    })),
    edges: Object.entries(PREVIOUS).flatMap(([to, some]) =>
      some.map((from) => [versions.indexOf(from), versions.indexOf(to)]),
    ),
  });
  writeBelow(directory, {
    'key.asc': key.armored,
    'graphs/amd64-stable-4.20.json': graph,
    'data/version': '1.1.0\n',
    'data/channels/stable-4.20.yaml': `name: stable-4.20\nversions: [${versions.join(', ')}, 4.20.2, 4.19.9+s390x]\n`,
    'data/blocked-edges/4.20.1.yaml': 'to: 4.20.1\nfrom: ^4[.]19[.]9[+]amd64$\n',
    'data/README.md': 'not read',
  });
  const hosts = [source.host, mirror.host].flatMap((host) => ['--insecure', host]);
  const data = ['--release-repository', `${source.host}/ocp/release`];
  const run = (platform: string, ...words: string[]) => {
    writeFileSync(join(directory, 'isc.yaml'), `${HEAD}    ${platform}\n`);
    const options = [
      '--to',
      `${mirror.host}/m`,
      '--release-key',
      'key.asc',
      '--release-signatures',
      'signatures',
    ];
    return portolan(directory, 'mirror', 'sync', 'isc.yaml', ...options, ...data, ...hosts, ...words);
  };
  const file = (path: string) => readFileSync(join(directory, 'mirror', path), 'utf8');
  /** The versions in the mapping. */
  const mirrored = () =>
    [...file('mapping.txt').matchAll(/ocp\/release:(.*)-x86_64$/gm)].map((match) => match[1]).sort();
  const list = (...words: string[]) =>
    portolan(directory, 'mirror', 'list', 'releases', ...words, ...data, ...hosts);
  return { directory, source, mirror, client, digests, graph, run, list, file, mirrored };
}

const SHORTEST =
  'channels: [{name: stable-4.20, minVersion: 4.19.0, maxVersion: 4.20.1, shortestPath: true}]';

test('an update service is asked for JSON, of each channel and architecture; the shortest way is mirrored with its signatures', async () => {
  const { graph, run, file, mirrored, client, mirror, source, digests } = await scene();
  const asked: unknown[] = [];
  const { host } = await startHost(({ url, headers }, response) => {
    asked.push([url, headers['accept']]);
    response.end(graph);
  });
  const service = ['--update-graph', `http://${host}/graph?tenant=a`, '--insecure', host];
  const ran = await run(SHORTEST, ...service);
  expect(ran, ran.err).toMatchObject({ exit: 0, err: '' });
  expect(ran.out).toContain('Ready for disconnected clusters: 3 of 3 releases\n');
  expect(asked).toEqual([['/graph?tenant=a&arch=amd64&channel=stable-4.20', 'application/json']]);
  expect(mirrored()).toEqual(['4.19.0', '4.20.0', '4.20.1']);
  const at = `${mirror.host}/m/${source.host.replace(':', '_')}/ocp/release:4.20.0-x86_64`;
  expect(await client.resolve(parseReference(at))).toMatchObject({ digest: digests.get('4.20.0') });
  expect(file('releaseSignatures.yaml').match(/sha256-[0-9a-f]{64}-1: /g)).toHaveLength(3);
  // Without bounds, the last release; in the place of another one, a payload is refused.
  await run('channels: [{name: stable-4.20}]', ...service);
  expect(mirrored()).toEqual(['4.20.1']);
});

test('a payload that is another version than the graph says is refused', async () => {
  const { directory, digests, graph, run, mirrored } = await scene();
  const [older = '', newer = ''] = [digests.get('4.19.0'), digests.get('4.20.1')];
  writeFileSync(join(directory, 'graphs/amd64-stable-4.20.json'), graph.replaceAll(newer, older));
  const ran = await run('channels: [{name: stable-4.20, minVersion: 4.20.0}]', '--update-graph', 'graphs');
  expect(ran).toMatchObject({
    exit: 1,
    out: expect.stringContaining('1 of 2 releases'),
    err: expect.stringContaining('the payload is version 4.20.1, but it is version 4.19.0'),
  });
  expect(mirrored()).toEqual(['4.20.0']);
});

test('without a network: graphs in files, of which one that may be of another channel does not count', async () => {
  const { directory, graph, run, mirrored } = await scene();
  const full = 'channels: [{name: stable-4.20, full: true}]';
  expect(await run(full, '--update-graph', 'graphs')).toMatchObject({ exit: 0 });
  expect(mirrored()).toEqual(Object.keys(PREVIOUS));
  expect(await run(full, '--update-graph', 'graphs/amd64-stable-4.20.json')).toMatchObject({ exit: 0 });
  writeFileSync(join(directory, 'graph.json'), graph);
  const refused = await run(full, '--update-graph', 'graph.json');
  expect(refused).toMatchObject({
    exit: 1,
    err: expect.stringContaining(
      'graph.json does not say that it is the update graph of channel stable-4.20',
    ),
  });
  // One that names the channel in each release does.
  const metadata = { 'io.openshift.upgrades.graph.release.channels': 'stable-4.19,stable-4.20' };
  const { nodes, edges } = JSON.parse(graph);
  const named = { nodes: nodes.map((node: object) => ({ ...node, metadata })), edges };
  writeFileSync(join(directory, 'graph.json'), JSON.stringify(named));
  expect(await run(full, '--update-graph', 'graph.json')).toMatchObject({ exit: 0 });
  const other = 'channels: [{name: stable-4.20}, {name: stable-4.21}]';
  expect(await run(other, '--update-graph', 'graphs')).toMatchObject({
    exit: 1,
    out: expect.stringContaining('1 of 2 releases'),
    err: expect.stringContaining('graphs has no update graph amd64-stable-4.21.json'),
  });
});

test('graph data: what has a payload is a release, and payloads say what updates to them unless it is blocked', async () => {
  const { directory, run, mirrored } = await scene();
  expect(await run(SHORTEST, '--update-graph', 'data')).toMatchObject({ exit: 0, err: '' });
  expect(mirrored()).toEqual(['4.19.0', '4.20.0', '4.20.1']);
  // 4.20.2 and 4.19.9 have none.
  expect(await run('channels: [{name: stable-4.20, full: true}]', '--update-graph', 'data')).toMatchObject({
    exit: 0,
  });
  expect(mirrored()).toEqual(Object.keys(PREVIOUS));
  writeBelow(directory, {
    'data/blocked-edges/a.yaml': 'to: 4.20.1\nfrom: ^4[.]20[.]0[+]amd64$\nmatchingRules: [{type: Always}]\n',
  });
  await run(SHORTEST, '--update-graph', 'data');
  expect(mirrored()).toEqual(['4.19.0', '4.19.1', '4.20.1']);
  writeBelow(directory, { 'data/blocked-edges/b.yaml': 'to: 4.20.1\nfrom: 4[.]19[.]1\n' });
  expect(await run(SHORTEST, '--update-graph', 'data')).toMatchObject({
    exit: 0,
    err: expect.stringContaining('warning: no update leads from 4.19.0 to 4.20.1 in channel stable-4.20'),
  });
  expect(mirrored()).toEqual(['4.19.0', '4.20.1']);
  for (const [path, text, why] of [
    ['data/blocked-edges/b.yaml', 'to: 4.20.1\nfrom: "("\n', 'blocked-edges/b.yaml has no version'],
    ['data/version', '2.0.0', 'the graph data has version "2.0.0", expected 1.0 or 1.1'],
  ] as const) {
    writeBelow(directory, { [path]: text });
    expect(await run(SHORTEST, '--update-graph', 'data')).toMatchObject({
      exit: 1,
      err: expect.stringContaining(why),
    });
  }
});

test('boot images of OpenShift Virtualization belong to a release where that is asked for', async () => {
  const { run, file } = await scene();
  const channel = 'channels: [{name: stable-4.20}]';
  await run(channel, '--update-graph', 'graphs');
  expect(file('mapping.txt')).not.toContain('/ocp/boot@');
  const style = ['--update-graph', 'graphs', '--style', 'oc-mirror'];
  expect(await run(`${channel}\n    kubeVirtContainer: true`, ...style)).toMatchObject({ exit: 0 });
  expect(file('mapping.txt')).toMatch(/\/ocp\/boot@.*openshift\/release:4.20.1-x86_64-kube-virt-container$/m);
  const s390x = `${channel}\n    architectures: [amd64, s390x]\n    kubeVirtContainer: true`;
  expect(await run(s390x, ...style)).toMatchObject({
    exit: 1,
    err: expect.stringContaining(
      'graphs has no update graph amd64-stable-4.20.json'.replace('amd64', 's390x'),
    ),
  });
  expect(file('mapping.txt')).toContain('kube-virt-container-x86_64');
});

test('a version that is too long for a tag is reported', async () => {
  const { directory, run } = await scene();
  const version = `4.20.0-${'a'.repeat(128)}`;
  writeBelow(directory, { 'data/channels/stable-4.20.yaml': `name: stable-4.20\nversions: [${version}]\n` });
  expect(await run('channels: [{name: stable-4.20}]', '--update-graph', 'data')).toMatchObject({
    exit: 1,
    err: expect.stringContaining(`"${version}" is not a version of a release`),
  });
});

test('releases between channels are mirrored where the graph of another architecture is missing', async () => {
  const { directory, graph, run, mirrored } = await scene();
  const { nodes } = JSON.parse(graph);
  writeBelow(directory, {
    'graphs/amd64-stable-4.19.json': JSON.stringify({ nodes: nodes.slice(0, 1), edges: [] }),
  });
  const channels = 'channels: [{name: stable-4.19}, {name: stable-4.20}]';
  const words = ['--update-graph', 'graphs'];
  expect(await run(channels, ...words)).toMatchObject({ exit: 0, err: '' });
  const alone = mirrored();
  expect(alone).toEqual(['4.19.0', '4.20.0', '4.20.1']);
  expect(await run(`${channels}\n    architectures: [s390x, amd64]`, ...words)).toMatchObject({ exit: 1 });
  expect(mirrored()).toEqual(alone);
});

test('the image of the update graph is built without an engine, the same each time, and an UpdateService names it', async () => {
  const { directory, source, mirror, client, run, file } = await scene();
  const base = await nodeBase(source.host);
  const platform = `channels: [{name: stable-4.20}]\n    graph: true`;
  const words = ['--update-graph', 'data', '--graph-base-image', base, '--style', 'oc-mirror'];
  expect(await run(platform, ...words)).toMatchObject({ exit: 0, err: '' });
  const at = parseReference(`${mirror.host}/m/openshift/graph-image:latest`);
  const list = await client.getManifest(at);
  if (!list) throw new Error('no image');
  const parsed = parseManifest(list);
  if (parsed.kind !== 'list') throw new Error('not a list');
  expect(parsed.manifests.map(({ platform: of }) => of?.architecture)).toEqual(['amd64']);
  const [{ digest: child } = { digest: '' }] = parsed.manifests;
  const manifest = await client.getManifest(
    parseReference(`${mirror.host}/m/openshift/graph-image@${child}`),
  );
  const image = manifest && parseManifest(manifest);
  if (image?.kind !== 'image') throw new Error('not an image');
  const bytes = async (blob: (typeof image.layers)[number]) =>
    Buffer.from(await allOf(client.getBlob(at, blob)));
  const config = JSON.parse((await bytes(image.config)).toString());
  expect(config.config).toMatchObject({
    Entrypoint: [
      '/bin/bash',
      '-c',
      'exec cp -rp /var/lib/cincinnati-graph-data/* /var/lib/cincinnati/graph-data',
    ],
    Env: ['PATH=/usr/local/bin:/bin'],
  });
  const layer = image.layers.at(-1);
  const compressed = layer ? await bytes(layer) : Buffer.of();
  // As on every machine: the header names none.
  expect(compressed[9]).toBe(0xff);
  const archive = gunzipSync(compressed).toString();
  expect(archive).toContain('var/lib/cincinnati-graph-data/channels/stable-4.20.yaml\0');
  expect(archive).not.toContain('not read');
  expect(file('updateService.yaml')).toBe(
    [
      '---',
      'apiVersion: updateservice.operator.openshift.io/v1',
      'kind: UpdateService',
      'metadata:',
      '  name: update-service-oc-mirror',
      '  namespace: openshift-update-service',
      'spec:',
      `  graphDataImage: ${mirror.host}/m/openshift/graph-image@${list.digest}`,
      `  releases: ${mirror.host}/m/openshift/release-images`,
      '  replicas: 2',
      '',
    ].join('\n'),
  );
  // Its kind exists only where the service is installed, and nodes ask for neither.
  expect(file('kustomization.yaml')).not.toContain('updateService.yaml');
  expect(file('imageTagMirrorSet.yaml')).not.toContain('graph-image');
  // From an archive with a folder around the files, and again.
  const entries = ['version', 'channels/stable-4.20.yaml', 'blocked-edges/4.20.1.yaml'].map((name) => {
    const body = readFileSync(join(directory, 'data', name));
    return { header: { name: `graph-data/${name}`, size: body.length, type: 'file' as const }, body };
  });
  writeFileSync(join(directory, 'data.tar'), await packTar(entries));
  const again = ['--update-graph', 'graphs', '--graph-data', 'data.tar', ...words.slice(2)];
  expect(await run(platform, ...again)).toMatchObject({ exit: 0, out: expect.stringContaining('0 copied') });
  expect(file('updateService.yaml')).toContain(list.digest);
  // What is wrong with it does not stop the releases.
  const failed = await run(platform, '--update-graph', 'graphs', '--graph-data', 'graphs', ...words.slice(2));
  expect(failed).toMatchObject({
    exit: 1,
    out: expect.stringContaining('1 of 1 release'),
    err: expect.stringContaining('the image of the update graph: '),
  });
});

test('releases and channels are listed as oc-mirror lists them', async () => {
  const { list, source, digests } = await scene();
  expect(await list()).toMatchObject({ exit: 0, out: '4.19\n4.20\n' });
  const versions = `${Object.keys(PREVIOUS).join('\n')}\n`;
  const out = `Channel: stable-4.20\nArchitecture: amd64\n${versions}`;
  for (const place of ['data', 'graphs'])
    expect(await list('--version', '4.20', '--update-graph', place)).toMatchObject({ exit: 0, out });
  const json = await list('--channel', 'stable-4.20', '--update-graph', 'data', '--json');
  expect(JSON.parse(json.out)).toMatchObject({
    releases: [
      {
        architecture: 'amd64',
        releases: expect.arrayContaining([
          { version: '4.20.1', image: `${source.host}/ocp/release@${digests.get('4.20.1')}` },
        ]),
      },
    ],
  });
  expect(await list('--version', '4.20', '--channels', '--update-graph', 'data')).toMatchObject({
    out: 'stable-4.20\n',
  });
  for (const [words, why] of [
    [['--channels'], '--channels needs --version'],
    [['--version', '4.20', '--filter-by-archs', 'x86_64'], 'must be some of amd64, arm64'],
    [
      ['--version', '4.20', '--filter-by-archs', 'amd64,s390x', '--update-graph', 'data'],
      'has no releases for s390x',
    ],
    [['--version', '4.20', '--update-graph', 'https://'], 'is not a valid URL'],
  ] as const)
    expect(await list(...words)).toMatchObject({ exit: 2, err: expect.stringContaining(why) });
});

test('operators are listed as oc-mirror lists them', async () => {
  const catalog = ['--catalog', 'test/catalogs/sample/catalogs/v4.20'];
  const list = (...words: string[]) => portolan('.', 'mirror', 'list', 'operators', ...words);
  const all = await list(...catalog);
  expect(all).toMatchObject({
    exit: 0,
    out: expect.stringMatching(/^NAME +DISPLAY NAME +DEFAULT CHANNEL\n/),
  });
  expect(all.out).toMatch(/^harbour-operator .* stable$/m);
  const one = await list(...catalog, '--package', 'harbour-operator');
  expect(one.out).toMatch(/\n\nPACKAGE +CHANNEL +HEAD\nharbour-operator +\S+ +harbour-operator\.v/);
  const channel = await list(...catalog, '--package', 'harbour-operator', '--channel', 'stable');
  expect(channel.out).toMatch(/^VERSIONS\n(?:\d+\.\d+\.\d+\n)+$/);
  for (const [words, why] of [
    [[], 'name either --catalog, or --catalogs'],
    [['--catalogs'], '--catalogs and --version need each other'],
    [[...catalog, '--channel', 'stable'], '--channel needs --package'],
    [[...catalog, '--package', 'none'], 'no catalog has the package "none"'],
    [[...catalog, '--package', 'harbour-operator', '--channel', 'none'], 'has no channel "none"'],
  ] as const)
    expect(await list(...words)).toMatchObject({ exit: 2, err: expect.stringContaining(why) });
});

test('releases of a DeleteImageSetConfiguration are in the list to delete, without signatures and nothing built', async () => {
  const { directory, mirror, source } = await scene();
  const kind =
    'kind: DeleteImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\ndelete:\n  platform:\n';
  writeFileSync(
    join(directory, 'delete.yaml'),
    `${kind}    channels: [{name: stable-4.20}]\n    graph: true\n`,
  );
  const words = ['--to', `${mirror.host}/m`, '--style', 'oc-mirror', '--update-graph', 'graphs'];
  const insecure = ['--insecure', source.host];
  const ran = await portolan(
    directory,
    'mirror',
    'plan',
    '--image-set',
    'delete.yaml',
    ...words,
    ...insecure,
  );
  expect(ran).toMatchObject({ exit: 0, out: expect.stringContaining('3 images to delete') });
  const list = readFileSync(join(directory, 'mirror/delete-images.yaml'), 'utf8');
  for (const name of ['release-images:4.20.1-x86_64', 'release:4.20.1-x86_64-etcd', 'graph-image:latest'])
    expect(list).toContain(`imageReference: docker://${mirror.host}/m/openshift/${name}\n`);
  expect(list).toContain('type: cincinnatiGraph\n');
});
