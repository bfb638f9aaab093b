/**
 * The Kubernetes of each version of OpenShift.
 *
 * @see https://access.redhat.com/solutions/4870701 "What version of the Kubernetes API is included with each
 *   OpenShift 4.x release?", and "uses Kubernetes 1.x" in the release notes of each version
 */
import { formatMinor, type Minor } from './openshift.ts';

/** Kubernetes by OpenShift, minor versions. */
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
]);

/** The Kubernetes of a version of OpenShift, such as 1.33 of 4.20; undefined where the table has none. */
export function kubernetesOf(platform: Minor): Minor | undefined {
  const minor = KUBERNETES.get(formatMinor(platform));
  return minor === undefined ? undefined : { major: 1, minor };
}
