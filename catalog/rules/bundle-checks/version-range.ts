/** The range of versions of OpenShift in a bundle's annotation, as certification reads it. */
import { parseTolerant, type Version, VersionError } from '../../version/version.ts';

/** A range of versions of OpenShift; without an end, the last version is undefined. */
interface VersionRange {
  readonly first: Version;
  readonly last: Version | undefined;
}

/**
 * Reads `=v4.12`, `v4.12-v4.16` or `v4.12`; undefined for anything else.
 *
 * @see https://github.com/redhat-openshift-ecosystem/openshift-preflight/blob/main/internal/bundle/bundle.go
 */
export function versionRange(label: string): VersionRange | undefined {
  const bare = label.replaceAll(/["'v]/g, '').trim();
  if (bare.startsWith('=')) {
    const only = parseTolerantIfValid(bare.slice(1));
    return only && { first: only, last: only };
  }
  const [from = '', last, ...more] = bare.split('-');
  const first = parseTolerantIfValid(from);
  if (more.length > 0 || bare.length < 2 || !first) return undefined;
  if (last === undefined) return { first, last: undefined };
  const end = parseTolerantIfValid(last);
  return end && { first, last: end };
}

/** Parses a version that may omit its minor and patch numbers; undefined if it is not a version. */
export function parseTolerantIfValid(version: string): Version | undefined {
  if (version === '') return undefined;
  try {
    return parseTolerant(version);
  } catch (error) {
    if (error instanceof VersionError) return undefined;
    throw error;
  }
}
