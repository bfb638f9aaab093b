/**
 * What a check sees beyond the files of a pull request: catalogs that it does not touch, versions that are gone, and
 * content of the same name elsewhere. Each harmful merge has a harmless twin.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { bundle, documents } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

interface Found {
  readonly rule: string;
  readonly severity: string;
  readonly message: string;
  readonly catalogs: readonly string[];
}

/** Errors of a pull request that goes from the last state but one to the last, by the command line. */
async function errorsOf(
  ...states: readonly Files[]
): Promise<Pick<Found, 'rule' | 'catalogs' | 'message'>[]> {
  return (await findingsOf(...states))
    .filter(({ severity }) => severity === 'error')
    .map(({ rule, catalogs, message }) => ({ rule, catalogs, message }));
}

async function findingsOf(...states: readonly Files[]): Promise<Found[]> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const [head = '', base = ''] = repository.chain(...states).reverse();
  const words = ['check', '--base', base, '--head', head, '--format', 'json'];
  return JSON.parse((await portolan(repository.directory, ...words)).out).findings;
}

interface Written {
  readonly version: string;
  readonly replaces?: string;
  readonly skips?: readonly string[];
  readonly skipRange?: string;
  /** Versions of the CRD that are served, the stored one first. */
  readonly crd?: readonly string[];
  readonly required?: readonly string[];
  readonly scope?: string;
  readonly image?: string;
}

/** A package of one channel. */
function etcd(versions: readonly Written[], channel = 'stable'): string {
  const named = (version: string): string => `etcd.v${version}`;
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: channel },
    {
      schema: 'olm.channel',
      package: 'etcd',
      name: channel,
      entries: versions.map(({ version, replaces, skips, skipRange }) => ({
        name: named(version),
        ...(replaces ? { replaces: named(replaces) } : {}),
        ...(skips ? { skips: skips.map(named) } : {}),
        ...(skipRange ? { skipRange } : {}),
      })),
    },
    ...versions.map((one) => bundleOf(one)),
  );
}

function bundleOf({ version, crd, required = [], scope = 'Namespaced', image }: Written): object {
  const properties = [
    { type: 'olm.package', value: { packageName: 'etcd', version } },
    ...(crd ?? []).map((one) => ({
      type: 'olm.gvk',
      value: { group: 'example.com', version: one, kind: 'Etcd' },
    })),
    ...(crd ? [{ type: 'olm.bundle.object', value: { data: encoded(crdOf(crd, required, scope)) } }] : []),
  ];
  return bundle('etcd', version, { properties, ...(image ? { image: imageOf(image) } : {}) });
}

