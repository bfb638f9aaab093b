/** What a cluster has installed, read from its API, as rows of a fleet. */
import { createHash, randomUUID } from 'node:crypto';
import { isObject } from '../../../catalog/go/shape.ts';
import { formatVersion } from '../../../catalog/version/version.ts';
import { PipelineError } from '../../error.ts';
import { type ClusterInstallation, readCluster } from '../cluster.ts';
import type { ClusterApi } from './cluster-api.ts';

/** A row of our own JSON. */
export interface InventoryRow {
  readonly cluster: string;
  readonly platform?: string;
  readonly olm: 'v0' | 'v1';
  readonly package: string;
  readonly csv: string;
  readonly version?: string;
  readonly channels?: readonly string[];
  readonly range?: string;
  readonly catalog?: string;
  readonly approval?: 'Automatic' | 'Manual';
}

export interface InventoryOptions {
  /** What the cluster is called in the rows. */
  readonly name: string;
  /** Whether the cluster gets a name that says nothing, and names of catalogs are left out. */
  readonly anonymize: boolean;
}

/** Everything that is read of a cluster. CSVs have a copy in each namespace that they watch. */
const PATHS = {
  version: '/apis/config.openshift.io/v1/clusterversions/version',
  subscriptions: '/apis/operators.coreos.com/v1alpha1/subscriptions',
  csvs: '/apis/operators.coreos.com/v1alpha1/clusterserviceversions',
  extensions: '/apis/olm.operatorframework.io/v1/clusterextensions',
} as const;

/**
 * Reads a cluster.
 *
 * @throws PipelineError `not-found` for a cluster without OLM, and what the API throws
 */
export async function inventoryOf(
  api: ClusterApi,
  { name, anonymize }: InventoryOptions,
): Promise<InventoryRow[]> {
  const version = await api.get(PATHS.version);
  const [subscriptions, extensions] = [await api.list(PATHS.subscriptions), await api.list(PATHS.extensions)];
  if (!subscriptions && !extensions)
    throw new PipelineError('not-found', `cluster ${JSON.stringify(name)} has no OLM`);
  const csvs = subscriptions ? await api.list(PATHS.csvs, '!olm.copiedFrom') : [];
  const objects = [
    ...kindOf(subscriptions, 'Subscription', 'operators.coreos.com/v1alpha1'),
    ...kindOf(csvs, 'ClusterServiceVersion', 'operators.coreos.com/v1alpha1'),
    ...kindOf(extensions, 'ClusterExtension', 'olm.operatorframework.io/v1'),
  ];
  const isEmpty = (subscriptions ?? []).length + (extensions ?? []).length === 0;
  const found = isEmpty ? [] : readCluster(JSON.stringify(objects), name);
  const about = {
    cluster: anonymize ? anonymousName(version) : name,
    platform: platformOf(version),
    anonymize,
  };
  return found.flatMap((one) => rowOf(one, about));
}

/** Objects of a list, which need not say their kind. */
function kindOf(objects: readonly unknown[] | undefined, kind: string, apiVersion: string): object[] {
  return (objects ?? []).filter(isObject).map((object) => ({ ...object, kind, apiVersion }));
}

function rowOf(
  one: ClusterInstallation,
  about: { readonly cluster: string; readonly platform: string; readonly anonymize: boolean },
): InventoryRow[] {
  if (!one.installed) return [];
  const { name, version } = one.installed;
  return [
    {
      cluster: about.cluster,
      ...(about.platform === '' ? {} : { platform: about.platform }),
      olm: one.olm,
      package: one.package,
      csv: name,
      ...(version ? { version: formatVersion(version) } : {}),
      ...(one.channels.length > 0 ? { channels: one.channels } : {}),
      ...(one.range === '' ? {} : { range: one.range }),
      ...(one.catalog === '' || about.anonymize ? {} : { catalog: one.catalog }),
      ...(one.subscription ? { approval: one.subscription.isManual ? 'Manual' : 'Automatic' } : {}),
    },
  ];
}

/** The version that the cluster has: the newest of its history whose update is complete. */
function platformOf(version: unknown): string {
  const status = isObject(version) && isObject(version['status']) ? version['status'] : {};
  const history = Array.isArray(status['history']) ? status['history'].filter(isObject) : [];
  const completed = history.find(({ state }) => state === 'Completed');
  const found = completed?.['version'];
  return typeof found === 'string' ? found : '';
}

/** A name that is the same the next time, and tells nothing to whoever does not know the cluster's id. */
function anonymousName(version: unknown): string {
  const spec = isObject(version) && isObject(version['spec']) ? version['spec'] : {};
  const id = typeof spec['clusterID'] === 'string' ? spec['clusterID'] : randomUUID();
  return `cluster-${createHash('sha256').update(id).digest('hex').slice(0, 12)}`;
}
