/** Upgrades of the platform, which take clusters from one catalog to the next. */
import type { Minor } from '../fbc/openshift.ts';
import type { World } from '../olm/foresight/world.ts';

/**
 * Whether clusters may go from one version to another at once, past the one between them: from an even minor version to
 * the next even one.
 *
 * @see https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/updating_clusters (Control Plane Only updates)
 */
export function mayPassOne(from: Minor | undefined, to: Minor | undefined): boolean {
  return from !== undefined && from.minor % 2 === 0 && to?.minor === from.minor + 2;
}

/** The catalogs that clusters go to in one step: the next one, and the one behind it where they may pass the next. */
export function stepsOf({ platform, following: [next, second] }: World): World[] {
  const passed = second && mayPassOne(platform, second.platform) ? [second] : [];
  return [...(next ? [next] : []), ...passed];
}
