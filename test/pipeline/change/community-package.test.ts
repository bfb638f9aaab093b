/** Catalogs that are made from bundle directories: printed, judged in pull requests, audited, published. */
import { expect, onTestFinished, test } from 'vitest';
import { folder } from '../../fakes/folder.ts';
import { catalogOf } from '../../fakes/gate.ts';
import { registry } from '../../fakes/registry.ts';
import { type Files, makeRepository, type TestRepository } from '../../fakes/repository.ts';
import { portolan } from '../../fakes/terminal.ts';

const POLICY = `apiVersion: portolan/v1alpha1
kind: Portolan
bundleCatalogs:
  names: [v4.19, v4.20]
  image: quay.io/org/{package}-bundle:v{version}
graph:
  catalogOrder: [v4.19, v4.20]
`;
const PREFIX = '  operators.operatorframework.io.bundle.';

/** A bundle directory of `ferry`. @param more lines of the spec */
function bundle(version: string, more = '', versions = '', channels = 'stable'): Files {
  return {
    [`operators/ferry/${version}/manifests/ferry.clusterserviceversion.yaml`]: `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: ferry.v${version}}
spec:
  version: ${version}
  displayName: Ferry
  install: {strategy: deployment, spec: {deployments: []}}
${more}`,
    [`operators/ferry/${version}/metadata/annotations.yaml`]: `annotations:
${PREFIX}mediatype.v1: registry+v1
${PREFIX}manifests.v1: manifests/
${PREFIX}metadata.v1: metadata/
${PREFIX}package.v1: ferry
${PREFIX}channels.v1: ${channels}
${versions === '' ? '' : `  com.redhat.openshift.versions: ${versions}\n`}`,
  };
}

function repository(): TestRepository {
  const made = makeRepository();
  onTestFinished(made.remove);
  return made;
}

const BASE: Files = {
  '.github/portolan.yaml': POLICY,
  'operators/ferry/ci.yaml': 'updateGraph: replaces-mode\nreviewers: [anna]\n',
  ...bundle('1.0.0'),
  ...bundle('1.1.0', '  replaces: ferry.v1.0.0\n'),
  ...bundle('1.2.0', '  replaces: ferry.v1.1.0\n', 'v4.20'),
  // People write this package themselves, in one catalog and by its ci.yaml.
  'operators/tug/ci.yaml': 'fbc: {enabled: true}\n',
  'operators/tug/1.0.0/manifests/tug.yaml': 'kind: X\n',
  'catalogs/v4.20/tug/catalog.yaml': catalogOf('tug', ['1.0.0']),
};

interface Blob {
  readonly schema: string;
  readonly name: string;
  readonly package?: string;
  readonly image?: string;
  readonly entries?: readonly unknown[];
}

const blobsIn = (json: string): Blob[] => JSON.parse(`[${json.replaceAll('\n}\n{', '\n},\n{')}]`);

test('each catalog has the bundles for its version, in the graph that ci.yaml says', async () => {
  const { directory, commit } = repository();
  commit(BASE, { branch: 'main' });
  const printed = await portolan(directory, 'bundle', 'catalog', 'v4.19');
  expect([printed.exit, printed.err]).toEqual([0, '']);
  const [pkg, channel, first, ...others] = blobsIn(printed.out);
  expect(pkg).toMatchObject({ schema: 'olm.package', name: 'ferry', defaultChannel: 'stable' });
  expect(channel?.entries).toEqual([
    { name: 'ferry.v1.0.0' },
    { name: 'ferry.v1.1.0', replaces: 'ferry.v1.0.0' },
  ]);
  expect(first?.image).toBe('quay.io/org/ferry-bundle:v1.0.0');
  expect(others.map(({ name }) => name)).toEqual(['ferry.v1.1.0']);
  const next = blobsIn((await portolan(directory, 'bundle', 'catalog', 'v4.20')).out);
  expect(next.filter(({ schema }) => schema === 'olm.package').map(({ name }) => name)).toEqual([
    'ferry',
    'tug',
  ]);
  expect(next.find(({ name }) => name === 'ferry.v1.2.0')?.image).toBe('quay.io/org/ferry-bundle:v1.2.0');
  const one = await portolan(directory, 'bundle', 'catalog', 'v4.20', '--package', 'tug');
  expect(blobsIn(one.out).some(({ package: of }) => of === 'ferry')).toBe(false);
});

