import { expect, onTestFinished, test } from 'vitest';
import { RULES } from '../../../catalog/rules/index.ts';
import { CONFORMA, KONFLUX } from '../../../pipeline/policy/presets/konflux.ts';
import { CERTIFIED, COMMUNITY } from '../../../pipeline/policy/presets/operator-pipelines.ts';
import { OPERATORHUB } from '../../../pipeline/policy/presets/operatorhub.ts';
import { PRESET_NAMES } from '../../../pipeline/policy/presets/preset.ts';
import { PRESETS, presetSeverities, rulesOf } from '../../../pipeline/policy/presets/presets.ts';
import { bundleFiles } from '../../fakes/bundle-fixture.ts';
import { catalogOf } from '../../fakes/gate.ts';
import { type Files, makeRepository } from '../../fakes/repository.ts';
import { portolan } from '../../fakes/terminal.ts';

interface Gate {
  readonly preset: string;
  readonly verdict: string;
  readonly checks: readonly { readonly check: string; readonly errors: number; readonly warnings: number }[];
  readonly notChecked: readonly { readonly check: string; readonly why: string }[];
}

interface Report {
  readonly verdict: string;
  readonly findings: readonly { readonly rule: string; readonly severity: string }[];
  readonly known: readonly { readonly rule: string }[];
  readonly gates?: readonly Gate[];
}

const POLICY = '.github/portolan.yaml';
const policy = (rest: string): Files => ({
  [POLICY]: `apiVersion: portolan/v1alpha1\nkind: Portolan\n${rest}`,
});

/** The sample bundle as a folder that operator-pipelines accepts, but for a few warnings. */
const FOLDER = 'operators/etcd/1.0.0';
const CSV = `${FOLDER}/manifests/etcd.clusterserviceversion.yaml`;
const SAMPLE: Files = {
  ...Object.fromEntries(
    [...bundleFiles(new Map())].map(([path, text]) => [
      `${FOLDER}/${path}`.replace('manifests/csv.yaml', 'manifests/etcd.clusterserviceversion.yaml'),
      text
        .replace(
          '  displayName: etcd\n',
          '  displayName: etcd\n  description: Runs clusters of etcd for you\n',
        )
        .replace(/^(annotations:\n)/m, '$1  com.redhat.openshift.versions: v4.15\n'),
    ]),
  ),
  'operators/etcd/ci.yaml': 'updateGraph: replaces-mode\nreviewers: [bob]\n',
};

async function checked(base: Files, head: Files, ...options: string[]): Promise<Report> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const before = repository.commit({ [POLICY]: policy('')[POLICY] ?? '', ...base });
  const after = repository.commit(head, { parents: [before] });
  const run = ['check', '--base', before, '--head', after, '--format', 'json', ...options];
  return JSON.parse((await portolan(repository.directory, ...run)).out);
}

function rulesIn({ findings }: Report): string[] {
  return [...new Set(findings.map(({ rule, severity }) => `${severity} ${rule}`))].sort();
}

const WRONG: Files = { 'operators/etcd/ci.yaml': 'updateGraph: foo-mode\nfbc: {enabled: "yes"}\n' };

test('what a gate refuses passes without its preset, and fails with it', async () => {
  const plain = await checked(SAMPLE, WRONG);
  expect([plain.verdict, plain.gates]).toEqual(['pass', undefined]);
  const report = await checked(SAMPLE, WRONG, '--preset', 'certified');
  expect(report.verdict).toBe('fail');
  expect(rulesIn(report)).toContain('error operator/ci-config');
  expect(report.gates).toMatchObject([
    {
      preset: 'certified',
      verdict: 'fail',
      checks: [{ check: 'check_schema_operator_ci_config', errors: 2, warnings: 0 }],
    },
  ]);
  expect(report.gates?.[0]?.notChecked).toContainEqual({ check: 'preflight', why: 'needs a cluster' });
});

