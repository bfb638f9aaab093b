import { expect, onTestFinished, test, vi } from 'vitest';
import { type Change, changeOf } from '../../../../catalog/olm/foresight/world.ts';
import { RULES } from '../../../../catalog/rules/index.ts';
import { ownSeverity } from '../../../../catalog/rules/rule.ts';
import { Undecided } from '../../../../catalog/undecided.ts';
import { foreseenIn } from '../../../../pipeline/check/content/catalog-rules.ts';
import { catalogFrom } from '../../../catalog/olm/universe.ts';
import { bundle, catalogOf, documents } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const FILE = 'catalogs/v4.20/etcd/catalog.yaml';

interface Written {
  readonly name: string;
  readonly replaces?: string;
  readonly skips?: readonly string[];
}

function catalog(...entries: readonly Written[]): string {
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'etcd', name: 'stable', entries },
    ...entries.map(({ name }) => bundle('etcd', name.replace('etcd.v', ''))),
  );
}

/** Entries in which 1.0.0 is stuck: its way on is both replaced and skipped. */
const TRAP: readonly Written[] = [
  { name: 'etcd.v1.0.0' },
  { name: 'etcd.v1.1.0', skips: ['etcd.v1.0.0'] },
  { name: 'etcd.v1.2.0', replaces: 'etcd.v1.1.0', skips: ['etcd.v1.1.0'] },
];

async function stuck(
  before: readonly Written[],
  after: readonly Written[],
): Promise<{ verdict: string; findings: string[][]; known: string[][] }> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const base = repository.commit({ [FILE]: catalog(...before) });
  const head = repository.commit({ [FILE]: catalog(...after) }, { parents: [base] });
  const { out } = await portolan(
    repository.directory,
    ...['check', '--base', base, '--head', head, '--format', 'json'],
  );
  const { verdict, findings, known } = JSON.parse(out);
  const told = (all: { rule: string; installed: string[] }[]): string[][] =>
    all.filter(({ rule }) => rule === 'graph/stranded-v0').map(({ installed }) => installed);
  return { verdict, findings: told(findings), known: told(known) };
}

test('who was stuck before is no news when the head moves on', async () => {
  const [first, second, third] = TRAP as [Written, Written, Written];
  const moved = [
    first,
    second,
    { name: third.name },
    { name: 'etcd.v1.3.0', replaces: 'etcd.v1.1.0', skips: ['etcd.v1.1.0', 'etcd.v1.2.0'] },
  ];
  expect(await stuck(TRAP, moved)).toEqual({ verdict: 'pass', findings: [], known: [['1.0.0']] });
});

test('who gets stuck is told once, whether the repair is one of the catalog or of the change', async () => {
  const [a, b] = [{ name: 'etcd.v1.6.1' }, { name: 'etcd.v1.7.0', skips: ['etcd.v1.6.1'] }];
  const before = [
    a,
    b,
    { name: 'etcd.v1.8.0', replaces: b.name },
    { name: 'etcd.v1.8.1', replaces: 'etcd.v1.8.0' },
  ];
  const after = [
    a,
    b,
    { name: 'etcd.v1.8.1', skips: [b.name] },
    { name: 'etcd.v1.9.0', skips: ['etcd.v1.8.1'] },
  ];
  expect(await stuck(before, after)).toEqual({ verdict: 'fail', findings: [], known: [] });
});

test('who gets stuck is news beside who was', async () => {
  const next = [...TRAP, { name: 'etcd.v1.3.0', replaces: 'etcd.v1.2.0', skips: ['etcd.v1.2.0'] }];
  const { verdict, findings } = await stuck(TRAP, next);
  expect(verdict).toBe('fail');
  expect(findings).toEqual([]);
});

/** A change of nothing in a catalog with a trap. */
async function unchanged(): Promise<Change> {
  const entries = TRAP.map(({ name, ...more }) => ({ ...more, name }));
  const versions = TRAP.map(({ name }) => name.replace('etcd.v', ''));
  const state = {
    name: 'cat',
    catalog: await catalogFrom({ etcd: { versions, channels: { stable: entries } } }),
  };
  return await changeOf(state, state);
}

