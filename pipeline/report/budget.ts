/** Markdown within GitHub's size limits: whole parts while they fit, tables cut between rows. */

export interface Part {
  readonly text: string;
  /** Whether the part may end behind any of its lines: a table, a list. */
  readonly cuttable?: boolean;
}

/** Ends a text from which something was left out. */
const REST = 'The rest does not fit here; the full report has it.';

/**
 * Joins parts, the most important first.
 *
 * @param most bytes in UTF-8
 */
export function withinBudget(parts: readonly Part[], most: number): string {
  const kept: string[] = [];
  let room = most - Buffer.byteLength(`${REST}\n`);
  let left = 0;
  for (const { text, cuttable } of parts.filter((part) => part.text !== '')) {
    const shown = Buffer.byteLength(text) <= room ? text : cuttable ? cutLines(text, room) : '';
    if (shown !== text) left++;
    if (shown === '') continue;
    kept.push(shown);
    room -= Buffer.byteLength(shown) + 2;
  }
  if (left > 0) kept.push(REST);
  return `${kept.join('\n\n')}\n`;
}

/** Shorter than this a table says nothing. */
const FEWEST_LINES = 6;

function cutLines(text: string, room: number): string {
  const lines = text.split('\n');
  const shown: string[] = [];
  let size = 0;
  for (const line of lines) {
    size += Buffer.byteLength(line) + 1;
    if (size > room) break;
    shown.push(line);
  }
  return shown.length < Math.min(FEWEST_LINES, lines.length) ? '' : shown.join('\n');
}
