import { describe, expect, test } from 'vitest';
import { readFleet } from '../../../../pipeline/check/fleet/read-fleet.ts';

const read = (...texts: string[]) =>
  readFleet(texts.map((text, i) => ({ path: `f${i + 1}${/^\s*[[{]/.test(text) ? '.json' : '.csv'}`, text })));

const rowsOf = (...texts: string[]) =>
  read(...texts).fleet.rows.map(({ cluster, count, installation }) => {
    const { platform, olm, package: of, channels, range, catalog, name, version, isManual } = installation;
    const said = { platform, olm, package: of, channel: channels.join(' '), range, catalog, name, version };
    const words = Object.entries(said).filter(([, text]) => text !== '' && text !== 'v0');
    return {
      cluster,
      ...(count === undefined ? {} : { count }),
      ...Object.fromEntries(words),
      ...(isManual ? { isManual } : {}),
    };
  });

describe('CSV of our own', () => {
  test('clusters, with their platform, channel and approval', () => {
    const text =
      'cluster,platform,package,version,channel,approval,olm\r\none,4.18.12,etcd,0.9.4,alpha,Manual,v0\r\n"two, three",v4.19,etcd,0.9.2,,,v1\r\n';
    expect(rowsOf(text)).toEqual([
      {
        cluster: 'one',
        platform: '4.18',
        package: 'etcd',
        channel: 'alpha',
        version: '0.9.4',
        isManual: true,
      },
      { cluster: 'two, three', platform: '4.19', olm: 'v1', package: 'etcd', version: '0.9.2' },
    ]);
  });

  test('groups with their counts', () => {
    expect(rowsOf('group,count,platform,package,version\nprod,300,4.18,etcd,0.9.4\n')).toEqual([
      { cluster: 'prod', count: 300, platform: '4.18', package: 'etcd', version: '0.9.4' },
    ]);
  });

  test('a row without a package tells the platform of its cluster, in any file', () => {
    expect(rowsOf('cluster,package,version\na,etcd,0.9.4\n', 'cluster,platform\na,4.18.1\n')).toEqual([
      { cluster: 'a', platform: '4.18', package: 'etcd', version: '0.9.4' },
    ]);
  });

  test('quotes, doubled quotes, line breaks in cells and a byte order mark', () => {
    const text = '\uFEFFcluster,package,version\n"a ""b""\nc",etcd,1.0.0\n\nd,etcd,bad\n';
    expect(rowsOf(text)).toEqual([{ cluster: 'a "b"\nc', package: 'etcd', version: '1.0.0' }]);
    expect(read(text).bad[0]?.place).toBe('f1.csv:5');
  });

  test('a carriage return alone ends a row, as old programs on a Mac write it', () => {
    const rows = ['a', 'b'].map((cluster) => ({ cluster, package: 'etcd', version: '1.0.0' }));
    expect(rowsOf('cluster,package,version\ra,etcd,1.0.0\r"b",etcd,1.0.0\r')).toEqual(rows);
    expect(rowsOf('cluster,package,version\na,etcd,1.0.0\rb,etcd,1.0.0\n')).toEqual(rows);
  });

  test('a quote that is not closed is an error: the rows behind it would be lost', () => {
    expect(() => read('cluster,package,version\na,etcd,1.0.0\n"b,etcd,1.0.0\nc,etcd,1.0.0\n')).toThrow(
      'f1.csv:3: a quote is not closed',
    );
  });

  test('a misspelt column is an error; columns of an export are not', () => {
    expect(() => read('cluster,package,version,chanel\na,etcd,1.0.0,alpha\n')).toThrow(
      'f1.csv has no column channel: found "chanel"',
    );
    expect(() => read('group,cuont,package,version\na,300,etcd,1.0.0\n')).toThrow('no column count');
    const text =
      'cluster,package,version,channel,chanel,account,country,pod,created\na,etcd,1.0.0,alpha,x,y,z,,\n';
    expect(rowsOf(text)).toEqual([{ cluster: 'a', package: 'etcd', version: '1.0.0', channel: 'alpha' }]);
  });

  test.each([
    ['a,x,etcd,1.0.0,,', 'platform "x"', 'a version of the platform, for example 4.18'],
    ['a,4.18,etcd,one,,', 'version "one"', 'a semantic version, for example 1.2.3'],
    ['a,4.18,,1.0.0,,', 'package ""', 'the name of a package, or of a ClusterServiceVersion'],
    ['a,4.18,etcd,,,', 'version ""', 'an installed version, for example 1.2.3'],
    ['a,4.18,etcd,1.0.0,perhaps,', 'approval "perhaps"', 'Automatic or Manual'],
    ['a,4.18,etcd,1.0.0,,v2', 'olm "v2"', 'v0 or v1'],
  ])('%j: says what was found and expected, and counts the cluster apart', (line, found, expected) => {
    const { fleet, bad } = read(
      `cluster,platform,package,version,approval,olm\nok,4.18,etcd,1.0.0,,\n${line}\n`,
    );
    expect(bad).toEqual([{ place: 'f1.csv:3', found, expected }]);
    expect(fleet).toMatchObject({ unread: 1, rows: [{ cluster: 'ok' }] });
  });

  test('a count that is not a number is one cluster that cannot be read', () => {
    const { fleet, bad } = read('group,count,package,version\ng,many,etcd,1.0.0\nh,7,etcd,bad\n');
    expect(bad.map(({ found }) => found)).toEqual(['count "many"', 'version "bad"']);
    expect(fleet.unread).toBe(8);
  });

  test('122: a column that counts twice is an error, also by another of its names', () => {
    expect(() => read('group,count,count,package,version\ng,1,300,etcd,1.0.0\n')).toThrow(
      'f1.csv has more than one column count',
    );
    expect(() => read('group,Count,clusters,package,version\ng,1,300,etcd,1.0.0\n')).toThrow('column count');
    expect(rowsOf('_id,cluster_id,package,version\na,a,etcd,1.0.0\n')).toHaveLength(1);
  });

  test.each(['', 'name,age\na,1\n', '<html></html>'])('%j is not a fleet', (text) => {
    expect(() => read(text)).toThrow(/f1.csv is not a table of a fleet/);
  });
});

