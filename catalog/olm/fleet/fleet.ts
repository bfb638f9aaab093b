/**
 * A fleet: what many clusters have installed, as a table. Names of clusters are private: they serve to count each
 * cluster once, and nothing that reports about a fleet has them.
 */

import { edgeField, type Installed, installedOf } from '../../fbc/edge.ts';
import type { Bundle, Package } from '../../fbc/model.ts';
import { compareVersions, formatVersion, tryParseVersion } from '../../version/version.ts';
import type { Olm, World } from '../foresight/world.ts';

/** The installation of one package on clusters. Equal installations of a fleet are one object. */
export interface FleetInstallation {
  /** Version of the platform, such as `4.18`; empty where it is unknown. */
  readonly platform: string;
  readonly olm: Olm;
  readonly package: string;
  /** Under OLM v0 one or none; none for the default channel, or for all channels under OLM v1. */
  readonly channels: readonly string[];
  /** The range of versions that a ClusterExtension asks for, or empty. */
  readonly range: string;
  /** Name of the CatalogSource, or empty. */
  readonly catalog: string;
  /** Name of the installed bundle (its CSV); empty where only its version is known. */
  readonly name: string;
  /** Empty where only the name is known. */
  readonly version: string;
  /** Whether somebody must approve each upgrade; where it is unknown, upgrades count as automatic. */
  readonly isManual: boolean;
}

/** An installation on one cluster, or on several of a group. */
export interface FleetRow {
  /** Name of a cluster, or of a group. */
  readonly cluster: string;
  /**
   * How many clusters of the group have the installation: other clusters than those of the group's other rows of the
   * same package. Undefined where the row is about one cluster.
   */
  readonly count: number | undefined;
  readonly installation: FleetInstallation;
}

export interface Fleet {
  readonly rows: readonly FleetRow[];
  /** Clusters of rows that cannot be read, which may have any package. */
  readonly unread: number;
}

/** Returns the one object for equal installations, so that each is simulated once. */
export function installationsOnce(): (installation: FleetInstallation) => FleetInstallation {
  const known = new Map<string, FleetInstallation>();
  return (installation) => {
    const { platform, olm, channels, range, catalog, name, version, isManual } = installation;
    const key = JSON.stringify([
      platform,
      olm,
      installation.package,
      channels,
      range,
      catalog,
      name,
      version,
      isManual,
    ]);
    const found = known.get(key);
    if (found) return found;
    known.set(key, installation);
    return installation;
  };
}

/** Adds the package to installations that name only a bundle. Unknown bundles stay without a package. */
export function withPackages(fleet: Fleet, packageOf: (bundle: string) => string | undefined): Fleet {
  const once = installationsOnce();
  const named = new Map<FleetInstallation, FleetInstallation>();
  const withPackage = (installation: FleetInstallation): FleetInstallation => {
    if (installation.package !== '') return installation;
    const found =
      named.get(installation) ?? once({ ...installation, package: packageOf(installation.name) ?? '' });
    named.set(installation, found);
    return found;
  };
  return {
    ...fleet,
    rows: fleet.rows.map((row) => ({ ...row, installation: withPackage(row.installation) })),
  };
}

// Which bundle of a catalog a fleet's installation is.

/** The endings by which names of bundles give their versions. */
const ENDINGS = ['.v', '.', '-v', '-'];

/**
 * The bundle that is installed: one that the catalog has or had, or one that an entry upgrades.
 * Undefined for what was never published as far as anybody knows.
 */
export function installedIn(world: World, installation: FleetInstallation): Installed | undefined {
  const ofPackage = world.catalog.packages.get(installation.package);
  const found =
    installation.name === ''
      ? byVersion(world, ofPackage, installation)
      : byName(world, ofPackage, installation);
  if (!found) return undefined;
  // No cluster has a bundle that the catalog lists but that was never published.
  const isOwn = ofPackage?.bundles.has(found.name) ?? false;
  const isPublished = world.isPublished({ package: installation.package, bundle: found.name });
  return isOwn && !isPublished ? undefined : found;
}

/**
 * The installed bundle by its name; its version is the best that anyone states: the catalog, what was published, the
 * fleet.
 */
