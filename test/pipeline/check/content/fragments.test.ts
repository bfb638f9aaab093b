import { expect, onTestFinished, test, vi } from 'vitest';
import type { Change } from '../../../../pipeline/change/change.ts';
import { checkFragments } from '../../../../pipeline/check/content/fragments.ts';
import { openRepository } from '../../../../pipeline/git/repository.ts';
import { readPolicy } from '../../../../pipeline/policy/read-policy.ts';
import { bundle, catalogOf, documents } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

/** The Dockerfile of a catalog's image. */
function dockerfile(
  source: string,
  { base = `quay.io/operator-framework/opm@${DIGEST}`, to = '/configs', more = '' } = {},
): string {
  return `${more}FROM ${base}\nCOPY ${source} ${to}\nLABEL operators.operatorframework.io.index.configs.v1=/configs\n`;
}

const catalogs: Files = {
  'catalogs/v4.19/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']),
};
const BASE: Files = {
  ...catalogs,
  'v4.19.Dockerfile': dockerfile('catalogs/v4.19'),
  'v4.20.Dockerfile': dockerfile('catalogs/v4.20'),
};

interface Found {
  readonly rule: string;
  readonly severity: string;
  readonly message: string;
  readonly location: { readonly file: string };
}

/** What the check of a change says of Dockerfiles. */
async function found(head: Files, base: Files = BASE): Promise<string[]> {
  const own = (await all(head, base)).filter(({ rule }) => rule.startsWith('fragment/'));
  return own.map(({ rule, severity, location }) => `${severity} ${rule} ${location.file}`);
}

async function all(head: Files, base?: Files): Promise<Found[]> {
  const { findings = [], known = [] } = await report(head, base);
  return [...findings, ...known];
}

interface Report {
  readonly findings?: Found[];
  readonly known?: Found[];
  readonly unchecked: unknown;
  readonly verdict: string;
}

async function report(head: Files, base: Files = BASE): Promise<Report> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const before = repository.commit(base);
  const after = repository.commit(head, { parents: [before] });
  const run = ['check', '--base', before, '--head', after, '--format', 'json'];
  return JSON.parse((await portolan(repository.directory, ...run)).out);
}

test('a catalog that a changed Dockerfile leaves in no image is reported', async () => {
  const wrong = { 'v4.20.Dockerfile': dockerfile('catalogs/v4.19') };
  expect(await found(wrong)).toEqual(['warning fragment/lost-catalog v4.20.Dockerfile']);
  expect(await found({ ...wrong, 'other.Dockerfile': dockerfile('catalogs/v4.20') })).toEqual([]);
  expect(await found({ ...wrong, 'catalogs/v4.20/etcd/catalog.yaml': null })).toEqual([]);
  expect(await found({ 'v4.20.Dockerfile': dockerfile('catalogs') })).toEqual([]);
  expect(await found({ 'v4.20.Dockerfile': null })).toEqual([]);
  // An index image may have copied labels of a bundle.
  const labelled = 'LABEL operators.operatorframework.io.bundle.package.v1=etcd\n';
  const alike = { 'v4.20.Dockerfile': dockerfile('catalogs/v4.20') + labelled };
  const odd = { 'v4.20.Dockerfile': dockerfile('catalogs/v4.19') + labelled };
  expect(await found(odd, { ...BASE, ...alike })).toEqual(['warning fragment/lost-catalog v4.20.Dockerfile']);
  // A build says which catalog this is.
  const anyone = dockerfile('catalogs/$CATALOG', { more: 'ARG CATALOG\n' });
  expect(await found({ ...wrong, 'any.Dockerfile': anyone })).toEqual([]);
});

test('a label that names another folder than files are copied to is an error, and a base without a digest a warning', async () => {
  const elsewhere = { 'v4.20.Dockerfile': dockerfile('catalogs/v4.20', { to: '/catalog' }) };
  expect(await found(elsewhere)).toContain('error fragment/empty v4.20.Dockerfile');
  const untouched = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };
  expect(await found(untouched, { ...BASE, ...elsewhere })).toEqual([]);
  const tagged = dockerfile('catalogs/v4.20', {
    base: '$OPM',
    more: 'ARG OPM=quay.io/operator-framework/opm:v1\n',
  });
  expect(await found({ 'v4.20.Dockerfile': tagged })).toEqual(['warning fragment/unpinned v4.20.Dockerfile']);
  expect(
    await found({ 'v4.20.Dockerfile': `${tagged}USER 1001\n` }, { ...BASE, 'v4.20.Dockerfile': tagged }),
  ).toEqual([]);
});

