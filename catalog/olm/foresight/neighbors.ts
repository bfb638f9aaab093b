/**
 * Neighbors: operators in the same namespace that keep an installation from an upgrade under OLM v0. One requires a
 * version that the upgrade would replace, or the upgrade requires a version of it that it cannot be upgraded to.
 */
import { type Installed, installedOf } from '../../fbc/edge.ts';
import type { Package } from '../../fbc/model.ts';
import { groupedBy } from '../../go/grouped.ts';
import { onceFor } from '../../go/once.ts';
import type { Place } from '../resolve/next-v0.ts';
import type { Outcome, Target } from '../resolve/outcome.ts';
import { offeredKeys } from '../resolve/provider.ts';
import type { Requirement } from '../resolve/requirement.ts';
import {
  lanesOf,
  type Node,
  type Offer,
  type Scope,
  type ScopeCatalog,
  spendEffort,
} from '../resolve/snapshot.ts';
import { requirementsOfOffer } from '../resolve/unreadable.ts';
import { type Foresight, foresightOf, stepsOf, type UpgradePath } from './foresight.ts';
import { type Member, namespacePath, offerOfMember } from './namespace-path.ts';

/** A neighbor with which an installation stays where it is. */
export interface Hindrance {
  /** The installation that stays. */
  readonly from: Installed;
  /** The upgrade that it gets without the neighbor. */
  readonly to: Target;
  readonly neighbor: Place;
  /** Bundles of the neighbor, subscribed to its channel, which all hinder in the same way. */
  readonly installed: readonly Installed[];
  /** What is not met, in the resolver's words, such as `with package: bar and with version in range: <2.0.0`. */
  readonly requires: string;
  /** Whether the neighbor requires it; else what the installation would be upgraded to does. */
  readonly neighborRequires: boolean;
}

/** What hinders the upgrade path of a subscription, the first upgrade first. */
export function hindrancesOf(foresight: Foresight, place: Place, installed: Installed): readonly Hindrance[] {
  const steps = stepsOf((from) => foresight.v0(place, from), installed);
  // In a circle, the last upgrade leads to a version that was passed before.
  const passed = [installed, ...upgradesAmong(steps)].slice(0, steps.length);
  return passed.flatMap((at) => nextHindrances(foresight, place, at));
}

/** What would keep a subscription from its next upgrade: operators in the same namespace that may conflict. */
export function nextHindrances(
  foresight: Foresight,
  place: Place,
  installed: Installed,
): readonly Hindrance[] {
  const { scope, source } = foresight;
  const pathFrom = (from: Installed): UpgradePath => foresight.v0(place, from);
  if (neighborsOf(scope, place.package).length === 0) return [];
  const { next } = pathFrom(installed);
  if (next.kind !== 'upgrade') return [];
  const isAhead = (name: string): boolean =>
    name !== installed.name && upgradesAmong(stepsOf(pathFrom, installed)).some((to) => to.name === name);
  return hindrancesOnce(scope, { member: { source, place, installed }, to: next.to, isAhead });
}

function upgradesAmong(steps: readonly Outcome[]): Target[] {
  return steps.flatMap((step) => (step.kind === 'upgrade' ? [step.to] : []));
}

/** The packages that may hinder a package or be hindered by it, for what one requires of the other. */
export function neighborPackages(scope: Scope, ofPackage: string): ReadonlySet<string> {
  return new Set(neighborsOf(scope, ofPackage).map(({ name }) => name));
}

/** A package that requires another one, or that it requires. */
interface Neighbor {
  readonly source: ScopeCatalog;
  readonly name: string;
  /** Its bundles in channels. */
  readonly nodes: readonly Node[];
  /** Of what its bundles offer. */
  readonly keys: ReadonlySet<string>;
}

/** The packages of a scope, and who may meet whose requirements. */
interface Vicinity {
  readonly all: readonly Neighbor[];
  readonly byName: ReadonlyMap<string, readonly Neighbor[]>;
  /** The packages that have a version that meets a requirement of another one. */
  readonly requiredBy: (one: Neighbor) => ReadonlySet<Neighbor>;
}

/** The packages of a scope, indexed by what their bundles offer, so that few are asked for each requirement. */
const vicinityOf = onceFor((scope: Scope): Vicinity => {
  const all = scope.catalogs.flatMap((source) =>
    [...source.catalog.packages.values()].map((one) => ({
      source,
      name: one.name,
      nodes: nodesOf(one),
      keys: offeredKeys(one),
    })),
  );
  const byKey = new Map<string, Set<Neighbor>>();
  for (const one of all) {
    for (const key of one.keys) {
      const known = byKey.get(key);
      if (known) known.add(one);
      else byKey.set(key, new Set([one]));
    }
  }
  const required = new Map<Neighbor, ReadonlySet<Neighbor>>();
  const requiredBy = (one: Neighbor): ReadonlySet<Neighbor> => {
    const known = required.get(one);
    if (known) return known;
    const found = new Set<Neighbor>();
    required.set(one, found);
    for (const requirement of requirementsOfAll(scope, one.nodes)) {
      const asked = requirement.key === undefined ? all : (byKey.get(requirement.key) ?? []);
      for (const other of asked) {
        if (!found.has(other) && shareOf(scope, other.nodes, requirement) !== 'none') found.add(other);
      }
    }
    return found;
  };
  return { all, byName: groupedBy(all, ({ name }) => name), requiredBy };
});

