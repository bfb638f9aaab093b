import { expect, onTestFinished, test, vi } from 'vitest';
import type { Change } from '../../../../pipeline/change/change.ts';
import { checkBundles } from '../../../../pipeline/check/content/bundles.ts';
import { openRepository } from '../../../../pipeline/git/repository.ts';
import { readPolicy } from '../../../../pipeline/policy/read-policy.ts';
import { bundleFiles } from '../../../fakes/bundle-fixture.ts';
import { etcdCrd } from '../../../fakes/crd-object.ts';
import { bundle, documents, operator } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const FOLDER = 'operators/etcd/1.0.0';
const CSV = `${FOLDER}/manifests/csv.yaml`;
const SAMPLE: Files = Object.fromEntries(
  [...bundleFiles(new Map())].map(([path, text]) => [`${FOLDER}/${path}`, text]),
);
const POLICY = 'apiVersion: portolan/v1alpha1\nkind: Portolan\n';

interface Found {
  readonly rule: string;
  readonly severity: string;
  readonly message: string;
  readonly package: string;
  readonly location: { readonly file: string; readonly line: number };
}

/** What the check says of one change of a repository. @param tag of the files that were released, or of the base */
async function checked(
  before: Files,
  after: Files,
  tag?: string,
  released: Files = before,
): Promise<{ findings: Found[]; known: Found[] }> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const first = repository.commit({ '.github/portolan.yaml': POLICY, ...released });
  const base = repository.commit(before, { parents: [first] });
  if (tag !== undefined) repository.git('tag', tag, first);
  const head = repository.commit(after, { parents: [base] });
  const { out } = await portolan(
    repository.directory,
    ...['check', '--base', base, '--head', head, '--format', 'json'],
  );
  return JSON.parse(out);
}

function without(line: RegExp): string {
  return String(SAMPLE[CSV]).replace(line, '');
}

test('a bundle that a pull request brings is judged at its place', async () => {
  expect((await checked({}, SAMPLE)).findings).toEqual([]);
  const { findings } = await checked(
    {},
    { ...SAMPLE, [CSV]: without(/^ {2}installModes:[\s\S]*?(?=^ {2}\w)/m) },
  );
  expect(findings).toMatchObject([
    { rule: 'csv/install-modes', package: 'etcd', location: { file: CSV, line: 9 } },
  ]);
});

test('what was there before is known, what only other suites want counts when the policy names it', async () => {
  const broken = without(/^ {2}installModes:[\s\S]*?(?=^ {2}\w)/m);
  const worse = broken.replace(/^ {2}icon:[\s\S]*?(?=^ {2}\w)/m, '').replace(/^ {2}minKube.*\n/m, '');
  const plain = await checked({ ...SAMPLE, [CSV]: broken }, { [CSV]: worse });
  expect(plain.findings.map(({ rule }) => rule)).toEqual(['csv/min-kube-version-missing']);
  expect(plain.known.map(({ rule }) => rule)).toEqual(['csv/install-modes']);
  const strict = { '.github/portolan.yaml': `${POLICY}rules: {csv/icon-missing: error}\n` };
  const named = await checked({ ...SAMPLE, [CSV]: broken, ...strict }, { [CSV]: worse });
  expect(named.findings.map(({ rule }) => rule)).toEqual([
    'csv/icon-missing',
    'csv/min-kube-version-missing',
  ]);
});

test('what harms all clusters counts without a policy that names it', async () => {
  const manifests: Files = {
    [`${FOLDER}/manifests/pdb.yaml`]:
      'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: etcd}\nspec: {maxUnavailable: 0}\n',
    [`${FOLDER}/manifests/priority.yaml`]:
      'apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: etcd}\nvalue: 1\nglobalDefault: true\n',
    [`${FOLDER}/metadata/annotations.yaml`]: `${SAMPLE[`${FOLDER}/metadata/annotations.yaml`]}  com.redhat.openshift.versions: v4.20-v4.12\n`,
  };
  const { findings } = await checked({}, { ...SAMPLE, ...manifests });
  expect(findings.map(({ rule }) => rule).sort()).toEqual([
    'object/disruption-budget',
    'object/priority-class',
    'openshift/versions-range',
  ]);
});

/** The sample bundle of a version in a folder, with other lines. */
function bundleIn(folder: string, version: string, ...edits: readonly (readonly [string, string])[]): Files {
  const text = (of: string): string =>
    edits.reduce((all, [line, other]) => all.replace(line, other), of.replaceAll('1.0.0', version));
  return Object.fromEntries(
    Object.entries(SAMPLE).map(([path, of]) => [path.replace(FOLDER, folder), text(String(of))]),
  );
}

