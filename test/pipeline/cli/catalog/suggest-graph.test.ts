import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type WrittenPackage, written } from '../../../catalog/olm/universe.ts';
import { folder } from '../../../fakes/folder.ts';
import { runCommand } from '../../../fakes/terminal.ts';

const TRAP: WrittenPackage = {
  versions: ['0.2.0', '0.2.3', '0.3.0'],
  channels: {
    fast: [
      { name: 'p.v0.3.0', replaces: 'p.v0.2.3', skips: ['p.v0.2.3'] },
      { name: 'p.v0.2.3', skips: ['p.v0.2.0'] },
      { name: 'p.v0.2.0' },
    ],
  },
};

const RANGED: WrittenPackage = {
  versions: ['1.0.0', '1.1.0'],
  channels: {
    stable: [{ name: 'q.v1.0.0' }, { name: 'q.v1.1.0', replaces: 'q.v1.0.0', skipRange: '>=1.0.0 <1.1.0' }],
  },
};

function directoryOf(packages: Readonly<Record<string, WrittenPackage>>): string {
  const directory = folder();
  mkdirSync(join(directory, 'v4.20'));
  writeFileSync(join(directory, 'v4.20', 'catalog.json'), written(packages));
  return directory;
}

describe('portolan suggest-graph', () => {
  test('sums up a catalog, one line for each package', async () => {
    const directory = directoryOf({ p: TRAP, q: RANGED });
    const { exit, out } = await runCommand(['suggest-graph', 'v4.20'], { directory });
    expect(out).toBe(
      [
        'p: 3 -> 2 entries, stranded installations 1 -> 0',
        'q: 2 -> 1 entry, stranded installations 0 -> 0',
        '2 packages: 5 -> 3 entries, stranded installations 1 -> 0',
        '',
      ].join('\n'),
    );
    expect(exit).toBe(0);
  });

  test('shows what changes in a package, and who gets an upgrade path', async () => {
    const directory = directoryOf({ p: TRAP });
    const { out } = await runCommand(['suggest-graph', '--package', 'p', 'v4.20'], { directory });
    expect(out).toBe(
      [
        'p: 3 -> 2 entries',
        '  channel fast: 3 -> 2 entries',
        '    p.v0.3.0, replaces p.v0.2.3',
        '    p.v0.2.3, skips p.v0.2.0',
        '  remove from the catalog, with their deprecations: p.v0.2.0',
        '  gets an upgrade path, OLM v0, channel fast: 0.2.0',
        '',
      ].join('\n'),
    );
  });

  test('writes the channels that change, to paste', async () => {
    const directory = directoryOf({
      q: RANGED,
      r: { versions: ['1.0.0'], channels: { a: [{ name: 'r.v1.0.0' }] } },
    });
    const { out } = await runCommand(['suggest-graph', '-o', 'yaml', 'v4.20'], { directory });
    expect(out).toBe(
      [
        '---',
        'entries:',
        '- name: q.v1.1.0',
        '  replaces: q.v1.0.0',
        "  skipRange: '>=1.0.0 <1.1.0'",
        'name: stable',
        'package: q',
        'schema: olm.channel',
        '',
      ].join('\n'),
    );
  });

  test('--check fails only where the suggestion helps somebody', async () => {
    const directory = directoryOf({ p: TRAP, q: RANGED });
    const exitOf = async (name: string): Promise<number> =>
      (await runCommand(['suggest-graph', '--check', '--package', name, 'v4.20'], { directory })).exit;
    expect(await exitOf('p')).toBe(1);
    expect(await exitOf('q')).toBe(0);
  });

  test('refuses what is not a version, and versions and packages that are not there', async () => {
    const directory = directoryOf({ q: RANGED });
    const error = async (...words: string[]): Promise<string> =>
      (await runCommand(['suggest-graph', ...words, 'v4.20'], { directory })).err;
    expect(await error('--stop', 'x')).toContain('--stop must be a version such as 1.4.2, not "x"');
    expect(await error('--avoid', '9.9.9')).toContain(
      '--avoid 9.9.9: the package q does not have this version',
    );
    expect(await error('--supported', '1')).toContain(
      '--supported must be a minor version such as 1.4, not "1"',
    );
    expect(await error('--package', 'z')).toContain('no catalog has the package "z"');
  });

  test('shows only what differs from today', async () => {
    const directory = directoryOf({ p: TRAP });
    const { out } = await runCommand(['suggest-graph', '--diff', 'v4.20'], { directory });
    expect(out).toBe(
      [
        'p, channel fast',
        '- p.v0.3.0, replaces p.v0.2.3, skips p.v0.2.3',
        '- p.v0.2.0',
        '+ p.v0.3.0, replaces p.v0.2.3',
        '',
      ].join('\n'),
    );
  });

  test('makes channels and templates of a list of versions', async () => {
    const directory = folder();
    writeFileSync(join(directory, 'versions.txt'), '1.0.0\n1.1.0 foo.v1.1.0 quay.io/example/foo:v1.1.0\n');
    const run = (...words: string[]): ReturnType<typeof runCommand> =>
      runCommand(['suggest-graph', '--package', 'foo', '--versions', 'versions.txt', ...words], {
        directory,
      });
    expect((await run('--channels', 'minor')).out).toBe(
      [
        'foo: 0 -> 2 entries',
        '  channel stable-v1.0: 0 -> 1 entry',
        '    foo.v1.0.0',
        '  channel stable-v1.1: 0 -> 1 entry',
        '    foo.v1.1.0, replaces foo.v1.0.0',
        '  direct upgrades that no entry has today:',
        '    1.0.0 -> 1.1.0',
        '',
      ].join('\n'),
    );
    expect((await run()).out).toContain('\n  not needed in the catalog: foo.v1.0.0\n');
    const several = await run('--channels', 'stable,minor', '-o', 'yaml');
    expect(several.exit, several.err).toBe(0);
    expect(several.out.match(/^name: .*/gm)).toEqual([
      'name: stable',
      'name: stable-v1.0',
      'name: stable-v1.1',
    ]);
    expect((await run('--channels', 'stabel')).err).toContain('not "stabel"');
    expect((await run('--template', 'basic')).out).toBe(
      [
        '---',
        'entries:',
        '- defaultChannel: stable',
        '  name: foo',
        '  schema: olm.package',
        '- entries:',
        '  - name: foo.v1.1.0',
        '    replaces: foo.v1.0.0',
        '  name: stable',
        '  package: foo',
        '  schema: olm.channel',
        '- image: quay.io/example/foo:v1.1.0',
        '  schema: olm.bundle',
        'schema: olm.template.basic',
        '',
        '',
      ].join('\n'),
    );
    expect((await run('--template', 'semver')).err).toContain('--template needs the image of foo.v1.0.0');
    expect((await run('--channels', 'today')).err).toContain(
      '--channels today stands alone, and needs a catalog',
    );
    expect((await run('v4.20')).err).toContain('name either a catalog or --versions FILE');
  });

  test.each([
    ['--stop', '9.9.9', 'does not have this version'],
    ['--avoid', '9.9.9', 'does not have this version'],
    ['--supported', '9.9', 'does not have a version of this minor version'],
    ['--supported', '1.9', 'does not have a version of this minor version'],
    ['--supported', '9.0', 'does not have a version of this minor version'],
  ])('%s that would have no effect is an error', async (option, value, message) => {
    const directory = folder();
    writeFileSync(join(directory, 'versions.txt'), '1.0.0\n1.1.0\n');
    const words = ['suggest-graph', '--package', 'foo', '--versions', 'versions.txt'];
    const { exit, err } = await runCommand([...words, option, value], { directory });
    expect(exit).toBe(2);
    expect(err).toContain(`${option} ${value}: the package foo ${message}`);
    const known = option === '--supported' ? '1.0' : '1.0.0';
    expect((await runCommand([...words, option, known], { directory })).exit).toBe(0);
  });

  test('--avoid without --package concerns the packages that have the version', async () => {
    const directory = directoryOf({
      p: {
        versions: ['1.0.0', '1.1.0'],
        channels: { a: [{ name: 'p.v1.0.0' }, { name: 'p.v1.1.0', replaces: 'p.v1.0.0' }] },
      },
      r: { versions: ['2.0.0'], channels: { a: [{ name: 'r.v2.0.0' }] } },
    });
    const run = (...words: string[]) => runCommand(['suggest-graph', 'v4.20', ...words], { directory });
    const one = await run('--avoid', '1.0.0');
    expect(one.exit, one.err).toBe(0);
    expect((await run('--avoid', '9.9.9')).err).toContain('--avoid 9.9.9: no package has this version');
  });

  test('--diff is of the text', async () => {
    const directory = directoryOf({ r: { versions: ['1.0.0'], channels: { a: [{ name: 'r.v1.0.0' }] } } });
    const run = (...words: string[]) =>
      runCommand(['suggest-graph', 'v4.20', '--diff', ...words], { directory });
    expect((await run('-o', 'json')).err).toContain('--diff and --output json cannot be used together');
    expect((await run('--template', 'basic')).err).toContain('--diff and --template cannot be used together');
    expect((await run('-o', 'text')).exit).toBe(0);
  });

  test('names what YAML cannot hold; JSON holds it', async () => {
    const directory = directoryOf({ q: RANGED });
    const file = join(directory, 'v4.20', 'catalog.json');
    const text = readFileSync(file, 'utf8');
    const key = 'k'.repeat(2000);
    writeFileSync(file, text.replace('"defaultChannel"', `"${key}":1,"defaultChannel"`));
    const run = (...words: string[]): ReturnType<typeof runCommand> =>
      runCommand(['suggest-graph', 'v4.20', '--template', 'basic', ...words], { directory });
    expect((await run()).err).toContain(`cannot write entries.0.${key} as YAML`);
    expect((await run('-o', 'json')).out).toContain(`"${key}": 1`);
  });
});
