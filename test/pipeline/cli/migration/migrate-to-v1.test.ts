import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { bundle, documents } from '../../../fakes/gate.ts';
import { portolan } from '../../../fakes/terminal.ts';
import {
  type ClusterObject,
  catalogSource,
  changed,
  clusterCatalog,
  extensionCrd,
  objectSets,
  platform,
  SOURCE,
  subscribed,
} from '../../../fakes/v0-cluster.ts';

const ALL = ['AllNamespaces'];

/** A package with two versions, the second replacing the first. */
function packageOf(name: string, modes: readonly string[], ...properties: object[]): string {
  const versions = ['1.0.0', '1.1.0'];
  return documents(
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    {
      schema: 'olm.channel',
      package: name,
      name: 'stable',
      entries: [{ name: `${name}.v1.0.0` }, { name: `${name}.v1.1.0`, replaces: `${name}.v1.0.0` }],
    },
    ...versions.map((version) =>
      bundle(name, version, {
        properties: [
          { type: 'olm.package', value: { packageName: name, version } },
          {
            type: 'olm.csv.metadata',
            value: { installModes: modes.map((type) => ({ type, supported: true })) },
          },
          ...properties,
        ],
      }),
    ),
  );
}

async function migrate(
  packages: readonly string[],
  objects: readonly ClusterObject[],
  { format = 'json', withPlatform = true } = {},
) {
  const root = folder();
  mkdirSync(join(root, 'v4.20'));
  writeFileSync(join(root, 'v4.20', 'catalog.yaml'), packages.join(''));
  const items = [...objects, ...(withPlatform ? platform() : [])];
  writeFileSync(join(root, 'cluster.json'), JSON.stringify({ kind: 'List', items }));
  const words = ['migrate-to-v1', 'v4.20', '--installed', 'cluster.json', '--format', format];
  const { exit, out, err } = await portolan(root, ...words);
  const report = format === 'json' ? JSON.parse(out) : undefined;
  return { exit, out, err, report, operators: report?.clusters[0].operators ?? [] };
}

test('the equivalent ClusterExtension, and what OLM v1 then does from the same version', async () => {
  const { exit, operators } = await migrate([packageOf('etcd', ALL)], subscribed('etcd'));
  const [operator] = operators;
  expect(exit).toBe(0);
  expect(operator).toMatchObject({
    namespace: 'ops',
    package: 'etcd',
    installed: '1.0.0',
    status: 'Eligible',
    order: 1,
    gates: [],
    obstacles: [],
  });
  expect(operator.extension).toEqual({
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterExtension',
    metadata: { name: 'etcd' },
    spec: {
      namespace: 'ops',
      source: {
        sourceType: 'Catalog',
        catalog: {
          packageName: 'etcd',
          channels: ['stable'],
          version: '1.0.0',
          selector: { matchLabels: { 'olm.operatorframework.io/metadata.name': 'community-operators' } },
        },
      },
    },
  });
  expect(operator.next.paths[0].steps.map(({ version }: { version: string }) => version)).toEqual(['1.1.0']);
});

test('a cluster with one catalog needs no selector', async () => {
  const image = `quay.io/example/${SOURCE}:v4.20`;
  const { operators } = await migrate(
    [packageOf('etcd', ALL)],
    [...subscribed('etcd'), catalogSource(), clusterCatalog(SOURCE, image), objectSets()],
    { withPlatform: false },
  );
  expect(operators[0]).toMatchObject({ status: 'Eligible' });
  expect(operators[0].extension.spec.source.catalog.selector).toBeUndefined();
});

test('a version that waits for approval is pinned, and the upgrades that follow are named', async () => {
  const manual = await migrate(
    [packageOf('etcd', ALL)],
    subscribed('etcd', { spec: { installPlanApproval: 'Manual' } }),
  );
  const automatic = await migrate([packageOf('etcd', ALL)], subscribed('etcd'));
  expect([manual, automatic].flatMap(({ operators }) => operators[0].notes)).toEqual([
    'approvals are manual, so version 1.0.0 is pinned: the upgrades that follow are 1.1.0; to approve one, set spec.source.catalog.version to it',
    'approvals are automatic: remove spec.source.catalog.version when it is installed; OLM v1 then upgrades to 1.1.0',
  ]);
});

