/**
 * Corrections: what would make a finding go away by another text on one line. The text is changed as it
 * stands, so that quotes, indentation and comments stay.
 */
import type { Correction } from './finding.ts';
import { writeString } from './yaml/emit-scalar.ts';

/**
 * A line with its correction, which may be two lines; undefined where the line does not say what was found, or
 * says it in a way that goes on beyond the line.
 */
export function correctedLine(line: string, correction: Correction): string | undefined {
  if (line.length > LONGEST) return undefined;
  const at = correction.location.column - 1;
  const written = scalarAt(line, at, correction.found);
  if (written === undefined) return undefined;
  const rest = line.slice(at + written.length);
  if (correction.kind === 'replace') {
    return `${line.slice(0, at)}${sameQuotes(written, correction.wanted)}${rest}`;
  }
  const [key, before = ''] = /^([ ]*(?:- +)*)[A-Za-z][A-Za-z0-9_-]*: +/.exec(line) ?? [];
  if (key?.length !== at || !/^ *(?: #.*)?$/.test(rest)) return undefined;
  return `${line}\n${' '.repeat(before.length)}${correction.member}`;
}

/** Characters of a line that anybody would read a suggestion of. */
const LONGEST = 10_000;

const DOUBLE_QUOTED = /"(?:[^"\\]|\\.)*"/y;
const SINGLE_QUOTED = /'(?:[^']|'')*'/y;

/** The text of the scalar at a position, if it reads as `found`. */
function scalarAt(line: string, at: number, found: string): string | undefined {
  const double = matchAt(DOUBLE_QUOTED, line, at);
  if (double !== undefined) return double === JSON.stringify(found) ? double : undefined;
  const single = matchAt(SINGLE_QUOTED, line, at);
  if (single !== undefined) return single.slice(1, -1).replaceAll("''", "'") === found ? single : undefined;
  // What is plain ends with the line, or at a comment.
  const isWhole =
    found !== '' && line.startsWith(found, at) && /^ *(?: #.*)?$/.test(line.slice(at + found.length));
  return isWhole ? found : undefined;
}

function matchAt(pattern: RegExp, line: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0];
}

function sameQuotes(written: string, wanted: string): string {
  if (written.startsWith('"')) return JSON.stringify(wanted);
  if (written.startsWith("'")) return `'${wanted.replaceAll("'", "''")}'`;
  return writeString(wanted, { column: 0, indent: 0, oneLine: true });
}
