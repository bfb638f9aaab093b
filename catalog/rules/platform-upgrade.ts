/** Upgrades of the platform, which take clusters from one catalog to the next. */
import type { Minor } from '../fbc/openshift.ts';
import type { World } from '../olm/foresight/world.ts';

/**
 * The catalogs that clusters go to in one step: the next one, and behind it that of the next even minor version,
 * since clusters may go from one even version to the next at once.
 *
 * @see https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/updating_clusters (Control Plane Only updates)
 */
export function stepsOf({ platform, following: [next, second] }: World): World[] {
  const isEven = (of: Minor | undefined): boolean => of !== undefined && of.minor % 2 === 0;
  const skips =
    platform !== undefined && isEven(platform) && second?.platform?.minor === platform.minor + 2
      ? [second]
      : [];
  return [...(next ? [next] : []), ...skips];
}