function byName(
  world: World,
  ofPackage: Package | undefined,
  { package: packageName, name, version }: FleetInstallation,
): Installed | undefined {
  const bundle = ofPackage?.bundles.get(name);
  if (bundle) return installedOf(bundle);
  const parsed = tryParseVersion(version);
  const past = world.published.get(packageName)?.find((one) => one.name === name);
  if (past) return { name, version: past.version ?? parsed };
  return upgradedVersion(ofPackage, { name, version: parsed });
}

/**
 * The bundle that a version stands for: one that the catalog has, that was published, or that has a name made from the
 * version and is upgraded by an entry.
 */
function byVersion(
  world: World,
  ofPackage: Package | undefined,
  { package: packageName, version, channels }: FleetInstallation,
): Installed | undefined {
  const bundles = [...(ofPackage?.bundles.values() ?? [])].filter((bundle) => hasVersion(bundle, version));
  // Bundles of one version may differ in their release or name: one of the installation's channels is meant.
  const bundle = bundles.find(({ name }) => isListed(ofPackage, channels, name)) ?? bundles[0];
  if (bundle) return installedOf(bundle);
  const missing = missingBundleOf(ofPackage, packageName, version);
  const published = (world.published.get(packageName) ?? []).filter((one) =>
    one.version ? formatVersion(one.version) === version : one.name === missing?.name,
  );
  const past = published.find(({ channel }) => channels.includes(channel)) ?? published[0];
  if (past) return { name: past.name, version: past.version ?? missing?.version };
  return missing && upgradedVersion(ofPackage, missing);
}

/** A bundle that is gone, with the name that entries give it or that it most likely had. */
function missingBundleOf(
  ofPackage: Package | undefined,
  packageName: string,
  version: string,
): Installed | undefined {
  const parsed = tryParseVersion(version);
  if (!parsed) return undefined;
  const named = namesInEntries(ofPackage).find((name) =>
    ENDINGS.some((ending) => name.endsWith(ending + version)),
  );
  return { name: named ?? `${packageName}.v${version}`, version: parsed };
}

/**
 * A bundle that the catalog no longer has and that nothing upgrades: whoever runs it got it from somewhere. Undefined
 * where all is known that was ever published and it was not, and for what is newer than all that the catalog has: it
 * was not dropped.
 */
export function droppedFrom(
  world: World,
  { package: packageName, name, version }: FleetInstallation,
): Installed | undefined {
  const ofPackage = world.catalog.packages.get(packageName);
  if (!ofPackage) return undefined;
  const missing = missingBundleOf(ofPackage, packageName, version);
  const dropped = missing && name !== '' ? { ...missing, name } : missing;
  if (!dropped?.version || ofPackage.bundles.has(dropped.name)) return undefined;
  const { version: own } = dropped;
  const isOlder = [...ofPackage.bundles.values()].some(
    ({ version: other }) => other && compareVersions(own, other) < 0,
  );
  if (!isOlder) return undefined;
  return world.isPublished({ package: packageName, bundle: dropped.name }) ? dropped : undefined;
}

function hasVersion(bundle: Bundle, version: string): boolean {
  return bundle.version !== undefined && formatVersion(bundle.version) === version;
}

function isListed(ofPackage: Package | undefined, channels: readonly string[], name: string): boolean {
  return [...(ofPackage?.channels.values() ?? [])]
    .filter((channel) => channels.length === 0 || channels.includes(channel.name))
    .some(({ entries }) => entries.some((entry) => entry.name === name));
}

function namesInEntries(ofPackage: Package | undefined): string[] {
  return [...(ofPackage?.channels.values() ?? [])].flatMap(({ entries }) =>
    entries.flatMap(({ replaces, skips }) => [replaces, ...skips]),
  );
}

/** A version that an entry upgrades was installed once, even if the catalog no longer has it. */
function upgradedVersion(ofPackage: Package | undefined, installed: Installed): Installed | undefined {
  const isUpgraded = [...(ofPackage?.channels.values() ?? [])].some(({ entries }) =>
    entries.some((entry) => edgeField(entry, installed) !== undefined),
  );
  return isUpgraded ? installed : undefined;
}

/** Whether a catalog has, had or names a bundle: of another one only the fleet knows the name, which is nobody else's business. */
export function isNamed({ catalog, published }: World, packageName: string, { name }: Installed): boolean {
  const ofPackage = catalog.packages.get(packageName);
  return (
    ofPackage?.bundles.has(name) ||
    (published.get(packageName) ?? []).some((one) => one.name === name) ||
    namesInEntries(ofPackage).includes(name)
  );
}
