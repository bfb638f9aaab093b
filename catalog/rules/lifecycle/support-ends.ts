import { installedOf, shortName } from '../../fbc/edge.ts';
import { daysAfter, Lifecycles } from '../../fbc/lifecycle.ts';
import { locate } from '../../fbc/model.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { supportedHeads } from '../head-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

/** From so many days on, the console warns of the end. */
const SOON = 365;

export const rule: Rule = {
  id: 'lifecycle/support-ends',
  severity: 'warning',
  summary: 'Reports channels that offer what is not supported, by the lifecycle metadata of the package',
  foresee(world, report) {
    const { catalog, asOf } = world;
    if (asOf === undefined) return;
    const lifecycles = new Lifecycles(catalog);
    for (const ofPackage of checkedPackages(world)) {
      const { name, defaultChannel } = ofPackage;
      for (const { bundle, channels } of supportedHeads(ofPackage)) {
        const known = lifecycles.of(name, bundle.version);
        const end = known?.lifecycle.phases
          .map((phase) => phase.end)
          .sort()
          .at(-1);
        if (!known || end === undefined || end > daysAfter(asOf, SOON)) continue;
        const isOver = end < asOf;
        const version = shortName(installedOf(bundle));
        const message = `package ${quoted(name)}: support of ${version}, head of ${channels.map(quoted).join(', ')}, ${isOver ? 'ended' : 'ends'} on ${end}`;
        report(message, locate(known.blob, 'versions', known.lifecycle.index, 'name'), {
          package: name,
          installed: [version],
          severity: isOver && channels.includes(defaultChannel) ? 'warning' : 'info',
          hint: 'publish a supported version in the channel, or deprecate the channel',
        });
      }
    }
  },
};
