import { shortName, versionText } from '../../fbc/edge.ts';
import type { Bundle } from '../../fbc/model.ts';
import type { World } from '../../olm/foresight/world.ts';
import { compareVersions } from '../../version/version.ts';
import { channelIn, entryIn, placeOfEntry, placeOfHead } from '../finding-location.ts';
import { channelText, grouped, listed } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/new-major',
  severity: 'info',
  summary: 'Reports channels that get a new major version',
  compare(change, report) {
    for (const name of change.packages) {
      const channels = [...(change.after.catalog.packages.get(name)?.channels.values() ?? [])];
      const raised = channels.flatMap((channel) => {
        const was = highestIn(change.before, name, channel.name);
        const is = highestIn(change.after, name, channel.name);
        const isRaised = was?.version && is?.version && is.version.major > was.version.major;
        return isRaised ? [{ channel, was, is, major: is.version.major }] : [];
      });
      for (const group of grouped(raised, ({ was, is }) => JSON.stringify([was.name, is.name]))) {
        const [first] = group;
        if (!first) continue;
        const { channel, was, is, major } = first;
        const entry = entryIn(channel, is.name);
        const others = group.slice(1).map((one) => quoted(one.channel.name));
        const also = others.length > 0 ? `, like ${listed(others)},` : '';
        const message = `${channelText(channel.name, name)}${also} gets its first version ${major}.x, ${versionText(is)}; its highest was ${versionText(was)}: subscribers upgrade to it automatically`;
        report(message, entry ? placeOfEntry(channel, entry.index) : placeOfHead(channel), {
          package: name,
          ...(others.length === 0 ? { channel: channel.name } : {}),
          installed: [shortName(was)],
          hint: 'publish a new major version in a separate channel if users must opt in',
        });
      }
    }
  },
};

/** The highest version that a channel has, or undefined where it has none. */
function highestIn(world: World, name: string, channel: string): Bundle | undefined {
  const bundles = world.catalog.packages.get(name)?.bundles;
  let highest: Bundle | undefined;
  for (const entry of channelIn(world, name, channel)?.entries ?? []) {
    const bundle = bundles?.get(entry.name);
    if (!bundle?.version) continue;
    if (!highest?.version || compareVersions(bundle.version, highest.version) > 0) highest = bundle;
  }
  return highest;
}
