/**
 * The upgrades that a change adds: clusters perform them automatically after the merge, and did not before. What others
 * did before counts as well, for those who newly get there.
 */

import { changesBetween } from '../crd/safety.ts';
import { shortName } from '../fbc/edge.ts';
import type { Bundle, Package } from '../fbc/model.ts';
import type { Location } from '../finding.ts';
import { groupedBy } from '../go/grouped.ts';
import { broughtTo, installationsOf } from '../olm/foresight/installation.ts';
import { type Change, formerWorld, type Olm, type World } from '../olm/foresight/world.ts';
import type { Manifests } from '../olm/manifests.ts';
import { lacksManifests } from '../olm/outline.ts';
import { isRefusedByV1 } from '../olm/resolve/support.ts';
import { entryIn, placeOfEntry, placeOfPackage } from './finding-location.ts';
import { listed } from './message-text.ts';
import { installationsBefore, type NewStep, newSteps, stepsFrom } from './new-steps.ts';
import { type Details, quoted, type Report } from './rule.ts';

/** An upgrade with what is known of both bundles. */
export interface NewUpgrade {
  readonly package: string;
  /** The channel that it is made in; under OLM v1 the first that has its target. */
  readonly channel: string;
  /** All channels that it is made in. */
  readonly channels: ReadonlySet<string>;
  readonly from: Side;
  readonly to: Side;
  /** The versions of clusters that perform it, and the versions that these reached before. */
  readonly former: readonly FormerPath[];
  /** The generations of OLM that make it, v0 first. */
  readonly olm: readonly Olm[];
}

/** A bundle where it is known: in the state after the change, before it, in the past, or where clusters come from. */
export interface Side {
  readonly bundle: Bundle;
  readonly world: World;
  readonly manifests: Manifests;
}

/** An installation and the upgrades that followed before a change, in one of the ways in which a bundle may be installed. */
interface FormerPath {
  readonly olm: Olm;
  /** Read where it is asked for: paths are long, and few upgrades need them. */
  readonly path: () => readonly Side[];
}

const upgradesByChange = new WeakMap<Change, Map<string, readonly NewUpgrade[]>>();

/** The upgrades that a change adds to a package, each pair of bundles once. */
function newUpgrades(change: Change, name: string): readonly NewUpgrade[] {
  const byPackage = upgradesByChange.get(change) ?? new Map<string, readonly NewUpgrade[]>();
  upgradesByChange.set(change, byPackage);
  const found = byPackage.get(name) ?? findEdges(change, name);
  byPackage.set(name, found);
  return found;
}

/** The upgrades between bundles that a change makes new, each once, with the channels, OLMs and former paths. */
function findEdges(change: Change, name: string): readonly NewUpgrade[] {
  const ofPackage = change.after.catalog.packages.get(name);
  if (!ofPackage) return [];
  const edges = new Map<string, NewUpgrade>();
  // What a new catalog copies from the one before it is not new.
  const before = formerWorld(change, name);
  for (const step of newSteps({ before, after: change.after }, installationsBefore(change, name))) {
    // Few upgrades are new: what is known of bundles is read for those alone.
    const to = targetOf(change, step);
    const from = to && sideOf(change, name, step.installed.name);
    if (!from || !to) continue;
    // OLM v1 as it is by default: clusters whose feature gates it needs are not known.
    const isRefused = (side: Side): boolean => isRefusedByV1(side.bundle, 'default', side.manifests);
    if (step.olm === 'v1' && (isRefused(from) || isRefused(to))) continue;
    const former = { olm: step.olm, path: () => formerPath(change, before, step) };
    const key = JSON.stringify([from.bundle.name, to.bundle.name]);
    const channel = channelOf(ofPackage, step.channel, to);
    const known = edges.get(key);
    const same = known ?? { package: name, channel, channels: new Set(), from, to, former: [], olm: [] };
    const olm = [...new Set([...same.olm, step.olm])].sort();
    const channels = new Set([...same.channels, channel]);
    edges.set(key, { ...same, channels, former: [...same.former, former], olm });
  }
  return [...edges.values()];
}

