/**
 * Reads fleets from files that people can export: our own CSV and JSON, results of Prometheus queries, exports of
 * Advanced Cluster Management's search, and what `oc get -o json` prints of one cluster.
 */
import { isObject } from '../../../catalog/go/shape.ts';
import { parseUniqueJson } from '../../../catalog/json.ts';
import { formatVersion } from '../../../catalog/version/version.ts';
import { PipelineError } from '../../error.ts';
import { readCluster } from '../cluster.ts';
import { type FleetRecord, fleetOf, type ReadFleet } from './records.ts';
import { packageOfLabels, recordsWith, tableRecords } from './table.ts';

export interface FleetFile {
  /** What it is called in messages. */
  readonly path: string;
  readonly text: string;
}

/** Most characters of a file: about a million clusters. */
const MOST_CHARACTERS = 400_000_000;

/**
 * Reads files of one fleet, which complete each other.
 *
 * @throws PipelineError `usage` for a file that is not of a fleet, `too-large`
 */
export function readFleet(files: readonly FleetFile[]): ReadFleet {
  return fleetOf(files.flatMap(recordsOf));
}

/** The keys of a fleet in our own JSON. */
const OWN_KEYS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'rows']);

type Json = Readonly<Record<string, unknown>>;

/** The records of one file. JSON begins with a bracket; anything else is a table. */
function recordsOf({ path, text }: FleetFile): FleetRecord[] {
  if (text.length > MOST_CHARACTERS)
    throw new PipelineError('too-large', `${path} has more than ${MOST_CHARACTERS} characters`);
  if (!/^\s*[[{]/.test(text)) return tableRecords(text, path);
  const value = uniqueJson(text, path);
  const records = jsonRecords(value, path);
  if (records) return records;
  if (hasObjects(value)) return clusterRecords(text, path);
  throw new PipelineError('usage', `${path} is not a fleet: found JSON of another kind`, {
    hint: 'expected {"kind": "Fleet", "rows": […]}, the result of a Prometheus query, or a search of Advanced Cluster Management',
  });
}

/** The value of a text of JSON. @throws PipelineError `usage` for other text, and for a key twice: readers take either */
function uniqueJson(text: string, path: string): unknown {
  try {
    return parseUniqueJson(text);
  } catch (cause) {
    throw new PipelineError('usage', `${path} is not valid JSON, or has a key twice`, { cause });
  }
}

/**
 * The records of a JSON document: Portolan's own, a query of Prometheus, or a search of ACM; undefined for others.
 *
 * @throws PipelineError for a result that may be incomplete
 */
function jsonRecords(value: unknown, path: string): FleetRecord[] | undefined {
  if (!isObject(value)) return undefined;
  const at = `${path}: `;
  if (value['kind'] === 'Fleet' && Array.isArray(value['rows'])) {
    // What else a program writes there may say that rows are missing: `metadata.continue`, `truncated`, `Rows`.
    const other = Object.keys(value).find((key) => !OWN_KEYS.has(key));
    if (other !== undefined)
      throw new PipelineError(
        'usage',
        `${path} has the key ${JSON.stringify(other)}, so its rows may be incomplete`,
        {
          hint: `remove it: a fleet has only ${[...OWN_KEYS].join(', ')}`,
        },
      );
    return ownRecords(value['rows'], path);
  }
  const data = isObject(value['data']) ? value['data'] : value;
  if (Array.isArray(data['result'])) {
    const { status = 'success' } = value;
    // Thanos warns where a store did not answer; VictoriaMetrics says that its result is partial.
    if (status !== 'success' || isListed(withoutHints(value['warnings'])) || value['isPartial'] === true)
      throw incomplete(`${at}the query failed, has warnings or is partial`);
    return data['result'].flatMap((one, i) => seriesRecord(one, `${at}result[${i}]`));
  }
  if (!Array.isArray(data['searchResult'])) return undefined;
  if (isListed(value['errors'])) throw incomplete(`${at}the search has errors`);
  return data['searchResult'].flatMap((part, i) => {
    const place = `${at}searchResult[${i}]`;
    // A part without its list does not mean that nothing is installed.
    if (!isObject(part) || !Array.isArray(part['items']))
      throw new PipelineError('usage', `${place} has no list of items`);
    if (Number(part['count'] ?? 0) > part['items'].length)
      throw incomplete(`${place} counts more items than it has`);
    return part['items'].flatMap((item, j) => foundRecord(item, `${place}.items[${j}]`));
  });
}

/** The error for an export that may lack clusters: their number would be too low. */
function incomplete(what: string): PipelineError {
  return new PipelineError('usage', `${what}, so its result may be incomplete`, {
    hint: 'export it again, without a limit',
  });
}

/** Warnings without Prometheus's hints on how a query is written: older versions list them together. */
function withoutHints(warnings: unknown): unknown {
  if (!Array.isArray(warnings)) return warnings;
  return warnings.filter((one) => !(typeof one === 'string' && one.startsWith('PromQL info:')));
}

/** Whether errors or warnings are listed: an empty list has none. */
function isListed(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

/** Whether JSON may be objects of a cluster, as `oc get -o json` prints them. */
function hasObjects(value: unknown): boolean {
  return (
    Array.isArray(value) || (isObject(value) && (Array.isArray(value['items']) || 'apiVersion' in value))
  );
}

/** A text or a number, as text; empty for any other value. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' ? String(value) : '';
}

/** Records of rows of our own format, as `portolan inventory` writes it: as those of a table with their keys as columns. */
function ownRecords(rows: readonly unknown[], path: string): FleetRecord[] {
  // Most rows have the same keys.
  const known = new Map<string, ReturnType<typeof recordsWith>>();
  return rows.map((row, i) => {
    const place = `${path}: rows[${i}]`;
    // Such as a list of rows: nobody knows of how many clusters.
    if (!isObject(row)) return { place, cluster: '', count: '' };
    const keys = Object.keys(row);
    const header = JSON.stringify(keys);
    const recordAt = known.get(header) ?? recordsWith(path, keys);
    known.set(header, recordAt);
    return recordAt(
      place,
      Object.values(row).map((value) => (Array.isArray(value) ? value.map(textOf).join(' ') : textOf(value))),
    );
  });
}

/**
 * A series of a Prometheus query: `csv_succeeded`, `subscription_sync_total` or `cluster_version`. A query that counts
 * clusters by these labels has no label of a cluster: its value is the count. None for a version that is not today's.
 *
 * @see https://github.com/openshift/cluster-version-operator/blob/main/docs/dev/metrics.md (the types of `cluster_version`)
 */
function seriesRecord(series: unknown, place: string): FleetRecord[] {
  const labels: Json = isObject(series) && isObject(series['metric']) ? series['metric'] : {};
  const text = (key: string): string => textOf(labels[key]);
  const name = text('__name__');
  // ACM's observability has `cluster` and `clusterID`, Telemetry `_id`; queries may rename them as tables do.
  const cluster = text('cluster') || text('_id') || text('cluster_id') || text('clusterID');
  if (name === 'cluster_version') {
    const isPresent = !NOT_PRESENT.has(text('type'));
    return isPresent ? [{ place, cluster, platform: text('version') }] : [];
  }
  const isSubscription = name === 'subscription_sync_total' || (name === '' && 'installed' in labels);
  // A namespace is of one cluster: its series is an installation, though nothing says of which cluster.
  const isCounted = cluster === '' && name === '' && !('namespace' in labels);
  return [
    {
      place,
      cluster,
      ...(isCounted ? { count: newestValue(series) } : {}),
      platform: text('platform'),
      package: text('package'),
      ...('channel' in labels ? { channels: [text('channel')] } : {}),
      csv: isSubscription ? text('installed') : text('name'),
      version: text('version'),
      approval: text('approval'),
      ...(isSubscription ? { isSubscription } : {}),
    },
  ];
}

/** Types of `cluster_version` that may have the version with which a cluster began, or which it is to have. */
const NOT_PRESENT: ReadonlySet<string> = new Set(['initial', 'desired', 'failure']);

/** The newest value of a series. */
function newestValue(series: unknown): string {
  const { value, values } = isObject(series) ? series : ({} as Json);
  // Of an instant query one pair of time and value, of a range query a list of them.
  const last: unknown = Array.isArray(values) ? values.at(-1) : undefined;
  const pair: unknown = Array.isArray(value) ? value : last;
  return Array.isArray(pair) ? textOf(pair[1]) : '';
}

/**
 * An object that Advanced Cluster Management's search found.
 *
 * @see https://github.com/stolostron/search-collector/blob/4e847df4b5e6fc1b4fa5c01d1ffc4f696f8500be/pkg/transforms/genericResourceConfig.go
 */
function foundRecord(item: unknown, place: string): FleetRecord[] {
  if (!isObject(item)) return [{ place, cluster: '' }];
  const text = (key: string): string => textOf(item[key]);
  const cluster = text('cluster');
  const isOlms = text('apigroup') === 'operators.coreos.com';
  if (text('kind') === 'Subscription' && isOlms) {
    return [
      {
        place,
        cluster,
        package: text('package'),
        channels: [text('channel')],
        catalog: text('source'),
        // The search gives the installed ClusterServiceVersion this name.
        csv: text('installplan'),
        isSubscription: true,
      },
    ];
  }
  if (text('kind') !== 'ClusterServiceVersion') return [];
  const packageName = packageOfLabels(text('label'), text('namespace'));
  return [{ place, cluster, package: packageName, csv: text('name'), version: text('version') }];
}

/** One cluster, as `oc get subscriptions,csv -A -o json` prints it. */
function clusterRecords(text: string, path: string): FleetRecord[] {
  return readCluster(text, path).flatMap((one) =>
    one.installed
      ? [
          {
            place: `${path}: ${one.namespace === '' ? 'a ClusterExtension' : 'a Subscription'}`,
            cluster: path,
            olm: one.olm,
            package: one.package,
            channels: one.channels,
            range: one.range,
            catalog: one.catalog,
            csv: one.installed.name,
            version: one.installed.version ? formatVersion(one.installed.version) : '',
            approval: one.subscription?.isManual ? 'Manual' : '',
          },
        ]
      : [],
  );
}