test('settings and watched namespaces move along behind feature gates, which library-olm does not use', async () => {
  const config = { env: [{ name: 'LEVEL', value: 'debug' }] };
  const modes = ['SingleNamespace'];
  const { exit, operators } = await migrate(
    [packageOf('etcd', modes)],
    subscribed('etcd', { spec: { config }, watches: 'apps', modes }),
  );
  const [{ extension, gates, status }] = operators;
  expect([exit, status]).toEqual([1, 'Ineligible']);
  expect(extension.spec.config).toEqual({
    configType: 'Inline',
    inline: { watchNamespace: 'apps', deploymentConfig: config },
  });
  expect(gates.join()).toMatch(/^SingleOwnNamespaceInstallSupport .*,DeploymentConfig$/);
});

test('the selector of a Subscription is left out: OLM v1 refuses settings that it does not know', async () => {
  const config = { selector: { matchLabels: { a: 'b' } }, env: [{ name: 'LEVEL', value: 'debug' }] };
  const { operators } = await migrate([packageOf('etcd', ALL)], subscribed('etcd', { spec: { config } }));
  expect(operators[0].extension.spec.config.inline).toEqual({ deploymentConfig: { env: config.env } });
  expect(operators[0].notes[0]).toContain('spec.config.selector is not supported by OLMv1');
  const unknown = await migrate(
    [packageOf('etcd', ALL)],
    subscribed('etcd', { spec: { config: { replicas: 2 } } }),
  );
  expect(unknown.operators[0].obstacles).toEqual(['OLM v1 refuses the setting "replicas" in spec.config']);
});

test('settings that the cluster would drop are not lost in silence', async () => {
  const objects = subscribed('etcd', { spec: { config: { env: [{ name: 'A', value: 'b' }] } } });
  const standard = [
    catalogSource(),
    clusterCatalog('a', 'b'),
    objectSets(),
    extensionCrd(['namespace'], false),
  ];
  const { exit, operators } = await migrate([packageOf('etcd', ALL)], [...objects, ...standard], {
    withPlatform: false,
  });
  expect([exit, operators[0].extension]).toEqual([1, undefined]);
  expect(operators[0].obstacles).toEqual([expect.stringContaining('have no spec.config')]);
});

test('OLM v1 manages the namespace only where it would choose the same one', async () => {
  const others = [catalogSource(), clusterCatalog('a', 'b'), objectSets(), extensionCrd(['source'])];
  const namespaceOf = async (namespace: string) => {
    const objects = [...subscribed('etcd', { namespace }), ...others];
    const { operators } = await migrate([packageOf('etcd', ALL)], objects, { withPlatform: false });
    return operators[0].extension.spec.namespace;
  };
  expect(await namespaceOf('ops')).toBe('ops');
  expect(await namespaceOf('etcd-system')).toBeUndefined();
});

