/**
 * What OLM v0 does in a namespace: every subscription and everything installed there are
 * resolved together, and where that fails nothing in the namespace is upgraded. A port
 * of the step resolver, with its silent and its loud ways to fail.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/step_resolver.go
 */
import type { Installed } from '../../fbc/edge.ts';
import type { Entry, Property } from '../../fbc/model.ts';
import { appendToGroup, groupedBy } from '../../go/grouped.ts';
import { compareText } from '../../go/text.ts';
import { NOT_EVALUATED } from '../../undecided.ts';
import type { Version } from '../../version/version.ts';
import { followersOf } from './followers.ts';
import type { Fails, ReasonCode } from './outcome.ts';
import { isHere, packagesFor } from './provider.ts';
import { gvkText, offerOf, REQUIRING, type Requirement, RequirementError } from './requirement.ts';
import {
  candidatesOf,
  disorderText,
  type Lane,
  lanesOf,
  type Node,
  nodesNamed,
  type Scope,
  type ScopeCatalog,
  spendEffort,
  tooEntangled,
  undecidedBetween,
} from './snapshot.ts';
import { type Constraint, solveConstraints, type Variable } from './solver.ts';
import { requirementIn } from './unreadable.ts';

export interface Subscription {
  readonly name: string;
  readonly package: string;
  /** Empty for any channel, the default one first. */
  readonly channel: string;
  /** Name of the CatalogSource. */
  readonly catalog: string;
  /** Bundle to begin with, or empty. */
  readonly startingCSV: string;
  /** Name of the subscription's installed ClusterServiceVersion, or empty. */
  readonly installedCSV: string;
}

interface ClusterServiceVersion {
  readonly name: string;
  /** Undefined where it is unknown; then only edges by name are found. */
  readonly version: Version | undefined;
  /** Properties of its bundle, including `olm.package`. */
  readonly properties: readonly Property[];
}

export interface Namespace {
  readonly name: string;
  readonly subscriptions: readonly Subscription[];
  readonly installed: readonly ClusterServiceVersion[];
}

/** A bundle that gets installed next. */
export interface InstallStep {
  readonly catalog: string;
  readonly package: string;
  readonly channel: string;
  readonly bundle: string;
  /** The installed bundle that it takes the place of; for a new one what its entry replaces; else empty. */
  readonly replaces: string;
  /** Names of the subscriptions that it installs for; with none, OLM creates a subscription. */
  readonly subscriptions: readonly string[];
}

/** Without steps nothing happens, and OLM reports nothing. */
export type Resolution = { readonly kind: 'resolved'; readonly steps: readonly InstallStep[] } | Fails;

/** What OLM v0 does with the Subscriptions of a namespace. @throws Undecided where resolving costs too much */
export function resolveNamespace(scope: Scope, namespace: Namespace): Resolution {
  try {
    return new Problem(scope, namespace).resolve();
  } catch (error) {
    if (error instanceof Failure) return { kind: 'fails', reason: { code: error.code, text: error.message } };
    if (error instanceof RequirementError) {
      if (error.kind === 'undecided') throw undecidedBetween(scope.catalogs, NOT_EVALUATED);
      return { kind: 'fails', reason: { code: 'bad-dependency', text: error.message } };
    }
    throw error;
  }
}

/** Ends the resolution; never leaves this file. */
class Failure extends Error {
  readonly code: ReasonCode;

  constructor(code: ReasonCode, text: string) {
    super(text);
    this.code = code;
  }
}

/** Several failures in one, as the resolver words them. */
function joinedFailure(
  failures: readonly (Failure | RequirementError)[],
  first: Failure | RequirementError,
): Failure {
  const texts = [...new Set(failures.map(({ message }) => message))];
  const code = first instanceof Failure ? first.code : 'bad-dependency';
  return new Failure(code, texts.length > 1 ? `[${texts.join(', ')}]` : first.message);
}

/** The source of what is installed, which the resolver treats as one more catalog. */
const EXISTING = '@existing';

interface Place {
  readonly node: Node;
  /** Undefined for what is installed. */
  readonly source: ScopeCatalog | undefined;
}

