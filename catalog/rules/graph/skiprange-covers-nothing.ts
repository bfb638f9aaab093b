import { shortName } from '../../fbc/edge.ts';
import { installationsOf } from '../../olm/foresight/installation.ts';
import { satisfies } from '../../version/satisfies.ts';
import { placeOfEntry } from '../finding-location.ts';
import { channelText } from '../message-text.ts';
import { rangedChannels } from '../ranges.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/skiprange-covers-nothing',
  severity: 'info',
  summary: 'Reports skipRanges that cover no published version',
  fix: 'use a range that covers published versions, for example ">=1.0.0 <1.1.0"',
  reads: ['history'],
  foresee(world, report) {
    for (const { ofPackage, channel, ranged } of rangedChannels(world)) {
      const installations = installationsOf(world, ofPackage.name).map(({ installed }) => installed);
      // A first release has nothing to cover yet.
      if (new Set(installations.map(({ name }) => name)).size < 2) continue;
      for (const { entry, range, bundle } of ranged) {
        if (
          installations.some(
            ({ name, version }) => name !== entry.name && version && satisfies(version, range),
          )
        )
          continue;
        const message = `${channelText(channel.name, channel.package)}: the skipRange ${quoted(range.text)} of ${shortName(bundle)} covers no known published version`;
        const location = placeOfEntry(channel, entry.index, 'skipRange');
        report(message, location, { package: channel.package, channel: channel.name, subject: bundle.name });
      }
    }
  },
};