test('another image that a head does not list is news beside one that it did not list before, and its digest is not', async () => {
  const using = (...images: readonly string[]): string => {
    const containers = images.map((image, i) => ({ name: `c${i}`, image }));
    const csv = {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'ClusterServiceVersion',
      metadata: { name: 'etcd.v1.0.0' },
      spec: {
        install: {
          strategy: 'deployment',
          spec: { deployments: [{ name: 'etcd', spec: { template: { spec: { containers } } } }] },
        },
      },
    };
    const properties = [
      { type: 'olm.package', value: { packageName: 'etcd', version: '1.0.0' } },
      { type: 'olm.bundle.object', value: { data: Buffer.from(JSON.stringify(csv)).toString('base64') } },
    ];
    return documents(
      { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
      { schema: 'olm.channel', package: 'etcd', name: 'stable', entries: [{ name: 'etcd.v1.0.0' }] },
      bundle('etcd', '1.0.0', { properties }),
    );
  };
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const pinned = `quay.io/org/first@sha256:${'1'.repeat(64)}`;
  const base = repository.commit({ [FILE]: using('quay.io/org/first:v1') });
  const head = repository.commit({ [FILE]: using(pinned, 'quay.io/org/second:v1') }, { parents: [base] });
  const { out } = await portolan(
    repository.directory,
    ...['check', '--base', base, '--head', head, '--format', 'json'],
  );
  const { findings, known } = JSON.parse(out);
  const unlisted = (all: { rule: string; hint: string }[]): string[] =>
    all.filter(({ rule }) => rule === 'image/unlisted').map(({ hint }) => hint);
  expect(unlisted(findings)).toEqual(['- {name: …, image: quay.io/org/second:v1}']);
  expect(unlisted(known)).toEqual([`- {name: …, image: ${pinned}}`]);
});

test.each([
  [
    'image/local',
    { name: 'a', image: 'localhost/a:v1' },
    { name: 'b', image: 'quay.io/redhat-user-workloads/b:v1' },
  ],
  ['image/undeclared', { name: 'a', image: '' }, { name: 'b', image: '' }],
])('what another image of a head does to %s is news beside the first', async (rule, first, second) => {
  const listing = (...relatedImages: readonly object[]): string =>
    documents(
      { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
      { schema: 'olm.channel', package: 'etcd', name: 'stable', entries: [{ name: 'etcd.v1.0.0' }] },
      bundle('etcd', '1.0.0', { image: 'quay.io/org/etcd:v1', relatedImages }),
    );
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const own = { name: 'own', image: 'quay.io/org/own:v1' };
  const base = repository.commit({ [FILE]: listing(own, first) });
  const head = repository.commit({ [FILE]: listing(own, first, second) }, { parents: [base] });
  const { out } = await portolan(
    repository.directory,
    ...['check', '--base', base, '--head', head, '--format', 'json'],
  );
  const { findings, known } = JSON.parse(out);
  const count = (all: { rule: string }[]): number => all.filter((one) => one.rule === rule).length;
  expect([count(known), count(findings)]).toEqual([1, 1]);
});

test('of the state before, only the rules are asked that find something in the state after', async () => {
  const change = await unchanged();
  const asked: string[] = [];
  for (const rule of RULES) {
    if (!rule.checkWorld) continue;
    const { checkWorld } = rule;
    const spy = vi.spyOn(rule, 'checkWorld').mockImplementation((world, report) => {
      if (world === change.before) asked.push(rule.id);
      checkWorld(world, report);
    });
    onTestFinished(() => spy.mockRestore());
  }
  const { findings, known } = foreseenIn(change, { severityOf: ownSeverity, before: true, after: true });
  expect(findings).toEqual([]);
  expect(known.map(({ rule }) => rule)).toContain('graph/stranded-v0');
  expect(asked).toEqual(RULES.map(({ id }) => id).filter((id) => known.some(({ rule }) => rule === id)));
});

test.each([
  ['finds something in the state after', 'graph/stranded-v0', ['upgrades']],
  ['finds nothing there', 'graph/stuck-v1', []],
])('the state before must be decided by a rule that %s', async (_, id, undecided) => {
  const change = await unchanged();
  const rule = RULES.find((one) => one.id === id);
  if (!rule?.checkWorld) throw new Error(`${id} does not check the world`);
  const { checkWorld } = rule;
  const spy = vi.spyOn(rule, 'checkWorld').mockImplementation((world, report) => {
    if (world === change.before) throw new Undecided('upgrades', 'there are too many');
    checkWorld(world, report);
  });
  onTestFinished(() => spy.mockRestore());
  const result = foreseenIn(change, { severityOf: ownSeverity, before: true, after: true });
  expect(result.undecided.map(({ what }) => what)).toEqual(undecided);
  expect(result.findings.map(({ rule }) => rule)).toEqual(undecided.map(() => id));
});

test.each([
  'catalogs/v4.20/catalog.yaml',
  'catalogs/catalog.json',
  'catalog/etcd/catalog.yaml',
  'configs/etcd/index.yaml',
  'catalog.yaml',
  'some/where.yaml',
  'fbc/v4.20/etcd/catalog.yaml',
])('a catalog at %s is judged without a policy', async (file) => {
  expect(await checkedAt(file)).toMatchObject({ verdict: 'fail', unchecked: [{ what: '1 new reference' }] });
});

test.each([['fbc/etcd/catalog', "'fbc/{package}/**'"]])(
  'a catalog at %s, where the layout knows of none, never passes',
  async (file, pattern) => {
    expect(await checkedAt(file)).toMatchObject({
      verdict: 'fail',
      findings: [
        {
          rule: 'layout/unmatched',
          message: expect.stringContaining(`${file} contains catalog blobs`),
          hint: expect.stringContaining(pattern),
        },
      ],
    });
  },
);

const POLICY = 'apiVersion: portolan/v1alpha1\nkind: Portolan\n';
const CHANNEL = '---\nschema: olm.channel\npackage: etcd\nname: more\nentries:\n- name: etcd.v1.0.0\n';
const ESCAPED = CHANNEL.replace('olm.channel', '"ol\\x6d.channel"');

/** What a stranger adds where anybody may add files. */
async function added(
  file: string,
  text: string | null,
  { more = '', beside = {} }: { readonly more?: string; readonly beside?: Files } = {},
): Promise<unknown> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const policy = `${POLICY}layout: {catalog: 'catalogs/{catalog}/{package}/**'}\n${more}`;
  const files = { [FILE]: catalog(TRAP[0] as Written), '.github/portolan.yaml': policy, ...beside };
  const [base = '', head = ''] = repository.chain(files, { [file]: text });
  const words = ['check', '--base', base, '--head', head, '--format', 'json'];
  return JSON.parse((await portolan(repository.directory, ...words)).out);
}

test('a package in a file that no pattern matches, in the folder where it was, is not removed', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const text = catalog(TRAP[0] as Written);
  const policy = `${POLICY}layout: {catalog: 'catalogs/{catalog}/{package}/catalog.yaml'}\n`;
  const [a, b] = ['catalogs/v4.20/etcd', 'catalogs/v4.21/etcd'];
  const base = repository.commit({
    '.github/portolan.yaml': policy,
    [`${a}/catalog.yaml`]: text,
    [`${b}/catalog.yaml`]: text,
  });
  const found = async (files: Files): Promise<string[]> => {
    const head = repository.commit(files, { parents: [base] });
    const words = ['check', '--base', base, '--head', head, '--format', 'json'];
    const { findings } = JSON.parse((await portolan(repository.directory, ...words)).out);
    return [...new Set<string>(findings.map(({ rule }: { rule: string }) => rule))].sort();
  };
  const gone = { [`${a}/catalog.yaml`]: null, [`${b}/catalog.yaml`]: null };
  const moved = { [`${a}/index.yaml`]: text };
  expect(await found({ ...gone, ...moved, [`${b}/index.yaml`]: text })).toEqual(['layout/unmatched']);
  // Of one of two catalogs it is gone.
  expect(await found({ ...gone, ...moved })).toContain('graph/package-removed');
  const elsewhere = {
    ...gone,
    'catalogs/v4.20/other/index.yaml': text,
    'catalogs/v4.21/other/index.yaml': text,
  };
  expect(await found(elsewhere)).toContain('graph/package-removed');
});

