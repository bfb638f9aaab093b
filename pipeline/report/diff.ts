/** The changes in packages and their upgrade impact, as text and as Markdown. */

import type { PlacedDiff } from '../check/report.ts';
import { linesText, plainText } from '../text.ts';
import { escapedMarkdown, impactTable, writtenMarkdown } from './markdown.ts';
import { impactLines, writtenLines } from './text-report.ts';

/** The changes of each package as text, with their effect on upgrades where there is any. */
export function diffText(diffs: readonly PlacedDiff[]): string {
  if (diffs.length === 0) return 'no changes\n';
  return diffs
    .map((diff) => {
      const title = `${plainText(diff.package)} (${diff.kind}) in ${plainText(diff.catalogs.join(', '))}`;
      // The first of these lines names the package, as the title does already.
      const impacts = diff.fates.length > 0 ? ['  upgrade impact:', ...impactLines(diff).slice(1)] : [];
      const lines = [title, ...writtenLines(diff).map((line) => `  ${plainText(line)}`), ...impacts];
      return linesText(lines);
    })
    .join('\n');
}

/** The same as Markdown. */
export function diffMarkdown(diffs: readonly PlacedDiff[]): string {
  if (diffs.length === 0) return 'No changes.\n';
  const parts = diffs.flatMap((diff) => [
    // The table has this title itself.
    diff.fates.length > 0
      ? impactTable(diff)
      : `### ${escapedMarkdown(diff.package)} (${escapedMarkdown(diff.catalogs.join(', '))})`,
    writtenMarkdown(diff),
  ]);
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}
