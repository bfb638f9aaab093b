/** The effect of a pull request on disconnected clusters: bundles that become installable, or no longer are. */
import { type DeployedImages, imagesOf } from '../../../catalog/mirror/images.ts';
import type { BundleReadiness, Readiness } from '../../../catalog/mirror/readiness.ts';
import { planReadiness } from '../../../catalog/mirror/report.ts';
import type { DisconnectedReport } from '../report.ts';
import type { BeforeAndAfter, CatalogState, TouchedCatalog } from '../world/touched-catalog.ts';

/** Bundles that are named at most. */
const MOST_NAMED = 20;

const UNKNOWN: BeforeAndAfter<DeployedImages> = { before: () => undefined, after: () => undefined };

/**
 * The touched packages of each catalog, as a mirror of ours would have them.
 *
 * @param deployed what deployments name of bundles whose deployments the catalogs do not hold
 */
export function disconnectedOf(
  touched: readonly TouchedCatalog[],
  deployed: BeforeAndAfter<DeployedImages> = UNKNOWN,
): DisconnectedReport[] {
  return touched.flatMap(({ names, before, after }) => {
    if (!after) return [];
    const now = readinessOf(after, deployed.after);
    const lacking = now.bundles.filter(isLacking);
    // Usually no bundle lacks an image: then the state before is not needed.
    const was = before && lacking.length > 0 ? readinessOf(before, deployed.before).bundles : [];
    const lacked = new Set(was.filter(isLacking).map(nameOf));
    const worse = lacking.filter((bundle) => !lacked.has(nameOf(bundle)));
    return [
      {
        catalogs: names,
        bundles: now.bundles.length,
        ready: now.ready,
        // Images that only deployments name are unknown: such a bundle may be ready, but that cannot be shown.
        ...(now.unchecked > 0 ? { unchecked: now.unchecked } : {}),
        worse: worse.slice(0, MOST_NAMED).map((bundle) => ({
          bundle: nameOf(bundle),
          missing: bundle.missing.map(({ reference, why }) => `${reference}: ${why}`),
        })),
      },
    ];
  });
}

function readinessOf({ blobs }: CatalogState, deployed: DeployedImages): Readiness {
  return planReadiness(imagesOf(blobs, deployed));
}

/** Whether an image of a bundle cannot be pulled by a disconnected node. */
function isLacking({ missing }: BundleReadiness): boolean {
  return missing.length > 0;
}

function nameOf({ package: name, name: bundle }: BundleReadiness): string {
  return `${name}/${bundle}`;
}
