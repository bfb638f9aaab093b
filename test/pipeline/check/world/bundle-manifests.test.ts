import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RULES } from '../../../../catalog/rules/index.ts';
import { checkPullRequest } from '../../../../pipeline/check/check.ts';
import { openRemote } from '../../../../pipeline/git/remote.ts';
import { etcdCrd } from '../../../fakes/crd-object.ts';
import { folder } from '../../../fakes/folder.ts';
import { bundle, documents } from '../../../fakes/gate.ts';
import { gitServer } from '../../../fakes/git-server.ts';
import { type Files, makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const POLICY = 'apiVersion: portolan/v1alpha1\nkind: Portolan\n';
const RULE = 'graph/crd-unsafe-edge';
const ABOUT_MANIFESTS = new Set(
  RULES.filter(({ reads }) => reads?.includes('manifests')).map(({ id }) => id),
);

const crd = (...fields: readonly string[]): string => etcdCrd(fields);

/** Bundles by image only, each replacing the one before. */
function catalog(...versions: readonly string[]): string {
  const entries = versions.map((version, i) => ({
    name: `etcd.v${version}`,
    ...(i === 0 ? {} : { replaces: `etcd.v${versions[i - 1]}` }),
  }));
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'etcd', name: 'stable', entries },
    ...versions.map((version) =>
      bundle('etcd', version, {
        properties: [
          { type: 'olm.package', value: { packageName: 'etcd', version } },
          { type: 'olm.gvk', value: { group: 'etcd.io', version: 'v1', kind: 'Etcd' } },
        ],
      }),
    ),
  );
}

const BASE: Files = {
  '.github/portolan.yaml': POLICY,
  'catalogs/v4.20/etcd/catalog.yaml': catalog('1.0.0', '1.1.0'),
  'operators/etcd/1.0.0/manifests/crd.json': crd('size', 'region', 'zone'),
  'operators/etcd/1.1.0/manifests/crd.json': crd('size', 'region'),
  'operators/etcd/1.1.0/manifests/notes/deep.txt': 'a folder beside manifests',
};
/** The third bundle is found by its ClusterServiceVersion: its folder has another version. */
const NEXT: Files = {
  'catalogs/v4.20/etcd/catalog.yaml': catalog('1.0.0', '1.1.0', '1.2.0'),
  'operators/etcd/1.2.0-1/manifests/crd.json': crd('size'),
  'operators/etcd/1.2.0-1/manifests/csv.yaml':
    'kind: ClusterServiceVersion\nmetadata:\n  name: etcd.v1.2.0\n',
};

interface Request {
  readonly source: TestRepository;
  readonly base: string;
  readonly head: string;
}

function pullRequest(before: Files, after: Files): Request {
  const source = makeRepository();
  onTestFinished(source.remove);
  const base = source.commit({ ...BASE, ...before });
  return { source, base, head: source.commit({ ...NEXT, ...after }, { parents: [base] }) };
}

async function report({ source, base, head }: Request, ...more: readonly string[]) {
  const { out } = await portolan(
    source.directory,
    ...['check', '--base', base, '--head', head, '--format', 'json', ...more],
  );
  return JSON.parse(out);
}

const unsafe = (findings: readonly { rule: string; message: string }[]): string[] =>
  findings.filter(({ rule }) => rule === RULE).map(({ message }) => message);

test('definitions of the repository tell what those of a directory tell', async () => {
  const request = pullRequest({}, {});
  const root = folder();
  const archive = request.source.directory;
  execFileSync('git', ['-C', archive, `--work-tree=${root}`, 'checkout', '--quiet', request.head, '--', '.']);
  const own = await report(request);
  expect(own).toEqual(await report(request, '--bundles', join(root, 'operators')));
  expect(unsafe(own.findings)).toEqual([
    expect.stringMatching(/on the upgrade 1\.1\.0 → 1\.2\.0: .*removed field : v1\.\^\.region/),
  ]);
  expect(unsafe(own.known)).toEqual([expect.stringMatching(/1\.0\.0 → 1\.1\.0: .*\^\.zone/)]);
  expect((await report(request, '--bundles', folder())).findings).not.toEqual(own.findings);
  const { out } = await portolan(root, 'audit', 'catalogs/v4.20', '--format', 'json');
  expect(unsafe(JSON.parse(out).findings)).toHaveLength(2);
});

