/**
 * Bundles that have arrived on a branch are released before its catalogs are published. How far that went is a record of
 * the branch; a catalog that names a bundle beyond it waits.
 */
import { parsedJson } from '../../../catalog/json.ts';
import { formatReference } from '../../../catalog/reference.ts';
import {
  addedBundles,
  type BundleName,
  builtBundle,
  bundlesIn,
  bundleTag,
  folderOf,
} from '../../catalogs/release/bundle-image.ts';
import { treeRepository } from '../../catalogs/release/release-repository.ts';
import { PipelineError } from '../../error.ts';
import { hasCommit, isOn } from '../../git/fetch-commits.ts';
import type { Repository } from '../../git/repository.ts';
import type { Policy } from '../../policy/policy.ts';
import { policyAt } from '../../policy/read-policy.ts';
import type { StoredRecord } from '../../ports.ts';
import { amountText } from '../../text.ts';
import type { PublishedFrom } from '../documents.ts';
import { heldBackBy, missingReference } from '../published-catalogs.ts';
import { type BundlesMessage, messageOf } from './message.ts';
import { reportBundles } from './outcome.ts';
import { type Arrived, type DeliveryPorts, onBranch, type ReleasedUpTo } from './ports.ts';

/** A commit of a branch, with its policy. */
interface BundlesAt {
  readonly repository: Repository;
  readonly from: PublishedFrom;
  readonly commit: string;
  readonly policy: Policy;
}

/** What the record of released bundles needs; without a releaser, nobody writes one. */
type NotePorts = Pick<DeliveryPorts, 'records' | 'releaserOf'>;

/** Where it is recorded how far bundles were released. */
function keyOf({ repository, branch }: PublishedFrom): string {
  return `bundles/${repository}/${encodeURIComponent(branch)}`;
}

/**
 * Releases what has arrived at a commit; what is known to be released is not looked at again.
 *
 * @param before the commit that the branch was moved from, where nothing was ever released
 * @throws PipelineError as {@link DeliveryPorts.releaserOf}
 */
async function releaseAt(
  { repository, from, commit, policy }: BundlesAt,
  before: string | undefined,
  ports: DeliveryPorts,
): Promise<void> {
  const releaser = policy.release && ports.releaserOf?.(from);
  if (!releaser) return;
  const stored = await ports.records.get(keyOf(from));
  const releasedUpTo = releasedUpToIn(stored);
  if (releasedUpTo && (await isOn(repository, commit, releasedUpTo.commit))) return;
  // Without a record of this branch, a job of the repository may have released bundles before.
  const since = await firstReachable(repository, [
    releasedUpTo ?? (await releaser.earlier()),
    before === undefined ? undefined : { commit: before, refused: [], missing: [] },
  ]);
  const arrived: Arrived = since
    ? await releaser.release({ repository, branch: from.branch, commit, since, policy })
    : // Nobody knows what is new: what comes from now on is.
      { commit, refused: [], missing: [], released: [], why: undefined };
  // Before it is recorded: after that nobody comes back to it.
  await reportArrived(arrived, { repository: from.repository, commit }, ports);
  const { refused, missing } = arrived;
  const bytes = new TextEncoder().encode(`${JSON.stringify({ commit, refused, missing })}\n`);
  if (await ports.records.replace(keyOf(from), bytes, stored?.version)) return;
  throw new PipelineError('conflict', 'somebody else released bundles meanwhile', { retryable: true });
}

/**
 * Releases the bundles of a commit. If that fails, it is queued to be tried again: catalogs that do not need these
 * bundles must not wait for them.
 */
export async function releaseOrQueue(
  at: BundlesAt,
  before: string | undefined,
  ports: DeliveryPorts,
): Promise<void> {
  try {
    await releaseAt(at, before, ports);
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    ports.log(`bundles of ${at.commit} are not released yet: ${error.message}`);
    const message = bundlesMessage(at.from, at.commit);
    await ports.queue.send(messageOf(before === undefined ? message : { ...message, before }));
  }
}

/** The message that the bundles of a commit are to be released. */
export function bundlesMessage({ repository, branch }: PublishedFrom, commit: string): BundlesMessage {
  return { v: 1, kind: 'bundles', repository, branch, commit };
}

/** Handles the message that the bundles of a commit must be released. @throws PipelineError as {@link releaseAt} */
export async function handleBundles(message: BundlesMessage, ports: DeliveryPorts): Promise<void> {
  const { commit, before, repository: name, branch } = message;
  return onBranch(ports, message, async ({ repository, tip }) => {
    // A rewritten branch no longer has the commit; the push of its new tip sends a message of its own.
    if (!(await isOn(repository, commit, tip))) return;
    const { policy } = await policyAt(repository.objects, commit);
    const from = { repository: name, branch };
    if (policy) await releaseAt({ repository, from, commit, policy }, before, ports);
  });
}

