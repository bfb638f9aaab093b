/**
 * Neighbors: operators in the same namespace that keep an installation from an upgrade under OLM v0. One requires a
 * version that the upgrade would replace, or the upgrade requires a version of it that it cannot be upgraded to.
 */
import { type Installed, installedOf } from '../../fbc/edge.ts';
import { groupedBy } from '../../go/grouped.ts';
import type { Place } from '../resolve/next-v0.ts';
import type { Target } from '../resolve/outcome.ts';
import { type Requirement, RequirementError } from '../resolve/requirement.ts';
import { lanesOf, type Node, type Offer, type Scope, type ScopeCatalog } from '../resolve/snapshot.ts';
import { readRequirements } from '../resolve/unreadable.ts';
import { type Foresight, foresightOf, stepsOf } from './foresight.ts';
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
  const neighbors = neighborsOf(foresight.scope, place.package);
  if (neighbors.length === 0) return [];
  const { source } = foresight;
  const steps = stepsOf((from) => foresight.v0(place, from), installed);
  const found: Hindrance[] = [];
  const ahead = new Set(steps.flatMap((step) => (step.kind === 'upgrade' ? [step.to.name] : [])));
  let at = installed;
  for (const step of steps) {
    if (step.kind !== 'upgrade') break;
    ahead.delete(at.name);
    const member = { source, place, installed: at };
    found.push(...hinderedOnce(foresight.scope, { member, to: step.to, ahead: new Set(ahead) }));
    at = step.to;
  }
  return found;
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
}

const neighborsIn = new WeakMap<Scope, Map<string, readonly Neighbor[]>>();

function neighborsOf(scope: Scope, ofPackage: string): readonly Neighbor[] {
  const known = neighborsIn.get(scope) ?? new Map<string, readonly Neighbor[]>();
  neighborsIn.set(scope, known);
  const found = known.get(ofPackage) ?? findNeighbors(scope, ofPackage);
  known.set(ofPackage, found);
  return found;
}

function findNeighbors(scope: Scope, ofPackage: string): readonly Neighbor[] {
  const all = scope.catalogs.flatMap((source) =>
    [...source.catalog.packages.values()].map((one) => ({
      source,
      name: one.name,
      nodes: lanesOf(one).flatMap(({ nodes }) => nodes),
    })),
  );
  const own = all.filter(({ name }) => name === ofPackage).flatMap(({ nodes }) => nodes);
  const asked = requirementsOfAll(scope, own);
  return all.filter(
    ({ name, nodes }) =>
      name !== ofPackage && (isMet(asked, nodes) || isMet(requirementsOfAll(scope, nodes), own)),
  );
}

function isMet(requirements: readonly Requirement[], nodes: readonly Node[]): boolean {
  return requirements.some(({ holds }) => nodes.some(({ offer }) => holds(offer)));
}

function requirementsOfAll(scope: Scope, nodes: readonly Node[]): readonly Requirement[] {
  const all = nodes.flatMap(({ offer }) => requirementsOfOffer(scope, offer));
  return [...new Map(all.map((one) => [one.text, one])).values()];
}

const requirementsIn = new WeakMap<Offer, readonly Requirement[]>();

function requirementsOfOffer({ cel }: Scope, offer: Offer): readonly Requirement[] {
  const known = requirementsIn.get(offer);
  if (known) return known;
  const found = readRequirements(offer.properties, cel).flatMap(({ read }) =>
    read instanceof RequirementError ? [] : [read],
  );
  requirementsIn.set(offer, found);
  return found;
}

/** An upgrade that an installation gets by itself, and the bundles that it may get to then. */
interface Upgrading {
  readonly member: Member;
  readonly to: Target;
  readonly ahead: ReadonlySet<string>;
}

const hindered = new WeakMap<Scope, Map<string, readonly Hindrance[]>>();

