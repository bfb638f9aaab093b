/** Markdown within GitHub's size limits: whole parts while they fit, tables cut between rows. */

export interface Part {
  readonly text: string;
  /** Whether the part may end behind any of its lines: a table, a list. */
  readonly cuttable?: boolean;
  /** Whether it gets its room before all others, wherever it stands. */
  readonly isFirst?: boolean;
}

/** Ends a text from which something was left out. */
const REST = 'The rest does not fit here; the full report has it.';

/**
 * Joins parts in their order. Room goes to those that are first, then to the earlier ones.
 *
 * @param most bytes in UTF-8
 */
export function withinBudget(parts: readonly Part[], most: number): string {
  const written = parts.filter(({ text }) => text !== '');
  const textOf = new Map<Part, string>();
  let room = most - Buffer.byteLength(`${REST}\n`);
  let omittedCount = 0;
  for (const part of written.toSorted((a, b) => rank(a) - rank(b))) {
    const { text, cuttable } = part;
    const shown = Buffer.byteLength(text) <= room ? text : cuttable ? cutLines(text, room) : '';
    if (shown !== text) omittedCount++;
    if (shown === '') continue;
    textOf.set(part, shown);
    // Two line breaks stand between parts.
    room -= Buffer.byteLength(shown) + 2;
  }
  const shown = written.flatMap((part) => textOf.get(part) ?? []);
  if (omittedCount > 0) shown.push(REST);
  return `${shown.join('\n\n')}\n`;
}

function rank({ isFirst = false }: Part): number {
  return isFirst ? 0 : 1;
}

/** Shorter than this a table says nothing. */
const FEWEST_LINES = 6;

/** The first lines of a text that fit into the room; '' if they are too few to say anything. */
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
