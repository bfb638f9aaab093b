/** Suggested upgrade graphs as text, for people. */
import { type Installed, shortName } from '../../catalog/fbc/edge.ts';
import type { Package } from '../../catalog/fbc/model.ts';
import type { SuggestedEntry } from '../../catalog/olm/suggest/suggested-channel.ts';
import type { Installation, SuggestedChannel, Suggestion } from '../../catalog/olm/suggest/suggestion.ts';
import { amount, linesText } from '../text.ts';

/** Names in one line, before the rest is only counted. */
const SHOWN = 12;

/** Entries today and suggested, over all channels. */
function entryCounts({ channels }: Suggestion): { readonly today: number; readonly suggested: number } {
  return {
    today: channels.reduce((sum, { today }) => sum + today, 0),
    suggested: channels.reduce((sum, { entries }) => sum + entries.length, 0),
  };
}

function entriesText(count: number): string {
  return `${count} ${count === 1 ? 'entry' : 'entries'}`;
}

/** One line for each package, and what all of them come to. */
export function suggestionsSummary(suggestions: readonly Suggestion[]): string {
  const counts = suggestions.map(entryCounts);
  const sum = (of: (i: number) => number): number => suggestions.reduce((total, _, i) => total + of(i), 0);
  const line = (
    name: string,
    entries: readonly [number, number],
    stranded: readonly [number, number],
  ): string =>
    `${name}: ${entries[0]} -> ${entriesText(entries[1])}, stranded installations ${stranded[0]} -> ${stranded[1]}`;
  const lines = suggestions.map(({ package: name, stranded }, i) =>
    line(
      name,
      [counts[i]?.today ?? 0, counts[i]?.suggested ?? 0],
      [stranded.today.length, stranded.suggested.length],
    ),
  );
  const total = line(
    amount(suggestions.length, 'package'),
    [sum((i) => counts[i]?.today ?? 0), sum((i) => counts[i]?.suggested ?? 0)],
    [
      sum((i) => suggestions[i]?.stranded.today.length ?? 0),
      sum((i) => suggestions[i]?.stranded.suggested.length ?? 0),
    ],
  );
  return linesText([...lines, total]);
}

/** What changes in a package, and why. */
export function suggestionText(suggestion: Suggestion): string {
  const { package: name, channels, dropped, stranded, newUpgrades } = suggestion;
  const { today, suggested } = entryCounts(suggestion);
  const gained = stranded.today.filter((one) => !stranded.suggested.some((other) => isSame(one, other)));
  return linesText([
    `${name}: ${today} -> ${entriesText(suggested)}`,
    ...channels.flatMap(channelLines),
    ...(dropped.length === 0
      ? []
      : [`  remove from the catalog, with their deprecations: ${namesText(dropped)}`]),
    ...strandedLines('gets an upgrade path', gained),
    ...strandedLines('STRANDED', stranded.suggested),
    ...(newUpgrades.length === 0 ? [] : [`  direct upgrades that no entry has today:`]),
    ...newUpgradeLines(newUpgrades),
  ]);
}

function newUpgradeLines(all: Suggestion['newUpgrades']): string[] {
  const byTarget = new Map<string, string[]>();
  for (const { from, to } of all) {
    const target = shortName(to);
    const known = byTarget.get(target);
    if (known) known.push(shortName(from));
    else byTarget.set(target, [shortName(from)]);
  }
  return [...byTarget].map(([target, from]) => `    ${namesText(from)} -> ${target}`);
}

function isSame(a: Installation, b: Installation): boolean {
  return whereText(a) === whereText(b) && a.installed.name === b.installed.name;
}

function channelLines({ name, entries, today, atLeast, why }: SuggestedChannel): string[] {
  if (why !== undefined) return [`  channel ${name}: unchanged (${why})`];
  const least =
    atLeast === entries.length || atLeast === undefined
      ? ''
      : `; ${atLeast} may be enough, which is not proven`;
  return [
    `  channel ${name}: ${today} -> ${entriesText(entries.length)}${least}`,
    ...[...entries].reverse().map((entry) => `    ${entryText(entry)}`),
  ];
}

function entryText({ name, replaces, skips, skipRange }: SuggestedEntry): string {
  return [
    name,
    ...(replaces === '' ? [] : [`replaces ${replaces}`]),
    ...(skips.length === 0 ? [] : [`skips ${namesText(skips)}`]),
    ...(skipRange === '' ? [] : [`skipRange ${skipRange}`]),
  ].join(', ');
}

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).join(', ');
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown;
}

function strandedLines(what: string, all: readonly Installation[]): string[] {
  const byPlace = new Map<string, Installed[]>();
  for (const one of all) {
    const known = byPlace.get(whereText(one));
    if (known) known.push(one.installed);
    else byPlace.set(whereText(one), [one.installed]);
  }
  return [...byPlace].map(
    ([where, installed]) => `  ${what}, ${where}: ${namesText(installed.map(shortName))}`,
  );
}

function whereText({ olm, channel }: Installation): string {
  return `OLM ${olm}, ${channel === '' ? 'all channels' : `channel ${channel}`}`;
}

/** Entries of today that go or change, and those that come, one line each; empty where nothing differs. */
export function suggestionDiff(
  { channels: today }: Package,
  { package: name, channels }: Suggestion,
): string {
  const lines = channels.flatMap((channel) => {
    const was = (today.get(channel.name)?.entries ?? []).map(entryText);
    const is = channel.entries.map(entryText);
    const changed = [
      ...was.filter((line) => !is.includes(line)).map((line) => `- ${line}`),
      ...is.filter((line) => !was.includes(line)).map((line) => `+ ${line}`),
    ];
    return changed.length === 0 ? [] : [`${name}, channel ${channel.name}`, ...changed];
  });
  return linesText(lines);
}
