/** The rings of a branch's catalogs: looked at on a schedule, and after each local publish. */
import { shortName } from '../../../catalog/fbc/edge.ts';
import { load } from '../../../catalog/fbc/load.ts';
import { type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import { installationChanges } from '../../../catalog/olm/foresight/installation-change.ts';
import { changeOf } from '../../../catalog/olm/foresight/world.ts';
import { wholeCatalog } from '../../change/whole-catalog.ts';
import { bringCatalog } from '../../check/published-catalogs.ts';
import { PipelineError } from '../../error.ts';
import { hasCommit } from '../../git/fetch-commits.ts';
import { isAncestor } from '../../git/merge.ts';
import type { Repository } from '../../git/repository.ts';
import type { Policy } from '../../policy/policy.ts';
import type { PublishedFrom } from '../documents.ts';
import type { RingQuestions } from '../rings/look.ts';
import { moveRings, type RingPorts } from '../rings/move.ts';
import { type RingState, recordRings, ringsName } from '../rings/state.ts';
import type { PublishTarget } from '../target.ts';
import type { CatalogAt } from './changed.ts';
import type { CheckOf, DeliveryPorts } from './ports.ts';

export interface RingedCatalog {
  readonly catalog: string;
  readonly target: PublishTarget;
  readonly policy: Policy;
  readonly repository: Repository;
  readonly from: PublishedFrom;
}

/** A branch whose rings are moved. */
export interface RingedBranch {
  readonly repository: Repository;
  readonly policy: Policy;
  readonly from: PublishedFrom;
}

/**
 * Moves the rings of all catalogs that have any. What fails of one keeps back no other.
 *
 * @returns the catalogs whose rings could not be looked at; why stands in the log
 */
export async function moveBranchRings(
  branch: RingedBranch,
  all: readonly CatalogAt[],
  ports: DeliveryPorts,
): Promise<string[]> {
  const failed: string[] = [];
  for (const { catalog, at } of all) {
    if (!at || at.target.rings.length === 0) continue;
    const store = recordRings(ports.records, catalog, ringsName(catalog, at.target));
    try {
      await moveCatalogRings({ ...branch, catalog, target: at.target }, { ...ports, store }, ports.checkOf);
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      failed.push(catalog);
      ports.log(`cannot move the rings of ${catalog}: ${error.message}`);
    }
  }
  return failed;
}

/**
 * Moves the rings of one catalog.
 *
 * @param checkOf no ring with checks opens without it
 * @throws PipelineError as `moveRings`
 */
export async function moveCatalogRings(
  of: RingedCatalog,
  ports: Omit<RingPorts, 'isAncestor'>,
  checkOf: CheckOf | undefined,
): Promise<RingState> {
  const { catalog, target, repository, from } = of;
  const isOlder: RingPorts['isAncestor'] = (older, newer) => isAncestor(repository, older, newer);
  const questions = ringQuestions(of, checkOf);
  return moveRings({ catalog, rings: target.rings, from }, questions, { ...ports, isAncestor: isOlder });
}

/** What the images of a catalog are asked. */
export function ringQuestions(
  of: RingedCatalog,
  checkOf: CheckOf | undefined,
): Omit<RingQuestions, 'follows'> {
  const known = new Map<string, Promise<Catalog>>();
  const at = (commit: string): Promise<Catalog> => {
    const catalog = known.get(commit) ?? catalogAt(of, commit);
    known.set(commit, catalog);
    return catalog;
  };
  return {
    check: (name, { commit }) => openCheck(name, { repository: of.from.repository, commit }, checkOf),
    strands: async (from, to) => strandedText(of, await at(from), await at(to)),
    has: async (commit, bundle) => (await at(commit)).blobs.bundles.some(({ name }) => name === bundle),
  };
}

async function openCheck(
  name: string,
  of: { readonly repository: string; readonly commit: string },
  checkOf: CheckOf | undefined,
): Promise<string | undefined> {
  if (!checkOf) return `the check ${name} cannot be read here`;
  const state = await checkOf(of, name);
  if (state === 'success') return undefined;
  const words = { failure: 'has failed', pending: 'has not ended' };
  return `the check ${name} ${state === undefined ? 'was not found' : words[state]}`;
}

/** @throws PipelineError `not-found` for a commit that is gone with a rewritten history, `corrupt` for what cannot be read */
async function catalogAt({ repository, policy, catalog }: RingedCatalog, commit: string): Promise<Catalog> {
  if (!(await hasCommit(repository, commit)))
    throw new PipelineError('not-found', `the commit ${commit} no longer exists`);
  await bringCatalog(repository.objects, commit, { policy, name: catalog });
  const source = await wholeCatalog(repository.objects, commit, { layout: policy.layout, name: catalog });
  const { blobs, findings } = await load(source);
  const unread = findings.find(({ severity }) => severity === 'error');
  if (unread) throw new PipelineError('corrupt', `${catalog} of ${commit.slice(0, 12)}: ${unread.message}`);
  return catalogOf(blobs);
}

/** Which installed versions lose their upgrade path in a step that no pull request was checked for. */
async function strandedText(
  { catalog: name, policy }: RingedCatalog,
  before: Catalog,
  after: Catalog,
): Promise<string | undefined> {
  const { olm } = policy.graph;
  const change = await changeOf({ name, catalog: before, olm }, { name, catalog: after, olm });
  const lost = change.packages.flatMap((of) =>
    installationChanges(change, of)
      .filter((move) => move.before.arrives && !move.after.arrives)
      .map((move) => `${of} ${shortName(move.installed)}`),
  );
  const [first, ...others] = new Set(lost);
  if (first === undefined) return undefined;
  return `strands ${first}${others.length === 0 ? '' : ` and ${others.length} other installed versions`}`;
}
