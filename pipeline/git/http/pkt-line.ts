/**
 * Lines of git's wire protocol: four hexadecimal digits with the length of the line, themselves counted, and its bytes.
 *
 * @see https://git-scm.com/docs/gitprotocol-common
 */
import { PipelineError } from '../../error.ts';

/** A line, or one of the marks that have no bytes: the end of a section, the end of all. */
export type Line = Buffer | 'delimiter' | 'flush';

export const FLUSH = '0000';
export const DELIMITER = '0001';

/** Digits of a length. */
const DIGITS = 4;
/** Longest line with its length, in bytes. */
const LONGEST = 65520;

/** One line of text, with the line feed that git expects at its end. */
export function pktLine(text: string): string {
  const bytes = Buffer.byteLength(text) + DIGITS + 1;
  if (bytes > LONGEST)
    throw new PipelineError('too-large', `a line of ${bytes} bytes is too long for git's protocol`);
  return `${bytes.toString(16).padStart(DIGITS, '0')}${text}\n`;
}

/**
 * The lines of an answer, in order; each shares its memory with the answer.
 *
 * @throws PipelineError `bad-answer` for what is not lines, or ends within one
 */
export function* pktLines(answer: Buffer): Generator<Line> {
  for (let at = 0; at < answer.length; ) {
    const digits = answer.toString('latin1', at, at + DIGITS);
    if (!/^[0-9a-f]{4}$/i.test(digits))
      throw badAnswer(`${JSON.stringify(digits)} is not the length of a line`);
    const length = Number.parseInt(digits, 16);
    if (length < DIGITS) {
      if (length === 3) throw badAnswer('a line has the reserved length 3');
      at += DIGITS;
      // The mark for the end of a response has length 2: nothing comes behind it over HTTP.
      yield length === 1 ? 'delimiter' : 'flush';
      continue;
    }
    if (length > LONGEST) throw badAnswer(`a line has ${length} bytes, more than the protocol allows`);
    if (at + length > answer.length) throw badAnswer('the answer ends within a line');
    yield answer.subarray(at + DIGITS, at + length);
    at += length;
  }
}

/** A line of text without the line feed at its end. */
export function textOf(line: Buffer): string {
  return line.toString('utf8').replace(/\n$/, '');
}

/** @param why a sentence without a capital and a full stop */
export function badAnswer(why: string): PipelineError {
  return new PipelineError('bad-answer', `the git server broke the protocol: ${why}`);
}
