import { headOf } from '../../fbc/channel.ts';
import { shortName, versionText } from '../../fbc/edge.ts';
import type { Bundle } from '../../fbc/model.ts';
import type { World } from '../../olm/foresight/world.ts';
import { channelIn, placeOfEntry } from '../finding-location.ts';
import { channelText } from '../message-text.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/prerelease-head',
  severity: 'warning',
  summary: 'Reports channels of releases whose new head is a pre-release',
  compare(change, report) {
    for (const name of change.packages) {
      for (const channel of change.after.catalog.packages.get(name)?.channels.values() ?? []) {
        const head = headOf(channel);
        const bundle = head && change.after.catalog.packages.get(name)?.bundles.get(head.name);
        const released = bundlesIn(change.before, name, channel.name);
        const [was] = released;
        if (!was || !bundle || !isPrerelease(bundle) || released.some(isPrerelease)) continue;
        const message = `${channelText(channel.name, name)} had only releases, and its head is now the pre-release ${versionText(bundle)}: subscribers upgrade to it automatically`;
        report(message, placeOfEntry(channel, head.index), {
          package: name,
          channel: channel.name,
          installed: released.map(shortName),
          hint: 'publish pre-releases in a separate channel',
        });
      }
    }
  },
};

function isPrerelease({ version }: Bundle): boolean {
  return (version?.prerelease.length ?? 0) > 0;
}

/** The bundles that a channel has; none where there is no such channel. */
function bundlesIn(world: World, name: string, channel: string): Bundle[] {
  const bundles = world.catalog.packages.get(name)?.bundles;
  return (channelIn(world, name, channel)?.entries ?? []).flatMap((entry) => bundles?.get(entry.name) ?? []);
}
