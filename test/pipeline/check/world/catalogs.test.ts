import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CatalogUnit } from '../../../../pipeline/change/unit.ts';
import { checkPullRequest } from '../../../../pipeline/check/check.ts';
import { renamedCatalogs } from '../../../../pipeline/check/world/catalogs.ts';
import { openRemote } from '../../../../pipeline/git/remote.ts';
import { bundle, documents, operator } from '../../../fakes/gate.ts';
import { gitServer } from '../../../fakes/git-server.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

interface Found {
  readonly rule: string;
  readonly severity: string;
  readonly message: string;
  readonly catalogs: readonly string[];
  readonly location: { readonly file: string };
}

/** Findings of a rule, by the command line, of a pull request. */
async function found(rule: string, base: Files, head: Files): Promise<Found[]> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const [before = '', after = ''] = repository.chain(base, head);
  const words = ['check', '--base', before, '--head', after, '--format', 'json'];
  const { findings } = JSON.parse((await portolan(repository.directory, ...words)).out);
  return findings.filter((finding: Found) => finding.rule === rule);
}

const PROPERTIES = [{ type: 'olm.package', value: { packageName: 'etcd', version: '1.0.0' } }];

/** One package with one bundle in one channel. */
function etcd({ channel = 'stable', property }: { channel?: string; property?: object } = {}): string {
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: channel },
    { schema: 'olm.channel', package: 'etcd', name: channel, entries: [{ name: 'etcd.v1.0.0' }] },
    bundle('etcd', '1.0.0', property ? { properties: [...PROPERTIES, property] } : {}),
  );
}

/** The same content in catalogs. */
function inEach(names: readonly string[], content: string): Files {
  return Object.fromEntries(names.map((name) => [`catalogs/${name}/etcd/catalog.yaml`, content]));
}

const NAMES = ['v4.16', 'v4.17', 'v4.18'];

test('blobs that name no package are checked with the package whose folder they are in', async () => {
  const path = 'catalogs/v4.18/etcd/catalog.yaml';
  const image = `quay.io/org/etcd@sha256:${'1'.repeat(64)}`;
  const nameless = `---\nschema: olm.bundle\nname: etcd.v1.0.0\nimage: ${image}\nproperties: [${JSON.stringify(PROPERTIES[0])}]\n`;
  expect(await found('bundle/package', { other: '' }, { [path]: nameless })).toMatchObject([
    { severity: 'error', location: { file: path } },
  ]);
  expect(await found('bundle/package', { other: '' }, { [path]: etcd() })).toEqual([]);
});

test('catalogs that change alike are checked each for its own platform', async () => {
  const limited = etcd({ property: { type: 'olm.maxOpenShiftVersion', value: '4.17' } });
  const findings = await found('graph/max-openshift-version', inEach(NAMES, etcd()), inEach(NAMES, limited));
  expect(findings).toMatchObject([
    {
      severity: 'error',
      message: expect.stringContaining('but the catalog "v4.18" is for 4.18'),
      catalogs: ['v4.18'],
      location: { file: 'catalogs/v4.18/etcd/catalog.yaml' },
    },
  ]);
});

test('a catalog may write its platform with a dash, as in the folder catalog-4-18', async () => {
  const limited = etcd({ property: { type: 'olm.maxOpenShiftVersion', value: '4.17' } });
  const names = ['4-16', '4-17', '4-18'];
  const findings = await found('graph/max-openshift-version', inEach(names, etcd()), inEach(names, limited));
  expect(findings).toMatchObject([{ severity: 'error', catalogs: ['4-18'] }]);
});

test('a limit that no catalog exceeds is fine', async () => {
  const limited = etcd({ property: { type: 'olm.maxOpenShiftVersion', value: '4.18' } });
  expect(await found('graph/max-openshift-version', inEach(NAMES, etcd()), inEach(NAMES, limited))).toEqual(
    [],
  );
});

