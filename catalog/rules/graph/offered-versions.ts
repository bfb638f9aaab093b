import { headOf, supportedChannels } from '../../fbc/channel.ts';
import { shortName } from '../../fbc/edge.ts';
import type { Channel, Package } from '../../fbc/model.ts';
import { isUnstable } from '../../names.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { compareVersions } from '../../version/version.ts';
import { placeOfEntry, placeOfPackage } from '../finding-location.ts';
import { channelText, grouped, listed } from '../message-text.ts';
import { bundleWithVersion, type Versioned } from '../ranges.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'graph/all-deprecated',
    severity: 'warning',
    summary: 'Reports packages of which everything is deprecated, so that clusters have nothing to move to',
    checkWorld(world, report) {
      for (const { name, channels, deprecation, deprecatedChannels } of checkedPackages(world)) {
        const location = placeOfPackage(world, name);
        const isAll =
          channels.size > 0 && [...channels.keys()].every((channel) => deprecatedChannels.has(channel));
        if (!location || (deprecation === undefined && !isAll)) continue;
        const what = deprecation === undefined ? 'all channels are' : 'it is';
        const message = `package ${quoted(name)} has nothing that is not deprecated, because ${what}: every installation is shown as deprecated and has nothing to move to`;
        const hint = `if that is meant, say in the message of the deprecation what replaces it; else deprecate single channels or bundles`;
        report(message, location, { package: name, hint });
      }
    },
  },
  {
    id: 'graph/default-deprecated',
    severity: 'warning',
    summary: 'Reports deprecated default channels of packages that have a supported channel',
    checkWorld(world, report) {
      for (const ofPackage of checkedPackages(world)) {
        const { name, defaultChannel, deprecatedChannels } = ofPackage;
        const location = placeOfPackage(world, name, 'defaultChannel');
        const others = supportedChannels(ofPackage).map((channel) => channel.name);
        const other = others.find((channel) => !isUnstable(channel)) ?? others[0];
        if (!location || !deprecatedChannels.has(defaultChannel) || other === undefined) continue;
        const message = `the default channel ${quoted(defaultChannel)} of package ${quoted(name)} is deprecated, but ${quoted(other)} is not`;
        report(message, location, {
          package: name,
          channel: defaultChannel,
          hint: `defaultChannel: ${other}`,
        });
      }
    },
  },
  {
    id: 'graph/default-not-newest',
    severity: 'warning',
    summary: 'Reports default channels without the newest released version of the package',
    checkWorld(world, report) {
      for (const ofPackage of checkedPackages(world)) {
        const own = ofPackage.channels.get(ofPackage.defaultChannel);
        const head = own && headBundle(ofPackage, own);
        const location = placeOfPackage(world, ofPackage.name, 'defaultChannel');
        if (!head || !location || isUnstable(own.name)) continue;
        const newer = supportedChannels(ofPackage)
          .filter(({ name }) => !isUnstable(name))
          .flatMap((channel) => {
            const bundle = headBundle(ofPackage, channel);
            return bundle ? [{ channel, bundle }] : [];
          })
          .filter(
            ({ bundle }) =>
              bundle.version.prerelease.length === 0 &&
              compareVersions(bundle.version, head.version) > 0 &&
              !ofPackage.deprecatedBundles.has(bundle.name),
          )
          .sort((a, b) => compareVersions(b.bundle.version, a.bundle.version));
        const [newest] = newer;
        if (!newest) continue;
        const message = `the default channel ${quoted(own.name)} of package ${quoted(ofPackage.name)} ends at ${shortName(head)}, while channel ${quoted(newest.channel.name)} has ${shortName(newest.bundle)}`;
        const hint = `defaultChannel: ${newest.channel.name}`;
        report(message, location, { package: ofPackage.name, channel: own.name, hint });
      }
    },
  },
  {
    id: 'graph/default-unstable',
    severity: 'warning',
    summary: 'Reports default channels that are alpha or candidate channels although there is a stable one',
    checkWorld(world, report) {
      for (const ofPackage of checkedPackages(world)) {
        const { name, defaultChannel } = ofPackage;
        const location = placeOfPackage(world, name, 'defaultChannel');
        const stable = supportedChannels(ofPackage).find((channel) => !isUnstable(channel.name))?.name;
        if (!location || !isUnstable(defaultChannel) || stable === undefined) continue;
        const message = `the default channel of package ${quoted(name)} is ${quoted(defaultChannel)}, but there is a stable channel, ${quoted(stable)}`;
        report(message, location, {
          package: name,
          channel: defaultChannel,
          hint: `defaultChannel: ${stable}`,
        });
      }
    },
  },
  {
    id: 'graph/deprecated-head',
    severity: 'warning',
    summary: 'Reports deprecated bundles without a successor in channels that are not deprecated',
    checkWorld(world, report) {
      for (const {
        name,
        channels,
        bundles,
        deprecation,
        deprecatedChannels,
        deprecatedBundles,
      } of checkedPackages(world)) {
        if (deprecation !== undefined) continue;
        const ended = [...channels.values()].flatMap((channel) => {
          const head = headOf(channel);
          const bundle = head && bundles.get(head.name);
          const isEnded =
            bundle && deprecatedBundles.has(bundle.name) && !deprecatedChannels.has(channel.name);
          return isEnded ? [{ channel, head, bundle }] : [];
        });
        for (const group of grouped(ended, ({ head }) => head.name)) {
          const [first] = group;
          if (!first) continue;
          const { channel, head, bundle } = first;
          const others = group.slice(1).map((one) => quoted(one.channel.name));
          const also = others.length > 0 ? `, also of ${listed(others)}` : '';
          const message = `${channelText(channel.name, name)}: the head ${shortName(bundle)}${also} is deprecated and has no successor`;
          report(message, placeOfEntry(channel, head.index), {
            package: name,
            ...(others.length === 0 ? { channel: channel.name } : {}),
            installed: [shortName(bundle)],
            hint: `publish a successor, or deprecate the channel: reference: {schema: olm.channel, name: ${channel.name}}`,
          });
        }
      }
    },
  },
];

function headBundle(ofPackage: Package, channel: Channel): Versioned | undefined {
  const head = headOf(channel);
  return head && bundleWithVersion(ofPackage, head.name);
}
