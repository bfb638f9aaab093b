/** The difference of two sets of files as few lines: what differs, and which part of its file that is. */
import type { Location } from '../../catalog/finding.ts';

/** Texts by path; a file without a path is not named. */
export type Files = ReadonlyMap<string, string>;

/** When more lines differ, only the part with a finding is shown. */
const MOST_LINES = 12;
/** Stands for further lines. */
export const CUT = ' …';
/** Lines of a channel's entries that are few. */
const MOST_ENTRIES = 10;
/** A file that comes or goes is shown by its first lines. */
const MOST_OF_A_FILE = 6;

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
  /** Its number in the first of the two texts; for a line of the second alone, that of the line after it. */
  readonly number: number;
}

/** The lines that differ, with a sign, below those that they belong to; of a long difference the part at a place. */
export function shownDifference(before: Files, after: Files, at?: Location): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
  const all = paths.flatMap((path) => titled(path, shownLines(before.get(path), after.get(path))));
  if (all.filter(differs).length <= MOST_LINES) return all;
  const path = paths.find((name) => name === at?.file) ?? paths[0] ?? '';
  return cut(titled(path, shownLines(before.get(path), after.get(path), at?.line ?? 1)));
}

function differs(line: string): boolean {
  return !line.startsWith(' ');
}

/** The first lines that differ, with what they belong to. */
function cut(lines: readonly string[]): string[] {
  let count = 0;
  const end = lines.findIndex((line) => differs(line) && ++count > MOST_LINES);
  return end === -1 ? [...lines] : [...lines.slice(0, end), CUT];
}

function titled(path: string, lines: readonly string[]): string[] {
  return path === '' ? [...lines] : [` # ${path}`, ...lines];
}

/** The lines that differ between two texts, with those that they are below; near a line, only the nearest part. */
function shownLines(before: string | undefined, after: string | undefined, near?: number): string[] {
  const lines = wholeDocuments(difference(linesOf(before), linesOf(after)));
  if ((before === undefined || after === undefined) && lines.length > MOST_OF_A_FILE) {
    const sign = before === undefined ? '+' : '-';
    return [...lines.slice(0, MOST_OF_A_FILE - 1).map(({ text }) => sign + text), `${sign}…`];
  }
  const hunks = hunksOf(lines);
  const distance = (hunk: readonly number[]): number =>
    Math.min(...hunk.map((index) => Math.abs((lines[index]?.number ?? 0) - (near ?? 0))));
  const chosen = near === undefined ? hunks : hunks.sort((a, b) => distance(a) - distance(b)).slice(0, 1);
  return written(lines, new Set(chosen.flatMap((hunk) => [...hunk, ...around(lines, hunk)])));
}

/** The indices of lines that differ, those that follow each other together. */
function hunksOf(lines: readonly Line[]): number[][] {
  const hunks: number[][] = [];
  for (const [index, { sign }] of lines.entries()) {
    if (sign === ' ') continue;
    const last = hunks.at(-1);
    if (last?.at(-1) === index - 1) last.push(index);
    else hunks.push([index]);
  }
  return hunks;
}

/** What a part belongs to; and the line before it, if it only adds or only removes. */
function around(lines: readonly Line[], hunk: readonly number[]): number[] {
  const [first = 0] = hunk;
  const isOneSided = new Set(hunk.map((index) => lines[index]?.sign)).size === 1;
  const isStart = lines[first]?.text.startsWith('---') || /^---/.test(lines[first - 1]?.text ?? '---');
  if (isStart) return [];
  return [...(isOneSided ? [first - 1] : []), ...above(lines, first), ...entriesAround(lines, first)];
}

/** The entries of the channel that a line is in, if they are few: an upgrade edge means little without the others. */
function entriesAround(lines: readonly Line[], at: number): number[] {
  const isEnd = ({ text }: Line): boolean => text.startsWith('---');
  const start = lines.findLastIndex((line, index) => index < at && isEnd(line)) + 1;
  const next = lines.findIndex((line, index) => index > at && isEnd(line));
  const end = next === -1 ? lines.length : next;
  const document = lines.slice(start, end).map(({ text }) => text);
  const entries = document.indexOf('entries:');
  if (!document.includes('schema: olm.channel') || entries === -1) return [];
  const count = document.length - entries;
  return count > MOST_ENTRIES ? [] : [...document.keys()].slice(entries).map((index) => start + index);
}

/** Some of the lines, with a separator between those of two documents. */
function written(lines: readonly Line[], visible: ReadonlySet<number>): string[] {
  const result: string[] = [];
  let separator: string | undefined;
  for (const [index, { sign, text }] of lines.entries()) {
    if (text === '---') separator = `${sign}${text}`;
    else if (visible.has(index)) {
      if (separator !== undefined && result.length > 0) result.push(separator);
      result.push(`${sign}${text}`.trimEnd());
      separator = undefined;
    }
  }
  return result;
}

function linesOf(text: string | undefined): string[] {
  return text === undefined ? [] : text.replace(/\n$/, '').split('\n');
}

/** The lines that a line of YAML is below: its mappings and lists, and the schema of its document. */
function above(lines: readonly Line[], from: number): number[] {
  const found: number[] = [];
  let current = lines[from]?.text ?? '';
  for (let index = from - 1; index >= 0; index--) {
    const { sign, text } = lines[index] ?? { sign: '-', text: '' };
    if (text.startsWith('---')) break;
    if (sign !== ' ' || text === '') continue;
    const isAbove =
      indentation(text) < indentation(current) ||
      (indentation(text) === indentation(current) && isItem(current) && !isItem(text));
    if (!isAbove && !/^schema: /.test(text)) continue;
    found.push(index);
    if (isAbove) current = text;
  }
  return found;
}

function indentation(text: string): number {
  return text.length - text.trimStart().length;
}

function isItem(text: string): boolean {
  return /^ *-(?: |$)/.test(text);
}

/** A document that comes or goes from its first line to its last, not from within one to within the next. */
function wholeDocuments(lines: readonly Line[]): Line[] {
  const result = [...lines];
  for (const hunk of hunksOf(lines)) {
    let [first = 0] = hunk;
    let last = hunk.at(-1) ?? 0;
    const sign = lines[first]?.sign;
    if (
      !hunk.some((index) => lines[index]?.text === '---') ||
      hunk.some((index) => lines[index]?.sign !== sign)
    )
      continue;
    while (result[first]?.text !== '---' && first > 0 && result[first - 1]?.text === result[last]?.text) {
      const [above, below] = [result[first - 1], result[last]];
      if (above === undefined || below === undefined) break;
      result[first - 1] = { ...above, sign: below.sign };
      result[last] = { ...below, sign: above.sign };
      first--;
      last--;
    }
  }
  return result;
}

/** The longest lines that two texts have in common, and the others with a sign. */
function difference(before: readonly string[], after: readonly string[]): Line[] {
  // How many lines the rests from each pair of lines have in common.
  const common = [...before, ''].map(() => new Array<number>(after.length + 1).fill(0));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--) {
      const row = common[i] ?? [];
      row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  const lines: Line[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const [old = '', fresh = ''] = [before[i], after[j]];
    if (i < before.length && j < after.length && old === fresh) {
      lines.push({ sign: ' ', text: old, number: i + 1 });
      i++;
      j++;
    } else if (i < before.length && (j === after.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: '-', text: old, number: i + 1 });
      i++;
    } else {
      lines.push({ sign: '+', text: fresh, number: i + 1 });
      j++;
    }
  }
  return lines;
}