const rulesOf = ({ findings }: { findings: readonly Found[] }): string[] => [
  ...new Set(findings.map(({ rule }) => rule).filter((rule) => rule !== 'image/unpinned')),
];

const PRIVILEGED = [
  '- name: manager\n',
  '- name: manager\n                securityContext: {privileged: true}\n',
] as const;

const TEXT = ['type: integer', 'type: string'] as const;
const UNSAFE = [TEXT, ['"size": 3', '"size": "3"']] as const;

test('a bundle that changes in place is an upgrade from the version before, whatever its folder is called', async () => {
  const before = bundleIn('bundle', '1.0.0');
  const upgrade = async (...edits: readonly (readonly [string, string])[]): Promise<string[]> =>
    rulesOf(await checked(before, bundleIn('bundle', '1.1.0', ...edits)));
  expect(await upgrade()).toEqual([]);
  expect(await upgrade(...UNSAFE)).toEqual(['graph/crd-unsafe-edge']);
  const replaces = (version: string) =>
    ['  version: 1.1.0\n  min', `  version: 1.1.0\n  replaces: etcd.v${version}\n  min`] as const;
  expect(await upgrade(replaces('1.0.0'))).toEqual([]);
  expect(await upgrade(replaces('0.9.0'))).toContain('graph/strands-installed-v0');
  // That the edge is missing does not hide what comes with its repair.
  expect(await upgrade(replaces('0.9.0'), PRIVILEGED)).toContain('graph/privileges-grow');
  expect(await upgrade(replaces('0.9.0'), ...UNSAFE)).toContain('graph/crd-unsafe-edge');
  expect(await upgrade(replaces('0.9.0'))).not.toContain('graph/privileges-grow');
  const ranged = ['    categories', "    olm.skipRange: '<1.1.0'\n    categories"] as const;
  expect(await upgrade(replaces('0.9.0'), ranged)).toEqual([]);
});

test('a bundle that changes is read once on each side', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const base = repository.commit(bundleIn('bundle', '1.0.0'));
  const head = repository.commit(bundleIn('bundle', '1.1.0'), { parents: [base] });
  const csv = 'bundle/manifests/csv.yaml';
  const ids = [base, head].map((commit) => repository.git('rev-parse', `${commit}:${csv}`));
  const { objects, resolve } = await openRepository(repository.directory, {
    searchPath: process.env['PATH'],
  });
  const [from, to] = [await objects.treeOf(base), await objects.treeOf(head)];
  const { policy } = readPolicy(new TextEncoder().encode(POLICY));
  if (!policy) throw new Error('no policy');
  const read = vi.spyOn(objects, 'read');
  const change = { paths: [{ path: csv, area: 'unknown' }] } as unknown as Change;
  await checkBundles({ objects, policy, trees: { base: from, merged: to }, change }, resolve);
  expect(read.mock.calls.map(([id]) => id).filter((id) => ids.includes(id))).toEqual(ids);
});

test('pre-releases and folders of tests are compared with nothing', async () => {
  const unsafe = (folder: string, version: string): Files =>
    bundleIn(folder, version, TEXT, ['"size": 3', '"size": "3"']);
  const found = async (folder: string, from: string, to: string): Promise<string[]> =>
    rulesOf(await checked(bundleIn(folder, from), unsafe(folder, to)));
  expect(await found('bundle', '1.0.0-dev', '1.0.0')).toEqual([]);
  expect(await found('test/bundle', '1.0.0', '1.1.0')).toEqual([]);
  expect(await found('deploy/olm/bundle', '1.0.0', '1.1.0')).toEqual(['graph/crd-unsafe-edge']);
});

test('a bundle is an upgrade from those beside it, where no catalog has them', async () => {
  const before = bundleIn('bundles/1.0.0', '1.0.0');
  const unsafe = bundleIn('bundles/1.1.0', '1.1.0', TEXT, ['"size": 3', '"size": "3"']);
  const report = await checked(before, unsafe);
  expect(report.findings.filter(({ rule }) => rule === 'graph/crd-unsafe-edge')).toMatchObject([
    { package: 'etcd', location: { file: 'bundles/1.1.0/manifests/csv.yaml' } },
  ]);
  expect(rulesOf(await checked(before, bundleIn('bundles/1.1.0', '1.1.0')))).toEqual([]);
});

