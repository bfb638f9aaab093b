/** The page of one publish: what was published, and where every version of the catalog really goes next. */

import { DEFAULT_LIMITS, type LoadLimits, load } from '../../catalog/fbc/load.ts';
import { type Blob, type Bundle, catalogOf, type PackageBlob } from '../../catalog/fbc/model.ts';
import { NO_DOCUMENT } from '../../catalog/fbc/visit.ts';
import type { Finding } from '../../catalog/finding.ts';
import { worldOf } from '../../catalog/olm/foresight/world.ts';
import { graphDocument } from '../../catalog/olm/graph/graph-document.ts';
import type { CatalogSource } from '../../catalog/source.ts';
import { pageText } from '../report/page/page.ts';
import type { PublishReceipt } from './receipt.ts';

/** The page's file. */
export const PAGE = 'page.html';

/** The type of the artifact that holds the page, about the index image. */
export const PAGE_TYPE = 'application/vnd.dev.portolan.page.v1';

export interface PageRequest {
  readonly receipt: PublishReceipt;
  /** What is worth knowing of the catalog. */
  readonly findings: readonly Finding[];
  readonly limits?: LoadLimits;
}

/** The page as HTML. Of the catalog no more is kept than graphs need, whatever its size. */
export async function publishPage(source: CatalogSource, request: PageRequest): Promise<string> {
  const { receipt, findings, limits = DEFAULT_LIMITS } = request;
  const { blobs } = await load(source, limits, {
    package: slimPackage,
    channel: slim,
    deprecations: slim,
    bundle: slimBundle,
    other: slim,
  });
  const world = await worldOf({ name: receipt.catalog, catalog: catalogOf({ ...blobs, others: [] }) });
  const { catalog, commit, image, digest, packages, platforms } = receipt;
  return pageText({
    title: `${catalog} at ${commit.slice(0, 12)}`,
    headline: `${packages} packages for ${platforms.join(', ')}`,
    asked: [`image ${image}`, `digest ${digest}`, `commit ${commit}`],
    summary: [],
    findings,
    graph: graphDocument([world]),
  });
}

/** The same blob without its text, and without a tie to its file's: part of a text keeps all of it in memory. */
function slim<T extends Blob>(blob: T): T {
  const { document: _document, ...rest } = blob;
  return { ...structuredClone({ ...rest, value: {} }), document: NO_DOCUMENT } as unknown as T;
}

function slimPackage(blob: PackageBlob): PackageBlob {
  const { icon: _icon, ...rest } = blob;
  return slim({ ...rest, description: '' });
}

/** Manifests, which no resolver looks at. */
const MANIFESTS: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata']);

function slimBundle(bundle: Bundle): Bundle {
  const properties = bundle.properties.filter(({ type }) => !MANIFESTS.has(type));
  return slim({ ...bundle, properties, relatedImages: [] });
}
