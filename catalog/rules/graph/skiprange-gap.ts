import { installedOf, shortName } from '../../fbc/edge.ts';
import type { World } from '../../olm/foresight/world.ts';
import { highestIn } from '../../version/satisfies.ts';
import { compareVersions, type Version } from '../../version/version.ts';
import { placeOfEntry } from '../finding-location.ts';
import { channelText, listed, versionsOf } from '../message-text.ts';
import { type RangedChannel, rangedChannels, type Versioned, versioned } from '../ranges.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/skiprange-gap',
  severity: 'warning',
  summary: "Reports versions of a channel between an entry's skipRange and what the entry replaces",
  foresee(world, report) {
    for (const channel of rangedChannels(world)) {
      const stuck = stuckIn(world, channel);
      if (stuck.length === 0) continue;
      const ascending = versionsIn(channel)
        .map(({ version }) => version)
        .sort(compareVersions);
      for (const ranged of channel.ranged) {
        const replaced = versioned(channel.ofPackage, ranged.entry.replaces);
        const highest = replaced && highestIn(ascending, ranged.range);
        if (!highest || compareVersions(highest, replaced.version) >= 0) continue;
        const versions = versionsOf(stuck.filter(isBetween(highest, replaced.version)));
        if (versions.length === 0) continue;
        const { entry, range, bundle } = ranged;
        const message = `${channelText(ranged.channel.name, ranged.channel.package)}: ${listed(versions)} ${versions.length === 1 ? 'lies' : 'lie'} between the skipRange ${quoted(range.text)} of ${shortName(bundle)} and what it replaces, without an upgrade path`;
        report(message, placeOfEntry(ranged.channel, entry.index, 'skipRange'), {
          package: ranged.channel.package,
          channel: ranged.channel.name,
          installed: versions,
          hint: `end the range at the version of ${entry.replaces}`,
        });
      }
    }
  },
};

function versionsIn({ ofPackage, channel }: RangedChannel): Versioned[] {
  return channel.entries.flatMap(({ name }) => versioned(ofPackage, name) ?? []);
}

function stuckIn({ foresight }: World, channel: RangedChannel): Versioned[] {
  const place = { package: channel.ofPackage.name, channel: channel.channel.name };
  return versionsIn(channel).filter((bundle) => {
    const { next, arrives } = foresight.v0(place, installedOf(bundle));
    return next.kind !== 'upgrade' && !arrives;
  });
}

function isBetween(low: Version, high: Version): (one: Versioned) => boolean {
  return ({ version }) => compareVersions(version, low) > 0 && compareVersions(version, high) < 0;
}
