/** Helm charts of an ImageSetConfiguration: read, rendered by a program `helm`, and mirrored. */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { TAR_END, tarHeader, tarPadding } from '../../../catalog/fbc/cache/tar.ts';
import { parseReference } from '../../../catalog/reference.ts';
import { bytesBlob } from '../../../pipeline/oci/digest.ts';
import { OCI_MANIFEST } from '../../../pipeline/oci/media-types.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import { folder, writeBelow } from '../../fakes/folder.ts';
import { startHost, testClient } from '../../fakes/host.ts';
import { sampleImage } from '../../fakes/image.ts';
import { registry } from '../../fakes/registry.ts';
import { runCommand } from '../../fakes/terminal.ts';

const HEAD = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  helm:\n';

/** A program `helm` that answers as it is told, or does not end. */
function fakeHelm(answer: { out?: string; err?: string; exit?: number } | string): string {
  const bin = folder();
  const [file, out] = [join(bin, 'helm'), join(bin, 'out')];
  const { out: text = '', err = '', exit = 0 } = typeof answer === 'string' ? { out: answer } : answer;
  writeFileSync(out, text);
  const words = `echo "$@" > ${join(bin, 'words')}; env > ${join(bin, 'env')}`;
  writeFileSync(file, `#!/bin/sh\n${words}\ncat ${out}\necho '${err}' >&2\nexit ${exit}\n`);
  chmodSync(file, 0o755);
  return bin;
}

const rendered = (...images: string[]): string =>
  images
    .map(
      (image) =>
        `---\n# Source: demo/templates/pod.yaml\napiVersion: v1\nkind: Pod\nspec: {containers: [{image: "${image}"}]}\n`,
    )
    .join('');

function chartAt(directory: string, templates: Readonly<Record<string, string>>, more = ''): void {
  const files = { 'Chart.yaml': `apiVersion: v2\nname: demo\nversion: 1.10\n${more}`, ...templates };
  writeBelow(directory, files);
}

/** A packed chart. */
function packed(name: string, version: string): Uint8Array {
  const text = new TextEncoder().encode(`apiVersion: v2\nname: ${name}\nversion: ${version}\n`);
  const header = tarHeader({ name: `${name}/Chart.yaml`, kind: 'file', mode: 0o644, size: text.length });
  return gzipSync(Buffer.concat([header, text, new Uint8Array(tarPadding(text.length)), TAR_END]));
}

/** A registry with two images, an empty mirror, and a configuration. */
async function scene(helm: string) {
  const directory = folder();
  const [source, mirror] = [await registry(), await registry()];
  const client = testClient([source.host, mirror.host]);
  for (const name of ['a', 'b'])
    await pushImage(client, parseReference(`${source.host}/org/${name}:v1`), {
      image: sampleImage({ layers: [name] }),
    });
  const config = (text: string) => writeFileSync(join(directory, 'isc.yaml'), `${HEAD}${text}`);
  const hosts = [source.host, mirror.host].flatMap((host) => ['--insecure', host]);
  const run = (command: string, words: readonly string[] = [], bin = helm) =>
    runCommand(
      [
        'mirror',
        command,
        ...(command === 'plan' ? ['--image-set'] : []),
        'isc.yaml',
        '--to',
        `${mirror.host}/m`,
      ].concat(hosts, words),
      {
        directory,
        environment: { PATH: bin === '' ? '/nothing' : `${bin}${delimiter}${process.env['PATH']}` },
      },
    );
  return { directory, source, mirror, client, config, run };
}

const LOCAL = '    local: [{name: demo, path: chart}]\n';

