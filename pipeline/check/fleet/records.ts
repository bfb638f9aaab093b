/**
 * Records: what one line of an export says of a cluster. Several exports together make a fleet, as a metric of versions
 * and one of subscriptions.
 */
import { tryParseMinor } from '../../../catalog/fbc/openshift.ts';
import { type Fleet, type FleetRow, installationsOnce } from '../../../catalog/olm/fleet/fleet.ts';
import type { Olm } from '../../../catalog/olm/foresight/world.ts';
import { tryParseVersion } from '../../../catalog/version/version.ts';

/** What an export says; a text that it does not have is empty. */
export interface FleetRecord {
  /** Where it is: `fleet.csv:12`, or `fleet.json: rows[3]`. */
  readonly place: string;
  readonly cluster: string;
  /** How many clusters, as it is written; undefined for a record of one cluster. */
  readonly count?: string | undefined;
  readonly platform?: string | undefined;
  readonly olm?: string | undefined;
  readonly package?: string | undefined;
  /** One channel, or under OLM v1 several. */
  readonly channels?: readonly string[] | undefined;
  readonly range?: string | undefined;
  readonly catalog?: string | undefined;
  /** Name of the installed ClusterServiceVersion, or bundle. */
  readonly csv?: string | undefined;
  readonly version?: string | undefined;
  readonly approval?: string | undefined;
  /** Of a subscription, which may have nothing installed, or whose version another record has. */
  readonly isSubscription?: boolean;
}

/** A row that cannot be read. */
export interface BadRow {
  readonly place: string;
  readonly found: string;
  readonly expected: string;
  /** Set where nobody knows how many clusters it is about. */
  readonly uncounted?: true;
}

export interface ReadFleet {
  readonly fleet: Fleet;
  /** The rows that cannot be read; they have no name of a cluster. */
  readonly bad: readonly BadRow[];
}

/** Puts the records of all exports together. */
export function fleetOf(records: readonly FleetRecord[]): ReadFleet {
  const platforms = platformsOf(records);
  const bySubscription = subscriptionsOf(records);
  const once = installationsOnce();
  const rows: FleetRow[] = [];
  const bad: BadRow[] = [];
  let unread = 0;
  const seen = new Set<string>();
  for (const record of records) {
    if (isPlatformOnly(record)) continue;
    // A subscription that has nothing installed yet.
    if (record.isSubscription && !record.csv && !record.version) continue;
    const whole = completedRecord(record, bySubscription, platforms);
    const wrong = defectOf(whole);
    if (wrong) {
      const count = record.count === undefined ? 1 : countOf(record);
      bad.push({ ...wrong, place: record.place, ...(count === undefined ? { uncounted: true } : {}) });
      unread += count ?? 1;
      continue;
    }
    // A ClusterServiceVersion has a copy in each namespace, and a version and a subscription name the same one.
    if (record.count === undefined && whole.csv) {
      const key = `${record.cluster}\0${whole.package ?? ''}\0${whole.csv}\0${whole.olm ?? ''}`;
      if (seen.has(key)) continue;
      seen.add(key);
    }
    rows.push({ cluster: record.cluster, count: countOf(record), installation: once(installationOf(whole)) });
  }
  return { fleet: { rows, unread }, bad };
}

/** Whether a record says only which platform a cluster has: `platformsOf` reads it, and it stands for no installation. */
function isPlatformOnly({
  package: packageName,
  csv,
  version,
  platform,
  isSubscription,
}: FleetRecord): boolean {
  return !isSubscription && !packageName && !csv && !version && Boolean(platform);
}

/** The platform of each cluster, by the first of its records that says it: a cluster has one at a time. */
function platformsOf(records: readonly FleetRecord[]): Map<string, string> {
  const platforms = new Map<string, string>();
  for (const record of records)
    if (record.platform && record.count === undefined && !platforms.has(record.cluster))
      platforms.set(record.cluster, record.platform);
  return platforms;
}

const csvKey = (cluster: string, csv: string): string => `${cluster}\0${csv}`;

