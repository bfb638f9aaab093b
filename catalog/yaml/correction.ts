/**
 * Corrections: what would make a finding go away by another text on one line. The text is changed as it
 * stands, so that quotes, indentation and comments stay.
 */
import type { Correction } from '../finding.ts';
import { writeString } from './emit-scalar.ts';

/**
 * A line with its correction, which may be two lines; undefined where the line does not say what was found, or
 * says it in a way that goes on beyond the line.
 */
export function correctedLine(line: string, correction: Correction): string | undefined {
  const at = correction.location.column - 1;
  const written = scalarAt(line, at, correction.found);
  if (written === undefined) return undefined;
  const rest = line.slice(at + written.length);
  if (correction.kind === 'replace') {
    return `${line.slice(0, at)}${sameQuotes(written, correction.wanted)}${rest}`;
  }
  // A member is added below a line that holds one key and its value alone, such as `  - name: a.v1.0.0`.
  const [key, before = ''] = /^([ ]*(?:- +)*)[A-Za-z][A-Za-z0-9_-]*: +/.exec(line) ?? [];
  if (key?.length !== at || !/^ *(?: #.*)?$/.test(rest)) return undefined;
  return `${line}\n${' '.repeat(before.length)}${correction.member}`;
}

/** The scalar as it is written at a position; undefined unless its value is `found`. */
function scalarAt(line: string, at: number, found: string): string | undefined {
  // How a scalar is quoted that reads so: an expression for any scalar runs out of stack on long ones.
  const quoted = quotedAs(line[at], found);
  if (quoted !== undefined) {
    // Two single quotes are one within the text, which goes on behind them.
    const isOpen = quoted.startsWith("'") && line[at + quoted.length] === "'";
    return line.startsWith(quoted, at) && !isOpen ? quoted : undefined;
  }
  // What is plain ends with the line, or at a comment.
  const isWhole =
    found !== '' && line.startsWith(found, at) && /^ *(?: #.*)?$/.test(line.slice(at + found.length));
  return isWhole ? found : undefined;
}

/** A text in the quotes that a scalar begins with; undefined for a plain one. */
function quotedAs(quote: string | undefined, text: string): string | undefined {
  if (quote === '"') return JSON.stringify(text);
  return quote === "'" ? `'${text.replaceAll("'", "''")}'` : undefined;
}

/** Another text, quoted as the one before was. */
function sameQuotes(written: string, wanted: string): string {
  return quotedAs(written[0], wanted) ?? writeString(wanted, { column: 0, indent: 0, oneLine: true });
}
