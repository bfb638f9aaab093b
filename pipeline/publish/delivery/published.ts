/** A publish told to those who are not asked: subscribers, and the service that holds the repository. */
import { PipelineError } from '../../error.ts';
import { prefixOf } from '../documents.ts';
import { fenceName } from '../fence.ts';
import type { PublishReceipt } from '../receipt.ts';
import type { DeliveryPorts } from './ports.ts';

/** Prefix of the keys of a publish's documents. */
export function documentsOf(of: Pick<PublishReceipt, 'catalog' | 'image' | 'commit' | 'digest'>): string {
  return prefixOf(fenceName(of.catalog, of.image), of);
}

/** @throws PipelineError where telling it again may help */
export async function tellPublished(
  { announce, deployed, linkTo, log }: DeliveryPorts,
  repository: string,
  receipt: PublishReceipt,
): Promise<void> {
  const { catalog, commit, image, digest } = receipt;
  const documents = documentsOf(receipt);
  await announce?.({ repository, catalog, commit, image, digest, documents });
  try {
    await deployed?.({ repository, receipt, link: linkTo?.(documents) });
  } catch (error) {
    // The App may lack the right to: what was published stands all the same.
    if (!(error instanceof PipelineError) || error.retryable) throw error;
    log(`the deployment of ${catalog} cannot be noted: ${error.message}`);
  }
}