test('a bundle is told as the platform of each catalog reads it', async () => {
  const object = { type: 'olm.bundle.object', value: { data: 'e30=' } };
  const findings = await found(
    'bundle/metadata-format',
    inEach(NAMES, etcd()),
    inEach(NAMES, etcd({ property: object })),
  );
  const told = findings.map(({ catalogs, message, location: { file } }) => [
    catalogs,
    /catalogs for \S+/.exec(message)?.[0],
    file,
  ]);
  expect(told).toEqual([
    [['v4.17'], 'catalogs for 4.17', 'catalogs/v4.17/etcd/catalog.yaml'],
    [['v4.18'], 'catalogs for 4.18', 'catalogs/v4.18/etcd/catalog.yaml'],
  ]);
});

test('what is found alike in several catalogs is one finding', async () => {
  const lost = documents({ schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' });
  const findings = await found('package/no-channel', inEach(NAMES, etcd()), inEach(NAMES, lost));
  expect(findings.map(({ catalogs }) => catalogs)).toEqual([NAMES]);
});

const LOST = 'graph/strands-on-platform-upgrade';

/** A package whose channels have files of their own; that of the old channel is the same in all catalogs. */
function splitIn(name: string, versions: readonly string[]): Files {
  const channel = (of: string, all: readonly string[]): string =>
    documents({
      schema: 'olm.channel',
      package: 'etcd',
      name: of,
      entries: all.map((version, i) => ({
        name: `etcd.v${version}`,
        ...(i > 0 ? { replaces: `etcd.v${all[i - 1]}` } : {}),
      })),
    });
  const bundles = versions.map((version) => [
    `catalog-${name}/bundles/${version}.yaml`,
    documents(bundle('etcd', version)),
  ]);
  return {
    [`catalog-${name}/package.yaml`]: documents({
      schema: 'olm.package',
      name: 'etcd',
      defaultChannel: 'stable',
    }),
    [`catalog-${name}/channels/old.yaml`]: channel('old', ['1.0.0']),
    [`catalog-${name}/channels/stable.yaml`]: channel('stable', versions),
    ...Object.fromEntries(bundles),
  };
}

test.each<[string, readonly string[], readonly unknown[]]>([
  ['has it too', ['1.0.0', '1.1.0'], []],
  ['lacks it', ['1.0.0'], [{ severity: 'error', catalogs: ['v4.18'] }]],
])(
  'a package in several files of the next catalog is read from all of them: it %s',
  async (_, next, expected) => {
    const before = { ...splitIn('v4.18', ['1.0.0']), ...splitIn('v4.19', ['1.0.0']) };
    const after = { ...splitIn('v4.18', ['1.0.0', '1.1.0']), ...splitIn('v4.19', next) };
    const policy = (files: Files): Files => ({
      '.github/portolan.yaml':
        "apiVersion: portolan/v1alpha1\nkind: Portolan\nlayout: {catalog: ['catalog-{catalog}/**']}\n",
      ...files,
    });
    expect(await found(LOST, policy(before), policy(after))).toMatchObject(expected);
  },
);

test('without a policy catalogs follow each other as their names say', async () => {
  const names = ['v4.9', 'v4.10', 'v4.11'];
  const next = documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    {
      schema: 'olm.channel',
      package: 'etcd',
      name: 'stable',
      entries: [{ name: 'etcd.v1.0.0' }, { name: 'etcd.v1.1.0', replaces: 'etcd.v1.0.0' }],
    },
    bundle('etcd', '1.0.0'),
    bundle('etcd', '1.1.0'),
  );
  const findings = await found(LOST, inEach(names, etcd()), inEach(['v4.9', 'v4.10'], next));
  expect(findings).toMatchObject([
    {
      severity: 'error',
      message: expect.stringContaining('when clusters upgrade from v4.10 to v4.11, 1.1.0'),
      catalogs: ['v4.10'],
    },
  ]);
  expect(await found(LOST, inEach(names, etcd()), inEach(names, next))).toEqual([]);
});

test('a channel that is new where it leads nowhere is a warning: nobody has it yet', async () => {
  const findings = await found(
    LOST,
    inEach(['v4.19', 'v4.20'], etcd()),
    inEach(['v4.19'], etcd({ channel: 'new' })),
  );
  expect(findings.map(({ severity, catalogs }) => [severity, catalogs])).toEqual([['warning', ['v4.19']]]);
});

test('a channel that is new in all catalogs strands nobody on the way between them', async () => {
  const names = ['v4.9', 'v4.10', 'v4.11'];
  expect(await found(LOST, inEach(names, etcd()), inEach(names, etcd({ channel: 'new' })))).toEqual([]);
});

test('a next catalog that the same pull request changes is compared with what it was', async () => {
  const names = ['v4.19', 'v4.20'];
  const head = { ...inEach(['v4.19'], `${etcd()}\n`), ...inEach(['v4.20'], etcd({ channel: 'new' })) };
  const findings = await found(LOST, inEach(names, etcd()), head);
  expect(findings.map(({ catalogs, severity }) => [catalogs, severity])).toEqual([[['v4.19'], 'error']]);
});

test('a package that comes to the next catalog with another channel strands who is on the default one', async () => {
  const base = inEach(['v4.19'], etcd());
  const severities = async (head: Parameters<typeof found>[2]): Promise<unknown[]> =>
    (await found(LOST, base, head)).map(({ severity, catalogs }) => [severity, catalogs]);
  const renamed = inEach(['v4.20'], etcd({ channel: 'new' }));
  expect(await severities(renamed)).toEqual([['error', ['v4.19']]]);
  expect(await severities({ ...inEach(['v4.19'], `${etcd()}\n`), ...renamed })).toEqual([
    ['error', ['v4.19']],
  ]);
  expect(await severities(inEach(['v4.20'], etcd()))).toEqual([]);
});

test('catalogs whose names are no versions follow nothing', async () => {
  const base = inEach(['dev', 'prod'], etcd({ channel: 'old' }));
  expect(await found(LOST, base, inEach(['dev'], etcd({ channel: 'new' })))).toEqual([]);
});

const KONFLUX = 'catalogs/v4.20/konflux/catalog.yaml';
const OTHER = 'catalogs/v4.20/konflux/more.yaml';

test('a package is what its blobs say, whatever its folder is called', async () => {
  const base = { [KONFLUX]: operator('konflux-operator', ['1.0.0', '1.1.0']) };
  const gone = { [KONFLUX]: operator('konflux-operator', ['1.2.0']) };
  const stranded = await found('graph/strands-installed-v0', base, gone);
  expect(stranded).toMatchObject([{ severity: 'error', location: { file: KONFLUX } }]);
  const next = { [KONFLUX]: operator('konflux-operator', ['1.0.0', '1.1.0', '1.2.0']) };
  expect(await found('graph/strands-installed-v0', base, next)).toEqual([]);
});

test('a package whose folder is called otherwise is missed when it is removed', async () => {
  const base = { [KONFLUX]: operator('konflux-operator', ['1.0.0']), ...inEach(['v4.20'], etcd()) };
  expect(await found('graph/package-removed', base, { [KONFLUX]: null })).toMatchObject([
    { severity: 'error', message: expect.stringContaining('"konflux-operator" is removed') },
  ]);
  const moved = { [KONFLUX]: null, [OTHER]: operator('konflux-operator', ['1.0.0']) };
  expect(await found('graph/package-removed', base, moved)).toEqual([]);
});

describe('a catalog whose folder is renamed to the next version', () => {
  const REMOVED = 'graph/package-removed';
  const at = (name: string, content: string | null): Files => ({
    [`catalogs/${name}/etcd/catalog.yaml`]: content,
  });
  const old = operator('etcd', ['1.0.0', '1.1.0']);
  const COVERING = documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    {
      ...{ schema: 'olm.channel', package: 'etcd', name: 'stable' },
      entries: [{ name: 'etcd.v1.2.0', skipRange: '<1.2.0' }],
    },
    bundle('etcd', '1.2.0'),
  );
  const move = (from: string, to: string, content: string): Files => ({
    ...at(from, null),
    ...at(to, content),
  });

  test.each([
    ['with its content', old],
    ['with a version more', operator('etcd', ['1.0.0', '1.1.0', '1.2.0'])],
    ['without a version that a range covers', COVERING],
  ])('%s is not removed', async (_, content) => {
    expect(await found(REMOVED, at('v4.20', old), move('v4.20', 'v4.21', content))).toMatchObject([
      {
        severity: 'warning',
        message: expect.stringContaining('catalog "v4.20" is renamed to "v4.21"'),
        catalogs: ['v4.20'],
      },
    ]);
  });

  test.each<[string, Files, Files]>([
    ['loses a version', at('v4.20', old), move('v4.20', 'v4.21', operator('etcd', ['1.1.0']))],
    [
      'loses a channel',
      at('v4.20', old),
      move('v4.20', 'v4.21', operator('etcd', ['1.0.0', '1.1.0']).replaceAll('stable', 'fast')),
    ],
    [
      'leaves another package behind',
      { ...at('v4.20', old), [KONFLUX]: operator('konflux-operator', ['1.0.0']) },
      move('v4.20', 'v4.21', old),
    ],
    ['is named after no version', at('dev', old), move('dev', 'live', old)],
  ])('and %s has an error', async (_, base, head) => {
    expect((await found(REMOVED, base, head)).map(({ severity }) => severity)).toContain('error');
  });

  const three = { ...at('v4.19', old), ...at('v4.20', old), ...at('v4.21', old) };

  test.each([
    ['the oldest', { ...at('v4.19', null) }, ['v4.19 warning']],
    ['the two oldest', { ...at('v4.19', null), ...at('v4.20', null) }, ['v4.19 warning', 'v4.20 warning']],
    ['one in between', { ...at('v4.20', null) }, ['v4.20 error']],
    ['the newest', { ...at('v4.21', null) }, ['v4.21 error']],
    [
      'all',
      { ...at('v4.19', null), ...at('v4.20', null), ...at('v4.21', null) },
      ['v4.19 error', 'v4.20 error', 'v4.21 error'],
    ],
  ])('a warning tells the end of the oldest catalogs, an error any other loss: %s', async (_, head, said) => {
    const findings = await found(REMOVED, three, head);
    const told = findings.flatMap(({ catalogs = [], severity }) =>
      catalogs.map((one) => `${one} ${severity}`),
    );
    expect(told.sort()).toEqual(said);
  });

  test('the end of the four oldest names the versions that the next catalogs lack', async () => {
    const minors = [16, 17, 18, 19];
    const oldest = Object.assign({}, ...minors.map((minor) => at(`v4.${minor}`, old)));
    const base = { ...oldest, ...at('v4.20', operator('etcd', ['1.1.0', '1.2.0'])) };
    const head = Object.assign({}, ...minors.map((minor) => at(`v4.${minor}`, null)));
    expect(await found(REMOVED, base, head)).toMatchObject(
      minors.map((minor) => ({
        severity: 'warning',
        message: `catalog "v4.${minor}" is removed, and none of an earlier version is left: clusters that use it get no more updates; the next catalogs do not have etcd 1.0.0`,
        location: { file: `catalogs/v4.${minor}/etcd/catalog.yaml` },
      })),
    );
  });

  test('of two that are gone only the one before it is renamed', async () => {
    const base = { ...at('v4.19', old), ...at('v4.20', old) };
    const findings = await found(REMOVED, base, { ...at('v4.19', null), ...move('v4.20', 'v4.21', old) });
    expect(findings.map(({ severity, catalogs }) => [severity, catalogs])).toEqual([
      ['error', ['v4.19']],
      ['warning', ['v4.20']],
    ]);
  });
});

