/** Generated clusters: each ClusterExtension resolves to the installed bundle, or there is a reason why it is not there. */
import { expect, test } from 'vitest';
import { readCatalogs } from '../../../../pipeline/catalogs/read-catalogs.ts';
import { textAt } from '../../../../pipeline/check/cluster.ts';
import { viewOf } from '../../../../pipeline/cli/migration/cluster-view.ts';
import { type MigratedCluster, migrationOf } from '../../../../pipeline/cli/migration/migration.ts';
import { generator, pick } from '../../../fakes/generator.ts';
import {
  type Asked,
  type Blob,
  type ClusterCatalog,
  resolveCatalog,
} from '../../../fakes/operator-controller.ts';
import { runs } from '../../../fakes/runs.ts';
import {
  type ClusterObject,
  catalogSource,
  changed,
  clusterCatalog,
  clusterExtension,
  extensionCrd,
  objectSets,
  subscribed,
} from '../../../fakes/v0-cluster.ts';

type Random = () => number;

const VERSIONS = [
  '1.0.0',
  '1.1.0',
  '1.1.0+1',
  '1.1.0+2',
  '1.1.0+07',
  '1.2.0-rc.1',
  '1.2.0',
  '2.0.0+build.5',
  '2.0.0+build.10',
];

const chance = (random: Random, share: number): boolean => random() < share;

/** A package with some of the versions in one to three channels, and what makes resolution hard. */
function packageBlobs(random: Random, name: string): Blob[] {
  const versions = VERSIONS.filter(() => chance(random, 0.6));
  if (versions.length === 0) versions.push('1.0.0');
  const channels = ['stable', 'fast', 'Beta'].filter((_, i) => i === 0 || chance(random, 0.4));
  const modes = pick(random, [
    ['AllNamespaces'],
    ['AllNamespaces', 'OwnNamespace', 'SingleNamespace'],
    ['OwnNamespace'],
  ]);
  const own = channels.map((channel) => {
    const listed = versions.filter(() => chance(random, 0.75));
    const names = (listed.length === 0 ? versions : listed).map((version) => `${name}.v${version}`);
    const entries = names.map((entry, i) => ({
      name: entry,
      ...(i > 0 && chance(random, 0.8) ? { replaces: names[i - 1] } : {}),
      ...(i > 1 && chance(random, 0.3) ? { skips: [names[i - 2]] } : {}),
      ...(chance(random, 0.2) ? { skipRange: '>=1.0.0 <1.2.0' } : {}),
    }));
    return { schema: 'olm.channel', package: name, name: channel, entries };
  });
  const bundles = versions.map((version) => ({
    schema: 'olm.bundle',
    package: name,
    name: `${name}.v${version}`,
    image: `quay.io/org/${name}@sha256:${'0'.repeat(64)}`,
    properties: [
      { type: 'olm.package', value: { packageName: name, version } },
      { type: 'olm.csv.metadata', value: { installModes: modes.map((type) => ({ type, supported: true })) } },
      ...(chance(random, 0.05)
        ? [{ type: 'olm.package.required', value: { packageName: 'x', versionRange: '>=1.0.0' } }]
        : []),
    ],
  }));
  const deprecated = bundles.filter(() => chance(random, 0.15));
  const entries = deprecated.map((one) => ({
    reference: { schema: 'olm.bundle', name: one.name },
    message: 'old',
  }));
  return [
    { schema: 'olm.package', name, defaultChannel: 'stable' } as Blob,
    ...own,
    ...bundles,
    ...(entries.length === 0 ? [] : [{ schema: 'olm.deprecations', package: name, name: '', entries }]),
  ];
}

interface Generated {
  readonly objects: readonly ClusterObject[];
  readonly catalogs: readonly { readonly name: string; readonly blobs: readonly Blob[] }[];
}

function generated(seed: number): Generated {
  const random = generator(seed);
  for (let i = 0; i < 5; i++) random();
  const names = ['red', 'green', 'blue'].slice(0, 1 + Math.floor(random() * 3));
  const packages = ['etcd', 'web', 'db', 'zoo'];
  const catalogs = names.map((name) => ({
    name,
    blobs: packages.filter(() => chance(random, 0.8)).flatMap((one) => packageBlobs(random, one)),
  }));
  const sources = names.map((name) => {
    const priority = chance(random, 0.5) ? { priority: Math.floor(random() * 3) } : {};
    return catalogSource(name, { ...priority, ...(chance(random, 0.05) ? { image: '' } : {}) });
  });
  const adopted = chance(random, 0.4)
    ? [clusterCatalog('red', 'quay.io/example/red:v4.20', Math.floor(random() * 3))]
    : [];
  const operators = packages
    .filter(() => chance(random, 0.7))
    .flatMap((of, i) => operatorObjects(random, of, { i, names }));
  return {
    catalogs,
    objects: [
      ...operators,
      ...sources,
      ...adopted,
      objectSets(),
      extensionCrd(chance(random, 0.3) ? [] : ['namespace']),
    ],
  };
}

