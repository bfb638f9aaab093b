/**
 * Bundles with one thing wrong, made at random out of sound ones: what a person who edits
 * them by hand, or a tool that is not quite right, makes of them.
 */
import { firstValue, readManifestFile } from '../../catalog/bundle/manifest.ts';
import { isObject } from '../../catalog/go/shape.ts';
import { Random } from './yaml-documents.ts';

/** The files of a bundle by path. */
export type Files = ReadonlyMap<string, Uint8Array>;

export interface Mutant {
  /** What was changed, and where. */
  readonly name: string;
  readonly kind: MutationKind;
  readonly files: Files;
}

/** The kind of a change, such as `retype`; `MUTATION_KINDS` has all. */
export type MutationKind = string;

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = any;

type Change = readonly [name: string, files: Map<string, Uint8Array>];
type Mutation = (files: Files, random: Random) => Change | undefined;

const PREFIX = 'operators.operatorframework.io.bundle.';
const ANNOTATIONS = 'metadata/annotations.yaml';

const OTHER_TYPES = [0, 1, -1, 1.5, 1e21, true, false, null, '', 'x', '1', [], ['x'], [null], {}, { x: 1 }];
const BLANKS = ['', null, [], {}, ' '];
const VERSIONS =
  '1|1.0|1.0.0|v1.0.0|01.0.0|1.0.0-|1.0.0+b|1.0.0-a..b|1.0.0-01|1.0.0.0|latest|-1.0.0|1.0.0 | 1.0.0|1,0,0|99999999999999999999.0.0|1.0.0-é|>=1.0.0|1.x|0.0.0'.split(
    '|',
  );
const NAMES = 'UPPER|a_b|a.b|.a|a.|-a|a-|a/b|a b|é|a--b|1a|a@b|*|{}|null|'
  .split('|')
  .concat('a'.repeat(64), 'b'.repeat(254));
const JSON_TEXTS = [
  `¦ ¦{¦[¦{}¦[]¦null¦1¦"x"¦true¦[{}]¦[null]¦[1]¦["x"]¦[[]]¦{"a":1,}¦[{"a":1},]¦{'a':1}¦{a: 1}¦- a¦{"a":1}{"b":2}¦[{}] x`,
  `[{"kind":"A"}]¦[{"apiVersion":"v1"}]¦[{"apiVersion":"v1","kind":"A"}]¦[{"apiVersion":1,"kind":"A"}]¦{"apiVersion":"v1","kind":"A"}`,
  `[{"type":"x","value":"y"}]¦[{"type":"olm.maxOpenShiftVersion","value":"4.9"}]¦[{"type":"olm.maxOpenShiftVersion","value":4.9}]`,
  `[{"type":"olm.maxOpenShiftVersion","value":"4.9.1"}]¦[{"type":"olm.maxOpenShiftVersion","value":"v4.9"}]¦[{"type":"olm.maxOpenShiftVersion","value":""}]`,
  `[{"type":"olm.maxOpenShiftVersion"}]¦[{"type":"olm.maxOpenShiftVersion","value":"4.9"},{"type":"olm.maxOpenShiftVersion","value":"4.9"}]¦[{"type":1}]`,
  `{"a":1,"a":2}¦{"\\u0061":1,"a":2}¦"\\ud800"¦NaN¦01¦1e400¦\t[]\n¦[{"Type":"olm.maxOpenShiftVersion","Value":"4.20"}]¦"\\x"`,
].flatMap((line) => line.split('¦'));
/** Forms of the label that says for which versions of OpenShift a bundle is; those with `!` are not text in YAML. */
const OPENSHIFT =
  'v4.12|4.12|=v4.12|v4.12-v4.15|v4.12-|-v4.12|v4.9-v4.5|v4.12-4.15|v4.12,v4.13|v4.12, v4.13|v4.5,v4.6|v3.11|v4.99|latest|all|v4|4|v4.12.1|V4.12|=4.12|v4.12 - v4.15|v4.12-v4.15-v4.16||"v4.12"|v4.09|v5.0|v4.12=|==v4.12|!4.10|!4.12|!true|!null|!4|![]|!{}'.split(
    '|',
  );
const CATEGORIES =
  'AI/Machine Learning|Database|database|Database, Networking|Database,Networking|Nothing|,|Big Data ,Database'.split(
    '|',
  );