test('a template of a bundle outside of the layout is noted: only what its build makes is a bundle', async () => {
  const severities = async (folder: string, version: string): Promise<Set<string>> => {
    const edits = [
      ['name: etcd.v1.0.0', `name: etcd.v${version}`],
      ['installModes:', 'modes:'],
    ] as const;
    const { findings } = await checked({}, bundleIn(folder, '1.0.0', ...edits));
    return new Set(findings.map(({ severity }) => severity));
  };
  expect(await severities('manifests/etcd', '{{ version }}')).toEqual(new Set(['info']));
  expect(await severities('manifests/etcd', '1.0.0')).toContain('error');
  expect(await severities('operators/etcd/1.0.0', '{{ version }}')).toContain('error');
});

test('a defect that a bundle had before its version changed is known', async () => {
  const broken = /^ {2}minKube.*\n/m;
  const [before, after] = ['1.0.0', '1.1.0'].map((version) => {
    const files = bundleIn('bundle', version);
    const csv = 'bundle/manifests/csv.yaml';
    return { ...files, [csv]: String(files[csv]).replace(broken, '') };
  });
  const { findings, known } = await checked(before ?? {}, after ?? {});
  expect([rulesOf({ findings }), rulesOf({ findings: known })]).toEqual([
    [],
    ['csv/min-kube-version-missing'],
  ]);
});

