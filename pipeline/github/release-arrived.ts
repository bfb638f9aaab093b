/** Bundles that have arrived on a branch, and which of those that were ever refused no registry has. */
import { tryParseReference } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { eachOf } from '../parallel.ts';
import type { Registry } from '../ports.ts';
import {
  type BundleRelease,
  type ReleaseBundlesRequest,
  type ReleasePorts,
  releaseBundles,
} from './release-bundles.ts';

/** Questions to registries at a time. */
const REQUESTS = 4;

interface ReleasedArrivals {
  readonly released: readonly BundleRelease[];
  /** References of bundles that were refused, now or before, and that no registry is known to have. */
  readonly missing: ReadonlySet<string>;
}

/**
 * @param request with the references that were missing before
 * @throws PipelineError as {@link releaseBundles}
 */
export async function releaseArrivals(
  ports: ReleasePorts,
  request: ReleaseBundlesRequest & { readonly missing: readonly string[] },
): Promise<ReleasedArrivals> {
  const released = await releaseBundles(ports, request);
  const missing = new Set([...request.missing, ...released.flatMap((one) => one.missing)]);
  // Pushed by this run, by an earlier one under a waiver, or by hand.
  await eachOf([...missing], REQUESTS, async (reference) => {
    if (await isThere(ports.registry, reference)) missing.delete(reference);
  });
  return { released, missing };
}

/** Whether a registry has an image; what it does not answer is taken for no. */
async function isThere(registry: Registry, text: string): Promise<boolean> {
  const reference = tryParseReference(text);
  try {
    return reference !== undefined && (await registry.resolve(reference)) !== undefined;
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return false;
  }
}