test.each<[string, string[], ClusterObject[], string[], string[]]>([
  ['an unknown package', [], subscribed('etcd'), ['Catalog availability'], []],
  [
    'a version that is gone',
    [packageOf('etcd', ALL)],
    subscribed('etcd', { version: '0.9.0' }),
    ['Catalog availability'],
    [],
  ],
  [
    'several namespaces',
    [packageOf('etcd', ALL)],
    subscribed('etcd', { watches: 'a,b' }),
    ['AllNamespaces mode'],
    ['it watches 2 namespaces: OLM v1 watches all or one'],
  ],
  [
    'two installations',
    [packageOf('etcd', ALL)],
    [...subscribed('etcd'), ...subscribed('etcd', { namespace: 'lab' })],
    ['Package uniqueness'],
    [],
  ],
  [
    'dependencies that only the catalog knows',
    [
      packageOf('etcd', ALL, {
        type: 'olm.package.required',
        value: { packageName: 'b', versionRange: '>=1.0.0' },
      }),
    ],
    subscribed('etcd'),
    [],
    ['it has dependencies (olm.package.required)'],
  ],
  [
    'a channel with upper-case letters',
    [packageOf('etcd', ALL)],
    subscribed('etcd', { spec: { channel: 'Stable' } }),
    ['Catalog availability'],
    ['OLM v1 refuses the name "Stable"'],
  ],
])('%s: not possible, and why', async (_, packages, objects, names, obstacles) => {
  const { exit, operators } = await migrate(packages, objects);
  const [{ checks, extension }] = operators;
  const refused = checks.filter(({ result }: { result: string }) => result === 'refused');
  expect(exit).toBe(1);
  expect(refused.map(({ name }: { name: string }) => name)).toEqual(names);
  expect(operators[0].obstacles).toEqual(obstacles);
  expect(extension).toBeUndefined();
});

describe('a pin means the installed build', () => {
  /** Two builds of 1.0.0, each in its own channel and both in `stable`. */
  const builds = documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'etcd', name: 'old', entries: [{ name: 'etcd.v1.0.0+5' }] },
    {
      schema: 'olm.channel',
      package: 'etcd',
      name: 'stable',
      entries: [{ name: 'etcd.v1.0.0+5' }, { name: 'etcd.v1.0.0+6', replaces: 'etcd.v1.0.0+5' }],
    },
    bundle('etcd', '1.0.0+5', {}),
    bundle('etcd', '1.0.0+6', {}),
  );

  test('by the channel that only has this one', async () => {
    const { operators } = await migrate([builds], subscribed('etcd', { version: '1.0.0+5' }));
    expect(operators[0].extension?.spec.source.catalog).toMatchObject({
      version: '1.0.0+5',
      channels: ['old'],
    });
    expect(operators[0].notes[0]).toBe(
      'only channel old pins the installed build: set channels to [stable] again for upgrades',
    );
  });

  test('or it is refused', async () => {
    const without = builds.replace('name: old', 'name: other').replace('"old"', '"other"');
    const only = without.replace(
      /"entries":\[\{"name":"etcd.v1.0.0\+5"\}\]/,
      '"entries":[{"name":"etcd.v1.0.0+6"}]',
    );
    const { exit, operators } = await migrate([only], subscribed('etcd', { version: '1.0.0+5' }));
    expect(exit).toBe(1);
    expect(operators[0].obstacles).toEqual([
      'etcd.v1.0.0+5 cannot be pinned: OLM v1 takes etcd.v1.0.0+6 for version 1.0.0+5 in channel stable',
    ]);
  });

  test('the newest build is pinned in its own channel', async () => {
    const { operators } = await migrate([builds], subscribed('etcd', { version: '1.0.0+6' }));
    expect(operators[0].extension?.spec.source.catalog).toMatchObject({
      version: '1.0.0+6',
      channels: ['stable'],
    });
  });
});

test('the share of packages that OLM v1 can install', async () => {
  const packages = [
    packageOf('a', ALL),
    packageOf('b', ['OwnNamespace']),
    packageOf('c', ['MultiNamespace']),
  ];
  const { report } = await migrate(packages, subscribed('a'));
  expect(report.catalogs).toEqual([{ name: 'v4.20', packages: 3, installable: 1, withGate: 1 }]);
  const two = [...subscribed('a'), ...subscribed('c', { modes: ['MultiNamespace'] })];
  const { out } = await migrate(packages, two, { format: 'text' });
  expect(out).toContain('ops/a: a 1.0.0: Eligible\nCHECK');
  expect(out).toMatch(/C1a +AllNamespaces bundle support +REFUSED +installed CSV does not declare/);
  expect(out).toContain('  NOT POSSIBLE: it does not support the install mode AllNamespaces\n');
  expect(out).toContain(
    'v4.20: OLM v1 can install 1 of 3 packages (33 %), 1 more with a feature gate for one watched namespace',
  );
});