const neighborsIn = new WeakMap<Scope, Map<string, readonly Neighbor[]>>();

/** The neighbors of a package in a scope, found once. */
function neighborsOf(scope: Scope, ofPackage: string): readonly Neighbor[] {
  const known = neighborsIn.get(scope) ?? new Map<string, readonly Neighbor[]>();
  neighborsIn.set(scope, known);
  const found = known.get(ofPackage) ?? findNeighbors(scope, ofPackage);
  known.set(ofPackage, found);
  return found;
}

/** The packages that may meet a requirement of a package, and those whose requirements it may meet. */
function findNeighbors(scope: Scope, ofPackage: string): readonly Neighbor[] {
  const { all, byName, requiredBy } = vicinityOf(scope);
  const own = byName.get(ofPackage) ?? [];
  return all.filter(
    (other) =>
      other.name !== ofPackage && own.some((one) => requiredBy(one).has(other) || requiredBy(other).has(one)),
  );
}

/** The bundles of a package in its channels. */
const nodesOf = onceFor((ofPackage: Package): readonly Node[] =>
  lanesOf(ofPackage).flatMap((lane) => lane.nodes),
);

/** How many of some bundles meet a requirement. */
type Share = 'all' | 'some' | 'none';

const shares = new WeakMap<readonly Node[], WeakMap<Requirement, Share>>();

/** How many of a package's bundles meet a requirement, found once. */
function shareOf(scope: Scope, nodes: readonly Node[], requirement: Requirement): Share {
  const known = shares.get(nodes) ?? new WeakMap<Requirement, Share>();
  shares.set(nodes, known);
  const found = known.get(requirement) ?? findShare(scope, nodes, requirement);
  known.set(requirement, found);
  return found;
}

/** How many of some nodes a requirement holds for: all, some or none. */
function findShare(scope: Scope, nodes: readonly Node[], { holds }: Requirement): Share {
  spendEffort(scope, nodes.length);
  const count = nodes.filter(({ offer }) => holds(offer)).length;
  return count === 0 ? 'none' : count === nodes.length ? 'all' : 'some';
}

// Most packages of a scope are the same objects in many others: the platform's catalogs, before and after a change.
const requirementsOf = new WeakMap<readonly Node[], readonly Requirement[]>();

/** The requirements of some bundles, each once. Different ones may have the same text, which has no brackets. */
function requirementsOfAll(scope: Scope, nodes: readonly Node[]): readonly Requirement[] {
  const known = requirementsOf.get(nodes);
  if (known) return known;
  const found = [...new Set([...offersOf(nodes)].flatMap((offer) => requirementsOfOffer(scope, offer)))];
  requirementsOf.set(nodes, found);
  return found;
}

/** A bundle has one offer in all channels. */
function offersOf(nodes: readonly Node[]): ReadonlySet<Offer> {
  return new Set(nodes.map(({ offer }) => offer));
}

/** An upgrade that an installation gets by itself, and whether it gets to a bundle then. */
interface Upgrading {
  readonly member: Member;
  readonly to: Target;
  readonly isAhead: (name: string) => boolean;
}

const hindrancesByUpgrade = new WeakMap<Scope, Map<string, readonly Hindrance[]>>();

/** What would block an upgrade, found once: many upgrade paths share it. A scope has one version of each name. */
function hindrancesOnce(scope: Scope, upgrading: Upgrading): readonly Hindrance[] {
  const known = hindrancesByUpgrade.get(scope) ?? new Map<string, readonly Hindrance[]>();
  hindrancesByUpgrade.set(scope, known);
  const { source, place, installed } = upgrading.member;
  const key = JSON.stringify([source.name, place.package, place.channel, installed.name]);
  const found =
    known.get(key) ??
    neighborsOf(scope, place.package).flatMap((neighbor) => hindrancesBy(scope, upgrading, neighbor));
  known.set(key, found);
  return found;
}

const foresights = new WeakMap<Scope, Map<ScopeCatalog, Foresight>>();

/** The foresight of a catalog in a scope, made once. */
function foresightIn(scope: Scope, source: ScopeCatalog): Foresight {
  const known = foresights.get(scope) ?? new Map<ScopeCatalog, Foresight>();
  foresights.set(scope, known);
  const found = known.get(source) ?? foresightOf(scope, source);
  known.set(source, found);
  return found;
}

/** Most alike bundles of a neighbor that are each resolved together with an upgrade, which costs a hundred steps or more. */
const MOST_RESOLVED = 10;