/**
 * Subscriptions by the bundle that they have installed; often only the record of the ClusterServiceVersion has its
 * version.
 */
function subscriptionsOf(records: readonly FleetRecord[]): Map<string, FleetRecord> {
  const found = new Map<string, FleetRecord>();
  for (const record of records)
    if (record.isSubscription && record.csv) found.set(csvKey(record.cluster, record.csv), record);
  const versions = new Map<string, string>();
  for (const { isSubscription, csv, version, cluster } of records)
    if (!isSubscription && csv && version) versions.set(csvKey(cluster, csv), version);
  for (const [key, record] of found) {
    const version = record.version || versions.get(key);
    if (version) found.set(key, { ...record, version });
  }
  return found;
}

/** A record with what other records say of the same cluster. */
function completedRecord(
  record: FleetRecord,
  subscriptions: ReadonlyMap<string, FleetRecord>,
  platforms: ReadonlyMap<string, string>,
): FleetRecord {
  const { cluster, csv, count, platform } = record;
  // Nothing can be added: a copy of each record of a large export would be for nothing.
  if (subscriptions.size === 0 && (platform || count !== undefined || platforms.size === 0)) return record;
  const other = csv ? subscriptions.get(csvKey(cluster, csv)) : undefined;
  return {
    ...record,
    platform: platform || (count === undefined ? platforms.get(cluster) : undefined),
    package: record.package || other?.package,
    channels: record.channels ?? other?.channels,
    catalog: record.catalog || other?.catalog,
    approval: record.approval || other?.approval,
    version: record.version || other?.version,
  };
}

/** The number of clusters that a record counts; undefined for a record of one cluster, and for a text that is not a number. */
function countOf({ count }: FleetRecord): number | undefined {
  return count !== undefined && COUNT.test(count) ? Number(count) : undefined;
}

const COUNT = /^[0-9]{1,9}$/;

/** A platform's version with or without a patch. */
const PLATFORM = /^v?([0-9]{1,4}\.[0-9]{1,4})(?:[.-].*)?$/;

/** The minor version of a platform, `4.18` for `v4.18.3`; undefined for a text that is not a version. */
function minorText(platform: string): string | undefined {
  const [, minor = ''] = PLATFORM.exec(platform) ?? [];
  return tryParseMinor(minor) ? minor : undefined;
}

/** The first text of a record that cannot be understood, or that is missing; undefined for a good record. */
function defectOf(record: FleetRecord): Omit<BadRow, 'place'> | undefined {
  const { count, platform, olm, csv, version, approval } = record;
  const wrong = (what: string, found: string, expected: string): Omit<BadRow, 'place'> => ({
    found: `${what} ${JSON.stringify(found)}`,
    expected,
  });
  if (count !== undefined && !COUNT.test(count)) return wrong('count', count, 'a whole number of clusters');
  if (platform && minorText(platform) === undefined)
    return wrong('platform', platform, 'a version of the platform, for example 4.18');
  if (olm && olm !== 'v0' && olm !== 'v1') return wrong('olm', olm, 'v0 or v1');
  if (approval && !/^(?:automatic|manual)$/i.test(approval))
    return wrong('approval', approval, 'Automatic or Manual');
  if (!record.package && !csv)
    return wrong('package', '', 'the name of a package, or of a ClusterServiceVersion');
  if (!csv && !version) return wrong('version', '', 'an installed version, for example 1.2.3');
  if (version && !tryParseVersion(version))
    return wrong('version', version, 'a semantic version, for example 1.2.3');
  return undefined;
}

/** The installation that a record stands for; what the record lacks is empty. */
function installationOf(record: FleetRecord): FleetRow['installation'] {
  const { platform = '', olm = '', csv = '', version = '', range = '', catalog = '', approval = '' } = record;
  return {
    platform: minorText(platform) ?? '',
    olm: (olm === '' ? 'v0' : olm) as Olm,
    package: record.package ?? '',
    channels: (record.channels ?? []).filter((channel) => channel !== ''),
    range,
    catalog,
    name: csv,
    version,
    isManual: approval.toLowerCase() === 'manual',
  };
}