function operatorObjects(
  random: Random,
  of: string,
  { i, names }: { i: number; names: readonly string[] },
): ClusterObject[] {
  const namespace = chance(random, 0.3) ? 'shared' : pick(random, [`${of}-system`, `ns-${i}`]);
  const config = chance(random, 0.3) ? { config: { selector: {}, env: [{ name: 'A', value: 'b' }] } } : {};
  const objects = subscribed(of, {
    namespace,
    name: chance(random, 0.2) ? `my-${of}` : of,
    version: pick(random, VERSIONS),
    source: pick(random, names),
    modes: pick(random, [['AllNamespaces'], ['AllNamespaces', 'OwnNamespace'], ['OwnNamespace']]),
    watches: chance(random, 0.2) ? pick(random, [namespace, 'apps', 'apps,web']) : '',
    spec: {
      ...(chance(random, 0.3) ? { installPlanApproval: 'Manual' } : {}),
      ...(chance(random, 0.2) ? { channel: pick(random, ['fast', 'Beta', '']) } : {}),
      ...config,
    },
  });
  const failed = chance(random, 0.05)
    ? changed(objects, 'ClusterServiceVersion', { status: { phase: 'Failed' } })
    : objects;
  const twice = chance(random, 0.05)
    ? [{ ...failed[0], metadata: { namespace: 'twice', name: of } } as ClusterObject]
    : [];
  return [...failed, ...twice, ...(chance(random, 0.05) ? [clusterExtension(of)] : [])];
}

async function migrated({ objects, catalogs }: Generated): Promise<MigratedCluster> {
  const read = await readCatalogs(
    catalogs.map(({ name, blobs }) => ({
      name,
      prefix: '',
      source: {
        files: async () => [
          {
            path: 'catalog.json',
            read: async () => Buffer.from(blobs.map((blob) => JSON.stringify(blob)).join('\n')),
          },
        ],
      },
    })),
  );
  const { clusters } = await migrationOf(read, [viewOf('cluster', objects, true)], new Map());
  const [cluster] = clusters;
  if (!cluster) throw new Error('no cluster');
  return cluster;
}

/** The ClusterCatalogs that the report leads to, with what they serve. */
function served({ clusterCatalogs }: MigratedCluster, { catalogs }: Generated): ClusterCatalog[] {
  return clusterCatalogs.flatMap(({ source, name, priority, status }) => {
    const own = catalogs.find((one) => source.endsWith(`/${one.name}`));
    return own && status !== 'skip' ? [{ name, priority, blobs: own.blobs }] : [];
  });
}

/** What the exact version pins by itself, in any catalog and any channel whose name OLM v1 accepts. */
function someExtension(
  catalogs: readonly ClusterCatalog[],
  packageName: string,
  installed: { name: string; version: string },
): Asked | undefined {
  const all = catalogs.flatMap(({ name, blobs }) =>
    blobs
      .filter(
        ({ schema, package: of, name: channel }) =>
          schema === 'olm.channel' && of === packageName && channel !== 'Beta',
      )
      .map((channel) => ({
        packageName,
        version: installed.version,
        channels: [channel.name],
        selector: { matchLabels: { 'olm.operatorframework.io/metadata.name': name } },
      })),
  );
  // Bundles that are alike are taken in their order, which nobody promises.
  const orders = [catalogs, catalogs.map((one) => ({ ...one, blobs: [...one.blobs].reverse() }))];
  const means = (asked: Asked, now?: { name: string; version: string }): boolean =>
    orders.every((order) => {
      const found = resolveCatalog(order, asked, now);
      return 'bundle' in found && found.bundle === installed.name;
    });
  return all.find((asked) => means(asked) && means(asked, installed));
}

test('a ClusterExtension resolves to the installed bundle, or there is a reason', {
  timeout: 60_000,
}, async () => {
  const counts = { operators: 0, resolved: 0, refusedByLibraryOlm: 0, refusedByOlm: 0, pinnedElsewhere: 0 };
  for (let seed = 1; seed <= runs(300).numRuns; seed++) {
    const cluster = generated(seed);
    const report = await migrated(cluster);
    const catalogs = served(report, cluster);
    for (const { extension, checks, obstacles, installed, package: of, status } of report.operators) {
      counts.operators++;
      const refused = checks.filter(({ result }) => result === 'refused');
      const now = { name: `${of}.v${installed}`, version: `${installed}` };
      if (extension === undefined) {
        expect([...refused, ...obstacles], `${seed}: ${of}`).not.toEqual([]);
        expect(status).not.toBe('Eligible');
        if (refused.length > 0) counts.refusedByLibraryOlm++;
        else counts.refusedByOlm++;
        // No false refusal: what is said to be impossible to pin cannot be pinned.
        if (obstacles.some((one) => one.includes('cannot be pinned')))
          expect(someExtension(catalogs, of, now), `${seed}: ${of}`).toBeUndefined();
        continue;
      }
      const asked = (extension as unknown as { spec: { source: { catalog: Asked } } }).spec.source.catalog;
      expect(resolveCatalog(catalogs, asked), `${seed}: ${of}`).toEqual({ bundle: now.name });
      expect(resolveCatalog(catalogs, asked, now), `${seed}: ${of}`).toEqual({ bundle: now.name });
      const channel = textAt(
        cluster.objects.find(({ kind, spec }) => kind === 'Subscription' && spec?.['name'] === of),
        'spec',
        'channel',
      );
      if (channel !== '' && !asked.channels?.includes(channel)) counts.pinnedElsewhere++;
      counts.resolved++;
    }
  }
  expect(counts.operators).toBe(counts.resolved + counts.refusedByLibraryOlm + counts.refusedByOlm);
  // Each kind of outcome is among them.
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
  if (process.env['PROPERTY_COUNTS'] !== undefined) process.stdout.write(`${JSON.stringify(counts)}\n`);
});
