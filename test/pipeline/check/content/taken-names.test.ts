import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { operator } from '../../../fakes/gate.ts';
import { withoutWaiting } from '../../../fakes/no-waiting.ts';
import { bundleFiles } from '../../../fakes/operators.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

/** Nobody listens there. */
const SILENT = '127.0.0.1:9';
const NEW: Files = { 'catalogs/v4.20/quay/catalog.yaml': operator('quay', ['3.0.0']) };
const BASE: Files = { 'catalogs/v4.20/vault/catalog.yaml': operator('vault', ['5.0.0']) };

interface Checked {
  readonly verdict: string;
  readonly taken: readonly string[];
  readonly unchecked: readonly { readonly what: string }[];
}

async function checked(
  { others = '', base = {}, head = NEW }: { others?: string; base?: Files; head?: Files },
  ...more: readonly string[]
): Promise<Checked> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const policy = `apiVersion: portolan/v1alpha1
kind: Portolan
registries: {allow: ['${SILENT}'], internal: ['${SILENT}']}
rules: {image/*: off}
graph: {otherCatalogs: [${others}]}
`;
  const [before = '', after = ''] = repository.chain(
    { '.github/portolan.yaml': policy, ...BASE, ...base },
    head,
  );
  const words = ['check', '--base', before, '--head', after, '--format', 'json', ...more];
  const { verdict, findings, unchecked } = JSON.parse((await portolan(repository.directory, ...words)).out);
  const taken = findings.filter(({ rule }: { rule: string }) => rule === 'graph/name-taken');
  return { verdict, unchecked, taken: taken.map(({ message }: { message: string }) => message) };
}

/** A clone of another repository. */
function cloneWith(files: Files): string {
  const other = makeRepository();
  onTestFinished(other.remove);
  other.commit(files);
  return other.directory;
}

const IS_NEW = 'package "quay" is new, but';

test('a new package has a name that no other public catalog has', async () => {
  const others = "'public/{catalog}', './more'";
  const quay = {
    'public/v4.20/a.yaml': operator('quay', ['1.0.0']),
    'more/b.yaml': operator('etcd', ['1.0.0']),
  };
  const { verdict, taken } = await checked({ others, base: quay });
  expect([verdict, taken]).toEqual(['fail', [`${IS_NEW} public/{catalog} has a package with this name`]]);
  const free = { ...quay, 'public/v4.20/a.yaml': operator('kafka', ['1.0.0']) };
  expect((await checked({ others, base: free })).taken).toEqual([]);
});

test('a package that the repository has already may be anywhere', async () => {
  const base = {
    'public/a.yaml': operator('quay', ['1.0.0']),
    'catalogs/v4.19/quay/catalog.yaml': operator('quay', ['3.0.0']),
  };
  expect((await checked({ others: 'public', base })).taken).toEqual([]);
});

test('a package that comes as a bundle directory alone is looked up, too', async () => {
  const base = { 'public/a.yaml': operator('quay', ['1.0.0']) };
  const { taken } = await checked({ others: 'public', base, head: bundleFiles('quay', '3.0.0') });
  expect(taken).toEqual([`${IS_NEW} public has a package with this name`]);
});

/** One package in each file, none of them named after it; the last file has the given one. */
function manyFiles(last: string): Files {
  const names = [...Array.from({ length: 159 }, (_, i) => `other-${i}`), last];
  return Object.fromEntries(
    names.map((name, i) => [`v4.19/x${String(i).padStart(3, '0')}.json`, operator(name, ['1.0.0'])]),
  );
}

test.each<[string, Files]>([
  ['packages below versions', { 'v4.19/catalog/quay/catalog.json': operator('quay', ['1.0.0']) }],
  ['a file for a whole catalog', { 'v4.19.json': operator('etcd', ['1.0.0']) + operator('quay', ['1.0.0']) }],
  ['bundle directories alone', bundleFiles('quay', '1.0.0')],
  ['more files alike than show the layout', manyFiles('quay')],
])('a clone of another repository is given with --other-catalogs: %s', async (_, files) => {
  const clone = cloneWith(files);
  const free = cloneWith({ 'v4.19/catalog/etcd/catalog.json': operator('etcd', ['1.0.0']) });
  const { taken } = await checked({}, '--other-catalogs', `${free},${clone}`);
  expect(taken).toEqual([`${IS_NEW} ${clone} has a package with this name`]);
  expect((await checked({}, '--other-catalogs', free)).taken).toEqual([]);
});

test('what cannot be read leaves the check of a new package inconclusive', async () => {
  withoutWaiting();
  const empty = cloneWith({ 'README.md': 'x' });
  for (const name of [empty, join(folder(), 'nothing')]) {
    const { verdict, unchecked } = await checked({}, '--other-catalogs', name);
    expect(verdict).toBe('inconclusive');
    expect(unchecked.map(({ what }) => what)).toContain(
      `whether ${name} has a package with the name of a new one`,
    );
  }
  const image = `'${SILENT}/public/index:v{minor}'`;
  expect((await checked({ others: image }, '--insecure', SILENT)).verdict).toBe('inconclusive');
  expect((await checked({ others: "'nowhere'" })).verdict).toBe('inconclusive');
  // Without a new package nothing is read.
  const head = { 'catalogs/v4.20/vault/catalog.yaml': operator('vault', ['5.0.0', '5.1.0']) };
  expect((await checked({ others: image, head }, '--other-catalogs', empty)).verdict).toBe('pass');
});

test('a name that another catalog of the repository has is that of its owners: they are asked', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const policy = `apiVersion: portolan/v1alpha1
kind: Portolan
owners: {admins: [alice], packages: {quay: [bob], kafka: [mallory]}}
`;
  const [base = '', taken = '', own = ''] = repository.chain(
    { '.github/portolan.yaml': policy, 'catalogs/community/quay/catalog.yaml': operator('quay', ['1.0.0']) },
    { 'catalogs/certified/quay/catalog.yaml': operator('quay', ['3.0.0']) },
    {
      'catalogs/certified/quay/catalog.yaml': null,
      'catalogs/certified/kafka/catalog.yaml': operator('kafka', ['3.0.0']),
    },
  );
  const needs = async (head: string): Promise<string> => {
    const words = ['check', '--base', base, '--head', head, '--author', 'mallory', '--format', 'json'];
    return JSON.parse((await portolan(repository.directory, ...words)).out).authority.needs.join('\n');
  };
  expect(await needs(taken)).toContain('@bob');
  expect(await needs(own)).not.toContain('@bob');
});
