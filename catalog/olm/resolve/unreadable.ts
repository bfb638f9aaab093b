/**
 * Requirements that OLM v0 cannot read. The resolver reads those of every bundle that it considers, whether it would
 * choose the bundle or not, and resolves nothing in the namespace when one of them cannot be read.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go (getBundleVariables)
 */
import type { Bundle, Package, Property } from '../../fbc/model.ts';
import { onceFor } from '../../go/once.ts';
import { packagesFor } from './provider.ts';
import { REQUIRING, type Requirement, RequirementError, requirementOf } from './requirement.ts';
import { lanesOf, type Node, type Offer, type Scope, type ScopeCatalog, spendEffort } from './snapshot.ts';

/** A requirement that cannot be read. */
interface Unreadable {
  /** Name of the bundle that has it. */
  readonly bundle: string;
  /** As the resolver words it. */
  readonly text: string;
}

/** A requirement as it is written, with its meaning or why it has none. */
export interface ReadRequirement {
  readonly property: Property;
  /** Its position in the bundle's properties. */
  readonly at: number;
  readonly read: Requirement | RequirementError;
}

/** The requirements in a bundle's properties. */
export function readRequirements(
  scope: Pick<Scope, 'cel'>,
  properties: readonly Property[],
): readonly ReadRequirement[] {
  return properties.flatMap((property, at) =>
    REQUIRING.has(property.type) ? [{ property, at, read: readOf(scope, property) }] : [],
  );
}

/** The bundles of a package that require anything: few do, and every catalog of a platform is asked for them. */
export const requiringBundles: (ofPackage: Package) => ReadonlySet<Bundle> = onceFor(
  ({ bundles }) =>
    new Set(
      [...bundles.values()].filter(({ properties }) => properties.some(({ type }) => REQUIRING.has(type))),
    ),
);

/** What properties require in a scope. Those with the same text share it; the lookup by property avoids writing that text. */
interface ReadProperties {
  readonly byText: Map<string, ReadRequirement['read']>;
  readonly byProperty: WeakMap<Property, ReadRequirement['read']>;
}

const readProperties = new WeakMap<Pick<Scope, 'cel'>, ReadProperties>();

/** A requirement as OLM reads it, or why it cannot; read once for each property, and for equal ones. */
function readOf(scope: Pick<Scope, 'cel'>, property: Property): ReadRequirement['read'] {
  const known = readProperties.get(scope) ?? { byText: new Map(), byProperty: new WeakMap() };
  readProperties.set(scope, known);
  const found = known.byProperty.get(property);
  if (found) return found;
  const text = JSON.stringify([property.type, property.value]);
  const read = known.byText.get(text) ?? parseRequirement(property, scope);
  known.byText.set(text, read);
  known.byProperty.set(property, read);
  return read;
}

/**
 * The requirement of a property.
 *
 * @throws RequirementError
 */
export function requirementIn(scope: Pick<Scope, 'cel'>, property: Property): Requirement {
  const read = readOf(scope, property);
  if (read instanceof RequirementError) throw read;
  return read;
}

const readableByOffer = new WeakMap<Offer, readonly Requirement[]>();

/**
 * The requirements of a bundle that can be read, parsed once. All scopes of a process read expressions alike, and one without
 * CEL has none.
 */
export function requirementsOfOffer(scope: Scope, offer: Offer): readonly Requirement[] {
  const known = readableByOffer.get(offer);
  if (known) return known;
  const found = readRequirements(scope, offer.properties).flatMap(({ read }) =>
    read instanceof RequirementError ? [] : [read],
  );
  readableByOffer.set(offer, found);
  return found;
}

function parseRequirement(property: Property, { cel }: Pick<Scope, 'cel'>): ReadRequirement['read'] {
  try {
    return requirementOf(property, cel);
  } catch (error) {
    if (error instanceof RequirementError) return error;
    throw error;
  }
}