test('a catalog that a build does not get any more is reported', async () => {
  const lost = (file: string): string[] => [`warning fragment/lost-catalog ${file}`];
  const ignored = { '.dockerignore': 'docs\ncatalogs/v4.20\n' };
  expect(await found(ignored)).toEqual(lost('.dockerignore'));
  expect(await found({ '.dockerignore': 'docs\n*.md\ncatalogs/v4.20/README.md\n' })).toEqual([]);
  expect(await found({ '.dockerignore': '*\n!catalogs\n' })).toEqual([]);
  // The file of the Dockerfile counts before that of the context.
  expect(await found({ ...ignored, 'v4.20.Dockerfile.dockerignore': 'docs\n' })).toEqual([]);
  expect(await found({ 'v4.20.Dockerfile.dockerignore': 'catalogs\n' })).toEqual(
    lost('v4.20.Dockerfile.dockerignore'),
  );
  // What was so before is known, and a context that is a folder has its own file.
  expect(await found({ '.dockerignore': 'catalogs\n' }, { ...BASE, ...ignored })).toEqual(
    lost('.dockerignore'),
  );
  expect(await found({ '.dockerignore': 'x\ncatalogs/v4.20\n' }, { ...BASE, ...ignored })).toEqual([]);
  const inFolder = {
    ...catalogs,
    'catalogs/build/Dockerfile': dockerfile('catalogs/v4.19'),
    'catalogs/Dockerfile': dockerfile('v4.20'),
  };
  expect(await found({ '.dockerignore': 'catalogs/v4.20\n' }, inFolder)).toEqual([]);
  expect(await found({ 'catalogs/.dockerignore': 'v4.20\n' }, inFolder)).toEqual(
    lost('catalogs/.dockerignore'),
  );
});

test('a Dockerfile that is too large, or has too many patterns of an ignore file, is said not to be checked', async () => {
  const large = { 'v4.20.Dockerfile': `# ${'x'.repeat(256 * 1024)}\n${dockerfile('catalogs/v4.19')}` };
  const why = expect.stringContaining('or too many patterns in .dockerignore');
  const said = [{ what: 'what the images of v4.20.Dockerfile have', why }];
  expect((await report(large)).unchecked).toEqual(said);
  const many = Object.fromEntries(
    Array.from({ length: 3000 }, (_, i) => [`catalogs/v4.20/etcd/${i}.yaml`, '']),
  );
  const patterns = { 'v4.20.Dockerfile.dockerignore': `${'*x'.repeat(10_000)}\n` };
  expect((await report(patterns, { ...BASE, ...many })).unchecked).toEqual(said);
  expect((await report({ '.dockerignore': 'x\n' }, { ...BASE, ...many })).unchecked).toEqual([]);
});

test('121: a Dockerfile whose files only a build knows from now on does not pass', async () => {
  const unknown = 'error fragment/unknown-catalog v4.20.Dockerfile';
  const ofImage = { 'v4.20.Dockerfile': dockerfile('--from=quay.io/other/index /configs') };
  for (const head of [
    ofImage,
    { 'v4.20.Dockerfile': dockerfile('/configs', { base: 'opm' }) },
    { 'v4.20.Dockerfile': dockerfile('catalogs/$CATALOG', { more: 'ARG CATALOG=v4.20\n' }) },
    { 'v4.20.Dockerfile': dockerfile('catalogs/v4.20 $MORE') },
    { 'v4.20.Dockerfile': `${dockerfile('catalogs/v4.20')}RUN cp /x /configs && opm serve --cache-only\n` },
    { 'v4.20.Dockerfile': `${dockerfile('catalogs/v4.20')}WORKDIR /configs\nRUN cp /x .\n` },
    { 'v4.20.Dockerfile': dockerfile('catalogs/v4.20').replace('=/configs', '=$FOLDER') },
    {
      'v4.20.Dockerfile': `${dockerfile('catalogs/v4.20')}COPY --from=quay.io/a/b /x /configs/x\n`.replace(
        '=/configs',
        '=/configs/',
      ),
    },
    // Nobody reads it, or the ignore file beside it, to its end.
    { 'v4.20.Dockerfile': `# ${'x'.repeat(256 * 1024)}\n${dockerfile('catalogs/v4.20')}` },
  ])
    expect(await found(head)).toContain(unknown);
  expect((await report(ofImage)).verdict).toBe('fail');
  // It was so before.
  const again = { 'v4.20.Dockerfile': `${ofImage['v4.20.Dockerfile']}USER 1001\n` };
  expect(await found(again, { ...BASE, ...ofImage })).toEqual([]);
  for (const source of ['./catalogs/v4.20/', 'catalogs/v4.20/etcd'])
    expect(await found({ 'v4.20.Dockerfile': dockerfile(source) })).toEqual([]);
});

