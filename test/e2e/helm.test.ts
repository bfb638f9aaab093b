/** Charts rendered by the real program helm. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder, writeBelow } from '../fakes/folder.ts';
import { portolan } from '../fakes/terminal.ts';
import { isOnPath } from '../fakes/tools.ts';

const HEAD = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  helm:\n';

const SHOP: Readonly<Record<string, string>> = {
  'Chart.yaml':
    "apiVersion: v2\nname: shop\nversion: 1.10.0\nkubeVersion: '>=1.30.0-0'\ndependencies: [{name: cache, version: 1.0.0, condition: cache.enabled}]\n",
  'values.yaml':
    'image: {repository: quay.io/acme/shop, tag: ""}\ncache: {enabled: true}\nhost: example.com\n',
  'templates/_helpers.tpl':
    '{{- define "image" }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.Version }}{{ end }}\n',
  'templates/deployment.yaml':
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec: {template: {spec: {containers: [{name: a, image: {{ include "image" . | quote }}, env: [{name: IP, value: "{{ getHostByName .Values.host }}"}]}]}}}\n',
  'templates/job.yaml':
    'apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, annotations: {helm.sh/hook: pre-install}}\nspec: {template: {spec: {containers: [{name: a, image: quay.io/acme/migrate:2}]}}}\n',
  'templates/secret.yaml':
    '{{ if lookup "v1" "Secret" "default" "x" }}a: {{ fail "reached a cluster" }}{{ end }}\n',
  'templates/NOTES.txt': 'image: quay.io/acme/notes:1\n',
  'charts/cache/Chart.yaml': 'apiVersion: v2\nname: cache\nversion: 1.0.0\n',
  'charts/cache/templates/pod.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata: {name: cache}\nspec: {containers: [{name: a, image: quay.io/acme/cache:7}]}\n',
};

function scene(files: Readonly<Record<string, string>>) {
  const directory = folder();
  const chart = join(directory, 'shop');
  writeBelow(chart, files);
  const plan = (path: string, ...words: string[]) => planWith('', path, ...words);
  /** @param more other fields of the chart */
  const planWith = (more: string, path: string, ...words: string[]) => {
    writeFileSync(join(directory, 'isc.yaml'), `${HEAD}    local: [{path: ${path}${more}}]\n`);
    return portolan(
      directory,
      'mirror',
      'plan',
      '--image-set',
      'isc.yaml',
      '--to',
      'm.example.com',
      ...words,
    );
  };
  const sources = () =>
    readFileSync(join(directory, 'mirror/mapping.txt'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
  return { directory, chart, plan, planWith, sources };
}

describe.runIf(isOnPath('helm'))('with helm', () => {
  const EXPECTED = ['quay.io/acme/cache:7', 'quay.io/acme/migrate:2', 'quay.io/acme/shop:1.10.0'];

  test('helpers, subcharts and hooks are rendered, from a directory and from an archive', async () => {
    const { directory, chart, plan, sources } = scene(SHOP);
    expect(await plan('shop')).toMatchObject({
      exit: 0,
      out: 'Ready for disconnected clusters: 1 of 1 chart\n',
    });
    expect(sources()).toEqual(EXPECTED);
    execFileSync('helm', ['package', chart, '--destination', directory], { stdio: 'ignore' });
    expect(await plan('shop-1.10.0.tgz')).toMatchObject({ exit: 0 });
    expect(sources()).toEqual(EXPECTED);
  });

  test('images that appear only with values: of files, then of the configuration', async () => {
    const { directory, planWith, sources } = scene({
      ...SHOP,
      'templates/proxy.yaml':
        '{{ if .Values.proxy }}apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: p, image: {{ .Values.proxy.image | quote }}}]}{{ end }}\n',
    });
    writeBelow(directory, {
      'mirror.yaml': 'image: {tag: "7"}\nproxy: {image: quay.io/acme/proxy:1}\n',
      'more.yaml': 'image: {tag: "8"}\ncache: {enabled: false}\n',
    });
    const files = ', valuesFiles: [mirror.yaml, more.yaml]';
    expect(await planWith(files, 'shop')).toMatchObject({ exit: 0 });
    const others = ['quay.io/acme/migrate:2', 'quay.io/acme/proxy:1'];
    expect(sources()).toEqual([...others, 'quay.io/acme/shop:8']);
    const values = `${files}, values: {image: {tag: "9"}}`;
    expect(await planWith(values, 'shop')).toMatchObject({ exit: 0 });
    expect(sources()).toEqual([...others, 'quay.io/acme/shop:9']);
  });

  test('a chart for other clusters, one that lacks a chart, and one with an endless template are errors', async () => {
    const { plan } = scene(SHOP);
    expect(await plan('shop', '--platform', '4.16')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('requires kubeVersion: >=1.30.0-0'),
    });
    const { 'charts/cache/Chart.yaml': _chart, 'charts/cache/templates/pod.yaml': _pod, ...lacking } = SHOP;
    expect(await scene(lacking).plan('shop')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('the chart needs other charts that are not in it: cache'),
    });
    const bomb = {
      'templates/bomb.yaml': '{{ range untilStep 0 99999999 1 }}{{ repeat 99999 "a" }}{{ end }}',
    };
    expect(await scene({ ...SHOP, ...bomb }).plan('shop')).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/it needed more than 1024 MiB of memory|helm cannot render/),
    });
  });
});
