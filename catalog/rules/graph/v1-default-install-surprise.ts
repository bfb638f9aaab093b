import { headOf } from '../../fbc/channel.ts';
import { shortName } from '../../fbc/edge.ts';
import type { Bundle, Package } from '../../fbc/model.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { compareCandidates } from '../../olm/resolve/extension.ts';
import { versionReleaseOf } from '../../olm/resolve/release.ts';
import { placeOfPackage } from '../finding-location.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/v1-default-install-surprise',
  severity: 'warning',
  summary:
    'Reports packages of which OLM v1, without a channel, installs a pre-release or not the head of the default channel',
  foresee(world, report) {
    if (!world.olm.has('v1')) return;
    for (const ofPackage of checkedPackages(world)) {
      const channel = ofPackage.channels.get(ofPackage.defaultChannel);
      const head = channel && headOf(channel);
      const bundle = head && ofPackage.bundles.get(head.name);
      const fresh = freshOf(ofPackage);
      const location = placeOfPackage(world, ofPackage.name, 'defaultChannel');
      if (!bundle || !fresh || !location) continue;
      const isPrerelease = (fresh.version?.prerelease.length ?? 0) > 0;
      if (fresh.name === bundle.name && !isPrerelease) continue;
      const surprise =
        fresh.name === bundle.name
          ? `the pre-release ${shortName(fresh)}`
          : `${shortName(fresh)}${isPrerelease ? ', a pre-release' : ''}, not the head of the default channel, ${shortName(bundle)}`;
      const message = `under OLM v1 an extension of package ${quoted(ofPackage.name)} without a channel gets ${surprise}`;
      const hint = `tell users of OLM v1 to set channels: [${ofPackage.defaultChannel}]`;
      const subject = isPrerelease ? 'pre-release' : 'another channel';
      report(message, location, { package: ofPackage.name, subject, hint });
    }
  },
};

/** The version that OLM v1 installs from all channels together. */
function freshOf(ofPackage: Package): Bundle | undefined {
  const candidates = [...ofPackage.bundles.values()].map((bundle) => ({
    bundle,
    versionRelease: versionReleaseOf(bundle),
    deprecated: ofPackage.deprecatedBundles.has(bundle.name),
    edge: 'none' as const,
  }));
  return candidates.sort(compareCandidates)[0]?.bundle;
}