const CAPABILITIES =
  'Basic Install|Seamless Upgrades|Full Lifecycle|Deep Insights|Auto Pilot|basic install|Basic Install |None'.split(
    '|',
  );
const LINKS = 'https://a.b|http://a|a.b|ftp://a|://|mailto:a@b|a b|/x|https://a b|HTTP://A'.split('|');
const MAILS = 'a@b.c|a|@|a@|a b@c|A <a@b.c>|a@b|é@b.c'.split('|');
const RANGES =
  '>=1.0.0|>=1.0.0 <2.0.0|<1.0.0 >2.0.0|1.0.0 - 2.0.0|x|>=1|^1.0.0|>=1.0.0 || <0.5.0|>=1.0.0,<2.0.0|'.split(
    '|',
  );
const IMAGES = 'a/b:c|quay.io/a/b@sha256:0|quay.io/a/b|oci://a/b|A/b:c|a b|quay.io/a/b:c@sha256:'
  .split('|')
  .concat(`quay.io/a/b@sha256:${'0'.repeat(64)}`, 'f'.repeat(64));

/** Fields that few bundles set, with what people write there. The first step names the file's kind. */
const FIELDS: readonly (readonly [path: string, values: readonly Json[]])[] = [
  ['csv:spec/minKubeVersion', [...VERSIONS, 1.25, null, [], '1.25']],
  ['csv:spec/version', [...VERSIONS, 1, 1.5, null, [], {}]],
  [
    'csv:spec/release',
    ['1', '0', '', null, '0_bad', '01', 'a.b', 'a..b', 'x'.repeat(21), 1, [], 'é', '1.', '-'],
  ],
  ['csv:spec/replaces', [...NAMES, 'etcd.v0.9.0', 1, null]],
  ['csv:spec/skips', [['a'], [1], 'a', null, [''], ['A_b'], [['a']]]],
  ['csv:spec/maturity', ['alpha', 1, null]],
  [
    'csv:spec/provider',
    [{}, { name: '' }, { name: 1 }, { url: 'x' }, { name: ' ' }, null, 'x', { Name: 'x' }],
  ],
  ['csv:spec/provider/url', LINKS],
  [
    'csv:spec/links',
    [
      [],
      null,
      [{}],
      [{ name: 'a' }],
      [{ url: 'https://a.b' }],
      'x',
      ...LINKS.map((url) => [{ name: 'a', url }]),
    ],
  ],
  [
    'csv:spec/maintainers',
    [[], [{}], [{ name: 'a' }], [{ email: 'a@b.c' }], ...MAILS.map((email) => [{ name: 'a', email }])],
  ],
  [
    'csv:spec/icon',
    [
      [],
      null,
      [{}],
      [{ base64data: 'x', mediatype: 'image/png' }],
      [{ base64data: '', mediatype: '' }],
      [{ base64data: 'eA==', mediatype: 'text/plain' }],
      [{ base64data: 'eA==', mediatype: 'image/svg+xml' }, {}],
      [{ base64data: 'eA==' }],
    ],
  ],
  [
    'csv:spec/relatedImages',
    [
      [],
      null,
      [{}],
      'x',
      ...IMAGES.map((image) => [{ name: 'a', image }]),
      [
        { name: 'a', image: 'a/b:c' },
        { name: 'a', image: 'a/b:d' },
      ],
    ],
  ],
  [
    'csv:spec/installModes',
    [
      [],
      null,
      [{}],
      [{ type: 'AllNamespaces', supported: false }],
      [{ type: 'AllNamespaces', supported: true }],
      [{ type: 'X', supported: true }],
      [{ type: 'AllNamespaces', supported: 'true' }],
      [
        { type: 'AllNamespaces', supported: true },
        { type: 'AllNamespaces', supported: true },
      ],
      [
        { type: 'OwnNamespace', supported: true },
        { type: 'MultiNamespace', supported: true },
      ],
    ],
  ],
  [
    'csv:spec/install',
    [
      null,
      {},
      { strategy: 'deployment' },
      { strategy: 'x', spec: {} },
      { strategy: 'deployment', spec: null },
      { strategy: 'deployment', spec: { deployments: [] } },
      { strategy: 'deployment', spec: { deployments: [{ name: 'a', spec: {} }] } },
      { spec: { deployments: [{ name: 'a' }] } },
      { strategy: 'deployment', spec: { deployments: [{ name: 'a', spec: { replicas: '1' } }] } },
    ],
  ],
  [
    'csv:spec/webhookdefinitions',
    [
      [],
      null,
      [{}],
      ...['ConversionWebhook', 'ValidatingAdmissionWebhook', 'MutatingAdmissionWebhook', 'x', ''].flatMap(
        (type) => [
          [
            {
              type,
              generateName: 'a.b.c',
              admissionReviewVersions: ['v1'],
              sideEffects: 'None',
              deploymentName: 'none',
            },
          ],
          [
            {
              type,
              generateName: 'a',
              admissionReviewVersions: ['v1'],
              sideEffects: 'None',
              conversionCRDs: ['a.b'],
              rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
            },
          ],
          [{ type, generateName: 'a', sideEffects: 'x', containerPort: '443' }],
        ],
      ),
    ],
  ],
  [
    'csv:spec/customresourcedefinitions',
    [
      null,
      {},
      { owned: [] },
      { owned: null },
      { owned: [{}] },
      { owned: [{ name: 'a.b', kind: 'A', version: 'v1' }] },
      { owned: [{ name: 'a', kind: 'A', version: 'v1' }] },
      { required: [{ name: 'a.b', kind: 'A', version: 'v1' }] },
      { required: [{}] },
      [],
    ],
  ],
  [
    'csv:spec/customresourcedefinitions/owned/0',
    ['name', 'kind', 'version', 'group', 'displayName', 'description'].map((key) => ({
      name: 'etcds.etcd.io',
      kind: 'Etcd',
      version: 'v1',
      [key]: 'x',
    })),
  ],
  [
    'csv:spec/apiservicedefinitions',
    [
      null,
      {},
      { owned: [{}] },
      { owned: [{ name: 'a', group: 'b', kind: 'A', version: 'v1' }] },
      { required: [{ group: 'b', kind: 'A', version: 'v1' }] },
      [],
    ],
  ],
  ['csv:spec/nativeAPIs', [[], [{}], [{ group: 'a', version: 'v1', kind: 'A' }], 'x']],
  ['csv:spec/cleanup', [{}, { enabled: true }, { enabled: 'x' }]],
  ['csv:spec/labels', [{}, { a: 1 }, { 'a b': 'c' }, []]],
  ['csv:metadata/name', [...NAMES, 'etcd', 'etcd.1.0.0', 'etcd-v1.0.0', 'etcd.v1.0', 1, null]],
  ['csv:metadata/namespace', ['placeholder', '', 1]],
  [
    'csv:metadata/labels',
    [
      {},
      null,
      { 'a b': 'c' },
      { a: 1 },
      { 'operatorframework.io/arch.amd64': 'supported' },
      { 'operatorframework.io/arch.x': 'y' },
      [],
    ],
  ],
  ['csv:metadata/annotations', [{}, null, { a: 1 }, [], 'x']],
  ['csv:metadata/annotations/alm-examples', JSON_TEXTS],
  ['csv:metadata/annotations/olm.examples', JSON_TEXTS],
  ['csv:metadata/annotations/olm.properties', JSON_TEXTS],
  ['csv:metadata/annotations/capabilities', [...CAPABILITIES, 1, null]],
  ['csv:metadata/annotations/categories', [...CATEGORIES, 1, null]],
  ['csv:metadata/annotations/olm.skipRange', [...RANGES, 1, null]],
  ['csv:metadata/annotations/olm.substitutesFor', [...NAMES, 'etcd.v0.9.0']],
  ['csv:metadata/annotations/olm.maxOpenShiftVersion', ['4.9', 4.9, '4.9.0']],
  ['csv:metadata/annotations/operatorframework.io~suggested-namespace-template', JSON_TEXTS],
  ['csv:metadata/annotations/operatorframework.io~initialization-resource', JSON_TEXTS],
  ['csv:metadata/annotations/operators.operatorframework.io~internal-objects', JSON_TEXTS],
  ['csv:metadata/annotations/operators.openshift.io~infrastructure-features', JSON_TEXTS],
  ['csv:metadata/annotations/createdAt', ['2020-01-01', 'x', 1, null]],
  ['crd:metadata/name', [...NAMES, 'etcds', 'etcd.io', 1, null]],
  [
    'crd:apiVersion',
    [
      'apiextensions.k8s.io/v1beta1',
      'apiextensions.k8s.io/v1',
      'apiextensions.k8s.io/v2',
      'v1',
      '',
      1,
      'example.com/v1',
    ],
  ],
  [
    'crd:status',
    [5, null, {}, [], { conditions: 'x' }, { storedVersions: ['v1'] }, { storedVersions: 'v1' }],
  ],
  ['crd:spec/scope', ['Namespaced', 'Cluster', 'namespaced', '', 'x', null, 1]],
  ['crd:spec/preserveUnknownFields', [true, false, 'true', null]],
  [
    'crd:spec/conversion',
    [
      {},
      { strategy: 'None' },
      { strategy: 'x' },
      { strategy: 'Webhook' },
      {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'http://a' } },
      },
      {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { service: { name: 'a', namespace: 'b' } },
        },
      },
      null,
      'x',
    ],
  ],
  [
    'crd:spec/names',
    [
      {},
      null,
      { plural: 'etcds' },
      { kind: 'Etcd' },
      { plural: 'etcds', kind: 'Etcd', listKind: 'Etcd' },
      { plural: 'etcds', kind: 'Etcd', shortNames: ['A'] },
      { plural: 'etcds', kind: 'Etcd', singular: 'A', categories: ['a b'] },
    ],
  ],
  [
    'crd:spec/versions',
    [
      [],
      null,
      [{}],
      'x',
      [{ name: 'v1', served: true, storage: false }],
      [{ name: 'v1', served: true, storage: true }],
      [{ name: 'V1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    ],
  ],
  ['crd:spec/versions/0/deprecationWarning', ['x', '', 1, 'a\nb']],
  [
    'crd:spec/versions/0/subresources',
    [
      {},
      { status: {} },
      { scale: {} },
      { scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a' } },
      { scale: { specReplicasPath: 'a', statusReplicasPath: '.status.a' } },
      null,
    ],
  ],
  [
    'crd:spec/versions/0/additionalPrinterColumns',
    [
      [],
      [{}],
      [{ name: 'a', type: 'string', jsonPath: '.a' }],
      [{ name: 'a', type: 'x', jsonPath: '.a' }],
      [{ name: 'a', type: 'string', jsonPath: 'a' }],
      [{ name: 'a', type: 'string', JSONPath: '.a' }],
    ],
  ],
  [
    'crd:spec/versions/0/schema',
    [
      null,
      {},
      { openAPIV3Schema: {} },
      { openAPIV3Schema: { type: 'x' } },
      { openAPIV3Schema: { type: 'object', properties: 'x' } },
      { openAPIV3Schema: { type: 'object', required: 'x' } },
      { openAPIV3Schema: { type: 'object', properties: { 'a.b': { type: 'string', default: 1 } } } },
      { openAPIV3Schema: { type: 'object', properties: { a: { type: 'array' } } } },
      { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': 'x' } },
      { openAPIV3Schema: { type: 'object', properties: { a: { type: 'integer', minimum: 'x' } } } },
    ],
  ],
  [
    `annotations:annotations/com.redhat.openshift.versions`,
    OPENSHIFT.map((form) => (form.startsWith('!') ? JSON.parse(form.slice(1)) : form)),
  ],
  [`annotations:annotations/${PREFIX}package.v1`, [...NAMES, 1, true, null, [], {}]],
  [
    `annotations:annotations/${PREFIX}channels.v1`,
    [...NAMES, 'a,b', 'a, b', ',', 'a,', 'stable,stable', 1, 1.5, null, ['a'], {}],
  ],
  [`annotations:annotations/${PREFIX}channel.default.v1`, [...NAMES, 'a', '', 1, null, ['a']]],
  [
    `annotations:annotations/${PREFIX}mediatype.v1`,
    ['registry+v1', 'plain', 'helm', 'plain+v0', '', 'Registry+v1', 1, null],
  ],
  [
    `annotations:annotations/${PREFIX}manifests.v1`,
    ['manifests', 'manifests/', './manifests/', 'deploy/', '', '/', '../x', 'metadata/', 1, null],
  ],
  [`annotations:annotations/${PREFIX}metadata.v1`, ['metadata', 'metadata/', 'x', '', 1, null]],
  ['annotations:annotations/com.redhat.delivery.operator.bundle', [true, 'true', 1, null, [], {}]],
  ['annotations:annotations', [null, [], {}, 'x', 1]],
];

const DEPENDENCIES: readonly Json[] = [
  { type: 'olm.package', value: { packageName: 'a', version: '>=1.0.0' } },
  { type: 'olm.package', value: { packageName: 'a', version: 'x' } },
  { type: 'olm.package', value: { packageName: '', version: '1.0.0' } },
  { type: 'olm.package', value: { packageName: 'a' } },
  { type: 'olm.package', value: { name: 'a', version: '1.0.0' } },
  { type: 'olm.package', value: 'a' },
  { type: 'olm.gvk', value: { group: 'a', version: 'v1', kind: 'A' } },
  { type: 'olm.gvk', value: { group: '', version: 'v1', kind: 'A' } },
  { type: 'olm.gvk', value: {} },
  { type: 'olm.label', value: { label: 'a' } },
  { type: 'olm.label', value: { label: '' } },
  { type: 'olm.constraint', value: { failureMessage: 'a', cel: { rule: 'true' } } },
  { type: 'olm.constraint', value: { failureMessage: 'a', cel: { rule: '1' } } },
  {
    type: 'olm.constraint',
    value: { failureMessage: 'a', cel: { rule: 'properties.exists(p, p.type == "a")' } },
  },
  { type: 'olm.constraint', value: { failureMessage: 'a', cel: { rule: 'a b' } } },
  { type: 'olm.constraint', value: { failureMessage: 'a', all: { constraints: [] } } },
  { type: 'olm.constraint', value: {} },
  { type: 'x', value: 1 },
  { type: '' },
  { type: 1, value: {} },
  {},
  'x',
  null,
];

const OBJECTS: readonly Json[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'A_b' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} },
  { apiVersion: 'v1', kind: 'ConfigMap' },
  { apiVersion: 'v1', kind: 'configmap', metadata: { name: 'a' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'b' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { 'a b': 'c' } } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { a: 1 } } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'etcd' } },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } },
  { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } },
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', generation: -1 } },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'a' },
    spec: { maxUnavailable: 0 },
  },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'a' },
    spec: { minAvailable: '100%' },
  },
  {
    apiVersion: 'policy/v1beta1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'a' },
    spec: { minAvailable: 1 },
  },
  { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'a' }, globalDefault: true },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'a' }, rules: 'x' },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'a' },
    rules: [
      {
        apiGroups: ['security.openshift.io'],
        resources: ['securitycontextconstraints'],
        verbs: ['use'],
        resourceNames: ['x'],
      },
    ],
  },
  { apiVersion: 'operators.coreos.com/v1', kind: 'OperatorGroup', metadata: { name: 'a' } },
  { kind: 'ConfigMap', metadata: { name: 'a' } },
  { apiVersion: 'v1', metadata: { name: 'a' } },
  { apiVersion: 'batch/v1beta1', kind: 'CronJob', metadata: { name: 'a' } },
  { apiVersion: 'v1', kind: 'List', items: [] },
  [],
  'x',
  null,
];

