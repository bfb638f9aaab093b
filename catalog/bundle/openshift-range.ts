/**
 * For which versions of OpenShift a bundle says that it is, in the annotation
 * `com.redhat.openshift.versions`.
 *
 * @see https://redhat-connect.gitbook.io/certified-operator-guide/ocp-deployment/operator-metadata/bundle-directory/managing-openshift-versions
 */
import { compareMinors, type Minor, tryParseMinor } from '../fbc/openshift.ts';
import { parseTolerant, type Version, VersionError } from '../version/version.ts';

/** The annotation's name. */
export const OPENSHIFT_VERSIONS = 'com.redhat.openshift.versions';

/**
 * Whether a bundle belongs into the catalog of a version. `v4.8` stands for that version and all later ones, `=v4.8`
 * for that one alone, `v4.8-v4.10` for all from one to the other, and a list for its lowest version and all later ones.
 * An empty text, and none, stand for all versions.
 *
 * @returns undefined for a text of another form
 */
export function isForOpenshift(text: string | undefined, version: Minor): boolean | undefined {
  const written = (text ?? '').replaceAll(/["'\s]/g, '');
  if (written === '') return true;
  if (written.startsWith('=')) {
    const only = tryParseMinor(written.slice(1));
    return only && compareMinors(version, only) === 0;
  }
  if (written.includes('-')) {
    const [from, to, ...others] = written.split('-').map(tryParseMinor);
    if (others.length > 0) return undefined;
    return from && to && compareMinors(version, from) >= 0 && compareMinors(version, to) <= 0;
  }
  const listed = written.split(',').map(tryParseMinor);
  const minors = listed.filter((one) => one !== undefined);
  return minors.length === listed.length
    ? minors.some((from) => compareMinors(version, from) >= 0)
    : undefined;
}

// The range of versions of OpenShift in a bundle's annotation, as certification reads it.

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
