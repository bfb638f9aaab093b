/**
 * What Portolan knows of each version of OpenShift: its Kubernetes, its OLM, and the documents that its clusters accept.
 * Nothing else states it.
 *
 * Sources:
 * - Kubernetes: https://access.redhat.com/solutions/4870701, and "uses Kubernetes 1.x" in the release notes of each version.
 *   4.23: openshift-preflight@703ac27f, internal/bundle/bundle.go.
 * - 5.0 and 4.23 are one release: operator-lifecycle-manager@992bb097, pkg/controller/operators/openshift/helpers.go.
 * - Documents: the release notes of the version from which clusters accept each.
 */
import { compareMinors, formatMinor, type Minor, tryParseMinor } from './openshift.ts';

/** The minor version of Kubernetes 1 in each version of OpenShift, the oldest first. */
const KUBERNETES: ReadonlyMap<string, number> = new Map([
  ['4.1', 13],
  ['4.2', 14],
  ['4.3', 16],
  ['4.4', 17],
  ['4.5', 18],
  ['4.6', 19],
  ['4.7', 20],
  ['4.8', 21],
  ['4.9', 22],
  ['4.10', 23],
  ['4.11', 24],
  ['4.12', 25],
  ['4.13', 26],
  ['4.14', 27],
  ['4.15', 28],
  ['4.16', 29],
  ['4.17', 30],
  ['4.18', 31],
  ['4.19', 32],
  ['4.20', 33],
  ['4.21', 34],
  ['4.22', 35],
  ['5.0', 36],
]);

const version = (major: number, minor: number): Minor => ({ major, minor });

/** What clusters accept from some version on. */
type Feature =
  | 'mirrorSets'
  | 'clusterCatalogs'
  | 'csvMetadata'
  | 'extensionsV1alpha1'
  | 'olmV1'
  | 'webhooksV1'
  | 'imagePolicies'
  | 'administratorV1';

/** The version from which clusters accept something. */
const SINCE: Readonly<Record<Feature, Minor>> = {
  /** ImageDigestMirrorSet and ImageTagMirrorSet, in place of ImageContentSourcePolicy. */
  mirrorSets: version(4, 13),
  /** ClusterCatalog, at first in catalogd's own API group. */
  clusterCatalogs: version(4, 16),
  /** `olm.csv.metadata` in catalogs, in place of `olm.bundle.object`. */
  csvMetadata: version(4, 17),
  /** ClusterExtension `v1alpha1`, a technology preview with `packageName` and `installNamespace` in its `spec`. */
  extensionsV1alpha1: version(4, 17),
  /** OLM v1 itself: ClusterCatalog and ClusterExtension `v1`. */
  olmV1: version(4, 18),
  /** Bundles with webhooks in OLM v1. */
  webhooksV1: version(4, 20),
  /** ClusterImagePolicy `v1`. */
  imagePolicies: version(4, 20),
  /**
   * OLM v1 works as cluster administrator and ignores `spec.serviceAccount`: operator-controller 1.11, of July 2026, which
   * is later than 4.22.
   */
  administratorV1: version(5, 0),
};

/** Whether clusters of a version accept something; without a version, whether current ones do. */
export function clustersAccept(feature: Feature, platform: Minor | undefined): boolean {
  return platform === undefined || compareMinors(platform, SINCE[feature]) >= 0;
}

/** The first version whose clusters accept something, such as `4.20`. */
export function firstWith(feature: Feature): string {
  return formatMinor(SINCE[feature]);
}

/** The versions of OLM on clusters of a version of OpenShift. */
export function olmOf(platform: Minor): readonly ('v0' | 'v1')[] {
  return clustersAccept('olmV1', platform) ? ['v0', 'v1'] : ['v0'];
}

/** Whether clusters of a version can install operators with OLM v1. */
export function hasOlmV1(platform: Minor): boolean {
  return olmOf(platform).includes('v1');
}

/** Whether catalogs of a version describe bundles by `olm.csv.metadata`; earlier ones use `olm.bundle.object`. */
export function readsCsvMetadata(platform: Minor): boolean {
  return clustersAccept('csvMetadata', platform);
}

/** The Kubernetes of a version of OpenShift, such as 1.33 of 4.20; undefined where the table has none. */
export function kubernetesOf(platform: Minor): Minor | undefined {
  const [, minor] = [...KUBERNETES].find(([name]) => isVersion(name, platform)) ?? [];
  return minor === undefined ? undefined : version(1, minor);
}

/** The versions of OpenShift that have catalogs of bundles, the oldest first. */
export function knownPlatforms(): Minor[] {
  const all = [...KUBERNETES.keys()].flatMap((name) => tryParseMinor(name) ?? []);
  return all.filter((platform) => compareMinors(platform, FIRST_WITH_BUNDLES) >= 0);
}

const FIRST_WITH_BUNDLES = version(4, 5);

function isVersion(name: string, platform: Minor): boolean {
  const known = tryParseMinor(name);
  return known !== undefined && compareMinors(known, platform) === 0;
}

/** Whether a version of OpenShift exists, or is later than those that Portolan knows. */
export function mayExist(platform: Minor): boolean {
  const newest = tryParseMinor([...KUBERNETES.keys()].at(-1) ?? '');
  return (
    kubernetesOf(platform) !== undefined || (newest !== undefined && compareMinors(platform, newest) > 0)
  );
}

/** The last version of OpenShift with an older Kubernetes than a minor version of it: 4.8 for 1.22. */
export function lastBefore(kubernetes: Minor): string {
  return [...KUBERNETES].findLast(([, minor]) => minor < kubernetes.minor)?.[0] ?? '';
}

/** Reads the version of OpenShift of a cluster: `4.20`, `v5.0`; undefined for anything else, and for 3 and before. */
export function tryParsePlatform(text: string): Minor | undefined {
  const platform = tryParseMinor(text);
  return platform && platform.major >= 4 && platform.major <= 9 ? platform : undefined;
}
