import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { POLICY_PATH } from '../../../pipeline/policy/read-policy.ts';
import { bundle, catalogOf, documents, type Gate, openGate, POLICY } from '../../fakes/gate.ts';
import type { Files } from '../../fakes/repository.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.close());

async function classes(head: Files, base?: Files): Promise<Readonly<Record<string, string>>> {
  return (await gate.judge({ head, ...(base ? { base } : {}) })).classes;
}

const V420 = 'catalogs/v4.20/etcd/catalog.yaml';
const channel = (entries: readonly object[], more: object = {}): object => ({
  schema: 'olm.channel',
  package: 'etcd',
  name: 'stable',
  entries,
  ...more,
});
const ETCD = { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' };
const BUNDLES = [bundle('etcd', '1.0.0'), bundle('etcd', '1.1.0')];
const ENTRIES = [{ name: 'etcd.v1.0.0' }, { name: 'etcd.v1.1.0', replaces: 'etcd.v1.0.0' }];

describe('in a catalog', () => {
  test('a version on top adds', async () => {
    const { change, classes } = await gate.judge({
      head: { [V420]: catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) },
    });
    expect(classes).toEqual({ etcd: 'add-entry' });
    expect(change.packages.get('etcd')).toMatchObject({
      details: ['adds etcd.v1.2.0 (v4.20)'],
      catalogs: ['v4.20'],
      paths: [V420],
      owners: { identities: [{ login: 'bob' }], source: 'operators/etcd/ci.yaml' },
    });
  });

  test.each<[string, readonly object[], string]>([
    [
      'another replaces',
      [ETCD, channel([ENTRIES[0] ?? {}, { name: 'etcd.v1.1.0', skips: ['etcd.v1.0.0'] }]), ...BUNDLES],
      'edit-graph',
    ],
    [
      'another default channel',
      [{ ...ETCD, defaultChannel: 'x' }, channel(ENTRIES), ...BUNDLES],
      'edit-graph',
    ],
    [
      'a new channel of old bundles',
      [ETCD, channel(ENTRIES), { ...channel(ENTRIES), name: 'fast' }, ...BUNDLES],
      'edit-graph',
    ],
    [
      'an icon',
      [{ ...ETCD, icon: { base64data: '', mediatype: 'x' } }, channel(ENTRIES), ...BUNDLES],
      'edit-graph',
    ],
    [
      'a new deprecation',
      [
        ETCD,
        channel(ENTRIES),
        ...BUNDLES,
        {
          schema: 'olm.deprecations',
          package: 'etcd',
          entries: [{ reference: { schema: 'olm.package' }, message: 'x' }],
        },
      ],
      'edit-graph',
    ],
    [
      'an old bundle in an old channel',
      [ETCD, channel([...ENTRIES, { name: 'etcd.v0.9.0' }]), ...BUNDLES],
      'add-entry',
    ],
    [
      'an entry lost',
      [ETCD, channel([{ name: 'etcd.v1.1.0' }]), bundle('etcd', '1.1.0')],
      'edit-graph prune',
    ],
    [
      'an entry lost, its bundle kept',
      [ETCD, channel([{ name: 'etcd.v1.1.0' }]), ...BUNDLES],
      'edit-graph prune',
    ],
    ['a channel renamed', [ETCD, { ...channel(ENTRIES), name: 'fast' }, ...BUNDLES], 'edit-graph prune'],
    [
      'another image',
      [ETCD, channel(ENTRIES), BUNDLES[0] ?? {}, bundle('etcd', '1.1.0', { image: 'quay.io/x/y:1' })],
      'mutate-published',
    ],
    [
      'another property',
      [ETCD, channel(ENTRIES), BUNDLES[0] ?? {}, bundle('etcd', '1.1.0', { properties: [] })],
      'mutate-published',
    ],
    [
      'another related image',
      [
        ETCD,
        channel(ENTRIES),
        BUNDLES[0] ?? {},
        bundle('etcd', '1.1.0', { relatedImages: [{ name: 'a', image: 'b' }] }),
      ],
      'mutate-published',
    ],
    [
      'a bundle twice, the second another',
      [ETCD, channel(ENTRIES), ...BUNDLES, bundle('etcd', '1.1.0', { image: 'x' })],
      'mutate-published',
    ],
    ['the order', [...BUNDLES, channel(ENTRIES), ETCD], 'edit-graph'],
  ])('%s', async (_, after, expected) => {
    expect(await classes({ [V420]: documents(...after) })).toEqual({ etcd: expected });
  });

  test('a comment, or a file that nobody loads, still concerns the owners', async () => {
    expect(await classes({ 'catalogs/v4.20/etcd/.indexignore': 'x' })).toEqual({ etcd: 'edit-graph' });
  });

  test('118: an ignore file is not an entry: a program that may add entries needs an owner for it', async () => {
    const added = [ETCD, channel([...ENTRIES, { name: 'etcd.v1.2.0', replaces: 'etcd.v1.1.0' }])];
    const files = { [V420]: documents(...added, ...BUNDLES, bundle('etcd', '1.2.0')) };
    expect(await classes(files)).toEqual({ etcd: 'add-entry' });
    const both = { ...files, 'catalogs/v4.20/etcd/.indexignore': 'later.yaml\n' };
    expect(await classes(both)).toEqual({ etcd: 'add-entry edit-graph' });
  });

  test('a deprecation that is taken back prunes', async () => {
    const deprecations = {
      schema: 'olm.deprecations',
      package: 'etcd',
      entries: [{ reference: { schema: 'olm.bundle', name: 'etcd.v1.0.0' }, message: 'x' }],
    };
    const base = { [V420]: documents(ETCD, channel(ENTRIES), ...BUNDLES, deprecations) };
    expect(await classes({ [V420]: documents(ETCD, channel(ENTRIES), ...BUNDLES) }, base)).toEqual({
      etcd: 'edit-graph prune',
    });
  });

  test('the other format of metadata is no other content, another CSV in the same format is', async () => {
    const csv = '{"kind": "ClusterServiceVersion", "spec": {"displayName": "a"}}';
    const data = Buffer.from(csv).toString('base64');
    const objects = { type: 'olm.bundle.object', value: { data } };
    const metadata = (text: string): object => ({ type: 'olm.csv.metadata', value: { displayName: text } });
    const withProperties = (...properties: object[]): string =>
      documents(ETCD, channel([{ name: 'etcd.v1.0.0' }]), bundle('etcd', '1.0.0', { properties }));
    expect(
      await classes({ [V420]: withProperties(metadata('a')) }, { [V420]: withProperties(objects, objects) }),
    ).toEqual({ etcd: 'edit-graph' });
    expect(
      await classes({ [V420]: withProperties(metadata('b')) }, { [V420]: withProperties(objects) }),
    ).toEqual({ etcd: 'mutate-published' });
    expect(
      await classes({ [V420]: withProperties(metadata('b')) }, { [V420]: withProperties(metadata('a')) }),
    ).toEqual({ etcd: 'mutate-published' });
  });

  test('content that moves to another file of its folder is the same', async () => {
    expect(
      await classes({
        [V420]: documents(ETCD, channel(ENTRIES)),
        'catalogs/v4.20/etcd/bundles/all.json': documents(...BUNDLES),
      }),
    ).toEqual({ etcd: 'edit-graph' });
  });
});