test('catalogs tell bundles as clusters of their version read them', async () => {
  const { directory, commit } = repository();
  commit({ ...BASE, '.github/portolan.yaml': POLICY.replaceAll('v4.19', 'v4.16') }, { branch: 'main' });
  const old = await portolan(directory, 'bundle', 'catalog', 'v4.16');
  expect(old.out).toContain('olm.bundle.object');
  expect(old.out).not.toContain('olm.csv.metadata');
  const now = await portolan(directory, 'bundle', 'catalog', 'v4.20', '--package', 'ferry');
  expect(now.out).not.toContain('olm.bundle.object');
});

test('semver-mode: by version, whatever the bundles say', async () => {
  const { directory, commit } = repository();
  commit(
    { ...BASE, 'operators/ferry/ci.yaml': 'updateGraph: semver-mode\n', ...bundle('1.0.5') },
    { branch: 'main' },
  );
  const blobs = blobsIn((await portolan(directory, 'bundle', 'catalog', 'v4.19')).out);
  expect(blobs.find(({ schema }) => schema === 'olm.channel')?.entries).toEqual([
    { name: 'ferry.v1.0.0' },
    { name: 'ferry.v1.0.5', replaces: 'ferry.v1.0.0' },
    { name: 'ferry.v1.1.0', replaces: 'ferry.v1.0.5' },
  ]);
});

test.each<[string, Files, string]>([
  [
    'a bundle that replaces what is not there',
    bundle('1.3.0', '  replaces: ferry.v1.2.5\n'),
    'replaces "ferry.v1.2.5", which the package does not have',
  ],
  [
    'an unknown mode',
    { 'operators/ferry/ci.yaml': 'updateGraph: x\n' },
    'updateGraph is "x", expected replaces-mode',
  ],
  [
    'a link in place of the settings',
    { 'operators/ferry/ci.yaml': { mode: '120000', text: '../../ci.yaml' } },
    'ci.yaml is a symbolic link, expected a regular file',
  ],
  [
    'versions that say nothing',
    bundle('1.3.0', '  replaces: ferry.v1.2.0\n', 'soon'),
    'com.redhat.openshift.versions is "soon"',
  ],
])('%s is a finding, in the check too', async (_, files, message) => {
  const { directory, commit } = repository();
  const base = commit(BASE, { branch: 'main' });
  const head = commit(files, { parents: [base] });
  const printed = await portolan(directory, 'bundle', 'catalog', 'v4.20', '--commit', head);
  expect(printed.exit).toBe(1);
  expect(printed.err).toContain(message);
  const checked = await portolan(directory, 'check', '--base', base, '--head', head, '--format', 'json');
  const { findings } = JSON.parse(checked.out);
  expect(checked.exit).toBe(1);
  expect(findings).toContainEqual(
    expect.objectContaining({ rule: 'package/update-graph', message: expect.stringContaining(message) }),
  );
});

test('annotations in a submodule are a finding, and can be repaired', async () => {
  const { directory, commit } = repository();
  const path = 'operators/ferry/1.2.0/metadata/annotations.yaml';
  const base = commit(BASE, { branch: 'main' });
  const odd = commit({ [path]: { mode: '160000', id: 'a'.repeat(40) } }, { parents: [base] });
  const repaired = commit({ [path]: BASE[path] as string }, { parents: [odd] });
  const errorsOf = async (from: string, to: string): Promise<string[]> => {
    const { out } = await portolan(directory, 'check', '--base', from, '--head', to, '--format', 'json');
    const { findings } = JSON.parse(out) as { findings: { rule: string; severity: string }[] };
    return findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule);
  };
  expect(await errorsOf(base, odd)).toContain('path/mode');
  expect(await errorsOf(odd, repaired)).toEqual([]);
});

