/**
 * Past merges that stranded or broke installations, as lines: the latest first.
 */
import type { HarmfulMerge, HistoryAudit } from '../check/rehearsal/history.ts';
import { amount, plain, shortList } from '../text.ts';
import { catalogsText } from './catalogs-text.ts';

/**
 * Lines about past merges, the first of which is a headline.
 *
 * @param order names of all catalogs, in the order of platforms
 */
export function historyLines(
  { merges, harmful, unchecked }: HistoryAudit,
  order: readonly string[],
): string[] {
  return [
    pastHeadline({ merges, harmful, unchecked }),
    ...harmful.flatMap((merge) => mergeLines(merge, order)),
    ...uncheckedLines({ unchecked }),
  ];
}

/** How many merges did harm. */
export function pastHeadline({ merges, harmful }: HistoryAudit): string {
  return `history: ${harmful.length} of ${amount(merges, 'merge')} stranded or broke installations`;
}

/** What could not be checked, one line each. */
export function uncheckedLines({ unchecked }: Pick<HistoryAudit, 'unchecked'>): string[] {
  return unchecked.map(({ what, why }) => plain(`  not checked: ${what}: ${why}`));
}

/** One merge: date, commit and subject, then what it did to which installations. */
export function mergeLines(
  { commit, date, subject, findings }: HarmfulMerge,
  order: readonly string[],
): string[] {
  const places = new Map<string, Set<string>>();
  for (const { rule, package: of = '', channel, installed = [], catalogs = [] } of findings) {
    const where = channel === undefined || channel === '' ? '' : `, channel ${channel}`;
    const who = installed.length > 0 ? `: installed ${shortList(installed)}` : '';
    const text = `${rule} ${of}${where}${who}`;
    places.set(text, new Set([...(places.get(text) ?? []), ...catalogs]));
  }
  const told = [...places].map(([text, catalogs]) => `    ${text} (${catalogsText([...catalogs], order)})`);
  return [`  ${date} ${commit.slice(0, 12)} ${subject}`, ...told].map(plain);
}
