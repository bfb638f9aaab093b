import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { bundle, documents } from '../../../fakes/gate.ts';
import { portolan } from '../../../fakes/terminal.ts';

/** A package with versions that replace each other, and what they require. */
function packageOf(
  name: string,
  versions: readonly string[],
  requires: readonly (readonly [string, string])[] = [],
): string {
  const entries = versions.map((version, i) => ({
    name: `${name}.v${version}`,
    ...(i === 0 ? {} : { replaces: `${name}.v${versions[i - 1]}` }),
  }));
  return documents(
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', package: name, name: 'stable', entries },
    ...versions.map((version) =>
      bundle(name, version, {
        properties: [
          { type: 'olm.package', value: { packageName: name, version } },
          ...requires.map(([packageName, versionRange]) => ({
            type: 'olm.package.required',
            value: { packageName, versionRange },
          })),
        ],
      }),
    ),
  );
}

async function set(packages: readonly string[], ...words: string[]) {
  const root = folder();
  mkdirSync(join(root, 'v4.20'));
  writeFileSync(join(root, 'v4.20/catalog.yaml'), packages.join(''));
  const { exit, out, err } = await portolan(root, 'install-set', 'app', 'v4.20', ...words);
  return { exit, out, err };
}

const APP = packageOf(
  'app',
  ['1.0.0', '1.1.0'],
  [
    ['db', '<2.0.0'],
    ['web', '>=1.0.0'],
  ],
);
const PARTS = [
  packageOf('db', ['1.0.0', '1.5.0', '2.0.0']),
  packageOf('web', ['1.0.0'], [['db', '>=1.5.0']]),
];

test('what is required comes first, each pinned to the version that fits all', async () => {
  const { exit, out } = await set([APP, ...PARTS], '--format', 'json');
  const { members } = JSON.parse(out);
  expect(members.map(({ bundle: name }: { bundle: string }) => name)).toEqual([
    'db.v1.5.0',
    'web.v1.0.0',
    'app.v1.1.0',
  ]);
  expect(members[0].extension.spec.source.catalog).toEqual({
    packageName: 'db',
    version: '1.5.0',
    channels: ['stable'],
  });
  expect(members[1].requires).toEqual([
    { text: 'with package: db and with version in range: >=1.5.0', package: 'db' },
  ]);
  // OLM v1 refuses what declares dependencies.
  expect(exit).toBe(1);
});

test('the members that OLM v1 refuses are named, in YAML as well', async () => {
  const { out, err } = await set([APP, ...PARTS]);
  expect(out).toContain('3. app 1.1.0 from channel stable of v4.20\n  requires an operator with package: db');
  expect(out).toContain('  REFUSED by OLM v1: it has dependencies (olm.package.required)');
  expect(err).toContain('FAIL: OLM v1 refuses web.v1.0.0, app.v1.1.0');
  const yaml = await set([APP, ...PARTS], '--format', 'yaml');
  expect(yaml.out.match(/packageName: .*/g)).toEqual([
    'packageName: db',
    'packageName: web',
    'packageName: app',
  ]);
});

test('a package without dependencies is a set of one', async () => {
  const { exit, out } = await set(
    [packageOf('app', ['1.0.0', '1.1.0'])],
    '--format',
    'yaml',
    '--version',
    '1.0.0',
  );
  expect([exit, out.match(/version: .*/g)]).toEqual([0, ['version: 1.0.0']]);
});

test('a head that cannot be installed is not replaced by an older version in silence', async () => {
  const web = packageOf('web', ['1.0.0'], [['db', '>=9.0.0']]);
  const app = documents(
    { schema: 'olm.package', name: 'app', defaultChannel: 'stable' },
    {
      schema: 'olm.channel',
      package: 'app',
      name: 'stable',
      entries: [{ name: 'app.v1.0.0' }, { name: 'app.v1.1.0', replaces: 'app.v1.0.0' }],
    },
    bundle('app', '1.0.0'),
    bundle('app', '1.1.0', {
      properties: [
        { type: 'olm.package', value: { packageName: 'app', version: '1.1.0' } },
        { type: 'olm.package.required', value: { packageName: 'web', versionRange: '>=1.0.0' } },
      ],
    }),
  );
  const { exit, out, err } = await set([app, web]);
  expect([exit, out]).toEqual([1, '']);
  expect(err).toContain('FAIL: app.v1.1.0 cannot be installed from these catalogs: ');
  expect(err).toContain('hint: another version can: --version 1.0.0\n');
  expect((await set([app, web], '--version', '1.0.0')).exit).toBe(0);
});

test('no set: the resolver says why', async () => {
  const { exit, err } = await set([
    APP,
    packageOf('db', ['1.0.0']),
    packageOf('web', ['1.0.0'], [['db', '>=1.5.0']]),
  ]);
  expect(exit).toBe(1);
  expect(err).toContain('FAIL: app.v1.1.0 cannot be installed from these catalogs: ');
});

test.each([
  [[], ['--version', '3.0.0'], 'app has no version 3.0.0'],
  [['--catalog', 'other'], [], 'no catalog has the package "app"'],
])('%j %j is refused', async (words, more, why) => {
  const { exit, err } = await set([APP], ...words, ...more);
  expect([exit, err]).toEqual([2, expect.stringContaining(why)]);
});

test('54: a name with line breaks does not begin a line of its own', async () => {
  const name = 'app.v1\n::error::injected\n\u001b[2K';
  const app = documents(
    { schema: 'olm.package', name: 'app', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'app', name: 'stable', entries: [{ name }] },
    bundle('app', '1.0.0', {
      name,
      properties: [
        { type: 'olm.package', value: { packageName: 'app', version: '1.0.0' } },
        { type: 'olm.package.required', value: { packageName: 'none', versionRange: '>=1.0.0' } },
      ],
    }),
  );
  const none = packageOf('none', ['0.1.0']);
  const { exit, out, err } = await set([app, none]);
  expect([exit, err]).toEqual([
    1,
    expect.stringContaining('app.v1\\u000a::error::injected\\u000a\\u001b[2K'),
  ]);
  expect(`${out}${err}`).not.toMatch(/^::/m);
  expect(`${out}${err}`).not.toContain('\u001b');
});
