import { shortName, versionText } from '../../fbc/edge.ts';
import { satisfies } from '../../version/satisfies.ts';
import { placeOfEntry } from '../finding-location.ts';
import { channelText } from '../message-text.ts';
import { isOpen, rangedChannels } from '../ranges.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/skiprange-covers-itself',
  severity: 'warning',
  summary: 'Reports skipRanges that do not end below the version of their entry',
  foresee(world, report) {
    for (const { channel, entry, range, bundle } of rangedChannels(world).flatMap(({ ranged }) => ranged)) {
      // A range without an upper end is reported by another rule.
      if (isOpen(range) || !satisfies(bundle.version, range)) continue;
      const message = `${channelText(channel.name, channel.package)}: the skipRange ${quoted(range.text)} of ${shortName(bundle)} covers ${shortName(bundle)} itself, so OLM v0 never offers some of its successors`;
      const hint = `end the range below the entry's own version: <${versionText(bundle)}`;
      const location = placeOfEntry(channel, entry.index, 'skipRange');
      report(message, location, {
        package: channel.package,
        channel: channel.name,
        subject: bundle.name,
        hint,
      });
    }
  },
};
