import { expect, onTestFinished, test, vi } from 'vitest';
import { checkPullRequest } from '../../../../pipeline/check/check.ts';
import { openRepository } from '../../../../pipeline/git/repository.ts';
import { BASE, bundle, catalogOf, documents } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const CI = 'operators/etcd/ci.yaml';
const TEMPLATE = 'operators/etcd/catalog-templates/basic.yaml';
const mapping = (...catalogs: string[]): string =>
  `reviewers: [bob]
fbc:
  enabled: true
  catalog_mapping:
  - template_name: basic.yaml
    type: olm.template.basic
    catalog_names: [${catalogs.join(', ')}]
`;

/** The template of which catalogs of the versions are rendered. */
function template(...versions: string[]): string {
  const entries = catalogOf('etcd', versions)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map((blob) => (blob.schema === 'olm.bundle' ? { schema: blob.schema, image: blob.image } : blob));
  return `${JSON.stringify({ schema: 'olm.template.basic', entries })}\n`;
}

const TREE: Files = {
  ...BASE,
  [CI]: mapping('v4.19', 'v4.20'),
  [TEMPLATE]: template('1.0.0', '1.1.0'),
};

async function drift(
  base: Files,
  head: Files,
): Promise<{ findings: string[]; known: string[]; verdict: string }> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const before = repository.commit(base);
  const after = repository.commit(head, { parents: [before] });
  const { out } = await portolan(
    repository.directory,
    ...['check', '--base', before, '--head', after, '--format', 'json'],
  );
  const report = JSON.parse(out);
  const texts = (
    findings: { rule: string; severity: string; message: string; location: { file: string } }[],
  ) =>
    findings
      .filter(({ rule }) => rule.startsWith('drift/'))
      .map(({ severity, message, location }) => `${severity} ${location.file}: ${message}`);
  return { findings: texts(report.findings), known: texts(report.known), verdict: report.verdict };
}

const CATALOGS = ['catalogs/v4.19/etcd/catalog.yaml', 'catalogs/v4.20/etcd/catalog.yaml'];
const catalogs = (text: string): Files => Object.fromEntries(CATALOGS.map((path) => [path, text]));

test('catalogs that are changed with their template have not drifted', async () => {
  const versions = ['1.0.0', '1.1.0', '1.2.0'];
  const head = { [TEMPLATE]: template(...versions), ...catalogs(catalogOf('etcd', versions)) };
  expect(await drift(TREE, head)).toMatchObject({ findings: [], known: [] });
});

test('one that is forgotten has, wherever it was forgotten', async () => {
  const versions = ['1.0.0', '1.1.0', '1.2.0'];
  const [, second = ''] = CATALOGS;
  expect(
    await drift(TREE, { [TEMPLATE]: template(...versions), [second]: catalogOf('etcd', versions) }),
  ).toEqual({
    verdict: 'pass',
    findings: [
      `warning ${TEMPLATE}: ${TEMPLATE} and its rendered catalog differ: the entry "etcd.v1.2.0" in channel "stable" is only in the template`,
    ],
    known: [],
  });
  const text = `${TEMPLATE} and its rendered catalog differ: the entry "etcd.v1.2.0" in channel "stable" is only in the catalog`;
  const forgotten = await drift(TREE, { [second]: catalogOf('etcd', versions) });
  expect(forgotten.findings).toEqual([`warning ${TEMPLATE}: ${text}`]);
  // Who comes later is told that it was so before.
  const later = await drift(
    { ...TREE, [second]: catalogOf('etcd', versions) },
    { [CI]: `${mapping('v4.19', 'v4.20')}# x\n` },
  );
  expect(later).toMatchObject({ findings: [], known: [`warning ${TEMPLATE}: ${text}`] });
});

test('what is known of one catalog is new in another', async () => {
  const [first = '', second = ''] = CATALOGS;
  const more = catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']);
  const { findings } = await drift({ ...TREE, [first]: more }, { [second]: more });
  expect(findings).toEqual([
    expect.stringContaining('"etcd.v1.2.0" in channel "stable" is only in the catalog'),
  ]);
});

test('what is known of two catalogs is known of the one that keeps it', async () => {
  const more = catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']);
  const [first = ''] = CATALOGS;
  const { findings } = await drift(
    { ...TREE, ...catalogs(more) },
    { [first]: catalogOf('etcd', ['1.0.0', '1.1.0']) },
  );
  expect(findings).toEqual([]);
});

