/**
 * For which versions of OpenShift a bundle says that it is, in the annotation
 * `com.redhat.openshift.versions`.
 *
 * @see https://redhat-connect.gitbook.io/certified-operator-guide/ocp-deployment/operator-metadata/bundle-directory/managing-openshift-versions
 */
import { compareMinors, type Minor, tryParseMinor } from '../fbc/openshift.ts';

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