describe('a catalog whose folder is renamed or moved, for the same version', () => {
  const POLICY = `apiVersion: portolan/v1alpha1
kind: Portolan
layout: {catalog: ['catalogs/{catalog}/{package}/**', 'fbc/{catalog}/{package}/**']}
`;
  const at = (path: string, versions: readonly string[] | undefined): Files => ({
    [`${path}/etcd/catalog.yaml`]: versions ? operator('etcd', versions) : null,
  });
  const [OLD, MORE] = [
    ['1.0.0', '1.1.0'],
    ['1.0.0', '1.1.0', '1.2.0'],
  ];
  const three = ['4.18', '4.19', '4.20'];
  const base = Object.assign(
    { '.github/portolan.yaml': POLICY },
    ...three.map((one) => at(`catalogs/v${one}`, OLD)),
  );
  const moved = (...versions: readonly (readonly string[])[]): Files =>
    Object.assign(
      {},
      ...three.map((one, i) => ({
        ...at(`catalogs/v${one}`, undefined),
        ...at(`fbc/${one}`, versions[i] ?? versions[0]),
      })),
    );
  const errors = async (rule: string, head: Files): Promise<Found[]> =>
    (await found(rule, base, head)).filter(({ severity }) => severity === 'error');

  test('is one warning for each, under the name of its own version', async () => {
    const findings = await found('graph/package-removed', base, moved(OLD));
    expect(findings).toMatchObject(
      three.map((one) => ({
        severity: 'warning',
        message: `catalog "v${one}" is renamed to "${one}": clusters that use "v${one}" get no more updates`,
        location: { file: `catalogs/v${one}` },
      })),
    );
    expect(await found('graph/package-removed', base, moved(MORE))).toHaveLength(3);
  });

  test('strands those whom it would strand in its place', async () => {
    const [stable] = await errors('graph/head-regression', moved(OLD, ['1.0.0'], OLD));
    expect(stable).toMatchObject({ catalogs: ['4.19'], location: { file: 'fbc/4.19/etcd/catalog.yaml' } });
    const gone = { ...moved(OLD), ...at('fbc/4.20', undefined) };
    expect(await errors('graph/package-removed', gone)).toMatchObject([{ catalogs: ['v4.20'] }]);
    expect(await errors('graph/head-regression', moved(MORE))).toEqual([]);
  });

  test.each([
    ['to a name without a version', OLD],
    ['to a name without a version, with more in it', MORE],
  ])('%s is a warning', async (_, versions) => {
    const head = { ...at('catalogs/v4.20', undefined), ...at('catalogs/product', versions) };
    expect(await found('graph/package-removed', base, head)).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('"v4.20" is renamed to "product"') },
    ]);
  });

  test('to a name without a version strands those whom it would strand in its place', async () => {
    const head = { ...at('catalogs/v4.20', undefined), ...at('catalogs/product', ['1.0.0']) };
    expect(await errors('graph/head-regression', head)).toMatchObject([{ catalogs: ['product'] }]);
  });

  test('to a name without a version is none where several catalogs are new', async () => {
    const head = { ...at('catalogs/v4.20', undefined), ...at('catalogs/a', MORE), ...at('catalogs/b', MORE) };
    expect(await errors('graph/package-removed', head)).toMatchObject([{ catalogs: ['v4.20'] }]);
  });

  test('to another version ends the oldest catalog, even if it is the same', async () => {
    const head = { ...at('catalogs/v4.18', undefined), ...at('catalogs/v4.22', OLD) };
    expect(await found('graph/package-removed', base, head)).toMatchObject([
      {
        ...{ catalogs: ['v4.18'], severity: 'warning' },
        message: expect.stringContaining('catalog "v4.18" is removed, and none'),
      },
    ]);
  });
});

