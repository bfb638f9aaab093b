/** What cannot be read is an error, and hides nothing else: the effect of all the rest on clusters is told. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { catalogOf, documents, operator } from '../../fakes/gate.ts';
import { type Files, makeRepository } from '../../fakes/repository.ts';
import { portolan } from '../../fakes/terminal.ts';

const fileOf = (name: string, catalog = 'v4.20'): string => `catalogs/${catalog}/${name}/catalog.yaml`;
const TWO = ['1.0.0', '1.1.0'];
const BASE: Files = {
  ...Object.fromEntries(
    ['v4.19', 'v4.20'].flatMap((catalog) => [
      [fileOf('etcd', catalog), catalogOf('etcd', TWO)],
      [fileOf('other', catalog), catalogOf('other', TWO)],
    ]),
  ),
  'operators/other/ci.yaml': 'reviewers: [anna]\n',
};

/** Takes the newest version of etcd from clusters of v4.20. */
const HARM: Files = { [fileOf('etcd')]: catalogOf('etcd', ['1.0.0']) };

interface Checked {
  readonly verdict: string;
  readonly graph: readonly string[];
  readonly rules: readonly string[];
  readonly messages: readonly string[];
  readonly unchecked: readonly { readonly what: string; readonly why: string }[];
}

async function checked(change: Files, base: Files = BASE): Promise<Checked> {
  const made = makeRepository();
  onTestFinished(made.remove);
  const from = made.commit(base);
  const head = made.commit(change, { parents: [from] });
  const words = ['check', '--base', from, '--head', head, '--format', 'json'];
  const { out } = await portolan(made.directory, ...words);
  const { verdict, findings, unchecked } = JSON.parse(out);
  const errors: { rule: string; package?: string; message: string }[] = findings.filter(
    ({ severity }: { severity: string }) => severity === 'error',
  );
  const isGraph = ({ rule }: { rule: string }): boolean => rule.startsWith('graph/');
  return {
    verdict,
    graph: [...new Set(errors.filter(isGraph).map(({ package: name }) => name ?? ''))],
    rules: errors.filter((one) => !isGraph(one)).map(({ rule }) => rule),
    messages: errors.map(({ message }) => message),
    unchecked,
  };
}

/** Edits that nobody can read, with the rule that says so. */
const DEFECTS: readonly (readonly [what: string, change: Files, rule: string])[] = [
  ['a catalog file that is not YAML', { [fileOf('other')]: 'a: [' }, 'fbc/'],
  ['a catalog file that is a link', { [fileOf('other')]: { mode: '120000', text: '../x' } }, 'path/mode'],
  ['an empty document', { 'catalogs/v4.20/other/more.yaml': '# nothing\n' }, 'fbc/schema-missing'],
  ['a new package that is not YAML', { [fileOf('fresh')]: '{' }, 'fbc/'],
  [
    'a settings file with a repeated key',
    { 'operators/other/ci.yaml': 'reviewers: []\nreviewers: []\n' },
    'settings/',
  ],
  ['a name with invisible characters', { [`catalogs/v4.20/other/a\u200b.yaml`]: 'schema: x\n' }, 'path/name'],
  [
    'a catalog whose name is none',
    { 'catalogs/v 1/other/catalog.yaml': catalogOf('other', TWO) },
    'path/name',
  ],
  ['two files that are one on some systems', { 'catalogs/v4.20/OTHER/x.yaml': 'schema: x\n' }, 'path/'],
];

describe.each(DEFECTS)('%s', (_, change, rule) => {
  test('does not hide what becomes of clusters', async () => {
    const { verdict, graph, rules } = await checked({ ...change, ...HARM });
    expect(verdict).toBe('fail');
    expect(graph).toEqual(['etcd']);
    expect(rules.filter((one) => one.startsWith(rule)).length).toBeGreaterThan(0);
  });

  test('is no error of the upgrade graph', async () => {
    const { verdict, graph } = await checked(change);
    expect({ verdict, graph }).toEqual({ verdict: 'fail', graph: [] });
  });
});

test('the report names the packages of which nobody can tell, and each error once', async () => {
  const { unchecked, messages } = await checked({ [fileOf('other')]: 'a: [', ...HARM });
  expect(unchecked).toContainEqual({ what: 'other in v4.20', why: `${fileOf('other')} cannot be read` });
  expect(new Set(messages).size).toBe(messages.length);
  // Without the defect, nothing is left out.
  expect((await checked(HARM)).unchecked).toEqual([]);
});

