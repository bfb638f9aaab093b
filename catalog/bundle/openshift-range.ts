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
 * Whether a bundle belongs into the catalog of a version: `v4.8` is that one and all later, `=v4.8` that
 * one alone, `v4.8-v4.10` all from one to the other, and a list stands for the lowest of it and all later.
 * What says nothing is for all.
 *
 * @returns undefined when the text says nothing that is known
 */
export function isForOpenshift(text: string | undefined, version: Minor): boolean | undefined {
  const written = (text ?? '').replaceAll(/["'\s]/g, '');
  if (written === '') return true;
  if (written.startsWith('=')) {
    const only = tryParseMinor(written.slice(1));
    return only && compareMinors(version, only) === 0;
  }
  if (written.includes('-')) {
    const [from, to] = written.split('-').map(tryParseMinor);
    return from && to && compareMinors(version, from) >= 0 && compareMinors(version, to) <= 0;
  }
  const listed = written.split(',').map(tryParseMinor);
  const known = listed.filter((one) => one !== undefined);
  return known.length === listed.length ? known.some((from) => compareMinors(version, from) >= 0) : undefined;
}