test('a package is looked for in the next catalogs whatever its folder is called there', async () => {
  const next = 'catalogs/v4.21/konflux-ci/catalog.yaml';
  const base = {
    [KONFLUX]: operator('konflux-operator', ['1.0.0']),
    [next]: operator('konflux-operator', ['1.0.0', '1.1.0']),
  };
  const head = { [KONFLUX]: operator('konflux-operator', ['1.0.0', '1.1.0']) };
  expect(await found(LOST, base, head)).toEqual([]);
  expect(
    await found(LOST, base, { [KONFLUX]: operator('konflux-operator', ['1.0.0', '1.2.0']) }),
  ).toHaveLength(1);
});

const ETCD_KIND = { group: 'etcd.io', version: 'v1', kind: 'EtcdCluster' };
const PROVIDES = { type: 'olm.gvk', value: ETCD_KIND };
const REQUIRES = { type: 'olm.gvk.required', value: ETCD_KIND };
const QUAY = 'catalogs/v4.20/quay/catalog.yaml';
const ETCD = 'catalogs/v4.20/etcd/catalog.yaml';

test('a dependency that the catalog has is not said to be missing, though nobody touches it', async () => {
  const base = { [ETCD]: operator('etcd', ['1.0.0'], PROVIDES) };
  const rule = 'graph/unsatisfied-dependency';
  expect(await found(rule, base, { [QUAY]: operator('quay', ['3.0.0'], REQUIRES) })).toEqual([]);
  const other = { ...REQUIRES, value: { ...ETCD_KIND, version: 'v2' } };
  expect(await found(rule, base, { [QUAY]: operator('quay', ['3.0.0'], other) })).toHaveLength(1);
});