test('the same is told of a repository that is somewhere else', async () => {
  const { source, base, head } = pullRequest({}, {});
  source.git('config', 'uploadpack.allowFilter', 'true');
  source.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  const remote = openRemote(
    { url: await gitServer(join(source.directory, '.git')) },
    {
      searchPath: process.env['PATH'],
    },
  );
  onTestFinished(() => remote.close());
  await remote.bring([base, head]);
  const { findings } = await checkPullRequest(remote, { base, head, ancestor: base, today: '2026-01-31' });
  expect(unsafe(findings)).toEqual(unsafe((await report({ source, base, head })).findings));
});

test('a definition that was changed in place counts as it was, and as it will be', async () => {
  const request = pullRequest({}, { 'operators/etcd/1.1.0/manifests/crd.json': crd('size') });
  const { findings, known } = await report(request);
  expect(unsafe(findings)).toEqual([
    expect.stringMatching(/on the upgrade 1\.0\.0 → 1\.1\.0: (?!.*\^\.zone).*\^\.region/),
  ]);
  expect(unsafe(known)).toEqual([]);
});

test('what is too much to read is said, what nobody asks for is not read', async () => {
  const large = { 'operators/etcd/1.1.0/manifests/large.yaml': `text: ${'a'.repeat(8000)}\n` };
  const limits = 'limits: {fileBytes: 4000}\n';
  const survival = {
    what: 'whether clusters can install the bundles of package "etcd", and custom resources survive its upgrades',
  };
  const asked = await report(pullRequest({ '.github/portolan.yaml': `${POLICY}${limits}`, ...large }, {}));
  expect(unsafe(asked.findings)).toEqual([]);
  expect(asked.unchecked).toContainEqual(expect.objectContaining(survival));
  const off = `${POLICY}${limits}rules: {${[...ABOUT_MANIFESTS].map((id) => `${id}: 'off'`).join(', ')}}\n`;
  const unasked = await report(pullRequest({ '.github/portolan.yaml': off, ...large }, {}));
  expect(unasked.unchecked).not.toContainEqual(expect.objectContaining(survival));
});

test('a ClusterServiceVersion that is too large to tell whose it is, is said', async () => {
  const policy = { '.github/portolan.yaml': `${POLICY}limits: {fileBytes: 4000}\n` };
  const large = `kind: ClusterServiceVersion\nmetadata:\n  name: etcd.v1.2.0\ntext: ${'a'.repeat(8000)}\n`;
  const known = { 'operators/etcd/1.2.0-1/manifests/csv.yaml': large };
  const { unchecked } = await report(pullRequest({ ...policy, ...known }, known));
  expect(unchecked.map(({ what }: { what: string }) => what)).toContainEqual(
    expect.stringContaining('custom resources survive its upgrades'),
  );
});

/** A ClusterServiceVersion of the package, in YAML as people write it. */
const csv = (version: string, modes: readonly string[], ...spec: readonly string[]): string =>
  [
    'apiVersion: operators.coreos.com/v1alpha1',
    'kind: ClusterServiceVersion',
    'metadata:',
    `  name: etcd.v${version}`,
    'spec:',
    `  installModes: [${modes.map((type) => `{type: ${type}, supported: true}`).join(', ')}]`,
    ...spec.map((line) => `  ${line}`),
    '',
  ].join('\n');
const BUDGET = 'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: etcd}\n';
const WEBHOOK = 'webhookdefinitions: [{type: ConversionWebhook, generateName: c.etcd.io}]';
const SECRETS =
  'install: {spec: {clusterPermissions: [{rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]}]}}';