describe('across catalogs', () => {
  const quay = catalogOf('quay', ['3.0.0', '3.1.0']);

  test('a package that comes to another catalog as it is elsewhere is promoted', async () => {
    expect(await classes({ 'catalogs/v4.19/quay/catalog.yaml': quay })).toEqual({ quay: 'promote' });
    expect(await classes({ 'catalogs/v4.19/quay/catalog.yaml': catalogOf('quay', ['3.1.0']) })).toEqual({
      quay: 'promote',
    });
  });

  test('93: with other edges, channels or deprecations than elsewhere, its graph is edited, too', async () => {
    const path = 'catalogs/v4.19/quay/catalog.yaml';
    const edited = (from: string, to: string): string => {
      expect(quay).toContain(from);
      return quay.replace(from, to);
    };
    const deprecation = {
      schema: 'olm.deprecations',
      package: 'quay',
      entries: [{ reference: { schema: 'olm.bundle', name: 'quay.v3.1.0' }, message: 'x' }],
    };
    for (const text of [
      edited('"name":"quay.v3.1.0","replaces"', '"name":"quay.v3.1.0","skipRange":"<3.1.0","replaces"'),
      edited('"replaces":"quay.v3.0.0"', '"replaces":"quay.v2.9.0"'),
      edited('"name":"quay.v3.0.0"}', '"name":"quay.v3.0.0","skips":["quay.v2.9.0"]}'),
      `${quay}${documents(deprecation)}`,
    ])
      expect(await classes({ [path]: text })).toEqual({ quay: 'edit-graph promote' });
  });

  test('with more than elsewhere it adds', async () => {
    expect(
      await classes({ 'catalogs/v4.19/quay/catalog.yaml': catalogOf('quay', ['3.1.0', '3.2.0']) }),
    ).toEqual({ quay: 'add-entry' });
    expect(
      await classes({
        'catalogs/v4.19/quay/catalog.yaml': documents(bundle('quay', '3.1.0', { image: 'x' })),
      }),
    ).toEqual({ quay: 'add-entry' });
  });

  test('as the pull request makes it elsewhere, it is promoted too', async () => {
    const next = catalogOf('quay', ['3.1.0', '3.2.0']);
    expect(
      await classes({ 'catalogs/v4.19/quay/catalog.yaml': next, 'catalogs/v4.20/quay/catalog.yaml': next }),
    ).toEqual({ quay: 'add-entry edit-graph promote prune' });
  });

  test('removed from one it is pruned, from all of them deleted', async () => {
    expect(await classes({ [V420]: null })).toEqual({ etcd: 'prune' });
    expect(await classes({ 'catalogs/v4.20/quay/catalog.yaml': null })).toEqual({ quay: 'delete-package' });
    expect(
      await classes({ 'catalogs/v4.20/free/catalog.yaml': null, 'operators/free/Makefile': null }),
    ).toEqual({ free: 'delete-package' });
  });

  test('a package that nobody had is new, whatever it brings', async () => {
    expect(
      await classes({
        'catalogs/v4.20/new/catalog.yaml': catalogOf('new', ['1.0.0']),
        'operators/new/ci.yaml': 'reviewers: [dan]\n',
      }),
    ).toEqual({ new: 'new-package' });
  });

  test('a catalog comes or goes', async () => {
    expect(await classes({ 'catalogs/v4.21/quay/catalog.yaml': quay })).toEqual({
      quay: 'promote',
      'new-catalog': 'v4.21',
    });
    expect(await classes({ 'catalogs/v4.19/etcd/catalog.yaml': null })).toEqual({
      etcd: 'prune',
      'delete-catalog': 'v4.19',
    });
  });

  test('182: a catalog of which clusters get nothing any more is deleted, whatever files stay', async () => {
    const deleted = { 'delete-catalog': 'v4.19' };
    expect(await classes({ 'catalogs/v4.19/etcd/.indexignore': '*\n' })).toMatchObject(deleted);
    expect(await classes({ 'catalogs/v4.19/.indexignore': 'etcd\n' })).toMatchObject(deleted);
    const note = '{"schema": "com.example.note", "package": "etcd"}\n';
    expect(await classes({ 'catalogs/v4.19/etcd/catalog.yaml': note })).toMatchObject(deleted);
  });

  test('the first package that clusters get of a catalog makes it, whatever files were there', async () => {
    const base = { 'catalogs/v4.21/quay/catalog.yaml': quay, 'catalogs/v4.21/quay/.indexignore': '*\n' };
    const made = { 'new-catalog': 'v4.21' };
    expect(await classes({ 'catalogs/v4.21/quay/.indexignore': null }, base)).toMatchObject(made);
    expect(
      await classes({ 'catalogs/v4.21/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']) }, base),
    ).toMatchObject(made);
  });

  test('a catalog of which others still offer something is not deleted with one of its packages', async () => {
    expect(await classes({ 'catalogs/v4.20/quay/.indexignore': '*\n' })).toEqual({
      quay: 'edit-graph prune',
    });
  });
});