test('the images of a chart are copied, nodes are told where they are, and the default catalogs stay', async () => {
  const bin = fakeHelm('');
  const { directory, source, mirror, client, config, run } = await scene(bin);
  writeFileSync(join(bin, 'out'), rendered(`${source.host}/org/a:v1`, `${source.host}/org/b:v1`));
  chartAt(join(directory, 'chart'), { 'templates/pod.yaml': '{{ a }}' });
  config(LOCAL);
  const ran = await run('sync');
  expect(ran).toMatchObject({ exit: 0, err: '' });
  expect(ran.out).toContain('2 images: 2 copied');
  expect(ran.out).toContain('Ready for disconnected clusters: 1 of 1 chart\n');
  expect(ran.out).not.toContain('bundle');
  const copy = parseReference(`${mirror.host}/m/${source.host.replace(':', '_')}/org/a:v1`);
  expect(await client.resolve(copy)).toBeDefined();
  const file = (name: string) => readFileSync(join(directory, 'mirror', name), 'utf8');
  expect(file('imageTagMirrorSet.yaml')).toContain(`source: ${source.host}/org/a\n`);
  expect(existsSync(join(directory, 'mirror/operatorHub.yaml'))).toBe(false);
  expect(file('kustomization.yaml')).not.toContain('operatorHub');
  expect(JSON.parse(file('report.json')).charts).toEqual({ total: 1, ready: 1, lacking: [] });
  // helm gets the chart and a current version of Kubernetes, no shell, and none of the environment but the PATH.
  expect(readFileSync(join(bin, 'words'), 'utf8')).toBe(
    `template release ${join(directory, 'chart')} --include-crds --kube-version 1.33 --skip-schema-validation\n`,
  );
  for (const [platform, kubernetes] of [
    ['4.18', '1.31'],
    ['4.2', '1.14'],
    ['4.23', '1.36'],
  ] as const) {
    await run('plan', ['--platform', platform]);
    expect(readFileSync(join(bin, 'words'), 'utf8')).toContain(`--kube-version ${kubernetes} `);
  }
  expect(readFileSync(join(bin, 'env'), 'utf8')).toMatch(/^HELM_PLUGINS=.*portolan-\w+\/charts-/m);
});

test('helm gets files of values in their order, then the values of the configuration; without them, an error', async () => {
  const bin = fakeHelm('');
  const words = `echo "$@" > ${join(bin, 'words')}; for f in "$@"; do case "$f" in */values-*) cat "$f"; echo;; esac; done > ${join(bin, 'values')}`;
  writeFileSync(join(bin, 'helm'), `#!/bin/sh\n${words}\n`);
  const { directory, config, run } = await scene(bin);
  chartAt(join(directory, 'chart'), { 'templates/pod.yaml': '{{ a }}' });
  writeBelow(directory, { 'a.yaml': 'tag: 1', 'b.yaml': 'tag: 2' });
  const chart = (more: string) => config(`    local: [{path: chart, ${more}}]\n`);
  chart('valuesFiles: [a.yaml, b.yaml], values: {image: {tag: v1, count: 3}}');
  expect(await run('plan')).toMatchObject({ exit: 0 });
  expect(readFileSync(join(bin, 'values'), 'utf8')).toBe(
    'tag: 1\ntag: 2\n{"image":{"tag":"v1","count":3}}\n',
  );
  expect(readFileSync(join(bin, 'words'), 'utf8')).toMatch(
    / --values \/\S+values-0.yaml --values \S+1.yaml --values \S+2.yaml\n/,
  );
  chart('valuesFiles: [none.yaml]');
  expect(await run('plan')).toMatchObject({ exit: 1, err: expect.stringContaining('none.yaml') });
  for (const [more, why] of [
    ["valuesFiles: ['https://example.com/values.yaml']", 'a file of values must be a path'],
    ['values: [a]', 'the values of a chart must be a mapping'],
    ['values: {a: 1}, value: {}', 'unknown field "value"'],
  ] as const) {
    chart(more);
    expect(await run('plan')).toMatchObject({ exit: 2, err: expect.stringContaining(why) });
  }
});

test('a library is not rendered, which helm refuses: it is ready, and has no images', async () => {
  const { directory, config, run } = await scene(fakeHelm({ err: 'not installable', exit: 1 }));
  chartAt(join(directory, 'chart'), {}, 'type: library\n');
  config(LOCAL);
  expect(await run('sync')).toMatchObject({
    exit: 0,
    err: '',
    out: expect.stringContaining('1 of 1 chart\n'),
  });
});