const TEXT_CHANGES: Readonly<Record<string, (text: string, random: Random) => string | Uint8Array>> = {
  'byte-order mark': (text) => `\ufeff${text}`,
  'carriage returns': (text) => text.replaceAll('\n', '\r\n'),
  'carriage returns alone': (text) => text.replaceAll('\n', '\r'),
  'UTF-16': (text) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]),
  'UTF-16 without a mark': (text) => Buffer.from(text, 'utf16le'),
  'Latin-1 letter': (text, random) => withBytes(text, random, [0xe9]),
  'invalid UTF-8 in a comment': (text) =>
    Buffer.concat([Buffer.from('# '), Buffer.from([0xff, 0x0a]), Buffer.from(text)]),
  'NUL byte': (text, random) => withBytes(text, random, [0]),
  'control character': (text, random) => withBytes(text, random, [7]),
  'empty file': () => '',
  'only a comment': () => '# nothing\n',
  'only a separator': () => '---\n',
  'separator first': (text) => `---\n${text}`,
  'two separators first': (text) => `---\n---\n${text}`,
  'comment document first': (text) => `# a\n---\n${text}`,
  'second document': (text) => `${text}\n---\nkind: ConfigMap\napiVersion: v1\nmetadata:\n  name: b\n`,
  'same document twice': (text) => `${text}\n---\n${text}`,
  'broken second document': (text) => `${text}\n---\n{\n`,
  'end of document': (text) => `${text}\n...\n`,
  truncated: (text, random) => text.slice(0, random.below(text.length + 1)),
  tab: (text, random) => atLine(text, random, (line) => `\t${line}`),
  indentation: (text, random) => atLine(text, random, (line) => ` ${line}`),
  'less indentation': (text, random) => atLine(text, random, (line) => line.replace(/^ {1,2}/, '')),
  'line lost': (text, random) => atLine(text, random, () => undefined),
  'line twice': (text, random) => atLine(text, random, (line) => `${line}\n${line}`),
  'colon lost': (text, random) => atLine(text, random, (line) => line.replace(':', '')),
  'space behind colon lost': (text, random) => atLine(text, random, (line) => line.replace(': ', ':')),
  'quote opened': (text, random) => atLine(text, random, (line) => line.replace(': ', ': "')),
  unquoted: (text, random) => atLine(text, random, (line) => line.replace(/["']/g, '')),
  'merge key': (text) => `${text}\n<<: {a: b}\n`,
  anchor: (text, random) => atLine(text, random, (line) => line.replace(': ', ': &a ')),
  'alias of nothing': (text, random) => atLine(text, random, (line) => line.replace(/: .*/, ': *a')),
  tag: (text, random) => atLine(text, random, (line) => line.replace(': ', ': !!int ')),
  number: (text, random) => atLine(text, random, (line) => line.replace(/: [^|>&].*/, ': 12')),
  yes: (text, random) => atLine(text, random, (line) => line.replace(/: [^|>&].*/, ': yes')),
  infinity: (text, random) => atLine(text, random, (line) => line.replace(/: [^|>&].*/, ': .inf')),
  date: (text, random) => atLine(text, random, (line) => line.replace(/: [^|>&].*/, ': 2020-01-01')),
  nothing: (text, random) => atLine(text, random, (line) => line.replace(/: [^|>&].*/, ':')),
  'block scalar': (text, random) => atLine(text, random, (line) => line.replace(/: .*/, ': |')),
  template: (text, random) => atLine(text, random, (line) => line.replace(/: .*/, ': {{ x }}')),
  'conflict marker': (text, random) => atLine(text, random, (line) => `<<<<<<< HEAD\n${line}`),
};

const MUTATIONS: Readonly<Record<MutationKind, Mutation>> = {
  delete: atNode((parent, key) => {
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else delete parent[key];
  }),
  retype: atNode((parent, key, random) => set(parent, key, random.pick(OTHER_TYPES))),
  blank: atNode((parent, key, random) => set(parent, key, random.pick(BLANKS))),
  case: atNode((parent, key, random) => {
    if (Array.isArray(parent)) return set(parent, key, otherCase(String(parent[Number(key)]), random));
    const renamed = Object.entries(parent).map(([name, value]) => [
      name === key ? otherCase(name, random) : name,
      value,
    ]);
    for (const name of Object.keys(parent)) delete parent[name];
    Object.assign(parent, Object.fromEntries(renamed));
  }),
  'key twice in another case': atNode((parent, key, random) => {
    if (!Array.isArray(parent)) set(parent, otherCase(String(key), random), random.pick(OTHER_TYPES));
  }),
  version: atText((random) => random.pick(VERSIONS)),
  name: atText((random) => random.pick(NAMES)),
  enum: atText((random, text) =>
    random.pick([`${text}x`, text.toLowerCase(), text.toUpperCase(), ` ${text}`, `${text} `]),
  ),
  json: atText(
    (random) => random.pick(JSON_TEXTS),
    (text) => /^\s*[[{]/.test(text),
  ),
  'item twice': atNode((parent, key) => {
    if (Array.isArray(parent)) parent.push(structuredClone(parent[Number(key)]));
    else parent[`${key}2`] = structuredClone(parent[key]);
  }),
  field: (files, random) => {
    const [target, values] = random.pick(FIELDS);
    const [kind = '', path = ''] = target.split(/:(.*)/s);
    const file = fileOfKind(files, kind);
    const value = random.pick(values);
    return file === undefined
      ? undefined
      : changedTree(
          files,
          file,
          (root) => setAt(root, stepsOf(path), value),
          `${target}=${JSON.stringify(value)?.slice(0, 200)}`,
        );
  },
  openshift: (files, random) => {
    const form = random.pick(OPENSHIFT);
    const value: Json = form.startsWith('!') ? JSON.parse(form.slice(1)) : form;
    const most = random.pick(['', '', '4.9', '4.12', '4.20', '4.9.0', 'v4.9', 4.9, 4]);
    const csv = fileOfKind(files, 'csv');
    const labelled = changedTree(
      files,
      ANNOTATIONS,
      (root) => setAt(root, ['annotations', 'com.redhat.openshift.versions'], value),
      '',
    );
    if (!labelled || csv === undefined) return undefined;
    const name = `versions ${JSON.stringify(value)}, maximum ${JSON.stringify(most)}`;
    if (most === '') return [name, labelled[1]];
    const properties = JSON.stringify([{ type: 'olm.maxOpenShiftVersion', value: most }]);
    const both = changedTree(
      labelled[1],
      csv,
      (root) => setAt(root, ['metadata', 'annotations', 'olm.properties'], properties),
      '',
    );
    return both && [name, both[1]];
  },
  dependencies: (files, random) => {
    const all = [random.pick(DEPENDENCIES), ...(random.below(3) === 0 ? [random.pick(DEPENDENCIES)] : [])];
    const text =
      random.below(8) === 0
        ? random.pick(['dependencies:', 'dependencies: x', '[]', 'x', '{'])
        : JSON.stringify({ dependencies: all });
    return [text, new Map(files).set('metadata/dependencies.yaml', Buffer.from(text))];
  },
  'another manifest': (files, random) => {
    const text = JSON.stringify(random.pick(OBJECTS));
    return [text, new Map(files).set('manifests/another.yaml', Buffer.from(text))];
  },
  'missing file': (files, random) => {
    const path = random.pick([...files.keys()]);
    const left = new Map(files);
    left.delete(path);
    return [path, left];
  },
  'moved file': (files, random) => {
    const path = random.pick([...files.keys()]);
    const to = movedPath(path, random);
    const moved = new Map([...files].map(([from, bytes]) => [from === path ? to : from, bytes]));
    return [`${path} to ${to}`, moved];
  },
  'copied file': (files, random) => {
    const path = random.pick([...files.keys()]);
    const to = movedPath(path, random);
    return [`${path} to ${to}`, new Map(files).set(to, files.get(path) ?? new Uint8Array())];
  },
  text: (files, random) => {
    const path = random.pick([...files.keys()]);
    const name = random.pick(Object.keys(TEXT_CHANGES));
    const changed = TEXT_CHANGES[name]?.(Buffer.from(files.get(path) ?? []).toString(), random) ?? '';
    return [
      `${name} in ${path}`,
      new Map(files).set(path, typeof changed === 'string' ? Buffer.from(changed) : changed),
    ];
  },
};

export const MUTATION_KINDS: readonly MutationKind[] = Object.keys(MUTATIONS);

/** How often fields that rules know are tried, beside changes at any place. */
const OFTEN: readonly MutationKind[] = [
  'field',
  'field',
  'field',
  'field',
  'openshift',
  'text',
  'retype',
  'delete',
];

/** The mutant of a bundle that a seed decides; undefined where the bundle has no place for the change. */
export function mutantOf(files: Files, seed: number): Mutant | undefined {
  const random = new Random(seed);
  const kind = random.pick([...MUTATION_KINDS, ...OFTEN]);
  const change = MUTATIONS[kind]?.(files, random);
  return change && { name: `${kind}: ${change[0]}`, kind, files: change[1] };
}

function stepsOf(path: string): string[] {
  return path.split('/').map((step) => step.replaceAll('~', '/'));
}

function fileOfKind(files: Files, kind: string): string | undefined {
  if (kind === 'annotations') return files.has(ANNOTATIONS) ? ANNOTATIONS : undefined;
  const wanted = kind === 'csv' ? 'ClusterServiceVersion' : 'CustomResourceDefinition';
  return [...files.keys()].find(
    (path) => path.startsWith('manifests/') && treeOf(files, path)?.kind === wanted,
  );
}

function treeOf(files: Files, path: string): Json {
  const value = firstValue(readManifestFile(path, files.get(path) ?? new Uint8Array()))?.value;
  return isObject(value) ? structuredClone(value) : undefined;
}

function changedTree(
  files: Files,
  path: string,
  change: (root: Json) => void,
  name: string,
): Change | undefined {
  const root = treeOf(files, path);
  if (root === undefined) return undefined;
  change(root);
  const text = JSON.stringify(root, (_, value) => (typeof value === 'bigint' ? Number(value) : value), 1);
  return [name, new Map(files).set(path, Buffer.from(text))];
}

function setAt(root: Json, steps: readonly string[], value: Json): void {
  let at = root;
  for (const step of steps.slice(0, -1)) {
    if (typeof at[step] !== 'object' || at[step] === null) at[step] = {};
    at = at[step];
  }
  set(at, steps.at(-1) ?? '', value);
}

function set(parent: Json, key: string | number, value: Json): void {
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
}

/** A change at any place of any file. Places near the root are as likely as all below them. */
function atNode(change: (parent: Json, key: string, random: Random) => void): Mutation {
  return inSomeFile((root, random) => {
    let [parent, key]: [Json, string] = [root, random.pick(Object.keys(root))];
    const steps = [key];
    while (isBranch(parent[key]) && random.below(6) > 0) {
      parent = parent[key];
      key = random.pick(Object.keys(parent));
      steps.push(key);
    }
    change(parent, key, random);
    return steps.join('/');
  });
}

/** A change of any file, which says where it was; undefined where the file has no place for it. */
function inSomeFile(change: (root: Json, random: Random) => string | undefined): Mutation {
  return (files, random) => {
    const path = random.pick([...files.keys()]);
    let place: string | undefined;
    const changed = changedTree(
      files,
      path,
      (root) => {
        place = change(root, random);
      },
      '',
    );
    return changed && place !== undefined ? [`${path} ${place}`, changed[1]] : undefined;
  };
}

function isBranch(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/** A change of a text; of those that `fits` accepts where it is given. */
function atText(
  change: (random: Random, text: string) => string,
  fits: (text: string) => boolean = () => true,
): Mutation {
  return inSomeFile((root, random) => {
    const texts = textsIn(root).filter(({ parent, key }) => fits(parent[key]));
    if (texts.length === 0) return undefined;
    const { parent, key, at } = random.pick(texts);
    const text = change(random, parent[key]);
    set(parent, key, text);
    return `${at}=${JSON.stringify(text).slice(0, 80)}`;
  });
}

function textsIn(value: Json, at = ''): { parent: Json; key: string; at: string }[] {
  return Object.keys(value).flatMap((key) => {
    // What a schema describes is the least of a bundle, and the most of its text.
    if (key === 'openAPIV3Schema') return [];
    if (typeof value[key] === 'string') return [{ parent: value, key, at: `${at}/${key}` }];
    return isBranch(value[key]) ? textsIn(value[key], `${at}/${key}`) : [];
  });
}

function otherCase(text: string, random: Random): string {
  return random.pick([
    text.toUpperCase(),
    text.toLowerCase(),
    text.charAt(0).toUpperCase() + text.slice(1),
    text.replace(/s/i, '\u017f'),
    text.replace(/k/i, '\u212a'),
  ]);
}

function movedPath(path: string, random: Random): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return random.pick([
    `manifests/below/${name}`,
    `manifests/.${name}`,
    `manifests/.below/${name}`,
    `manifests/${name.replace(/\.\w+$/, '.txt')}`,
    `manifests/copy-of-${name}`,
    `manifests/annotations-${name}`,
    `manifests/Chart.yaml`,
    `metadata/${name}`,
    `metadata/a-${name}`,
    `metadata/below/${name}`,
    `metadata/.${name}`,
    `Manifests/${name}`,
    `manifest/${name}`,
    name,
    `tests/scorecard/config.yaml`,
  ]);
}

function withBytes(text: string, random: Random, bytes: readonly number[]): Uint8Array {
  const all = Buffer.from(text);
  const at = random.below(all.length + 1);
  return Buffer.concat([all.subarray(0, at), Buffer.from(bytes), all.subarray(at)]);
}

function atLine(text: string, random: Random, change: (line: string) => string | undefined): string {
  const lines = text.split('\n');
  const at = random.below(lines.length);
  return lines.flatMap((line, i) => (i === at ? (change(line) ?? []) : [line])).join('\n');
}