/** Providers in catalogs by requirement, and by the namespace and the catalog that prefer some of them. */
const knownProviders = new WeakMap<Requirement, Map<string, readonly Place[]>>();

class Problem {
  readonly #scope: Scope;
  readonly #namespace: Namespace;
  readonly #existing: readonly Node[];
  readonly #variables = new Map<string, { id: string; constraints: Constraint[] }>();
  readonly #places = new Map<string, Place>();
  /** The installed bundle that a candidate would replace, by identifier. */
  readonly #replaced = new Map<string, string>();

  constructor(scope: Scope, namespace: Namespace) {
    this.#scope = scope;
    this.#namespace = namespace;
    this.#existing = namespace.installed.map(existingNode);
  }

  /** Solves the problem. @throws Failure, RequirementError */
  resolve(): Resolution {
    for (const node of this.#existing) this.#addBundle({ node, source: undefined });
    this.#addSubscriptions();
    const variables = [...this.#variables.values(), ...this.#invariants()];
    return { kind: 'resolved', steps: this.#steps(this.#chosenAmong(variables)) };
  }

  /** Adds all subscriptions before it throws what failed for some of them. @throws Failure, RequirementError */
  #addSubscriptions(): void {
    const failures = this.#namespace.subscriptions.flatMap((one) => this.#failureToAdd(one));
    // Like the resolver, check only now whether all catalogs responded.
    const down = this.#scope.catalogs.filter(({ serving }) => !serving);
    if (down.length > 0) {
      const names = down.map(({ name, namespace }) => `${namespace}/${name}`);
      throw new Failure('not-serving', `error using catalogsource ${names.join(', ')}`);
    }
    const [failure] = failures;
    if (failure) throw failures.length > 1 ? joinedFailure(failures, failure) : failure;
  }

  /** Adds the bundles that a subscription may upgrade to. An error is returned, so that the caller can add the others first. */
  #failureToAdd(subscription: Subscription): readonly (Failure | RequirementError)[] {
    try {
      this.#addSubscription(subscription);
      return [];
    } catch (error) {
      // What Portolan cannot decide is not an error of OLM's.
      if (error instanceof RequirementError && error.kind === 'undecided') throw error;
      if (error instanceof Failure || error instanceof RequirementError) return [error];
      throw error;
    }
  }

  /** Adds the bundles that a subscription may upgrade to. @throws Failure, RequirementError */
  #addSubscription(subscription: Subscription): void {
    const current = this.#existing.find(({ name }) => name === subscription.installedCSV);
    const id = `subscription:${subscription.name}`;
    const exists: Constraint = { kind: 'mandatory', text: `subscription ${subscription.name} exists` };
    const source = this.#scope.catalogs.find((one) => one.name === subscription.catalog && one.serving);
    const offer = offerFor(subscription, source, current);
    if ('missing' in offer) {
      const prohibited: Constraint = { kind: 'prohibited', text: offer.missing };
      this.#variables.set(id, { id, constraints: [exists, prohibited] });
      return;
    }
    const ids = placesIn(offer, current).map((place) => this.#addBundle(place));
    if (current) {
      const own = this.#idOf({ node: current, source: undefined });
      for (const candidate of ids) this.#letReplace(candidate, own, current.name);
      ids.push(own);
    }
    const text = requiredText(subscription.name, ids);
    this.#variables.set(id, { id, constraints: [exists, { kind: 'dependency', ids, text }] });
  }

  /** Lets a candidate replace what is installed: a solution has one of the two. */
  #letReplace(candidate: string, own: string, name: string): void {
    this.#replaced.set(candidate, name);
    const text = `${candidate} conflicts with ${own}`;
    this.#variables.get(candidate)?.constraints.push({ kind: 'conflict', id: own, text });
  }