test('only what can be applied, as YAML: catalogs first', async () => {
  const { out, err } = await migrate([packageOf('a', ALL)], [...subscribed('a'), ...subscribed('gone')], {
    format: 'yaml',
  });
  expect(out.match(/^kind: .*$/gm)).toEqual(['kind: ClusterCatalog', 'kind: ClusterExtension']);
  expect(err).toMatch(/^not moved: ops\/gone \(Ineligible\): ./);
});

describe('the end of the text', () => {
  test('hands over to the program that moves operators, those that others require last, and nothing is to be deleted', async () => {
    const requires = JSON.stringify([{ type: 'olm.package.required', value: { packageName: 'etcd' } }]);
    const dependent = subscribed('web', { namespace: 'web' }).map((one) =>
      one.kind === 'ClusterServiceVersion'
        ? {
            ...one,
            metadata: { ...one.metadata, annotations: { 'operatorframework.io/properties': requires } },
          }
        : one,
    );
    const objects = [...subscribed('etcd'), ...subscribed('zoo', { namespace: 'zoo' }), ...dependent];
    const packages = ['etcd', 'zoo', 'web'].map((name) => packageOf(name, ALL));
    const { out } = await migrate(packages, objects, { format: 'text' });
    expect(out.slice(out.indexOf('In this order')).split('\n')).toEqual([
      'In this order:',
      '  migrate-catalogs-v0-to-v1',
      '  migrate-operators-v0-to-v1 convert zoo -n zoo',
      '  migrate-operators-v0-to-v1 convert etcd -n ops',
      expect.stringMatching(/^not moved: web\/web \(Ineligible\): No dependency resolution: ./),
      '',
    ]);
    expect(out).not.toMatch(/delete/i);
  });

  test('names the checks of the cluster that must pass before anything moves', async () => {
    const { exit, out } = await migrate([packageOf('etcd', ALL)], subscribed('etcd'), {
      format: 'text',
      withPlatform: false,
    });
    expect(exit).not.toBe(0);
    expect(out).toMatch(
      /Not ready: library-olm moves nothing before these checks of the cluster pass: ClusterObjectSet API\n$/,
    );
    expect(out).not.toContain('convert etcd');
  });

  test('names the options for refusals that somebody may override', async () => {
    const busy = changed(subscribed('etcd'), 'Subscription', {
      spec: {
        name: 'etcd',
        channel: 'stable',
        source: 'community-operators',
        sourceNamespace: 'marketplace',
      },
      status: { installedCSV: 'etcd.v1.0.0', state: 'UpgradeFailed' },
    });
    const { exit, out } = await migrate([packageOf('etcd', ALL)], busy, { format: 'text' });
    expect(exit).toBe(1);
    expect(out).toContain(
      '  migrate-operators-v0-to-v1 convert etcd -n ops --acknowledge-not-steady-state\n',
    );
  });
});

test('kinds that the file lacks are named, and the exit code says that the check is not complete', async () => {
  const objects = subscribed('etcd').filter(({ kind }) => kind !== 'OperatorGroup');
  const { exit, out } = await migrate([packageOf('etcd', ALL)], objects, { format: 'text' });
  expect(exit).toBe(2);
  expect(out).toMatch(/C6 +No scoped ServiceAccount +NOT CHECKED +cluster.json has no OperatorGroup/);
  expect(out).not.toContain('convert etcd');
});

