import { channelText, counted, versionsOf } from '../phrase.ts';
import { placeOfHead } from '../place.ts';
import { removedEntries } from '../removed.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/startingcsv-pin-lost',
  severity: 'warning',
  summary: 'What people may have pinned, by startingCSV or by an exact version, stays in the catalog',
  compare(change, report) {
    for (const { package: name, channel, installed, before } of removedEntries(change)) {
      // Nobody was meant to begin with a pre-release, or with what another entry skips.
      const skipped = new Set(before.entries.flatMap(({ skips }) => skips));
      const pinned = installed.filter(
        (one) =>
          one.version?.prerelease.length === 0 &&
          !skipped.has(one.name) &&
          change.before.isPublished({ package: name, channel: channel.name, bundle: one.name }),
      );
      const versions = versionsOf(pinned);
      if (versions.length === 0) continue;
      const message = `${counted(versions, 'is', 'are')} removed from ${channelText(channel.name, name)}: who installs it with startingCSV (OLM v0) or pins its version (OLM v1) gets an error`;
      const hint = 'keep the entry, skipped by a later one, if it was ever recommended';
      report(message, placeOfHead(channel), {
        package: name,
        channel: channel.name,
        installed: versions,
        hint,
      });
    }
  },
};