test('a file in a folder of templates is no catalog where catalogs have its packages', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const base = repository.commit({
    '.github/portolan.yaml': `${POLICY}layout: {catalog: 'catalogs/{catalog}/{package}/**'}\n`,
    'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
  });
  const severities = async (path: string, name: string): Promise<string[]> => {
    const head = repository.commit({ [path]: catalogOf(name, ['1.0.0']) }, { parents: [base] });
    const words = ['check', '--base', base, '--head', head, '--format', 'json'];
    const { findings } = JSON.parse((await portolan(repository.directory, ...words)).out);
    return findings.flatMap((one: { rule: string; severity: string }) =>
      one.rule === 'layout/unmatched' ? [one.severity] : [],
    );
  };
  expect(await severities('catalog-templates/v4.20.yaml', 'etcd')).toEqual(['info']);
  expect(await severities('catalog-templates/v4.20.yaml', 'other')).toEqual(['error']);
  expect(await severities('more/v4.20.yaml', 'etcd')).toEqual(['error']);
  expect(await severities('tests/templates/v4.20.yaml', 'etcd')).toEqual(['error']);
});

test.each([
  ['notes.txt', CHANNEL],
  ['.x', CHANNEL],
  ['more', CHANNEL],
  ['README.md', CHANNEL],
  ['extra.yaml', CHANNEL],
  ['extra.yaml', ESCAPED],
  ['extra.yaml', `${CHANNEL}---\nschema: olm.bundle\npackage: etcd\n`],
  ['extra.json', '{"schema": "my.schema", "package": "etcd"}'],
  ['etcd/OWNERS', CHANNEL],
])('62: %s in the folder of a catalog, which a publish reads, does not pass (%j)', async (file, text) => {
  expect(await added(`catalogs/v4.20/${file}`, text)).toMatchObject({
    verdict: 'fail',
    findings: expect.arrayContaining([expect.objectContaining({ rule: 'layout/unmatched' })]),
  });
});

