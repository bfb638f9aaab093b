/** Catalogs that an earlier push published, and that the branch or its policy has no more. */

import { PipelineError } from '../error.ts';
import { fetchCommits, hasCommit } from '../git/fetch-commits.ts';
import { isAncestor } from '../git/merge.ts';
import type { Repository } from '../git/repository.ts';
import { formatLocation, oneSpelling } from '../oci/registry/image-location.ts';
import type { Policy } from '../policy/policy.ts';
import { policyAt } from '../policy/read-policy.ts';
import type { Registry } from '../ports.ts';
import { fenceName } from '../publish/fence.ts';
import type { GitFence } from '../publish/fence-git.ts';
import type { LeaseOptions } from '../publish/fence-lease.ts';
import { publishedCatalogs } from '../publish/published-catalogs.ts';
import { goesBeyond, retireAt } from '../publish/retire.ts';
import { endRing } from '../publish/rings/acts.ts';
import { ringsName, textRings } from '../publish/rings/store.ts';
import { placesOf, publishedPlaces, takenPlaces, targetIn } from '../publish/target.ts';
import { matchesGlob } from '../text.ts';

/** What retiring and moving rings need: where images and claims are, and the commit that was pushed. */
export interface PublishedPush {
  readonly repository: Repository;
  readonly registry: Registry;
  readonly fence: Pick<
    GitFence,
    'names' | 'branches' | 'read' | 'replace' | 'readLease' | 'replaceLease' | 'readText' | 'replaceText'
  >;
  readonly lease?: LeaseOptions | undefined;
  /** The branch that was pushed to. */
  readonly branch: string;
  /** Id of the commit that was pushed, and its policy. */
  readonly commit: string;
  readonly policy: Policy;
  /** Catalogs that the commit publishes. */
  readonly catalogs: readonly string[];
  readonly log: (line: string) => void;
}

/**
 * Retires what the fence has claims for and the commit has no more. A commit that is not the tip of its branch any more
 * retires nothing: a newer one may have the catalog again. Left alone are claims of other branches, catalogs that another
 * branch still publishes, since a claim does not say whose it is, and catalogs whose names are not ref names.
 *
 * @returns the catalogs that were retired; not those that are only no longer published to one of their places
 */
export async function retireGone(retirements: PublishedPush): Promise<string[]> {
  const { fence, branch, commit, policy, catalogs, log } = retirements;
  const there = new Set(catalogs);
  const places = placesIn(policy, catalogs);
  const retired: string[] = [];
  for (const name of await fence.names()) {
    // A fence's name is CATALOG/PLACE, the place as a digest.
    const [catalog = ''] = name.split('/');
    // The policy publishes it, but not to a valid place, so this one may still be meant.
    if (places.has(name) || (there.has(catalog) && !targetIn(policy, catalog))) continue;
    try {
      const standing = await fence.read(name);
      // Retired before, as far as the policy wants it.
      if (!standing || !goesBeyond(policy.publish.retired, standing.retired)) continue;
      if (!(await isOnBranch(retirements.repository, standing.commit, commit))) continue;
      // Read each time: somebody may push meanwhile.
      const tips = await fence.branches();
      if (tips.get(branch) !== commit) return [...new Set(retired)];
      const other = await publisherAmong(retirements.repository, tips, { branch, catalog, name });
      if (other !== undefined) {
        log(`${catalog} is not retired: by its policy (branches), ${other} publishes it too`);
        continue;
      }
      const former = { catalog, last: standing.digest, before: standing.commit };
      const isRetired = await retireNamed(retirements, name, former);
      if (isRetired && !there.has(catalog)) retired.push(catalog);
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      log(`cannot retire ${catalog}: ${error.message}`);
    }
  }
  return [...new Set(retired)];
}

/** The names of the fences of all places that catalogs are published to. */
function placesIn(policy: Policy, catalogs: readonly string[]): Set<string> {
  const names = catalogs.flatMap((catalog) => {
    const target = targetIn(policy, catalog);
    return target ? placesOf(target).map((place) => fenceName(catalog, formatLocation(place))) : [];
  });
  return new Set(names);
}