test('121: a source with .. is looked for where Docker finds it', async () => {
  const lost = ['warning fragment/lost-catalog v4.20.Dockerfile'];
  expect(await found({ 'v4.20.Dockerfile': dockerfile('docs/../catalogs/v4.19') })).toEqual(lost);
  expect(await found({ 'v4.20.Dockerfile': dockerfile('../catalogs/v4.19/') })).toEqual(lost);
  expect(await found({ 'v4.20.Dockerfile': dockerfile('./catalogs/v4.19/../v4.20') })).toEqual([]);
});

test('a Dockerfile that is not one of a catalog any more loses its catalog', async () => {
  const plain = { 'v4.20.Dockerfile': 'FROM scratch\nCOPY docs /docs\n', 'docs/x': 'x' };
  expect(await found(plain)).toEqual(['warning fragment/lost-catalog v4.20.Dockerfile']);
  expect(await found({ ...plain, 'other.Dockerfile': dockerfile('catalogs/v4.20') })).toEqual([]);
  const unlabelled = { 'v4.20.Dockerfile': 'FROM scratch\nCOPY catalogs/v4.20 /configs/v4.20\n' };
  expect(await found(unlabelled)).toEqual(['warning fragment/lost-label v4.20.Dockerfile']);
});

test('what an image gets by another folder is compared with what it had', async () => {
  const served = async (head: Files, base?: Files): Promise<string[]> =>
    (await all(head, base))
      .filter(({ rule, location }) => !rule.startsWith('fragment/') && location.file.endsWith('Dockerfile'))
      .map(({ severity, rule, message }) => `${severity} ${rule} ${message}`);
  expect(await served({ 'v4.20.Dockerfile': dockerfile('catalogs/v4.19') })).toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        /^error graph\/head-regression .*; the image now copies catalogs\/v4.19\/etcd in place of catalogs\/v4.20\/etcd$/,
      ),
    ]),
  );
  expect(await served({ 'v4.19.Dockerfile': dockerfile('catalogs/v4.20') })).toEqual([]);
  const moved = {
    'catalogs/v4.20/etcd/catalog.yaml': null,
    'new/v4.20/etcd/catalog.yaml': catalogs['catalogs/v4.20/etcd/catalog.yaml'] ?? '',
    'v4.20.Dockerfile': dockerfile('new/v4.20'),
  };
  expect(await served(moved)).toEqual([]);
  expect(await served({ 'v4.20.Dockerfile': `${dockerfile('catalogs/v4.20')}# comment\n` })).toEqual([]);
});

test('a catalog is read once, however many Dockerfiles copy it', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const names = ['a', 'b', 'c'].map((name) => `${name}.Dockerfile`);
  const copying = (source: string): Files =>
    Object.fromEntries(names.map((name) => [name, dockerfile(source)]));
  const before = repository.commit({ ...catalogs, ...copying('catalogs/v4.20') });
  const after = repository.commit(copying('catalogs/v4.19'), { parents: [before] });
  const { objects } = await openRepository(repository.directory, { searchPath: process.env['PATH'] });
  const { policy } = readPolicy(Buffer.from('apiVersion: portolan/v1alpha1\nkind: Portolan\n'));
  if (!policy) throw new Error('no policy');
  const trees = { base: await objects.treeOf(before), merged: await objects.treeOf(after) };
  const read = vi.spyOn(objects, 'read');
  const change = { paths: names.map((path) => ({ path, area: 'root' })) } as unknown as Change;
  const { results } = await checkFragments({ objects, policy, trees, change });
  expect(results.filter(({ findings }) => findings.length > 0).length).toBeGreaterThan(2);
  for (const path of Object.keys(catalogs)) {
    const id = repository.git('rev-parse', `${before}:${path}`);
    expect(read.mock.calls.filter(([one]) => one === id)).toHaveLength(1);
  }
});

