/** A fence that cannot be read is written anew: with what the image behind its tag says, or not at all. */
import { PipelineError } from '../../pipeline/error.ts';
import { isAncestor } from '../../pipeline/git/merge.ts';
import type { Repository } from '../../pipeline/git/repository.ts';
import { formatLocation, type ImageLocation } from '../../pipeline/oci/registry/image-location.ts';
import { openDestination } from '../../pipeline/oci/registry/open.ts';
import { policyAt } from '../../pipeline/policy/read-policy.ts';
import { RULE_IDS } from '../../pipeline/policy/rule-ids.ts';
import type { Claim, Fence, RecordStore } from '../../pipeline/ports.ts';
import type { CatalogMessage } from '../../pipeline/publish/delivery/message.ts';
import type { DeliveryPorts } from '../../pipeline/publish/delivery/ports.ts';
import { fenceName } from '../../pipeline/publish/fence.ts';
import { claimText } from '../../pipeline/publish/fence-records.ts';
import { learnFromImage } from '../../pipeline/publish/published-commit.ts';
import { placesOf, targetOf } from '../../pipeline/publish/target.ts';
import type { Source } from '../receive.ts';

export interface ResetStore extends Pick<RecordStore, 'get' | 'replace'> {
  /** Removes a record that nobody has written over since. @returns false where somebody has */
  remove(key: string, version: string): Promise<boolean>;
}

/**
 * @param store the fences' own records
 * @returns a message for the catalog's newest commit, and a line about each place
 * @throws PipelineError `not-found` for a repository or catalog that is not published from here, `conflict` where somebody
 *   else was first
 */
export async function resetFence(
  sources: readonly Source[],
  { repository: name, catalog }: Pick<CatalogMessage, 'repository' | 'catalog'>,
  ports: DeliveryPorts,
  store: ResetStore,
): Promise<{ readonly message: CatalogMessage; readonly lines: readonly string[] }> {
  const source = sources.find(({ repository }) => repository === name);
  if (!source) throw new PipelineError('not-found', `${name} is not published from here`);
  const { branch } = source;
  const { repository, tip, close } = await ports.open({ repository: name, branch });
  try {
    const { policy, findings } = await policyAt(repository.objects, tip, RULE_IDS);
    if (!policy) throw new PipelineError('usage', `the policy is not valid: ${findings[0]?.message}`);
    const lines: string[] = [];
    for (const to of placesOf(targetOf(policy, catalog, {}))) {
      const place = formatLocation(to);
      const at = { name: fenceName(catalog, place), place, to };
      lines.push(`${place}: ${await resetOne(at, { repository, ports, store })}`);
    }
    const message: CatalogMessage = {
      ...{ v: 1, kind: 'catalog', repository: name, branch, commit: tip, catalog, again: true },
    };
    return { message, lines };
  } finally {
    await close();
  }
}

interface Resetting {
  readonly repository: Repository;
  readonly ports: Pick<DeliveryPorts, 'fence' | 'registry'>;
  readonly store: ResetStore;
}

async function resetOne(
  { name, place, to }: { readonly name: string; readonly place: string; readonly to: ImageLocation },
  { repository, ports, store }: Resetting,
): Promise<string> {
  const key = `fence/${name}`;
  const stored = await store.get(key);
  if (!stored) return 'there is no fence yet';
  if (await isReadable(ports.fence, name)) return 'the fence can be read: it stays';
  const claims: Claim[] = [];
  const blank: Fence = {
    ...ports.fence,
    read: async () => undefined,
    replace: async (_, claim) => {
      claims.push(claim);
      return undefined;
    },
  };
  const { registry, reference: tag } = await openDestination(to, ports.registry);
  const compare = (older: string, newer: string): Promise<boolean> => isAncestor(repository, older, newer);
  await learnFromImage(blank, name, { registry, tag, place, isAncestor: compare, takeOver: true });
  const [claim] = claims;
  const bytes = claim && new TextEncoder().encode(claimText({ ...claim, sequence: 1 }));
  const isOurs = await (bytes
    ? store.replace(key, bytes, stored.version)
    : store.remove(key, stored.version));
  if (!isOurs) throw new PipelineError('conflict', `somebody else has written ${key}`, { retryable: true });
  return claim
    ? `the fence names ${claim.commit} again, as the image does`
    : 'the fence is empty: the image does not say its commit';
}

async function isReadable(fence: Fence, name: string): Promise<boolean> {
  try {
    await fence.read(name);
    return true;
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'corrupt') return false;
    throw error;
  }
}
