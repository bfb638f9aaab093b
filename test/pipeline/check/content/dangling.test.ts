import { expect, onTestFinished, test } from 'vitest';
import { operator } from '../../../fakes/gate.ts';
import { bundleFiles } from '../../../fakes/operators.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

interface Report {
  readonly findings: readonly {
    readonly rule: string;
    readonly severity: string;
    readonly location: { readonly file: string };
  }[];
  readonly known: readonly { readonly rule: string }[];
  readonly unchecked: readonly { readonly what: string; readonly why: string }[];
}

async function reportOf(base: Files, head: Files): Promise<Report> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const [before = '', after = ''] = repository.chain(base, head);
  const words = ['check', '--base', before, '--head', after, '--format', 'json'];
  return JSON.parse((await portolan(repository.directory, ...words)).out);
}

/** Bundle directories that a change leaves in no catalog. */
async function dangling(base: Files, head: Files): Promise<string[]> {
  const { findings } = await reportOf(base, head);
  return findings
    .filter(({ rule }) => rule === 'bundle/dangling')
    .map(({ severity, location }) => `${severity} ${location.file}`);
}

const directory = (version: string, folder = version): Files =>
  Object.fromEntries(
    Object.entries(bundleFiles('etcd', version)).map(([path, text]) => [
      path.replace(`/${version}/`, `/${folder}/`),
      text,
    ]),
  );
const catalog = (versions: readonly string[], name = 'v4.20'): Files => ({
  [`catalogs/${name}/etcd/catalog.yaml`]: operator('etcd', versions),
});
const place = (folder: string): string => `info operators/etcd/${folder}/metadata/annotations.yaml`;
const OLD = { ...directory('1.0.0'), ...catalog(['1.0.0']) };

test('a new bundle directory is named if no catalog takes the bundle', async () => {
  expect(await dangling(OLD, directory('1.1.0'))).toEqual([place('1.1.0')]);
  expect(await dangling(OLD, { ...directory('1.1.0'), ...catalog(['1.0.0', '1.1.0']) })).toEqual([]);
});

test('a bundle that one of two catalogs loses is still in the other', async () => {
  const all = ['1.0.0', '1.1.0'];
  const both = { ...OLD, ...directory('1.1.0'), ...catalog(all), ...catalog(all, 'v4.21') };
  expect(await dangling(both, catalog(['1.1.0'], 'v4.21'))).toEqual([]);
  expect(await dangling(both, { ...catalog(['1.1.0']), ...catalog(['1.1.0'], 'v4.21') })).toEqual([
    place('1.0.0'),
  ]);
});

test('a bundle is known by its ClusterServiceVersion where its directory is called otherwise', async () => {
  const named = { ...directory('1.1.0', '1.1'), ...catalog(['1.0.0', '1.1.0']) };
  expect(await dangling(OLD, named)).toEqual([]);
  expect(await dangling(OLD, directory('1.1.0', '1.1'))).toEqual([place('1.1')]);
});

test('what dangled before is not news', async () => {
  const before = { ...OLD, ...directory('0.9.0') };
  expect(await dangling(before, { ...directory('1.1.0'), ...catalog(['1.0.0', '1.1.0']) })).toEqual([]);
});

test('a package in no catalog is left to the pipeline that makes catalogs from directories', async () => {
  const other = { 'catalogs/v4.20/quay/catalog.yaml': operator('quay', ['1.0.0']) };
  expect(await dangling({ ...directory('1.0.0'), ...other }, directory('1.1.0'))).toEqual([]);
});

test('a catalog that cannot be read may have the bundle: the report says so', async () => {
  const broken = { ...OLD, 'catalogs/v4.21/etcd/catalog.yaml': '{"schema": "olm.bundle"' };
  const { findings, unchecked } = await reportOf(broken, directory('1.1.0'));
  expect(findings.filter(({ rule }) => rule === 'bundle/dangling')).toEqual([]);
  expect(unchecked).toContainEqual({
    what: 'whether a catalog has each bundle directory of etcd',
    why: 'some files of v4.21 cannot be read or are too large',
  });
});
