/**
 * Clusters that go to the next version of the platform before OLM has made their upgrades: an administrator approves
 * each of them, or does not wait.
 */
import type { Installed } from '../fbc/edge.ts';
import { isHeldBack } from '../fbc/openshift.ts';
import { clusterInstallations, publishedInstallations } from '../olm/foresight/installation.ts';
import { type Change, type Olm, upgradePathOf, type World } from '../olm/foresight/world.ts';
import { stepsOf } from './platform-upgrade.ts';

/** A version that is not the last one in its catalog, and that loses its way to a head in the next one. */
interface EarlyLoss {
  readonly channel: string;
  readonly installed: Installed;
  readonly to: World;
  readonly olm: Olm;
}

/** @param name of a package, in the catalog that clusters leave */
export function earlyLosses({ before, after }: Change, name: string): EarlyLoss[] {
  const bundles = before.catalog.packages.get(name)?.bundles;
  return stepsOf(after).flatMap((to) => {
    const was = before.following.find((other) => other.name === to.name);
    const channels = was?.catalog.packages.get(name)?.channels;
    if (!was || !channels || !to.catalog.packages.has(name)) return [];
    return [...after.olm].sort().flatMap((olm) => {
      // What its own clusters have is compared there.
      const own = new Set(clusterInstallations(was, name, olm).map(({ installed }) => installed.name));
      return publishedInstallations(before, name).flatMap(({ channel, installed }): EarlyLoss[] => {
        const bundle = bundles?.get(installed.name);
        if (!channels.has(channel) || own.has(installed.name)) return [];
        if (bundle && isHeldBack(bundle, to.platform)) return [];
        const following = { package: name, channel, olm, onlyChannel: true };
        const isLost =
          upgradePathOf(was.foresight, following, installed).arrives &&
          !upgradePathOf(to.foresight, following, installed).arrives;
        return isLost ? [{ channel, installed, to, olm }] : [];
      });
    });
  });
}
