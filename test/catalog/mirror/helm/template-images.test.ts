/** The images of charts that nobody renders: all of them are found, or a finding says that some are missing. */
import { expect, test } from 'vitest';
import type { ChartImages } from '../../../../catalog/mirror/helm/chart-images.ts';
import { parseJsonPath } from '../../../../catalog/mirror/helm/json-path.ts';
import { imagesInTemplates } from '../../../../catalog/mirror/helm/template-images.ts';

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
