import type { Entry } from '../../fbc/model.ts';
import { entryIn, placeOfEntry } from '../finding-location.ts';
import { channelText, joined, listed } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/edge-removed-or-changed',
  severity: 'info',
  summary: 'Reports changed upgrade edges of published entries; other rules report the effect on clusters',
  fix: 'nothing to do if no other finding reports stranded installations',
  compare(change, report) {
    for (const name of change.packages) {
      const was = change.before.catalog.packages.get(name)?.channels;
      for (const channel of change.after.catalog.packages.get(name)?.channels.values() ?? []) {
        const before = was?.get(channel.name);
        const changed = channel.entries.flatMap((entry) => {
          const old = before && entryIn(before, entry.name);
          const differences = old ? differencesOf(old, entry) : [];
          return differences.length > 0 ? [{ entry, text: differences.join('; ') }] : [];
        });
        const [first] = changed;
        if (!first) continue;
        const message =
          changed.length === 1
            ? `the entry of ${quoted(first.entry.name)} in ${channelText(channel.name, name)} changes: ${first.text}`
            : `${changed.length} entries of ${channelText(channel.name, name)} change: ${joined(changed.map(({ entry, text }) => `${quoted(entry.name)}: ${text}`))}`;
        report(message, placeOfEntry(channel, first.entry.index), { package: name, channel: channel.name });
      }
    }
  },
};

function differencesOf(old: Entry, entry: Entry): string[] {
  const lost = missing(old.skips, entry.skips);
  const won = missing(entry.skips, old.skips);
  return [
    ...(old.replaces === entry.replaces
      ? []
      : [`replaces ${shown(entry.replaces)} instead of ${shown(old.replaces)}`]),
    ...(lost.length > 0 ? [`no longer skips ${listed(lost)}`] : []),
    ...(won.length > 0 ? [`skips ${listed(won)}`] : []),
    ...(old.skipRange === entry.skipRange
      ? []
      : [`skipRange ${shown(entry.skipRange)} instead of ${shown(old.skipRange)}`]),
  ];
}

/** The names of a list that another one lacks. */
function missing(names: readonly string[], from: readonly string[]): string[] {
  // Most entries are as they were.
  if (names.every((name, i) => name === from[i])) return [];
  const has = new Set(from);
  return names.filter((name) => !has.has(name));
}

function shown(text: string): string {
  return text === '' ? 'nothing' : quoted(text);
}
