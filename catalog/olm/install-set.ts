/**
 * What must be installed together with a package: its requirements and theirs, solved as OLM v0 does. OLM v1 solves none, so
 * whoever uses it installs the set one by one, what is required first.
 */
import type { Bundle } from '../fbc/model.ts';
import { resolveNamespace } from './resolve/namespace.ts';
import { packagesFor } from './resolve/provider.ts';
import { type Requirement, RequirementError } from './resolve/requirement.ts';
import { offerOfBundle, type Scope, spendEffort } from './resolve/snapshot.ts';
import { readRequirements } from './resolve/unreadable.ts';

/** A bundle of a set. */
export interface SetMember {
  readonly catalog: string;
  readonly channel: string;
  readonly bundle: Bundle;
  /** Its requirements, in the resolver's words, each with the package of the set that meets it. */
  readonly requires: readonly { readonly text: string; readonly package: string }[];
}

interface Wanted {
  readonly package: string;
  /** Empty for the default one. */
  readonly channel: string;
  /** Name of the catalog. */
  readonly catalog: string;
  /** Name of the bundle; the newest one in the channel that can be installed when empty. */
  readonly bundle?: string;
}

/**
 * The set of a package, required packages first; or why there is none.
 *
 * @throws Undecided where resolving costs too much
 */
export function installSet(
  scope: Scope,
  { package: name, channel, catalog, bundle = '' }: Wanted,
): { readonly members: readonly SetMember[] } | { readonly why: string } {
  const subscription = { name, package: name, channel, catalog, startingCSV: bundle, installedCSV: '' };
  const resolution = resolveNamespace(scope, { name: 'set', subscriptions: [subscription], installed: [] });
  if (resolution.kind === 'fails') return { why: resolution.reason.text };
  const found = resolution.steps.flatMap((step) => {
    const source = scope.catalogs.find((one) => one.name === step.catalog);
    const own = source?.catalog.packages.get(step.package)?.bundles.get(step.bundle);
    return own ? [{ catalog: step.catalog, channel: step.channel, bundle: own }] : [];
  });
  const members = found.map((one) => ({ ...one, requires: requirementsIn(one.bundle, { scope, found }) }));
  return members.length === 0
    ? { why: `nothing to install for package ${name}` }
    : { members: requiredFirst(members) };
}

/** What a bundle requires, each with the package in the set that provides it. Requirements that OLM cannot read are left out. */
function requirementsIn(
  bundle: Bundle,
  { scope, found }: { readonly scope: Scope; readonly found: readonly { readonly bundle: Bundle }[] },
): SetMember['requires'] {
  return readRequirements(scope, bundle.properties).flatMap(({ read }) => {
    if (read instanceof RequirementError) return [];
    // All of the set are installed: where several meet it, the first will do.
    const provider = found.find((one) => read.holds(offerOfBundle(one.bundle)));
    return provider ? [{ text: read.text, package: provider.bundle.package }] : [];
  });
}

/** Orders required bundles first. Bundles that require each other keep the order in which they were found. */
function requiredFirst(members: readonly SetMember[]): SetMember[] {
  const placed = new Map<string, SetMember>();
  const visited = new Set<string>();
  const place = (member: SetMember): void => {
    const name = member.bundle.package;
    if (visited.has(name)) return;
    visited.add(name);
    for (const required of member.requires) {
      const own = members.find(({ bundle }) => bundle.package === required.package);
      if (own) place(own);
    }
    placed.set(name, member);
  };
  for (const member of members) place(member);
  return [...placed.values()];
}

// Finds bundles that OLM v0 cannot install because no catalog of the cluster meets a requirement.

/** A requirement that no catalog meets. */
export interface MissingRequirement {
  /** Name of the bundle with the requirement. */
  readonly bundle: string;
  /** In the resolver's words, such as `with package: bar and with version in range: >=1.0.0`. */
  readonly requires: string;
}

/** How many bundles that require one another are followed: each takes call stack. Bundles behind these count as complete. */
const DEEPEST = 500;

/**
 * The requirements of bundles that nothing in the catalogs of a scope meets, and of what they require in turn where
 * all that meets it lacks something itself. Requirements that cannot be read are left out: the resolver says so.
 */
export function missingRequirements(scope: Scope, bundles: readonly Bundle[]): MissingRequirement[] {
  const providers = new Map<Requirement, readonly Bundle[]>();
  const known = new Map<Bundle, readonly MissingRequirement[]>();
  const lackedBy = (bundle: Bundle, depth = 0): readonly MissingRequirement[] => {
    const found = known.get(bundle);
    if (found) return found;
    if (depth > DEEPEST) return [];
    // Bundles that require each other lack nothing for that reason.
    known.set(bundle, []);
    const lacked = readRequirements(scope, bundle.properties).flatMap(
      ({ read }): readonly MissingRequirement[] => {
        if (read instanceof RequirementError) return [];
        const those = providers.get(read) ?? findProviders(scope, read);
        providers.set(read, those);
        spendEffort(scope, 1 + those.length);
        const [first, ...others] = those.map((one) => lackedBy(one, depth + 1));
        if (!first) return [{ bundle: bundle.name, requires: read.text }];
        // If each bundle that meets it lacks something, what the first lacks is an example.
        return [first, ...others].every((one) => one.length > 0) ? first : [];
      },
    );
    known.set(bundle, lacked);
    return lacked;
  };
  const lacked = bundles.flatMap((one) => lackedBy(one));
  return [...new Map(lacked.map((one) => [JSON.stringify([one.bundle, one.requires]), one])).values()];
}

/** The bundles of all catalogs that meet a requirement. */
function findProviders(scope: Scope, requirement: Requirement): readonly Bundle[] {
  const packages = scope.catalogs.flatMap(({ catalog }) => packagesFor(catalog, requirement));
  const bundles = packages.flatMap((one) => [...one.bundles.values()]);
  spendEffort(scope, bundles.length);
  return bundles.filter((one) => requirement.holds(offerOfBundle(one)));
}
