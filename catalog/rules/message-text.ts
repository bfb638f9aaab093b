/** Words that rules about installations share. */
import { type Installed, shortName } from '../fbc/edge.ts';
import { groupedBy } from '../go/grouped.ts';
import type { UpgradePath } from '../olm/foresight/foresight.ts';
import { compareInstalled } from '../olm/foresight/installation.ts';
import { quoted } from './rule.ts';

/** Most names that a message lists. */
export const MOST_LISTED = 6;

/**
 * `1.0.0, 1.0.1 and 1.1.0`; a long list is cut short.
 *
 * @param count how many there are, where `names` has only the first of them
 */
export function listed(names: readonly string[], count: number = names.length): string {
  // The number of the others takes the place of a name.
  const shown = count > MOST_LISTED ? names.slice(0, MOST_LISTED - 1) : names;
  const more = count > shown.length ? [`${count - shown.length} more`] : [];
  const all = [...shown, ...more];
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}

/** `a; b; and 5 more`: texts with a semicolon between, a long list cut short as by {@link listed}. */
export function joined(texts: readonly string[]): string {
  const more = texts.length > MOST_LISTED ? [`and ${texts.length - MOST_LISTED + 1} more`] : [];
  const shown = more.length > 0 ? texts.slice(0, MOST_LISTED - 1) : texts;
  return [...shown, ...more].join('; ');
}

/** Versions, in order, of what is installed. */
export function versionsOf(installed: readonly Installed[]): string[] {
  return [...new Set([...installed].sort(compareInstalled).map(shortName))];
}

/** `channel "stable" of package "x"`. */
export function channelText(channel: string, ofPackage: string): string {
  return `channel ${quoted(channel)} of package ${quoted(ofPackage)}`;
}

/** `1.0.0 is` or `1.0.0 and 1.0.1 are`. */
export function listWithVerb(names: readonly string[]): string {
  return `${listed(names)} ${names.length === 1 ? 'is' : 'are'}`;
}

/** The end of an upgrade path, and why it ends there. */
export function endText({ end, last }: UpgradePath): string {
  if (last.kind === 'circle') return `the upgrade path goes in a circle at ${shortName(end)}`;
  if (last.kind === 'fails') return `resolution fails at ${shortName(end)}: ${last.reason.text}`;
  return `the upgrade path ends at ${shortName(end)} because ${last.reason.text}`;
}

/** Groups items under texts, in the order of their first ones. */
export function grouped<T>(items: readonly T[], key: (item: T) => string): T[][] {
  return [...groupedBy(items, key).values()];
}
