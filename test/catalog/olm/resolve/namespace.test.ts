import { describe, expect, test } from 'vitest';
import { loadCel } from '../../../../catalog/fbc/cel/cel.ts';
import {
  type Namespace,
  type Resolution,
  resolveNamespace,
} from '../../../../catalog/olm/resolve/namespace.ts';
import type { ScopeCatalog } from '../../../../catalog/olm/resolve/snapshot.ts';
import { parseVersion } from '../../../../catalog/version/version.ts';
import { bundleName, catalogFrom, type WrittenPackage } from '../universe.ts';

type Packages = Readonly<Record<string, WrittenPackage>>;
type Properties = readonly { type: string; value: unknown }[];

const cel = await loadCel();

/** A package with one channel that is a chain of its versions. */
function chain(
  name: string,
  versions: readonly string[],
  properties: Record<string, Properties> = {},
): WrittenPackage {
  const entries = versions.map((version, i) => ({
    name: bundleName(version, name),
    ...(i > 0 ? { replaces: bundleName(versions[i - 1] as string, name) } : {}),
  }));
  return { versions, channels: { stable: entries }, properties };
}

async function catalog(
  name: string,
  packages: Packages,
  more: Partial<ScopeCatalog> = {},
): Promise<ScopeCatalog> {
  return {
    name,
    namespace: 'olm',
    priority: 0,
    serving: true,
    catalog: await catalogFrom(packages),
    ...more,
  };
}

function subscribed(
  name: string,
  installed = '',
  more: { channel?: string; catalog?: string; startingCSV?: string } = {},
) {
  const { channel = 'stable', startingCSV = '' } = more;
  const installedCSV = installed === '' ? '' : bundleName(installed, name);
  return { name, package: name, channel, catalog: more.catalog ?? 'cat', startingCSV, installedCSV };
}

function csv(name: string, version: string, properties: Properties = []) {
  const own = { type: 'olm.package', value: { packageName: name, version } };
  return {
    name: bundleName(version, name),
    version: parseVersion(version),
    properties: [own, ...properties],
  };
}

function resolve(catalogs: readonly ScopeCatalog[], namespace: Omit<Namespace, 'name'>): string[] {
  return told(resolveNamespace({ catalogs, cel }, { name: 'operators', ...namespace }));
}

/** What gets installed, sorted, or why nothing is. */
function told(resolution: Resolution): string[] {
  if (resolution.kind === 'fails') return [`${resolution.reason.code}: ${resolution.reason.text}`];
  return resolution.steps.map(({ catalog: from, bundle }) => `${from}/${bundle}`).sort();
}

const A = { group: 'example.com', version: 'v1', kind: 'A' };
const required = (range: string, name = 'bar'): Properties => [
  { type: 'olm.package.required', value: { packageName: name, versionRange: range } },
];

