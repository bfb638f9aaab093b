/**
 * Edges: an entry of a channel may follow an installed bundle by naming it in `replaces`
 * or `skips`, or by covering its version with `skipRange`.
 */

import { onceFor } from '../go/once.ts';
import { satisfies } from '../version/satisfies.ts';
import { formatVersion, tryParseRange, type Version, type VersionRange } from '../version/version.ts';
import type { Bundle, Entry } from './model.ts';

/** Which field of the entry makes the edge; where several do, the first of these counts. */
export type EdgeField = 'replaces' | 'skips' | 'skipRange';

/** A bundle as a cluster knows it: still in the catalog or not. */
export interface Installed {
  /** Name of the bundle, which is the name of its ClusterServiceVersion. */
  readonly name: string;
  /** Undefined where it is unknown; then only edges by name are found. */
  readonly version: Version | undefined;
}

const rangeOf = onceFor(({ skipRange }: Entry) => tryParseRange(skipRange));

/** The entry's skipRange, or undefined when it has none or one that OLM cannot read, and so ignores. */
export function skipRangeOf(entry: Entry): VersionRange | undefined {
  return entry.skipRange === '' ? undefined : rangeOf(entry);
}

/** The field by which an entry follows what is installed, or undefined when it does not. */
export function edgeField(entry: Entry, { name, version }: Installed): EdgeField | undefined {
  if (entry.replaces === name) return 'replaces';
  if (entry.skips.includes(name)) return 'skips';
  const range = version && skipRangeOf(entry);
  return range && satisfies(version, range) ? 'skipRange' : undefined;
}

/** A bundle of a catalog as what is installed. */
export function installedOf({ name, version }: Bundle): Installed {
  return { name, version };
}

/**
 * How people call an installation: its version, or its name where that is unknown or the name does not end with it,
 * as `scaleops-operator.v1.7.5` of the version 0.0.1: clusters show the name.
 */
export function shortName(installed: Installed): string {
  const version = versionText(installed);
  return installed.name.endsWith(`.v${version}`) ? version : installed.name;
}

/** The version of an installation, or its name where that is unknown: for what compares versions. */
export function versionText({ name, version }: Installed): string {
  return version ? formatVersion(version) : name;
}