/** Whether bundles of a commit are still to be released, as far as a job does not do it. */
export async function awaitsRelease(
  { repository, from, commit, policy }: BundlesAt,
  { records, releaserOf }: NotePorts,
): Promise<boolean> {
  if (!policy.release || !releaserOf?.(from)) return false;
  const releasedUpTo = releasedUpToIn(await records.get(keyOf(from)));
  return !releasedUpTo || !(await isOn(repository, commit, releasedUpTo.commit));
}

/**
 * Why a catalog is not to be published: it names a bundle that was refused.
 *
 * @throws PipelineError `not-found`, retryable, for a bundle that is still to be released
 */
export async function whyHeldBack(
  { repository, from, commit, policy }: BundlesAt,
  name: string,
  { records, releaserOf }: NotePorts,
): Promise<string | undefined> {
  const { release } = policy;
  if (!release || !releaserOf?.(from)) return undefined;
  const { objects } = repository;
  const releasedUpTo = releasedUpToIn(await records.get(keyOf(from)));
  if (!releasedUpTo || !(await hasCommit(repository, releasedUpTo.commit)))
    throw waitingError('bundles of the branch are not released yet');
  const catalog = { objects, commit, policy, name };
  const refusedReference = await missingReference(catalog, new Set(releasedUpTo.missing));
  if (await isOn(repository, commit, releasedUpTo.commit))
    return refusedReference === undefined ? undefined : heldBackBy(refusedReference);
  // Bundles behind the recorded commit, and refused ones that changed, may still be released: then the catalog waits.
  const newBundles = await addedBundles(objects, { before: releasedUpTo.commit, after: commit }, policy);
  const refusedBundles = await bundlesIn(objects, commit, releasedUpTo.refused);
  const references = await referencesOf({ repository, commit, bundles: release.bundles }, [
    ...refusedBundles,
    ...newBundles,
  ]);
  const reference = refusedReference ?? (await missingReference(catalog, references));
  if (reference !== undefined) throw waitingError(`${reference} is not released yet`);
  return undefined;
}

/** The error for what is not there yet: the queue delivers its message again. */
function waitingError(why: string): PipelineError {
  return new PipelineError('not-found', why, { retryable: true });
}

/**
 * How catalogs may name bundles of a commit: by tag, and by the digest of the image that the bundle's folder
 * makes.
 */
async function referencesOf(
  { repository, commit, bundles }: Pick<BundlesAt, 'repository' | 'commit'> & { readonly bundles: string },
  names: readonly BundleName[],
): Promise<Set<string>> {
  const references = new Set<string>();
  for (const bundle of names) {
    references.add(formatReference(bundleTag(bundles, bundle)));
    const source = await treeRepository(repository.objects, commit).folder(folderOf(bundle));
    try {
      if (source) references.add((await builtBundle(bundles, bundle, source)).reference);
    } catch (error) {
      // Of what is not a bundle there is no digest.
      if (!(error instanceof PipelineError) || error.retryable) throw error;
    }
  }
  return references;
}

/**
 * The first whose commit is in the repository: after its history was rewritten, an earlier record may name
 * none that is.
 */
async function firstReachable(
  repository: Repository,
  all: readonly (ReleasedUpTo | undefined)[],
): Promise<ReleasedUpTo | undefined> {
  for (const one of all) if (one && (await hasCommit(repository, one.commit))) return one;
  return undefined;
}

/** How far bundles were released, by a record; undefined without one, and for one that cannot be read. */
function releasedUpToIn(stored: StoredRecord | undefined): ReleasedUpTo | undefined {
  return stored && (parsedJson(stored.bytes) as ReleasedUpTo | undefined);
}

/** Reports the bundles of a commit: released, or why not. */
async function reportArrived(
  { released, refused, why }: Arrived,
  subject: { readonly repository: string; readonly commit: string },
  ports: DeliveryPorts,
): Promise<void> {
  for (const { package: name, version } of released) ports.log(`released ${name} ${version}`);
  if (why !== undefined)
    return reportBundles(ports, subject, {
      state: 'failure',
      text: `${amountText(refused.length, 'bundle')} not released: ${why}`,
    });
  if (released.length === 0) return;
  const names = released.map(({ package: name, version }) => `${name} ${version}`).join(', ');
  await reportBundles(ports, subject, { state: 'success', text: `released ${names}` });
}
