/** Which images of rendered manifests are found, and which texts are only named. */
import { expect, test } from 'vitest';
import {
  type ChartImages,
  imagesInManifests,
  imagesInTemplates,
} from '../../../../catalog/mirror/helm/chart-images.ts';
import { parseJsonPath } from '../../../../catalog/mirror/helm/json-path.ts';

const RENDERED = `---
# Source: demo/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: demo}
spec:
  template:
    spec:
      initContainers: [{name: init, image: busybox}]
      containers:
      - {name: main, image: "quay.io/acme/demo:1.0", args: ["--reloader=quay.io/acme/reloader:2.0"]}
      volumes: [{name: models, image: {reference: quay.io/acme/models:3}}]
---
# Source: demo/templates/cron.yaml
apiVersion: batch/v1
kind: CronJob
spec: {jobTemplate: {spec: {template: {spec: {containers: [{image: quay.io/acme/cron:1}]}}}}}
---
# Source: demo/charts/sub/templates/prometheus.yaml
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
spec: {image: quay.io/acme/prometheus:v3, tool: {ref: quay.io/acme/tool:1}}
---
# Source: demo/templates/tests/hook.yaml
apiVersion: v1
kind: Pod
metadata: {annotations: {helm.sh/hook: pre-install}}
spec: {containers: [{image: quay.io/acme/hook:1}, {image: quay.io/acme/demo:1.0}]}
`;

test('images of pods everywhere, of hooks, of volumes, and of fields called image', () => {
  const { references, locations } = imagesInManifests(RENDERED, 'demo 1.0.0');
  expect(references).toEqual([
    'busybox',
    'quay.io/acme/demo:1.0',
    'quay.io/acme/models:3',
    'quay.io/acme/cron:1',
    'quay.io/acme/prometheus:v3',
    'quay.io/acme/hook:1',
  ]);
  expect(locations.get('quay.io/acme/prometheus:v3')?.file).toBe('demo/charts/sub/templates/prometheus.yaml');
});

test.each([
  ['10.0.0.5:5000/acme/app:1', 1],
  ['registry:5000/app:1', 1],
  ['localhost/acme/app:1', 1],
  [`registry:5000/app@sha256:${'a'.repeat(64)}`, 1],
  // Without a host, a tag or a path, the field may hold anything.
  ['acme/app:1', 0],
  ['registry:5000/app', 0],
  ['registry:5000', 0],
])('a field called image counts with a host and a tag: %s', (image, count) => {
  const text = `apiVersion: acme.com/v1\nkind: Tool\nspec: {image: "${image}"}\n`;
  expect(imagesInManifests(text, 'demo').references).toHaveLength(count);
});

test('a text elsewhere that looks like an image is named, and mirrored once imagePaths selects it', () => {
  const { findings } = imagesInManifests(RENDERED, 'demo');
  expect(findings.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
    'warning: quay.io/acme/reloader:2.0 looks like an image, but is not in a field for images: it is not mirrored',
    'warning: quay.io/acme/tool:1 looks like an image, but is not in a field for images: it is not mirrored',
  ]);
  const selected = imagesInManifests(RENDERED, 'demo', [parseJsonPath('{.spec.tool.ref}')]);
  expect(selected.references).toContain('quay.io/acme/tool:1');
  expect(selected.findings).toHaveLength(1);
});

test('addresses, versions and content are not taken for images', () => {
  const config = `apiVersion: v1
kind: ConfigMap
data:
  url: https://grafana.example.com/d/abc:8080
  module: github.com/acme/tool
  file: /etc/app.d/config.yaml:ro
  image: latest
  mail: someone@example.com:25
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec: {description: "such as quay.io/acme/demo:1.0"}
`;
  expect(imagesInManifests(config, 'demo')).toMatchObject({ references: [], findings: [] });
});

test('a manifest that is not YAML is an error', () => {
  const { findings } = imagesInManifests('---\n# Source: demo/templates/a.yaml\na: [\n', 'demo');
  expect(findings).toMatchObject([
    { rule: 'mirror/chart', severity: 'error', location: { file: 'demo/templates/a.yaml' } },
  ]);
});

test('43: an image path that finds too many values is an error where it does', () => {
  const config = `apiVersion: v1\nkind: A\nlist: [${'{a: {b: {c: 1}}},'.repeat(100)}]\n`;
  const { findings } = imagesInManifests(config, 'demo', [parseJsonPath(`{${'..*'.repeat(200)}}`)]);
  const message = 'an image path finds more than 1000000 values in a manifest';
  expect(findings).toMatchObject([{ rule: 'mirror/chart', severity: 'error', message }]);
});

// The images of charts that nobody renders: all of them are found, or a finding says that some are missing.

const IMAGE = 'quay.io/acme/a:1';

function pod(line: string): string {
  return `apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    ${line}\n`;
}

function imagesIn(text: string, unseen: readonly string[] = []): ChartImages {
  return imagesInTemplates('demo', { templates: new Map([['templates/pod.yaml', text]]), unseen });
}

