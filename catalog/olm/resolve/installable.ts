/**
 * Whether OLM v0 can install a bundle with what it requires, where other catalogs of the clusters may be unknown. What
 * nothing here provides is taken to be in one of them; but what has a package here has it nowhere else.
 */
import type { Bundle } from '../../fbc/model.ts';
import { resolveNamespace } from './namespace.ts';
import { isHere, isMet, simpleProvider } from './provider.ts';
import { type Requirement, RequirementError } from './requirement.ts';
import { type Node, offerOfBundle, type Scope, type ScopeCatalog } from './snapshot.ts';
import { readRequirements } from './unreadable.ts';

const known = new WeakMap<Scope, Map<Node, boolean>>();

/** @throws Undecided where resolving costs too much */
export function isInstallable(scope: Scope, source: ScopeCatalog, node: Node): boolean {
  const ofScope = known.get(scope) ?? new Map<Node, boolean>();
  known.set(scope, ofScope);
  const found = ofScope.get(node) ?? find(scope, source, node);
  ofScope.set(node, found);
  return found;
}

function find(scope: Scope, source: ScopeCatalog, node: Node): boolean {
  const required = readRequirements(node.offer.properties, scope.cel).flatMap(({ read }) =>
    read instanceof RequirementError ? [] : [read],
  );
  const here = required.filter((one) => isHere(scope, one));
  if (here.length === 0) return true;
  if (!here.every((one) => isMet(scope, one))) return false;
  return hasSimpleSet(scope, node, here) || isResolved(scope, source, node);
}

/** Whether bundles that require nothing meet all requirements: most do, and then nothing needs to be solved. */
function hasSimpleSet(scope: Scope, { bundle }: Node, required: readonly Requirement[]): boolean {
  const found = required.map((one) => simpleProvider(scope, one));
  const set = [...new Set([bundle, ...found])].filter((one): one is Bundle => one !== undefined);
  const gvks = set.flatMap((one) => offerOfBundle(one).gvks);
  const packages = set.flatMap((one) => offerOfBundle(one).packages);
  return (
    found.every((one) => one !== undefined) &&
    new Set(gvks).size === gvks.length &&
    new Set(packages).size === packages.length
  );
}

function isResolved(scope: Scope, source: ScopeCatalog, { name, package: of, channel }: Node): boolean {
  const subscription = {
    name: of,
    package: of,
    channel,
    catalog: source.name,
    startingCSV: name,
    installedCSV: '',
  };
  return (
    resolveNamespace(scope, { name: 'set', subscriptions: [subscription], installed: [] }).kind !== 'fails'
  );
}
