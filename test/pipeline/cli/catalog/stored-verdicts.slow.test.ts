import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkCatalog } from '../../../../catalog/rules/check-catalog.ts';
import { RULES } from '../../../../catalog/rules/index.ts';
import { type CatalogSource, sourceOf } from '../../../../catalog/source.ts';
import { checkRemembered, type Verdict } from '../../../../pipeline/cli/catalog/stored-verdicts.ts';
import { directorySource } from '../../../../pipeline/directory.ts';
import { workTreeSource } from '../../../../pipeline/git/source.ts';
import type { Store } from '../../../../pipeline/oci/image/build-cache.ts';
import { folder } from '../../../fakes/folder.ts';
import { makeRepository } from '../../../fakes/repository.ts';

function store(): Store {
  const kept = new Map<string, Uint8Array>();
  return {
    get: async (key) => kept.get(key),
    put: async (key, bytes) => void kept.set(key, bytes),
  };
}

async function judged(source: CatalogSource): Promise<Verdict> {
  const { findings, catalog } = await checkCatalog(source, RULES);
  const { packages, bundles } = catalog.blobs;
  return { findings, packages: packages.length, bundles: bundles.length };
}

function sorted({ findings, ...counts }: Verdict): unknown {
  return { ...counts, findings: findings.map((finding) => JSON.stringify(finding)).sort() };
}

test('what is remembered is what is said of the whole, at first and again', async () => {
  const names = readdirSync('test/rules', { recursive: true, encoding: 'utf8' });
  const fixtures = names.filter((name) => /\.(?:yaml|json)$/.test(name));
  const source = sourceOf(
    Object.fromEntries(fixtures.map((name) => [name, readFileSync(join('test/rules', name))])),
  );
  const whole = sorted(await judged(source));
  const memory = store();
  expect(sorted(await checkRemembered(source, RULES, memory))).toEqual(whole);
  expect(sorted(await checkRemembered(source, RULES, memory))).toEqual(whole);
});

test('an ignore file that cannot be read is still said when all else is remembered', async () => {
  const root = folder();
  writeFileSync(join(root, 'a.yaml'), 'schema: olm.package\nname: a\ndefaultChannel: gone\n');
  symlinkSync('nowhere', join(root, '.indexignore'));
  const memory = store();
  const first = await checkRemembered(directorySource(root), RULES, memory);
  expect(first.findings.map(({ rule }) => rule)).toContain('fbc/unreadable');
  expect(await checkRemembered(directorySource(root), RULES, memory)).toEqual(first);
  expect(sorted(first)).toEqual(sorted(await judged(directorySource(root))));
});

const SOUND = 'schema: olm.deprecations\npackage: a\nentries: []\n';
const BROKEN = 'schema: olm.deprecations\npackage: a\nentries: {}\n';

test('of a work tree, files are named by git as long as they are as git has them', async () => {
  const repository = makeRepository();
  onTestFinished(() => repository.remove());
  const root = join(repository.directory, 'catalogs');
  mkdirSync(join(root, 'a'), { recursive: true });
  const path = join(root, 'a', 'é "1".yaml');
  writeFileSync(path, SOUND);
  writeFileSync(join(root, 'b.yaml'), SOUND);
  symlinkSync('b.yaml', join(root, 'link.yaml'));
  repository.git('add', '.');
  const source = workTreeSource(directorySource(root), root, { searchPath: process.env['PATH'] });
  const names = async (): Promise<Record<string, string | undefined>> =>
    Object.fromEntries((await source.files()).map(({ path: at, identity }) => [at, identity]));
  const id = repository.git('hash-object', path);
  expect(await names()).toEqual({ 'a/é "1".yaml': id, 'b.yaml': id, 'link.yaml': undefined });

  // The same size and the same times.
  writeFileSync(path, BROKEN);
  utimesSync(path, 1, 1);
  expect(await names()).toMatchObject({ 'a/é "1".yaml': undefined, 'b.yaml': id });
  // Files that git was told not to look at.
  repository.git('update-index', '--assume-unchanged', 'catalogs/b.yaml');
  writeFileSync(join(root, 'b.yaml'), BROKEN);
  expect(await names()).toMatchObject({ 'b.yaml': undefined });
  rmSync(join(root, 'link.yaml'));
  const memory = store();
  expect(sorted(await checkRemembered(source, RULES, memory))).toEqual(sorted(await judged(source)));
});

