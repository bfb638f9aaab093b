/** How references are rendered, and bundles as catalogs. */
import type { ImageTemplate } from '../../catalog/bundle/image-template.ts';
import { migrateBundles } from '../../catalog/bundle/migrate.ts';
import { readBundle } from '../../catalog/bundle/registry-bundle.ts';
import { type BundleRenderOptions, renderBundle } from '../../catalog/bundle/render.ts';
import type { Loaded } from '../../catalog/load.ts';
import type { CatalogSource } from '../../catalog/source.ts';
import type { Registry } from '../ports.ts';

export interface Rendering {
  /** The directory that relative paths start from. */
  readonly directory: string;
  /** The way to the registry of a host. */
  readonly registry: (host: string) => Registry | Promise<Registry>;
  /** What is rendered; the other is refused. Both when left out. */
  readonly only?: 'catalogs' | 'bundles';
  /** Whether manifests give way to `olm.csv.metadata`, in bundles that have an image. */
  readonly migrates?: boolean;
  /** Makes up the image of a bundle directory. */
  readonly imageTemplate?: ImageTemplate;
}

/** A bundle as a catalog with nothing else in it. */
export async function loadBundle(
  source: CatalogSource,
  { migrates = false }: Pick<Rendering, 'migrates'>,
  image: Pick<BundleRenderOptions, 'image' | 'imageTemplate'>,
): Promise<Loaded> {
  const read = await readBundle(source);
  const rendered =
    read.bundle && renderBundle(read.bundle, { ...image, migrateLevel: migrateLevel(migrates) });
  const bundles = rendered?.blob ? [rendered.blob] : [];
  const blobs = { packages: [], channels: [], bundles, deprecations: [], others: [] };
  return { blobs, findings: [...read.findings, ...(rendered?.findings ?? [])] };
}

export function migrateLevel(migrates: boolean): 'none' | 'bundle-object-to-csv-metadata' {
  return migrates ? 'bundle-object-to-csv-metadata' : 'none';
}

/** A loaded catalog whose bundles are migrated when that is wanted. */
export function migrated({ blobs, findings }: Loaded, { migrates }: Pick<Rendering, 'migrates'>): Loaded {
  if (!migrates) return { blobs, findings };
  const done = migrateBundles(blobs.bundles);
  return { blobs: { ...blobs, bundles: done.bundles }, findings: [...findings, ...done.findings] };
}