/** What hinders an upgrade, which many upgrade paths may lead through. */
function hinderedOnce(scope: Scope, upgrading: Upgrading): readonly Hindrance[] {
  const known = hindered.get(scope) ?? new Map<string, readonly Hindrance[]>();
  hindered.set(scope, known);
  const { source, place, installed } = upgrading.member;
  const key = JSON.stringify([source.name, place.package, place.channel, installed.name]);
  const found =
    known.get(key) ??
    neighborsOf(scope, place.package).flatMap((neighbor) => hindering(scope, upgrading, neighbor));
  known.set(key, found);
  return found;
}

const foresights = new WeakMap<Scope, Map<ScopeCatalog, Foresight>>();

function foresightIn(scope: Scope, source: ScopeCatalog): Foresight {
  const known = foresights.get(scope) ?? new Map<ScopeCatalog, Foresight>();
  foresights.set(scope, known);
  const found = known.get(source) ?? foresightOf(scope, source);
  known.set(source, found);
  return found;
}

/** In which channels and versions a neighbor hinders an upgrade. */
function hindering(scope: Scope, upgrading: Upgrading, neighbor: Neighbor): Hindrance[] {
  const { member, to } = upgrading;
  const next = offerOfMember({ ...member, installed: to });
  const foresight = foresightIn(scope, neighbor.source);
  const unmet = neighbor.nodes.flatMap((node) => {
    const conflict = conflictOf(scope, { member, next, node, neighbor });
    return conflict && node.bundle ? [{ node, installed: installedOf(node.bundle), ...conflict }] : [];
  });
  const end = ({ node: { channel }, installed }: (typeof unmet)[number]): string =>
    foresight.v0({ package: neighbor.name, channel }, installed).end.name;
  // Those that go the same way by themselves hinder in the same way.
  const groups = groupedBy(unmet, (one) => JSON.stringify([one.node.channel, one.requires, end(one)]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first || !isHeldBack(scope, upgrading, { neighbor, ...first })) return [];
    const { requires, neighborRequires, node } = first;
    const place = { package: neighbor.name, channel: node.channel };
    const installed = group.map((one) => one.installed);
    return [{ from: member.installed, to, neighbor: place, installed, requires, neighborRequires }];
  });
}

function isHeldBack(
  scope: Scope,
  { member, ahead }: Upgrading,
  { neighbor, node, installed }: { neighbor: Neighbor; node: Node; installed: Installed },
): boolean {
  const place = { package: neighbor.name, channel: node.channel };
  const { end } = namespacePath(scope, [member, { source: neighbor.source, place, installed }]);
  return !ahead.has(end.name);
}

/** What would not be met any more, if a bundle of the neighbor may be installed beside an operator at all. */
function conflictOf(
  scope: Scope,
  { member, next, node, neighbor }: { member: Member; next: Offer; node: Node; neighbor: Neighbor },
): Pick<Hindrance, 'requires' | 'neighborRequires'> | undefined {
  const now = offerOfMember(member);
  const own = lanesOfMember(member);
  const requiredOfIt = requirementsOfOffer(scope, node.offer);
  // What is not met now, and could be met by the other one alone, cannot be installed beside it.
  const excludes = (requirements: readonly Requirement[], offer: Offer, others: readonly Node[]): boolean =>
    requirements.some(({ holds }) => !holds(offer) && others.some((other) => holds(other.offer)));
  if (excludes(requiredOfIt, now, own)) return undefined;
  if (excludes(requirementsOfOffer(scope, now), node.offer, neighbor.nodes)) return undefined;
  const lost = requiredOfIt.find(({ holds }) => holds(now) && !holds(next));
  if (lost) return { requires: lost.text, neighborRequires: true };
  const wanted = requirementsOfOffer(scope, next).find(
    ({ holds }) => !holds(node.offer) && neighbor.nodes.some((other) => holds(other.offer)),
  );
  return wanted && { requires: wanted.text, neighborRequires: false };
}

function lanesOfMember({ source, place }: Member): readonly Node[] {
  const ofPackage = source.catalog.packages.get(place.package);
  return ofPackage ? lanesOf(ofPackage).flatMap(({ nodes }) => nodes) : [];
}
