/** What a cluster has installed, read from its API, as rows of a fleet. */
import { createHash, randomUUID } from 'node:crypto';
import { isObject } from '../../../catalog/go/shape.ts';
import { formatVersion } from '../../../catalog/version/version.ts';
import { type ClusterInstallation, installationsOf, valueAt } from '../../check/cluster.ts';
import { PipelineError } from '../../error.ts';
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
  /** Of the Subscription. */
  readonly namespace?: string;
  /** Of the Subscription or the ClusterExtension. */
  readonly object?: string;
}

interface InventoryOptions {
  /** What the cluster is called in the rows. */
  readonly name: string;
  /** Whether the cluster gets a name that says nothing, and names of catalogs are left out. */
  readonly anonymize: boolean;
}

/** Where the version of the cluster's platform is. */
const VERSION = '/apis/config.openshift.io/v1/clusterversions/version';

/** A kind of which all objects are read. */
interface Kind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly path: string;
  readonly selector?: string;
  /** The members that are read, each a text where it is there. */
  readonly texts: readonly string[];
}

const SUBSCRIPTIONS: Kind = {
  kind: 'Subscription',
  apiVersion: 'operators.coreos.com/v1alpha1',
  path: '/apis/operators.coreos.com/v1alpha1/subscriptions',
  texts: ['spec.name', 'spec.channel', 'spec.source', 'spec.installPlanApproval', 'status.installedCSV'],
};

/** They have a copy in each namespace that they watch. */
const CSVS: Kind = {
  kind: 'ClusterServiceVersion',
  apiVersion: 'operators.coreos.com/v1alpha1',
  path: '/apis/operators.coreos.com/v1alpha1/clusterserviceversions',
  selector: '!olm.copiedFrom',
  texts: ['metadata.namespace', 'spec.version'],
};

const EXTENSIONS: Kind = {
  kind: 'ClusterExtension',
  apiVersion: 'olm.operatorframework.io/v1',
  path: '/apis/olm.operatorframework.io/v1/clusterextensions',
  texts: [
    'spec.source.catalog.packageName',
    'spec.source.catalog.version',
    'status.install.bundle.name',
    'status.install.bundle.version',
  ],
};

/**
 * Reads a cluster.
 *
 * @throws PipelineError `not-found` for a cluster without OLM, `bad-answer` for an object that is not of its kind, and
 *   what the API throws
 */
export async function inventoryOf(
  api: ClusterApi,
  { name, anonymize }: InventoryOptions,
): Promise<InventoryRow[]> {
  const version = await api.get(VERSION);
  if (version !== undefined && !isObject(version)) throw badAnswer(`${VERSION} is not an object`);
  const [subscriptions, extensions] = [
    await objectsOfKind(api, SUBSCRIPTIONS),
    await objectsOfKind(api, EXTENSIONS),
  ];
  if (!subscriptions && !extensions)
    throw new PipelineError('not-found', `cluster ${JSON.stringify(name)} has no OLM`);
  const csvs = subscriptions ? await objectsOfKind(api, CSVS) : [];
  const found = installationsOf([...(subscriptions ?? []), ...(csvs ?? []), ...(extensions ?? [])]);
  const about = {
    cluster: anonymize ? anonymousName(version) : name,
    platform: platformOf(version),
    anonymize,
  };
  return found.flatMap((one) => rowOf(one, about));
}

type Json = Readonly<Record<string, unknown>>;

/** The objects of a kind, which in a list need not say their kind; undefined where the cluster has no such kind. */
async function objectsOfKind(api: ClusterApi, listed: Kind): Promise<Json[] | undefined> {
  const { kind, apiVersion, path, selector } = listed;
  const items = await api.list(path, selector);
  return items?.map((item, i) => {
    const defect = defectOf(item, listed);
    if (isObject(item) && defect === undefined) return { ...item, kind, apiVersion };
    // An object that cannot be understood is not one less that is installed.
    throw badAnswer(`item ${i + 1} of ${path}: ${defect}`);
  });
}

/** The error for what an API server should not answer. */
function badAnswer(message: string): PipelineError {
  return new PipelineError('bad-answer', message);
}

/** Why an item is not an object of its kind; undefined if it is. */
function defectOf(item: unknown, { texts, kind }: Kind): string | undefined {
  if (!isObject(item)) return 'not an object';
  const name = valueAt(item, 'metadata', 'name');
  if (typeof name !== 'string' || name === '') return 'no metadata.name';
  const wrong = texts.find((path) => !isTextAt(item, path.split('.')));
  if (wrong !== undefined) return `${wrong} is not a string`;
  const channels =
    (kind === 'ClusterExtension' ? valueAt(item, 'spec', 'source', 'catalog', 'channels') : undefined) ?? [];
  const areTexts = Array.isArray(channels) && channels.every((channel) => typeof channel === 'string');
  return areTexts ? undefined : 'spec.source.catalog.channels is not a list of strings';
}

/** Whether the members on a path are objects and the last a text; any may be absent or null. */
function isTextAt(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (value === undefined || value === null) return true;
  if (key === undefined) return typeof value === 'string';
  return isObject(value) && isTextAt(value[key], rest);
}

/**
 * The row of an installation; none if nothing is installed yet. An anonymous row has no names of objects and catalogs.
 */
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
      ...(one.namespace === '' || about.anonymize ? {} : { namespace: one.namespace }),
      ...(about.anonymize ? {} : { object: one.name }),
    },
  ];
}

/** The version that the cluster has: the newest of its history, which starts with it, whose update is complete; else empty. */
function platformOf(version: unknown): string {
  const history = valueAt(version, 'status', 'history');
  const entries = Array.isArray(history) ? history.filter(isObject) : [];
  const found = entries.find(({ state }) => state === 'Completed')?.['version'];
  return typeof found === 'string' ? found : '';
}

/**
 * A name that means nothing to whoever does not know the cluster's id. It is the same for every inventory, except
 * for a cluster without an id.
 */
function anonymousName(version: unknown): string {
  const known = valueAt(version, 'spec', 'clusterID');
  const id = typeof known === 'string' ? known : randomUUID();
  // 48 bits: enough to tell the clusters of a fleet apart.
  return `cluster-${createHash('sha256').update(id).digest('hex').slice(0, 12)}`;
}