test("the format of a catalog is that of its image's version of OpenShift, whatever the catalog is called", async () => {
  const catalog = (type: string, value: unknown, name = 'etcd'): string =>
    documents(
      { schema: 'olm.package', name, defaultChannel: 'stable' },
      { schema: 'olm.channel', package: name, name: 'stable', entries: [{ name: `${name}.v1.0.0` }] },
      bundle(name, '1.0.0', {
        properties: [
          { type: 'olm.package', value: { packageName: name, version: '1.0.0' } },
          { type, value },
        ],
      }),
    );
  const data = Buffer.from('{"kind": "Other"}').toString('base64');
  const base = {
    'catalogs/old/etcd/catalog.yaml': catalog('olm.bundle.object', { data }),
    'catalogs/new/etcd/catalog.yaml': catalog('olm.csv.metadata', {}),
    'old.Dockerfile': dockerfile('catalogs/old'),
  };
  const image = 'registry.redhat.io/openshift4/ose-operator-registry-rhel9';
  const formats = async (head: Files, more: Files = {}): Promise<string[]> =>
    (await all(head, { ...base, ...more }))
      .filter(({ rule }) => rule === 'bundle/metadata-format')
      .map(({ location, message }) => `${location.file}: ${message.split('; ')[1]}`);
  const of = (source: string, version: string): string => dockerfile(source, { base: `${image}:${version}` });
  const wrong = ': the image is for OpenShift 4.15';
  expect(await formats({ Dockerfile: of('catalogs/new', 'v4.15') })).toEqual([`Dockerfile${wrong}`]);
  expect(await formats({ 'Dockerfile.v4-15': dockerfile('catalogs/new') })).toEqual([
    `Dockerfile.v4-15${wrong}`,
  ]);
  expect(
    await formats({
      Dockerfile: of('catalogs/old', 'v4.15'),
      'Dockerfile.v4-18': dockerfile('catalogs/new'),
    }),
  ).toEqual([]);
  const released = { Dockerfile: of('catalogs/old', 'v4.15') };
  expect(await formats({ Dockerfile: of('catalogs/new', 'v4.15') }, released)).toEqual([
    'Dockerfile: the image now copies catalogs/new/etcd in place of catalogs/old/etcd',
  ]);
  expect(await formats({ Dockerfile: `${of('catalogs/old', 'v4.16')}# comment\n` }, released)).toEqual([]);
  // One package was wrong before: another one is new.
  const more = {
    'catalogs/newer/etcd/catalog.yaml': catalog('olm.csv.metadata', {}),
    'catalogs/newer/q/catalog.yaml': catalog('olm.csv.metadata', {}, 'q'),
    Dockerfile: of('catalogs/new', 'v4.15'),
  };
  expect(await formats({ Dockerfile: of('catalogs/newer', 'v4.15') }, more)).toEqual([
    'Dockerfile: the image now copies catalogs/newer in place of catalogs/new/etcd',
  ]);
});

test('a catalog that is split by versions, as its images are, is not renamed', async () => {
  const text = catalogOf('etcd', ['1.0.0', '1.1.0']);
  const base = {
    'catalogs/stable/etcd/catalog.yaml': text,
    'Dockerfile.v4-19': dockerfile('catalogs/stable'),
    'Dockerfile.v4-20': dockerfile('catalogs/stable'),
  };
  const split = (other: string): Files => ({
    'catalogs/stable/etcd/catalog.yaml': null,
    'catalogs/v4.19/etcd/catalog.yaml': text,
    'catalogs/v4.20/etcd/catalog.yaml': other,
  });
  const images = {
    'Dockerfile.v4-19': dockerfile('catalogs/v4.19'),
    'Dockerfile.v4-20': dockerfile('catalogs/v4.20'),
  };
  const rules = async (head: Files): Promise<string[]> =>
    (await all(head, base))
      .filter(({ rule }) => rule.startsWith('graph/'))
      .map(({ severity, rule }) => `${severity} ${rule}`);
  expect(await rules({ ...split(text), ...images })).toEqual([]);
  expect(await rules(split(text))).toEqual(['warning graph/package-removed']);
  expect(await rules({ ...split(catalogOf('etcd', ['1.0.0'])), ...images })).toContain(
    'error graph/head-regression',
  );
});
