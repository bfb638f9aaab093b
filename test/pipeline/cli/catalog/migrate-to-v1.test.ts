import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { bundle, documents } from '../../../fakes/gate.ts';
import { portolan } from '../../../fakes/terminal.ts';

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

interface Subscribed {
  readonly namespace?: string;
  readonly version?: string;
  readonly spec?: object;
  readonly watches?: string;
}

/** The other objects that library-olm reads. */
function around(namespace: string, csv: string) {
  return [
    {
      apiVersion: 'operators.coreos.com/v1',
      kind: 'OperatorGroup',
      metadata: { namespace, name: 'ops' },
      spec: {},
    },
    { apiVersion: 'operators.coreos.com/v2', kind: 'OperatorCondition', metadata: { namespace, name: csv } },
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'CatalogSource',
      metadata: { namespace: 'marketplace', name: 'community-operators' },
      spec: { image: 'quay.io/example/index:v4.20' },
    },
  ];
}

/** A Subscription and its ClusterServiceVersion, with what a cluster has beside them. */
function subscribed(
  of: string,
  { namespace = 'ops', version = '1.0.0', spec = {}, watches = '' }: Subscribed = {},
) {
  const csv = `${of}.v${version}`;
  return [
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      metadata: { namespace, name: of },
      spec: {
        name: of,
        channel: 'stable',
        source: 'community-operators',
        sourceNamespace: 'marketplace',
        ...spec,
      },
      status: { installedCSV: csv, state: 'AtLatestKnown' },
    },
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'ClusterServiceVersion',
      metadata: { namespace, name: csv, annotations: { 'olm.targetNamespaces': watches } },
      spec: { version },
      status: { phase: 'Succeeded', reason: 'InstallSucceeded' },
    },
    ...around(namespace, csv),
  ];
}

async function migrate(packages: readonly string[], objects: readonly object[], format = 'json') {
  const root = folder();
  mkdirSync(join(root, 'v4.20'));
  writeFileSync(join(root, 'v4.20', 'catalog.yaml'), packages.join(''));
  writeFileSync(join(root, 'cluster.json'), JSON.stringify({ kind: 'List', items: objects }));
  const words = ['migrate-to-v1', 'v4.20', '--installed', 'cluster.json', '--format', format];
  const { exit, out } = await portolan(root, ...words);
  return { exit, out, report: format === 'json' ? JSON.parse(out) : undefined };
}

test('the equivalent ClusterExtension, and what OLM v1 then does from the same version', async () => {
  const { exit, report } = await migrate([packageOf('etcd', ALL)], subscribed('etcd'));
  const [operator] = report.operators;
  expect(exit).toBe(0);
  expect(operator).toMatchObject({
    namespace: 'ops',
    package: 'etcd',
    installed: '1.0.0',
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
        catalog: { packageName: 'etcd', channels: ['stable'], version: '1.0.0' },
      },
    },
  });
  expect(operator.next.paths[0].steps.map(({ version }: { version: string }) => version)).toEqual(['1.1.0']);
});

test('a version that waits for approval is pinned; settings and watched namespaces move along', async () => {
  const config = { env: [{ name: 'LEVEL', value: 'debug' }] };
  const { report } = await migrate(
    [packageOf('etcd', ['SingleNamespace'])],
    subscribed('etcd', { spec: { installPlanApproval: 'Manual', config }, watches: 'apps' }),
  );
  const [{ extension, gates, next }] = report.operators;
  expect(extension.spec.source.catalog).toEqual({
    packageName: 'etcd',
    version: '1.0.0',
    channels: ['stable'],
  });
  expect(extension.spec.config).toEqual({
    configType: 'Inline',
    inline: { watchNamespace: 'apps', deploymentConfig: config },
  });
  expect(gates.join()).toMatch(/^SingleOwnNamespaceInstallSupport .*,DeploymentConfig$/);
  expect(next.paths[0].end).toBe('stays');
});

test.each([
  [
    'an unknown package',
    [],
    subscribed('etcd'),
    'no catalog has package "etcd" (subscribed from community-operators)',
  ],
  [
    'a version that is gone',
    [packageOf('etcd', ALL)],
    subscribed('etcd', { version: '0.9.0' }),
    'the catalog no longer has etcd.v0.9.0, so OLM v1 cannot install the same version',
  ],
  [
    'several namespaces',
    [packageOf('etcd', ALL)],
    subscribed('etcd', { watches: 'a,b' }),
    'it watches 2 namespaces: OLM v1 watches all or one',
  ],
  [
    'two installations',
    [packageOf('etcd', ALL)],
    [...subscribed('etcd'), ...subscribed('etcd', { namespace: 'lab' })],
    'it is also installed in lab: OLM v1 installs a package once',
  ],
  [
    'dependencies',
    [
      packageOf('etcd', ALL, {
        type: 'olm.package.required',
        value: { packageName: 'b', versionRange: '>=1.0.0' },
      }),
    ],
    subscribed('etcd'),
    'it has dependencies (olm.package.required)',
  ],
  [
    'several namespaces only',
    [packageOf('etcd', ['MultiNamespace'])],
    subscribed('etcd'),
    'it does not support the install mode AllNamespaces',
  ],
])('%s: not possible, and why', async (_, packages, objects, why) => {
  const { exit, report } = await migrate(packages, objects);
  expect(exit).toBe(1);
  expect(report.operators[0].obstacles).toEqual([why]);
  expect(report.operators[0].extension).toBeUndefined();
});

