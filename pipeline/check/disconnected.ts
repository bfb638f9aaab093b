/** What a pull request does to disconnected clusters: which bundles they can install, and which not any more. */
import { imagesOf } from '../../catalog/mirror/images.ts';
import type { BundleReadiness, Readiness } from '../../catalog/mirror/readiness.ts';
import { planReadiness } from '../../catalog/mirror/report.ts';
import type { CatalogState, TouchedCatalog } from './catalogs.ts';
import type { DisconnectedReport } from './report.ts';

/** Bundles that are named at most. */
const MOST = 20;

/** The touched packages of each catalog, as a mirror of ours would have them. */
export function disconnectedOf(touched: readonly TouchedCatalog[]): DisconnectedReport[] {
  return touched.flatMap(({ names, before, after }) => {
    if (!after) return [];
    const now = readinessOf(after);
    const lacking = new Set(
      (before ? readinessOf(before) : undefined)?.bundles.filter(isLacking).map(nameOf),
    );
    const worse = now.bundles.filter((bundle) => isLacking(bundle) && !lacking.has(nameOf(bundle)));
    const complete = now.bundles.filter((bundle) => !isLacking(bundle));
    // Images that only deployments name are unknown then: such a bundle may be ready, and nobody can say so.
    const unchecked = complete.filter(({ hasDeployments }) => !hasDeployments).length;
    return [
      {
        catalogs: names,
        bundles: now.bundles.length,
        ready: complete.filter(({ hasDeployments }) => hasDeployments).length,
        ...(unchecked > 0 ? { unchecked } : {}),
        worse: worse.slice(0, MOST).map((bundle) => ({
          bundle: nameOf(bundle),
          missing: bundle.missing.map(({ reference, why }) => `${reference}: ${why}`),
        })),
      },
    ];
  });
}

function readinessOf({ blobs }: CatalogState): Readiness {
  return planReadiness(imagesOf(blobs));
}

function isLacking({ missing }: BundleReadiness): boolean {
  return missing.length > 0;
}

function nameOf({ package: name, name: bundle }: BundleReadiness): string {
  return `${name}/${bundle}`;
}