test('what clusters cannot install is told by manifests that only directories have', async () => {
  const before = { 'operators/etcd/1.1.0/manifests/csv.yaml': csv('1.1.0', ['OwnNamespace']) };
  const next = csv('1.2.0', ['AllNamespaces', 'SingleNamespace'], 'minKubeVersion: 1.40.0', WEBHOOK, SECRETS);
  const after = {
    'operators/etcd/1.2.0-1/manifests/csv.yaml': next,
    'operators/etcd/1.2.0-1/manifests/budget.yaml': BUDGET,
  };
  const { findings } = await report(pullRequest(before, after));
  const told = (findings as readonly { rule: string; severity: string; location: { file: string } }[])
    .filter(({ location }) => location.file.startsWith('catalogs/'))
    .map(({ rule, severity }) => `${severity} ${rule}`);
  expect(told).toEqual(
    expect.arrayContaining([
      'error graph/conversion-modes',
      'error graph/install-modes-narrowed',
      'error graph/min-kube-version',
      'error graph/removed-api',
      'info graph/permissions-grow',
    ]),
  );
  const harmless = csv('1.2.0', ['OwnNamespace', 'AllNamespaces'], 'minKubeVersion: 1.33.0');
  const quiet = await report(pullRequest(before, { 'operators/etcd/1.2.0-1/manifests/csv.yaml': harmless }));
  const rules = (quiet.findings as readonly { rule: string }[]).map(({ rule }) => rule);
  expect(rules.filter((rule) => ABOUT_MANIFESTS.has(rule) && rule !== RULE)).toEqual([]);
});

test('what the upgrade to a new head requires is told by the directories, and folded in the comment', async () => {
  const request = pullRequest(
    { 'operators/etcd/1.1.0/manifests/csv.yaml': csv('1.1.0', ['AllNamespaces']) },
    { 'operators/etcd/1.2.0-1/manifests/csv.yaml': csv('1.2.0', ['AllNamespaces'], SECRETS) },
  );
  const { diffs } = await report(request);
  expect(diffs[0].reviews).toMatchObject([
    {
      ...{ from: 'etcd.v1.1.0', to: 'etcd.v1.2.0', channels: ['stable'], act: 2, know: 0 },
      sections: [
        { items: [{ weight: 'act', text: 'new: secrets (get)' }] },
        {
          items: [{ text: 'etcds.etcd.io: v1: region: removed' }],
        },
        ...Array(4).fill({ items: [] }),
      ],
    },
  ]);
  const words = ['check', '--base', request.base, '--head', request.head, '--format', 'markdown'];
  const { out } = await portolan(request.source.directory, ...words);
  expect(out).toContain('<details><summary>Upgrade of etcd in v4.20 from etcd.v1.1.0 to etcd.v1.2.0');
  expect(out).toContain('  - ❗ new: secrets \\(get\\): in all namespaces');
});

test('a rule gets the manifests that it reads where every other one that reads them is off', async () => {
  const id = 'bundle/csv-name';
  const off = [...ABOUT_MANIFESTS].filter((one) => one !== id).map((one) => `${one}: 'off'`);
  const wrong = csv('1.2.0', ['AllNamespaces']).replace('etcd.v1.2.0', 'etcd.v1-2');
  const request = (text: string) =>
    pullRequest(
      { '.github/portolan.yaml': `${POLICY}rules: {${off.join(', ')}}\n` },
      { 'operators/etcd/1.2.0/manifests/csv.yaml': text },
    );
  const rulesOf = async (text: string) =>
    ((await report(request(text))).findings as readonly { rule: string }[]).map(({ rule }) => rule);
  expect(await rulesOf(wrong)).toContain(id);
  expect(await rulesOf(csv('1.2.0', ['AllNamespaces']))).not.toContain(id);
});

interface Told {
  readonly rule: string;
  readonly severity: string;
  readonly installed: readonly string[];
}

/** How severe unsafe upgrades are, and from which versions. */
const severities = (findings: readonly Told[]): string[] =>
  findings
    .filter(({ rule }) => rule === RULE)
    .map(({ severity, installed = [] }) => `${severity} ${installed.join(' ')}`);

