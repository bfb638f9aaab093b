/**
 * Lower and upper bounds of versions as oc-mirror reads them: parts may be left out, and
 * pre-releases count only where a bound is one.
 *
 * @see https://github.com/Masterminds/semver/tree/v3.5.0
 */
import { compareVersions, tryParseVersion, type Version } from '../version/version.ts';

export interface Bound {
  readonly version: Version;
  /** How many of major, minor and patch are written. */
  readonly parts: number;
}

const LOOSE = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

/** Reads `1`, `1.2`, `v1.2.3-rc.1`; undefined if it is not a version. */
export function parseBound(text: string): Bound | undefined {
  const match = LOOSE.exec(text);
  if (!match) return undefined;
  const [, major, minor, patch, prerelease = '', build = ''] = match;
  const version = tryParseVersion(`${major}.${minor ?? 0}.${patch ?? 0}${prerelease}${build}`);
  return version && { version, parts: 1 + Number(minor !== undefined) + Number(patch !== undefined) };
}

/** Whether a version lies between the bounds, which belong to the range themselves. */
export function isWithin(version: Version, least: Bound | undefined, most: Bound | undefined): boolean {
  const prereleases = [least, most].some((bound) => bound && bound.version.prerelease.length > 0);
  if (version.prerelease.length > 0 && !prereleases) return false;
  if (least && compareVersions(version, least.version) < 0) return false;
  return !most || isAtMost(version, most);
}

/** Parts that a bound leaves out may have any number. */
function isAtMost(version: Version, { version: bound, parts }: Bound): boolean {
  // Major, minor and patch are all written.
  if (parts === 3) return compareVersions(version, bound) <= 0;
  if (version.major !== bound.major) return version.major < bound.major;
  return parts === 1 || version.minor <= bound.minor;
}