test('a new package that provides what an untouched one provides is found', async () => {
  const base = { [ETCD]: operator('etcd', ['1.0.0'], PROVIDES) };
  const rival = await found('graph/gvk-takeover', base, { [QUAY]: operator('quay', ['3.0.0'], PROVIDES) });
  expect(rival).toMatchObject([
    { severity: 'error', message: expect.stringContaining('"quay" and "etcd" both provide EtcdCluster') },
  ]);
  const own = { ...PROVIDES, value: { ...ETCD_KIND, group: 'quay.io' } };
  expect(await found('graph/gvk-takeover', base, { [QUAY]: operator('quay', ['3.0.0'], own) })).toEqual([]);
});

test('what cannot be read for the bound of the policy is not passed', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const policy = (bytes: number): Files => ({
    '.github/portolan.yaml': `apiVersion: portolan/v1alpha1\nkind: Portolan\nlimits: {contextBytes: ${bytes}}\n`,
  });
  const report = async (bytes: number): Promise<Record<string, unknown>> => {
    const base = { ...policy(bytes), [ETCD]: operator('etcd', ['1.0.0']) };
    const [before = '', after = ''] = repository.chain(base, { [QUAY]: operator('quay', ['3.0.0']) });
    const words = ['check', '--base', before, '--head', after, '--format', 'json'];
    return JSON.parse((await portolan(repository.directory, ...words)).out);
  };
  const { length } = operator('etcd', ['1.0.0']);
  expect(await report(0)).toMatchObject({
    verdict: 'inconclusive',
    headline: expect.stringContaining('raise limits.contextBytes'),
    unchecked: expect.arrayContaining([
      expect.objectContaining({ what: 'the effect on other packages of v4.20' }),
    ]),
  });
  // The last file that is read counts as well.
  expect(await report(length - 1)).toMatchObject({ verdict: 'inconclusive' });
  const whole = await report(length);
  expect(whole).toMatchObject({
    verdict: 'pass',
    unchecked: [{ what: '1 new reference' }],
    context: { files: 1, bytes: length, fetched: 0, fetchedBytes: 0, requests: 0 },
  });
});

