/** Templates that the catalogs of an advisory are rendered from: edited with the catalogs, or named with the fix. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BASE } from '../../../fakes/gate.ts';
import { type Files, makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { portolan, type Ran } from '../../../fakes/terminal.ts';

const VERSIONS = ['1.0.0', '1.1.0', '1.2.0'];
const image = (version: string): string => `quay.io/org/etcd:v${version}`;

const CHANNEL = `schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v1.0.0
- name: etcd.v1.1.0
  replaces: etcd.v1.0.0
- name: etcd.v1.2.0
  replaces: etcd.v1.1.0
`;
const CATALOG = [
  'schema: olm.package\nname: etcd\ndefaultChannel: stable\n',
  CHANNEL,
  ...VERSIONS.map(
    (version) =>
      `schema: olm.bundle\npackage: etcd\nname: etcd.v${version}\nimage: ${image(version)}\nproperties:\n- type: olm.package\n  value: {packageName: etcd, version: ${version}}\n`,
  ),
]
  .map((blob) => `---\n${blob}`)
  .join('');

/** As people write it: with comments, and indented lists. */
const BASIC = `# rendered by make catalogs
schema: olm.template.basic
entries:
  - schema: olm.package
    name: etcd
    defaultChannel: stable
  # the only channel
  - schema: olm.channel
    package: etcd
    name: stable
    entries:
      - name: etcd.v1.0.0 # the first
      - name: etcd.v1.1.0
        replaces: etcd.v1.0.0
      - name: etcd.v1.2.0
        replaces: etcd.v1.1.0
  - schema: olm.bundle
    image: quay.io/org/etcd:v1.0.0
  - schema: olm.bundle
    image: quay.io/org/etcd:v1.1.0
  - schema: olm.bundle
    image: quay.io/org/etcd:v1.2.0 # the head
`;
const SEMVER = `schema: olm.semver
generateMajorChannels: true
stable:
  bundles:
${VERSIONS.map((version) => `  - image: ${image(version)}\n`).join('')}`;

const [V19, V20] = ['catalogs/v4.19/etcd/catalog.yaml', 'catalogs/v4.20/etcd/catalog.yaml'];
const TEMPLATE = 'operators/etcd/catalog-templates/basic.yaml';
const CI = 'operators/etcd/ci.yaml';
const mapping = (...catalogs: string[]): string =>
  `reviewers: [bob]\nfbc:\n  catalog_mapping:\n  - template_name: basic.yaml\n    type: olm.template.basic\n    catalog_names: [${catalogs.join(', ')}]\n`;
const TREE: Files = { ...BASE, [V19]: CATALOG, [V20]: CATALOG };

interface Advised extends Ran {
  readonly repository: TestRepository;
  readonly read: (path: string) => string;
}

async function advised(files: Files, more: string, ...words: string[]): Promise<Advised> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const advisory = `apiVersion: portolan/v1alpha1\nkind: Advisory\npackage: etcd\nreason: {kind: withdrawn}\nmessage: Use 1.2.0\n${more}`;
  repository.commit({ ...TREE, ...files, 'advisories/A.yaml': advisory });
  repository.git('reset', '--hard', '--quiet', 'main');
  const ran = await portolan(repository.directory, 'advisory', 'apply', 'A', ...words);
  return { ...ran, repository, read: (path) => readFileSync(join(repository.directory, path), 'utf8') };
}

const YANK = "versions: ['1.1.0']\naction: yank\n";

