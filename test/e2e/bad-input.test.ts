/** What goes wrong for people: one clear message, the right exit code, nothing half-written. */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { folder } from '../fakes/folder.ts';
import { buildProgram, program } from '../fakes/program.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';
import { freePort } from '../fakes/tools.ts';

const BROKEN = 'schema: olm.package\nname: harbour-operator\ndefaultChannel: [stable\n';
const CATALOG = 'catalogs/v4.20/harbour-operator/catalog.yaml';

let repository: SampleRepository;
beforeAll(() => {
  buildProgram();
  repository = sampleRepository();
  return repository.remove;
});

function publish(out: string, ...parameters: readonly string[]) {
  const words = ['publish', '--repo', repository.directory, '--catalog', 'v4.20', '--out', out];
  return program([...words, ...parameters]);
}

describe('a broken YAML file', () => {
  test('is named with its line by validate, and is no verdict of a crash', () => {
    const at = folder();
    mkdirSync(join(at, 'harbour-operator'));
    writeFileSync(join(at, 'harbour-operator/catalog.yaml'), BROKEN);
    const { exit, out } = program(['validate', at]);
    expect(exit).toBe(1);
    expect(out).toMatch(/^harbour-operator\/catalog\.yaml:\d+:\d+: error: /);
    expect(out.match(/error:/g)).toHaveLength(1);
  });

  test('fails a check, and is not published', () => {
    const broken = repository.commit({ [CATALOG]: BROKEN }, { parents: [repository.base], branch: 'broken' });
    const check = program(['check', '--repo', repository.directory, '--base', 'main', '--head', broken]);
    expect(check.exit).toBe(1);
    expect(check.out).toMatch(new RegExp(`^${CATALOG}:\\d+:\\d+: error: `, 'm'));
    const [out, images] = [join(folder(), 'out'), join(folder(), 'images')];
    const { exit, err } = publish(out, '--commit', broken, '--to', `oci:${images}`);
    expect(exit).toBe(1);
    expect(err).toContain('FAIL: not published: the catalog has errors');
    expect([existsSync(out), existsSync(images)]).toEqual([false, false]);
  });
});

describe('what does not exist', () => {
  test.each([
    [['validate', 'nowhere/at/all'], 'no such'],
    [['render', 'nowhere/at/all'], 'no such'],
    [['resolve', 'nowhere/at/all'], 'no such'],
    [['mirror', 'plan', 'nowhere/at/all', '--to', 'mirror.example.com'], 'no such'],
    [['check', '--repo', 'nowhere', '--base', 'main'], 'nowhere'],
  ])('%j', (words, message) => {
    const { exit, out, err } = program(words);
    expect([exit, out]).toEqual([2, '']);
    expect(err).toMatch(/^portolan: .+\n/m);
    expect(err).toContain(message);
    expect(err).not.toMatch(/^ +at /m);
  });

  test('a catalog that the commit does not hold', () => {
    const { exit, err } = publish(join(folder(), 'out'), '--catalog', 'v4.99', '--to', `oci:${folder()}`);
    expect(exit).toBe(2);
    expect(err).toContain('no catalog "v4.99" in the commit');
    expect(err).toContain('the commit contains: v4.20');
  });
});

test('a registry that is not there', async () => {
  const out = join(folder(), 'out');
  const host = `127.0.0.1:${await freePort()}`;
  const { exit, err } = publish(out, '--to', `${host}/a:v1`, '--insecure', host);
  expect(exit).toBe(2);
  expect(err).toMatch(new RegExp(`portolan: .*${host}`));
  expect(existsSync(out) ? readdirSync(out) : []).toEqual([]);
});

test('a policy with a misspelt key decides nothing, and says which', () => {
  const policy = 'apiVersion: portolan/v1alpha1\nkind: Portolan\nlayuot: {}\n';
  const base = repository.commit(
    { '.github/portolan.yaml': policy },
    { parents: [repository.base], branch: 'misspelt' },
  );
  const { exit, out } = program([
    'check',
    '--repo',
    repository.directory,
    '--base',
    base,
    '--head',
    'addition',
  ]);
  expect(exit).toBe(1);
  expect(out).toMatch(/^\.github\/portolan\.yaml:3:1: error: .*layuot/m);
  expect(out).toContain('layout');
  const published = publish(
    join(folder(), 'out'),
    '--commit',
    base,
    '--to',
    `oci:${join(folder(), 'images')}`,
  );
  expect(published.exit).toBe(1);
  expect(published.err).toContain('layuot');
});

describe('an output that cannot be written', () => {
  test('a file stands where the directory should be', () => {
    const out = join(folder(), 'out');
    writeFileSync(out, 'mine');
    const images = join(folder(), 'images');
    const { exit, err } = publish(out, '--to', `oci:${images}`);
    expect(exit).toBe(2);
    expect(err).toContain(out);
    expect(existsSync(images)).toBe(false);
  });

  // /dev/full gives the error of a full disk to whoever writes.
  test('a full disk under standard output', () => {
    const words = ['dist/portolan.mjs', 'render', 'test/catalogs/sample/catalogs/v4.20'];
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, words, {
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^portolan: standard output: no space left on the device\n/);
  });

  const sample = 'test/catalogs/sample/catalogs/v4.20';
  const large = (at: string): string => {
    const blobs = Array.from({ length: 20_000 }, (_, i) => `schema: x\nname: n${i}\n`);
    writeFileSync(join(at, 'catalog.yaml'), blobs.join('---\n'));
    return at;
  };
  test.each([
    ['a failed verdict stays one', (at: string) => ['validate', at], 1],
    ['a failed verdict in JSON stays one', (at: string) => ['validate', at, '--format', 'json'], 1],
    ['what passes, passes', () => ['validate', sample], 0],
    ['a catalog is rendered to its end', (at: string) => ['render', large(at)], 0],
    ['what the whole program lists', () => ['list', 'bundles', sample], 0],
    ['what cannot be told stays so', (at: string) => ['validate', join(at, 'nowhere')], 2],
  ])('a reader that is gone: %s', (_, words, exit) => {
    const at = folder();
    writeFileSync(join(at, 'catalog.yaml'), BROKEN);
    // Begins when nobody reads any more, neither what is told nor what is complained of.
    const unread = '{ sleep 0.3; exec "$@" 2>&1; } | true; exit "$PIPESTATUS"';
    const command = [process.execPath, 'dist/portolan.mjs', ...words(at)];
    expect(spawnSync('bash', ['-c', unread, 'unread', ...command]).status).toBe(exit);
  });

  test('no room for layers or files: nothing is published, no part stays', () => {
    const [out, images] = [join(folder(), 'out'), join(folder(), 'images')];
    const words = ['publish', '--repo', repository.directory, '--catalog', 'v4.20', '--to', `oci:${images}`];
    // No file may grow beyond a kilobyte: the kernel refuses the write as a full disk's would be.
    const limited = 'ulimit -f 1; exec "$@"';
    const { status, stderr } = spawnSync(
      'bash',
      ['-c', limited, 'limited', process.execPath, 'dist/portolan.mjs', ...words, '--out', out],
      { encoding: 'utf8' },
    );
    expect(status).toBe(2);
    expect(stderr).toMatch(/^portolan: .+: file too large$/m);
    expect(stderr).not.toMatch(/^ +at /m);
    const left = [out, images]
      .filter((at) => existsSync(at))
      .flatMap((at) => readdirSync(at, { recursive: true, encoding: 'utf8' }));
    expect(left.filter((name) => /index\.json|receipt|part/.test(name))).toEqual([]);
  });
});