/**
 * The bundles of the upgrade path before a change of those to whom an upgrade is new, from the one that they had on. Under
 * OLM v1 it ends where clusters were refused an upgrade.
 */
function formerPath(change: Change, before: World, { newTo, ...step }: NewStep): Side[] {
  const former = { ...step, installed: newTo };
  const names = [newTo.name, ...[...stepsFrom(before, former)].map((bundle) => bundle.name)];
  const path = names.flatMap((name) => sideOf(change, step.package, name) ?? []);
  if (step.olm === 'v0') return path;
  const end = path.findIndex((side, i) => isStoppedByV1(path[i - 1], side));
  return end < 0 ? path : path.slice(0, end);
}

/** Whether OLM v1 refuses an upgrade for what it would do to stored objects. */
function isStoppedByV1(from: Side | undefined, to: Side): boolean {
  if (!from) return false;
  const before = new Map((from.world.crds(from.bundle) ?? []).map((crd) => [crd.name, crd]));
  return (to.world.crds(to.bundle) ?? []).some((after) => {
    const crd = before.get(after.name);
    return crd !== undefined && changesBetween(crd, after).length > 0;
  });
}

/**
 * Where a step leads; undefined where the catalog is new and the repository had the bundle before. To write bundles as a
 * catalog adds no upgrade: clusters had them from the bundles.
 */
function targetOf({ before, after, existed }: Change, { package: name, to }: NewStep): Side | undefined {
  if (!before.catalog.packages.has(name) && existed(to)) return undefined;
  return { bundle: to, world: after, manifests: after.manifests(to) };
}

/** A bundle by its name, with the state or catalog that has it; undefined if nobody knows it. */
function sideOf(change: Change, ofPackage: string, name: string): Side | undefined {
  const bundle = bundleOf(change, ofPackage)(name);
  if (!bundle) return undefined;
  const { after, before } = change;
  const isIn = ({ catalog }: World): boolean => catalog.packages.get(ofPackage)?.bundles.get(name) === bundle;
  // A bundle that was only published once is in none of them: the state before knows the past.
  const world = [after, before, ...after.preceding, ...before.preceding].find(isIn) ?? before;
  return { bundle, world, manifests: world.manifests(bundle) };
}

/** The channel of an upgrade; for an extension without one, the first that has the target. */
function channelOf({ channels }: Package, channel: string, { bundle }: Side): string {
  if (channel !== '') return channel;
  return [...channels.values()].find((one) => entryIn(one, bundle.name))?.name ?? '';
}

/** Upgrades to one bundle that have the same effect, as messages name them. */
interface SameUpgrades {
  /** `the upgrade 1.0.0 → 1.1.0 of package "x"`, or `the upgrades from 1.0.0 and 1.0.1 to 1.1.0 of package "x"`. */
  readonly text: string;
  readonly isOne: boolean;
  /** The version that they lead to. */
  readonly to: string;
}

/**
 * Whether all clusters that perform an upgrade came to a bundle before the change that is like its target in some way, and
 * so is none of its news: those that stay at an old version on purpose hear of it at the first release, not at each.
 */
export function isKnownOnPaths(
  { former }: Pick<NewUpgrade, 'former'>,
  isAlike: (bundle: Side) => boolean,
): boolean {
  return former.every(({ path }) => path().some(isAlike));
}

interface UpgradeDetails extends Pick<Details, 'hint' | 'severity' | 'subject'> {
  readonly message: string;
}

/**
 * Reports what the upgrades do that a change adds: once for all to one bundle with the same effect.
 *
 * @param effectOf undefined for an upgrade with nothing to report; effects are compared as JSON
 */