test('packages that depend on what is taken away are named, though nobody touches them', async () => {
  const rule = 'graph/strands-dependents';
  const needs = { type: 'olm.package.required', value: { packageName: 'etcd', versionRange: '<1.1.0' } };
  const base = {
    [ETCD]: operator('etcd', ['1.0.0', '1.1.0'], PROVIDES),
    [QUAY]: operator('quay', ['3.0.0'], needs),
    'catalogs/v4.20/vault/catalog.yaml': operator('vault', ['5.0.0'], REQUIRES),
  };
  const told = async (head: Files): Promise<string[]> =>
    (await found(rule, base, head)).map(
      ({ severity, message }) => `${severity} ${/^package "\w+"/.exec(message)?.[0]}`,
    );
  expect(await told({ [ETCD]: operator('etcd', ['1.1.0'], PROVIDES) })).toEqual(['error package "quay"']);
  expect(await told({ [ETCD]: operator('etcd', ['1.0.0', '1.1.0']) })).toEqual(['error package "vault"']);
  expect(await told({ [ETCD]: null })).toEqual(['error package "quay"', 'error package "vault"']);
  expect(await told({ [ETCD]: operator('etcd', ['1.0.0', '1.1.0', '1.2.0'], PROVIDES) })).toEqual([]);
});

