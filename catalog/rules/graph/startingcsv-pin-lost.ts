import { placeOfHead } from '../finding-location.ts';
import { channelText, counted, versionsOf } from '../message-text.ts';
import { removedEntries } from '../removed-entries.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/startingcsv-pin-lost',
  severity: 'warning',
  summary: 'Reports removed versions that users may have pinned, by startingCSV or an exact version',
  reads: ['history'],
  compare(change, report) {
    for (const { package: name, channel, installed, before } of removedEntries(change)) {
      // Subscriptions should not start with a pre-release, or with a version that another entry skips.
      const skipped = new Set(before.entries.flatMap(({ skips }) => skips));
      const pinned = installed.filter(
        (one) =>
          one.version?.prerelease.length === 0 &&
          !skipped.has(one.name) &&
          change.before.isPublished({ package: name, channel: channel.name, bundle: one.name }),
      );
      const versions = versionsOf(pinned);
      if (versions.length === 0) continue;
      const message = `${counted(versions, 'is', 'are')} removed from ${channelText(channel.name, name)}: installing it with startingCSV (OLM v0) or a pinned version (OLM v1) fails`;
      const hint = 'if users were told to pin it, keep the entry and skip it in a later one';
      report(message, placeOfHead(channel), {
        package: name,
        channel: channel.name,
        installed: versions,
        hint,
      });
    }
  },
};
