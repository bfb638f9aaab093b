/** Bundles as the catalogs of a package hold them already: what was rendered once is not rendered again. */
import { migrateBundles } from '../../../catalog/bundle/migrate.ts';
import { load } from '../../../catalog/fbc/load.ts';
import type { Blobs, Bundle, PackageBlob } from '../../../catalog/fbc/model.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import type { RenderedImage } from '../../../catalog/opm/template/template.ts';
import { PipelineError } from '../../error.ts';
import type { ReleaseRepository } from './release-repository.ts';

/** The bundles of one catalog's package, by image. */
export interface KnownBundles {
  readonly own: ReadonlyMap<string, Bundle>;
  /** What the package shows, as the ClusterServiceVersion of its head said it. */
  readonly csv: RenderedImage['csv'];
  /** Whether the catalog holds `olm.csv.metadata` in place of manifests. */
  readonly migrates: boolean;
}

/** The file of a package's folder that a template is rendered into. */
export const CATALOG_FILE = 'catalog.yaml';

/**
 * @param folder of the package in the catalog, which may not be there yet
 * @throws PipelineError `usage` when the package is in other files, which the rendered one would repeat
 */
export async function knownBundles(
  place: ReleaseRepository,
  { catalog, folder }: { readonly catalog: string; readonly folder: string },
): Promise<KnownBundles> {
  const source = await place.folder(folder);
  const { bundles, packages, channels } = source ? (await load(source)).blobs : NOTHING;
  const beside = [...packages, ...channels, ...bundles].find(
    ({ document }) => document.file !== CATALOG_FILE,
  );
  if (beside)
    throw new PipelineError(
      'usage',
      `${folder}/${beside.document.file} exists next to ${CATALOG_FILE}, which would repeat it`,
      {
        hint: `move the package to one file, ${folder}/${CATALOG_FILE}`,
      },
    );
  const own = new Map(bundles.map((bundle) => [bundle.image, bundle]));
  return { own, csv: shownBy(packages[0]), migrates: migratesOf(catalog, bundles) };
}

const NOTHING: Pick<Blobs, 'bundles' | 'packages' | 'channels'> = { bundles: [], packages: [], channels: [] };

/** Catalogs do not hold a bundle's icon; the package has that of its head. */
function shownBy(shown: PackageBlob | undefined): RenderedImage['csv'] {
  const { description, icon } = isObject(shown?.value) ? shown.value : {};
  return { spec: { description, ...(isObject(icon) ? { icon: [icon] } : {}) } };
}

const METADATA = 'olm.csv.metadata';
const MANIFEST = 'olm.bundle.object';

/** A catalog goes on as it is; a new one follows the platform, which from 4.17 on takes metadata. */
function migratesOf(catalog: string, bundles: readonly Bundle[]): boolean {
  const holds = (wanted: string): boolean =>
    bundles.some(({ properties }) => properties.some(({ type }) => type === wanted));
  if (holds(METADATA)) return true;
  if (holds(MANIFEST)) return false;
  const [, major = '0', minor = '0'] = /^v?(\d+)\.(\d+)$/.exec(catalog) ?? [];
  return Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 17);
}

/** A bundle in the form that a catalog has; undefined when that cannot be made of it. */
export function inForm(bundle: Bundle, { migrates }: Pick<KnownBundles, 'migrates'>): Bundle | undefined {
  const hasMetadata = bundle.properties.some(({ type }) => type === METADATA);
  if (migrates) {
    const { bundles, findings } = migrateBundles([bundle]);
    return findings.length === 0 ? bundles[0] : undefined;
  }
  // Manifests do not come back out of metadata.
  return hasMetadata ? undefined : bundle;
}
