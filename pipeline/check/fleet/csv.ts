/** CSV as RFC 4180 has it, and as consoles export it: quotes are needed only around commas, quotes and line breaks. */

interface CsvRow {
  /** Line of the file at which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A quote that is never closed: the rows behind it would be one cell. */
export class CsvError extends Error {
  readonly line: number;

  constructor(line: number) {
    super('a quote is not closed');
    this.name = 'CsvError';
    this.line = line;
  }
}

/** The rows of a text, without empty lines. @throws CsvError */
export function* csvRows(text: string): Generator<CsvRow> {
  let line = 1;
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  // Looked for once, not from each line on: most tables have no quotes.
  let quote = text.indexOf('"');
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const stop = end < 0 ? text.length : end;
    if (quote >= 0 && quote < at) quote = text.indexOf('"', at);
    const begun = line;
    if (quote < 0 || quote > stop) {
      const whole = text.slice(at, stop).replace(/\r$/, '');
      at = stop + 1;
      line++;
      if (whole !== '') yield { line: begun, cells: whole.split(',') };
      continue;
    }
    const row = quotedRow(text, at);
    if (!row) throw new CsvError(begun);
    at = row.end;
    line += row.lines;
    yield { line: begun, cells: row.cells };
  }
}

/** A row with quotes, with the offset after it and how many lines it takes; undefined where a quote is not closed. */
function quotedRow(text: string, from: number): { cells: string[]; end: number; lines: number } | undefined {
  const cells: string[] = [];
  let lines = 1;
  for (let at = from; ; ) {
    let cell = '';
    if (text[at] === '"') {
      const quoted = quotedCell(text, at + 1);
      if (!quoted) return undefined;
      const { value, end } = quoted;
      cell = value;
      lines += value.split('\n').length - 1;
      at = end;
    }
    const stop = nextEnd(text, at);
    cells.push(cell + text.slice(at, stop).replace(/\r$/, ''));
    if (text[stop] !== ',') return { cells, end: stop + 1, lines };
    at = stop + 1;
  }
}

function quotedCell(text: string, from: number): { value: string; end: number } | undefined {
  const parts: string[] = [];
  for (let at = from; ; ) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return undefined;
    parts.push(text.slice(at, quote));
    if (text[quote + 1] !== '"') return { value: parts.join(''), end: quote + 1 };
    parts.push('"');
    at = quote + 2;
  }
}

function nextEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === ',' || text[at] === '\n') return at;
  return text.length;
}
