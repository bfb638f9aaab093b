import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bundle, documents } from '../../../fakes/gate.ts';
import { type Files, makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const POLICY = 'apiVersion: portolan/v1alpha1\nkind: Portolan\n';

/** A package with one version, and further properties of it. */
function packageOf(name: string, ...properties: object[]): string {
  return documents(
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', package: name, name: 'stable', entries: [{ name: `${name}.v1.0.0` }] },
    bundle(name, '1.0.0', {
      properties: [{ type: 'olm.package', value: { packageName: name, version: '1.0.0' } }, ...properties],
    }),
  );
}

function ci(strategy: string, ...lines: string[]): string {
  return [
    '---',
    'reviewers: [alice]',
    'fbc:',
    '  enabled: true',
    ...(strategy ? [`  version_promotion_strategy: ${strategy}`] : []),
    ...lines,
    '',
  ].join('\n');
}

const FILES: Files = {
  '.github/portolan.yaml': POLICY,
  'catalogs/v4.21/always/catalog.yaml': packageOf('always'),
  'catalogs/v4.21/always/extra/more.yaml': 'schema: example.com/note\npackage: always\n',
  'catalogs/v4.21/asked/catalog.yaml': packageOf('asked'),
  'catalogs/v4.21/never/catalog.yaml': packageOf('never'),
  'catalogs/v4.21/odd/catalog.yaml': packageOf('odd'),
  'catalogs/v4.21/there/catalog.yaml': packageOf('there'),
  'catalogs/v4.22/there/catalog.yaml': `# as its owners want it\n${packageOf('there')}`,
  'operators/always/ci.yaml': ci(
    'always',
    '  catalog_mapping:',
    '    - template_name: basic.yaml',
    '      type: olm.template.basic',
    '      catalog_names:',
    '        - "v4.20" # old',
    '        - "v4.21" # new',
    '        - v4.99',
  ),
  'operators/asked/ci.yaml': ci(
    '',
    '  catalog_mapping: [{template_name: a.yaml, catalog_names: [v4.20, v4.21], type: olm.semver}]',
  ),
  'operators/never/ci.yaml': ci('never'),
  'operators/odd/ci.yaml': ci('sometimes'),
};

function repository(files: Files = {}): TestRepository {
  const made = makeRepository();
  onTestFinished(made.remove);
  const commit = made.commit({ ...FILES, ...files });
  made.git('reset', '--quiet', '--hard', commit);
  return made;
}

const promote = ({ directory }: TestRepository, ...words: string[]) =>
  portolan(directory, 'promote', '--from', 'v4.21', '--to', 'v4.22', ...words);

test('each package goes as its ci.yaml says; what the next catalog has stays as it is', async () => {
  const made = repository();
  const read = (path: string): string => readFileSync(join(made.directory, path), 'utf8');
  const { exit, out, err } = await promote(made);
  expect(exit).toBe(0);
  expect(out.trim().split('\n')).toEqual([
    'catalogs/v4.22/always/catalog.yaml',
    'catalogs/v4.22/always/extra/more.yaml',
    'catalogs/v4.22/asked/catalog.yaml',
    'operators/always/ci.yaml',
    'operators/asked/ci.yaml',
  ]);
  expect(err).toContain('skipped never: its version_promotion_strategy is never\n');
  expect(err).toContain(
    'skipped odd: its version_promotion_strategy is "sometimes", expected always, never or review-needed\n',
  );
  expect(err).toContain('promoted 2 packages, skipped 2\n');
  expect(read('catalogs/v4.22/always/catalog.yaml')).toBe(FILES['catalogs/v4.21/always/catalog.yaml']);
  expect(read('catalogs/v4.22/there/catalog.yaml')).toBe(FILES['catalogs/v4.22/there/catalog.yaml']);
  expect(existsSync(join(made.directory, 'catalogs/v4.22/never'))).toBe(false);
  expect(read('operators/always/ci.yaml')).toContain(
    '        - "v4.21" # new\n        - "v4.22"\n        - v4.99\n',
  );
  expect(read('operators/asked/ci.yaml')).toContain('catalog_names: [v4.20, v4.21, v4.22], type');
});

test('said again, there is nothing to do', async () => {
  const made = repository();
  await promote(made);
  made.git('add', '--all');
  made.git('commit', '--quiet', '--message', 'promoted');
  expect(await promote(made)).toMatchObject({ exit: 0, out: '' });
});

test('what clusters will notice is reported', async () => {
  const removed = { type: 'olm.maxOpenShiftVersion', value: '4.21' };
  const made = repository({ 'catalogs/v4.21/asked/catalog.yaml': packageOf('asked', removed) });
  const { exit, err } = await promote(made);
  expect(exit).toBe(1);
  expect(err).toContain('catalogs/v4.22/asked/catalog.yaml:');
  expect(err).toContain('(graph/max-openshift-version)');
  expect(err).not.toMatch(/error: package "always"/);
  expect(existsSync(join(made.directory, 'catalogs/v4.22/asked'))).toBe(false);
  expect((await promote(made, '--accept-stranding')).exit).toBe(0);
  expect(existsSync(join(made.directory, 'catalogs/v4.22/asked'))).toBe(true);
});

test.each([
  [['--to', 'v4.21'], '"v4.21" is not the name of another catalog'],
  [['--to', '../v4.22'], '"../v4.22" is not the name of another catalog'],
  [['--from', 'v4.2'], 'the repository has no catalog "v4.2"'],
])('%j cannot be promoted', async (words, why) => {
  const made = repository();
  const { exit, err } = await promote(made, ...words);
  expect(exit).toBe(2);
  expect(err).toContain(why);
});

test('a link is not copied', async () => {
  const made = repository();
  const blob = made.git('hash-object', '-w', 'operators/never/ci.yaml');
  made.git('update-index', '--add', '--cacheinfo', `120000,${blob},catalogs/v4.21/asked/link.yaml`);
  made.git('commit', '--quiet', '--message', 'link');
  const { err } = await promote(made);
  expect(err).toContain('skipped asked: catalogs/v4.22/asked/link.yaml would be a symbolic link');
});

test('options of the whole catalog do not go with a package', async () => {
  const { exit, err } = await promote(repository(), 'asked', '--group');
  expect(exit).toBe(2);
  expect(err).toContain('--group has no effect with PACKAGE');
});