describe('beside the catalogs', () => {
  test.each<[Files, object]>([
    [
      {
        'operators/etcd/catalog-templates/basic.yaml':
          'schema: olm.template.basic\nentries:\n- {schema: olm.bundle, package: etcd, image: x}\n',
      },
      { etcd: 'edit-graph' },
    ],
    [{ 'operators/etcd/Makefile': 'x' }, { etcd: 'package-config' }],
    // Nobody owns it, before and after.
    [{ 'operators/free/Makefile': 'x' }, { free: 'package-config' }],
    [{ 'operators/etcd/ci.yaml': 'reviewers:\n- Bob\nfbc: {}\n' }, { etcd: 'package-config' }],
    [{ 'operators/etcd/ci.yaml': 'reviewers:\n- bob\n- dan\n' }, { etcd: 'ownership package-config' }],
    [{ 'operators/etcd/ci.yaml': null }, { etcd: 'ownership package-config' }],
    [{ 'operators/etcd/1.1.0/manifests/csv.yaml': 'x' }, { etcd: 'add-entry' }],
    // opm reads it as a manifest, whatever its name.
    [
      { 'operators/etcd/1.0.0/manifests/OWNERS': 'kind: ClusterRole\n' },
      { etcd: 'mutate-published package-config' },
    ],
    [{ 'operators/etcd/1.0.0/manifests/new.yaml': 'x' }, { etcd: 'mutate-published' }],
    [{ 'operators/etcd/1.0.0/manifests/csv.yaml': null }, { etcd: 'prune' }],
    [{ 'README.md': 'x' }, { root: 'README.md' }],
    [
      { 'docs/x.md': 'x', 'operators/etcd/README.md': 'x' },
      { unknown: 'docs/x.md operators/etcd/README.md' },
    ],
    [
      { 'catalogs/v4.20/.indexignore': '*.md' },
      {
        repository: 'catalogs/v4.20/.indexignore',
        etcd: 'edit-graph',
        quay: 'edit-graph',
        free: 'edit-graph',
      },
    ],
    [
      {
        [POLICY_PATH]: `${POLICY}# x\n`,
        CODEOWNERS: 'x',
        'docs/CODEOWNERS': 'x',
        OWNERS_ALIASES: 'x',
        '.github/CODEOWNERS': 'x',
        '.github/portolan-owners.yaml': 'x',
        '.github/workflows/portolan-publish.yml': 'x',
        '.github/workflows/x.yml': 'jobs: {x: {steps: [{run: npx portolan check}]}}',
        '.github/actions/x/action.yml': { mode: '120000', text: '../y' },
      },
      {
        gate: `.github/CODEOWNERS .github/actions/x/action.yml .github/portolan-owners.yaml ${POLICY_PATH} .github/workflows/portolan-publish.yml .github/workflows/x.yml CODEOWNERS OWNERS_ALIASES docs/CODEOWNERS`,
      },
    ],
    [
      {
        '.github/dependabot.yml': 'x',
        '.github/workflows/x.yml': 'x',
        'docs/link': { mode: '120000', text: 'x' },
        'catalogs/v4.20.lock.json': '{}',
        link: { mode: '120000', text: 'docs' },
      },
      {
        repository: '.github/dependabot.yml .github/workflows/x.yml catalogs/v4.20.lock.json docs/link link',
      },
    ],
    [
      {
        '.agents/skills': { mode: '120000', text: '../skills' },
        '.tekton/one.yaml': { mode: '120000', text: '../skills/SKILL.md' },
        'skills/SKILL.md': 'how to render',
      },
      { repository: '.agents/skills .tekton/one.yaml', unknown: 'skills/SKILL.md' },
    ],
    [
      {
        '.tekton': { mode: '120000', text: 'jobs' },
        'jobs/check.yaml': 'script: npx portolan check',
      },
      { gate: '.tekton', repository: 'jobs/check.yaml' },
    ],
    [{ '.tekton/x.yaml': { mode: '120000', text: '../gone.yaml' } }, { gate: '.tekton/x.yaml' }],
    [{ '.tekton/x.yaml': { mode: '120000', text: '../../x.yaml' } }, { gate: '.tekton/x.yaml' }],
    [{ '.tekton/x.yaml': { mode: '120000', text: '.' } }, { gate: '.tekton/x.yaml' }],
    [{}, {}],
  ])('%j', async (head, expected) => {
    expect(await classes(head)).toEqual(expected);
  });

  test('186: what changes the files of a checkout is of the repository, wherever it lies', async () => {
    const [own, common] = ['catalogs/v4.20/etcd/.gitattributes', 'operators/.gitattributes'];
    expect(await classes({ [own]: '*.yaml ident', [common]: '* eol=crlf' })).toEqual({
      etcd: 'edit-graph',
      repository: `${own} ${common}`,
    });
  });

  test('113: a file that the policy names is of the repository, as the policy itself would be', async () => {
    const graph = `graph:
  installSets: [./sets/shop.install]
  companions: ['others/{catalog}/', 'quay.io/org/{catalog}:v1']
  otherCatalogs: [public.d]
  published: {ledger: past/ledger.json}
fleet: {files: [fleet.csv]}
`;
    const base = { [POLICY_PATH]: `${POLICY}${graph}` };
    const named = [
      'fleet.csv',
      'others/v4.20/a.txt',
      'past/ledger.json',
      'public.d/b/c.txt',
      'sets/shop.install',
    ];
    const others = ['more/others/a', 'sets/shop.installs', 'xpublic.d'];
    expect(
      await classes(Object.fromEntries([...named, ...others].map((path) => [path, 'x'])), base),
    ).toMatchObject({
      repository: named.join(' '),
      unknown: 'more/others/a sets/shop.installs',
      root: 'xpublic.d',
    });
  });

  test('57: a workflow that writes the name of Portolan by escapes is of the gate', async () => {
    const [long, escapes, folded] = [
      '.github/workflows/x.yml',
      '.github/workflows/y.yml',
      '.github/workflows/z.yml',
    ];
    const changes = {
      [long]: 'jobs: {x: {steps: [{uses: "\\U00000070ortolan/a@b"}]}}',
      [escapes]: 'jobs: {x: {steps: [{uses: "p\\x6frtol\\u0061n/a@b"}]}}',
      [folded]: 'jobs: {x: {steps: [{uses: "port\\\n  olan/a@b"}]}}',
    };
    expect(await classes(changes)).toEqual({ gate: `${long} ${escapes} ${folded}` });
  });

  test('prow files are of the package in whose folders they lie', async () => {
    const base = { OWNERS: 'approvers: [alice]\n', 'operators/free/OWNERS': 'approvers: [dan]\n' };
    expect(await classes({ 'operators/free/OWNERS': 'approvers: [mallory]\n' }, base)).toEqual({
      free: 'ownership package-config',
    });
    expect(await classes({ OWNERS: 'approvers: [mallory]\n' }, base)).toEqual({ repository: 'OWNERS' });
    // In the folder of all packages they are of none.
    for (const file of ['operators/OWNERS', 'catalogs/v4.20/OWNERS']) {
      expect(await classes({ [file]: 'approvers: [mallory]\n' }, base)).toEqual({ repository: file });
    }
  });
});