test('a basic template gets the same edit as its catalogs; its other lines stay', async () => {
  const files = { [CI]: mapping('v4.19', 'v4.20'), [TEMPLATE]: BASIC };
  const { exit, out, err, repository, read } = await advised(files, YANK);
  expect({ exit, err }).toEqual({ exit: 0, err: expect.not.stringContaining('error: ') });
  expect(out).toContain(`${TEMPLATE}: to apply, the template of v4.19, v4.20\n`);
  expect(out.split('\n').slice(-4)).toEqual([V19, V20, TEMPLATE, '']);
  expect(read(TEMPLATE)).toBe(
    BASIC.replace('      - name: etcd.v1.1.0\n        replaces: etcd.v1.0.0\n', '')
      .replace(
        '        replaces: etcd.v1.1.0\n',
        '        replaces: etcd.v1.0.0\n        skips:\n        - etcd.v1.1.0\n',
      )
      .replace('  - schema: olm.bundle\n    image: quay.io/org/etcd:v1.1.0\n', ''),
  );
  // The gate agrees: nothing has drifted.
  repository.git('commit', '--quiet', '--all', '--message', 'apply');
  const checked = await portolan(
    repository.directory,
    ...['check', '--base', 'HEAD~1', '--head', 'HEAD', '--format', 'json'],
  );
  const { findings } = JSON.parse(checked.out);
  expect(findings.filter(({ rule }: { rule: string }) => rule.startsWith('drift/'))).toEqual([]);
  expect(await portolan(repository.directory, 'advisory', 'apply', 'A')).toMatchObject({
    exit: 0,
    err: '',
  });
});

test('--dry-run shows the edit of the template; --json names it', async () => {
  const files = { [CI]: mapping('v4.19', 'v4.20'), [TEMPLATE]: BASIC };
  const dry = await advised(files, YANK, '--dry-run');
  expect(dry.out).toContain(`--- a/${TEMPLATE}\n`);
  expect(dry.read(TEMPLATE)).toBe(BASIC);
  const { out } = await advised(files, YANK, '--json');
  expect(JSON.parse(out).templates).toEqual([
    { path: TEMPLATE, schema: 'olm.template.basic', catalogs: ['v4.19', 'v4.20'] },
  ]);
});

test('without a mapping, a template belongs to the catalogs that say the same and whose version its path does not deny', async () => {
  const entries = [
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    {
      schema: 'olm.channel',
      package: 'etcd',
      name: 'stable',
      entries: [
        { name: 'etcd.v1.0.0' },
        { name: 'etcd.v1.1.0', replaces: 'etcd.v1.0.0' },
        { name: 'etcd.v1.2.0', replaces: 'etcd.v1.1.0' },
      ],
    },
    ...VERSIONS.map((version) => ({ schema: 'olm.bundle', image: image(version) })),
  ];
  const json = `${JSON.stringify({ schema: 'olm.template.basic', entries }, null, 2)}\n`;
  const files = {
    'templates/v4.19.json': json,
    'templates/v4.20.yaml': BASIC,
    'templates/v4.18.yaml': BASIC,
  };
  const { exit, err, out, read } = await advised(files, YANK);
  expect({ exit, err }).toEqual({ exit: 0, err: expect.not.stringContaining('error: ') });
  expect(out).toContain('templates/v4.19.json: to apply, the template of v4.19\n');
  expect(out).toContain('templates/v4.20.yaml: to apply, the template of v4.20\n');
  expect(read('templates/v4.18.yaml')).toBe(BASIC);
  const { entries: after } = JSON.parse(read('templates/v4.19.json'));
  expect(after[1].entries[1]).toEqual({
    name: 'etcd.v1.2.0',
    replaces: 'etcd.v1.0.0',
    skips: ['etcd.v1.1.0'],
  });
  expect(after).toHaveLength(4);
});

test('deprecations are written to the template, too', async () => {
  const files = { [CI]: mapping('v4.19', 'v4.20'), [TEMPLATE]: BASIC };
  const { exit, err, read } = await advised(files, "versions: ['1.1.0']\naction: deprecate\n");
  expect({ exit, err }).toEqual({ exit: 0, err: expect.not.stringContaining('error: ') });
  expect(read(TEMPLATE).startsWith(BASIC.slice(0, BASIC.indexOf('      - name: etcd.v1.2.0')))).toBe(true);
  expect(read(TEMPLATE)).toContain(
    '  - entries:\n    - message: Use 1.2.0\n      reference:\n        name: etcd.v1.1.0\n        schema: olm.bundle\n    package: etcd\n    schema: olm.deprecations\n',
  );
});

