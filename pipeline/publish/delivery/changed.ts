/** The catalogs of a commit beside what is published of them. */
import { compareText } from '../../../catalog/go/text.ts';
import { sharedPlaces } from '../../change/shared-places.ts';
import { catalogUnits } from '../../change/unit.ts';
import { PipelineError } from '../../error.ts';
import { hasCommit } from '../../git/fetch-commits.ts';
import { isAncestor } from '../../git/merge.ts';
import type { Repository } from '../../git/repository.ts';
import { entryAt } from '../../git/tree.ts';
import type { Policy } from '../../policy/policy.ts';
import { POLICY_PATH } from '../../policy/read-policy.ts';
import { matchesGlob } from '../../text.ts';
import { PUBLISHED } from '../documents.ts';
import { fenceName } from '../fence.ts';
import { type PublishTarget, targetIn } from '../target.ts';
import { lastWord, type Outcome } from './outcome.ts';
import type { DeliveryPorts } from './ports.ts';

export interface CatalogAt {
  readonly catalog: string;
  /** Undefined where the policy names no place of its own: why is said when it is published. */
  readonly at: FencedTarget | undefined;
  /**
   * Whether its content, or the policy, is not that of the claimed commit, which is not a newer one; or whether the
   * last that was reported of the branch is that it waits, was refused or failed.
   */
  readonly isChanged: boolean;
  /** Why it is not known what is published of it: its own message meets that too, and nobody else's does. */
  readonly readError?: PipelineError;
}

export interface FencedTarget {
  readonly target: PublishTarget;
  /** Name of the fence. */
  readonly name: string;
}

/** The newest commit of a branch, with its policy. */
export interface BranchTip {
  /** `owner/name`. */
  readonly name: string;
  /** Id of a commit. */
  readonly tip: string;
  readonly policy: Policy;
}

/** Without records, as where only a git repository keeps the claims, these alone say what is published. */
type StandingPorts = Pick<DeliveryPorts, 'fence'> & {
  readonly records?: DeliveryPorts['records'] | undefined;
};

/** The catalogs that the policy of a commit publishes, each with its place and whether it must be published. */
export async function catalogsAt(
  repository: Repository,
  { name, tip, policy }: BranchTip,
  { fence, records }: StandingPorts,
): Promise<CatalogAt[]> {
  const found: CatalogAt[] = [];
  const shared = await sharedPlaces(repository.objects, tip, policy);
  // What is wrong with a place that two catalogs share is said when they are published.
  const sharingPlace = new Set(shared.flatMap(({ catalogs = [] }) => catalogs));
  for (const [catalog, content] of await contentsAt(repository, tip, policy)) {
    const at = sharingPlace.has(catalog) ? undefined : fencedTarget(policy, catalog);
    if (!at) {
      found.push({ catalog, at, isChanged: true });
      continue;
    }
    const contentAt = { catalog, content, at, branch: { name, tip, policy } };
    try {
      found.push({ catalog, at, isChanged: await hasChanged(repository, contentAt, { fence, records }) });
    } catch (error) {
      // What may go away by itself is of all catalogs; what does not is of this one.
      if (!(error instanceof PipelineError) || error.retryable) throw error;
      found.push({ catalog, at, isChanged: true, readError: error });
    }
  }
  return found;
}

interface ContentAt {
  readonly catalog: string;
  readonly content: string;
  readonly at: FencedTarget;
  readonly branch: BranchTip;
}

/**
 * Whether a catalog must be published: its content is not what the claim's commit has, or its last publish did not end.
 */
async function hasChanged(
  repository: Repository,
  { catalog, content, at, branch: { name, tip, policy } }: ContentAt,
  { fence, records }: StandingPorts,
): Promise<boolean> {
  const standing = await fence.read(at.name);
  // A newer commit was published.
  if (standing && (await isBehind(repository, tip, standing.commit))) return false;
  // A catalog that is claimed, but has no record, is published again: that writes the record.
  const isThere = standing && (!records || (await records.get(`${PUBLISHED}${at.name}`)) !== undefined);
  const before = isThere ? await contentsBefore(repository, standing.commit, policy) : undefined;
  if (before?.get(catalog) !== content) return true;
  if (!records) return false;
  return isUnsettled(repository, tip, await lastWord(records, { repository: name, catalog }));
}

/** Where a policy publishes a catalog, with its fence; undefined if the policy names no place that can be read. */
function fencedTarget(policy: Policy, catalog: string): FencedTarget | undefined {
  const target = targetIn(policy, catalog);
  return target && { target, name: fenceName(catalog, target.name) };
}

/**
 * Whether a commit is older than the claimed one. A claimed commit that this clone lacks is fetched; if the remote lacks it,
 * too, it is gone with a rewritten history. Then the commit counts as a change, and its publish asks the fence.
 */
async function isBehind(repository: Repository, commit: string, claimed: string): Promise<boolean> {
  if (commit === claimed || !(await hasCommit(repository, claimed))) return false;
  return isAncestor(repository, commit, claimed);
}

/**
 * Whether the last report about this branch is that a publish waits, was refused or failed. A report about another branch
 * says nothing.
 */
async function isUnsettled(
  repository: Repository,
  tip: string,
  last: Outcome | 'unreadable' | undefined,
): Promise<boolean> {
  // Published again it can be read.
  if (last === 'unreadable') return true;
  // A commit that is gone was on a history that was rewritten; one that is not an ancestor is of another branch.
  if (
    !last ||
    last.state === 'published' ||
    last.state === 'retired' ||
    !(await hasCommit(repository, last.commit))
  )
    return false;
  return isAncestor(repository, last.commit, tip);
}

/** What the catalogs of an earlier commit depend on, under the layout of the newer policy. */
async function contentsBefore(
  repository: Repository,
  commit: string,
  policy: Policy,
): Promise<ReadonlyMap<string, string> | undefined> {
  // Gone with a history that was rewritten.
  if (!(await hasCommit(repository, commit))) return undefined;
  return contentsAt(repository, commit, policy);
}

/** For each catalog, what its image depends on: ids of its parts in the tree, and of the policy. */
async function contentsAt(
  repository: Repository,
  commit: string,
  policy: Policy,
): Promise<Map<string, string>> {
  const policyFile = await entryAt(repository.objects, commit, POLICY_PATH);
  const contents = new Map<string, string>();
  const units = [...(await catalogUnits(repository.objects, commit, policy.layout)).values()];
  for (const { catalog, path, id } of units.sort((a, b) => compareText(a.path, b.path))) {
    if (!policy.publish.catalogs.some(({ pattern }) => matchesGlob(pattern, catalog))) continue;
    // Each begins with the policy, which also decides what the image is.
    contents.set(catalog, `${contents.get(catalog) ?? policyFile?.id ?? ''}\n${path} ${id}`);
  }
  return contents;
}
