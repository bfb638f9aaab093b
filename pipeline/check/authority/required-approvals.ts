/**
 * Demands: how many people of which standing must stand behind a change of a class.
 * This is the table of authority; the policy may change its numbers.
 */
import type { AreaChange, PackageChange } from '../../change/change.ts';
import { type Directory, type Identity, type Person, samePerson } from '../../policy/identity.ts';
import type { AllowableClass, FleetApproval, Policy, Requirement } from '../../policy/policy.ts';

export interface Demand {
  /** Meeting one of them is enough. */
  readonly anyOf: readonly Requirement[];
  /** Whether the author's own standing as an admin does not count. */
  readonly otherAdmin: boolean;
  /** The part of the change that needs the approval, in words. */
  readonly why: string;
}

/** A person who supports a change. */
export interface Supporter {
  readonly person: Person;
  readonly admin: boolean;
  readonly author: boolean;
}

/** How many more people must approve; zero if the demand is met. */
export interface Missing {
  readonly admins: number;
  /** Owners or admins besides. */
  readonly owners: number;
}

const ONE_OWNER: Requirement = { owners: 1, admins: 0 };

/** Another owner, or an admin. */
const SECOND: readonly Requirement[] = [
  { owners: 2, admins: 0 },
  { owners: 0, admins: 1 },
];

/** Classes that not even an admin changes alone. */
const OTHER_ADMIN: ReadonlySet<AllowableClass> = new Set(['mutate-published', 'delete-package', 'gate']);

const WORDS: Readonly<Record<AllowableClass, string>> = {
  'add-entry': 'adds versions',
  'edit-graph': 'changes upgrade edges',
  prune: 'removes published versions',
  'mutate-published': 'changes a published bundle',
  promote: 'copies the package to another catalog',
  'new-package': 'adds a new package',
  'delete-package': 'deletes the package',
  'new-catalog': 'adds a new catalog',
  'delete-catalog': 'deletes a catalog',
  ownership: 'changes the owners',
  'package-config': 'changes the settings of the package',
  advisory: 'changes an advisory',
  repository: 'changes files of the repository as a whole',
  root: 'changes files in the root of the repository',
  unknown: 'changes files outside the layout',
  gate: 'changes the policy or the gate',
};

interface DemandContext {
  readonly policy: Policy;
  readonly author: Person;
  readonly directory: Directory;
  /** Packages in which the rule against pruning found something. */
  readonly prunesRefused: ReadonlySet<string>;
  /** How many clusters the merge reaches; undefined where no fleet is known. */
  readonly reach: Reach | undefined;
  /** Whether the package has owners who can be asked. */
  readonly hasOwners: boolean;
}

/** The approvals that a change of a package needs. */
export function demandsOnPackage(change: PackageChange, context: DemandContext): Demand[] {
  const classes = [...change.classes];
  const demands = classes.map((one) => forOwned(demandOf(one, context), context.hasOwners));
  // Every class needs an owner's support, and so does a change without any. A new package has no owner, so an admin must
  // approve.
  demands.push({ anyOf: [ONE_OWNER], otherAdmin: false, why: WORDS[classes[0] ?? 'edit-graph'] });
  if (change.classes.has('prune') && context.prunesRefused.has(change.name)) {
    demands.push({ anyOf: SECOND, otherAdmin: false, why: 'removes versions that the policy keeps' });
  }
  if (change.classes.has('ownership') && removesOwners(change, context)) {
    demands.push({ anyOf: SECOND, otherAdmin: false, why: 'removes owners' });
  }
  demands.push(...demandsOfReach(context).map((demand) => forOwned(demand, context.hasOwners)));
  return demands;
}

/** How many clusters of a fleet a merge reaches; `unknown` where the fleet cannot be read. */
export type Reach = 'unknown' | { readonly clusters: number; readonly total: number };

/** The approvals that a merge needs because of the number of clusters it reaches; all of them if that is unknown. */
export function demandsOfReach({ policy, reach }: Pick<DemandContext, 'policy' | 'reach'>): Demand[] {
  if (reach === undefined) return [];
  return policy.fleet.approvals
    .filter((one) => reach === 'unknown' || isReached(one, reach))
    .map(({ required }) => ({ anyOf: [required], otherAdmin: false, why: reachText(reach) }));
}

/** Whether a merge reaches as many clusters as an approval of the policy is for, or as large a share of them. */
function isReached({ clusters, share }: FleetApproval, reach: Exclude<Reach, 'unknown'>): boolean {
  const isMany = clusters !== undefined && reach.clusters >= clusters;
  // Of an empty fleet, nobody is any share.
  const isLarge = share !== undefined && reach.clusters > 0 && 100 * reach.clusters >= share * reach.total;
  return isMany || isLarge;
}

function reachText(reach: Reach): string {
  if (reach === 'unknown') return 'may reach any number of clusters (the fleet cannot be read)';
  return `reaches ${reach.clusters} of ${reach.total} clusters`;
}

