/**
 * library-olm's own test cases, expressed as objects of a cluster: the same verdict by each check.
 *
 * @see https://github.com/operator-framework/library-olm/blob/075d75d2f69d2ca90817f476c715e7098bb61a85/migration/pkg/migration/unit_test.go
 */
import { describe, expect, test } from 'vitest';
import { viewOf } from '../../../../pipeline/cli/migration/cluster-view.ts';
import {
  checksOf,
  clusterChecks,
  csvVersion,
  dependentsOf,
} from '../../../../pipeline/cli/migration/library-olm.ts';
import {
  type ClusterObject,
  catalogSource,
  changed,
  clusterCatalog,
  clusterExtension,
  objectSets,
  platform,
  subscribed,
} from '../../../fakes/v0-cluster.ts';

const HEALTHY = [...subscribed('widgets'), ...platform()];

function rows(objects: readonly ClusterObject[], isWhole = true) {
  const view = viewOf('cluster', objects, isWhole);
  const [subscription] = view.all('Subscription');
  if (!subscription) throw new Error('no Subscription');
  return checksOf(view, subscription);
}

/** Names of the checks that refuse. */
function refused(objects: readonly ClusterObject[]): string[] {
  return rows(objects).flatMap(({ name, result }) => (result === 'refused' ? [name] : []));
}

const csvWith = (spec: object, annotations: Record<string, string> = {}): ClusterObject[] =>
  HEALTHY.map((one) =>
    one.kind === 'ClusterServiceVersion'
      ? {
          ...one,
          metadata: { ...one.metadata, annotations: { ...one.metadata.annotations, ...annotations } },
          spec: { ...one.spec, ...spec },
        }
      : one,
  );
const properties = (text: string) => csvWith({}, { 'operatorframework.io/properties': text });
const group = (spec: object, status: object = {}) =>
  changed(HEALTHY, 'OperatorGroup', { spec: { ...spec }, status: { ...status } });
const subscription = (status: object) =>
  changed(HEALTHY, 'Subscription', {
    status: { installedCSV: 'widgets.v1.0.0', state: 'AtLatestKnown', ...status },
  });
const access = (...groups: string[]) =>
  csvWith({
    install: {
      spec: {
        clusterPermissions: [
          { rules: groups.map((apiGroup) => ({ apiGroups: [apiGroup], resources: ['subscriptions'] })) },
        ],
      },
    },
  });
const condition = (conditions: object[]) => changed(HEALTHY, 'OperatorCondition', { status: { conditions } });
const source = (spec: object) => [
  ...HEALTHY.filter(({ kind }) => kind !== 'CatalogSource'),
  catalogSource(undefined, { ...spec }),
];

