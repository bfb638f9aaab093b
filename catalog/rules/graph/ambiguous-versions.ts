import { shortName, versionText } from '../../fbc/edge.ts';
import { locate } from '../../fbc/model.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { versionReleaseKey, versionReleaseOf } from '../../olm/resolve/release.ts';
import { formatVersion } from '../../version/version.ts';
import { grouped } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/ambiguous-versions',
  severity: 'error',
  summary: 'Reports versions of a package that OLM v1 cannot order',
  foresee(world, report) {
    if (!world.olm.has('v1')) return;
    for (const ofPackage of checkedPackages(world)) {
      const versioned = [...ofPackage.bundles.values()].flatMap((bundle) => {
        const versionRelease = versionReleaseOf(bundle);
        return versionRelease ? [{ bundle, key: versionReleaseKey(versionRelease) }] : [];
      });
      for (const [first, ...others] of grouped(versioned, ({ key }) => key)) {
        for (const { bundle } of others) {
          const version = bundle.version && formatVersion(bundle.version);
          // The same text twice is refused by opm itself.
          if (!first?.bundle.version || version === formatVersion(first.bundle.version)) continue;
          const message = `package ${quoted(ofPackage.name)}: OLM v1 cannot order ${versionText(first.bundle)} and ${versionText(bundle)} and may install either: it compares what follows the + only as a release (identifiers without leading zeros, at most 20 characters)`;
          const at = bundle.properties.findIndex(({ type }) => type === 'olm.package');
          report(message, locate(bundle, 'properties', at, 'value', 'version'), {
            package: ofPackage.name,
            subject: [first.bundle.name, bundle.name].sort().join(' '),
            installed: [shortName(first.bundle), shortName(bundle)],
            hint: 'give each bundle a different version',
          });
        }
      }
    }
  },
};
