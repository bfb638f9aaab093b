/** Which images of rendered manifests are found, and which texts are only named. */
import { expect, test } from 'vitest';
import { imagesInManifests } from '../../../../catalog/mirror/helm/chart-images.ts';
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
