/** A branch whose history was rewritten on purpose: its catalogs are to be published again, in their next epoch. */
import { PipelineError } from '../pipeline/error.ts';
import { compareBranch } from '../pipeline/publish/delivery/compare.ts';
import type { CatalogMessage } from '../pipeline/publish/delivery/message.ts';
import type { DeliveryPorts } from '../pipeline/publish/delivery/ports.ts';
import { recordRings } from '../pipeline/publish/rings/store.ts';
import type { Source } from './receive.ts';

/**
 * Messages for the catalogs whose published commit the branch does not have any more; for others there is nothing to
 * raise.
 *
 * @param repository `owner/name` of one of the sources
 * @throws PipelineError `not-found` for a repository that is not published from here, `usage` where no catalog needs it
 */
export async function newEpochs(
  sources: readonly Source[],
  repository: string,
  ports: DeliveryPorts,
): Promise<readonly CatalogMessage[]> {
  const own = sources.filter((source) => source.repository === repository);
  if (own.length === 0) {
    const known = sources.map((source) => source.repository).join(', ');
    throw new PipelineError('not-found', `${repository} is not published from here`, {
      hint: `known: ${known}`,
    });
  }
  const messages: CatalogMessage[] = [];
  for (const { branch } of own) {
    const { tip: commit, close } = await ports.open({ repository, branch });
    // Only the tip is needed: `compareBranch` opens the branch itself.
    await close();
    const ringStore = (catalog: string, name: string) => recordRings(ports.records, catalog, name);
    for (const { catalog, tag, behind } of await compareBranch(
      { repository, branch },
      { ...ports, ringStore },
    )) {
      // Without an epoch, nothing was published; `behind` is known where the branch still has the published commit.
      if (tag?.epoch === undefined || behind !== undefined) continue;
      messages.push({ v: 1, kind: 'catalog', repository, branch, commit, catalog, epoch: tag.epoch + 1 });
    }
  }
  if (messages.length > 0) return messages;
  throw new PipelineError('usage', `no catalog of ${repository} needs a new epoch`, {
    hint: 'the branch has the published commit of each; see the role status',
  });
}