describe('JSON of our own', () => {
  test('rows as portolan inventory writes them', () => {
    const rows = [
      {
        cluster: 'a',
        platform: '4.18',
        package: 'etcd',
        csv: 'etcdoperator.v0.9.4',
        version: '0.9.4',
        channel: 'alpha',
      },
      {
        group: 'g',
        count: 12,
        platform: '4.19',
        olm: 'v1',
        package: 'etcd',
        version: '0.9.4',
        channels: ['a', 'b'],
        range: '<1.0.0',
      },
      'nonsense',
    ];
    const text = JSON.stringify({ apiVersion: 'portolan/v1alpha1', kind: 'Fleet', rows });
    expect(rowsOf(text)).toEqual([
      {
        cluster: 'a',
        platform: '4.18',
        package: 'etcd',
        channel: 'alpha',
        name: 'etcdoperator.v0.9.4',
        version: '0.9.4',
      },
      {
        cluster: 'g',
        count: 12,
        platform: '4.19',
        olm: 'v1',
        package: 'etcd',
        channel: 'a b',
        range: '<1.0.0',
        version: '0.9.4',
      },
    ]);
    // Nobody knows of how many clusters it is.
    expect(read(text).bad[0]).toMatchObject({ place: 'f1.json: rows[2]', uncounted: true });
  });

  test.each(['{"kind":"Pod"}', '{', '"text"', '[]'])('%s is not a fleet', (text) => {
    expect(() => read(text)).toThrow();
  });
});

