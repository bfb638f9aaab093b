/** Suggested upgrade graphs as text, for people. */
import { shortName } from '../../catalog/fbc/edge.ts';
import type { Package } from '../../catalog/fbc/model.ts';
import { groupedBy } from '../../catalog/go/grouped.ts';
import type { SuggestedChannel, SuggestedEntry } from '../../catalog/olm/suggest/suggested-channel.ts';
import {
  type Installation,
  rescuedInstallations,
  type Suggestion,
} from '../../catalog/olm/suggest/suggestion.ts';
import { amountText, linesText } from '../text.ts';

/** Names in one line, before the rest is only counted. */
const SHOWN = 12;

/** How many entries channels have today and how many are suggested. */
function entryCounts(channels: readonly SuggestedChannel[]): {
  readonly today: number;
  readonly suggested: number;
} {
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
  const line = (name: string, some: readonly Suggestion[]): string => {
    const { today, suggested } = entryCounts(some.flatMap(({ channels }) => channels));
    const stranded = {
      today: some.flatMap((one) => one.stranded.today).length,
      suggested: some.flatMap((one) => one.stranded.suggested).length,
    };
    return `${name}: ${today} -> ${entriesText(suggested)}, stranded installations ${stranded.today} -> ${stranded.suggested}`;
  };
  const lines = suggestions.map((one) => line(one.package, [one]));
  return linesText([...lines, line(amountText(suggestions.length, 'package'), suggestions)]);
}

/** What changes in a package, and why. */
export function suggestionText(suggestion: Suggestion): string {
  const { package: name, channels, dropped, stranded, newUpgrades } = suggestion;
  const { today, suggested } = entryCounts(channels);
  return linesText([
    `${name}: ${today} -> ${entriesText(suggested)}`,
    ...channels.flatMap(channelLines),
    ...(dropped.length === 0 ? [] : [`  ${droppedWords(today)}: ${namesText(dropped)}`]),
    ...strandedLines('gets an upgrade path', rescuedInstallations(suggestion)),
    ...strandedLines('STRANDED', stranded.suggested),
    ...(newUpgrades.length === 0 ? [] : [`  direct upgrades that no entry has today:`]),
    ...newUpgradeLines(newUpgrades),
  ]);
}

/** A new package has no entry today, and nothing to remove. */
function droppedWords(today: number): string {
  return today === 0 ? 'not needed in the catalog' : 'remove from the catalog, with their deprecations';
}

/** Upgrades that become possible, one line for each target. */
function newUpgradeLines(all: Suggestion['newUpgrades']): string[] {
  return [...groupedBy(all, ({ to }) => shortName(to))].map(
    ([target, upgrades]) => `    ${namesText(upgrades.map(({ from }) => shortName(from)))} -> ${target}`,
  );
}

/**
 * A channel's entries, the newest first. Where no proof says that the suggested number is the smallest, the
 * title names the bound that is proven.
 */
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

/** An entry with the edges that it has. */
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

/** Installations in one line for each OLM and channel. */
function strandedLines(what: string, all: readonly Installation[]): string[] {
  return [...groupedBy(all, whereText)].map(
    ([where, some]) => `  ${what}, ${where}: ${namesText(some.map(({ installed }) => shortName(installed)))}`,
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