/** How a template without an expression may name an image. */
const LITERAL: Readonly<Record<string, string>> = {
  'a plain line': pod(`image: ${IMAGE} # main`),
  'a flow mapping': `apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a, image: "${IMAGE}"}]}\n`,
  JSON: `{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"image": "${IMAGE}"}]}}`,
  'a quoted key': pod(`"image": '${IMAGE}'`),
  'the next line': pod(`image:\n      ${IMAGE}`),
  'a block scalar': pod(`image: >-\n      ${IMAGE}`),
  'an anchor': pod(`image: &image ${IMAGE}`),
  'an alias': `apiVersion: v1\nkind: Pod\nx: &x ${IMAGE}\nspec: {containers: [{image: *x}]}\n`,
  'a merge key': `apiVersion: v1\nkind: Pod\nx: &x {image: ${IMAGE}}\nspec: {containers: [{<<: *x}]}\n`,
  'a tag of YAML': pod(`image: !!str ${IMAGE}`),
  'an escaped character': pod(String.raw`image: "quay.io\u002facme/a:1"`),
  'a complex key': pod(`? image\n    : ${IMAGE}`),
  'CRLF lines': pod(`image: ${IMAGE}`).replaceAll('\n', '\r\n'),
  'a second document': `--- # first\n${pod('image: quay.io/acme/b:1')}---\n${pod(`image: ${IMAGE}`)}`,
  'a list': `apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, spec: {containers: [{image: ${IMAGE}}]}}]\n`,
  'comments of templates': `{{- /*\nLicense\n*/ -}}\n{{/* more */}}\n${pod(`image: ${IMAGE}\n    {{- /* image: b:1 */}}`)}`,
};

test.each(Object.entries(LITERAL))('107: without helm, an image in %s is found', (_, text) => {
  const { references, findings } = imagesIn(text);
  expect(references).toContain(IMAGE);
  expect(findings).toEqual([]);
});

test.each(['crds/pod.yaml', 'charts/sub/crds/pod.yaml'])(
  '107: without helm, an image in %s is found, and no expression is one',
  (path) => {
    const templates = new Map([[path, `# {{ .Values.a }}\n${pod(`image: ${IMAGE}`)}`]]);
    expect(imagesInTemplates('demo', { templates, unseen: [] })).toMatchObject({
      references: [IMAGE],
      findings: [],
    });
  },
);

const EXPRESSION =
  'the program helm is not installed, so images that come from 1 of 1 templates are not known';

/** What nobody can read without rendering it. */
const HIDDEN: Readonly<Record<string, readonly [text: string, why: string, line: number]>> = {
  'an expression': [pod('image: {{ .Values.image }}'), EXPRESSION, 6],
  'an expression elsewhere': [pod(`image: ${IMAGE}\n  {{ include "more" . }}`), EXPRESSION, 7],
  'an expression in a comment of YAML': [`# {{ "\\nimage: a:1" }}\n`, EXPRESSION, 1],
  'a comment that joins lines': [pod(`image: ${IMAGE}{{- /* */}}:2`), EXPRESSION, 6],
  'a comment that cuts the next line': [pod(`image: ${IMAGE}\n  {{/* */ -}}\n  a: 1`), EXPRESSION, 7],
  'a comment without an end': [pod(`image: ${IMAGE}\n{{/* `), EXPRESSION, 7],
  'what is not YAML': [pod('image: ['), 'not YAML', 7],
  'what is not an object': [`image: ${IMAGE}\n`, 'expected an object with apiVersion and kind', 1],
};

test.each(Object.entries(HIDDEN))('107: without helm, %s is an error', (_, [text, why, line]) => {
  expect(imagesIn(text).findings).toMatchObject([
    { rule: 'mirror/chart', severity: 'error', message: expect.stringContaining(why), location: { line } },
  ]);
});

test('without helm, image paths select, and partial templates alone need no helm', () => {
  const templates = new Map([
    ['templates/a.yaml', `apiVersion: v1\nkind: A\ntool: ${IMAGE}\n`],
    ['templates/_helpers.tpl', '{{ define "name" }}{{ end }}'],
  ]);
  expect(imagesInTemplates('demo', { templates, unseen: [] }).findings).toMatchObject([
    { severity: 'warning', message: expect.stringContaining(`${IMAGE} looks like an image`) },
  ]);
  const selected = imagesInTemplates('demo', { templates, unseen: [] }, [parseJsonPath('{.tool}')]);
  expect(selected).toMatchObject({ references: [IMAGE], findings: [] });
});

test('without helm, templates with expressions and charts that are not there are counted, plain lines are found', () => {
  const { references, locations, findings } = imagesInTemplates('demo', {
    templates: new Map([
      ['templates/pod.yaml', `{{ a }}\n${pod(`image: "${IMAGE}" # main`)}`],
      ['templates/b.yaml', pod('image: quay.io/acme/b:1')],
      ['templates/c.yaml', ''],
    ]),
    unseen: ['charts/sub-1.tgz'],
  });
  expect(references).toEqual([IMAGE, 'quay.io/acme/b:1']);
  expect(locations.get(IMAGE)).toEqual({ file: 'demo/templates/pod.yaml', line: 7, column: 12 });
  expect(findings).toMatchObject([
    {
      severity: 'error',
      message:
        'chart demo: the program helm is not installed, so images that come from 1 of 3 templates and the charts charts/sub-1.tgz are not known',
      location: { file: 'demo/templates/pod.yaml', line: 1, column: 1 },
    },
  ]);
});