describe('dependencies', () => {
  test.each([
    ['a package in a range', required('>=1.0.0 <1.2.0'), ['cat/bar.v1.1.0', 'cat/foo.v1.0.0']],
    ['a kind of object', [{ type: 'olm.gvk.required', value: A }], ['cat/bar.v1.2.0', 'cat/foo.v1.0.0']],
    [
      'a label',
      [{ type: 'olm.label.required', value: { label: 'x' } }],
      ['cat/bar.v1.0.0', 'cat/foo.v1.0.0'],
    ],
    [
      'all of several',
      [
        constraint({
          all: { constraints: [{ gvk: A }, { package: { packageName: 'bar', versionRange: '<1.2.0' } }] },
        }),
      ],
      ['cat/bar.v1.1.0', 'cat/foo.v1.0.0'],
    ],
    [
      'any of several',
      [
        constraint({
          any: {
            constraints: [
              { gvk: { ...A, kind: 'Z' } },
              { package: { packageName: 'bar', versionRange: '=1.0.0' } },
            ],
          },
        }),
      ],
      ['cat/bar.v1.0.0', 'cat/foo.v1.0.0'],
    ],
    [
      'not one of several',
      [
        constraint({
          all: {
            constraints: [
              { gvk: A },
              { not: { constraints: [{ package: { packageName: 'bar', versionRange: '>=1.1.0' } }] } },
            ],
          },
        }),
      ],
      ['cat/bar.v1.0.0', 'cat/foo.v1.0.0'],
    ],
    [
      'a rule',
      [constraint({ cel: { rule: "properties.exists(p, p.type == 'olm.label' && p.value.label == 'x')" } })],
      ['cat/bar.v1.0.0', 'cat/foo.v1.0.0'],
    ],
  ])('%s', async (_, properties, installed) => {
    const gvk = { type: 'olm.gvk', value: A };
    const bar = chain('bar', ['1.0.0', '1.1.0', '1.2.0'], {
      '1.0.0': [gvk, { type: 'olm.label', value: { label: 'x' } }],
      '1.1.0': [gvk],
      '1.2.0': [gvk],
    });
    const source = await catalog('cat', { foo: chain('foo', ['1.0.0'], { '1.0.0': properties }), bar });
    expect(resolve([source], { subscriptions: [subscribed('foo')], installed: [] })).toEqual(installed);
  });

  test('a fresh installation whose dependency is nowhere blocks the namespace', async () => {
    const foo = chain('foo', ['1.0.0'], { '1.0.0': required('>=9.0.0') });
    const source = await catalog('cat', { foo, bar: chain('bar', ['1.0.0']) });
    expect(resolve([source], { subscriptions: [subscribed('foo')], installed: [] })).toEqual([
      'unsatisfiable: constraints not satisfiable: bundle foo.v1.0.0 requires an operator with package: bar and with version in range: >=9.0.0, subscription foo exists, subscription foo requires cat/olm/stable/foo.v1.0.0',
    ]);
  });

  test('an upgrade whose dependency is nowhere silently does not happen', async () => {
    const foo = chain('foo', ['1.0.0', '1.1.0'], { '1.1.0': required('>=9.0.0') });
    const source = await catalog('cat', { foo });
    const namespace = { subscriptions: [subscribed('foo', '1.0.0')], installed: [csv('foo', '1.0.0')] };
    expect(resolve([source], namespace)).toEqual([]);
  });

  test('a dependency that cannot be read fails, also where another bundle would do', async () => {
    const foo = chain('foo', ['1.0.0', '1.1.0'], { '1.0.0': required('not a range') });
    const source = await catalog('cat', { foo });
    expect(resolve([source], { subscriptions: [subscribed('foo')], installed: [] })[0]).toMatch(
      /^bad-dependency:/,
    );
  });

  test.each([
    [{}, 'constraint is empty'],
    [{ unknown: 1 }, 'unknown field "unknown"'],
    ['text', 'expected an object'],
    [{ cel: { rule: '1' } }, 'must have type Bool'],
    [{ package: { packageName: 'bar', versionRange: '^1' } }, 'Could not parse'],
  ])('olm.constraint %j is refused', async (value, message) => {
    const foo = chain('foo', ['1.0.0'], { '1.0.0': [{ type: 'olm.constraint', value }] });
    const source = await catalog('cat', { foo });
    expect(resolve([source], { subscriptions: [subscribed('foo')], installed: [] })[0]).toContain(message);
  });

  test('are taken from what is installed, then the own catalog, then by priority', async () => {
    const foo = chain('foo', ['1.0.0'], { '1.0.0': required('>=1.0.0') });
    const own = await catalog('cat', { foo, bar: chain('bar', ['1.0.0']) });
    const high = await catalog('high', { bar: chain('bar', ['2.0.0']) }, { priority: 9 });
    const bare = await catalog('cat', { foo });
    const low = await catalog('low', { bar: chain('bar', ['3.0.0']) });
    const fresh = { subscriptions: [subscribed('foo')], installed: [] };
    expect(resolve([own, high], fresh)).toEqual(['cat/bar.v1.0.0', 'cat/foo.v1.0.0']);
    expect(resolve([bare, low, high], fresh)).toEqual(['cat/foo.v1.0.0', 'high/bar.v2.0.0']);
    expect(resolve([own, high], { ...fresh, installed: [csv('bar', '1.5.0')] })).toEqual(['cat/foo.v1.0.0']);
  });
});