test('62: a catalog outside of the layout does not pass because it mentions Portolan', async () => {
  expect(await added('other/v4.21/etcd/catalog.yaml', `# portolan\n${CHANNEL}`)).toMatchObject({
    findings: expect.arrayContaining([
      expect.objectContaining({ rule: 'layout/unmatched', severity: 'error' }),
    ]),
  });
});

test.each([
  ['docs/a.md', '{catalog:prod*}', true],
  ['prod/notes.txt', '{catalog:prod*}', false],
  ['prod/notes.txt', '{catalog}', false],
])('62: %s among more files than the limit, in %s', async (file, folder, passes) => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const policy = `${POLICY}layout: {catalog: '${folder}/{package}/catalog.yaml'}\nlimits: {files: 5}\n`;
  const files = { 'prod/etcd/catalog.yaml': catalog(TRAP[0] as Written), '.github/portolan.yaml': policy };
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`docs/${i}.md`, '']));
  const [base = '', head = ''] = repository.chain(files, { ...many, [file]: CHANNEL });
  const words = ['check', '--base', base, '--head', head, '--format', 'json'];
  const { verdict } = JSON.parse((await portolan(repository.directory, ...words)).out);
  expect(verdict === 'pass').toBe(passes);
});

const UNMATCHED = 'templates/etcd.yaml';
const ACCEPTED = 'rules: {layout/unmatched: warning}\n';

test.each([
  ['accepts, changed', ACCEPTED, CHANNEL, `${CHANNEL}# x\n`, [], ['warning']],
  ['accepts, removed', ACCEPTED, CHANNEL, null, [], ['warning']],
  ['accepts, new', ACCEPTED, null, CHANNEL, ['warning'], []],
  ['accepts, new in a file', ACCEPTED, 'a: 1\n', CHANNEL, ['warning'], []],
  ['does not accept, changed', '', CHANNEL, `${CHANNEL}# x\n`, ['error'], []],
])('blobs outside of the layout that a policy %s', async (_, more, before, after, findings, known) => {
  const report = await added(UNMATCHED, after, { more, beside: { [UNMATCHED]: before } });
  const unmatched = (severity: string): object => ({ rule: 'layout/unmatched', severity });
  expect(report).toMatchObject({ findings: findings.map(unmatched), known: known.map(unmatched) });
});

test('62: a file outside of the folders of catalogs is not a part of a catalog', async () => {
  expect(await added('docs/etcd/notes.txt', CHANNEL)).toMatchObject({ verdict: 'pass', findings: [] });
});

const PUBLISHED = `publish: {catalogs: {'v*': {image: 'quay.io/org/index:{catalog}'}}}\n`;
const NOTES = '# Catalog\n\nWrite `schema: olm.channel`.\n';

