import { headOf } from '../../fbc/channel.ts';
import { shortName } from '../../fbc/edge.ts';
import type { Channel, Package } from '../../fbc/model.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { compareVersions } from '../../version/version.ts';
import { placeOfPackage } from '../finding-location.ts';
import { type Versioned, versioned } from '../ranges.ts';
import { quoted, type Rule } from '../rule.ts';
import { isUnstable } from '../unstable.ts';

export const rule: Rule = {
  id: 'graph/default-not-newest',
  severity: 'warning',
  summary: 'Reports default channels without the newest released version of the package',
  foresee(world, report) {
    for (const ofPackage of checkedPackages(world)) {
      const own = ofPackage.channels.get(ofPackage.defaultChannel);
      const head = own && headBundle(ofPackage, own);
      const location = placeOfPackage(world, ofPackage.name, 'defaultChannel');
      if (!head || !location || isUnstable(own.name)) continue;
      const newer = [...ofPackage.channels.values()]
        .filter(({ name }) => !isUnstable(name))
        .flatMap((channel) => {
          const bundle = headBundle(ofPackage, channel);
          return bundle ? [{ channel, bundle }] : [];
        })
        .filter(
          ({ bundle }) =>
            bundle.version.prerelease.length === 0 && compareVersions(bundle.version, head.version) > 0,
        )
        .sort((a, b) => compareVersions(b.bundle.version, a.bundle.version));
      const [newest] = newer;
      if (!newest) continue;
      const message = `the default channel ${quoted(own.name)} of package ${quoted(ofPackage.name)} ends at ${shortName(head)}, while channel ${quoted(newest.channel.name)} has ${shortName(newest.bundle)}`;
      const hint = `defaultChannel: ${newest.channel.name}`;
      report(message, location, { package: ofPackage.name, channel: own.name, hint });
    }
  },
};

function headBundle(ofPackage: Package, channel: Channel): Versioned | undefined {
  const head = headOf(channel);
  return head && versioned(ofPackage, head.name);
}