const undecidedByScope = new WeakMap<Scope, Map<Requirement, RequirementError | undefined>>();

/** Why it cannot be decided which bundles of a scope meet a requirement; undefined where it can. */
export function undecidedIn(scope: Scope, requirement: Requirement): RequirementError | undefined {
  const known = undecidedByScope.get(scope) ?? new Map<Requirement, RequirementError | undefined>();
  undecidedByScope.set(scope, known);
  if (!known.has(requirement)) known.set(requirement, findUndecided(scope, requirement));
  return known.get(requirement);
}

/** The error of the first bundle for which a requirement cannot be decided. */
function findUndecided(scope: Scope, requirement: Requirement): RequirementError | undefined {
  const nodes = nodesFor(scope, requirement);
  spendEffort(scope, nodes.length);
  try {
    for (const { offer } of nodes) requirement.decide(offer);
    return undefined;
  } catch (error) {
    if (error instanceof RequirementError) return error;
    throw error;
  }
}

/** The first unreadable requirement of some bundles or of any that they may need, in catalogs that are known. */
export function unreadableFrom(scope: Scope, nodes: readonly Node[]): Unreadable | undefined {
  const own = unreadableIn(scope);
  if (own.size === 0) return undefined;
  const seen = new Set<Node>(nodes);
  const followed = new Set<Requirement>();
  // What is added to a set while it is gone through is gone through as well.
  for (const node of seen) {
    const text = own.get(node);
    if (text !== undefined) return { bundle: node.name, text };
    for (const requirement of requirementsOfOffer(scope, node.offer)) {
      if (followed.has(requirement)) continue;
      followed.add(requirement);
      const providers = providersIn(scope, requirement);
      spendEffort(scope, 1 + providers.length);
      for (const provider of providers) seen.add(provider);
    }
  }
  return undefined;
}

const providers = new WeakMap<Scope, Map<Requirement, readonly Node[]>>();

/** The bundles that meet a requirement, found once. */
function providersIn(scope: Scope, requirement: Requirement): readonly Node[] {
  const known = providers.get(scope) ?? new Map<Requirement, readonly Node[]>();
  providers.set(scope, known);
  const found = known.get(requirement);
  if (found) return found;
  const nodes = nodesFor(scope, requirement);
  spendEffort(scope, nodes.length);
  const made = nodes.filter(({ offer }) => requirement.holds(offer));
  known.set(requirement, made);
  return made;
}

/** The bundles in channels that may meet a requirement. */
function nodesFor({ catalogs }: Scope, requirement: Requirement): Node[] {
  return catalogs.flatMap(({ catalog }) => orderedNodes(packagesFor(catalog, requirement)));
}

/** The bundles of all channels that have an order. From one without, OLM v0 takes none: the resolution fails for that reason. */
function orderedNodes(packages: readonly Package[]): Node[] {
  return packages
    .flatMap(lanesOf)
    .flatMap(({ candidates }) => (candidates.kind === 'ordered' ? candidates.entries : []));
}

/** The bundles in channels that require anything. */
function requiringNodes({ catalog }: ScopeCatalog): Node[] {
  const asking = [...catalog.packages.values()].map((one) => ({ one, bundles: requiringBundles(one) }));
  return asking.flatMap(({ one, bundles }) =>
    bundles.size === 0 ? [] : orderedNodes([one]).filter(({ bundle }) => bundle && bundles.has(bundle)),
  );
}

/** Why requirements cannot be read, by the bundles that have them. */
const unreadableIn = onceFor((scope: Scope): ReadonlyMap<Node, string> => {
  const found = new Map<Node, string>();
  for (const node of scope.catalogs.flatMap(requiringNodes)) {
    const bad = readRequirements(scope, node.offer.properties)
      .map(({ read }) => read)
      .find((read) => read instanceof RequirementError && read.kind === 'unreadable');
    if (bad instanceof RequirementError) found.set(node, bad.message);
  }
  return found;
});