test.each([
  ['README.md', NOTES, {}],
  ['etcd.bin', '\0', {}],
  ['x', 'a: [', {}],
  ['README.md', NOTES, { '.indexignore': 'other.md\n' }],
  ['x.json', '{"schema": "my.schema", "name": "x"}', {}],
])(
  '78: %s in the folder of a published catalog, which opm refuses or serves, does not pass (%j)',
  async (name, text, beside) => {
    const own = Object.fromEntries(
      Object.entries(beside).map(([file, is]) => [`catalogs/v4.20/${file}`, is]),
    );
    expect(await added(`catalogs/v4.20/${name}`, text, { more: PUBLISHED, beside: own })).toMatchObject({
      verdict: 'fail',
      findings: [
        { rule: 'layout/unmatched', severity: 'error', location: { file: `catalogs/v4.20/${name}` } },
      ],
    });
  },
);

/** What a change beside a catalog leads to, where the layout names catalogs by these patterns. */
async function besideCatalog(
  patterns: readonly string[],
  file: string,
): Promise<(files: Files) => Promise<string[]>> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const base = repository.commit({
    '.github/portolan.yaml': `${POLICY}layout: {catalog: ${JSON.stringify(patterns)}}\napproval: {required: {root: none, unknown: none}}\n`,
    [file]: catalog(TRAP[0] as Written),
  });
  return async (files) => {
    const head = repository.commit(files, { parents: [base] });
    const words = ['check', '--base', base, '--head', head, '--format', 'json'];
    const { findings } = JSON.parse((await portolan(repository.directory, ...words)).out);
    return findings.map(({ rule }: { rule: string }) => rule);
  };
}

const DEPRECATIONS = 'schema: olm.deprecations\npackage: etcd\nentries: []\n';

test.each([
  'catalogs/{catalog}/catalog.yaml',
  '{catalog}/catalog.yaml',
  'packages/etcd/{catalog}/catalog.yaml',
  'packages/{package}/{catalog}/catalog.yaml',
])(
  '78: blobs beside the one file of a catalog do not pass, whatever the file is called (%s)',
  async (pattern) => {
    const file = pattern.replace('{catalog}', 'v4.20').replace('{package}', 'etcd');
    const folder = file.slice(0, file.lastIndexOf('/'));
    const rulesOf = await besideCatalog([pattern], file);
    expect(await rulesOf({ [`${folder}/x.md`]: DEPRECATIONS })).toEqual(['layout/unmatched']);
    expect(await rulesOf({ [`${folder}/more/x.md`]: DEPRECATIONS })).toEqual(['layout/unmatched']);
    expect(await rulesOf({ [`${folder}/README.md`]: NOTES, [`${folder}/x.json`]: '{"a": 1}' })).toEqual([]);
    expect(await rulesOf({ 'docs/x.md': DEPRECATIONS })).toEqual([]);
    // A template in the form of blobs.
    const template =
      'schema: olm.package\nname: etcd\ndefaultChannel: stable\n---\nschema: olm.bundle\nimage: quay.io/x/etcd:v1\n';
    expect(await rulesOf({ [`${folder}/template.yaml`]: template })).toEqual([]);
  },
);

test.each([
  [['catalogs/v4.15/{package}/catalog.yaml'], 'catalogs/v4.15/etcd/catalog.yaml'],
  [['catalogs/{catalog}/**', 'more/{catalog}/catalog.yaml'], 'catalogs/v4.15/catalog.yaml'],
  [['catalogs/v4.15/**'], 'catalogs/v4.15/catalog.yaml'],
])('78: what lies beside the folder of a catalog is not served (%j)', async (patterns, file) => {
  const rulesOf = await besideCatalog(patterns, file);
  expect(await rulesOf({ 'catalogs/notes.md': DEPRECATIONS })).toEqual([]);
});

test('78: an ignore file that leaves out less brings a file to light that opm refuses', async () => {
  const beside = { 'catalogs/v4.20/.indexignore': 'README.md\n', 'catalogs/v4.20/README.md': NOTES };
  const report = await added('catalogs/v4.20/.indexignore', '# nothing\n', { more: PUBLISHED, beside });
  expect(report).toMatchObject({
    verdict: 'fail',
    findings: [{ rule: 'layout/unmatched', location: { file: 'catalogs/v4.20/README.md' } }],
  });
});

test.each<[string, { file?: string; more?: string; beside?: Files }, object[]]>([
  ['a catalog that the policy does not publish', { more: '' }, [{ severity: 'warning' }]],
  ['what an ignore file leaves out', { beside: { 'catalogs/v4.20/.indexignore': 'README.md\n' } }, []],
  ['what opm refused before', { beside: { 'catalogs/v4.20/README.md': `${NOTES}x\n` } }, []],
  ['a folder of no catalog', { file: 'catalogs/v4.21/README.md' }, []],
])('78: %s does not stop a publish', async (_, { file = 'catalogs/v4.20/README.md', ...given }, findings) => {
  const report = await added(file, NOTES, { more: PUBLISHED, ...given });
  expect(report).toMatchObject({ verdict: 'pass', findings });
});

