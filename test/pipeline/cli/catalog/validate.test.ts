import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { catalogOf } from '../../../fakes/gate.ts';
import { makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const GOOD = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']) };
const BAD = { 'catalogs/v4.20/tug/catalog.yaml': 'schema: olm.package\nname: tug\ndefaultChannel: stable\n' };

test('what is no catalog, or several of them, is said to be that', async () => {
  const directory = folder();
  const run = (operand: string) => portolan(directory, 'validate', operand);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  };
  write('one.json', '{}');
  expect(await run('one.json')).toMatchObject({
    exit: 2,
    err: expect.stringContaining(`is not a directory\n  use the directory that contains it: ${directory}\n`),
  });
  write('none/.indexignore', '');
  expect((await run('none')).err).toContain('0 bundles\n  none contains no packages: check the path\n');
  for (const version of ['v4.19', 'v4.20'])
    write(`catalogs/${version}/etcd/catalog.yaml`, catalogOf('etcd', ['1.0.0', '1.1.0']));
  const several =
    'the directory contains several catalogs; validate them one by one, for example portolan validate catalogs/v4.20\n';
  expect(await run('catalogs')).toMatchObject({ exit: 1, err: expect.stringContaining(several) });
  expect((await run('.')).err).toContain(several);
  expect((await run('catalogs/v4.20')).err).toBe('PASS: no findings in 1 package, 2 bundles\n');
});

test('a directory of a commit is judged as its checkout is, with a memory and without', async () => {
  const { directory, commit, git, remove } = makeRepository();
  onTestFinished(remove);
  const good = commit(GOOD, { branch: 'main' });
  commit(BAD, { parents: [good], branch: 'bad' });
  const cache = folder();
  git('checkout', '--quiet', 'bad');
  const checkout = await portolan(join(directory, 'catalogs'), 'validate', 'v4.20');
  expect(checkout.exit).toBe(1);
  const words = ['validate', '--commit', 'bad', 'catalogs/v4.20'];
  expect(await portolan(directory, ...words)).toEqual(checkout);
  expect(await portolan(directory, ...words, '--cache', cache)).toEqual(checkout);
  const [file = ''] = readdirSync(cache);
  const written = { text: readFileSync(join(cache, file), 'utf8'), at: statSync(join(cache, file)).mtimeMs };
  expect(await portolan(directory, ...words, '--cache', cache)).toEqual(checkout);
  // The checkout is remembered by the same names: nothing is written anew.
  expect(await portolan(directory, 'validate', 'catalogs/v4.20', '--cache', cache)).toEqual(checkout);
  expect(readFileSync(join(cache, file), 'utf8')).toBe(written.text);
  expect(statSync(join(cache, file)).mtimeMs).toBe(written.at);
  const main = await portolan(
    folder(),
    'validate',
    '--repo',
    directory,
    '--commit',
    'main',
    './catalogs/v4.20/',
  );
  expect(main).toMatchObject({ exit: 0, err: expect.stringContaining('1 package, 2 bundles') });
});

test('a directory that a commit does not hold, and --repo alone, are refused', async () => {
  const { directory, commit, remove } = makeRepository();
  onTestFinished(remove);
  commit(GOOD, { branch: 'main' });
  const missing = await portolan(directory, 'validate', '--commit', 'main', 'catalogs/v4.21');
  expect(missing).toMatchObject({
    exit: 2,
    err: expect.stringContaining('no directory "catalogs/v4.21" in main'),
  });
  expect((await portolan(directory, 'validate', '--repo', '.', 'catalogs')).err).toContain(
    '--repo requires --commit',
  );
});

test('105: a catalog with millions of empty values is not read to its end, whatever reads it', async () => {
  const directory = folder();
  mkdirSync(join(directory, 'dense'));
  const head = 'schema: olm.example\npackage: p\nname: p\n';
  for (const file of ['a', 'b'])
    writeFileSync(join(directory, `dense/${file}.yaml`), `${head}values:\n${'- \n'.repeat(700_000)}`);
  for (const command of ['validate', 'audit'])
    expect(await portolan(directory, command, 'dense')).toEqual({
      exit: 2,
      out: '',
      err:
        'portolan: dense: b.yaml:1: the catalog has more than 1000000 values, and less than 24 bytes for each\n' +
        '  split the catalog, or remove values that are empty\n',
    });
  rmSync(join(directory, 'dense/b.yaml'));
  expect((await portolan(directory, 'validate', 'dense')).err).toMatch(/^(?:PASS|FAIL): /m);
});
