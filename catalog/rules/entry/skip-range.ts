import { locate } from '../../fbc/model.ts';
import { parseRange, VersionError } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'entry/skip-range',
  severity: 'error',
  summary: 'Reports skipRanges that are not a valid version range such as ">=1.0.0 <1.2.0"',
  opm: ['invalid skipRange "r": …'],
  check(catalog, report) {
    for (const channel of catalog.blobs.channels) {
      for (const entry of channel.entries) {
        const defect = rangeDefect(entry.skipRange);
        if (defect === undefined) continue;
        const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)}: the skipRange ${quoted(entry.skipRange)} of ${quoted(entry.name)} is not a valid range: ${defect}`;
        const hint =
          "skipRange: '>=1.0.0 <1.2.0' (full versions, comparators separated by spaces, || for or)";
        const details = { package: channel.package, channel: channel.name, hint };
        report(message, locate(channel, 'entries', entry.index, 'skipRange'), details);
      }
    }
  },
};

function rangeDefect(text: string): string | undefined {
  if (text === '') return undefined;
  try {
    parseRange(text);
    return undefined;
  } catch (error) {
    if (error instanceof VersionError) return error.message;
    throw error;
  }
}