test.each([
  ['README.md', 'Write `schema: olm.package`.\n'],
  ['docs/notes.yaml', 'text: |\n  schema: olm.package\n  name: etcd\n'],
  ['ci/settings.yaml', 'schema: my.settings\nname: olm.package\n'],
])('%s, which only speaks of catalogs, is not taken for one', async (file, text) => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const [base = '', head = ''] = repository.chain({ [FILE]: catalog(TRAP[0] as Written) }, { [file]: text });
  const words = ['check', '--base', base, '--head', head, '--format', 'json'];
  const report = JSON.parse((await portolan(repository.directory, ...words)).out);
  expect(report).toMatchObject({ verdict: 'pass', findings: [] });
});

/** The report of a pull request that strands somebody in a catalog at a path. */
async function checkedAt(file: string): Promise<unknown> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const base = repository.commit({ [file]: catalog(...TRAP.slice(0, 2)) });
  const head = repository.commit({ [file]: catalog(...TRAP) }, { parents: [base] });
  const words = ['check', '--base', base, '--head', head, '--format', 'json'];
  return JSON.parse((await portolan(repository.directory, ...words)).out);
}

/** What a rule says of a release: findings, and those that the base branch has as well. */
async function released(
  rule: string,
  before: string,
  after: string,
): Promise<{ findings: string[]; known: string[] }> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const base = repository.commit({ [FILE]: before });
  const head = repository.commit({ [FILE]: after }, { parents: [base] });
  const words = ['check', '--base', base, '--head', head, '--format', 'json'];
  const report = JSON.parse((await portolan(repository.directory, ...words)).out);
  const told = (all: { rule: string; message: string }[]): string[] =>
    all.filter((one) => one.rule === rule).map(({ message }) => message);
  return { findings: told(report.findings), known: told(report.known) };
}

test('a file brings those duplicate keys that it did not have before, wherever lines move to', async () => {
  const twice = (text: string, ...versions: string[]): string =>
    versions.reduce((all, one) => all.replace(`"name":"etcd.v${one}","image"`, '$&:"old","image"'), text);
  const rule = 'fbc/repeated-key';
  const message = 'duplicate key "image"; readers keep only the last one';
  const before = twice(catalog(...inARow(2)), '1.0.0', '1.1.0');
  const moved = `\n\n${twice(catalog(...inARow(3)), '1.0.0', '1.1.0')}`;
  expect(await released(rule, before, moved)).toEqual({ findings: [], known: [message, message] });
  const more = twice(moved, '1.2.0');
  expect(await released(rule, before, more)).toEqual({ findings: [message], known: [message, message] });
  expect(await released(rule, catalog(...inARow(2)), before)).toMatchObject({ findings: [message, message] });
});

test.each([
  ['fbc/field-type', '"image":1,"ignored"'],
  ['fbc/duplicate-key', '"Image":"x","image"'],
])('what opm refuses for %s is an error, whoever wrote it', async (rule, text) => {
  const broken = catalog(...inARow(2)).replace('"image"', text);
  const { findings, known } = await released(rule, broken, `\n${broken}`);
  expect([findings.length, known]).toEqual([1, []]);
});

/** Releases 1.0.0, 1.1.0, … in a row. */
function inARow(count: number): Written[] {
  return Array.from({ length: count }, (_, i) => ({
    name: `etcd.v1.${i}.0`,
    ...(i > 0 ? { replaces: `etcd.v1.${i - 1}.0` } : {}),
  }));
}

test('a long path is reported once, however many releases follow', async () => {
  const { findings, known } = await released(
    'graph/path-length',
    catalog(...inARow(13)),
    catalog(...inARow(14)),
  );
  expect(findings).toEqual([]);
  expect(known).toEqual([expect.stringContaining('needs 13 upgrades in a row')]);
});

test.each([11, 26])('a path that grows to %i upgrades crosses a limit: that is news', async (count) => {
  const [before, after] = [inARow(count), inARow(count + 1)];
  const { findings } = await released('graph/path-length', catalog(...before), catalog(...after));
  expect(findings).toEqual([expect.stringContaining(`needs ${count} upgrades in a row`)]);
});

