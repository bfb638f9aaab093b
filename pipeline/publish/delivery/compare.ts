/** What a branch publishes, beside the branch itself, the fence and the registry: looked at now, for whoever operates it. */
import { PipelineError } from '../../error.ts';
import { readCommit } from '../../git/commit.ts';
import { hasCommit } from '../../git/fetch-commits.ts';
import type { Repository } from '../../git/repository.ts';
import type { ImageLocation } from '../../oci/registry/image-location.ts';
import { openDestination } from '../../oci/registry/open.ts';
import { readablePolicyAt } from '../../policy/read-policy.ts';
import type { StandingClaim } from '../../ports.ts';
import type { PublishedFrom } from '../documents.ts';
import { fenceName } from '../fence.ts';
import type { Hold } from '../rings/state.ts';
import { type RingStore, ringsName } from '../rings/store.ts';
import { type CatalogAt, catalogsAt, type FencedTarget } from './changed.ts';
import { type DeliveryPorts, onBranch } from './ports.ts';

/** A tag: what is recorded of it, and what the registry has. */
export interface TagStatus {
  /** The place, as it is written in the policy. */
  readonly image: string;
  readonly commit?: string;
  readonly epoch?: number;
  /** Digest of the image that was published last. */
  readonly digest?: string;
  /** Digest that the tag names; null where the tag does not exist. */
  readonly registry?: string | null;
}

export interface CatalogStatus extends PublishedFrom {
  readonly catalog: string;
  /** The tag that a publish moves; undefined if the policy names none. */
  readonly tag?: TagStatus;
  /** When the published commit was made, in ISO 8601. */
  readonly committed?: string;
  /** Commits of the branch after the published one; left out where the branch does not have it. */
  readonly behind?: number;
  /** The tags of the rings after the first one. */
  readonly rings: readonly TagStatus[];
  readonly holds: readonly Hold[];
  /** Problems, one line for each; empty if there are none. */
  readonly problems: readonly string[];
}

export type ComparePorts = Pick<DeliveryPorts, 'open' | 'fence' | 'registry'> &
  Partial<Pick<DeliveryPorts, 'records'>> & {
    /** The storage of a catalog's rings. */
    readonly ringStore: (catalog: string, name: string) => RingStore;
  };

/**
 * Compares the catalogs of a branch with what is published of them.
 *
 * @throws PipelineError `usage` for a policy that cannot be used, and as `open`
 */
export async function compareBranch(from: PublishedFrom, ports: ComparePorts): Promise<CatalogStatus[]> {
  return onBranch(ports, from, async ({ repository, tip }) => {
    const policy = await readablePolicyAt(repository.objects, tip);
    const all = await catalogsAt(repository, { name: from.repository, tip, policy }, ports);
    const found: CatalogStatus[] = [];
    for (const one of all) found.push(await catalogStatus(one, { from, repository, tip }, ports));
    return found;
  });
}

interface Branch {
  readonly from: PublishedFrom;
  readonly repository: Repository;
  readonly tip: string;
}

/** Compares what was published last with the branch and the registry; no problem hides another one. */
async function catalogStatus(one: CatalogAt, branch: Branch, ports: ComparePorts): Promise<CatalogStatus> {
  const { catalog, at, isChanged, readError } = one;
  const base = { repository: branch.from.repository, branch: branch.from.branch, catalog };
  if (!at) {
    const problem = 'the policy names no place for it that is its own';
    return { ...base, rings: [], holds: [], problems: [problem] };
  }
  const problems: string[] = [];
  const note = (problem: string): void => void problems.push(problem);
  const claim = await orProblem(() => ports.fence.read(at.name), note);
  const tag = await tagStatus({ to: at.target.to, name: at.target.name }, claim, ports, note);
  const age = claim ? await orProblem(() => ageOf(claim.commit, branch), note) : undefined;
  if (claim && age?.behind === undefined) note(`the branch does not have the published ${claim.commit}`);
  // Where the fence could not be read, nobody knows whether it was.
  if (!claim && problems.length === 0) note('it has never been published');
  // At the tip itself, what differs is only what was recorded.
  if (claim && isChanged && !readError && age?.behind !== 0) note(`its newest content is not published`);
  const rings = await ringTags(catalog, at, ports, note);
  const { holds = [] } = (await orProblem(() => ringsOf(catalog, at, ports), note)) ?? {};
  return { ...base, tag, ...age, rings, holds, problems: [...new Set(problems)] };
}

/** What cannot be found out is a problem, and hides nothing else. */
async function orProblem<T>(ask: () => Promise<T>, note: (problem: string) => void): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    note(error.message);
    return undefined;
  }
}

/** The tag of a place beside what was published last; differences go to `note`. */
async function tagStatus(
  { to, name: image }: { readonly to: ImageLocation; readonly name: string },
  claim: StandingClaim | undefined,
  { registry: client }: ComparePorts,
  note: (problem: string) => void,
): Promise<TagStatus> {
  const found = await orProblem(async () => {
    const { registry, reference } = await openDestination(to, client);
    return (await registry.resolve(reference))?.digest ?? null;
  }, note);
  const registry = found === undefined ? {} : { registry: found };
  if (!claim) return { image, ...registry };
  const { commit, epoch, digest, retired } = claim;
  if (found === null && retired === undefined) note(`the tag ${image} does not exist`);
  if (found && found !== digest && retired === undefined)
    note(`the tag ${image} names ${found}, which was not published last`);
  return { image, commit, epoch, digest, ...registry };
}

/** The tags of all rings but the first. */
async function ringTags(
  catalog: string,
  { target }: FencedTarget,
  ports: ComparePorts,
  note: (problem: string) => void,
): Promise<TagStatus[]> {
  const found: TagStatus[] = [];
  for (const { name, place: to } of target.rings.slice(1)) {
    const claim = await orProblem(() => ports.fence.read(fenceName(catalog, name)), note);
    found.push(await tagStatus({ to, name }, claim, ports, note));
  }
  return found;
}

/** The recorded state of a catalog's rings; undefined for a catalog without rings. */
async function ringsOf(catalog: string, { target }: FencedTarget, { ringStore }: ComparePorts) {
  if (target.rings.length === 0) return undefined;
  return (await ringStore(catalog, ringsName(catalog, target)).read()).state;
}

/** Commits that are looked through for the published one. */
const MOST_BEHIND = 1000;

/**
 * When a commit was made, and how many commits the branch has after it by first parents; the number is left
 * out beyond {@link MOST_BEHIND}.
 */
async function ageOf(
  commit: string,
  { repository, tip }: Branch,
): Promise<Pick<CatalogStatus, 'committed' | 'behind'>> {
  if (!(await hasCommit(repository, commit))) return {};
  const { objects } = repository;
  const committed = new Date((await readCommit(objects, commit)).committer.time * 1000).toISOString();
  if (commit !== tip) await repository.bringHistory([tip]);
  let at: string | undefined = tip;
  for (let behind = 0; at !== undefined && behind <= MOST_BEHIND; behind++) {
    if (at === commit) return { committed, behind };
    [at] = (await readCommit(objects, at)).parents;
  }
  return { committed };
}