describe('where packages share files', () => {
  const layout = `${POLICY}layout:\n  catalog: 'all/{catalog}.json'\n  composite: 'composite.yaml'\n`;
  const base = {
    [POLICY_PATH]: layout,
    'all/v1.json': catalogOf('a', ['1.0.0']) + catalogOf('b', ['1.0.0']),
    'all/v2.json': catalogOf('a', ['1.0.0']),
    'composite.yaml':
      'name: c\ntag: latest\nreferences:\n- {name: a, image: q/a:v1}\n- {name: b, image: q/b:v1}\n',
  };

  test('a blob is its own package’s, wherever it stands', async () => {
    expect(
      await classes({ 'all/v1.json': catalogOf('a', ['1.0.0']) + catalogOf('b', ['1.0.0', '1.1.0']) }, base),
    ).toEqual({ b: 'add-entry' });
    expect(await classes({ 'all/v1.json': catalogOf('b', ['1.0.0']) }, base)).toEqual({ a: 'prune' });
    expect(await classes({ 'all/v1.json': catalogOf('a', ['1.0.0']) }, base)).toEqual({
      b: 'delete-package',
    });
    expect(
      await classes({ 'all/v2.json': catalogOf('a', ['1.0.0']) + catalogOf('c', ['1.0.0']) }, base),
    ).toEqual({ c: 'new-package' });
    expect(
      await classes({ 'all/v2.json': catalogOf('a', ['1.0.0']) + catalogOf('b', ['1.0.0']) }, base),
    ).toEqual({ b: 'promote' });
  });

  test('a change of nothing but form is nobody’s, so an admin’s', async () => {
    const text = base['all/v2.json'];
    expect(await classes({ 'all/v2.json': `${text}\n` }, base)).toEqual({ repository: 'all/v2.json' });
    const composite = { 'composite.yaml': `${base['composite.yaml']}# x\n` };
    expect(await classes(composite, base)).toEqual({ repository: 'composite.yaml' });
    expect(await classes({ ...composite, 'all/v2.json': catalogOf('a', ['1.0.0', '1.1.0']) }, base)).toEqual({
      a: 'add-entry',
      repository: 'composite.yaml',
    });
  });

  test('a blob of no package is everybody’s', async () => {
    expect(
      await classes(
        { 'all/v2.json': catalogOf('a', ['1.0.0']) + documents({ schema: 'example.com/x', name: 'x' }) },
        base,
      ),
    ).toEqual({ repository: 'all/v2.json' });
  });

  test('the image of a package in a composite file is its owners’, every other key the admins’', async () => {
    const written = base['composite.yaml'];
    expect(await classes({ 'composite.yaml': written.replace('b:v1', 'b:v2') }, base)).toEqual({
      b: 'edit-graph',
    });
    for (const other of [
      written.replace('latest', 'other'),
      written.replace('name: b', 'name: c'),
      `${written}- {name: d, image: x}\n`,
      written.replace('- {name: a', '- {name: b'),
      'references: []\n',
    ]) {
      expect(await classes({ 'composite.yaml': other }, base)).toEqual({ repository: 'composite.yaml' });
    }
  });

  test('a composite file that is no regular file is as none, and can be repaired', async () => {
    for (const odd of [
      { mode: '160000', id: 'a'.repeat(40) },
      { mode: '120000', text: 'other.yaml' },
    ] as const) {
      const files: Files = { 'composite.yaml': odd };
      expect(await classes(files, base)).toEqual({ repository: 'composite.yaml' });
      const repaired = { 'composite.yaml': base['composite.yaml'] };
      expect(await classes(repaired, { ...base, ...files })).toEqual({ repository: 'composite.yaml' });
    }
  });
});

