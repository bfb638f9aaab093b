/**
 * A fleet: what many clusters have installed, as a table. Names of clusters are private: they serve to count each
 * cluster once, and nothing that reports about a fleet has them.
 */
import type { Olm } from '../foresight/world.ts';

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
    const key = `${platform}\0${olm}\0${installation.package}\0${channels.join('\0\0')}\0${range}\0${catalog}\0${name}\0${version}\0${isManual}`;
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