// The labels are those of operator-lifecycle-manager 992bb097, pkg/metrics/metrics.go: csv_succeeded has namespace, name
// and version; subscription_sync_total has name, installed, channel, package and approval. Federation adds the cluster.
describe('results of Prometheus queries', () => {
  const vector = (...result: object[]) =>
    JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
  const series = (name: string, labels: object, value = '1') => ({
    metric: { __name__: name, job: 'olm-operator-metrics', ...labels },
    value: [1764000000.5, value],
  });
  const versions = vector(
    series('csv_succeeded', { _id: 'c1', namespace: 'etcd', name: 'etcdoperator.v0.9.4', version: '0.9.4' }),
    series('csv_succeeded', {
      _id: 'c1',
      namespace: 'etcd-2',
      name: 'etcdoperator.v0.9.4',
      version: '0.9.4',
    }),
    series('csv_succeeded', { _id: 'c2', namespace: 'etcd', name: 'etcdoperator.v0.9.2', version: '0.9.2' }),
  );
  const subscriptions = vector(
    series(
      'subscription_sync_total',
      {
        _id: 'c1',
        name: 'etcd',
        installed: 'etcdoperator.v0.9.4',
        channel: 'alpha',
        package: 'etcd',
        approval: 'Manual',
      },
      '17',
    ),
    series('subscription_sync_total', {
      _id: 'c3',
      name: 'etcd',
      installed: '',
      channel: 'alpha',
      package: 'etcd',
      approval: 'Automatic',
    }),
  );

  test('versions and subscriptions complete each other; a copy in another namespace is the same installation', () => {
    const typed = (type: string, version: string) => series('cluster_version', { _id: 'c1', type, version });
    const platforms = vector(
      typed('initial', '4.14.2'),
      typed('desired', '4.19.1'),
      typed('failure', '4.19.1'),
      typed('current', '4.18.9'),
    );
    const expected = [
      {
        cluster: 'c1',
        platform: '4.18',
        package: 'etcd',
        channel: 'alpha',
        name: 'etcdoperator.v0.9.4',
        version: '0.9.4',
        isManual: true,
      },
      { cluster: 'c2', name: 'etcdoperator.v0.9.2', version: '0.9.2' },
    ];
    expect(rowsOf(versions, subscriptions, platforms)).toEqual(expected);
    expect(rowsOf(platforms, subscriptions, versions)).toEqual(expected);
  });

  test('a query that counts clusters gives groups', () => {
    const counted = vector({
      metric: { name: 'etcdoperator.v0.9.4', version: '0.9.4' },
      value: [1764000000, '1100'],
    });
    expect(rowsOf(counted)).toEqual([
      { cluster: '', count: 1100, name: 'etcdoperator.v0.9.4', version: '0.9.4' },
    ]);
  });

  test('a table of the same labels, as Thanos and Grafana export it', () => {
    const text =
      '"Time","__name__","_id","installed","channel","package","approval","name","Value"\n"2026-11-23 10:00:00","subscription_sync_total","c1","etcdoperator.v0.9.4","alpha","etcd","Automatic","etcd","17"\n';
    expect(rowsOf(text, versions)[0]).toEqual({
      cluster: 'c1',
      package: 'etcd',
      channel: 'alpha',
      name: 'etcdoperator.v0.9.4',
      version: '0.9.4',
    });
  });
});

