/**
 * From a bundle to the catalogs that offer it: what its `release-config.yaml` asks for is
 * written into templates, and every catalog that is made of them is rendered again, all in
 * one step, so that a pull request can bring the bundle and show what becomes of it.
 */
import { basename, dirname, join } from 'node:path';
import { migrateBundles } from '../../../catalog/bundle/migrate.ts';
import { readBundle } from '../../../catalog/bundle/registry-bundle.ts';
import { renderBundle } from '../../../catalog/bundle/render.ts';
import { EditError } from '../../../catalog/edit/package.ts';
import { load } from '../../../catalog/fbc/load.ts';
import type { Blobs, Bundle, PackageBlob } from '../../../catalog/fbc/model.ts';
import { compareMinors, minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import { renderOrder } from '../../../catalog/fbc/render.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import type { RenderedImage } from '../../../catalog/opm/template/template.ts';
import { PipelineError } from '../../error.ts';
import { parseLocation } from '../../oci/registry/image-location.ts';
import { isPackageName } from '../../policy/layout.ts';
import { writeFiles } from '../../write.ts';
import { renderBundleImage } from '../render/image.ts';
import { migrateLevel, type Rendering } from '../render/load.ts';
import { textOf } from '../write-blobs.ts';
import { folderOf } from './bundle-image.ts';
import { type ReleaseConfig, releaseConfigOf } from './release-config.ts';
import type { ReleaseRepository } from './release-repository.ts';

interface ReleaseRequest {
  readonly package: string;
  /** Name of the bundle's folder. */
  readonly version: string;
  /** Where the bundle is, or will be: it is read from its folder. */
  readonly image: string;
  readonly rendering: Rendering;
}

interface ReleasedTexts {
  /** By path: templates and catalogs as they are to be. */
  readonly texts: ReadonlyMap<string, string>;
  /** What keeps it from being released, or from being rendered; then there are no texts. */
  readonly findings: readonly Finding[];
}

/**
 * What the release of a bundle makes of a repository.
 *
 * @throws PipelineError `not-found`, `usage` for settings that cannot be followed, and whatever a registry answers
 */
export async function releasedTexts(
  place: ReleaseRepository,
  request: ReleaseRequest,
): Promise<ReleasedTexts> {
  const { package: name, version, image } = request;
  if (!isPackageName(name) || /[/\\]|^\.+$/.test(version))
    throw new PipelineError('usage', `${JSON.stringify(`${name}/${version}`)} is not a valid bundle`);
  const folder = folderOf(request);
  const source = await place.folder(folder);
  if (!source) throw new PipelineError('not-found', `${folder} does not exist`);
  const read = await readBundle(source);
  const render = (migrates: boolean) => {
    const migrating = { image, migrateLevel: migrateLevel(migrates) };
    return read.bundle ? renderBundle(read.bundle, migrating) : { blob: undefined, findings: [] };
  };
  // With its manifests first, to find what is wrong with the bundle; each catalog then gets it in its own form.
  const { blob, findings } = render(false);
  if (!read.bundle || !blob) return { texts: new Map(), findings: [...read.findings, ...findings] };
  const { csv } = read.bundle;
  const bundle = (migrates: boolean) => ({ bundle: render(migrates).blob ?? blob, csv: csv.value });
  const texts = new Map<string, string>();
  const wrong: Finding[] = [];
  for (const wanted of await releaseConfigOf(place, folder)) {
    const made = await releaseInto(place, { ...request, bundle, wanted, released: texts });
    for (const finding of made.findings) wrong.push(finding);
    for (const [path, text] of made.texts) texts.set(path, text);
  }
  return wrong.length > 0 ? { texts: new Map(), findings: wrong } : { texts, findings: [] };
}

interface Releasing extends ReleaseRequest {
  /** In the form that a catalog has. */
  readonly bundle: (migrates: boolean) => RenderedImage;
  readonly wanted: ReleaseConfig;
  /** By path: what was released before into the same template is in its text. */
  readonly released: ReadonlyMap<string, string>;
}

/**
 * The texts of a template and of its catalogs once the bundle is in them; none, with findings, if the template cannot be
 * expanded.
 */
async function releaseInto(
  place: ReleaseRepository,
  { package: name, image, rendering, bundle, wanted, released }: Releasing,
): Promise<ReleasedTexts> {
  const { template, catalogs, kind, release: asked } = wanted;
  const path = `operators/${name}/catalog-templates/${template}`;
  const before = released.get(path) ?? (await place.text(path));
  const text = editTemplate(path, () =>
    kind.release(before, { ...asked, package: name, name: bundle(false).bundle.name, image }),
  );
  const texts = new Map([[path, text]]);
  const folders = catalogs.map((catalog) => ({ catalog, folder: `catalogs/${catalog}/${name}` }));
  // All catalogs are read before one is rendered: a bundle that one lacks is taken from another, not from its image.
  const bundlesByFolder = new Map(
    await Promise.all(folders.map(async (one) => [one.folder, await knownBundles(place, one)] as const)),
  );
  for (const [folder, known] of bundlesByFolder) {
    const { blobs, findings } = await kind.expand(
      { file: path, bytes: Buffer.from(text) },
      async (reference) => {
        if (reference === image) return bundle(known.migrates);
        // What a catalog holds already was rendered from the same image before.
        const found = known.byImage.get(reference) ?? bundleOfOtherCatalog(bundlesByFolder, known, reference);
        if (found) return { bundle: found, csv: known.csv };
        return renderBundleImage(inRegistry(reference, path), { ...rendering, migrates: known.migrates });
      },
    );
    if (findings.length > 0 || !blobs) return { texts: new Map(), findings };
    texts.set(`${folder}/${CATALOG_FILE}`, textOf(renderOrder(blobs), 'yaml'));
  }
  return { texts, findings: [] };
}

/**
 * An image that a template names. Strangers write templates: they must not read files here.
 *
 * @throws PipelineError `usage`
 */
function inRegistry(image: string, path: string): string {
  if (parseLocation(image).kind === 'registry') return image;
  throw new PipelineError('usage', `${path}: ${JSON.stringify(image)} is not an image in a registry`);
}

/** The bundle as another catalog has it, if it can be brought into this catalog's form; undefined if not. */
function bundleOfOtherCatalog(
  bundlesByFolder: ReadonlyMap<string, KnownBundles>,
  wanted: KnownBundles,
  image: string,
): Bundle | undefined {
  for (const { byImage } of bundlesByFolder.values()) {
    const bundle = byImage.get(image);
    const formed = bundle && bundleInForm(bundle, wanted);
    if (formed) return formed;
  }
  return undefined;
}

/** Edits a template. @throws PipelineError `usage`, with the template's path, for one that cannot be edited */
function editTemplate(path: string, edit: () => string): string {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof EditError)) throw error;
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    throw new PipelineError('usage', `${path}: ${error.message}`, { cause: error, ...hint });
  }
}

