import { type Installed, installedOf, shortName } from '../../fbc/edge.ts';
import type { Channel, Package } from '../../fbc/model.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { upgradeOf } from '../../olm/resolve/outcome.ts';
import { placeOfHead } from '../finding-location.ts';
import { channelText, listed } from '../message-text.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/v0-v1-disagree',
  severity: 'warning',
  summary: 'Reports installations that OLM v0 and OLM v1 upgrade to different bundles',
  foresee(world, report) {
    if (!world.olm.has('v0') || !world.olm.has('v1')) return;
    for (const ofPackage of checkedPackages(world)) {
      for (const channel of ofPackage.channels.values()) {
        const differences = differencesIn(world, ofPackage, channel);
        if (differences.length === 0) continue;
        const message = `${channelText(channel.name, ofPackage.name)}: OLM v0 and OLM v1 choose different upgrades for ${listed(differences.map(({ text }) => text))}`;
        report(message, placeOfHead(channel), {
          package: ofPackage.name,
          channel: channel.name,
          installed: differences.map(({ from }) => shortName(from)),
          hint: 'test the upgrade with both OLM versions: v0 picks the entry closest to the head, v1 picks the highest version even if it is skipped',
        });
      }
    }
  },
};

function differencesIn(
  { foresight }: World,
  ofPackage: Package,
  channel: Channel,
): { from: Installed; text: string }[] {
  return channel.entries.flatMap((entry) => {
    const bundle = ofPackage.bundles.get(entry.name);
    if (!bundle) return [];
    const from = installedOf(bundle);
    const v0 = upgradeOf(foresight.v0({ package: ofPackage.name, channel: channel.name }, from).next)?.to;
    const v1 = upgradeOf(foresight.v1({ package: ofPackage.name, channels: [channel.name] }, from).next)?.to;
    // Other rules report installations that are stuck under one of them.
    if (!v0 || !v1 || v0.name === v1.name) return [];
    return [{ from, text: `${shortName(from)} (${shortName(v0)} or ${shortName(v1)})` }];
  });
}
