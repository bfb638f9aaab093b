/**
 * The property `olm.maxOpenShiftVersion`: the last minor version of OpenShift that a
 * bundle is meant for. While it is installed, OLM v0 keeps the cluster from a later one.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/openshift/helpers.go
 */

import { onceFor } from '../go/once.ts';
import { parseTolerant, type Version, VersionError } from '../version/version.ts';
import type { Bundle, Property } from './model.ts';

/** A minor version of the platform, such as 4.20. */
export interface Minor {
  readonly major: number;
  readonly minor: number;
}

const NAME = /^v?([0-9]{1,4})\.([0-9]{1,4})$/;

/** Reads `4.20` or `v4.20`; undefined for anything else. */
export function tryParseMinor(text: string): Minor | undefined {
  const [, major, minor] = NAME.exec(text) ?? [];
  return major === undefined || minor === undefined
    ? undefined
    : { major: Number(major), minor: Number(minor) };
}

/** A version of OpenShift at the end of a longer name: `stage-v4.20`, `catalog-4-20`; none in `etcd.v1.6.1`. */
const AT_END = /^(.*?(?:[-_]|(?<![0-9])\.))(v?[4-9][._-][0-9]{1,3})$/;

/** A version of OpenShift at the beginning of a longer name: `v4.20-stage`; none in `4.20.1-stage`. */
const AT_START = /^(v?[4-9]\.[0-9]{1,3})([-_].+)$/;

/** A name that has a version of OpenShift, in its parts. */
interface NameWithMinor {
  readonly before: string;
  readonly minor: string;
  readonly after: string;
}

/**
 * A name such as `stage-v4.20` or `v4.20-stage` in its parts: `stage-` before and `-stage` after `v4.20`; undefined for a
 * name that neither begins nor ends with a version.
 */
export function splitAtMinor(name: string): NameWithMinor | undefined {
  if (tryParseMinor(name.replace(/[-_]/, '.'))) return { before: '', minor: name, after: '' };
  const [, before, last] = AT_END.exec(name) ?? [];
  if (before !== undefined && last !== undefined) return { before, minor: last, after: '' };
  const [, first, after] = AT_START.exec(name) ?? [];
  return first === undefined || after === undefined ? undefined : { before: '', minor: first, after };
}

/** The OpenShift version in a catalog's name: `v4.20`, `stage-v4.20`, `v4.20-stage`, or `4-20` of a folder `catalog-4-20`. */
export function minorOfCatalog(catalog: string): Minor | undefined {
  return tryParseMinor(splitAtMinor(catalog)?.minor.replace(/[-_]/, '.') ?? '');
}

export function formatMinor({ major, minor }: Minor): string {
  return `${major}.${minor}`;
}

/** Negative, 0 or positive; 5.0 is the same release as 4.23. */
export function compareMinors(a: Minor, b: Minor): number {
  const [x, y] = [normal(a), normal(b)];
  return x.major - y.major || x.minor - y.minor;
}

/** A version of OpenShift, 5.0 for 4.23, which is the same release. */
function normal({ major, minor }: Minor): Minor {
  return major === 4 && minor === 23 ? { major: 5, minor: 0 } : { major, minor };
}

/** What a bundle says of the platform's versions. */
export type Limit =
  | { readonly kind: 'none' }
  | { readonly kind: 'limit'; readonly max: Minor }
  /** Unreadable: keeps the cluster from every later version. */
  | { readonly kind: 'invalid'; readonly why: string };

const TYPE = 'olm.maxOpenShiftVersion';

/** The last version of OpenShift that a bundle allows, from its property. */
export function limitOf(properties: readonly Property[]): Limit {
  const [first, ...others] = properties.filter(({ type }) => type === TYPE);
  if (!first) return { kind: 'none' };
  if (others.length > 0)
    return { kind: 'invalid', why: `the bundle has ${others.length + 1} ${TYPE} properties` };
  // OLM reads the JSON text without its quotes, so a number will do as well.
  const text = JSON.stringify(first.value ?? null).replaceAll(/^"+|"+$/g, '');
  if (text === '') return { kind: 'invalid', why: 'the version is empty' };
  try {
    const { major, minor, patch, prerelease } = parseTolerant(text);
    return patch === 0 && prerelease.length === 0
      ? { kind: 'limit', max: { major: Number(major), minor: Number(minor) } }
      : { kind: 'invalid', why: `${text} is more than a major and a minor version` };
  } catch (error) {
    if (error instanceof VersionError)
      return { kind: 'invalid', why: `${text} is not a valid version: ${error.message}` };
    throw error;
  }
}

/** Whether a cluster with such a bundle may go to a version of the platform. */
export function limitAllows(limit: Limit, platform: Minor): boolean {
  return limit.kind === 'none' || (limit.kind === 'limit' && compareMinors(limit.max, platform) >= 0);
}

/** Whether clusters that have a bundle installed are kept from a version of the platform. */
export function isHeldBack(bundle: Bundle, platform: Minor | undefined): boolean {
  return platform !== undefined && !limitAllows(limitOfBundle(bundle), platform);
}

const limitOfBundle = onceFor(({ properties }: Bundle) => limitOf(properties));

export function minorOf({ major, minor }: Version): Minor {
  return { major: Number(major), minor: Number(minor) };
}