test('a folder that packages share: the packages of other folders are compared', async () => {
  const policy =
    "apiVersion: portolan/v1alpha1\nkind: Portolan\nlayout: {catalog: ['catalogs/{catalog}/**']}\n";
  const base = { ...BASE, '.github/portolan.yaml': policy };
  const { graph, unchecked } = await checked({ [fileOf('other')]: 'a: [', ...HARM }, base);
  expect(graph).toEqual(['etcd']);
  expect(unchecked.map(({ what }) => what)).toContain('other in v4.20');
});

test('a package that cannot be read in one catalog is not taken to be missing there', async () => {
  const deprecated = documents({
    schema: 'olm.deprecations',
    package: 'other',
    entries: [{ reference: { schema: 'olm.package' }, message: 'use etcd' }],
  });
  const change = { [fileOf('other', 'v4.19')]: catalogOf('other', TWO) + deprecated };
  expect((await checked({ ...change, [fileOf('other')]: 'a: [' })).graph).toEqual([]);
  // Where it is gone, clusters that come from v4.19 lose it.
  expect((await checked({ ...change, [fileOf('other')]: null })).graph).toEqual(['other']);
});

test('what was wrong with it before is not told of the file that cannot be read', async () => {
  const base = {
    ...BASE,
    [fileOf('other')]: catalogOf('other', TWO).replace(/"replaces":"[^"]*"/, '"skips":[]'),
  };
  expect((await checked({ [fileOf('other')]: 'a: [' }, base)).rules).toEqual(['fbc/yaml']);
  const worse = `${base[fileOf('other')]}\n`;
  expect((await checked({ [fileOf('other')]: worse }, base)).rules).toEqual(['channel/head']);
});

test('a manifest that cannot be read hides nothing else of its package, and its repair changes no image', async () => {
  const invalid = { type: 'olm.bundle.object', value: { data: 'kind: ClusterServiceVersion' } };
  const written = (versions: readonly string[], ...more: object[]): Files => ({
    [fileOf('etcd')]: operator('etcd', versions, ...more),
  });
  const base = { ...BASE, ...written(TWO, invalid) };
  const harmed = await checked(written(['1.0.0'], invalid), base);
  expect(harmed).toMatchObject({ verdict: 'fail', graph: ['etcd'], unchecked: [] });
  expect(harmed.rules).toEqual(['fbc/bundle-object']);
  // Whatever else changes, the catalog cannot be loaded.
  const added = await checked(written([...TWO, '1.2.0'], invalid), base);
  expect(added).toMatchObject({ verdict: 'fail', graph: [] });
  expect(new Set(added.rules)).toEqual(new Set(['fbc/bundle-object']));
  const manifest = { type: 'olm.bundle.object', value: { data: 'e30=' } };
  expect(await checked(written(TWO, manifest), base)).toMatchObject({ verdict: 'pass', messages: [] });
});

test('a blob that the base branch has as invalid hides nothing else of its file', async () => {
  const invalid = documents({
    schema: 'olm.bundle',
    package: 'etcd',
    name: 'etcd.v0.9.0',
    relatedImages: 'x',
  });
  const written = (versions: readonly string[], more = invalid): Files => ({
    [fileOf('etcd')]: catalogOf('etcd', versions) + more,
  });
  const base = { ...BASE, ...written(TWO) };
  expect(await checked(written(['1.0.0']), base)).toMatchObject({ verdict: 'fail', graph: ['etcd'] });
  const added = await checked(written([...TWO, '1.2.0']), base);
  expect(added).toMatchObject({ verdict: 'fail', graph: [], rules: ['fbc/field-type'] });
  // What a new error hides may have been read before.
  const worse = await checked(written(['1.0.0'], `${invalid}${invalid.replace('0.9.0', '1.1.0')}`), base);
  expect(worse).toMatchObject({ verdict: 'fail', graph: [] });
  expect(worse.unchecked).toContainEqual({ what: 'etcd in v4.20', why: `${fileOf('etcd')} cannot be read` });
});

test('a change beyond the limits is not read, and the report says so', async () => {
  const policy = 'apiVersion: portolan/v1alpha1\nkind: Portolan\nlimits: {files: 1}\n';
  const { unchecked, rules } = await checked(
    { ...HARM, [fileOf('other')]: 'x' },
    { ...BASE, '.github/portolan.yaml': policy },
  );
  expect(rules).toEqual(['path/limits']);
  expect(unchecked).toEqual([{ what: 'the catalogs', why: 'the pull request changes more than 1 files' }]);
});