function imageOf(digit: string): string {
  return `quay.io/org/etcd@sha256:${digit.repeat(64)}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

function crdOf(versions: readonly string[], required: readonly string[], scope: string): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'etcds.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Etcd', plural: 'etcds' },
      scope,
      versions: versions.map((name, i) => ({
        name,
        served: true,
        storage: i === 0,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } }, required } },
          },
        },
      })),
    },
  };
}

function at(catalog: string, text: string): Files {
  return { [`catalogs/${catalog}/etcd/catalog.yaml`]: text };
}

/** Other content, so that a catalog exists without the package. */
const OTHER = documents(
  { schema: 'olm.package', name: 'other', defaultChannel: 'stable' },
  { schema: 'olm.channel', package: 'other', name: 'stable', entries: [{ name: 'other.v1.0.0' }] },
  bundle('other', '1.0.0'),
);

const POLICY_TEXT = 'apiVersion: portolan/v1alpha1\nkind: Portolan\nowners: {admins: [alice]}\n';

const OLD = ['v1alpha1'];
const BOTH = ['v1', 'v1alpha1'];
const NEW = ['v1'];

describe('custom resources on upgrades from versions that the catalog no longer has', () => {
  test.each([
    ['a stored version that is gone', NEW, [expect.objectContaining({ rule: 'graph/crd-unsafe-edge' })]],
    ['a stored version that is still served', BOTH, []],
  ])('%s', async (_, crd, errors) => {
    const base = etcd([{ version: '1.0.0', crd: OLD }]);
    const head = etcd([{ version: '1.1.0', replaces: '1.0.0', crd }]);
    expect(await errorsOf(at('v4.20', base), at('v4.20', head))).toEqual(errors);
  });

  test.each([
    ['a field that a skipRange makes required', ['size'], 1],
    ['a field that stays optional', [], 0],
  ])('%s', async (_, required, count) => {
    const base = etcd([{ version: '1.0.0', crd: NEW }]);
    const head = etcd([{ version: '1.1.0', skipRange: '>=1.0.0 <1.1.0', crd: NEW, required }]);
    const errors = await errorsOf(at('v4.20', base), at('v4.20', head));
    expect(errors.map(({ rule }) => rule)).toEqual(Array(count).fill('graph/crd-unsafe-edge'));
  });

  test.each([
    ['a version that is dropped one release later', NEW, 1],
    ['a version that is never dropped', BOTH, 0],
  ])('%s', async (_, crd, count) => {
    const states = [
      etcd([{ version: '1.0.0', crd: OLD }]),
      etcd([{ version: '1.1.0', replaces: '1.0.0', crd: BOTH }]),
      etcd([{ version: '1.2.0', replaces: '1.1.0', crd: BOTH }]),
      etcd([{ version: '1.3.0', replaces: '1.2.0', crd }]),
    ];
    const all = await errorsOf(...states.map((text) => at('v4.20', text)));
    const errors = all.filter(({ rule }) => rule === 'graph/crd-unsafe-edge');
    expect(errors.map(({ rule }) => rule)).toEqual(Array(count).fill('graph/crd-unsafe-edge'));
    for (const { message } of errors) expect(message).toContain('v1alpha1 was stored by 1.0.0');
  });

  test.each([
    ['a head that replaces a version of the previous catalog', NEW, 1],
    ['a head that serves what that version stored', BOTH, 0],
  ])('%s', async (_, crd, count) => {
    const older = at('v4.19', etcd([{ version: '1.0.0', crd: OLD }]));
    const base = { ...older, ...at('v4.20', OTHER) };
    const head = { ...older, ...at('v4.20', etcd([{ version: '1.1.0', replaces: '1.0.0', crd }])) };
    const errors = await errorsOf(base, head);
    const unsafe = errors.filter(({ rule }) => rule === 'graph/crd-unsafe-edge');
    expect(unsafe.map(({ catalogs }) => catalogs)).toEqual(Array(count).fill(['v4.20']));
  });
});

test.each([
  ['clusters refuse another scope of a CRD, whatever OLM asks', 'Cluster', ['graph/crd-unsafe-edge']],
  ['a scope that stays', 'Namespaced', []],
])('%s', async (_, scope, rules) => {
  const policy = {
    '.github/portolan.yaml': `${POLICY_TEXT}graph: {olm: [v0]}\n`,
  };
  const first = { version: '1.0.0', crd: NEW };
  const base = { ...policy, ...at('v4.20', etcd([first])) };
  const second = { version: '1.1.0', replaces: '1.0.0', crd: NEW, scope };
  const errors = await errorsOf(base, { ...policy, ...at('v4.20', etcd([first, second])) });
  expect(errors.map(({ rule }) => rule)).toEqual(rules);
});

describe('catalogs that a pull request does not touch', () => {
  const chain = [
    { version: '1.0.0' },
    { version: '1.1.0', replaces: '1.0.0' },
    { version: '1.2.0', replaces: '1.1.0' },
  ];
  const older = at('v4.19', etcd(chain));
  const withHead = [...chain, { version: '1.3.0', replaces: '1.2.0' }];

  test('an edge from the head of the previous catalog is dropped', async () => {
    const base = at('v4.20', etcd([{ version: '1.3.0', replaces: '1.2.0' }]));
    const head = at('v4.20', etcd([{ version: '1.3.0' }]));
    const errors = await errorsOf({ ...older, ...base }, { ...older, ...head });
    expect(errors.map(({ rule, catalogs }) => [rule, catalogs])).toEqual([
      ['graph/strands-on-platform-upgrade', ['v4.19']],
      // Clusters that were upgraded to the platform before the change have the version there.
      ['graph/strands-installed-v0', ['v4.20']],
      ['graph/strands-installed-v1', ['v4.20']],
    ]);
  });

  test('an edge from the head of the previous catalog becomes a range', async () => {
    const base = at('v4.20', etcd([{ version: '1.3.0', replaces: '1.2.0' }]));
    const head = at('v4.20', etcd([{ version: '1.3.0', skipRange: '>=1.0.0 <1.3.0' }]));
    expect(await errorsOf({ ...older, ...base }, { ...older, ...head })).toEqual([]);
  });

  test.each([
    ['a new catalog without the head of the one before', etcd(chain.slice(0, 2)), 1],
    ['a new catalog with a renamed channel', etcd(withHead, 'fast'), 1],
    ['a new catalog with an upgrade', etcd(withHead), 0],
  ])('%s', async (_, text, count) => {
    const errors = await errorsOf(older, { ...older, ...at('v4.20', text) });
    expect(errors.map(({ rule, catalogs }) => [rule, catalogs])).toEqual(
      Array(count).fill(['graph/strands-on-platform-upgrade', ['v4.19']]),
    );
  });

  test.each([
    ['a package that comes to a catalog without the head of the one before', etcd(chain.slice(0, 2)), 1],
    ['a package that comes to a catalog with an upgrade', etcd(withHead), 0],
  ])('%s', async (_, text, count) => {
    const other = { 'catalogs/v4.20/other/catalog.yaml': OTHER };
    const errors = await errorsOf({ ...older, ...other }, { ...older, ...other, ...at('v4.20', text) });
    expect(errors.map(({ rule }) => rule)).toEqual(Array(count).fill('graph/strands-on-platform-upgrade'));
  });
});

describe('clusters that upgrade their platform', () => {
  const chain = [{ version: '1.4.0' }, { version: '1.5.0', replaces: '1.4.0' }];
  const all = { version: '1.4.0', skipRange: '>=1.0.0 <2.0.0' };
  const some = [{ version: '1.4.0', skipRange: '>=1.0.0 <1.4.0' }, chain[1] ?? all];

  test.each([
    ['a new version here, above the next catalog', [chain.slice(0, 1), [all]], [chain, [all]], 1],
    ['a new version here and there', [chain.slice(0, 1), [all]], [chain, some], 0],
    ['a wider range there', [chain, some], [chain, [all]], 1],
    ['a narrower range there', [chain, [all]], [chain, some], 0],
  ])('are downgraded, or not: %s', async (_, before, after, count) => {
    const state = ([here = [], there = []]: (readonly Written[])[]): Files => {
      return { ...at('v4.19', etcd(here)), ...at('v4.20', etcd(there)) };
    };
    const errors = await errorsOf(state(before), state(after));
    const down = errors.filter(({ rule }) => rule === 'graph/downgrade-on-platform-upgrade');
    expect(down.map(({ catalogs }) => catalogs)).toEqual(Array(count).fill(['v4.19']));
  });

  const etcdOnly = etcd(chain);
  const lack = async (...states: Files[]): Promise<string[]> =>
    (await findingsOf(...states)).flatMap(({ rule, severity, message }) =>
      rule === 'graph/new-catalog-lacks-packages' ? [`${severity}: ${message}`] : [],
    );

  test('a new catalog lacks packages that nobody touches', async () => {
    const base = {
      ...at('v4.19', etcdOnly),
      'catalogs/v4.19/other/catalog.yaml': OTHER,
      ...at('v4.20', etcdOnly),
      'catalogs/v4.20/other/catalog.yaml': OTHER,
    };
    const copied = { 'catalogs/v4.21/other/catalog.yaml': OTHER };
    expect(await lack(base, { ...base, ...at('v4.21', etcdOnly) })).toEqual([
      expect.stringContaining('warning: the new catalog v4.21 lacks package "other" of v4.20'),
    ]);
    expect(await lack(base, { ...base, ...at('v4.21', etcdOnly), ...copied })).toEqual([]);
    // Whoever adds to a catalog that is there adds packages one by one.
    expect(await lack({ ...base, ...copied }, { ...base, ...copied, ...at('v4.21', etcdOnly) })).toEqual([]);
  });

  test('a new catalog of one file lacks packages of a catalog of one file', async () => {
    const base = { 'catalogs/v4.20/all/catalog.yaml': `${etcdOnly}${OTHER}` };
    const added = { 'catalogs/v4.21/all/catalog.yaml': etcdOnly };
    expect((await lack(base, { ...base, ...added })).length).toBe(1);
    const whole = { 'catalogs/v4.21/all/catalog.yaml': base['catalogs/v4.20/all/catalog.yaml'] };
    expect(await lack(base, { ...base, ...whole })).toEqual([]);
  });
});

describe('a ClusterServiceVersion in the directory of a bundle', () => {
  test.each([
    ['with another name', 'etcd.1.1.0', 1],
    ['with the name of the bundle', 'etcd.v1.1.0', 0],
  ])('%s', async (_, name, count) => {
    const csv = documents({
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'ClusterServiceVersion',
      metadata: { name },
      spec: { version: '1.1.0' },
    });
    const base = at('v4.20', etcd([{ version: '1.0.0' }]));
    const head = {
      ...at('v4.20', etcd([{ version: '1.0.0' }, { version: '1.1.0', replaces: '1.0.0' }])),
      'operators/etcd/1.1.0/manifests/etcd.clusterserviceversion.yaml': csv,
    };
    const errors = await errorsOf(base, head);
    expect(errors.filter(({ rule }) => rule === 'bundle/csv-name')).toHaveLength(count);
  });
});

describe('one name, one content', () => {
  const first = { version: '1.0.0', image: '1' };

  test.each([
    ['a withdrawn bundle that comes back different', '3', ['graph/bundle-mutated']],
    ['a withdrawn bundle that comes back as it was', '2', []],
  ])('%s', async (_, image, rules) => {
    const second = { version: '1.1.0', replaces: '1.0.0' };
    const errors = await errorsOf(
      at('v4.20', etcd([first, { ...second, image: '2' }])),
      at('v4.20', etcd([first])),
      at('v4.20', etcd([first, { ...second, image }])),
    );
    expect(errors.map(({ rule }) => rule)).toEqual(rules);
  });

  test.each([
    ['a bundle that another catalog has with another image', '3', ['graph/bundle-mutated']],
    ['a bundle that another catalog has with the same image', '2', []],
  ])('%s', async (_, image, rules) => {
    const second = { version: '1.1.0', replaces: '1.0.0' };
    // Far away: clusters never go from the one to the other in one step.
    const other = at('v4.12', etcd([first, { ...second, image: '2' }]));
    const between = Object.assign({}, ...['v4.13', 'v4.14', 'v4.15'].map((name) => at(name, etcd([first]))));
    const base = { ...other, ...between, ...at('v4.16', etcd([first])) };
    const head = { ...base, ...at('v4.16', etcd([first, { ...second, image }])) };
    const errors = await errorsOf(base, head);
    expect(errors.filter(({ rule }) => rule === 'graph/bundle-mutated').map(({ rule }) => rule)).toEqual(
      rules,
    );
  });

  test('a bundle that comes to two catalogs at once, as two things', async () => {
    const second = { version: '1.1.0', replaces: '1.0.0' };
    const base = { ...at('v4.19', etcd([first])), ...at('v4.20', etcd([first])) };
    const head = {
      ...at('v4.19', etcd([first, { ...second, image: '2' }])),
      ...at('v4.20', etcd([first, { ...second, image: '3' }])),
    };
    const errors = await errorsOf(base, head);
    expect(errors.map(({ rule, catalogs }) => [rule, catalogs])).toEqual([
      ['graph/bundle-mutated', ['v4.20']],
    ]);
  });

  test('117: a version with the image of one that leaves in the same pull request', async () => {
    const leaving = { version: '1.1.0', replaces: '1.0.0', image: '5' };
    const rulesFor = async (image: string): Promise<string[]> => {
      const next = { version: '1.2.0', replaces: '1.0.0', skips: ['1.1.0'], image };
      const errors = await errorsOf(at('v4.20', etcd([first, leaving])), at('v4.20', etcd([first, next])));
      return errors.map(({ rule }) => rule);
    };
    expect(await rulesFor('5')).toContain('graph/repeated-image');
    expect(await rulesFor('6')).not.toContain('graph/repeated-image');
  });

  test('a version with the image of one that is gone', async () => {
    const second = { version: '1.1.0', replaces: '1.0.0' };
    const states = ['1', '2'].map((image) => [
      at('v4.20', etcd([first])),
      at('v4.20', etcd([{ ...second, image: '5' }])),
      at('v4.20', etcd([{ version: '1.2.0', replaces: '1.1.0', skips: ['1.0.0'], image }])),
    ]);
    const [same = [], other = []] = await Promise.all(states.map((all) => errorsOf(...all)));
    expect(same.map(({ rule }) => rule)).toEqual(['graph/repeated-image']);
    expect(other).toEqual([]);
  });
});

describe('where another pipeline releases the heads of channels', () => {
  const policy = (rebuilds: string): Files => ({
    '.github/portolan.yaml': `${POLICY_TEXT}graph: {rebuilds: ${rebuilds}}\n`,
  });
  const images = (first: string, second: string): string =>
    etcd([
      { version: '1.0.0', image: first },
      { version: '1.1.0', replaces: '1.0.0', image: second },
    ]);

  test.each([
    ['a head may be rebuilt', 'heads', images('1', '3'), []],
    ['nothing may be rebuilt unless the policy says so', 'none', images('1', '3'), ['1.1.0']],
    ['an older version may not', 'heads', images('3', '2'), ['1.0.0']],
    ['two versions may not', 'heads', images('3', '4'), ['1.0.0', '1.1.0']],
    ['a head may not get the image of another version', 'heads', images('1', '1'), ['1.1.0']],
  ])('%s', async (_, rebuilds, after, changed) => {
    const base = { ...policy(rebuilds), ...at('v4.20', images('1', '2')) };
    const errors = await errorsOf(base, { ...base, ...at('v4.20', after) });
    const mutated = errors.filter(({ rule }) => rule === 'graph/bundle-mutated');
    const named = mutated.flatMap(({ message }) => [...message.matchAll(/etcd\.v(\d+\.\d+\.\d+)/g)]);
    expect(named.map(([, version]) => version)).toEqual(changed);
    // One cause, one finding.
    expect(mutated.length).toBe(Math.min(changed.length, 1));
  });

  test.each([
    ['a new catalog gets the head that another one rebuilds', 'heads', images('1', '3'), []],
    ['a new catalog gets another head than the one rebuilt', 'heads', images('1', '4'), ['v4.21']],
    ['a mutation is reported where it is, not in a new catalog', 'none', images('1', '3'), ['v4.20']],
  ])('%s', async (_, rebuilds, there, catalogs) => {
    const base = { ...policy(rebuilds), ...at('v4.20', images('1', '2')) };
    const head = { ...base, ...at('v4.20', images('1', '3')), ...at('v4.21', there) };
    const errors = await errorsOf(base, head);
    const mutated = errors.filter(({ rule }) => rule === 'graph/bundle-mutated');
    expect(mutated.flatMap((one) => one.catalogs)).toEqual(catalogs);
  });

  test.each([
    ['one image in all catalogs', '3', '3', []],
    ['a catalog that is rebuilt later', '3', '2', []],
    ['two images', '3', '4', ['v4.20', 'v4.21']],
  ])('a merge rebuilds a head of two catalogs: %s', async (_, first, second, catalogs) => {
    const state = (a: string, b: string): Files => ({
      ...policy('heads'),
      ...at('v4.20', images('1', a)),
      ...at('v4.21', images('1', b)),
    });
    const errors = await errorsOf(state('2', '2'), state(first, second));
    const mutated = errors.filter(({ rule }) => rule === 'graph/bundle-mutated');
    expect(mutated.flatMap((one) => one.catalogs).sort()).toEqual(catalogs);
  });

  test.each([
    ['7', ['graph/bundle-mutated']],
    ['6', []],
  ])('a head may not get the image of another package: %s', async (image, rules) => {
    const other = images('5', '7').replaceAll('"etcd', '"other');
    const state = (own: string): Files => ({
      ...policy('heads'),
      ...at('v4.20', images('1', own)),
      'catalogs/v4.20/other/catalog.yaml': other,
    });
    const errors = await errorsOf(state('2'), state(image));
    expect(errors.map(({ rule }) => rule)).toEqual(rules);
  });

  test.each([
    [
      'an accident gives all versions one image',
      ['4', '4', '4'],
      ['graph/bundle-mutated', 'graph/repeated-image'],
    ],
    ['the newest of many is rebuilt', ['1', '2', '4'], []],
  ])('%s', async (_, after, rules) => {
    const versions = ['1.0.0', '1.1.0', '1.2.0'];
    const files = (images: readonly string[]): Files => {
      const all = versions.map((version, i) => {
        const { [i - 1]: replaces } = versions;
        return { version, ...(replaces ? { replaces } : {}), image: images[i] ?? '' };
      });
      return { ...policy('heads'), ...at('v4.20', etcd(all)) };
    };
    const errors = await errorsOf(files(['1', '2', '3']), files(after));
    expect([...new Set(errors.map(({ rule }) => rule))].sort()).toEqual(rules);
  });
});
