/** Rows as people read them in a terminal. */

import type { Terminal } from '../../terminal.ts';
import { linesText, plainText } from '../../text.ts';

/** Width below which no column is cut to fit the terminal, in characters: less could not be recognized. */
const NARROWEST = 12;

/** Widest column to which cells are padded, in characters: one huge cell would make all rows as long. */
const WIDEST = 1000;

/** Between columns. */
const GAP = '  ';

/**
 * Columns aligned under their titles. On a terminal the widest columns are cut so that
 * rows fit; elsewhere nothing is cut.
 */
export function tableText(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  terminal: Pick<Terminal, 'isScreen' | 'columns'>,
): string {
  const cells = rows.map((row) => row.map(plainText));
  // As wide as the title, or the widest cell.
  const natural = titles.map((title, i) =>
    Math.min(
      WIDEST,
      cells.reduce((width, row) => Math.max(width, row[i]?.length ?? 0), title.length),
    ),
  );
  const widths = terminal.isScreen ? fittedWidths(natural, terminal.columns) : natural;
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) =>
        (terminal.isScreen ? cut(cell, widths[i] ?? cell.length) : cell).padEnd(widths[i] ?? 0),
      )
      .join(GAP)
      .trimEnd();
  return linesText([line(titles), ...cells.map(line)]);
}

/** Widths with which a row fits: the widest column gives first. Rows stay too long where all columns are at their narrowest. */
function fittedWidths(natural: readonly number[], columns: number): number[] {
  const widths = [...natural];
  const total = (): number => widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  while (total() > columns) {
    const widest = widths.indexOf(Math.max(...widths));
    const second = Math.max(NARROWEST, ...widths.filter((_, i) => i !== widest));
    const width = widths[widest] ?? 0;
    if (width <= NARROWEST) return widths;
    // Down to the second widest at once, if so much is needed; by one at least, so that this ends.
    widths[widest] = Math.max(NARROWEST, Math.min(width - 1, Math.max(second, width - (total() - columns))));
  }
  return widths;
}

/** A cell of at most this width, with `…` in place of what is cut off. */
function cut(cell: string, width: number): string {
  return cell.length <= width ? cell : `${cell.slice(0, width - 1)}…`;
}
