import { shortName, versionText } from '../../fbc/edge.ts';
import { placeOfEntry } from '../finding-location.ts';
import { channelText } from '../message-text.ts';
import { isOpen, rangedChannels } from '../ranges.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/skiprange-unbounded',
  severity: 'warning',
  summary: 'Reports skipRanges without an upper bound, which cover all future versions',
  foresee(world, report) {
    for (const { channel, entry, range, bundle } of rangedChannels(world).flatMap(({ ranged }) => ranged)) {
      if (!isOpen(range)) continue;
      const message = `${channelText(channel.name, channel.package)}: the skipRange ${quoted(range.text)} of ${shortName(bundle)} has no upper bound, so newer versions would be downgraded to it`;
      const bounded = `${range.text} <${versionText(bundle)}`;
      const isOne = !range.text.includes('||');
      const location = placeOfEntry(channel, entry.index, 'skipRange');
      report(message, location, {
        package: channel.package,
        channel: channel.name,
        subject: bundle.name,
        hint: `skipRange: '${isOne ? bounded : `… <${versionText(bundle)}`}'`,
        ...(isOne
          ? { correction: { kind: 'replace', location, found: entry.skipRange, wanted: bounded } }
          : {}),
      });
    }
  },
};
