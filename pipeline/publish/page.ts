/** The page of one publish: what was published, and the upgrades that OLM chooses for every version. */

import { DEFAULT_LIMITS, type LoadLimits, load, NO_DOCUMENT } from '../../catalog/fbc/load.ts';
import { type Blob, type Bundle, catalogOf, type PackageBlob } from '../../catalog/fbc/model.ts';
import type { Finding } from '../../catalog/finding.ts';
import { type World, worldOf } from '../../catalog/olm/foresight/world.ts';
import { graphDocument } from '../../catalog/olm/graph/graph-document.ts';
import type { CatalogSource } from '../../catalog/source.ts';
import { pageText } from '../report/page/page.ts';
import { amountText } from '../text.ts';
import type { PublishReceipt } from './receipt.ts';

/** The page's file. */
export const PAGE = 'page.html';

/** The type of the artifact that holds the page, about the index image. */
export const PAGE_TYPE = 'application/vnd.dev.portolan.page.v1';

interface PageRequest {
  readonly receipt: PublishReceipt;
  /** Findings of the catalog's check. */
  readonly findings: readonly Finding[];
  readonly limits?: LoadLimits;
}

/** The page of a publish as HTML. It keeps only what upgrade graphs need, however large the catalog is. */
export async function publicationPage(source: CatalogSource, request: PageRequest): Promise<string> {
  const { receipt, findings, limits = DEFAULT_LIMITS } = request;
  const world = await pageWorld(receipt.catalog, source, limits);
  const { catalog, commit, image, digest, packages, platforms } = receipt;
  return pageText({
    title: `${catalog} at ${commit.slice(0, 12)}`,
    headline: `${amountText(packages, 'package')} for ${platforms.join(', ')}`,
    asked: [`image ${image}`, `digest ${digest}`, `commit ${commit}`],
    summary: [],
    findings,
    graph: graphDocument([world]),
  });
}

/** A catalog as upgrade graphs need it. */
export async function pageWorld(
  name: string,
  source: CatalogSource,
  limits: LoadLimits = DEFAULT_LIMITS,
): Promise<World> {
  const { blobs } = await load(source, limits, {
    package: slimPackage,
    channel: slimBlob,
    deprecations: slimBlob,
    bundle: slimBundle,
    other: slimBlob,
  });
  return worldOf({ name, catalog: catalogOf({ ...blobs, others: [] }) });
}

/** A copy of a blob without its text: a part of a string would keep the whole file in memory. */
function slimBlob<T extends Blob>(blob: T): T {
  const { document: _document, ...rest } = blob;
  return { ...structuredClone({ ...rest, value: {} }), document: NO_DOCUMENT } as unknown as T;
}

/** A package without its icon and description: upgrade graphs show neither. */
function slimPackage(blob: PackageBlob): PackageBlob {
  const { icon: _icon, ...rest } = blob;
  return slimBlob({ ...rest, description: '' });
}

/** Manifests, which no resolver reads. */
const MANIFESTS: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata']);

/** A bundle without what no resolver reads: its manifests, and the list of its images. */
function slimBundle(bundle: Bundle): Bundle {
  const properties = bundle.properties.filter(({ type }) => !MANIFESTS.has(type));
  return slimBlob({ ...bundle, properties, relatedImages: [] });
}