  /** Adds a bundle with all that it may need, and returns its identifier. */
  #addBundle(place: Place): string {
    const id = this.#idOf(place);
    const waiting = [place];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const known = this.#idOf(next);
      if (this.#variables.has(known)) continue;
      const variable = { id: known, constraints: this.#ownConstraints(next) };
      this.#variables.set(known, variable);
      this.#places.set(known, next);
      for (const requirement of requirementsIn(this.#scope, next.node.offer.properties)) {
        const providers = this.#providersOf(requirement, next.source);
        // Requirements with many providers that require others can take forever: the effort is limited.
        spendEffort(this.#scope, 1 + providers.length);
        // What no known catalog provides may be in one that is not known: it is not required then.
        const { assumesDependencies } = this.#scope;
        if (providers.length === 0 && assumesDependencies && !isHere(this.#scope, requirement)) continue;
        for (const provider of providers) waiting.push(provider);
        const text = `bundle ${next.node.name} requires an operator ${requirement.text}`;
        variable.constraints.push({ kind: 'dependency', ids: providers.map((one) => this.#idOf(one)), text });
      }
    }
    return id;
  }

  /**
   * Constraints of a bundle by itself: an installed one without a subscription stays, a deprecated one is not installed.
   */
  #ownConstraints({ node, source }: Place): Constraint[] {
    const constraints: Constraint[] = [];
    const isFree =
      !source && !this.#namespace.subscriptions.some(({ installedCSV }) => installedCSV === node.name);
    if (isFree) {
      const text = `clusterserviceversion ${node.name} exists and is not referenced by a subscription`;
      constraints.push({ kind: 'mandatory', text });
    }
    if (node.offer.properties.some(({ type }) => type === 'olm.deprecated')) {
      constraints.push({ kind: 'prohibited', text: `bundle ${this.#idOf({ node, source })} is deprecated` });
    }
    return constraints;
  }

  /** Providers of a requirement in order of preference: installed ones, the bundle's own catalog, then catalogs by priority. */
  #providersOf(requirement: Requirement, preferred: ScopeCatalog | undefined): Place[] {
    const existing = this.#existing.filter(({ offer }) => requirement.decide(offer));
    const installed = [...groupedBy(existing, (node) => node.package)]
      .sort(([a], [b]) => compareText(a, b))
      .flatMap(([name, nodes]) => inOrder(candidatesOf(nodes), { channel: '', package: name }))
      .map((node) => ({ node, source: undefined }));
    return [...installed, ...this.#catalogProviders(requirement, preferred)];
  }

  /** The providers in catalogs, found once for all bundles of a scope with the same requirement. */
  #catalogProviders(requirement: Requirement, preferred: ScopeCatalog | undefined): readonly Place[] {
    const cache = knownProviders.get(requirement) ?? new Map<string, readonly Place[]>();
    knownProviders.set(requirement, cache);
    const key = JSON.stringify([this.#namespace.name, preferred?.namespace, preferred?.name]);
    const providers = cache.get(key) ?? this.#findProviders(requirement, preferred);
    cache.set(key, providers);
    return providers;
  }

  /** Providers in the order in which OLM v0 tries them: by catalog, default channel, package, channel, and channel order. */
  #findProviders(requirement: Requirement, preferred: ScopeCatalog | undefined): Place[] {
    const { decide } = requirement;
    const sources = this.#scope.catalogs.filter(({ serving }) => serving);
    return [...sources].sort(this.#preference(preferred)).flatMap((source) => {
      const lanes = packagesFor(source.catalog, requirement).flatMap(lanesOf);
      for (const { nodes } of lanes) spendEffort(this.#scope, nodes.length);
      return lanes
        .filter(({ nodes }) => nodes.some(({ offer }) => decide(offer)))
        .sort(compareLanes)
        .flatMap((lane) => inOrder(lane.candidates, lane))
        .filter(({ offer }) => decide(offer))
        .map((node) => ({ node, source }));
    });
  }

  /** Orders catalogs as OLM v0 does: the preferred one, by priority, those of the namespace, by name. */
  #preference(preferred: ScopeCatalog | undefined): (a: ScopeCatalog, b: ScopeCatalog) => number {
    const home = this.#namespace.name;
    return (a, b) =>
      Number(b === preferred) - Number(a === preferred) ||
      b.priority - a.priority ||
      Number(b.namespace === home) - Number(a.namespace === home) ||
      compareText(a.name, b.name);
  }

  /** At most one provider of a kind of object, and one bundle of a package. */
  #invariants(): Variable[] {
    const gvks = new Map<string, string[]>();
    const packages = new Map<string, string[]>();
    for (const [id, { node }] of this.#places) {
      for (const gvk of node.offer.gvks) appendToGroup(gvks, gvk, id);
      for (const name of node.offer.packages) appendToGroup(packages, name, id);
    }
    // As OLM's resolver, with a variable also for what one alone provides, so that both have the same order.
    const atMostOneOf = (id: string, ids: readonly string[], what: string): Variable => {
      const sorted = [...ids].sort(compareText);
      const text = `${sorted.slice(0, -1).join(', ')} and ${sorted.at(-1)} ${what}`;
      return { id, constraints: ids.length > 1 ? [{ kind: 'at-most-one', ids: sorted, text }] : [] };
    };
    return [
      ...[...gvks].map(([gvk, ids]) => atMostOneOf(`gvk:${gvk}`, ids, `provide ${gvkText(gvk)}`)),
      ...[...packages].map(([name, ids]) =>
        atMostOneOf(`package:${name}`, ids, `originate from package ${name}`),
      ),
    ];
  }

  /** @returns identifiers of the variables that the solver chose */
  #chosenAmong(variables: readonly Variable[]): readonly string[] {
    const solution = solveConstraints(variables);
    if (solution.kind === 'solved') return solution.chosen;
    if (solution.kind === 'undecided') throw tooEntangled(this.#scope);
    const because = solution.because.length > 0 ? `: ${solution.because.join(', ')}` : '';
    throw new Failure('unsatisfiable', `constraints not satisfiable${because}`);
  }

  /** The installations that a solution asks for. A bundle that all its subscriptions have already is not one. */
  #steps(chosen: readonly string[]): InstallStep[] {
    return chosen.flatMap((id) => {
      const place = this.#places.get(id);
      if (!place?.source) return [];
      const { node, source } = place;
      const subscriptions = this.#namespace.subscriptions.filter(
        (one) =>
          one.package === node.package &&
          (one.channel === '' || one.channel === node.channel) &&
          one.catalog === source.name,
      );
      // A subscription may name a ClusterServiceVersion that is gone: then it is installed again.
      const upToDate = ({ installedCSV }: Subscription): boolean =>
        installedCSV === node.name && this.#existing.some(({ name }) => name === installedCSV);
      if (subscriptions.length > 0 && subscriptions.every(upToDate)) return [];
      return [
        {
          catalog: source.name,
          package: node.package,
          channel: node.channel,
          bundle: node.name,
          replaces: this.#replaced.get(id) ?? node.replaces,
          subscriptions: subscriptions.map(({ name }) => name),
        },
      ];
    });
  }

  #idOf({ node, source }: Place): string {
    const [catalog, namespace] = source ? [source.name, source.namespace] : [EXISTING, this.#namespace.name];
    return `${catalog}/${namespace}/${node.channel}/${node.name}`;
  }
}

/** The lanes of a catalog that a subscription selects. */
interface Offer {
  readonly source: ScopeCatalog;
  readonly lanes: readonly Lane[];
  /** Name of the bundle to begin with, or empty. */
  readonly starting: string;
}

/** The bundles that a subscription selects, or why there are none, in the resolver's words. */
function offerFor(
  { name, package: packageName, channel, catalog, startingCSV }: Subscription,
  source: ScopeCatalog | undefined,
  current: Node | undefined,
): Offer | { readonly missing: string } {
  if (!source || source.catalog.blobs.bundles.length === 0) {
    return {
      missing: `no operators found from catalog ${catalog} in namespace ${source?.namespace ?? ''} referenced by subscription ${name}`,
    };
  }
  const ofPackage = source.catalog.packages.get(packageName);
  const all = ofPackage ? lanesOf(ofPackage) : [];
  const lanes = all.filter((lane) => channel === '' || lane.channel === channel);
  const starting = current ? '' : startingCSV;
  const isOffered = (lane: Lane): boolean =>
    starting === '' ? lane.nodes.length > 0 : lane.nodes.some((node) => node.name === starting);
  const where = `in the catalog referenced by subscription ${name}`;
  if (!all.some((lane) => lane.nodes.length > 0)) {
    return { missing: `no operators found in package ${packageName} ${where}` };
  }
  if (!lanes.some((lane) => lane.nodes.length > 0)) {
    return { missing: `no operators found in channel ${channel} of package ${packageName} ${where}` };
  }
  if (!lanes.some(isOffered)) {
    return {
      missing: `no operators found with name ${starting} in channel ${channel} of package ${packageName} ${where}`,
    };
  }
  return { source, lanes, starting };
}

/**
 * The bundles that a subscription may go to, the preferred first.
 *
 * @throws Failure for a lane whose bundles have no order
 */
function placesIn({ source, lanes, starting }: Offer, current: Node | undefined): Place[] {
  const ordered = lanes.flatMap((lane) => {
    if (starting !== '') {
      return inOrder(candidatesOf(lane.nodes.filter(({ name }) => name === starting)), lane);
    }
    const nodes = inOrder(lane.candidates, lane);
    return current ? followersAmong(nodes, current, lane.entries) : nodes;
  });
  // A bundle of several channels may be taken from any of them.
  return ordered
    .flatMap((node) => [node, ...lanes.flatMap((lane) => nodesNamed(lane, node.name, node))])
    .map((node) => ({ node, source }));
}

/**
 * The resolver's text about the bundles that a subscription may become.
 *
 * @param ids of what a subscription may become; what is installed comes last
 */
function requiredText(subscription: string, ids: readonly string[]): string {
  const last = ids.at(-1);
  if (last === undefined) return `no operators found matching the criteria of subscription ${subscription}`;
  const others = ids.length === 1 ? '' : `at least one of ${ids.slice(0, -1).join(', ')} or `;
  return `subscription ${subscription} requires ${others}${last}`;
}

/** The node of an operator that is installed already, with what it offers. */
function existingNode({ name, version, properties }: ClusterServiceVersion): Node {
  const offer = offerOf(properties, { package: '', version });
  const place = { name, package: offer.packages.at(-1) ?? '', channel: '', isDefaultChannel: false };
  return { ...place, replaces: '', skips: [], version, offer, entry: undefined, bundle: undefined };
}

/**
 * The requirements of a bundle with these properties. Equal properties get the same requirement.
 *
 * @throws RequirementError
 */
function requirementsIn(scope: Scope, properties: readonly Property[]): Requirement[] {
  return properties
    .filter(({ type }) => REQUIRING.has(type))
    .map((property) => requirementIn(scope, property));
}

const followers = new WeakMap<readonly Node[], (installed: Installed) => readonly number[]>();

/** The nodes of a list of entries that follow an installation, in their order. */
function followersAmong(nodes: readonly Node[], installed: Installed, entries: readonly Entry[]): Node[] {
  const positions =
    followers.get(nodes) ??
    followersOf(
      nodes.map(({ entry }) => entry),
      [entries],
    );
  followers.set(nodes, positions);
  return positions(installed).flatMap((position) => nodes[position] ?? []);
}

/**
 * The bundles of a lane, the newest first.
 *
 * @param lane named in the failure
 * @throws Failure for a lane whose bundles have no order
 */
function inOrder(
  candidates: ReturnType<typeof candidatesOf<Node>>,
  lane: Pick<Lane, 'channel' | 'package'>,
): readonly Node[] {
  if (candidates.kind === 'ordered') return candidates.entries;
  throw new Failure('no-order', disorderText(candidates, lane.channel, lane.package));
}

/** The order in which OLM prefers channels: default ones first, then by name. */
function compareLanes(a: Lane, b: Lane): number {
  return (
    Number(b.isDefaultChannel) - Number(a.isDefaultChannel) ||
    compareText(a.package, b.package) ||
    compareText(a.channel, b.channel)
  );
}