/** The same files for catalogs of other platforms. */
function on(platforms: readonly string[], files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).flatMap(([path, text]) =>
      platforms.map((platform) => [path.replace('v4.20', platform), text]),
    ),
  );
}

/** A report of a change of the files, with nothing else in the repository. */
async function changed(before: Files, after: Files): Promise<Readonly<Record<string, Told[]>>> {
  const source = makeRepository();
  onTestFinished(source.remove);
  const base = source.commit({ 'README.md': 'catalogs', ...before });
  return report({ source, base, head: source.commit(after, { parents: [base] }) });
}

test.each([
  ['v4.12', ['warning 1.1.0']],
  ['v4.17', ['warning 1.1.0']],
  ['v4.18', ['error 1.1.0']],
  ['v4.20', ['error 1.1.0']],
  ['stable', ['error 1.1.0']],
])('an upgrade that only OLM v1 refuses, added to %s', async (platform, expected) => {
  const { findings = [] } = await changed(on([platform], BASE), on([platform], NEXT));
  expect(severities(findings)).toEqual(expected);
});

test('a stored version that goes is refused by OLM v0 as well, on any platform', async () => {
  const v2 = crd('size', 'region').replace('"name":"v1"', '"name":"v2"');
  const gone = { ...NEXT, 'operators/etcd/1.2.0-1/manifests/crd.json': v2 };
  const { findings = [] } = await changed(on(['v4.12'], BASE), on(['v4.12'], gone));
  expect(severities(findings)).toEqual(['error 1.1.0']);
});

const BUNDLES: Files = Object.fromEntries(
  Object.entries({ ...BASE, ...NEXT }).filter(([path]) => path.startsWith('operators/')),
);
const CATALOG = NEXT['catalogs/v4.20/etcd/catalog.yaml'] ?? '';

test('a package that was bundles and becomes a catalog brings no upgrade', async () => {
  const catalogs = on(['v4.17', 'v4.20'], { 'catalogs/v4.20/etcd/catalog.yaml': CATALOG });
  const { findings = [], known = [] } = await changed(BUNDLES, catalogs);
  expect(severities(findings)).toEqual([]);
  expect(severities(known)).not.toEqual([]);
});

test('a package that comes with unsafe upgrades is warned of: nobody has it yet', async () => {
  const { findings = [] } = await changed({}, { ...BUNDLES, 'catalogs/v4.20/etcd/catalog.yaml': CATALOG });
  expect(severities(findings)).toEqual(['warning 1.0.0', 'warning 1.1.0']);
});

test('two releases at once are refused where the second follows the first', async () => {
  const first = { ...BUNDLES, 'catalogs/v4.20/etcd/catalog.yaml': catalog('1.0.0') };
  const { findings = [] } = await changed(first, { 'catalogs/v4.20/etcd/catalog.yaml': CATALOG });
  expect(severities(findings)).toEqual(['error 1.0.0', 'error 1.1.0']);
});

test('a backfilled release that nobody has is warned of', async () => {
  const second = { ...BUNDLES, 'catalogs/v4.20/etcd/catalog.yaml': catalog('1.1.0') };
  const both = { 'catalogs/v4.20/etcd/catalog.yaml': catalog('1.0.0', '1.1.0') };
  expect(severities((await changed(second, both))['findings'] ?? [])).toEqual(['warning 1.0.0']);
});

test('another channel with the same upgrade is no news', async () => {
  const fast = documents({
    schema: 'olm.channel',
    package: 'etcd',
    name: 'fast',
    entries: [{ name: 'etcd.v1.0.0' }, { name: 'etcd.v1.1.0', replaces: 'etcd.v1.0.0' }],
  });
  const more = { 'catalogs/v4.20/etcd/catalog.yaml': `${catalog('1.0.0', '1.1.0')}${fast}` };
  const { findings = [], known = [] } = await changed(BASE, more);
  expect(severities(findings)).toEqual([]);
  expect(severities(known)).toEqual(['error 1.0.0']);
});