export function reportUpgrades<Effect>(
  change: Change,
  report: Report,
  effectOf: (upgrade: NewUpgrade) => Effect | undefined,
  describe: (effect: Effect, upgrades: SameUpgrades) => UpgradeDetails,
): void {
  for (const name of change.packages) {
    const found = newUpgrades(change, name).flatMap((edge) => {
      const effect = effectOf(edge);
      return effect === undefined ? [] : [{ edge, effect }];
    });
    const key = ({ edge, effect }: (typeof found)[number]): string =>
      JSON.stringify([edge.to.bundle.name, effect]);
    for (const same of groupedBy(found, key).values()) {
      const [first] = same;
      if (!first) continue;
      const edges = same.map(({ edge }) => edge);
      const installed = edges.map(({ from }) => shortName(from.bundle));
      const to = shortName(first.edge.to.bundle);
      const isOne = edges.length === 1;
      const path = isOne
        ? `the upgrade ${installed[0]} → ${to}`
        : `the upgrades from ${listed(installed)} to ${to}`;
      const text = `${path} of package ${quoted(name)}`;
      const { message, ...details } = describe(first.effect, { text, isOne, to });
      const place = placeOfEdge(change, first.edge);
      report(message, place, { package: name, ...onlyChannelOf(edges), installed, ...details });
    }
  }
}

/** The channel of upgrades that are made in no other: what a policy allows in one channel it does not allow in the others. */
function onlyChannelOf(edges: readonly NewUpgrade[]): Pick<Details, 'channel'> {
  const [channel, ...others] = new Set(edges.flatMap(({ channels }) => [...channels]));
  return channel === undefined || others.length > 0 ? {} : { channel };
}

/** The entry of an upgrade's target. */
function placeOfEdge({ after }: Change, { package: name, channel, to }: NewUpgrade): Location {
  const channelBlob = after.catalog.packages.get(name)?.channels.get(channel);
  const entry = entryIn(channelBlob, to.bundle.name);
  const place = channelBlob && entry ? placeOfEntry(channelBlob, entry.index) : placeOfPackage(after, name);
  // The package has the bundle that the upgrade leads to, so it has a place: the last one only satisfies the types.
  return place ?? { file: '', line: 1, column: 1 };
}

// What clusters may have before they upgrade: versions of a catalog, versions that it had once, and those that clusters
// bring from the catalogs of the platform's previous versions.

/** Finds a bundle of a package by its name. */
export type BundleOf = (name: string) => Bundle | undefined;

/** A bundle that clusters may have installed from a channel. */
export interface Origin {
  readonly channel: string;
  readonly bundle: Bundle;
}

const findersByChange = new WeakMap<Change, Map<string, BundleOf>>();

/** Finds the bundles of a package wherever they are known: after the change, before it, in the past, in other catalogs. */
export function bundleOf(change: Change, name: string): BundleOf {
  const byPackage = findersByChange.get(change) ?? new Map<string, BundleOf>();
  findersByChange.set(change, byPackage);
  const known = new Map<string, Bundle | undefined>();
  const find =
    byPackage.get(name) ??
    ((bundle: string): Bundle | undefined => {
      if (!known.has(bundle)) known.set(bundle, lookUp(change, name, bundle));
      return known.get(bundle);
    });
  byPackage.set(name, find);
  return find;
}

/** The bundle of the catalogs that rules see; if none has it, what was published under its name. */
function lookUp({ before, after }: Change, name: string, bundle: string): Bundle | undefined {
  for (const { catalog } of [after, before, ...after.preceding, ...before.preceding]) {
    const one = catalog.packages.get(name)?.bundles.get(bundle);
    if (one) return one;
  }
  const all = before.publications({ package: name, bundle });
  const own = all.find(({ catalog }) => catalog === before.name) ?? all[0];
  const isWhole = (one: Bundle | undefined): boolean => one !== undefined && !lacksManifests(one);
  // Another catalog may have the same bundle with its manifests.
  const whole = all.find((one) => one.image === own?.image && isWhole(one.bundle));
  return isWhole(own?.bundle) ? own?.bundle : (whole ?? own)?.bundle;
}

/** Versions of a package on the clusters of a catalog, and on clusters that upgrade to it. */
export function originsIn(world: World, name: string, find: BundleOf): Origin[] {
  const origins = new Map<string, Origin>();
  const brought = [...world.olm].flatMap((olm) => broughtTo(world, name, olm));
  for (const { channel, installed } of [...installationsOf(world, name), ...brought]) {
    const bundle = find(installed.name);
    const key = JSON.stringify([channel, installed.name]);
    if (bundle && !origins.has(key)) origins.set(key, { channel, bundle });
  }
  return [...origins.values()];
}
