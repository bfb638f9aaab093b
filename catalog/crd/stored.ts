/**
 * Versions in which a cluster may hold objects though the installed CRD stores another: the cluster's
 * `status.storedVersions` gathers what every CRD on its upgrade path has stored, and nothing but a migration
 * of all objects takes a version away again.
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#upgrade-existing-objects-to-a-new-stored-version
 */

import type { Bundle } from '../fbc/model.ts';
import { appendToGroup } from '../go/grouped.ts';
import type { Crd } from './crd.ts';

/** An upgrade that clusters make. */
export interface Step {
  readonly from: Bundle;
  readonly to: Bundle;
}

/** A version that was stored on the way. */
export interface InheritedVersion {
  readonly version: string;
  /** From the bundle that stored it to the one that is installed; one of the shortest. */
  readonly path: readonly Bundle[];
}

/** Tells what the CRD of a name inherits on clusters that have a bundle, the oldest first. */
export type InheritedOf = (bundle: Bundle, crd: string) => readonly InheritedVersion[];

/**
 * Follows stored versions along upgrades. A CRD that lacks a version that is stored is refused, so no
 * cluster carries the version past it.
 *
 * @param crds what bundles define; undefined where it is unknown, which ends an upgrade path
 */
export function inheritedVersions(
  steps: readonly Step[],
  crds: (bundle: Bundle) => readonly Crd[] | undefined,
): InheritedOf {
  const inherited = new Map<Bundle, Map<string, InheritedVersion[]>>();
  const onward = new Map<Bundle, Bundle[]>();
  for (const { from, to } of steps) {
    appendToGroup(onward, from, to);
  }
  // All upgrade paths grow by one upgrade at a time, so the shortest comes first. None goes on from a bundle that inherits
  // the version already, so a circle of upgrades ends, too.
  let paths: CarriedVersion[] = [...onward.keys()].flatMap((from) =>
    (crds(from) ?? []).flatMap(({ name, storedVersions }) =>
      storedVersions.map((version) => ({ crd: name, version, path: [from] })),
    ),
  );
  while (paths.length > 0) {
    paths = paths.flatMap((carried) =>
      (onward.get(carried.path.at(-1) as Bundle) ?? []).flatMap((to) => {
        const crd = crds(to)?.find(({ name }) => name === carried.crd);
        return crd && takesOver(crd, carried.version, inheritedAt(inherited, to, crd.name))
          ? [noteInherited(inherited, to, carried)]
          : [];
      }),
    );
  }
  return (bundle, crd) =>
    [...inheritedAt(inherited, bundle, crd)].sort((a, b) => b.path.length - a.path.length);
}

interface CarriedVersion extends InheritedVersion {
  readonly crd: string;
}

/** What the CRD of a name inherits on clusters that have a bundle, as far as it is found yet. */
function inheritedAt(
  known: ReadonlyMap<Bundle, ReadonlyMap<string, readonly InheritedVersion[]>>,
  bundle: Bundle,
  crd: string,
): readonly InheritedVersion[] {
  return known.get(bundle)?.get(crd) ?? [];
}

/** Whether a CRD inherits a version: it has the version, does not store it itself, and is not known to inherit it. */
function takesOver(
  { versions, storedVersions }: Crd,
  version: string,
  known: readonly InheritedVersion[],
): boolean {
  return (
    versions.some(({ name }) => name === version) &&
    !storedVersions.includes(version) &&
    !known.some((inherited) => inherited.version === version)
  );
}

/** Notes which stored versions a bundle inherits by an upgrade. @returns the path up to and including this upgrade */
function noteInherited(
  known: Map<Bundle, Map<string, InheritedVersion[]>>,
  to: Bundle,
  { crd, version, path }: CarriedVersion,
): CarriedVersion {
  const longer = { crd, version, path: [...path, to] };
  const ofBundle = known.get(to) ?? new Map<string, InheritedVersion[]>();
  known.set(to, ofBundle);
  appendToGroup(ofBundle, crd, longer);
  return longer;
}
