/** The rings of a branch's catalogs: looked at on a schedule, and after each local publish. */
import { shortName } from '../../../catalog/fbc/edge.ts';
import { load } from '../../../catalog/fbc/load.ts';
import { type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { installationChanges } from '../../../catalog/olm/foresight/installation-change.ts';
import { changeOf } from '../../../catalog/olm/foresight/world.ts';
import { wholeCatalog } from '../../change/commit-catalogs.ts';
import { catalogUnits } from '../../change/unit.ts';
import { PipelineError } from '../../error.ts';
import { hasCommit } from '../../git/fetch-commits.ts';
import { isAncestor } from '../../git/merge.ts';
import type { Repository } from '../../git/repository.ts';
import type { Policy } from '../../policy/policy.ts';
import { policyAt } from '../../policy/read-policy.ts';
import type { PublishedFrom } from '../documents.ts';
import { fenceName } from '../fence.ts';
import { bringCatalog } from '../published-catalogs.ts';
import type { RingQuestions } from '../rings/look.ts';
import { moveRings, type RingPorts } from '../rings/move.ts';
import { isSameImage, type RingState } from '../rings/state.ts';
import { recordRings, ringsName } from '../rings/store.ts';
import { type PublishTarget, targetIn } from '../target.ts';
import type { CatalogAt } from './changed.ts';
import type { RingsMessage } from './message.ts';
import { type CheckOf, type DeliveryPorts, onBranch } from './ports.ts';

export interface RingedCatalog {
  readonly catalog: string;
  readonly target: PublishTarget;
  readonly policy: Policy;
  readonly repository: Repository;
  readonly from: PublishedFrom;
}

/**
 * A message for each catalog whose rings do not all have the same image. A catalog of which the first ring has no image yet, or
 * that is retired, has nothing to move.
 */
export async function ringMessages(
  { repository, branch }: PublishedFrom,
  all: readonly CatalogAt[],
  { fence }: Pick<DeliveryPorts, 'fence'>,
): Promise<RingsMessage[]> {
  const messages: RingsMessage[] = [];
  for (const { catalog, at } of all) {
    if (!at || at.target.rings.length === 0) continue;
    const claims = await Promise.all(at.target.rings.map(({ name }) => fence.read(fenceName(catalog, name))));
    const [first] = claims;
    if (!first || first.retired !== undefined) continue;
    const isSettled = claims.every(
      (claim) => claim && claim.retired === undefined && isSameImage(claim, first),
    );
    if (!isSettled) messages.push({ v: 1, kind: 'rings', repository, branch, catalog });
  }
  return messages;
}

/**
 * Looks at the rings of a catalog, and opens those whose time has come.
 *
 * @returns what is known of them now; undefined where the policy has none
 * @throws PipelineError as `moveRings`
 */
export async function handleRings(
  message: RingsMessage,
  ports: DeliveryPorts,
): Promise<RingState | undefined> {
  const { repository: name, branch, catalog } = message;
  return onBranch(ports, message, async ({ repository, tip }) => {
    const { policy } = await policyAt(repository.objects, tip);
    const target = policy && targetIn(policy, catalog);
    if (!target || target.rings.length === 0) return undefined;
    const store = recordRings(ports.records, catalog, ringsName(catalog, target));
    const ringCatalog: RingedCatalog = {
      catalog,
      target,
      policy,
      repository,
      from: { repository: name, branch },
    };
    return await moveCatalogRings(ringCatalog, { ...ports, store }, ports.checkOf);
  });
}

/**
 * Moves the rings of one catalog.
 *
 * @param checkOf no ring with checks opens without it
 * @throws PipelineError as `moveRings`
 */
export async function moveCatalogRings(
  ringCatalog: RingedCatalog,
  ports: Omit<RingPorts, 'isAncestor'>,
  checkOf: CheckOf | undefined,
): Promise<RingState> {
  const { catalog, target, repository, from } = ringCatalog;
  const isOlder: RingPorts['isAncestor'] = (older, newer) => isAncestor(repository, older, newer);
  const questions = ringQuestions(ringCatalog, checkOf);
  return moveRings({ catalog, rings: target.rings, from }, questions, { ...ports, isAncestor: isOlder });
}

/** Answers what must be known of a catalog's images before a ring opens for them. */
export function ringQuestions(
  ringCatalog: RingedCatalog,
  checkOf: CheckOf | undefined,
): Omit<RingQuestions, 'follows'> {
  // Several questions are about the same commits, and a catalog is large.
  const catalogs = new Map<string, Promise<Catalog>>();
  const at = (commit: string): Promise<Catalog> => {
    const catalog = catalogs.get(commit) ?? catalogAt(ringCatalog, commit);
    catalogs.set(commit, catalog);
    return catalog;
  };
  return {
    check: (name, { commit }) =>
      whyCheckIsOpen(name, { repository: ringCatalog.from.repository, commit }, checkOf),
    strands: async (from, to) => strandedText(ringCatalog, await at(from), await at(to)),
    changes: async (from, to) =>
      changedPackages(await unitsAt(ringCatalog, from), await unitsAt(ringCatalog, to)),
    has: async (commit, bundle) => (await at(commit)).blobs.bundles.some(({ name }) => name === bundle),
  };
}

/**
 * Ids of a catalog's parts at a commit, by package; of a file that holds several, by its path. None of a commit that is
 * gone, or whose policy cannot be read: then all packages of the other one count as changed.
 */
async function unitsAt({ repository, catalog }: RingedCatalog, commit: string): Promise<Map<string, string>> {
  const parts = new Map<string, string>();
  if (!(await hasCommit(repository, commit))) return parts;
  const { policy } = await policyAt(repository.objects, commit);
  if (!policy) return parts;
  for (const unit of (await catalogUnits(repository.objects, commit, policy.layout)).values()) {
    const name = unit.package ?? unit.path;
    if (unit.catalog === catalog) parts.set(name, `${parts.get(name) ?? ''} ${unit.path} ${unit.id}`);
  }
  return parts;
}

/** Packages of which two commits have other parts; those that only one of them has, too. */
function changedPackages(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const all = [...new Set([...before.keys(), ...after.keys()])];
  return all.filter((name) => before.get(name) !== after.get(name)).sort(compareText);
}

/** Why a check does not let an image go on, for people; undefined where it has passed. */
async function whyCheckIsOpen(
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

/**
 * The catalog as a commit has it.
 *
 * @throws PipelineError `not-found` for a commit that is gone with a rewritten history, `corrupt` for what cannot be read
 */
async function catalogAt({ repository, catalog }: RingedCatalog, commit: string): Promise<Catalog> {
  if (!(await hasCommit(repository, commit)))
    throw new PipelineError('not-found', `the commit ${commit} no longer exists`);
  // By its own policy the image was built: the layout may have changed since.
  const { policy } = await policyAt(repository.objects, commit);
  if (!policy) throw new PipelineError('corrupt', `cannot read the policy of ${commit.slice(0, 12)}`);
  await bringCatalog(repository.objects, commit, { policy, name: catalog });
  const source = await wholeCatalog(repository.objects, commit, { layout: policy.layout, name: catalog });
  const { blobs, findings } = await load(source);
  const error = findings.find(({ severity }) => severity === 'error');
  if (error) throw new PipelineError('corrupt', `${catalog} of ${commit.slice(0, 12)}: ${error.message}`);
  return catalogOf(blobs);
}

/**
 * Which installations lose their upgrade path when a ring goes from one catalog to another, in words; undefined if none
 * does. No pull request was checked for that step.
 */
async function strandedText(
  { catalog: name, policy }: RingedCatalog,
  before: Catalog,
  after: Catalog,
): Promise<string | undefined> {
  const { olm } = policy.graph;
  const change = await changeOf({ name, catalog: before, olm }, { name, catalog: after, olm });
  const stranded = change.packages.flatMap((packageName) =>
    installationChanges(change, packageName)
      .filter((move) => move.before.arrives && !move.after.arrives)
      .map((move) => `${packageName} ${shortName(move.installed)}`),
  );
  const [first, ...others] = new Set(stranded);
  if (first === undefined) return undefined;
  return `strands ${first}${others.length === 0 ? '' : ` and ${others.length} other installed versions`}`;
}