test('a filter that the directory names is not run', async () => {
  const repository = makeRepository();
  onTestFinished(() => repository.remove());
  const root = join(repository.directory, 'catalogs');
  const ran = join(folder(), 'ran');
  mkdirSync(root);
  writeFileSync(join(repository.directory, '.gitattributes'), '*.yaml filter=own\n');
  writeFileSync(join(root, 'a.yaml'), SOUND);
  repository.git('add', '.');
  repository.git('config', 'filter.own.clean', `touch '${ran}'; cat`);
  repository.git('config', 'filter.own.required', 'true');
  // Git looks at the content of a file whose times differ from those in the index.
  utimesSync(join(root, 'a.yaml'), 1, 1);
  const source = workTreeSource(directorySource(root), root, { searchPath: process.env['PATH'] });
  const [file] = await source.files();
  expect(existsSync(ran)).toBe(false);
  // Its blob has what the filter made of it.
  expect(file?.identity).toBeUndefined();
});

test.each(['working-tree-encoding=UTF-16LE-BOM', 'filter=own', 'ident'])(
  '143: a file that git converts has no name: %s',
  async (attribute) => {
    const repository = makeRepository();
    onTestFinished(() => repository.remove());
    const root = join(repository.directory, 'catalogs');
    mkdirSync(root);
    writeFileSync(join(root, '.gitattributes'), `a.yaml ${attribute}\nb.yaml eol=lf -ident -filter\n`);
    writeFileSync(join(root, 'a.yaml'), Buffer.from(`\uFEFF${SOUND}`, 'utf16le'));
    writeFileSync(join(root, 'b.yaml'), SOUND);
    writeFileSync(join(root, 'c.yaml'), SOUND);
    repository.git('add', '.');
    const source = workTreeSource(directorySource(root), root, { searchPath: process.env['PATH'] });
    const named = (await source.files()).filter(({ identity }) => identity !== undefined);
    expect(named.map(({ path }) => path)).toEqual(['.gitattributes', 'b.yaml', 'c.yaml']);
  },
);

test('143: a clone that has git compare less: a changed file with the same size and time has no name', async () => {
  const repository = makeRepository();
  onTestFinished(() => repository.remove());
  const root = join(repository.directory, 'catalogs');
  const path = join(root, 'a.yaml');
  mkdirSync(root);
  writeFileSync(path, SOUND);
  utimesSync(path, 1, 1);
  repository.git('add', '.');
  repository.git('config', 'core.checkStat', 'minimal');
  repository.git('config', 'core.trustctime', 'false');
  const source = workTreeSource(directorySource(root), root, { searchPath: process.env['PATH'] });
  expect((await source.files())[0]?.identity).toBeDefined();
  // Another file, so that its number differs even within a second.
  writeFileSync(`${path}.new`, BROKEN);
  utimesSync(`${path}.new`, 1, 1);
  renameSync(`${path}.new`, path);
  expect((await source.files())[0]?.identity).toBeUndefined();
});

test('143: in a clone that names another work tree, no file has a name', async () => {
  const repository = makeRepository();
  onTestFinished(() => repository.remove());
  const other = folder({ 'a.yaml': SOUND });
  writeFileSync(join(repository.directory, 'a.yaml'), SOUND);
  repository.git('add', '.');
  repository.git('config', 'core.worktree', other);
  repository.git('update-index', '--refresh');
  writeFileSync(join(repository.directory, 'a.yaml'), BROKEN);
  const settings = { searchPath: process.env['PATH'] };
  const source = workTreeSource(directorySource(repository.directory), repository.directory, settings);
  expect((await source.files()).find(({ path }) => path === 'a.yaml')?.identity).toBeUndefined();
});

test('outside of a repository files have no names, and are told apart by content', async () => {
  const root = folder();
  writeFileSync(join(root, 'a.yaml'), SOUND);
  const source = workTreeSource(directorySource(root), root, { searchPath: '/nowhere' });
  expect((await source.files()).map(({ identity }) => identity)).toEqual([undefined]);
  const memory = store();
  await checkRemembered(source, RULES, memory);
  writeFileSync(join(root, 'a.yaml'), BROKEN);
  const { findings } = await checkRemembered(source, RULES, memory);
  expect(findings.map(({ rule }) => rule)).toContain('fbc/field-type');
});