test('what differs is named: defaults, channels, edges, bundles', async () => {
  const blobs = (more: object, entries: readonly object[], ...bundles: object[]): string =>
    documents(
      { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable', ...more },
      { schema: 'olm.channel', package: 'etcd', name: 'stable', entries },
      ...bundles,
    );
  const both = [{ name: 'etcd.v1.0.0' }, { name: 'etcd.v1.1.0', replaces: 'etcd.v1.0.0' }];
  const bundles = [bundle('etcd', '1.0.0'), bundle('etcd', '1.1.0')];
  for (const [text, said] of [
    [
      blobs({ defaultChannel: 'beta' }, both, ...bundles),
      /the default channel is "stable" in the template, "beta"/,
    ],
    [catalogOf('etcd', ['1.0.0', '1.1.0'], 'beta'), /the default channel/],
    [
      `${blobs({}, both, ...bundles)}${documents({ schema: 'olm.channel', package: 'etcd', name: 'more', entries: both })}`,
      /channel "more" is only in the catalog/,
    ],
    [
      blobs({}, [both[0] ?? {}, { name: 'etcd.v1.1.0', skipRange: '<1.1.0' }], ...bundles),
      /the entry "etcd.v1.1.0" in channel "stable" has different upgrade edges/,
    ],
    [
      blobs({}, both, bundle('etcd', '1.0.0'), bundle('etcd', '1.1.0', { image: 'quay.io/org/other:v1' })),
      /the bundle "quay.io\/org\/etcd@sha256:7fbd[0-9a-f]+" is only in the template/,
    ],
  ] as const) {
    const { findings } = await drift(TREE, catalogs(text));
    expect(findings).toEqual([expect.stringMatching(said)]);
  }
});

test('catalogs that are mapped and missing, or there and not mapped', async () => {
  const { findings } = await drift(TREE, { [CI]: mapping('v4.20', 'v4.22') });
  expect(findings).toEqual([
    `warning ${CI}: catalog "v4.19" has package "etcd", but no template has it in its mapping`,
    `warning ${CI}: the template "basic.yaml" is mapped to catalog "v4.22", which has no package "etcd"`,
  ]);
});

test('a mapping of a template that does not exist', async () => {
  const { findings } = await drift(TREE, { [TEMPLATE]: null });
  expect(findings).toEqual([
    `warning ${CI}: the template "operators/etcd/catalog-templates/basic.yaml" does not exist`,
  ]);
});

test('116: a pull request cannot take away what a catalog is compared with, and change the catalog', async () => {
  const [path = ''] = CATALOGS;
  const text = 'the entry "etcd.v1.2.0" in channel "stable" is only in the catalog';
  const changed = { [path]: catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };
  const differs = `warning ${TEMPLATE}: ${TEMPLATE} and its rendered catalog differ: ${text}`;
  const lost = `warning ${path}: ${TEMPLATE} no longer exists as a basic template, and no other one gives its rendered catalog: ${text}`;
  const unmapped = 'reviewers: [bob]\n';
  const moved = 'operators/etcd/old/basic.yaml';
  const own = template('1.0.0', '1.1.0');
  for (const [head, said] of [
    [{ [CI]: unmapped }, differs],
    [{ [CI]: mapping('v4.20') }, differs],
    [{ [CI]: mapping('v4.19', 'v4.20').replace('template.basic', 'semver') }, differs],
    [{ [CI]: unmapped, [TEMPLATE]: null }, lost],
    [{ [TEMPLATE]: null }, lost],
    [{ [CI]: unmapped, [TEMPLATE]: null, [moved]: own }, lost],
    [{ [TEMPLATE]: own.replace('template.basic', 'semver') }, lost],
  ] as const) {
    const { findings } = await drift(TREE, { ...head, ...changed });
    expect(findings.filter((one) => one.includes(text))).toEqual([said]);
    const alone = (await drift(TREE, head)).findings;
    expect(alone.filter((one) => one.includes('rendered catalog'))).toEqual([]);
  }
});

test.each(['sources: []', "sources: [{path: '{dir}/OWNERS', format: prow}]"])(
  '150: ci.yaml maps templates also where it does not name owners: %s',
  async (sources) => {
    const [path = ''] = CATALOGS;
    const tree = {
      ...TREE,
      '.github/portolan.yaml': `apiVersion: portolan/v1alpha1\nkind: Portolan\nowners: {${sources}}\n`,
    };
    const changed = { [path]: catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };
    for (const head of [{}, { [CI]: null }, { [CI]: 'fbc: {enabled: true}\n' }])
      expect((await drift(tree, { ...changed, ...head })).findings).toEqual([
        expect.stringContaining(`${TEMPLATE} and its rendered catalog differ`),
      ]);
  },
);

test('145: each changed template is read as often for many deleted ones as for one', async () => {
  const timesRead = async (count: number): Promise<number> => {
    const names = Array.from({ length: count }, (_, i) => `p${i}`);
    const made = makeRepository();
    onTestFinished(made.remove);
    const all = (of: (name: string) => Files): Files => Object.assign({}, ...names.map(of));
    const templateOf = (name: string, versions: string[]): string =>
      template(...versions).replaceAll('etcd', name);
    const base = made.commit({
      ...BASE,
      ...all((name) => ({
        [`operators/${name}/ci.yaml`]: mapping('v4.20'),
        [`operators/${name}/catalog-templates/basic.yaml`]: templateOf(name, ['1.0.0']),
        [`catalogs/v4.20/${name}/catalog.yaml`]: catalogOf('etcd', ['1.0.0']).replaceAll('etcd', name),
      })),
    });
    const moved = all((name) => ({
      [`operators/${name}/moved.yaml`]: templateOf(name, ['1.0.0', '1.1.0']),
    }));
    const changes = all((name) => ({
      [`operators/${name}/ci.yaml`]: 'reviewers: [bob]\n',
      [`operators/${name}/catalog-templates/basic.yaml`]: null,
      [`catalogs/v4.20/${name}/catalog.yaml`]: catalogOf('etcd', ['1.0.0', '1.1.0']).replaceAll('etcd', name),
    }));
    const head = made.commit({ ...changes, ...moved }, { parents: [base] });
    const repository = await openRepository(made.directory);
    onTestFinished(() => repository.close());
    const reads = vi.spyOn(repository.objects, 'read');
    const { findings } = await checkPullRequest(repository, { base, head, today: '2026-01-01' });
    expect(findings.filter(({ rule }) => rule === 'drift/template')).toEqual([]);
    const ids = new Set(Object.keys(moved).map((path) => made.git('rev-parse', `${head}:${path}`).trim()));
    return reads.mock.calls.filter(([id]) => ids.has(id)).length / count;
  };
  expect(await timesRead(20)).toBe(await timesRead(1));
});

test('a catalog is what a moved or another template gives', async () => {
  const versions = ['1.0.0', '1.1.0', '1.2.0'];
  const all = catalogs(catalogOf('etcd', versions));
  const renamed = mapping('v4.19', 'v4.20').replace('basic.yaml', 'new.yaml');
  const folder = 'operators/etcd/catalog-templates';
  for (const head of [
    { [CI]: renamed, [TEMPLATE]: null, [`${folder}/new.yaml`]: template(...versions) },
    { [CI]: renamed, [`${folder}/new.yaml`]: template(...versions) },
    { [CI]: 'reviewers: [bob]\n', [TEMPLATE]: null, 'operators/etcd/t.yaml': template(...versions) },
    { [CI]: 'reviewers: [bob]\n', [TEMPLATE]: template(...versions) },
  ])
    expect((await drift(TREE, { ...head, ...all })).findings).toEqual([]);
});

test('a template that no mapping names cannot be deleted with a change of its catalog', async () => {
  const tree: Files = { ...TREE, [CI]: 'reviewers: [bob]\n' };
  const [path = ''] = CATALOGS;
  const { findings } = await drift(tree, { [TEMPLATE]: null, [path]: catalogOf('etcd', ['1.0.0']) });
  expect(findings).toEqual([expect.stringContaining(`${TEMPLATE} no longer exists as a basic template`)]);
  expect((await drift(tree, { [TEMPLATE]: null })).findings).toEqual([]);
});

test('text that is not a mapping, or leads elsewhere, is nobody’s template', async () => {
  for (const text of [
    'fbc: {catalog_mapping: [1, {template_name: ../../quay/x.yaml, type: olm.template.basic, catalog_names: [v4.20]}]}',
    'fbc: {catalog_mapping: {}}',
    'fbc: 1',
  ]) {
    const { findings } = await drift(TREE, { [CI]: `reviewers: [bob]\n${text}\n` });
    expect(findings.filter((one) => one.includes('differ'))).toEqual([]);
  }
});

test('a catalog is not read again to compare it with its template', async () => {
  const versions = ['1.0.0', '1.1.0', '1.2.0'];
  const made = makeRepository();
  onTestFinished(made.remove);
  const base = made.commit(TREE);
  const [changed = '', untouched = ''] = CATALOGS;
  const files = { [TEMPLATE]: template(...versions), [changed]: catalogOf('etcd', versions) };
  const head = made.commit(files, { parents: [base] });
  const repository = await openRepository(made.directory);
  onTestFinished(() => repository.close());
  const reads = vi.spyOn(repository.objects, 'read');
  const { findings } = await checkPullRequest(repository, { base, head, today: '2026-01-01' });
  expect(findings.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('only in the template'),
  );
  const timesRead = (commit: string, path: string): number => {
    const id = made.git('rev-parse', `${commit}:${path}`).trim();
    return reads.mock.calls.filter(([read]) => read === id).length;
  };
  // Each for what it holds and for the layout or the past, and not for the comparison.
  expect([timesRead(head, changed), timesRead(base, untouched)]).toEqual([2, 2]);
});

test('a template beside its catalog needs no mapping: it is its template where both are the same on the base branch', async () => {
  const layout = "layout: {catalog: '{catalog:v*.*}/catalog/{package}/catalog.yaml'}";
  const [old, both] = [['1.0.0'], ['1.0.0', '1.1.0']];
  const files = (minor: string, ofTemplate: string[], ofCatalog: string[]): Files => ({
    [`${minor}/catalog-template.yaml`]: template(...ofTemplate),
    [`${minor}/catalog/etcd/catalog.yaml`]: catalogOf('etcd', ofCatalog),
  });
  const policy = `apiVersion: portolan/v1alpha1\nkind: Portolan\n${layout}\n`;
  const tree: Files = {
    '.github/portolan.yaml': policy,
    ...files('v4.19', old, old),
    ...files('v4.20', old, old),
  };
  const found = async (head: Files, base: Files = tree): Promise<string[]> =>
    (await drift(base, head)).findings;
  const only = (path: string, of: string): string =>
    `warning ${path}: v4.20/catalog-template.yaml and its rendered catalog differ: the entry "etcd.v1.1.0" in channel "stable" is only in the ${of}`;
  const path = 'v4.20/catalog-template.yaml';
  expect(await found(files('v4.20', both, old))).toEqual([only(path, 'template')]);
  expect(await found(files('v4.20', old, both))).toEqual([only(path, 'catalog')]);
  expect(await found(files('v4.20', both, both))).toEqual([]);
  // On the base branch, they are not the same: nobody knows whether the one is rendered from the other.
  expect(await found(files('v4.20', both, old), { ...tree, ...files('v4.20', old, both) })).toEqual([]);
});

test('a template in its package’s folder needs no mapping either, if it changes with its catalog', async () => {
  const [old, both] = [
    ['1.0.0', '1.1.0'],
    ['1.0.0', '1.1.0', '1.2.0'],
  ];
  const tree: Files = { ...TREE, [CI]: 'reviewers: [bob]\n' };
  const [, path = ''] = CATALOGS;
  const found = async (ofTemplate: string[], ofCatalog: string[]): Promise<number> =>
    (await drift(tree, { [TEMPLATE]: template(...ofTemplate), [path]: catalogOf('etcd', ofCatalog) }))
      .findings.length;
  expect(await found([...both, '1.3.0'], both)).toBe(2);
  expect(await found(both, both)).toBe(1);
  // The other catalog, which is of the same template, is left behind in both: with it, all is well.
  const all = catalogs(catalogOf('etcd', both));
  expect((await drift(tree, { [TEMPLATE]: template(...both), ...all })).findings).toEqual([]);
  expect((await drift(tree, all)).findings).toEqual([]);
  expect(await found(old, old)).toBe(0);
});

test('catalogs that were alike, and of one template, get what it gets together', async () => {
  const layout = "layout: {catalog: ['fbc/{package}/**', 'fbc-old/{package}/**', 'other/{package}/**']}";
  const path = 'templates/basic.yaml';
  const [old, both] = [['1.0.0'], ['1.0.0', '1.1.0']];
  const files = (ofTemplate: string[], ofNew: string[], ofOld: string[]): Files => ({
    [path]: template(...ofTemplate),
    'fbc/etcd/catalog.yaml': catalogOf('etcd', ofNew),
    'fbc-old/etcd/catalog.yaml': catalogOf('etcd', ofOld),
  });
  const tree: Files = {
    '.github/portolan.yaml': `apiVersion: portolan/v1alpha1\nkind: Portolan\n${layout}\n`,
    ...files(old, old, old),
    'other/etcd/catalog.yaml': catalogOf('etcd', ['0.9.0']),
  };
  const found = async (head: Files): Promise<string[]> =>
    (await drift(tree, head)).findings.filter((one) => one.includes('differ'));
  expect(await found(files(both, both, old))).toEqual([
    `warning ${path}: ${path} and its rendered catalog differ: the entry "etcd.v1.1.0" in channel "stable" is only in the template`,
  ]);
  const before = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`a/${i}.yaml`, `a: ${i}\n`]));
  expect(await found({ ...before, ...files(both, both, old) })).toHaveLength(1);
  expect(await found(files(both, both, both))).toEqual([]);
  // Both are rendered later.
  expect(await found(files(both, old, old))).toEqual([]);
  // Other catalogs of the package get it now.
  const other = { 'other/etcd/catalog.yaml': catalogOf('etcd', ['0.9.0', '1.1.0']) };
  // The same finding of both catalogs is one.
  expect(await found({ ...files(both, old, old), ...other })).toHaveLength(1);
  const unrelated = { 'other/quay/catalog.yaml': catalogOf('quay', ['1.0.0']) };
  expect(await found({ ...files(both, old, old), ...unrelated })).toEqual([]);
  // Of a template that does not change, nobody knows whether it is one of these catalogs.
  expect(await found(files(old, both, old))).toEqual([]);
});
