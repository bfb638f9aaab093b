import type { Entry } from '../../fbc/model.ts';
import { entryIn, placeOfEntry } from '../finding-location.ts';
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
        for (const entry of before ? channel.entries : []) {
          const old = entryIn(before, entry.name);
          const differences = old ? differencesOf(old, entry) : [];
          if (differences.length === 0) continue;
          const message = `the entry of ${quoted(entry.name)} in channel ${quoted(channel.name)} of package ${quoted(name)} changes: ${differences.join('; ')}`;
          report(message, placeOfEntry(channel, entry.index), { package: name, channel: channel.name });
        }
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
    ...(lost.length > 0 ? [`no longer skips ${lost.join(', ')}`] : []),
    ...(won.length > 0 ? [`skips ${won.join(', ')}`] : []),
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