/** The channels and versions of another operator that block an upgrade in the same namespace. */
function hindrancesBy(scope: Scope, upgrading: Upgrading, neighbor: Neighbor): Hindrance[] {
  const { member, to } = upgrading;
  const next = offerOfMember({ ...member, installed: to });
  const foresight = foresightIn(scope, neighbor.source);
  const now = offerOfMember(member);
  // Most neighbors cannot conflict, whatever their version: then none of their bundles is looked at. What all of them
  // meet, or none, does not depend on the version.
  const mayLose = requirementsOfAll(scope, neighbor.nodes).some((one) => isLost(one, now, next));
  const mayLack = requirementsOfOffer(scope, next).some(
    (one) => shareOf(scope, neighbor.nodes, one) === 'some',
  );
  if (!mayLose && !mayLack) return [];
  spendEffort(scope, neighbor.nodes.length);
  const unmet = neighbor.nodes.flatMap((node) => {
    const conflict = conflictOf(scope, { member, next, node, neighbor });
    return conflict && node.bundle ? [{ node, installed: installedOf(node.bundle), ...conflict }] : [];
  });
  const own = nodesOfMember(member);
  // What they require of the operator, and where they go by themselves.
  const way = ({ node: { channel, offer }, installed }: (typeof unmet)[number]): readonly unknown[] => [
    requirementsMetAmong(scope, offer, own).map(({ text }) => text),
    foresight.v0({ package: neighbor.name, channel }, installed).end.name,
  ];
  const groups = groupedBy(unmet, (one) => JSON.stringify([one.node.channel, one.requires, ...way(one)]));
  const isHeld = (one: (typeof unmet)[number]): boolean => isHeldBack(scope, upgrading, { neighbor, ...one });
  return [...groups.values()].flatMap((group) => {
    // Those that are alike in all of this nearly always hinder alike: of many only the first is resolved.
    const held =
      group.length <= MOST_RESOLVED ? group.filter(isHeld) : group.slice(0, 1).some(isHeld) ? group : [];
    const [first] = held;
    if (!first) return [];
    const { requires, neighborRequires, node } = first;
    const place = { package: neighbor.name, channel: node.channel };
    const installed = held.map((one) => one.installed);
    return [{ from: member.installed, to, neighbor: place, installed, requires, neighborRequires }];
  });
}

/**
 * Whether the neighbor really keeps an operator where it is: resolved together, the operator gets to no bundle of its
 * path.
 */
function isHeldBack(
  scope: Scope,
  { member, isAhead }: Upgrading,
  { neighbor, node, installed }: { neighbor: Neighbor; node: Node; installed: Installed },
): boolean {
  const place = { package: neighbor.name, channel: node.channel };
  const { steps } = namespacePath(scope, [member, { source: neighbor.source, place, installed }]);
  // It may leave its path further along, and end elsewhere.
  return !steps.some(({ name }) => isAhead(name));
}

/**
 * The requirement that would fail with a bundle of the neighbor beside an operator; undefined if none would, or if the
 * neighbor cannot be installed there anyway.
 */
function conflictOf(
  scope: Scope,
  { member, next, node, neighbor }: { member: Member; next: Offer; node: Node; neighbor: Neighbor },
): Pick<Hindrance, 'requires' | 'neighborRequires'> | undefined {
  const now = offerOfMember(member);
  const own = nodesOfMember(member);
  // What is not met now, and could be met by the other one alone, cannot be installed beside it.
  if (requirementsMetAmong(scope, node.offer, own).some(({ holds }) => !holds(now))) return undefined;
  if (requirementsMetAmong(scope, now, neighbor.nodes).some(({ holds }) => !holds(node.offer)))
    return undefined;
  const lost = requirementsOfOffer(scope, node.offer).find((one) => isLost(one, now, next));
  if (lost) return { requires: lost.text, neighborRequires: true };
  const wanted = requirementsMetAmong(scope, next, neighbor.nodes).find(({ holds }) => !holds(node.offer));
  return wanted && { requires: wanted.text, neighborRequires: false };
}

function isLost({ holds }: Requirement, now: Offer, next: Offer): boolean {
  return holds(now) && !holds(next);
}

const requirementsByOffer = new WeakMap<readonly Node[], WeakMap<Offer, readonly Requirement[]>>();

/** The requirements of a bundle that some bundle of a package meets. */
function requirementsMetAmong(scope: Scope, offer: Offer, nodes: readonly Node[]): readonly Requirement[] {
  const known = requirementsByOffer.get(nodes) ?? new WeakMap<Offer, readonly Requirement[]>();
  requirementsByOffer.set(nodes, known);
  const found =
    known.get(offer) ??
    requirementsOfOffer(scope, offer).filter((one) => shareOf(scope, nodes, one) !== 'none');
  known.set(offer, found);
  return found;
}

/** One list for all: what is known of nodes is kept by the list. */
const NO_NODES: readonly Node[] = [];

/** The nodes of a member's package; none where its catalog lacks the package. */
function nodesOfMember({ source, place }: Member): readonly Node[] {
  const ofPackage = source.catalog.packages.get(place.package);
  return ofPackage ? nodesOf(ofPackage) : NO_NODES;
}
