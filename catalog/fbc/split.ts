/**
 * Splitting a file into documents before any of them is parsed, as Kubernetes' YAML
 * reader does: by lines that begin with `---`, wherever they stand.
 *
 * @see https://github.com/kubernetes/apimachinery/blob/v0.36.3/pkg/util/yaml/decoder.go
 */
import { GO_SPACE, goTrimmed } from '../go/text.ts';

/** One piece between separators. Pieces hold at least one line, if only a separator. */
export interface Piece {
  /** Offsets of the piece's text, its separator line left out. */
  readonly from: number;
  readonly to: number;
  /**
   * Offset of the separator line that opened the piece, which YAML's reader gets with it; `from` where none did. A
   * separator that closed the piece before it is nobody's.
   */
  readonly opened: number;
  /** 1-based line at `from`. */
  readonly line: number;
}

/** A separator line with something other than a comment behind the dashes. */
export interface BadSeparator {
  readonly line: number;
  readonly column: number;
  readonly rest: string;
}

/** Where a piece ends: the offset of its separator or the text's length, and the 1-based line there. */
interface PieceEnd {
  readonly to: number;
  readonly line: number;
}

/**
 * Splits a YAML text into documents as opm does.
 *
 * @param firstLine the 1-based number of the text's first line
 * @param readPiece gets the place where a piece with text in it begins, reads it and says where it ends, or undefined to
 *   have its end looked for
 * @returns the 1-based line behind the text
 */
export function* splitDocuments(
  text: string,
  firstLine = 1,
  readPiece?: (from: number, line: number) => PieceEnd | undefined,
): Generator<Piece | BadSeparator, number> {
  let line = firstLine;
  let at = 0;
  // Where the open piece begins, or -1 when nothing has been put into it yet.
  let pieceFrom = -1;
  let opened = -1;
  let pieceLine = line;
  while (at < text.length) {
    let separator = at;
    if (!text.startsWith('---', at)) {
      if (pieceFrom < 0) {
        pieceFrom = at;
        opened = at;
        pieceLine = line;
      }
      ({ to: separator, line } = readPiece?.(at, line) ?? pieceEnd(text, at, line));
    }
    if (separator >= text.length) break;
    const lineEnd = endOfLine(text, separator);
    const rest = goTrimmed(text.slice(separator + 3, lineEnd));
    if (rest !== '' && !rest.startsWith('#')) {
      yield { line, column: 4, rest };
    }
    if (pieceFrom >= 0) {
      yield { from: pieceFrom, to: separator, opened, line: pieceLine };
      pieceFrom = -1;
    } else {
      // A separator after nothing belongs to the piece that it opens.
      pieceFrom = lineEnd + 1;
      opened = separator;
      pieceLine = line + 1;
    }
    at = lineEnd + 1;
    line++;
  }
  if (pieceFrom >= 0) {
    yield { from: Math.min(pieceFrom, text.length), to: text.length, opened, line: pieceLine };
  }
  return line;
}

/** Where a document ends: at the next separator, or with the text. */
function pieceEnd(text: string, from: number, line: number): PieceEnd {
  const found = text.indexOf('\n---', from);
  const to = found < 0 ? text.length : found + 1;
  return { to, line: line + countLines(text, from, to) };
}

function endOfLine(text: string, from: number): number {
  const found = text.indexOf('\n', from);
  return found < 0 ? text.length : found;
}

/** How many lines end between two places. */
function countLines(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

// Whether a file is JSON, by what it begins with.

/** How far into a file Go looks for the brace that says JSON. */
export const SNIFF = 4096;

const LIKE_JSON = new RegExp(`^[${GO_SPACE}]*\\{`);

/** Whether a text is read as JSON first: whether a brace follows its white space. @param sniff in how many of its bytes */
export function startsLikeJson(text: string, sniff: number = SNIFF): boolean {
  const start = LIKE_JSON.exec(text.slice(0, sniff))?.[0];
  return start !== undefined && new TextEncoder().encode(start).length <= sniff;
}