test('a pull request is judged by what becomes of the catalogs', async () => {
  const { directory, commit } = repository();
  const base = commit(BASE, { branch: 'main' });
  // Nothing leads from 1.1.0 on any more: whoever has it stays there for good.
  const head = commit(bundle('1.2.0', '  replaces: ferry.v1.0.0\n', 'v4.20'), { parents: [base] });
  const { exit, out } = await portolan(
    directory,
    'check',
    '--base',
    base,
    '--head',
    head,
    '--format',
    'json',
  );
  const { findings, packages } = JSON.parse(out);
  expect(exit).toBe(1);
  expect(packages).toMatchObject([{ name: 'ferry', catalogs: ['v4.20'] }]);
  expect(findings.map(({ rule }: { rule: string }) => rule)).toContain('graph/strands-installed-v0');
  const fine = commit(bundle('1.3.0', '  replaces: ferry.v1.2.0\n'), { parents: [base] });
  const { findings: none } = JSON.parse(
    (await portolan(directory, 'check', '--base', base, '--head', fine, '--format', 'json')).out,
  );
  expect(none.filter(({ rule }: { rule: string }) => rule.startsWith('graph/strands'))).toEqual([]);
});

test('the audit of a commit reads them, and publish makes their images', async () => {
  const { directory, commit } = repository();
  commit(BASE, { branch: 'main' });
  const audited = await portolan(directory, 'audit', '.', '--commit', 'main', '--format', 'json');
  expect(JSON.parse(audited.out).catalogs).toMatchObject([
    { name: 'v4.19', packages: 1, bundles: 2 },
    { name: 'v4.20', packages: 2, bundles: 4 },
  ]);
  const { host } = await registry();
  const published = await portolan(
    directory,
    ...['publish', '--commit', 'main', '--catalog', 'v4.20', '--to', `${host}/org/catalog:v4.20`],
    ...['--insecure', host, '--out', folder(), '--fence', 'none'],
  );
  expect([published.exit, published.err]).toEqual([0, expect.any(String)]);
  const { out } = await portolan(directory, 'render', `${host}/org/catalog:v4.20`, '--insecure', host);
  expect(out).toBe((await portolan(directory, 'bundle', 'catalog', 'v4.20')).out);
  const broken = commit(bundle('1.3.0', '  replaces: ferry.v1.2.5\n'), { branch: 'broken' });
  const refused = await portolan(
    directory,
    ...['publish', '--commit', broken, '--catalog', 'v4.20', '--to', `${host}/org/catalog:v4.20`],
    ...['--insecure', host, '--out', folder(), '--fence', 'none'],
  );
  expect(refused.exit).not.toBe(0);
});

test('120: a bundle that the base branch leaves out as well is not what a pull request causes', async () => {
  const { directory, commit } = repository();
  const modes = '  installModes: [{type: AllNamespaces, supported: true}]\n';
  const omitting = { ...BASE, ...bundle('1.1.0') };
  const base = commit({ ...omitting, ...bundle('1.2.0', '  replaces: ferry.v1.1.0\n') });
  const told = async (head: Files): Promise<{ verdict: string; left: string[]; known: string[] }> => {
    const id = commit(head, { parents: [base] });
    const { out } = await portolan(directory, ...['check', '--base', base, '--head', id, '--format', 'json']);
    const { verdict, findings, known } = JSON.parse(out);
    const left = (all: { rule: string; message: string }[]): string[] =>
      all.filter(({ rule }) => rule === 'bundle/unlisted').map(({ message }) => message.split('"')[1] ?? '');
    return { verdict, left: left(findings), known: left(known) };
  };
  expect(await told(bundle('1.3.0', `${modes}  replaces: ferry.v1.2.0\n`))).toEqual({
    verdict: 'pass',
    left: [],
    known: ['ferry.v1.0.0'],
  });
  expect(await told(bundle('1.3.0', `${modes}  replaces: ferry.v1.1.0\n`))).toEqual({
    verdict: 'fail',
    left: ['ferry.v1.2.0'],
    known: ['ferry.v1.0.0'],
  });
  // It changes no catalog: only its author can tell that it should.
  expect(await told(bundle('0.9.0', modes))).toEqual({
    verdict: 'fail',
    left: ['ferry.v0.9.0'],
    known: ['ferry.v1.0.0'],
  });
});

