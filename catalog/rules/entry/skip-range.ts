import { locate } from '../../fbc/model.ts';
import { parseRange, VersionError } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'entry/skip-range',
  severity: 'error',
  summary: 'A skipRange is a range as OLM reads it, such as ">=1.0.0 <1.2.0"',
  opm: ['invalid skipRange "r": …'],
  check(catalog, report) {
    for (const channel of catalog.blobs.channels) {
      for (const entry of channel.entries) {
        const defect = rangeDefect(entry.skipRange);
        if (defect === undefined) continue;
        const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)}: the skipRange ${quoted(entry.skipRange)} of ${quoted(entry.name)} is no range: ${defect}`;
        const hint =
          "skipRange: '>=1.0.0 <1.2.0' (whole versions, comparators with spaces between, || for or)";
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