describe('101: an image that whoever renders a file would read from their own machine, or not find', () => {
  const composite = (image: string): string => `name: c\nreferences:\n- {name: etcd, image: '${image}'}\n`;
  const template = (image: string): string =>
    `schema: olm.semver\nstable: {bundles: [{image: '${image}'}]}\n`;
  const substitutes = (image: string): string =>
    `schema: olm.template.substitutes\nentries: []\nsubstitutions: [{name: '${image}', base: etcd.v1.0.0}]\n`;
  const base = {
    [POLICY_PATH]: `${POLICY}layout: {composite: 'composite.yaml'}\n`,
    'composite.yaml': composite('quay.io/q/a@sha256:1'),
  };
  const files = (image: string): Files => ({
    'composite.yaml': composite(image),
    'operators/etcd/catalog-templates/t.yaml': template(image),
    'operators/etcd/catalog-templates/s.yaml': substitutes(image),
  });

  test.each([
    'oci:/x:v1',
    'docker-archive:/x.tar',
    'file:///x',
    '/etc',
    '../../../../etc',
    'a/../../b',
    'C:\\x',
    'c:/x',
    'OCI:x',
    'DIR:/x',
    'C:x',
    ' /srv/x',
    'quay.io/Q/a',
  ])('%s is an error in composites and templates', async (image) => {
    const { change } = await gate.judge({ base, head: files(image) });
    expect(change.unsafe.map(({ rule, location }) => `${rule} ${location.file}`).sort()).toEqual([
      'composite/reference composite.yaml',
      'composite/reference operators/etcd/catalog-templates/s.yaml',
      'composite/reference operators/etcd/catalog-templates/t.yaml',
    ]);
    const known = { ...base, ...files(image) };
    expect((await gate.judge({ base: known, head: { 'README.md': 'x' } })).change.unsafe).toEqual([]);
  });

  test.each([
    `quay.io/q/a@sha256:${'2'.repeat(64)}`,
    'oci.example.com:5000/a:v1',
    'localhost:5000/a',
    'docker://quay.io/a:v1',
    'catalogs/v4.20',
    './Catalogs/v4.20',
  ])('%s is not', async (image) => {
    expect((await gate.judge({ base, head: files(image) })).change.unsafe).toEqual([]);
  });
});