test('the share of packages that OLM v1 can install', async () => {
  const packages = [
    packageOf('a', ALL),
    packageOf('b', ['OwnNamespace']),
    packageOf('c', ['MultiNamespace']),
  ];
  const { report } = await migrate(packages, subscribed('a'));
  expect(report.catalogs).toEqual([{ name: 'v4.20', packages: 3, installable: 1, withGate: 1 }]);
  const { out } = await migrate(packages, [...subscribed('a'), ...subscribed('c')], 'text');
  expect(out).toContain('ops/a: a 1.0.0\n  OLM v1: 1.1.0 (replaces): the head of a channel\n    apiVersion:');
  expect(out).toContain(
    'ops/c: c 1.0.0\n  NOT POSSIBLE: it does not support the install mode AllNamespaces\n',
  );
  expect(out).toContain(
    'v4.20: OLM v1 can install 1 of 3 packages (33 %), 1 more with a feature gate for one watched namespace',
  );
});

test('only what can be applied, as YAML', async () => {
  const { out } = await migrate([packageOf('a', ALL)], [...subscribed('a'), ...subscribed('gone')], 'yaml');
  expect(out).toMatch(/^---\napiVersion: olm.operatorframework.io\/v1\n/);
  expect(out.match(/^---$/gm)).toHaveLength(1);
});

describe('what library-olm refuses', () => {
  type Objects = { kind: string; metadata: object; spec?: object; status?: object }[];
  const changed = (kind: string, change: object): Objects =>
    (subscribed('etcd') as Objects).map((one) => (one.kind === kind ? { ...one, ...change } : one));
  const rules = (...groups: string[]) => ({
    install: {
      spec: {
        clusterPermissions: [
          { rules: groups.map((group) => ({ apiGroups: [group], resources: ['subscriptions'] })) },
        ],
      },
    },
  });

  test.each<[string, Objects]>([
    [
      'state must be "AtLatestKnown"',
      changed('Subscription', { status: { installedCSV: 'etcd.v1.0.0', state: 'UpgradeFailed' } }),
    ],
    [
      'olm.generated-by annotation present',
      changed('Subscription', {
        metadata: { namespace: 'ops', name: 'etcd', annotations: { 'olm.generated-by': 'x' } },
      }),
    ],
    [
      'phase is "Failed", expected "Succeeded"',
      changed('ClusterServiceVersion', { status: { phase: 'Failed' } }),
    ],
    [
      'reason is "", expected "InstallSucceeded"',
      changed('ClusterServiceVersion', { status: { phase: 'Succeeded' } }),
    ],
    [
      'grant operators.coreos.com access',
      changed('ClusterServiceVersion', { spec: { version: '1.0.0', ...rules('operators.coreos.com') } }),
    ],
    ['spec.serviceAccountName set', changed('OperatorGroup', { spec: { serviceAccountName: 'scoped' } })],
    [
      'no OperatorGroup found in namespace ops',
      changed('OperatorGroup', { metadata: { namespace: 'other', name: 'ops' } }),
    ],
    [
      'status.conditions entries',
      changed('OperatorCondition', { status: { conditions: [{ type: 'Upgradeable' }] } }),
    ],
    ['has no spec.image', changed('CatalogSource', { spec: { address: 'registry:50051' } })],
    [
      'CatalogSource marketplace/community-operators does not exist',
      changed('CatalogSource', { metadata: { namespace: 'marketplace', name: 'other' } }),
    ],
  ])('%s', async (why, objects) => {
    const { exit, report } = await migrate([packageOf('etcd', ALL)], objects);
    expect(exit).toBe(1);
    expect(report.operators[0]).toMatchObject({ obstacles: [expect.stringContaining(why)] });
    expect(report.operators[0].extension).toBeUndefined();
  });

  test.each<[string, Objects]>([
    [
      'an upgrade that waits for approval',
      changed('Subscription', { status: { installedCSV: 'etcd.v1.0.0', state: 'UpgradePending' } }),
    ],
    [
      'permissions for the APIs of both',
      changed('ClusterServiceVersion', {
        spec: { version: '1.0.0', ...rules('operators.coreos.com', 'olm.operatorframework.io') },
      }),
    ],
    ['a condition that nobody has set', changed('OperatorCondition', { status: { conditions: [] } })],
  ])('and what it does not: %s', async (_, objects) => {
    const { exit, report } = await migrate([packageOf('etcd', ALL)], objects);
    expect([exit, report.operators[0].obstacles]).toEqual([0, []]);
  });

  test('kinds that the file lacks are named, and the exit code says that the check is not complete', async () => {
    const objects = (subscribed('etcd') as Objects).filter(
      ({ kind }) => !/^(?:OperatorGroup|CatalogSource)$/.test(kind),
    );
    const { exit, out } = await migrate([packageOf('etcd', ALL)], objects, 'text');
    expect(exit).toBe(2);
    expect(out).toContain('not checked: the file has no CatalogSource, OperatorGroup');
  });

  test('the text ends with the program that moves the operators, and advises nobody to delete anything', async () => {
    const { out } = await migrate([packageOf('etcd', ALL)], subscribed('etcd'), 'text');
    expect(out).toMatch(
      /library-olm can move ops\/etcd without stopping them.*migrate-operators-v0-to-v1 check/s,
    );
    expect(out).not.toMatch(/delete/i);
  });
});

test('the selector of a Subscription is left out: OLM v1 refuses settings that it does not know', async () => {
  const config = { selector: { matchLabels: { a: 'b' } }, env: [{ name: 'LEVEL', value: 'debug' }] };
  const { report } = await migrate([packageOf('etcd', ALL)], subscribed('etcd', { spec: { config } }));
  expect(report.operators[0].extension.spec.config.inline).toEqual({ deploymentConfig: { env: config.env } });
});
