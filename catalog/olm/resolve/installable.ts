/**
 * Whether OLM v0 can install a bundle with what it requires, where other catalogs of the clusters may be unknown. What
 * nothing here provides is taken to be in one of them; but what has a package here has it nowhere else.
 */
import type { Bundle } from '../../fbc/model.ts';
import { appendToGroup } from '../../go/grouped.ts';
import { resolveNamespace } from './namespace.ts';
import { isHere, isMet, providersOf } from './provider.ts';
import { type Node, offerOfBundle, type Scope, type ScopeCatalog, spendEffort } from './snapshot.ts';
import { requirementsOfOffer } from './unreadable.ts';

const installableByScope = new WeakMap<Scope, Map<Node, boolean>>();

/**
 * Whether OLM v0 can install a bundle, with all that it requires, in an empty namespace.
 *
 * @throws Undecided where resolving costs too much
 */
export function isInstallable(scope: Scope, source: ScopeCatalog, node: Node): boolean {
  const ofScope = installableByScope.get(scope) ?? new Map<Node, boolean>();
  installableByScope.set(scope, ofScope);
  const found = ofScope.get(node) ?? findInstallable(scope, source, node);
  ofScope.set(node, found);
  return found;
}

/** Whether OLM can install a bundle with what it requires. The cheap checks come first. */
function findInstallable(scope: Scope, source: ScopeCatalog, node: Node): boolean {
  if (node.bundle && isObvious(scope, node.bundle)) return true;
  const here = requirementsOfOffer(scope, node.offer).filter((one) => isHere(scope, one));
  return here.every((one) => isMet(scope, one)) && isResolved(scope, source, node);
}

const obviousByScope = new WeakMap<Scope, Set<Bundle>>();

/** Whether the first bundles that go together meet all requirements: nearly always, and then nothing needs to be solved. */
function isObvious(scope: Scope, bundle: Bundle): boolean {
  const known = obviousByScope.get(scope) ?? new Set<Bundle>();
  obviousByScope.set(scope, known);
  // Each bundle of a set can be installed with it.
  if (!known.has(bundle)) for (const one of obviousSet(scope, bundle)) known.add(one);
  return known.has(bundle);
}

/**
 * The set that OLM would most likely install with a bundle: for each requirement, the first bundle that meets it. Empty
 * if these do not go together.
 */
function obviousSet(scope: Scope, first: Bundle): readonly Bundle[] {
  const set = new Map<string, Bundle>();
  const byName = new Map<string, Bundle[]>();
  const gvks = new Set<string>();
  const add = (one: Bundle): void => {
    const { packages, gvks: provided } = offerOfBundle(one);
    set.set(one.package, one);
    for (const name of packages) appendToGroup(byName, name, one);
    for (const gvk of provided) gvks.add(gvk);
  };
  // OLM v0 installs one bundle of a package, and one provider of a kind of object.
  const fits = (one: Bundle): boolean => {
    const provided = offerOfBundle(one).gvks;
    return (
      !set.has(one.package) &&
      new Set(provided).size === provided.length &&
      provided.every((gvk) => !gvks.has(gvk))
    );
  };
  if (!fits(first)) return [];
  add(first);
  // What is added while a map is gone through is gone through as well.
  for (const one of set.values()) {
    for (const requirement of requirementsOfOffer(scope, offerOfBundle(one))) {
      if (!isHere(scope, requirement)) continue;
      spendEffort(scope, 1);
      const there = requirement.packages.flatMap((name) => byName.get(name) ?? []);
      if (there.some((other) => requirement.holds(offerOfBundle(other)))) continue;
      const next = firstOf(providersOf(scope, requirement), fits);
      if (!next) return [];
      add(next);
    }
  }
  return [...set.values()];
}

function firstOf<T>(all: Iterable<T>, fits: (one: T) => boolean): T | undefined {
  for (const one of all) if (fits(one)) return one;
  return undefined;
}

/** Whether OLM v0 would install this bundle in an empty namespace, with all that it requires. */
function isResolved(
  scope: Scope,
  source: ScopeCatalog,
  { name, package: packageName, channel }: Node,
): boolean {
  const subscription = {
    name: packageName,
    package: packageName,
    channel,
    catalog: source.name,
    startingCSV: name,
    installedCSV: '',
  };
  return (
    resolveNamespace(scope, { name: 'set', subscriptions: [subscription], installed: [] }).kind !== 'fails'
  );
}
