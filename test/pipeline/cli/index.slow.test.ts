import { describe, expect, test } from 'vitest';
import { workbench } from '../../fakes/workbench.ts';

// Reading the many files of the command line may take long on a busy machine.
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
    expect(twice.err).toContain('already has the bundle "foo.v1.0.0"');
    const headless = await run('index', 'add', '--bundles', `1.0.0,${bundle('2.0.0')}`);
    expect(headless).toMatchObject({ code: 2, out: '' });
    expect(headless.err).toContain('the bundle "foo.v1.0.0" has no upgrade path to "foo.v2.0.0"');
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
    expect(err).toContain('no catalog has the package "nope"');
  });
});

describe('graphs', () => {
  test('replaces: what no head leads to any more is left out and named; what is skipped stays', async () => {
    const first = [bundle('1.0.0'), bundle('1.0.1', '  replaces: foo.v1.0.0\n')];
    write('c/catalog.json', (await run('index', 'add', '--bundles', first.join(','))).out);
    const next = bundle('1.1.0', '  replaces: foo.v1.0.0\n');
    const words = ['index', 'add', '--from-index', 'c', '--bundles', next];
    expect(await run(...words)).toMatchObject({ code: 1, out: '', err: expect.stringContaining('strands') });
    const { code, out, err } = await run(...words, '--accept-stranding');
    expect(code).toBe(0);
    expect(err).toContain('the bundle "foo.v1.0.1" of the package "foo" is left out');
    expect(graphOf(out)['stable']).toEqual([
      { name: 'foo.v1.0.0' },
      { name: 'foo.v1.1.0', replaces: 'foo.v1.0.0' },
    ]);
    const skips = bundle('1.1.0', '  replaces: foo.v1.0.0\n  skips: [foo.v1.0.1, foo.v0.9.0]\n');
    const kept = await run('index', 'add', '--from-index', 'c', '--bundles', skips);
    expect(kept.err).not.toContain('error');
    expect(graphOf(kept.out)['stable']).toEqual([
      { name: 'foo.v1.0.0' },
      { name: 'foo.v1.0.1' },
      { name: 'foo.v1.1.0', replaces: 'foo.v1.0.0', skips: ['foo.v1.0.1', 'foo.v0.9.0'] },
    ]);
  });

  test('semver: ranges of the bundles stay, and the icon is that of the default channel’s head', async () => {
    const icon = (text: string): string => `  icon: [{base64data: ${btoa(text)}, mediatype: image/png}]\n`;
    const names = [
      bundle('1.0.0', icon('a'), 'stable', 'olm.skipRange: "<1.0.0"'),
      bundle('2.0.0', icon('b')),
    ];
    const { out } = await run('index', 'add', '--bundles', names.join(','), '--mode', 'semver');
    expect(graphOf(out)['stable']).toEqual([
      { name: 'foo.v1.0.0', skipRange: '<1.0.0' },
      { name: 'foo.v2.0.0', replaces: 'foo.v1.0.0' },
    ]);
    expect(out).toContain(`"base64data": "${btoa('b')}"`);
  });

  test('a default channel that there is not is refused', async () => {
    const { code, err } = await run('index', 'add', '--bundles', bundle('1.0.0', '', 'alpha'));
    expect(code).toBe(2);
    expect(err).toContain('the default channel "stable" is not one of the channels "alpha"');
  });
});

describe('--tag', () => {
  test('the image holds the catalog that would be printed, and is the same every time', async () => {
    const names = [bundle('1.0.0'), bundle('1.1.0', '  replaces: foo.v1.0.0\n')].join(',');
    const printed = await run('index', 'add', '--bundles', names);
    const first = await run('index', 'add', '--bundles', names, '--tag', 'oci:images:v1');
    expect(first).toMatchObject({ code: 0 });
    expect(first.out).toMatch(/^sha256:[0-9a-f]{64}\n$/);
    expect(first.err).toContain('building without a base image: the image has no server\n');
    expect((await run('index', 'add', '--bundles', names, '--tag', 'oci:again:v1')).out).toBe(first.out);
    expect((await run('render', 'oci:images:v1')).out).toBe(printed.out);
    const next = bundle('1.2.0', '  replaces: foo.v1.1.0\n');
    const second = await run(
      'index',
      'add',
      '--from-index',
      'oci:images:v1',
      '--bundles',
      next,
      '--tag',
      'oci:images:v2',
    );
    expect(second.code).toBe(0);
    expect((await run('list', 'bundles', 'oci:images:v2')).out).toContain('foo.v1.2.0');
    const pruned = await run(
      'index',
      'prune',
      '--packages',
      'foo',
      '--from-index',
      'oci:images:v2',
      '--tag',
      'oci:images:v3',
    );
    expect(pruned.out).toBe(second.out);
  });

  test('a digest cannot be a tag, nor a directory beside it', async () => {
    const digest = `quay.io/x/index@sha256:${'a'.repeat(64)}`;
    const one = bundle('1.0.0');
    expect((await run('index', 'add', '--bundles', one, '--tag', digest)).err).toContain(
      '--tag must not be a digest',
    );
    const both = await run('index', 'add', '--bundles', one, '--tag', 'oci:a:v1', '--to', 'b');
    expect(both.err).toContain('--tag and --to cannot be used together');
  });
});