/**
 * Catalogs that the policy publishes again after they were retired. Their last deployment is not what is published now.
 */
export async function returnedAmong(
  catalogs: readonly string[],
  { fence, policy }: Pick<PublishedPush, 'policy'> & { readonly fence: Pick<GitFence, 'names' | 'read'> },
): Promise<string[]> {
  const claimed = new Set(await fence.names());
  const returned: string[] = [];
  for (const catalog of catalogs) {
    const target = targetIn(policy, catalog);
    for (const place of target ? publishedPlaces(target) : []) {
      const name = fenceName(catalog, formatLocation(place));
      if (claimed.has(name) && (await fence.read(name))?.retired !== undefined) returned.push(catalog);
    }
  }
  return [...new Set(returned)];
}

/** Branches that are looked into at most: each may need a request. With more, nothing is retired. */
const MOST_BRANCHES = 200;

/** Another branch whose own policy publishes a catalog to a place from it; undefined when there is none. */
async function publisherAmong(
  repository: Repository,
  tips: ReadonlyMap<string, string>,
  { branch, catalog, name: fence }: Record<'branch' | 'catalog' | 'name', string>,
): Promise<string | undefined> {
  const others = [...tips].filter(([name]) => name !== branch);
  if (others.length > MOST_BRANCHES)
    throw new PipelineError(
      'too-large',
      `whether one of ${others.length} other branches publishes it is not known`,
    );
  await fetchCommits(repository, new Set(others.map(([, tip]) => tip)));
  for (const [name, tip] of others) {
    // A branch that cannot be read may publish it.
    if (!(await hasCommit(repository, tip))) return name;
    const { policy } = await policyAt(repository.objects, tip);
    if (!policy?.branches.some((pattern) => matchesGlob(pattern, name))) continue;
    const isThere = (await publishedCatalogs(repository.objects, tip, policy)).includes(catalog);
    // A branch that publishes the catalog to another place does not use this one.
    if (isThere && (!targetIn(policy, catalog) || placesIn(policy, [catalog]).has(fence))) return name;
  }
  return undefined;
}

/** Whether a claimed commit is in the history of a branch's tip. A claim of another branch is not. */
async function isOnBranch(repository: Repository, claimed: string, tip: string): Promise<boolean> {
  await fetchCommits(repository, new Set([claimed]));
  return (await hasCommit(repository, claimed)) && isAncestor(repository, claimed, tip);
}

/**
 * Retires the place that a claim is for. A claim has only a digest of its place: the policy of the claimed commit, which
 * published it, tells the place itself.
 *
 * @returns whether it was retired
 */
async function retireNamed(
  { repository, registry, fence, lease, commit, policy, catalogs, log }: PublishedPush,
  name: string,
  { catalog, last, before }: { readonly catalog: string; readonly last: string; readonly before: string },
): Promise<boolean> {
  const { policy: former } = await policyAt(repository.objects, before);
  const target = former && targetIn(former, catalog);
  const place = target && placesOf(target).find((one) => fenceName(catalog, formatLocation(one)) === name);
  if (!target || !place) {
    const why = former ? 'names another place than it was published to' : 'cannot be read';
    log(`cannot retire ${catalog}: the policy of ${before.slice(0, 12)}, which published it, ${why}`);
    return false;
  }
  const written = formatLocation(place);
  // Another catalog may be published there now: its tag must not be deleted.
  const retired = takenPlaces(policy, catalogs).has(oneSpelling(written)) ? 'keep' : policy.publish.retired;
  const claim = await retireAt(
    { fence, lease, registry, isAncestor: (older, newer) => isAncestor(repository, older, newer) },
    { catalog, place, commit, last, retired, attest: target.attest, beside: [] },
  );
  if (claim?.retired === undefined) return false;
  await endRing(textRings(fence, catalog, ringsName(catalog, { to: place })), written);
  log(`${catalog} is no longer published to ${written} (retired: ${claim.retired})`);
  return true;
}