test('of a repository that is somewhere else the other packages are fetched, and counted', async () => {
  const source = makeRepository();
  onTestFinished(source.remove);
  const untouched = operator('etcd', ['1.0.0'], PROVIDES);
  const [base = '', head = ''] = source.chain(
    { [ETCD]: untouched },
    { [QUAY]: operator('quay', ['3.0.0'], REQUIRES) },
  );
  source.git('config', 'uploadpack.allowFilter', 'true');
  source.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  const url = await gitServer(join(source.directory, '.git'));
  const remote = openRemote({ url }, { searchPath: process.env['PATH'] });
  onTestFinished(() => remote.close());
  await remote.bring([base, head]);
  const { context, findings } = await checkPullRequest(remote, {
    base,
    head,
    ancestor: base,
    today: '2026-01-31',
  });
  expect(context).toMatchObject({ files: 1, fetched: 1, fetchedBytes: untouched.length });
  expect(findings.filter(({ rule }) => rule === 'graph/unsatisfied-dependency')).toEqual([]);
});

// A catalog that a merge renames is one catalog for its clusters; one of another platform is not.

/** Catalogs with one package each, written `catalog package id`. */
function units(...written: readonly string[]): Map<string, CatalogUnit> {
  return new Map(
    written.map((words) => {
      const [catalog = '', name = '', id = ''] = words.split(' ');
      const root = `catalogs/${catalog}`;
      const path = `${root}/${name}`;
      return [path, { path, id, mode: '40000', catalog, package: name, root }];
    }),
  );
}

test.each<[string, string[], string[], string[]]>([
  ['no catalog is gone', ['v4.19 p 1'], ['v4.19 p 1', 'v4.20 p 1'], []],
  ['no catalog is new', ['v4.19 p 1', 'v4.20 p 1'], ['v4.19 p 1'], []],
  ['equal content of one platform', ['a-v4.20 p 1'], ['b-v4.20 p 1'], ['a-v4.20 b-v4.20']],
  ['a package in common', ['a-v4.20 p 1'], ['b-v4.20 p 2'], ['a-v4.20 b-v4.20']],
  ['no package in common', ['a-v4.20 p 1'], ['b-v4.20 q 2'], []],
  ['another platform', ['v4.19 p 1'], ['v4.20 p 1'], []],
  ['equal content, and a platform in one name', ['stable p 1'], ['v4.20 p 1'], ['stable v4.20']],
  ['the only ones, and a platform in one name', ['v4.20 p 1'], ['stable p 2'], ['v4.20 stable']],
  ['the only ones, and no platform', ['old p 1'], ['new p 2'], []],
  ['equal content, and no platform', ['old p 1'], ['new p 1'], []],
  ['one that is split by platforms', ['stable p 1'], ['v4.19 p 2', 'v4.20 p 3'], ['stable v4.19']],
  ['one that is split, and no platform in one name', ['stable p 1'], ['v4.19 p 2', 'fast p 3'], []],
  ['one of two, a platform in one name', ['v4.20 p 1'], ['stable p 2', 'fast p 3'], []],
  [
    'two with equal content: one is the new name, the other a copy',
    ['a-v4.20 p 1'],
    ['b-v4.20 p 1', 'c-v4.20 p 1'],
    ['a-v4.20 b-v4.20'],
  ],
  [
    'one new catalog: it is the new name of one only',
    ['a-v4.20 p 1', 'b-v4.20 p 1'],
    ['c-v4.20 p 1'],
    ['a-v4.20 c-v4.20'],
  ],
  [
    'equal content goes before a package in common',
    ['a-v4.20 p 1', 'b-v4.20 p 2'],
    ['c-v4.20 p 2', 'd-v4.20 p 3'],
    ['b-v4.20 c-v4.20', 'a-v4.20 d-v4.20'],
  ],
])('%s', (_, before, after, expected) => {
  const renamed = renamedCatalogs(units(...before), units(...after));
  expect(renamed.map(({ from, to }) => `${from} ${to}`)).toEqual(expected);
  for (const { from, root } of renamed) expect(root).toBe(`catalogs/${from}`);
});