test('91: a change of files with millions of values is not read any further', async () => {
  const values = `[${'0,'.repeat(900_000)}0]`;
  const file = (n: number): string => `{"schema":"x","package":"etcd","name":"${n}","a":${values}}`;
  const files = (count: number): Files =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`catalogs/v4.20/etcd/${i}.json`, file(i)]));
  const many = await gate.judge({ head: files(4) });
  expect(many.change).toMatchObject({ isRead: false, unsafe: [{ rule: 'path/limits' }] });
  const { change } = await gate.judge({ head: files(3) });
  expect(change).toMatchObject({ isRead: true, unsafe: [] });
});

test('a package with too many entries is refused at its file, also if another file brings the last of them', async () => {
  const policy = { [POLICY_PATH]: `${POLICY}limits: {entries: 3}\n` };
  const base = { ...policy, [V420]: documents(ETCD, channel(ENTRIES), ...BUNDLES) };
  const head = { 'catalogs/v4.20/etcd/more.json': documents(channel(ENTRIES, { name: 'more' })) };
  const { change } = await gate.judge({ base, head });
  expect(change.unsafe).toMatchObject([{ rule: 'fbc/limits', package: 'etcd', location: { file: V420 } }]);
});

test('the entries of all changed packages count together, in each catalog', async () => {
  const base = { [POLICY_PATH]: `${POLICY}limits: {entries: 4}\n` };
  const versions = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'];
  const head = (...names: readonly string[]): Files =>
    Object.fromEntries(
      names.flatMap((name) =>
        ['v4.19', 'v4.20'].map((catalog) => [
          `catalogs/${catalog}/${name}/catalog.yaml`,
          catalogOf(name, versions.slice(0, 3)),
        ]),
      ),
    );
  const within = await gate.judge({ base, head: head('a', 'b') });
  expect(within.change).toMatchObject({ isRead: true, unsafe: [] });
  const one = { 'catalogs/v4.20/c/catalog.yaml': catalogOf('c', ['1.0.0']) };
  const beyond = await gate.judge({ base, head: { ...head('a', 'b'), ...one } });
  expect(beyond.change).toMatchObject({
    isRead: false,
    unsafe: [
      {
        rule: 'path/limits',
        severity: 'error',
        message:
          'the changed packages have 13 entries in their channels, with the alternatives of their ranges; the limit is 12',
      },
    ],
  });
});

test('a file that cannot be read is named for each package, and once for the copies in several catalogs', async () => {
  const broken = 'schema: [\n';
  const { change } = await gate.judge({
    head: {
      'catalogs/v4.19/etcd/catalog.yaml': broken,
      [V420]: broken,
      'catalogs/v4.20/other/catalog.yaml': broken,
    },
  });
  expect(change.unsafe.map(({ location, catalogs }) => [location.file, catalogs])).toEqual([
    ['catalogs/v4.19/etcd/catalog.yaml', ['v4.19', 'v4.20']],
    ['catalogs/v4.20/other/catalog.yaml', ['v4.20']],
  ]);
});
