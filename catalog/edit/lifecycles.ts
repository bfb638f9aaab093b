/** Lifecycle metadata put into a catalog from another source. */
import { LIFECYCLE } from '../fbc/lifecycle.ts';
import { type Blob, type Blobs, catalogOf } from '../fbc/model.ts';
import type { Finding } from '../finding.ts';
import { rules as ends } from '../rules/lifecycle/ends.ts';
import { rules } from '../rules/lifecycle/table.ts';
import { runRules } from '../rules/rule.ts';

/** Of all rules just these: render loads nothing else. */
const LIFECYCLE_RULES = [...rules, ...ends];

interface WithLifecycles {
  /** The catalog, with the source's metadata in place of its own. */
  readonly blobs: Blobs;
  /** What is wrong with the metadata that the catalog then has. */
  readonly findings: readonly Finding[];
  /** Packages that got metadata. */
  readonly packages: number;
  /** Packages of the source that the catalog does not have. */
  readonly skipped: number;
}

/** Puts the lifecycle metadata of a source into a catalog; metadata of packages that the source does not have stays. */
export function withLifecycles(catalog: Blobs, source: Blobs): WithLifecycles {
  const isLifecycle = ({ schema }: Blob): boolean => schema === LIFECYCLE;
  const sourceBlobs = source.others.filter(isLifecycle);
  const sourcePackages = new Set(sourceBlobs.map((blob) => blob.package));
  const catalogPackages = new Set(catalog.packages.map(({ name }) => name));
  const added = sourceBlobs.filter((blob) => catalogPackages.has(blob.package));
  const remainingBlobs = catalog.others.filter(
    (blob) => !isLifecycle(blob) || !sourcePackages.has(blob.package),
  );
  const blobs = { ...catalog, others: [...remainingBlobs, ...added] };
  return {
    blobs,
    findings: runRules(catalogOf(blobs), LIFECYCLE_RULES),
    packages: [...sourcePackages].filter((name) => catalogPackages.has(name)).length,
    skipped: [...sourcePackages].filter((name) => !catalogPackages.has(name)).length,
  };
}
