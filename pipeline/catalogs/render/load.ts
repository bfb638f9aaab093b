/** How references are rendered, and bundles as catalogs. */
import { migrateBundles } from '../../../catalog/bundle/migrate.ts';
import { readBundle } from '../../../catalog/bundle/registry-bundle.ts';
import {
  type BundleRenderOptions,
  type ImageTemplate,
  renderBundle,
} from '../../../catalog/bundle/render.ts';
import {
  DEFAULT_LIMITS,
  type EachBlob,
  type Loaded,
  type LoadLimits,
  load,
} from '../../../catalog/fbc/load.ts';
import type { Bundle } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import type { CatalogSource } from '../../../catalog/source.ts';
import type { Registry } from '../../ports.ts';

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
  /** What is done with each blob of a directory or an index image as it is read; what comes back is kept in its place. */
  readonly each?: EachBlob;
  /** Which files of an index image are parsed, by their content; all when left out. */
  readonly parses?: (content: Uint8Array) => boolean;
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

/** The level of opm's migrations for rendering. */
export function migrateLevel(migrates: boolean): 'none' | 'bundle-object-to-csv-metadata' {
  return migrates ? 'bundle-object-to-csv-metadata' : 'none';
}

/** Reads a catalog, each bundle migrated when that is wanted before anything else is done with it. */
export async function loadCatalog(
  source: CatalogSource,
  { migrates, each = {} }: Pick<Rendering, 'migrates' | 'each'>,
  limits: LoadLimits = DEFAULT_LIMITS,
): Promise<Loaded> {
  if (!migrates) return load(source, limits, each);
  const refused: Finding[] = [];
  const migrate = (bundle: Bundle): Bundle => {
    const done = migrateBundles([bundle]);
    for (const finding of done.findings) refused.push(finding);
    const [after = bundle] = done.bundles;
    return each.bundle?.(after) ?? after;
  };
  const { blobs, findings } = await load(source, limits, { ...each, bundle: migrate });
  return { blobs, findings: [...findings, ...refused] };
}

/** A loaded catalog whose bundles are migrated when that is wanted. */
export function migratedIfAsked(
  { blobs, findings }: Loaded,
  { migrates }: Pick<Rendering, 'migrates'>,
): Loaded {
  if (!migrates) return { blobs, findings };
  const done = migrateBundles(blobs.bundles);
  return { blobs: { ...blobs, bundles: done.bundles }, findings: [...findings, ...done.findings] };
}