describe('rivals', () => {
  test('two providers of one kind exclude each other', async () => {
    const gvk = [{ type: 'olm.gvk', value: A }];
    const source = await catalog('cat', {
      foo: chain('foo', ['1.0.0'], { '1.0.0': gvk }),
      bar: chain('bar', ['1.0.0'], { '1.0.0': gvk }),
    });
    const [why] = resolve([source], { subscriptions: [subscribed('foo'), subscribed('bar')], installed: [] });
    expect(why).toContain(
      'cat/olm/stable/bar.v1.0.0 and cat/olm/stable/foo.v1.0.0 provide A (example.com/v1)',
    );
  });

  test('a bundle that names a kind twice is its own rival', async () => {
    const gvk = { type: 'olm.gvk', value: A };
    const source = await catalog('cat', { foo: chain('foo', ['1.0.0'], { '1.0.0': [gvk, gvk] }) });
    const [why] = resolve([source], { subscriptions: [subscribed('foo')], installed: [] });
    expect(why).toContain('cat/olm/stable/foo.v1.0.0 and cat/olm/stable/foo.v1.0.0 provide');
  });

  test('what is installed by hand stays, and keeps its package to itself', async () => {
    const source = await catalog('cat', { foo: chain('foo', ['1.0.0', '1.1.0']) });
    const [why] = resolve([source], { subscriptions: [subscribed('foo')], installed: [csv('foo', '1.0.0')] });
    expect(why).toContain('clusterserviceversion foo.v1.0.0 exists and is not referenced by a subscription');
  });
});

describe('subscriptions', () => {
  test('without a channel the default channel is asked first', async () => {
    const foo: WrittenPackage = {
      versions: ['1.0.0', '2.0.0'],
      channels: {
        stable: [{ name: bundleName('1.0.0', 'foo') }],
        alpha: [{ name: bundleName('2.0.0', 'foo') }],
      },
    };
    const source = await catalog('cat', { foo });
    const any = [subscribed('foo', '', { channel: '' })];
    expect(resolve([source], { subscriptions: any, installed: [] })).toEqual(['cat/foo.v1.0.0']);
  });

  test('may begin with any bundle of the channel', async () => {
    const source = await catalog('cat', { foo: chain('foo', ['1.0.0', '1.1.0']) });
    const starting = [subscribed('foo', '', { startingCSV: 'foo.v1.0.0' })];
    expect(resolve([source], { subscriptions: starting, installed: [] })).toEqual(['cat/foo.v1.0.0']);
  });

  test.each([
    [{ catalog: 'none' }, 'no operators found from catalog none'],
    [{ channel: 'none' }, 'no operators found in channel none of package foo'],
    [{ startingCSV: 'none' }, 'no operators found with name none in channel stable of package foo'],
  ])('%j fails', async (more, message) => {
    const source = await catalog('cat', { foo: chain('foo', ['1.0.0']) });
    const subscriptions = [subscribed('foo', '', more)];
    expect(resolve([source], { subscriptions, installed: [] })[0]).toContain(message);
  });

  test('a catalog that is not served fails what has nothing to do with it', async () => {
    const source = await catalog('cat', { foo: chain('foo', ['1.0.0']) });
    const down = await catalog('down', {}, { serving: false });
    expect(resolve([source, down], { subscriptions: [subscribed('foo')], installed: [] })).toEqual([
      'not-serving: error using catalogsource olm/down',
    ]);
  });
});

function constraint(value: unknown): { type: string; value: unknown } {
  return { type: 'olm.constraint', value };
}