const REFUSED: readonly [string, ClusterObject[], string[]][] = [
  [
    'TestCheckReadiness: busy',
    changed(subscription({ state: 'UpgradeAvailable' }), 'ClusterServiceVersion', {
      status: { phase: 'Failed' },
    }),
    ['Subscription state', 'CSV health'],
  ],
  [
    'TestCheckReadiness: a dependency, and a second Subscription',
    [
      ...changed(HEALTHY, 'Subscription', {
        metadata: { namespace: 'ops', name: 'widgets', annotations: { 'olm.generated-by': 'parent' } },
      }),
      ...subscribed('widgets', { name: 'other', namespace: 'other' }).slice(0, 1),
    ],
    ['Package uniqueness', 'Not a dependency'],
  ],
  [
    'TestCompatibilityOperatorGroupAndConditionOverrides',
    changed(group({ targetNamespaces: ['target'], serviceAccountName: 'restricted' }), 'OperatorCondition', {
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    }),
    ['AllNamespaces mode', 'No OperatorCondition usage', 'No scoped ServiceAccount'],
  ],
  [
    'TestCompatibilityPureChecks: a package',
    properties('[{"type":"olm.package.required","value":{"packageName":"dep"}}]'),
    ['No dependency resolution'],
  ],
  [
    'TestCompatibilityPureChecks: an API',
    properties('{"properties":[{"type":"olm.gvk.required","value":{"group":"x"}}]}'),
    ['No dependency resolution'],
  ],
  ['TestCompatibilityPureChecks: not JSON', properties('not json'), ['No dependency resolution']],
  [
    'TestCompatibilityPureChecks: API services',
    csvWith({ apiservicedefinitions: { owned: [{ name: 'v1.widgets' }] } }),
    ['No APIService definitions'],
  ],
  ['TestCompatibilityPureChecks: OLMv0-only RBAC', access('operators.coreos.com'), ['OLMv0-API RBAC']],
  [
    'TestEmptyLabelSelector: labels',
    group({ selector: { matchLabels: { app: 'operator' } } }),
    ['No namespace selector'],
  ],
  [
    'TestEmptyLabelSelector: expressions',
    group({ selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }),
    ['No namespace selector'],
  ],
  [
    'TestScanStatesAndPublicHelpers: conflict',
    [
      ...HEALTHY,
      clusterExtension('conflict-ce', {
        'olm.operatorframework.io/migrated-from-subscription': 'ops/widgets',
      }),
    ],
    ['Conflict'],
  ],
  [
    'TestPrepareClusterObjectSetRejectsExistingClusterExtension',
    [...HEALTHY, clusterExtension('widgets')],
    ['Conflict'],
  ],
  ['R6: one namespace in the status', group({}, { namespaces: ['apps'] }), ['Namespace scope change']],
  [
    'R3 C1: no OperatorGroup',
    HEALTHY.filter(({ kind }) => kind !== 'OperatorGroup'),
    ['OperatorGroup exists'],
  ],
  [
    'R3 C1a: modes',
    csvWith({ installModes: [{ type: 'AllNamespaces', supported: false }] }),
    ['AllNamespaces bundle support'],
  ],
  [
    'R3 C8: no reason',
    changed(HEALTHY, 'ClusterServiceVersion', {
      spec: csvWith({})[1]?.spec ?? {},
      status: { phase: 'Succeeded' },
    }),
    ['CSV health'],
  ],
  [
    'R3 C8: no ClusterServiceVersion',
    HEALTHY.filter(({ kind }) => kind !== 'ClusterServiceVersion'),
    ['CSV health'],
  ],
  ['R3 C8: nothing installed', subscription({ installedCSV: '' }), ['Installed CSV', 'CSV health']],
  ['R3 C10: an address', source({ image: '', address: 'registry:50051' }), ['Image-backed CatalogSources']],
  ['R3 C10: a ConfigMap', source({ sourceType: 'configmap' }), ['Image-backed CatalogSources']],
  [
    'R3 C10: the source is gone',
    HEALTHY.filter(({ kind }) => kind !== 'CatalogSource'),
    ['Image-backed CatalogSources'],
  ],
  [
    'R3 C10: the bundle came from another source',
    [
      ...subscription({ installPlanRef: { namespace: 'ops', name: 'install-1' } }),
      {
        apiVersion: 'operators.coreos.com/v1alpha1',
        kind: 'InstallPlan',
        metadata: { namespace: 'ops', name: 'install-1' },
        status: {
          bundleLookups: [
            { identifier: 'widgets.v1.0.0', catalogSourceRef: { namespace: 'olm', name: 'gone' } },
          ],
        },
      },
    ],
    ['Image-backed CatalogSources'],
  ],
  ['R4: the InstallPlan is gone', subscription({ installPlanRef: { name: 'install-1' } }), ['InstallPlan']],
];

const PASSED: readonly [string, ClusterObject[]][] = [
  ['TestCheckReadiness: healthy', HEALTHY],
  ['R4: an upgrade that waits for approval', subscription({ state: 'UpgradePending' })],
  ['TestCompatibilityPureChecks: no dependency', properties('[{"type":"olm.package","value":{}}]')],
  ['TestCompatibilityPureChecks: dual RBAC', access('operators.coreos.com', 'olm.operatorframework.io')],
  ['TestEmptyLabelSelector: nil and empty', group({ selector: {} })],
  ['R9: a condition that nobody has set', condition([])],
  ['R6: all namespaces in the status', group({}, { namespaces: [''] })],
  ['R6: an upgrade strategy', group({ upgradeStrategy: 'TechPreviewUnsafeFailForward' })],
];

describe('library-olm refuses', () => {
  test.each(REFUSED)('%s', (_, objects, names) => {
    expect(refused(objects)).toEqual(names);
  });
});

test.each(PASSED)('library-olm accepts: %s', (_, objects) => {
  expect(refused(objects)).toEqual([]);
  expect(rows(objects).some(({ result }) => result === 'unread')).toBe(false);
});

test('only what library-olm lets somebody override names its option', () => {
  const soft = new Set(
    REFUSED.flatMap(([, objects]) =>
      rows(objects).flatMap(({ check, override }) => (override ? [check] : [])),
    ),
  );
  expect([...soft].sort()).toEqual(['C1', 'C4', 'C5', 'C6', 'C8']);
});