// The item is that of stolostron/console e8cd2463, frontend/src/routes/Search/SearchResults/utils.test.tsx, and the
// columns those of searchDefinitions.tsx there; the properties are search-collector's, genericResourceConfig.go.
describe("exports of Advanced Cluster Management's search", () => {
  const subscription = {
    apigroup: 'operators.coreos.com',
    apiversion: 'v1alpha1',
    channel: 'release-2.11',
    cluster: 'local-cluster',
    created: '2024-04-15T14:20:26Z',
    installplan: 'advanced-cluster-management.v2.11.0',
    kind: 'Subscription',
    label: 'operators.coreos.com/advanced-cluster-management.open-cluster-management=',
    name: 'acm-operator-subscription',
    namespace: 'open-cluster-management',
    package: 'advanced-cluster-management',
    phase: 'AtLatestKnown',
    source: 'acm-custom-registry',
  };
  const csv = {
    ...subscription,
    kind: 'ClusterServiceVersion',
    name: 'advanced-cluster-management.v2.11.0',
    version: '2.11.0',
    phase: 'Succeeded',
  };

  test('subscriptions and versions that the search finds', () => {
    const app = { ...subscription, apigroup: 'apps.open-cluster-management.io' };
    const text = JSON.stringify({
      data: { searchResult: [{ items: [subscription, csv, app, { kind: 'Pod' }] }] },
    });
    expect(rowsOf(text)).toEqual([
      {
        cluster: 'local-cluster',
        package: 'advanced-cluster-management',
        channel: 'release-2.11',
        catalog: 'acm-custom-registry',
        name: 'advanced-cluster-management.v2.11.0',
        version: '2.11.0',
      },
    ]);
  });

  test('a search whose result may be incomplete is not a fleet', () => {
    const found = { data: { searchResult: [{ items: [csv] }] } };
    const search = (value: object): string => JSON.stringify({ ...found, ...value });
    expect(() => read(search({ errors: [{ message: 'timeout' }] }))).toThrow(/may be incomplete/);
    expect(() => read(search({ data: { searchResult: [{ items: [csv] }, { items: null }] } }))).toThrow(
      'f1.json: searchResult[1] has no list of items',
    );
    const { fleet } = read(search({ data: { searchResult: [{ items: [csv, null] }] }, errors: [] }));
    expect(fleet).toMatchObject({ unread: 1, rows: [{ cluster: 'local-cluster' }] });
  });

  test('the CSV of Subscriptions, which has no installed version, is refused', () => {
    const text =
      'Name,Namespace,Cluster,Package,Source,Channel,Created,Labels\nsub,n,local-cluster,etcd,community,-,2024-04-15T14:20:26Z,-\n';
    expect(() => read(text)).toThrow('f1.csv has no column with installed versions');
  });

  test('the CSV of ClusterServiceVersions, whose label names the package', () => {
    const text =
      'Name,Namespace,Cluster,Version,Phase,Display,Created,Labels\nadvanced-cluster-management.v2.11.0,open-cluster-management,local-cluster,2.11.0,Succeeded,ACM,2024-04-15T14:20:26Z,operators.coreos.com/advanced-cluster-management.open-cluster-management=\n';
    expect(rowsOf(text)).toEqual([
      {
        cluster: 'local-cluster',
        package: 'advanced-cluster-management',
        name: 'advanced-cluster-management.v2.11.0',
        version: '2.11.0',
      },
    ]);
  });
});

test('one cluster as oc prints it', () => {
  const items = [
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      metadata: { name: 'etcd', namespace: 'n' },
      spec: { name: 'etcd', channel: 'alpha', source: 'community', installPlanApproval: 'Manual' },
      status: { installedCSV: 'etcdoperator.v0.9.4' },
    },
    {
      kind: 'ClusterServiceVersion',
      metadata: { name: 'etcdoperator.v0.9.4', namespace: 'n' },
      spec: { version: '0.9.4' },
    },
  ];
  expect(rowsOf(JSON.stringify({ kind: 'List', items }))).toEqual([
    {
      cluster: 'f1.json',
      package: 'etcd',
      channel: 'alpha',
      catalog: 'community',
      name: 'etcdoperator.v0.9.4',
      version: '0.9.4',
      isManual: true,
    },
  ]);
});