/** Writes what a release makes into a work tree; gives the paths of the files that differ now. @throws PipelineError `io` */
export function writeReleased(directory: string, { texts }: ReleasedTexts): string[] {
  return [...texts].flatMap(([path, text]) => {
    const { written } = writeFiles(join(directory, dirname(path)), new Map([[basename(path), text]]));
    return written.length > 0 ? [path] : [];
  });
}

// Bundles as the catalogs of a package hold them already: what was rendered once is not rendered again.

/** The bundles of one catalog's package, by image. */
interface KnownBundles {
  readonly byImage: ReadonlyMap<string, Bundle>;
  /** What the package shows, as the ClusterServiceVersion of its head said it. */
  readonly csv: RenderedImage['csv'];
  /** Whether the catalog holds `olm.csv.metadata` in place of manifests. */
  readonly migrates: boolean;
}

/** The file of a package's folder that a template is rendered into. */
const CATALOG_FILE = 'catalog.yaml';

/**
 * The bundles that a catalog has of a package, by image.
 *
 * @param folder of the package in the catalog, which may not be there yet
 * @throws PipelineError `usage` when the package is in other files, which the rendered one would repeat
 */
async function knownBundles(
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
  const byImage = new Map(bundles.map((bundle) => [bundle.image, bundle]));
  return { byImage, csv: csvShownBy(packages[0]), migrates: migratesOf(catalog, bundles) };
}

const NOTHING: Pick<Blobs, 'bundles' | 'packages' | 'channels'> = { bundles: [], packages: [], channels: [] };

/** Catalogs do not hold a bundle's icon; the package has that of its head. */
function csvShownBy(shown: PackageBlob | undefined): RenderedImage['csv'] {
  const { description, icon } = isObject(shown?.value) ? shown.value : {};
  return { spec: { description, ...(isObject(icon) ? { icon: [icon] } : {}) } };
}

const METADATA = 'olm.csv.metadata';
const MANIFEST = 'olm.bundle.object';

/** Whether a catalog has metadata: it goes on as it is; a new one follows OpenShift, whose catalogs have it from 4.17 on. */
function migratesOf(catalog: string, bundles: readonly Bundle[]): boolean {
  const holds = (wanted: string): boolean =>
    bundles.some(({ properties }) => properties.some(({ type }) => type === wanted));
  if (holds(METADATA)) return true;
  if (holds(MANIFEST)) return false;
  const platform = minorOfCatalog(catalog);
  return platform !== undefined && compareMinors(platform, { major: 4, minor: 17 }) >= 0;
}

/** A bundle in the form that a catalog has; undefined when that cannot be made of it. */
function bundleInForm(bundle: Bundle, { migrates }: Pick<KnownBundles, 'migrates'>): Bundle | undefined {
  const hasMetadata = bundle.properties.some(({ type }) => type === METADATA);
  if (migrates) {
    const { bundles, findings } = migrateBundles([bundle]);
    return findings.length === 0 ? bundles[0] : undefined;
  }
  // Manifests do not come back out of metadata.
  return hasMetadata ? undefined : bundle;
}