/** An owner in addition to an admin is not needed if there is no owner. */
function forOwned(demand: Demand, hasOwners: boolean): Demand {
  if (hasOwners) return demand;
  const anyOf = demand.anyOf.map(({ owners, admins }) => ({ owners: admins > 0 ? 0 : owners, admins }));
  return { ...demand, anyOf };
}

/** The approvals that a change of the repository as a whole needs. */
export function demandsOnArea(
  { area }: AreaChange,
  context: Pick<DemandContext, 'policy' | 'author'>,
): Demand[] {
  return [demandOf(area, context)];
}

/** What the policy requires for a class of change: one admin where it says nothing, so that nothing is open by oversight. */
function demandOf(
  changeClass: AllowableClass,
  { policy, author }: Pick<DemandContext, 'policy' | 'author'>,
): Demand {
  const { owners, admins } = policy.approval.required.get(changeClass) ?? { owners: 0, admins: 1 };
  const isOnly = hasOnlyAdmin(policy);
  const otherAdmin = OTHER_ADMIN.has(changeClass) && !isOnly;
  // More admins than there are could never approve.
  const others = otherAdmin ? otherAdmins(policy, author) : Infinity;
  const available = isOnly ? 1 : others;
  return { anyOf: [{ owners, admins: Math.min(admins, available) }], otherAdmin, why: WORDS[changeClass] };
}

/**
 * How many admins besides the author can approve, at least one. No limit if the author is not an admin, or if
 * a team, whose size is unknown, is among the admins.
 */
function otherAdmins({ owners: { admins } }: Policy, author: Person): number {
  const others = admins.filter((identity) => !isAuthor(identity, author)).length;
  const isAdmin = others < admins.length && admins.every(({ kind }) => kind === 'account');
  return isAdmin ? Math.max(1, others) : Infinity;
}

/**
 * Whether the policy names one account as its only admin: nobody else could agree, so a second admin is asked for only
 * once there is one. A team may have any number of members.
 */
export function hasOnlyAdmin({ owners }: Policy): boolean {
  return owners.admins.length === 1 && owners.admins[0]?.kind === 'account';
}

/** Whether the policy needs no approval for changes of an area. */
export function isFree({ area }: AreaChange, { approval }: Policy): boolean {
  const required = approval.required.get(area);
  return required !== undefined && required.owners + required.admins === 0;
}

/** Whether an owner other than the author is removed, or no owner is left. */
function removesOwners(
  { owners, ownersAfter }: PackageChange,
  { author, directory }: Pick<DemandContext, 'author' | 'directory'>,
): boolean {
  if (ownersAfter.identities.length === 0) return true;
  return owners.identities.some(
    (identity) => !isAuthor(identity, author) && !isAmong(identity, ownersAfter.identities, directory),
  );
}

function isAuthor(identity: Identity, author: Person): boolean {
  return identity.kind === 'account' && samePerson(identity, author);
}

/**
 * Whether others hold an identity. An account with an id is only among others that hold the same id: without it, or with
 * another, the login may be somebody else. So may a login that gets an id, unless the forge says that it is this one's.
 */
function isAmong(identity: Identity, others: readonly Identity[], { accounts }: Directory): boolean {
  if (identity.kind === 'team')
    return others.some((other) => other.kind === 'team' && other.team === identity.team);
  const login = identity.login.toLowerCase();
  const id = identity.id ?? accounts.get(login);
  return others.some(
    (other) =>
      other.kind === 'account' &&
      other.login.toLowerCase() === login &&
      (other.id === identity.id || (other.id !== undefined && other.id === id)),
  );
}

/** Whether those who support a change already are enough for a demand. */
export function isMet(demand: Demand, supporters: readonly Supporter[]): boolean {
  return easiestShortfall(demand, supporters).missingPeople === 0;
}

/**
 * How many more people demands take, each of whom may serve all of them.
 *
 * @param supporters owners and admins who stand behind the change
 */
export function missingFor(demands: readonly Demand[], supporters: readonly Supporter[]): Missing {
  let admins = 0;
  let people = 0;
  for (const demand of demands) {
    const { missingAdmins, missingPeople } = easiestShortfall(demand, supporters);
    admins = Math.max(admins, missingAdmins);
    people = Math.max(people, missingPeople);
  }
  return { admins, owners: Math.max(0, people - admins) };
}

interface Shortfall {
  readonly missingAdmins: number;
  readonly missingPeople: number;
}

/** What is missing for the requirement that is closest to being met. */
function easiestShortfall({ anyOf, otherAdmin }: Demand, supporters: readonly Supporter[]): Shortfall {
  const admins = supporters.filter(({ admin, author }) => admin && !(otherAdmin && author)).length;
  const shortfalls = anyOf.map((required): Shortfall => {
    const missingAdmins = Math.max(0, required.admins - admins);
    const missingPeople = Math.max(missingAdmins, required.admins + required.owners - supporters.length);
    return { missingAdmins, missingPeople };
  });
  shortfalls.sort((a, b) => a.missingPeople - b.missingPeople || a.missingAdmins - b.missingAdmins);
  return shortfalls[0] ?? { missingAdmins: 0, missingPeople: 0 };
}
