/**
 * The upgrade path of one installation, step by step, over all catalogs that its cluster has:
 * what somebody who runs it wants to know.
 */

import { headOf, headsOf } from '../../fbc/channel.ts';
import type { Installed } from '../../fbc/edge.ts';
import { formatVersion } from '../../version/version.ts';
import { resolveNamespace } from '../resolve/namespace.ts';
import { nextV0, type Place } from '../resolve/next-v0.ts';
import { type ExtensionSpec, nextOfExtension } from '../resolve/next-v1.ts';
import {
  type Fails,
  type PlacedOutcome,
  type PlacedUpgrade,
  placedIn,
  type Stays,
} from '../resolve/outcome.ts';
import type { Scope, ScopeCatalog } from '../resolve/snapshot.ts';
import type { Olm } from './world.ts';

/** An upgrade path with each of its steps. */
export interface DetailedPath {
  readonly olm: Olm;
  readonly steps: readonly PlacedUpgrade[];
  /** Why it goes no further; `circle` where the last step leads back to an earlier one. */
  readonly last: Stays | Fails | { readonly kind: 'circle' };
  /** Whether it ends at a head: of the subscribed channel, or of any selected one. */
  readonly arrives: boolean;
}

/**
 * The upgrade path of a subscription under OLM v0.
 *
 * @param source the catalog that is subscribed to, one of the scope
 * @param from undefined for what a new subscription gets
 */
export function detailedPathV0(
  scope: Scope,
  { source, place }: { readonly source: ScopeCatalog; readonly place: Place },
  from: Installed | undefined,
): DetailedPath {
  const channel = source.catalog.packages.get(place.package)?.channels.get(place.channel);
  const head = channel && headOf(channel)?.name;
  const notServed = scope.catalogs.find(({ serving }) => !serving);
  const nextOf = nextV0(scope, source, place);
  const next = (installed: Installed | undefined): PlacedOutcome => {
    if (notServed) return notServing(notServed);
    return installed ? placedIn(source.name, nextOf(installed)) : firstV0(scope, source, place);
  };
  return { olm: 'v0', ...pathFrom(from, next, (name) => name === head) };
}

function notServing({ name }: ScopeCatalog): Fails {
  const text = `opm serve rejects the catalog ${name}, so OLM v0 resolves nothing in namespaces that can see it`;
  return { kind: 'fails', reason: { code: 'not-serving', text } };
}

/** What a new subscription gets in a namespace that has nothing else installed. */
function firstV0(scope: Scope, source: ScopeCatalog, place: Place): PlacedOutcome {
  const subscription = { name: place.package, ...place, catalog: source.name };
  const resolution = resolveNamespace(scope, {
    name: 'operators',
    subscriptions: [{ ...subscription, startingCSV: '', installedCSV: '' }],
    installed: [],
  });
  if (resolution.kind === 'fails') return resolution;
  const step = resolution.steps.find(({ subscriptions }) => subscriptions.length > 0);
  if (!step) return { kind: 'stays', reason: { code: 'no-edge', text: 'nothing is installed' } };
  const version = source.catalog.packages.get(place.package)?.bundles.get(step.bundle)?.version;
  const to = { name: step.bundle, version, catalog: step.catalog, channel: step.channel };
  return { kind: 'upgrade', to, edge: 'none' };
}

/**
 * The upgrade path of an extension under OLM v1.
 *
 * @param from undefined for what a new extension gets
 */
export function detailedPathV1(scope: Scope, spec: ExtensionSpec, from: Installed | undefined): DetailedPath {
  const heads = new Set(
    scope.catalogs
      .flatMap(({ catalog }) => [...(catalog.packages.get(spec.package)?.channels.values() ?? [])])
      .filter(({ name }) => spec.channels.length === 0 || spec.channels.includes(name))
      .flatMap(headsOf)
      .map(({ name }) => name),
  );
  const next = (installed: Installed | undefined): PlacedOutcome => nextOfExtension(scope, spec, installed);
  return { olm: 'v1', ...pathFrom(from, next, (name) => heads.has(name)) };
}

/**
 * The path from an installed version, step by step, until nothing follows or a version comes again. `arrives` if it ends
 * at a head.
 */
function pathFrom(
  from: Installed | undefined,
  next: (installed: Installed | undefined) => PlacedOutcome,
  isHead: (name: string) => boolean,
): Omit<DetailedPath, 'olm'> {
  const steps: PlacedUpgrade[] = [];
  const seen = new Set(from ? [from.name] : []);
  for (let at = from; ; ) {
    const outcome = next(at);
    if (outcome.kind !== 'upgrade') {
      return {
        steps,
        last: outcome,
        arrives: outcome.kind === 'stays' && at !== undefined && isHead(at.name),
      };
    }
    steps.push(outcome);
    if (seen.has(outcome.to.name)) return { steps, last: { kind: 'circle' }, arrives: false };
    seen.add(outcome.to.name);
    at = outcome.to;
  }
}

/** Names that the entries of a package give to what they replace or skip. */
export function namedByEntries(source: ScopeCatalog, ofPackage: string): ReadonlySet<string> {
  const channels = [...(source.catalog.packages.get(ofPackage)?.channels.values() ?? [])];
  const names = channels.flatMap(({ entries }) =>
    entries.flatMap(({ replaces, skips }) => [...(replaces === '' ? [] : [replaces]), ...skips]),
  );
  return new Set(names);
}

/**
 * The bundles of a package that people may mean by a version: those that have exactly it,
 * else those that differ from it in build metadata only.
 */
export function bundlesOfVersion(source: ScopeCatalog, ofPackage: string, version: string): Installed[] {
  const bundles = [...(source.catalog.packages.get(ofPackage)?.bundles.values() ?? [])];
  const all = bundles.map(({ name, version: own }) => ({ name, version: own }));
  const exact = all.filter(({ version: own }) => own && formatVersion(own) === version);
  const plain = (text: string): string => text.split('+')[0] ?? text;
  return exact.length > 0
    ? exact
    : all.filter(({ version: own }) => own && plain(formatVersion(own)) === plain(version));
}
