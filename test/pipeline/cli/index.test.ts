import { describe, expect, test, vi } from 'vitest';
import { workbench } from '../../fakes/workbench.ts';

// Reading the many files of the command line may take long on a busy machine.
vi.setConfig({ testTimeout: 30_000 });

const { run, write } = workbench();

/** A bundle directory. @param more lines of the spec */
function bundle(version: string, more = '', channels = 'stable', annotations = ''): string {
  write(
    `${version}/manifests/csv.yaml`,
    `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: foo.v${version}
  annotations: {${annotations}}
spec:
  version: ${version}
  install: {strategy: deployment, spec: {deployments: []}}
${more}`,
  );
  const prefix = '  operators.operatorframework.io.bundle.';
  write(
    `${version}/metadata/annotations.yaml`,
    `annotations:\n${prefix}package.v1: foo\n${prefix}channels.v1: ${channels}\n${prefix}channel.default.v1: stable\n`,
  );
  return version;
}

/** Entries by channel, and the default channel. */
function graphOf(json: string): Record<string, unknown> {
  const blobs = JSON.parse(`[${json.replaceAll('\n}\n{', '\n},\n{')}]`) as Record<string, unknown>[];
  return Object.fromEntries(
    blobs.flatMap((blob) =>
      blob['schema'] === 'olm.channel'
        ? [[String(blob['name']), blob['entries']]]
        : blob['schema'] === 'olm.package'
          ? [['default', blob['defaultChannel']]]
          : [],
    ),
  );
}

describe('index add', () => {
  test('replaces: edges are those of the bundles, in their channels', async () => {
    const names = [
      bundle('1.0.0'),
      bundle('1.1.0', '  replaces: foo.v1.0.0\n', 'stable,beta', 'olm.skipRange: "<1.1.0"'),
    ];
    const { code, out } = await run('index', 'add', '--bundles', names.join(','));
    expect(code).toBe(0);
    const entries = [
      { name: 'foo.v1.0.0' },
      { name: 'foo.v1.1.0', replaces: 'foo.v1.0.0', skipRange: '<1.1.0' },
    ];
    expect(graphOf(out)).toEqual({ default: 'stable', stable: entries, beta: entries });
  });

  test('semver: a version goes between its neighbours', async () => {
    write(
      'c/catalog.json',
      (
        await run(
          'index',
          'add',
          '--bundles',
          [bundle('1.0.0'), bundle('2.0.0')].join(','),
          '--mode',
          'semver',
        )
      ).out,
    );
    const { out } = await run(
      'index',
      'add',
      '--from-index',
      'c',
      '--bundles',
      bundle('1.5.0'),
      '--mode',
      'semver',
    );
    expect(graphOf(out)['stable']).toEqual([
      { name: 'foo.v1.0.0' },
      { name: 'foo.v1.5.0', replaces: 'foo.v1.0.0' },
      { name: 'foo.v2.0.0', replaces: 'foo.v1.5.0' },
    ]);
  });

  test('semver-skippatch: the last patch of a minor version skips the others', async () => {
    const names = ['1.0.0', '1.1.0', '1.2.0', '1.1.1'].map((version) => bundle(version));
    const { code, out, err } = await run(
      'index',
      'add',
      '--bundles',
      names.join(','),
      '--mode',
      'semver-skippatch',
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(graphOf(out)['stable']).toEqual([
      { name: 'foo.v1.0.0' },
      { name: 'foo.v1.1.0', replaces: 'foo.v1.0.0' },
      { name: 'foo.v1.1.1', replaces: 'foo.v1.0.0', skips: ['foo.v1.1.0'] },
      { name: 'foo.v1.2.0', replaces: 'foo.v1.1.1' },
    ]);
  });

  test('what has no place is refused', async () => {
    const dangling = await run('index', 'add', '--bundles', bundle('1.1.0', '  replaces: foo.v1.0.0\n'));
    expect(dangling).toMatchObject({ code: 2, out: '' });
    expect(dangling.err).toContain('replaces "foo.v1.0.0", which the package does not have');
    const twice = await run('index', 'add', '--bundles', `${bundle('1.0.0')},1.0.0`);
    expect(twice.err).toContain('has the bundle "foo.v1.0.0" already');
    const headless = await run('index', 'add', '--bundles', `1.0.0,${bundle('2.0.0')}`);
    expect(headless).toMatchObject({ code: 1, out: '' });
    expect(headless.err).toContain('2 heads');
    expect(await run('index', 'add', '--bundles', '1.0.0', '--mode', 'x')).toMatchObject({ code: 2 });
  });
});

describe('index rm and prune', () => {
  const CATALOG = ['foo', 'bar', 'baz']
    .map((name) => `{"schema":"olm.package","name":"${name}","defaultChannel":""}\n`)
    .join('');
  const namesIn = (json: string): string[] =>
    [...json.matchAll(/"name": "(.*)"/g)].map(([, name = '']) => name);

  test('take away, and keep', async () => {
    write('c/catalog.json', CATALOG);
    expect(namesIn((await run('index', 'rm', '--operators', 'foo,bar', '--from-index', 'c')).out)).toEqual([
      'baz',
    ]);
    expect(namesIn((await run('index', 'prune', '--packages', 'foo', '--from-index', 'c')).out)).toEqual([
      'foo',
    ]);
  });

  test('a package that is not there is an error', async () => {
    write('c/catalog.json', CATALOG);
    const { code, err } = await run('index', 'rm', '--operators', 'foo,nope', '--from-index', 'c');
    expect(code).toBe(2);
    expect(err).toContain('the index has no package nope');
  });
});