test.each<[what: string, files: Files, more: string, message: string, fix: string]>([
  [
    'a semver template',
    { 'operators/etcd/catalog-templates/semver.yaml': SEMVER },
    YANK,
    'operators/etcd/catalog-templates/semver.yaml: warning: v4.19, v4.20 are rendered from this template (olm.semver), which undoes the edit when it is rendered again; Portolan does not edit it, because a semver template cannot have these edges (advisory/template)\n',
    `portolan opm alpha convert-template basic -o yaml ${V19} > FILE, and render v4.19, v4.20 from FILE`,
  ],
  [
    'a substitutes template',
    { 'template.yaml': BASIC.replace('template.basic', 'template.substitutes') },
    YANK,
    'template.yaml: warning: v4.19, v4.20 are rendered from this template (olm.template.substitutes)',
    'portolan opm alpha convert-template substitutes',
  ],
  [
    'a basic template that has drifted',
    {
      [CI]: mapping('v4.19', 'v4.20'),
      [TEMPLATE]: BASIC.replace('replaces: etcd.v1.1.0', 'skipRange: <1.2.0'),
    },
    YANK,
    'because it differs from catalog "v4.19": the entry "etcd.v1.2.0" in channel "stable" has different upgrade edges',
    'portolan opm alpha convert-template basic',
  ],
  [
    'a template of a catalog that the advisory leaves out',
    { [CI]: mapping('v4.19', 'v4.20'), [TEMPLATE]: BASIC },
    `${YANK}catalogs: [v4.20]\n`,
    'because catalog "v4.19" needs another edit than "v4.20"',
    `portolan opm alpha convert-template basic -o yaml ${V20} > FILE, and render v4.20 from FILE`,
  ],
  [
    'a template of which nothing is left',
    { [CI]: mapping('v4.19', 'v4.20'), [TEMPLATE]: BASIC },
    "versions: ['>=1.0.0']\naction: yank\nwithoutUpgradePath: [etcd.v1.0.0, etcd.v1.1.0, etcd.v1.2.0]\n",
    'because no version is left',
    `remove ${TEMPLATE}, and its mapping to v4.19, v4.20`,
  ],
])('%s is named with the fix, and the catalogs are edited', async (_, files, more, message, fix) => {
  const { exit, err, repository } = await advised(files, more);
  expect(err).toContain(message);
  expect(err).toContain(`\n    fix: ${fix}`);
  expect(err.split('advisory/template')).toHaveLength(2);
  expect(exit).toBe(1);
  const changed = repository.git('diff', '--name-only').split('\n');
  expect(changed).toContain(V20);
  expect(changed.some((path) => !path.startsWith('catalogs/'))).toBe(false);
});

test('templates of other packages, of tests and of no catalog are nobody’s concern', async () => {
  const other = BASIC.replaceAll('etcd', 'other');
  const files = {
    'operators/other/catalog-templates/basic.yaml': other,
    'operators/etcd/catalog-templates/other.yaml': other,
    'template.yaml': SEMVER.replaceAll('quay.io/org', 'quay.io/other'),
    'testdata/template.yaml': SEMVER,
    'broken.yaml': 'schema: olm.template.basic\nentries: 7\n',
    'words.yaml': '# olm.template.basic\n- x\n',
  };
  const { exit, err } = await advised(files, YANK);
  expect({ exit, err }).toEqual({ exit: 0, err: expect.not.stringContaining('broken.yaml') });
});

test('deprecations in a file that no template renders stay', async () => {
  const { exit, err } = await advised(
    {
      'template.yaml': SEMVER,
      'catalogs/v4.19/etcd/deprecations.yaml':
        'schema: olm.deprecations\npackage: etcd\nentries:\n- reference: {schema: olm.bundle, name: etcd.v1.0.0}\n  message: old\n',
    },
    "versions: ['1.1.0']\naction: redirect\nto: {version: 1.2.0}\ncatalogs: [v4.19]\n",
  );
  expect({ exit, err }).toMatchObject({ exit: 0 });
});
