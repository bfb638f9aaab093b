import { installedOf, shortName } from '../../fbc/edge.ts';
import type { World } from '../../olm/foresight/world.ts';
import { satisfies } from '../../version/satisfies.ts';
import { compareVersions } from '../../version/version.ts';
import { placeOfEntry } from '../finding-location.ts';
import { channelText, listed, versionsOf } from '../message-text.ts';
import {
  type RangedChannel,
  type RangedEntry,
  rangedChannels,
  type Versioned,
  versioned,
} from '../ranges.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/skiprange-gap',
  severity: 'warning',
  summary: "Reports versions of a channel between an entry's skipRange and what the entry replaces",
  foresee(world, report) {
    for (const channel of rangedChannels(world)) {
      const stuck = stuckIn(world, channel);
      for (const ranged of stuck.length > 0 ? channel.ranged : []) {
        const versions = versionsOf(leftOut(channel, ranged, stuck));
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

function stuckIn({ foresight }: World, { ofPackage, channel }: RangedChannel): Versioned[] {
  const place = { package: ofPackage.name, channel: channel.name };
  return channel.entries
    .flatMap(({ name }) => versioned(ofPackage, name) ?? [])
    .filter((bundle) => {
      const { next, arrives } = foresight.v0(place, installedOf(bundle));
      return next.kind !== 'upgrade' && !arrives;
    });
}

/** Stuck versions above everything that the range covers and below what the entry replaces. */
function leftOut(
  { ofPackage, channel }: RangedChannel,
  { entry, range }: RangedEntry,
  stuck: readonly Versioned[],
): Versioned[] {
  const replaced = versioned(ofPackage, entry.replaces);
  if (!replaced) return [];
  const covered = channel.entries
    .flatMap(({ name }) => versioned(ofPackage, name) ?? [])
    .filter(({ version }) => satisfies(version, range));
  return stuck.filter(
    ({ version }) =>
      compareVersions(version, replaced.version) < 0 &&
      covered.length > 0 &&
      covered.every((one) => compareVersions(version, one.version) > 0),
  );
}