describe('attack 141: an export that says itself that it is incomplete', () => {
  const result = [{ metric: { _id: 'a', name: 'etcd.v1.0.0', version: '1.0.0' }, value: [1, '1'] }];
  const query = (more: object): string => JSON.stringify({ status: 'success', data: { result }, ...more });
  const items = [{ kind: 'ClusterServiceVersion', cluster: 'a', name: 'etcd.v1.0.0', version: '1.0.0' }];
  const search = (count: unknown): string => JSON.stringify({ data: { searchResult: [{ count, items }] } });
  const extension = {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterExtension',
    spec: { source: { catalog: { packageName: 'etcd' } } },
    status: { install: { bundle: { name: 'etcd.v1.0.0', version: '1.0.0' } } },
  };
  const list = (metadata: object): string => JSON.stringify({ kind: 'List', metadata, items: [extension] });

  test.each([
    ['a query that failed', query({ status: 'error', error: 'query timed out' })],
    ['a query of Thanos without one of its stores', query({ warnings: ['store unavailable'] })],
    ['a query of VictoriaMetrics without one of its nodes', query({ isPartial: true })],
    ['a search that counts more than it has', search(500)],
  ])('%s', (_, text) => {
    expect(() => read(text)).toThrow(/may be incomplete/);
  });

  test.each([[{ continue: 'abc' }], [{ remainingItemCount: 499 }]])('a page of a list: %j', (metadata) => {
    expect(() => read(list(metadata))).toThrow('f1.json has only a page of a list');
  });

  test('whole ones are read', () => {
    const whole = [
      query({ warnings: ['PromQL info: metric might not be a counter'] }),
      query({ warnings: [], infos: ['the metric might not be a counter'], isPartial: false }),
      search(1),
      search(null),
      list({ resourceVersion: '1', continue: '', remainingItemCount: 0 }),
    ];
    for (const text of whole) expect(rowsOf(text)).toHaveLength(1);
  });
});

test.each([
  '{"kind": "Fleet", "rows": [{"group": "g", "count": 500, "count": 1, "package": "etcd", "version": "1.0.0"}]}',
  '{"kind": "Fleet", "rows": [], "rows": []}',
])('122: a key twice: %s', (text) => {
  expect(() => read(text)).toThrow('f1.json is not valid JSON, or has a key twice');
});

/** The same fleet as a table and as our own JSON. */
const ownForms = (...rows: readonly Record<string, string | number>[]): string[] => [
  [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
    .map((line) => line.join(','))
    .join('\n'),
  JSON.stringify({ kind: 'Fleet', rows }),
];
const ROW = { group: 'g', platform: '4.18', package: 'etcd', version: '1.0.0' };

test('148: our own JSON takes the names of columns that a table takes', () => {
  for (const text of ownForms({ ...ROW, clusters: 500 }))
    expect(rowsOf(text)).toMatchObject([{ count: 500 }]);
  for (const text of ownForms({
    group: 'g',
    openshift: '4.18',
    package: 'etcd',
    installed: 'etcd.v1.0.0',
    Count: 7,
  }))
    expect(rowsOf(text)).toMatchObject([{ count: 7, platform: '4.18', name: 'etcd.v1.0.0' }]);
  for (const text of ownForms({ ...ROW, count: 5, account: 'x', object: 'y' }))
    expect(rowsOf(text)).toHaveLength(1);
});

test('148: our own JSON is refused for what a table is refused for', () => {
  for (const text of ownForms({ ...ROW, cuont: 500 }))
    expect(() => read(text)).toThrow('has no column count: found "cuont"');
  for (const text of ownForms({ ...ROW, count: 1, clusters: 500 }))
    expect(() => read(text)).toThrow('has more than one column count');
  for (const text of ownForms({ cluster: 'a', package: 'etcd', name: 'my-subscription' }))
    expect(() => read(text)).toThrow('has no column with installed versions');
  const rows = [
    { ...ROW, count: 1 },
    { ...ROW, cuont: 500 },
  ];
  expect(() => read(JSON.stringify({ kind: 'Fleet', rows }))).toThrow('has no column count');
});

test.each([
  { Rows: [{ ...ROW, count: 500 }] },
  { metadata: { continue: 'abc' } },
  { truncated: true },
  { next: 'https://example.com/2' },
])('152: our own JSON is refused for other keys, which may say that rows are missing: %j', (more) => {
  const fleet = { apiVersion: 'portolan/v1alpha1', kind: 'Fleet', rows: [{ ...ROW, count: 1 }] };
  expect(rowsOf(JSON.stringify(fleet))).toHaveLength(1);
  expect(() => read(JSON.stringify({ ...fleet, ...more }))).toThrow('its rows may be incomplete');
});
