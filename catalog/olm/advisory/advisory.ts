/** Advisories: what is wrong with published versions of a package, and what clusters are to do. */
import type { Installed } from '../../fbc/edge.ts';
import type { Package } from '../../fbc/model.ts';
import { onceFor } from '../../go/once.ts';
import { satisfies } from '../../version/satisfies.ts';
import {
  compareVersions,
  formatVersion,
  tryParseRange,
  tryParseVersion,
  type Version,
  type VersionRange,
} from '../../version/version.ts';

type AdvisoryAction =
  /** The versions cannot be installed; clusters that have them get an upgrade path away from them. */
  | 'yank'
  /** Clusters show a deprecation message. */
  | 'deprecate'
  /** Clusters that have the versions move to another version, or learn of another channel. */
  | 'redirect'
  /** No cluster upgrades to the versions. */
  | 'block-upgrade';

export interface Advisory {
  /** The file's name without its extension. */
  readonly id: string;
  readonly package: string;
  /** Versions and ranges of versions, as in `skipRange`. */
  readonly versions: readonly string[];
  readonly reason: { readonly kind: 'cve' | 'data-loss' | 'withdrawn'; readonly id?: string };
  readonly action: AdvisoryAction;
  /** The message that clusters show. */
  readonly message: string;
  /** The target for clusters, for `redirect`. */
  readonly to?: { readonly version?: string; readonly channel?: string };
  /** Whether an upgrade path may lead to a lower version. */
  readonly allowDowngrade: boolean;
  /** Bundles whose installations may be left without an upgrade path. */
  readonly withoutUpgradePath: readonly string[];
}

/** The versions and ranges that an advisory is about. Whoever reads advisories refuses other texts: see {@link isVersions}. */
const versionsOf = onceFor(({ versions }: Advisory): readonly (Version | VersionRange)[] =>
  versions.flatMap((text) => tryParseVersion(text) ?? tryParseRange(text) ?? []),
);

/** Whether an advisory is about a version; of a bundle whose version is unknown it never is. */
export function isAffected(advisory: Advisory, { version }: Pick<Installed, 'version'>): boolean {
  if (!version) return false;
  return versionsOf(advisory).some((one) =>
    // Only a version has a major number.
    'major' in one ? isSame(one, version) : satisfies(version, one),
  );
}

/** Build metadata counts where the advisory gives any: 1.2.0+a and 1.2.0+b may both be published. */
function isSame(wanted: Version, version: Version): boolean {
  return wanted.build.length > 0
    ? formatVersion(wanted) === formatVersion(version)
    : compareVersions(wanted, version) === 0;
}

/** Whether something installed has a version, as an advisory writes it. */
export function hasVersion({ version }: Pick<Installed, 'version'>, text: string): boolean {
  const wanted = tryParseVersion(text);
  return wanted !== undefined && version !== undefined && isSame(wanted, version);
}

/** Whether a text is a version. */
export function isVersion(text: string): boolean {
  return tryParseVersion(text) !== undefined;
}

/** Whether a text of `versions` can be read. */
export function isVersions(text: string): boolean {
  return tryParseVersion(text) !== undefined || tryParseRange(text) !== undefined;
}

/** Names of a package's bundles that an advisory is about. */
export function affectedBundles(advisory: Advisory, { bundles }: Package): ReadonlySet<string> {
  return new Set([...bundles.values()].filter((one) => isAffected(advisory, one)).map(({ name }) => name));
}