test('an image that is nowhere: its chart is not ready, and the others are copied', async () => {
  const bin = fakeHelm('');
  const { directory, source, config, run } = await scene(bin);
  writeFileSync(join(bin, 'out'), rendered(`${source.host}/org/a:v1`, `${source.host}/org/lost:v1`));
  chartAt(join(directory, 'chart'), {});
  config(LOCAL);
  const ran = await run('sync');
  expect(ran.exit).toBe(1);
  expect(ran.out).toContain('1 of 2 images are complete in the mirror\n');
  expect(ran.out).toContain('Ready for disconnected clusters: 0 of 1 chart\n');
  expect(ran.out).toContain('(needed by chart demo 1.10)\n');
});

test.each([
  [
    { err: 'Error: template: demo/templates/a.yaml:3: boom', exit: 1 },
    'helm cannot render the chart: template: demo',
  ],
  [
    {
      err: 'Error: An error occurred while checking for chart dependencies: found in Chart.yaml, but missing in charts/ directory: common',
      exit: 1,
    },
    'the chart needs other charts that are not in it: common',
  ],
])('a chart that cannot be rendered is an error, and the rest is planned: %o', async (answer, why) => {
  const { directory, source, config, run } = await scene(fakeHelm(answer));
  chartAt(join(directory, 'chart'), {});
  config(`${LOCAL}  additionalImages: [{name: '${source.host}/org/a:v1'}]\n`);
  const ran = await run('plan');
  expect(ran).toMatchObject({ exit: 1, err: expect.stringContaining(`isc.yaml:5:13: error: chart: ${why}`) });
  expect(readFileSync(join(directory, 'mirror/mapping.txt'), 'utf8').split('\n')).toHaveLength(2);
});

test('without helm, what cannot be seen is an error; --skip-unsupported makes it a warning', async () => {
  const { directory, source, config, run } = await scene('');
  const image = `apiVersion: v1\nkind: Pod\nspec: {containers: [{image: "${source.host}/org/a:v1"}]}\n`;
  chartAt(join(directory, 'chart'), { 'templates/a.txt': image, 'templates/NOTES.txt': '{{ note }}' });
  config(LOCAL);
  expect(await run('plan')).toMatchObject({
    exit: 0,
    out: 'Ready for disconnected clusters: 1 of 1 chart\n',
  });
  expect(readFileSync(join(directory, 'mirror/mapping.txt'), 'utf8')).toContain(`${source.host}/org/a:v1=`);
  chartAt(join(directory, 'chart'), {}, 'dependencies: [{name: sub}]\n');
  expect(await run('plan')).toMatchObject({
    exit: 1,
    err: expect.stringContaining('so images that come from the charts sub are not known'),
  });
  chartAt(
    join(directory, 'chart'),
    { 'charts/s/Chart.yaml': 'name: sub\n' },
    'dependencies: [{name: sub}]\n',
  );
  expect(await run('plan')).toMatchObject({ exit: 0 });
  chartAt(join(directory, 'chart'), { 'templates/b.yaml': '{{ include "common" . }}' });
  expect(await run('plan')).toMatchObject({
    exit: 1,
    err: expect.stringContaining('error: chart demo: the program helm is not installed'),
  });
  expect(await run('plan', ['--skip-unsupported'])).toMatchObject({
    exit: 0,
    err: expect.stringContaining('warning: chart demo'),
  });
});

