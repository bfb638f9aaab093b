/**
 * What a change of a catalog does to each installation.
 */
import type { Installed } from '../../fbc/edge.ts';
import type { UpgradePath } from './foresight.ts';
import { clusterInstallations, withoutChannels } from './installation.ts';
import { type Change, type Olm, upgradePathOf } from './world.ts';

export interface InstallationChange {
  readonly package: string;
  readonly olm: Olm;
  /** The subscribed channel, or the only one that an extension selects; empty where none is named. */
  readonly channel: string;
  readonly installed: Installed;
  readonly before: UpgradePath;
  readonly after: UpgradePath;
}

const changesByPackage = new WeakMap<Change, Map<string, readonly InstallationChange[]>>();

/** Everything of a package that clusters may have before a change, with what becomes of it. */
export function installationChanges(change: Change, name: string): readonly InstallationChange[] {
  const byPackage = changesByPackage.get(change) ?? new Map<string, readonly InstallationChange[]>();
  changesByPackage.set(change, byPackage);
  const found = byPackage.get(name) ?? findChanges(change, name);
  byPackage.set(name, found);
  return found;
}

const changesByOlm = new WeakMap<Change, Map<Olm, readonly InstallationChange[]>>();

/** What becomes of the installations of all packages of a change under one OLM, or none when no cluster runs it. */
export function changesUnder(change: Change, olm: Olm): readonly InstallationChange[] {
  const byOlm = changesByOlm.get(change) ?? new Map<Olm, readonly InstallationChange[]>();
  changesByOlm.set(change, byOlm);
  const found =
    byOlm.get(olm) ??
    change.packages.flatMap((name) => installationChanges(change, name).filter((one) => one.olm === olm));
  byOlm.set(olm, found);
  return found;
}

/** The upgrade paths before and after a change, for every installation that clusters may have of a package. */
function findChanges(change: Change, name: string): InstallationChange[] {
  return [...change.after.olm].sort().flatMap((olm) => {
    const all = clusterInstallations(change.before, name, olm);
    // Who selects no channel has the same upgrades from every channel: each version counts once.
    const open = withoutChannels(all).map((installed) => ({ channel: '', installed }));
    return [...open, ...all].map(({ channel, installed }) => {
      const following = { package: name, olm, channel, onlyChannel: channel !== '' };
      const [before, after] = [change.before, change.after].map(({ foresight }) =>
        upgradePathOf(foresight, following, installed),
      ) as [UpgradePath, UpgradePath];
      return { package: name, olm, channel, installed, before, after };
    });
  });
}

/**
 * Changes under one OLM without those that another one stands for. Under OLM v1, whoever is affected without a channel is
 * affected with any: the change without one stands for all. Under OLM v0, most subscriptions name a channel: the change
 * without one is left out if any channel is affected.
 */
export function eachOnce(changes: readonly InstallationChange[]): readonly InstallationChange[] {
  const keyOf = ({ package: name, installed }: InstallationChange): string =>
    JSON.stringify([name, installed.name]);
  const isFirst = ({ olm, channel }: InstallationChange): boolean => (channel === '') === (olm === 'v1');
  const firstKeys = new Set(changes.filter(isFirst).map(keyOf));
  return changes.filter((one) => isFirst(one) || !firstKeys.has(keyOf(one)));
}
