import { type Installed, shortName } from '../../fbc/edge.ts';
import { installationsOf } from '../../olm/foresight/installation.ts';
import type { World } from '../../olm/foresight/world.ts';
import { satisfies } from '../../version/satisfies.ts';
import { compareVersions, formatVersion, type Version, type VersionRange } from '../../version/version.ts';
import { placeOfEntry } from '../finding-location.ts';
import { channelText, listed, versionsOf } from '../message-text.ts';
import { type RangedChannel, rangedChannels } from '../ranges.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/skiprange-misses-prerelease',
  severity: 'warning',
  summary: 'Reports skipRanges that start at a version but do not cover its pre-releases',
  reads: ['history'],
  foresee(world, report) {
    for (const ranged of rangedChannels(world)) {
      const stuck = stuckPrereleases(world, ranged);
      for (const { channel, entry, range, bundle } of stuck.length > 0 ? ranged.ranged : []) {
        const [start, ...starts] = startsOf(range);
        if (!start) continue;
        const missed = stuck.filter(
          ({ version }) => version && [start, ...starts].some((one) => isPrereleaseOf(version, one)),
        );
        const left = missed.filter(({ version }) => version && !satisfies(version, range));
        if (left.length === 0) continue;
        const versions = versionsOf(left);
        const message = `${channelText(channel.name, channel.package)}: the skipRange ${quoted(range.text)} of ${shortName(bundle)} starts above ${listed(versions)}, because pre-releases are lower than their release`;
        report(message, placeOfEntry(channel, entry.index, 'skipRange'), {
          package: channel.package,
          channel: channel.name,
          installed: versions,
          hint: `start the range with >=${formatVersion(start)}-0`,
        });
      }
    }
  },
};

function stuckPrereleases(world: World, { ofPackage, channel }: RangedChannel): Installed[] {
  const place = { package: ofPackage.name, channel: channel.name };
  return installationsOf(world, ofPackage.name)
    .filter((one) => one.channel === channel.name && (one.installed.version?.prerelease.length ?? 0) > 0)
    .map(({ installed }) => installed)
    .filter((installed) => !world.foresight.v0(place, installed).arrives);
}

/** The released versions with which a range begins. */
function startsOf({ alternatives }: VersionRange): Version[] {
  return alternatives
    .flat()
    .filter(({ operator, version }) => operator === '>=' && version.prerelease.length === 0)
    .map(({ version }) => version);
}

function isPrereleaseOf(version: Version, release: Version): boolean {
  return compareVersions({ ...version, prerelease: [] }, release) === 0;
}