test('charts of a repository: the newest or a range of versions, its digest checked, kept for the other side', async () => {
  const { directory, source, config, run } = await scene(fakeHelm(''));
  const files = new Map(
    ['1.9.0', '1.10.0', '2.0.0-rc.1'].map((version) => [version, packed('demo', version)]),
  );
  const sums = new Map(
    [...files].map(([version, bytes]) => [version, createHash('sha256').update(bytes).digest('hex')]),
  );
  const entries = [...files.keys()].map(
    (version) => `  - {version: ${version}, digest: ${sums.get(version)}, urls: [demo-${version}.tgz]}\n`,
  );
  const index = `apiVersion: v1\nentries:\n  demo:\n${entries.join('')}  helpers:\n  - {version: 1.0.0, type: library, urls: [x.tgz]}\n`;
  const host = await startHost(({ url }, response) => {
    const version = /demo-(.*)\.tgz/.exec(url)?.[1] ?? '';
    if (url.endsWith('/charts/index.yaml')) response.end(index);
    else if (files.has(version)) response.end(files.get(version));
    else response.writeHead(404).end();
  });
  const at = host.host;
  const repository = (charts: string) =>
    config(
      `    repositories: [{name: r, url: 'http://${at}/charts'${charts}}]\n  additionalImages: [{name: '${source.host}/org/a:v1'}]\n`,
    );
  const charts = () => JSON.parse(readFileSync(join(directory, 'mirror/report.json'), 'utf8')).charts.total;
  const plan = (...words: string[]) => run('plan', ['--insecure', at, ...words]);
  repository(', charts: [{name: demo}]');
  expect(await plan()).toMatchObject({ exit: 0 });
  expect(existsSync(join(directory, 'mirror/charts/demo-1.10.0.tgz'))).toBe(true);
  repository(', charts: [{name: demo, version: ~1.9}]');
  expect(await plan()).toMatchObject({ exit: 0 });
  expect(existsSync(join(directory, 'mirror/charts/demo-1.9.0.tgz'))).toBe(true);
  repository('');
  expect(await plan()).toMatchObject({ exit: 0 });
  expect(charts()).toBe(3);
  for (const [chosen, why] of [
    ['{name: demo, version: "3"}', `has no version 3 of chart "demo"`],
    ['{name: gone}', 'has no chart "gone"'],
  ]) {
    repository(`, charts: [${chosen}]`);
    expect(await plan()).toMatchObject({ exit: 1, err: expect.stringContaining(`${why}`) });
  }
  files.set('1.10.0', packed('demo', '6.6.6'));
  repository(', charts: [{name: demo}]');
  expect(await plan()).toMatchObject({
    exit: 1,
    err: expect.stringContaining('digest mismatch of chart demo 1.10.0'),
  });
});

test('a chart in a registry is read, and mirrored itself', async () => {
  const { directory, source, client, config, run } = await scene(fakeHelm(''));
  const [chart, empty] = [bytesBlob(packed('demo', '1.2.3+b')), bytesBlob(new TextEncoder().encode('{}'))];
  const layer = {
    mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
    digest: chart.digest,
    size: chart.size,
  };
  const settings = {
    mediaType: 'application/vnd.cncf.helm.config.v1+json',
    digest: empty.digest,
    size: empty.size,
  };
  const bytes = new TextEncoder().encode(
    JSON.stringify({ schemaVersion: 2, mediaType: OCI_MANIFEST, config: settings, layers: [layer] }),
  );
  const root = {
    mediaType: OCI_MANIFEST,
    digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    bytes,
  };
  await pushImage(client, parseReference(`${source.host}/charts/demo:1.2.3_b`), {
    image: { root, manifests: [], blobs: [chart, empty] },
  });
  config(
    `    repositories: [{name: r, url: 'oci://${source.host}/charts', charts: [{name: demo, version: ^1.0}]}]\n`,
  );
  expect(await run('sync')).toMatchObject({ exit: 0, out: expect.stringContaining('1 image: 1 copied') });
  expect(readFileSync(join(directory, 'mirror/mapping.txt'), 'utf8')).toContain('/charts/demo:1.2.3_b=');
  config(
    `    repositories: [{name: r, url: 'oci://${source.host}/org', charts: [{name: a, version: v1}]}]\n`,
  );
  expect(await run('plan')).toMatchObject({ exit: 1, err: expect.stringContaining('is not a Helm chart') });
});

test('107: without helm, what a chart installs from crds/ is mirrored, also of a subchart', async () => {
  const { directory, source, config, run } = await scene('');
  const pod = (name: string) =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: "{{ x }}"}\nspec: {containers: [{image: ${source.host}/org/${name}:v1}]}\n`;
  const crd =
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\ndescription: quay.io/a/b:1\n';
  chartAt(join(directory, 'chart'), {
    'crds/crd.yaml': crd,
    'crds/pod.yaml': pod('a'),
    'crds/readme.md': '{{ no manifest',
    'charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 1.0.0\n',
    'charts/sub/crds/pod.yml': pod('b'),
  });
  config(LOCAL);
  const ran = await run('sync');
  expect(ran).toMatchObject({ exit: 0, err: '' });
  expect(ran.out).toContain('2 images: 2 copied');
});