describe('several catalogs', () => {
  const roots = async (objects: readonly ClusterObject[], ...words: string[]) => {
    const root = folder();
    for (const name of ['red', 'blue']) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, 'catalog.yaml'), packageOf('etcd', ALL));
    }
    writeFileSync(join(root, 'cluster.json'), JSON.stringify(objects));
    const { exit, out, err } = await portolan(
      root,
      'migrate-to-v1',
      ...words,
      '--installed',
      'cluster.json',
      '--format',
      'json',
    );
    return { exit, err, operator: exit === 2 ? undefined : JSON.parse(out).clusters[0].operators[0] };
  };
  const selected = (operator: { extension: { spec: { source: { catalog: { selector: object } } } } }) =>
    operator.extension.spec.source.catalog.selector;
  const cluster = [
    ...subscribed('etcd', { source: 'red' }),
    catalogSource('red'),
    catalogSource('blue', { priority: 5 }),
    clusterCatalog('a', 'b'),
    objectSets(),
    extensionCrd([]),
  ];

  test('the one of the Subscription is selected; library-olm would take the one of higher priority', async () => {
    const { operator } = await roots(cluster, 'red', 'blue');
    expect(selected(operator)).toEqual({ matchLabels: { 'olm.operatorframework.io/metadata.name': 'red' } });
    expect(operator.notes[0]).toBe(
      'library-olm selects ClusterCatalog blue, which has the version and a higher priority',
    );
  });

  test('a catalog whose name says nothing is refused, unless an option says which it is', async () => {
    const unnamed = cluster.filter(({ metadata }) => metadata.name !== 'blue');
    expect(await roots(unnamed, 'red', 'blue')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('cluster.json has no CatalogSource "blue"'),
    });
    expect((await roots(unnamed, 'red', 'blue', '--source', 'a=blue')).exit).toBe(0);
    expect(await roots(unnamed, 'red', 'blue', '--source', 'a=bleu')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('--source a=bleu: no catalog is called bleu'),
    });
    expect(await roots(unnamed, 'red', 'blue', '--source', 'a=blue', '--source', 'b=blue')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('--source says that blue is a, and that it is b'),
    });
  });
});

describe('a must-gather', () => {
  const write = (path: string, value: unknown): void => {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, JSON.stringify(value, null, 2));
  };

  test('is read by its folders, whatever else lies there', async () => {
    const root = folder();
    const gathered = join(root, 'must-gather', 'quay-io-sha256-1');
    for (const object of [...subscribed('etcd'), ...platform()]) {
      const { kind, apiVersion, metadata } = object;
      const place =
        metadata.namespace === undefined ? 'cluster-scoped-resources' : `namespaces/${metadata.namespace}`;
      write(
        join(gathered, place, apiVersion.replace(/\/.*/, ''), kind.toLowerCase(), `${metadata.name}.yaml`),
        object,
      );
    }
    write(join(gathered, 'namespaces/ops/core/pods.yaml'), 'not: [an, object');
    writeFileSync(join(gathered, 'namespaces/ops/core/events.yaml'), '{{{ kind: Subscription');
    mkdirSync(join(root, 'v4.20'));
    writeFileSync(join(root, 'v4.20/catalog.yaml'), packageOf('etcd', ALL));
    const { exit, out } = await portolan(root, 'migrate-to-v1', 'v4.20', '--installed', 'must-gather');
    expect(out).toContain('ops/etcd: etcd 1.0.0: Eligible');
    expect(exit).toBe(0);
  });

  test('with a manifest of its own that cannot be read is an error', async () => {
    const root = folder();
    mkdirSync(join(root, 'gathered/namespaces/ops/operators.coreos.com'), { recursive: true });
    writeFileSync(
      join(root, 'gathered/namespaces/ops/operators.coreos.com/a.yaml'),
      'kind: Subscription\n  a: [',
    );
    const { exit, err } = await portolan(root, 'migrate-to-v1', 'v4.20', '--installed', 'gathered');
    expect(exit).toBe(2);
    expect(err).toMatch(/gathered\/namespaces\/ops\/operators.coreos.com\/a.yaml:\d+: not YAML/);
  });
});

test.each([
  [[], 'nothing says which cluster is meant'],
  [['--installed', 'a', '--kubeconfig', 'b'], '--installed and --kubeconfig exclude each other'],
  [['--installed', 'a', '--source', 'b'], '--source b is not CATALOGSOURCE=CATALOG'],
])('%j is refused', async (words, why) => {
  const { exit, err } = await portolan(folder(), 'migrate-to-v1', '.', ...words);
  expect([exit, err]).toEqual([2, expect.stringContaining(why)]);
});