test('a released bundle that changes under its version is compared with what clusters have', async () => {
  const before = bundleIn('bundle', '1.0.0');
  const changed = async (tag: string, ...edits: readonly (readonly [string, string])[]): Promise<Found[]> =>
    (await checked(before, bundleIn('bundle', '1.0.0', ...edits), tag)).findings;
  expect(await changed('v1.0.0', ...UNSAFE)).toMatchObject([
    {
      rule: 'graph/crd-unsafe-edge',
      message: expect.stringContaining('on the upgrade etcd.v1.0.0 (released) → etcd.v1.0.0:'),
      location: { file: expect.stringMatching(/^bundle\//) },
    },
  ]);
  expect(await changed('v0.9.0', ...UNSAFE)).toMatchObject([{ severity: 'warning' }]);
  expect(await changed('1.0.0', ['displayName: etcd', 'displayName: Etcd'])).toEqual([]);
  // What only the branch has may go again, and what the branch lost before is known.
  const unsafe = bundleIn('bundle', '1.0.0', ...UNSAFE);
  expect(rulesOf(await checked(unsafe, before, 'v1.0.0'))).toEqual(['graph/crd-unsafe-edge']);
  expect(rulesOf(await checked(unsafe, before, 'v1.0.0', before))).toEqual([]);
  const later = bundleIn('bundle', '1.0.0', ...UNSAFE, ['displayName: etcd', 'displayName: Etcd']);
  expect(rulesOf(await checked(unsafe, later, 'v1.0.0', before))).toEqual([]);
});

test('a bundle that nobody has is compared with the version beside it, or else with what it was', async () => {
  const found = async (
    folder: string,
    ...edits: readonly (readonly [string, string])[]
  ): Promise<string[]> => {
    const beside = folder === 'bundle' ? {} : bundleIn('bundles/1.0.0', '1.0.0');
    const before = { ...beside, ...bundleIn(folder, '1.1.0') };
    return rulesOf(await checked(before, bundleIn(folder, '1.1.0', ...edits)));
  };
  expect(await found('bundle', PRIVILEGED)).toEqual(['graph/privileges-grow']);
  expect(await found('bundle', ...UNSAFE)).toEqual(['graph/crd-unsafe-edge']);
  expect(await found('bundle', ['displayName: etcd', 'displayName: Etcd'])).toEqual([]);
  expect(await found('bundles/1.1.0', PRIVILEGED)).toEqual(['graph/privileges-grow']);
  expect(await found('bundles/1.1.0', ...UNSAFE)).toEqual(['graph/crd-unsafe-edge']);
  expect(await found('bundles/1.1.0', ['displayName: etcd', 'displayName: Etcd'])).toEqual([]);
});

test('a bundle with a later version beside it is released, and keeps its images', async () => {
  let rules = '{}';
  const changed = async (
    later: string,
    ...edits: readonly (readonly [string, string])[]
  ): Promise<Found[]> => {
    const before = {
      '.github/portolan.yaml': `${POLICY}rules: ${rules}\n`,
      ...bundleIn('bundles/1.0.0', '1.0.0'),
      ...bundleIn(`bundles/${later}`, later),
    };
    const of = (await checked(before, bundleIn('bundles/1.0.0', '1.0.0', ...edits))).findings;
    return of.filter(({ rule }) => rule.startsWith('graph/'));
  };
  const image = ['image: quay.io/example/etcd:v1.0.0', 'image: quay.io/example/etcd:v1.1.0'] as const;
  expect(await changed('1.1.0', image)).toMatchObject([
    {
      rule: 'graph/bundle-mutated',
      severity: 'warning',
      message: 'bundle "etcd.v1.0.0" is released and now names other images: quay.io/example/etcd:v1.1.0',
      location: { file: 'bundles/1.0.0/manifests/csv.yaml' },
    },
  ]);
  expect(await changed('1.1.0', ...UNSAFE)).toMatchObject([{ rule: 'graph/crd-unsafe-edge' }]);
  expect(await changed('1.1.0', ['displayName: etcd', 'displayName: Etcd'])).toEqual([]);
  expect(await changed('0.9.0', image)).toEqual([]);
  rules = '{graph/bundle-mutated: info}';
  expect(await changed('1.1.0', image)).toMatchObject([{ severity: 'info' }]);
});

test('a bundle that a catalog has is compared with what it was, and a new one with that before it', async () => {
  const listed = { 'catalogs/v4.20/etcd/catalog.yaml': operator('etcd', ['1.0.0']) };
  const before = { ...listed, ...bundleIn('operators/etcd/1.0.0', '1.0.0') };
  const found = async (files: Files): Promise<string[]> => rulesOf(await checked(before, files));
  expect(await found(bundleIn('operators/etcd/1.0.0', '1.0.0', ...UNSAFE))).toEqual([
    'graph/crd-unsafe-edge',
  ]);
  expect(await found(bundleIn('operators/etcd/1.1.0', '1.1.0', ...UNSAFE))).toContain(
    'graph/crd-unsafe-edge',
  );
  expect(await found(bundleIn('operators/etcd/1.1.0', '1.1.0'))).not.toContain('graph/crd-unsafe-edge');
  const narrowed = ['supported: true', 'supported: false'] as const;
  expect(await found(bundleIn('operators/etcd/1.1.0', '1.1.0', narrowed))).toContain(
    'graph/install-modes-narrowed',
  );
  // The catalog says what a version replaces.
  const stale = ['  version: 1.1.0\n  min', '  version: 1.1.0\n  replaces: etcd.v0.9.0\n  min'] as const;
  expect(await found(bundleIn('operators/etcd/1.1.0', '1.1.0', stale))).not.toContain(
    'graph/strands-installed-v0',
  );
});

test('a bundle that names builds is reported, where the version before it named releases', async () => {
  const related = (host: string) =>
    ['relatedImages:', `relatedImages:\n  - name: operand\n    image: ${host}/org/operand:v1`] as const;
  const found = async (from: string, to: string): Promise<string[]> =>
    rulesOf(
      await checked(bundleIn('bundle', '1.0.0', related(from)), bundleIn('bundle', '1.1.0', related(to))),
    );
  expect(await found('registry.redhat.io', 'registry.stage.redhat.io')).toContain('image/local');
  expect(await found('registry.stage.redhat.io', 'registry.stage.redhat.io')).not.toContain('image/local');
});

function catalog(fields: Readonly<Record<string, readonly string[]>>): string {
  const names = Object.keys(fields).map((version) => `etcd.v${version}`);
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    {
      schema: 'olm.channel',
      package: 'etcd',
      name: 'stable',
      entries: names.map((name, i) => ({ name, ...(i === 0 ? {} : { replaces: names[i - 1] }) })),
    },
    ...Object.entries(fields).map(([version, of]) =>
      bundle('etcd', version, {
        image: `quay.io/example/etcd:v${version}`,
        properties: [
          { type: 'olm.package', value: { packageName: 'etcd', version } },
          { type: 'olm.gvk', value: { group: 'etcd.io', version: 'v1', kind: 'Etcd' } },
          { type: 'olm.bundle.object', value: { data: Buffer.from(etcdCrd(of)).toString('base64') } },
        ],
      }),
    ),
  );
}

test('an unsafe definition is one finding, whatever else the catalogs differ in', async () => {
  const files = (fields: Readonly<Record<string, readonly string[]>>): Files => ({
    'catalogs/v4.19/etcd/catalog.yaml': `${catalog(fields)}\n`,
    'catalogs/v4.20/etcd/catalog.yaml': catalog(fields),
  });
  const { findings } = await checked(
    files({ '1.0.0': ['size', 'region'] }),
    files({ '1.0.0': ['size', 'region'], '1.1.0': ['size'] }),
  );
  const unsafe = findings.filter(({ rule }) => rule === 'graph/crd-unsafe-edge');
  expect(unsafe).toMatchObject([{ package: 'etcd', catalogs: ['v4.19', 'v4.20'] }]);
});
