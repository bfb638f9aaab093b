/**
 * Heals: what is published is compared with the branch and with what is claimed. Tags and records that
 * do not follow their claim are moved; catalogs that differ from the branch, and images that are
 * gone, are to be published.
 */

import { PipelineError } from '../../error.ts';
import { isOn } from '../../git/fetch-commits.ts';
import { openDestination } from '../../oci/registry/open.ts';
import { readablePolicyAt } from '../../policy/read-policy.ts';
import { followingRecord } from '../documents.ts';
import { fenceName, moveFollowers } from '../fence.ts';
import { followingTag } from '../fence-tag.ts';
import { awaitsRelease, bundlesMessage } from './bundles.ts';
import { catalogsAt, type FencedTarget } from './changed.ts';
import type { BundlesMessage, CatalogMessage, RetireMessage, RingsMessage } from './message.ts';
import { type DeliveryPorts, onBranch } from './ports.ts';
import { retiredFrom, retireMessage } from './retire.ts';
import { ringMessages } from './rings.ts';

interface ReconcileRequest {
  readonly repository: string;
  readonly branch: string;
}

export interface Reconciled {
  /** Catalogs whose tag or record was moved. */
  readonly healed: readonly string[];
  /** Catalogs that could not be looked at; why stands in the log. */
  readonly failed: readonly string[];
  /** What is to be published. */
  readonly messages: readonly (BundlesMessage | CatalogMessage | RetireMessage | RingsMessage)[];
}

/**
 * Compares what is published with the branch, repairs tags and records, and queues what must be published.
 *
 * @throws PipelineError `usage` if the branch's policy cannot be used, and what its ports throw for all catalogs
 */
export async function reconcileBranch(request: ReconcileRequest, ports: DeliveryPorts): Promise<Reconciled> {
  return onBranch(ports, request, async ({ repository, tip }) => {
    const policy = await readablePolicyAt(repository.objects, tip);
    const healed: string[] = [];
    const failed: string[] = [];
    const messages: (BundlesMessage | CatalogMessage | RetireMessage | RingsMessage)[] = [];
    const bundles = { repository, from: request, commit: tip, policy };
    // No push announced it, or nobody could do it then.
    if (await awaitsRelease(bundles, ports)) messages.push(bundlesMessage(request, tip));
    const all = await catalogsAt(repository, { name: request.repository, tip, policy }, ports);
    for (const { catalog, at, isChanged, readError } of all) {
      try {
        if (readError) throw readError;
        const { moved = false, lost } = at ? await heal(catalog, { ...at, from: request }, ports) : {};
        const isMoved = at !== undefined && (await healRings(catalog, { ...at, from: request }, ports));
        if (moved || isMoved) healed.push(catalog);
        if (!isChanged && lost === undefined) continue;
        const { repository: name, branch } = request;
        // The newest commit goes before it all the same; where that one is refused, this one is built again.
        const commit = lost !== undefined && (await isOn(repository, lost, tip)) ? lost : tip;
        // What was published once is not a reason to leave it: it is not what is claimed, or not there, any more.
        messages.push({ v: 1, kind: 'catalog', repository: name, branch, commit, catalog, again: true });
      } catch (error) {
        if (!(error instanceof PipelineError)) throw error;
        failed.push(catalog);
        // All of them have failed: it is not about one catalog, and may go away.
        if (failed.length === all.length && error.retryable) throw error;
        ports.log(`cannot reconcile ${catalog} of ${request.repository}: ${error.message}`);
      }
    }
    const rest = all.filter(({ catalog }) => !failed.includes(catalog));
    messages.push(...(await ringMessages(request, rest, ports)));
    const here = { name: request.repository, branch: request.branch, tip };
    const gone = await retiredFrom(repository, { ...here, policy }, { all, records: ports.records });
    for (const current of gone) messages.push(retireMessage(here, current));
    return { healed, failed, messages };
  });
}

interface Healed {
  /** Whether the tag or the record was moved. */
  readonly moved?: boolean;
  /** The claimed commit, when its image is not in its registry any more. */
  readonly lost?: string;
}

/**
 * Moves the rings behind the first one to what their fences claim. An image that is gone comes back with the next commit.
 *
 * @returns whether one was moved
 */
async function healRings(
  catalog: string,
  { target, from }: HealedTarget,
  ports: DeliveryPorts,
): Promise<boolean> {
  let isMoved = false;
  for (const { name, place } of target.rings.slice(1)) {
    const at = { target: { to: place, name }, name: fenceName(catalog, name), from };
    const { moved = false, lost } = await heal(catalog, at, ports);
    if (lost !== undefined) ports.log(`the image of ${lost} for ${name} no longer exists`);
    isMoved ||= moved;
  }
  return isMoved;
}

type HealedTarget = FencedTarget & { readonly from: ReconcileRequest };

/**
 * Moves the tag and the record of a catalog to what its fence claims.
 *
 * @returns `lost` if the claimed image no longer exists
 */
async function heal(
  catalog: string,
  {
    target,
    name,
    from,
  }: Omit<HealedTarget, 'target'> & { readonly target: Pick<FencedTarget['target'], 'to' | 'name'> },
  { fence, records, registry, lease }: DeliveryPorts,
): Promise<Healed> {
  // Read now: a publish may have claimed a newer commit since all catalogs were looked at.
  const standing = await fence.read(name);
  // What is retired is at rest until it is published again.
  if (!standing || standing.retired !== undefined) return {};
  const { registry: at, reference } = await openDestination(target.to, registry);
  const followers = [
    followingTag(at, reference),
    followingRecord(records, { name, catalog, place: target.name, from }),
  ];
  try {
    return await moveFollowers({ fence, name, lease }, standing, followers);
  } catch (error) {
    // The image that is claimed is gone: only a new publish makes it again.
    if (error instanceof PipelineError && error.code === 'not-found') return { lost: standing.commit };
    throw error;
  }
}
