/**
 * Requirements that OLM v0 cannot read. The resolver reads those of every bundle that it considers, whether it would
 * choose the bundle or not, and resolves nothing in the namespace when one of them cannot be read.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go (getBundleVariables)
 */
import type { Property } from '../../fbc/model.ts';
import { REQUIRING, type Requirement, RequirementError, requirementOf } from './requirement.ts';
import { lanesOf, type Node, type Offer, type Scope } from './snapshot.ts';

/** A requirement that cannot be read. */
export interface Unreadable {
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
  properties: readonly Property[],
  cel: Scope['cel'],
): readonly ReadRequirement[] {
  return properties.flatMap((property, at) =>
    REQUIRING.has(property.type) ? [{ property, at, read: readOf(property, cel) }] : [],
  );
}

const readable = new WeakMap<Offer, readonly Requirement[]>();

/** The requirements of a bundle that can be read, parsed once. */
export function requirementsOfOffer({ cel }: Scope, offer: Offer): readonly Requirement[] {
  const known = readable.get(offer);
  if (known) return known;
  const found = readRequirements(offer.properties, cel).flatMap(({ read }) =>
    read instanceof RequirementError ? [] : [read],
  );
  readable.set(offer, found);
  return found;
}

function readOf(property: Property, cel: Scope['cel']): Requirement | RequirementError {
  try {
    return requirementOf(property, cel);
  } catch (error) {
    if (error instanceof RequirementError) return error;
    throw error;
  }
}

/** Why it cannot be decided which bundles of a scope meet a requirement; undefined where it can. */
export function undecidedIn(scope: Scope, { decide }: Requirement): RequirementError | undefined {
  try {
    for (const { offer } of readIn(scope).all) decide(offer);
    return undefined;
  } catch (error) {
    if (error instanceof RequirementError) return error;
    throw error;
  }
}

/** The first unreadable requirement of some bundles or of any that they may need, in catalogs that are known. */
export function unreadableFrom(scope: Scope, nodes: readonly Node[]): Unreadable | undefined {
  const { own, all } = readIn(scope);
  if (own.size === 0) return undefined;
  const seen = new Set<Node>(nodes);
  for (const node of seen) {
    const text = own.get(node);
    if (text !== undefined) return { bundle: node.name, text };
    for (const { read } of readRequirements(node.offer.properties, scope.cel)) {
      if (read instanceof RequirementError) continue;
      for (const provider of all) if (read.holds(provider.offer)) seen.add(provider);
    }
  }
  return undefined;
}

interface ReadScope {
  /** Why requirements cannot be read, by the bundles that have them. */
  readonly own: ReadonlyMap<Node, string>;
  /** All bundles of the catalogs. */
  readonly all: readonly Node[];
}

const readScopes = new WeakMap<Scope, ReadScope>();

function readIn(scope: Scope): ReadScope {
  const known = readScopes.get(scope);
  if (known) return known;
  const all = scope.catalogs.flatMap(({ catalog }) =>
    [...catalog.packages.values()]
      .flatMap(lanesOf)
      .flatMap(({ candidates }) => (candidates.kind === 'ordered' ? candidates.entries : [])),
  );
  const own = new Map<Node, string>();
  for (const node of all) {
    const bad = readRequirements(node.offer.properties, scope.cel)
      .map(({ read }) => read)
      .find((read) => read instanceof RequirementError && read.kind === 'unreadable');
    if (bad instanceof RequirementError) own.set(node, bad.message);
  }
  const found = { own, all };
  readScopes.set(scope, found);
  return found;
}
