/** The mirror's documents for an index image that is being published. */
import { type DocumentOptions, EXTRACTED } from '../../catalog/mirror/documents/documents.ts';
import type { PlanFilesRequest } from '../../catalog/mirror/files.ts';
import type { CatalogSource } from '../../catalog/source.ts';
import { prepareMirror } from '../mirror/prepare.ts';
import type { PublishReceipt } from './receipt.ts';
import type { PublishTarget } from './target.ts';

/**
 * Plans the mirror of a published catalog.
 *
 * @returns what the plan's files are made of; undefined when nothing is mirrored
 * @throws PipelineError `usage` for a mirror that cannot be named so
 */
export async function mirrorFiles(
  source: CatalogSource,
  { mirrorTo, reference }: PublishTarget,
  { digest, base }: PublishReceipt,
): Promise<PlanFilesRequest | undefined> {
  if (mirrorTo === undefined || reference === undefined) return undefined;
  // Without a base the image has no server: the cluster's own opm reads the catalog out of it.
  const extractContent = base === undefined ? EXTRACTED : undefined;
  const documents: DocumentOptions = { catalogSource: extractContent ? { extractContent } : {} };
  const outcome = await prepareMirror({
    catalogs: [{ source, reference, digest }],
    to: mirrorTo,
    documents,
  });
  return { ...outcome, options: documents };
}
