/** Lists in one flag, as Go's pflag reads them: one record of CSV. */
import { PipelineError } from '../../error.ts';

/**
 * The fields of a record: quotes around a field keep its commas, and stand twice for themselves.
 *
 * @throws PipelineError `usage` for quotes that Go's encoding/csv does not take
 */
export function commaList(flag: string, text: string): string[] {
  const fields: string[] = [];
  if (text === '') return fields;
  for (let at = 0; ; ) {
    const quoted = text.charAt(at) === '"';
    const end = quoted ? endOfQuoted(text, at, flag) : endOfBare(text, at, flag);
    fields.push(quoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end));
    if (text.charAt(end) !== ',') return fields;
    at = end + 1;
  }
}

function endOfBare(text: string, from: number, flag: string): number {
  const comma = text.indexOf(',', from);
  const end = comma < 0 ? endOfLine(text) : comma;
  if (text.slice(from, end).includes('"')) {
    throw new PipelineError('usage', `--${flag} ${JSON.stringify(text)}: a quote in an unquoted value`);
  }
  return end;
}

/** Only the first line is read. */
function endOfLine(text: string): number {
  const line = text.indexOf('\n');
  return line < 0 ? text.length : line;
}

function endOfQuoted(text: string, from: number, flag: string): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text.charAt(at) !== '"') continue;
    const next = text.charAt(at + 1);
    if (next === '"') at++;
    else if (next === ',' || next === '' || next === '\n') return at + 1;
    else break;
  }
  throw new PipelineError('usage', `--${flag} ${JSON.stringify(text)}: a misplaced quote`);
}