test('what a gate accepts passes with its preset', async () => {
  const report = await checked({}, SAMPLE, '--preset', 'community');
  expect(report.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(report).toMatchObject({ verdict: 'pass', gates: [{ preset: 'community', verdict: 'pass' }] });
});

test('a policy names presets, and its own word on a rule counts before theirs', async () => {
  const base = { ...SAMPLE, ...policy('presets: [community]\nrules: {operator/ci-config: "off"}\n') };
  const report = await checked(base, {
    ...WRONG,
    'operators/etcd/ci.yaml': 'reviewers: []\nupdateGraph: semver-mode\n',
  });
  expect(rulesIn(report)).not.toContain('error operator/ci-config');
  expect(report.gates?.[0]?.notChecked).toContainEqual({
    check: 'check_schema_operator_ci_config',
    why: 'the policy turns off operator/ci-config',
  });
  const warned = await checked(
    { ...SAMPLE, ...policy('presets: [community]\nrules: {operator/ci-config: warning}\n') },
    { 'operators/etcd/ci.yaml': 'reviewers: []\nupdateGraph: semver-mode\n' },
  );
  // The gate does not know what the policy says.
  expect(warned).toMatchObject({ verdict: 'pass', gates: [{ verdict: 'fail' }] });
});

test('what the base branch has as well counts for a gate, and stops no merge', async () => {
  const broken = { ...SAMPLE, 'operators/etcd/ci.yaml': 'updateGraph: semver-mode\nreviewers: []\n' };
  const head = { 'operators/etcd/ci.yaml': 'updateGraph: replaces-mode\nreviewers: []\n' };
  expect((await checked(broken, head)).verdict).toBe('pass');
  const report = await checked(broken, head, '--preset', 'community');
  expect(report).toMatchObject({ verdict: 'pass', gates: [{ verdict: 'fail' }] });
  expect(report.known.map(({ rule }) => rule)).toContain('operator/ci-config');
});

test('a defect of a whole operator is known, whichever of its bundles shows it', async () => {
  const named = (version: string, name: string): Files =>
    Object.fromEntries(
      Object.entries(SAMPLE).map(([path, text]) => [
        path.replace(FOLDER, `operators/etcd/${version}`),
        String(text).replaceAll('1.0.0', version).replace(`etcd.v${version}`, `${name}.v${version}`),
      ]),
    );
  const other = await checked(SAMPLE, named('1.1.0', 'other'), '--preset', 'community');
  expect(rulesIn(other)).toContain('error operator/other-name');
  const base = { ...SAMPLE, ...named('1.1.0', 'other') };
  const more = await checked(base, named('1.2.0', 'other'), '--preset', 'community');
  expect(rulesIn(more)).not.toContain('error operator/other-name');
  expect(more.known.map(({ rule }) => rule)).toContain('operator/other-name');
});

test('a bundle that is wrong for a gate stops the merge that brings it alone', async () => {
  const path = 'catalogs/v4.20/etcd/catalog.yaml';
  const news = async (base: Files, head: Files): Promise<string[]> => {
    const { findings } = await checked(base, head, '--preset', 'konflux');
    return findings.flatMap(({ rule, severity }) => (severity === 'error' ? [rule] : [])).sort();
  };
  const base = { [path]: catalogOf('etcd', ['1.0.0']) };
  expect(await news(base, { [path]: `${base[path]}\n` })).toEqual([]);
  expect(await news(base, { 'catalogs/v4.21/etcd/catalog.yaml': base[path] ?? '' })).toEqual([]);
  expect(await news(base, { [path]: catalogOf('etcd', ['1.0.0', '1.1.0']) })).toEqual([
    'bundle/metadata-missing',
    'bundle/registry',
  ]);
});

test('a bundle is checked as operator-sdk does it for the newest OpenShift of its range', async () => {
  const head: Files = {
    ...SAMPLE,
    [`${FOLDER}/manifests/policy.yaml`]:
      'apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: deny}\nspec: {podSelector: {}}\n',
    [CSV]: String(SAMPLE[CSV]).replace('version: 1.0.0', 'version: 1.0.1'),
  };
  const report = await checked({}, head, '--preset', 'certified');
  expect(rulesIn(report)).toEqual(
    expect.arrayContaining(['error manifest/network-policy', 'error operator/version-folder']),
  );
  expect(rulesIn(await checked({}, head))).toContain('info manifest/network-policy');
});

test('bundles of catalogs are from the registries of config.yaml on the base branch, or of the gate', async () => {
  const path = 'catalogs/v4.20/etcd/catalog.yaml';
  const config = (prefix: string): Files => ({ 'config.yaml': `allowed_bundle_registries: [${prefix}]\n` });
  const catalogs = { [path]: catalogOf('etcd', ['1.0.0']) };
  const head = { [path]: catalogOf('etcd', ['1.0.0', '1.1.0']) };
  const registry = 'quay.io/org/';
  const found = async (prefix: string, more: Files = {}): Promise<boolean> => {
    const report = await checked(
      { ...catalogs, ...config(prefix) },
      { ...head, ...more },
      '--preset',
      'community',
    );
    return rulesIn(report).includes('error bundle/registry');
  };
  expect(await found(registry)).toBe(false);
  expect(await found('registry.example/')).toBe(true);
  // A pull request cannot allow itself another registry.
  expect(await found('registry.example/', config(registry))).toBe(true);
  const konflux = await checked(catalogs, head, '--preset', 'konflux');
  expect(rulesIn(konflux)).toEqual(
    expect.arrayContaining(['error bundle/metadata-missing', 'error bundle/registry']),
  );
});

test("the Dockerfile of a catalog is checked with Konflux's preset, if it or its catalog changes", async () => {
  const dockerfile = (base: string): string =>
    `FROM ${base}\nCOPY catalogs/v4.20 /configs\nLABEL operators.operatorframework.io.index.configs.v1=/configs\n`;
  const wrong = { 'v4.20.Dockerfile': dockerfile('quay.io/operator-framework/opm:v1.50.0') };
  const right = {
    'v4.20.Dockerfile': dockerfile('registry.redhat.io/openshift4/ose-operator-registry-rhel9:v4.20'),
  };
  const path = 'catalogs/v4.20/etcd/catalog.yaml';
  const catalogs = { [path]: catalogOf('etcd', ['1.0.0']) };
  const changed = { [path]: catalogOf('etcd', ['1.0.0', '1.1.0']) };
  const found = async (base: Files, head: Files, ...options: string[]): Promise<string[]> => {
    const { findings, known } = await checked(base, { ...base, ...head }, ...options);
    return [...findings, ...known].map(({ rule }) => rule).filter((rule) => rule.startsWith('fragment/'));
  };
  const konflux = ['--preset', 'konflux'];
  expect(await found({ ...catalogs, ...wrong }, changed, ...konflux)).toEqual(['fragment/base-image']);
  expect(await found({ ...catalogs, ...right }, changed, ...konflux)).toEqual([]);
  expect(await found({ ...catalogs, ...right }, wrong, ...konflux)).toEqual(['fragment/base-image']);
  expect(await found({ ...catalogs, ...wrong }, changed)).toEqual([]);
  // Nothing of the image changes.
  expect(await found({ ...catalogs, ...wrong }, { 'README.md': 'x\n' }, ...konflux)).toEqual([]);
  const moved = { 'v4.20.Dockerfile': right['v4.20.Dockerfile'].replace('catalogs/v4.20', path) };
  expect(await found({ ...catalogs, ...right }, moved, ...konflux)).toEqual(['fragment/folders']);
  // A new file in the image does not make a defect of the Dockerfile new.
  const added = { 'catalogs/v4.20/quay/catalog.yaml': catalogOf('quay', ['3.0.0']) };
  const { findings, known } = await checked({ ...catalogs, ...wrong }, added, ...konflux);
  expect(known.map(({ rule }) => rule)).toContain('fragment/base-image');
  expect(findings.map(({ rule }) => rule)).not.toContain('fragment/base-image');
});

test('an unknown preset is an error that names those that there are', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  repository.commit({ a: '' });
  const { exit, err } = await portolan(
    repository.directory,
    'check',
    '--base',
    'HEAD',
    '--preset',
    'comunity',
  );
  expect([exit, err]).toEqual([
    2,
    expect.stringContaining(`one of ${PRESET_NAMES.join(', ')}, not "comunity"`),
  ]);
});

test.each(PRESET_NAMES)('every row of %s names rules that there are, or why it is not checked', (name) => {
  const ids = new Map(RULES.map((rule) => [rule.id, rule]));
  for (const row of PRESETS[name].rows) {
    if ('notChecked' in row) expect(row.notChecked).toMatch(/^[a-z]/);
    else expect(rulesOf(row).size, row.check).toBeGreaterThan(0);
    for (const id of rulesOf(row).keys()) expect(ids.has(id), `${row.check}: ${id}`).toBe(true);
  }
  expect(PRESETS[name].commit).toMatch(/^[0-9a-f]{40}$/);
});

test('each preset is under its name', () => {
  const all = [COMMUNITY, CERTIFIED, KONFLUX, CONFORMA, OPERATORHUB];
  expect(all.map(({ name }) => name)).toEqual(PRESET_NAMES);
  expect(Object.values(PRESETS)).toEqual(all);
});

test('every rule that only presets run is in a preset', () => {
  const all = presetSeverities(PRESET_NAMES);
  const unused = RULES.filter(({ id, isOptional }) => isOptional && !all.has(id)).map(({ id }) => id);
  expect(unused).toEqual([]);
});