test('a bundle of the base branch that replaces what is not there does not stop the next one', async () => {
  const { directory, commit } = repository();
  const modes = '  installModes: [{type: AllNamespaces, supported: true}]\n';
  const base = commit({
    ...BASE,
    ...bundle('1.3.0', '  replaces: ferry.v1.2.5\n'),
    ...bundle('1.4.0', '  replaces: ferry.v1.3.0\n'),
  });
  const told = async (head: Files): Promise<readonly string[]> => {
    const id = commit(head, { parents: [base] });
    const { out } = await portolan(directory, ...['check', '--base', base, '--head', id, '--format', 'json']);
    const { findings } = JSON.parse(out) as { findings: { severity: string; message: string }[] };
    return findings.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  };
  expect(await told(bundle('1.5.0', `${modes}  replaces: ferry.v1.4.0\n`))).toEqual([]);
  expect(await told(bundle('1.5.0', `${modes}  replaces: ferry.v1.4.1\n`))).toMatchObject([
    expect.stringContaining('replaces "ferry.v1.4.1", which the package does not have'),
  ]);
});

test('a version that the skipRange of the next one leaves out is noted: its clusters go on', async () => {
  const { directory, commit } = repository();
  const modes = '  installModes: [{type: AllNamespaces, supported: true}]\n';
  const skipping =
    (range: string) =>
    (text: string): string =>
      text.replace('metadata: {', `metadata: {annotations: {olm.skipRange: '${range}'}, `);
  const next = (range: string): Files =>
    Object.fromEntries(
      Object.entries(bundle('1.3.0', modes)).map(([path, text]) => [path, skipping(range)(String(text))]),
    );
  const base = commit(BASE);
  const told = async (head: Files): Promise<string[]> => {
    const id = commit(head, { parents: [base] });
    const { out } = await portolan(directory, ...['check', '--base', base, '--head', id, '--format', 'json']);
    const { findings } = JSON.parse(out) as { findings: { rule: string; severity: string }[] };
    return findings.filter(({ rule }) => rule === 'bundle/unlisted').map(({ severity }) => severity);
  };
  expect(new Set(await told(next('<1.3.0')))).toEqual(new Set(['info']));
  expect(await told(next('<1.1.0'))).toContain('error');
});

test('a defect in a bundle of the base branch is known, and the same one in a new bundle is not', async () => {
  const { directory, commit } = repository();
  const images = "  relatedImages: [{name: shim, image: 'oci://quay.io/org/shim:v1'}]\n";
  const modes = '  installModes: [{type: AllNamespaces, supported: true}]\n';
  const defect = bundle('1.2.0', `${images}  replaces: ferry.v1.1.0\n`);
  const base = commit({ ...BASE, ...defect });
  const told = async (
    more: string,
    files: Files = {},
    ...options: string[]
  ): Promise<{ verdict: string; left: string[]; known: string[] }> => {
    const added = bundle('1.3.0', `${modes}${more}  replaces: ferry.v1.2.0\n`);
    const id = commit({ ...added, ...files }, { parents: [base] });
    const run = ['check', '--base', base, '--head', id, '--format', 'json', ...options];
    const { out } = await portolan(directory, ...run);
    const { verdict, findings, known } = JSON.parse(out);
    const left = (all: { rule: string; message: string }[]): string[] =>
      all.filter(({ rule }) => rule === 'bundle/reference').map(({ message }) => message.split('"')[1] ?? '');
    return { verdict, left: left(findings), known: left(known) };
  };
  expect(await told('')).toEqual({ verdict: 'pass', left: [], known: ['ferry.v1.2.0'] });
  expect(await told(images)).toEqual({ verdict: 'fail', left: ['ferry.v1.3.0'], known: ['ferry.v1.2.0'] });
  // The gate of a preset tests bundles that are changed, too; its word does not stop what was there before.
  const preset = ['--preset', 'community'];
  expect(await told('', {}, ...preset)).toMatchObject({ left: [], known: ['ferry.v1.2.0'] });
  const changed = bundle('1.2.0', `${images}  replaces: ferry.v1.1.0\n  displayName: Ferry\n`);
  expect(await told('', changed, ...preset)).toMatchObject({ left: [], known: ['ferry.v1.2.0'] });
});