test('TestCheckReadinessRequiresClusterObjectSetCRD, TestPrepareClusterObjectSetRequiresEstablishedCRD', () => {
  const results = [[objectSets()], [], [objectSets('False')]].map(
    (objects) => clusterChecks(viewOf('cluster', objects, true))[0]?.reason,
  );
  expect(results).toEqual([
    'ClusterObjectSet CRD is established',
    'ClusterObjectSet CRD "clusterobjectsets.olm.operatorframework.io" is required before migration',
    'ClusterObjectSet CRD "clusterobjectsets.olm.operatorframework.io" is not established',
  ]);
});

test('TestFindDependentsOnlyReportsInstalledOperatorsRequiringPackage', () => {
  const requires = (of: string, packageName: string, wrapped = false, value = 'widgets') => {
    const list = [{ type: 'olm.package.required', value: { packageName: value } }];
    return subscribed(packageName, { namespace: of }).map((one) =>
      one.kind === 'ClusterServiceVersion'
        ? {
            ...one,
            metadata: {
              ...one.metadata,
              annotations: {
                'operatorframework.io/properties': JSON.stringify(wrapped ? { properties: list } : list),
              },
            },
          }
        : one,
    );
  };
  const objects = [
    ...requires('first', 'consumer'),
    ...requires('second', 'another', true),
    ...changed(requires('third', 'pending'), 'Subscription', { status: {} }),
    ...requires('fourth', 'unrelated', false, 'different'),
    ...requires('zero', 'widgets'),
  ];
  expect(dependentsOf(viewOf('cluster', objects), 'widgets')).toEqual(['first/consumer', 'second/another']);
  const of = [...subscribed('widgets'), ...requires('first', 'consumer'), ...platform()];
  expect(rows(of).find(({ name }) => name === 'Dependents')).toMatchObject({
    result: 'warning',
    reason: expect.stringContaining('other operator(s) may depend on package "widgets": [first/consumer]'),
  });
});

test('TestCatalogParsingAndVersion: the version is that of the bundle, else that of the ClusterServiceVersion', () => {
  const [, csv] = properties('[{"type":"olm.package","value":{"version":"3.1.4"}}]');
  expect([csv, HEALTHY[1]].map((one) => csvVersion({ ...one }))).toEqual(['3.1.4', '1.0.0']);
});

describe('what the objects lack is not passed', () => {
  test.each([
    [
      'OperatorGroup',
      [
        'OperatorGroup exists',
        'No namespace selector',
        'AllNamespaces mode',
        'Namespace scope change',
        'No scoped ServiceAccount',
        'Upgrade strategy',
      ],
    ],
    ['OperatorCondition', ['No OperatorCondition usage']],
    ['CatalogSource', ['Image-backed CatalogSources']],
  ])('%s', (kind, names) => {
    const unread = rows(
      HEALTHY.filter((one) => one.kind !== kind),
      false,
    ).filter(({ result }) => result === 'unread');
    expect(unread.map(({ name }) => name)).toEqual(names);
  });

  test('nobody knows of ClusterExtensions where neither OLM v1 nor its absence is to be seen', () => {
    const withoutV1 = subscribed('widgets');
    const conflict = (objects: readonly ClusterObject[]) =>
      rows(objects, false).find(({ name }) => name === 'Conflict')?.result;
    expect(
      [withoutV1, [...withoutV1, objectSets()], [...withoutV1, clusterCatalog('a', 'b')]].map(conflict),
    ).toEqual(['unread', 'pass', 'pass']);
  });
});

test('79: the groups of a namespace are put in order once, for all its Subscriptions', () => {
  let reads = 0;
  const own = HEALTHY.find(({ kind }) => kind === 'OperatorGroup');
  const [first] = HEALTHY.filter(({ kind }) => kind === 'Subscription');
  if (!own || !first) throw new Error('no group');
  const groups = Array.from({ length: 100 }, (_, i) => {
    const metadata = { ...own.metadata };
    const get = (): string => {
      reads++;
      return `group-${i}`;
    };
    Object.defineProperty(metadata, 'name', { enumerable: true, get });
    return { ...own, metadata };
  });
  const subscriptions = Array.from({ length: 100 }, (_, i) => ({
    ...first,
    metadata: { ...first.metadata, name: `s${i}` },
  }));
  const view = viewOf('cluster', [...platform(), ...groups, ...subscriptions], true);
  reads = 0;
  const verdicts = new Set(
    view.all('Subscription').map((one) => JSON.stringify(checksOf(view, one).map(({ result }) => result))),
  );
  expect(verdicts.size).toBe(1);
  expect(reads).toBeLessThan(100 * 100);
});
