/** The upgrades that a change adds: clusters perform them automatically after the merge, and did not before. */

import { type Installed, installedOf, shortName } from '../fbc/edge.ts';
import type { Bundle, Package } from '../fbc/model.ts';
import type { Location } from '../finding.ts';
import {
  broughtTo,
  clusterInstallations,
  type Installation,
  installationsOf,
  withoutChannels,
} from '../olm/foresight/installation.ts';
import { type Change, type Olm, upgradePathOf, type World } from '../olm/foresight/world.ts';
import type { Manifests } from '../olm/manifests.ts';
import { upgradeOf } from '../olm/resolve/outcome.ts';
import { v1Obstacles } from '../olm/resolve/support.ts';
import { entryIn, placeOfEntry, placeOfPackage } from './finding-location.ts';
import { listed } from './message-text.ts';
import { bundleOf } from './origins.ts';

/** An upgrade with what is known of both bundles. */
export interface NewUpgrade {
  readonly package: string;
  /** The channel that it is made in; under OLM v1 the first that has its target. */
  readonly channel: string;
  readonly from: Side;
  readonly to: Side;
  /** Where those who make it got to before. */
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

/** The upgrades that followed each other before a change, in one of the ways in which a bundle may be installed. */
interface FormerPath {
  readonly olm: Olm;
  /** Read where it is asked for: paths are long, and few upgrades need them. */
  readonly path: () => readonly Side[];
}

const known = new WeakMap<Change, Map<string, readonly NewUpgrade[]>>();

/** The upgrades that a change adds to a package, each pair of bundles once. */
export function newUpgrades(change: Change, name: string): readonly NewUpgrade[] {
  const byPackage = known.get(change) ?? new Map<string, readonly NewUpgrade[]>();
  known.set(change, byPackage);
  const found = byPackage.get(name) ?? findEdges(change, name);
  byPackage.set(name, found);
  return found;
}

function findEdges(change: Change, name: string): readonly NewUpgrade[] {
  const ofPackage = change.after.catalog.packages.get(name);
  if (!ofPackage) return [];
  const edges = new Map<string, NewUpgrade>();
  const add = (step: Step): void => {
    // Few upgrades are new: what is known of bundles is read for those alone.
    const to = targetOf(change, step);
    const from = to && sideOf(change, name, step.installed.name);
    if (!from || !to || (step.olm === 'v1' && [from, to].some(isRefusedByV1))) return;
    const former = { olm: step.olm, path: () => formerPath(change, step) };
    const key = JSON.stringify([from.bundle.name, to.bundle.name]);
    const channel = channelOf(ofPackage, step.channel, to);
    const same = edges.get(key) ?? { package: name, channel, from, to, former: [], olm: [] };
    const olm = [...new Set([...same.olm, step.olm])].sort();
    edges.set(key, { ...same, former: [...same.former, former], olm });
  };
  for (const step of stepsFrom(change, ofPackage)) add(step);
  return [...edges.values()];
}

/** What clusters may have had before a change: with it, on their way since, or in the catalog that they come from. */
function installedBefore(change: Change, { name }: Package, olm: Olm): readonly Installation[] {
  const { before, after, existed } = change;
  if (before.catalog.packages.has(name)) return clusterInstallations(before, name, olm);
  // Before somebody wrote the bundles of a repository as a catalog, clusters had the bundles.
  const made = installationsOf(after, name).filter(({ installed }) => {
    const bundle = after.catalog.packages.get(name)?.bundles.get(installed.name);
    return bundle !== undefined && existed(bundle);
  });
  return [...made, ...broughtTo(before, name, olm)];
}

/** Each step that clusters take after a change, from what they had before it; every bundle once. */
function* stepsFrom(change: Change, ofPackage: Package): Generator<Step> {
  const { olm } = change.after;
  const starts = [...olm].sort().flatMap((one): Step[] => {
    const all = installedBefore(change, ofPackage, one);
    const open = withoutChannels(all).map((installed) => ({ channel: '', installed }));
    // Who selects one channel may get what others do not.
    return [...(one === 'v0' ? [...all, ...open] : [...open, ...all])].map(({ channel, installed }) => {
      return { ofPackage, channel, installed, olm: one };
    });
  });
  const seen = { v0: new Map<string, Set<string>>(), v1: new Map<string, Set<string>>() };
  for (const start of starts) {
    const names = seen[start.olm].get(start.channel) ?? new Set<string>();
    seen[start.olm].set(start.channel, names);
    for (let at: Step | undefined = start; at; ) {
      if (names.has(at.installed.name)) break;
      names.add(at.installed.name);
      yield at;
      const next: Bundle | undefined = ofPackage.bundles.get(nextIn(change.after, at) ?? '');
      at = next && { ...at, installed: installedOf(next) };
    }
  }
}

interface Step {
  readonly ofPackage: Package;
  /** Empty for who selects none. */
  readonly channel: string;
  readonly installed: Installed;
  readonly olm: Olm;
}

/** Whether OLM v1 installs no such bundle, so that no cluster has it, or gets it, from there. */
function isRefusedByV1({ bundle, manifests }: Side): boolean {
  const modes = manifests.csv?.installModes;
  return v1Obstacles(bundle).length > 0 || (modes !== undefined && !modes.has('AllNamespaces'));
}

/** Name of the bundle that an installation becomes next; undefined where it stays. */
function nextIn(
  { foresight }: World,
  { ofPackage: { name }, channel, installed, olm }: Step,
): string | undefined {
  const following = { package: name, channel, olm, onlyChannel: channel !== '' };
  const { next } = upgradePathOf(foresight, following, installed);
  return upgradeOf(next)?.to.name;
}

/** Where an installation got to before a change, one upgrade after the other. */
function formerPath(change: Change, step: Step): Side[] {
  const path: Side[] = [];
  for (let at = step; ; ) {
    const side = sideOf(change, step.ofPackage.name, nextIn(change.before, at) ?? '');
    if (!side || path.some(({ bundle }) => bundle === side.bundle)) return path;
    path.push(side);
    at = { ...at, installed: installedOf(side.bundle) };
  }
}

/** Where a step leads that clusters did not go before; undefined where nothing is new. */
function targetOf({ before, after, existed }: Change, step: Step): Side | undefined {
  const bundle = step.ofPackage.bundles.get(nextIn(after, step) ?? '');
  if (!bundle || bundle.name === step.installed.name || nextIn(before, step) === bundle.name)
    return undefined;
  // Whoever writes bundles as a catalog adds no upgrade to those that they had.
  if (!before.catalog.packages.has(step.ofPackage.name) && existed(bundle)) return undefined;
  return { bundle, world: after, manifests: after.manifests(bundle) };
}

function sideOf(change: Change, ofPackage: string, name: string): Side | undefined {
  const bundle = bundleOf(change, ofPackage)(name);
  if (!bundle) return undefined;
  const { after, before } = change;
  const isIn = ({ catalog }: World): boolean => catalog.packages.get(ofPackage)?.bundles.get(name) === bundle;
  const world = [after, before, ...after.preceding, ...before.preceding].find(isIn) ?? before;
  return { bundle, world, manifests: world.manifests(bundle) };
}

function channelOf({ channels }: Package, channel: string, { bundle }: Side): string {
  if (channel !== '') return channel;
  return [...channels.values()].find((one) => entryIn(one, bundle.name))?.name ?? '';
}

/** `the upgrade 1.0.0 → 1.1.0`, or `the upgrades from 1.0.0 and 1.0.1 to 1.1.0`, of edges with one target. */
export function upgradesText(edges: readonly NewUpgrade[]): string {
  const from = edges.map((edge) => shortName(edge.from.bundle));
  const [first] = edges;
  const to = first ? shortName(first.to.bundle) : '';
  return from.length === 1 ? `the upgrade ${from[0]} → ${to}` : `the upgrades from ${listed(from)} to ${to}`;
}

/** The entry of an upgrade's target. */
export function placeOfEdge({ after }: Change, { package: name, channel, to }: NewUpgrade): Location {
  const its = after.catalog.packages.get(name)?.channels.get(channel);
  const entry = entryIn(its, to.bundle.name);
  const place = its && entry ? placeOfEntry(its, entry.index) : placeOfPackage(after, name);
  return place ?? { file: '', line: 1, column: 1 };
}
