/**
 * A bundle's version as OLM v1 compares it: build metadata that reads as a release is
 * one, and orders bundles whose versions are otherwise the same.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/bundleutil/bundle.go
 */
import type { Bundle } from '../../fbc/model.ts';
import { isObject } from '../../go/shape.ts';
import {
  compareVersions,
  formatVersion,
  parseRelease,
  tryParseVersion,
  type Version,
  VersionError,
} from '../../version/version.ts';

export interface VersionRelease {
  readonly version: Version;
  readonly release: Version['prerelease'];
}

/** Reads a version; build metadata that is not a release stays with the version and orders nothing. */
export function withRelease(version: Version): VersionRelease {
  const release = tryParseRelease(version.build.join('.')) ?? [];
  return release.length > 0 ? { version: { ...version, build: [] }, release } : { version, release };
}

/** A version with a separate release keeps its build metadata. Undefined if the release is not valid. */
function withExplicitRelease(version: Version, release: string): VersionRelease | undefined {
  const identifiers = tryParseRelease(release);
  return identifiers && { version, release: identifiers };
}

/**
 * The version and release of a bundle, or undefined if it has no version.
 *
 * @param explicit whether the release field counts, which is behind a feature gate of OLM v1
 */
export function versionReleaseOf(bundle: Bundle, explicit = false): VersionRelease | undefined {
  if (!bundle.version) return undefined;
  const own = bundle.properties.find(({ type }) => type === 'olm.package')?.value;
  const release = isObject(own) ? own['release'] : undefined;
  return explicit && typeof release === 'string'
    ? withExplicitRelease(bundle.version, release)
    : withRelease(bundle.version);
}

/** The text of a version as OLM v1 stores it for an installation: the release stands as build metadata. */
export function storedVersion({ version, release }: VersionRelease): string {
  return formatVersion(release.length > 0 ? { ...version, build: release.map(String) } : version);
}

/** -1, 0 or 1. */
export function compareVersionReleases(a: VersionRelease, b: VersionRelease): number {
  return compareVersions(a.version, b.version) || compareReleases(a.release, b.release);
}

const ZERO: Version = { major: 0, minor: 0, patch: 0, prerelease: [], build: [] };

/** Compares releases as pre-releases are compared, except that a version without a release is the lowest. */
function compareReleases(a: Version['prerelease'], b: Version['prerelease']): number {
  if (a.length === 0 || b.length === 0) return Math.sign(a.length - b.length);
  return compareVersions({ ...ZERO, prerelease: a }, { ...ZERO, prerelease: b });
}

/** A text that is the same for versions and releases that OLM v1 takes for equal. */
export function versionReleaseKey({ version, release }: VersionRelease): string {
  return `${formatVersion({ ...version, build: [] })} ${release.join('.')}`;
}

function tryParseRelease(text: string): Version['prerelease'] | undefined {
  try {
    return parseRelease(text);
  } catch (error) {
    if (error instanceof VersionError) return undefined;
    throw error;
  }
}

/** The version and release that are stored for an installation. */
export function parseStored(version: string, release?: string): VersionRelease | undefined {
  const parsed = tryParseVersion(version);
  if (!parsed) return undefined;
  return release === undefined ? withRelease(parsed) : withExplicitRelease(parsed, release);
}
