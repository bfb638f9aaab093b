import { skipRangeOf } from '../../fbc/edge.ts';
import { locate } from '../../fbc/model.ts';
import { crashIn, parseRange, VersionError, withoutEmptyAlternatives } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'entry/duplicate',
    severity: 'error',
    summary: 'Reports bundles that a channel lists more than once',
    opm: ['invalid package "p", channel "c": duplicate entry "e"'],
    check(catalog, report) {
      for (const channel of catalog.blobs.channels) {
        const seen = new Set<string>();
        for (const entry of channel.entries) {
          if (!seen.has(entry.name)) {
            seen.add(entry.name);
            continue;
          }
          const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)} has the entry ${quoted(entry.name)} twice`;
          const details = {
            package: channel.package,
            channel: channel.name,
            hint: 'merge both into one entry',
          };
          report(message, locate(channel, 'entries', entry.index, 'name'), details);
        }
      }
    },
  },
  {
    id: 'entry/empty-alternative',
    severity: 'error',
    summary: 'Reports skipRanges with nothing between two ||, for which OLM and opm crash',
    check(catalog, report) {
      for (const channel of catalog.blobs.channels) {
        for (const entry of channel.entries) {
          const range = skipRangeOf(entry);
          const defect = range && crashIn(range);
          if (defect === undefined) continue;
          const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)}: the skipRange ${quoted(entry.skipRange)} of ${quoted(entry.name)} crashes OLM: ${defect}`;
          const hint = `skipRange: '${withoutEmptyAlternatives(entry.skipRange)}'`;
          const details = { package: channel.package, channel: channel.name, hint };
          report(message, locate(channel, 'entries', entry.index, 'skipRange'), details);
        }
      }
    },
  },
  {
    id: 'entry/name',
    severity: 'error',
    summary: 'Reports channel entries without the name of a bundle',
    opm: ['name must be set'],
    check(catalog, report) {
      for (const channel of catalog.blobs.channels) {
        for (const entry of channel.entries) {
          if (entry.name !== '') continue;
          const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)} has an entry without a name`;
          const details = {
            package: channel.package,
            channel: channel.name,
            hint: 'name: my-operator.v1.0.0',
          };
          report(message, locate(channel, 'entries', entry.index, 'name'), details);
        }
      }
    },
  },
  {
    id: 'entry/no-bundle',
    severity: 'error',
    summary: 'Reports channel entries without an olm.bundle blob',
    opm: [
      'no olm.bundle blobs found in package "p" for olm.channel entries [a b]',
      'must be exactly one property with type "olm.package"',
      'bundle image must be set',
    ],
    check(catalog, report) {
      for (const channel of catalog.blobs.channels) {
        const bundles = catalog.packages.get(channel.package)?.bundles;
        for (const entry of channel.entries) {
          if (entry.name === '' || bundles?.has(entry.name)) continue;
          const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)}: the entry ${quoted(entry.name)} has no olm.bundle blob`;
          const hint = `add the olm.bundle blob with name: ${entry.name}, or remove the entry`;
          report(message, locate(channel, 'entries', entry.index, 'name'), {
            package: channel.package,
            channel: channel.name,
            hint,
          });
        }
      }
    },
  },
  {
    id: 'entry/skip-empty',
    severity: 'error',
    summary: 'Reports items of skips that are not the name of a bundle',
    opm: ['skip[0] is empty'],
    check(catalog, report) {
      for (const channel of catalog.blobs.channels) {
        for (const entry of channel.entries) {
          for (const [i, skip] of entry.skips.entries()) {
            if (skip !== '') continue;
            const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)}: skips[${i}] of ${quoted(entry.name)} is empty`;
            const details = { package: channel.package, channel: channel.name, hint: 'remove the item' };
            report(message, locate(channel, 'entries', entry.index, 'skips', i), details);
          }
        }
      }
    },
  },
  {
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
  },
];

/** Why a text is not a range; undefined if it is one, or empty. */
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