test('nightly builds surprise whoever names no channel once, not with each release', async () => {
  const nightlies = (...names: string[]): string =>
    documents(
      { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
      { schema: 'olm.channel', package: 'etcd', name: 'stable', entries: [{ name: 'etcd.v1.0.0' }] },
      {
        schema: 'olm.channel',
        package: 'etcd',
        name: 'nightly',
        entries: names.map((name, i) => ({ name, ...(i > 0 ? { replaces: names[i - 1] } : {}) })),
      },
      ...['etcd.v1.0.0', ...names].map((name) => bundle('etcd', name.replace('etcd.v', ''))),
    );
  const rule = 'graph/v1-default-install-surprise';
  const before = nightlies('etcd.v1.1.0-1');
  const { findings, known } = await released(rule, before, nightlies('etcd.v1.1.0-1', 'etcd.v1.1.0-2'));
  expect(findings).toEqual([]);
  expect(known).toEqual([expect.stringContaining('1.1.0-2')]);
  const first = await released(rule, catalog({ name: 'etcd.v1.0.0' }), before);
  expect(first.findings).toEqual([expect.stringContaining('1.1.0-1')]);
});

const TEMPLATE = `schema: olm.template.basic\nentries:\n- schema: olm.package\n  name: etcd\n  defaultChannel: stable\n`;

test.each([
  [
    '{catalog:v*.*}/catalog/{package}/catalog.yaml',
    'v4.20/catalog/etcd/catalog.yaml',
    'v4.20/catalog/notes.txt',
  ],
  ['fbc/{catalog}/{package}/catalog.yaml', 'fbc/v4.20/etcd/catalog.yaml', 'fbc/v4.20/notes.txt'],
  ['fbc/{catalog}/catalog.yaml', 'fbc/v4.20/catalog.yaml', undefined],
])('a template beside what %s publishes passes, and blobs in it do not', async (pattern, file, inside) => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const folder = file.replace(/v4\.20\/.*/, 'v4.20');
  const policy = `apiVersion: portolan/v1alpha1\nkind: Portolan\nlayout: {catalog: '${pattern}'}\n`;
  const files = {
    [file]: catalogOf('etcd', ['1.0.0']),
    [`${folder}/catalog-template.yaml`]: TEMPLATE,
    '.github/portolan.yaml': policy,
  };
  const checked = async (...change: Files[]): Promise<string[]> => {
    const [base = '', head = ''] = repository.chain(files, ...change);
    const words = ['check', '--base', base, '--head', head, '--format', 'json'];
    const { findings } = JSON.parse((await portolan(repository.directory, ...words)).out);
    return findings.map(({ rule }: { rule: string }) => rule);
  };
  expect(await checked({ [`${folder}/catalog-template.yaml`]: `${TEMPLATE}# x\n` })).toEqual([]);
  if (inside !== undefined) expect(await checked({ [inside]: CHANNEL })).toContain('layout/unmatched');
});

test('a head is rebuilt only by who built bundles of the package before', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const text = catalogOf('etcd', ['1.0.0', '1.1.0']);
  const digest = /@sha256:[0-9a-f]{4}/g;
  const own = [...text.matchAll(/[^"\s]+@sha256:[0-9a-f]+/g)].map(([image]) => image);
  const head = own.at(-1) ?? '';
  const base = repository.commit({
    '.github/portolan.yaml': `${POLICY}graph: {rebuilds: heads}\n`,
    'catalogs/v4.20/etcd/catalog.yaml': text,
  });
  const severity = async (image: string): Promise<string[]> => {
    const files = { 'catalogs/v4.20/etcd/catalog.yaml': text.replaceAll(head, image) };
    const words = [
      'check',
      '--base',
      base,
      '--head',
      repository.commit(files, { parents: [base] }),
      '--format',
      'json',
    ];
    const { findings } = JSON.parse((await portolan(repository.directory, ...words)).out);
    return findings.flatMap((one: { rule: string; severity: string }) =>
      one.rule === 'graph/bundle-mutated' ? [one.severity] : [],
    );
  };
  const rebuilt = head.replace(digest, '@sha256:0000');
  expect(await severity(rebuilt)).toEqual(['warning']);
  expect(await severity(rebuilt.replace(/^[^/]+\/[^/]+/, 'quay.io/developer'))).toEqual(['error']);
});
