/**
 * What clusters may have before they upgrade: versions of a catalog, versions that it had once, and those that clusters
 * bring from the catalogs of the platform's previous versions.
 */
import type { Bundle } from '../fbc/model.ts';
import { broughtTo, installationsOf } from '../olm/foresight/installation.ts';
import type { Change, World } from '../olm/foresight/world.ts';
import { lacksManifests } from '../olm/outline.ts';

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
