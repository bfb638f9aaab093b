import { expect, test } from 'vitest';
import { progressLine } from '../../../pipeline/cli/progress-line.ts';
import type { Terminal } from '../../../pipeline/terminal.ts';

function told(interactive: boolean, ...seconds: readonly number[]): string[] {
  const written: string[] = [];
  let at = 0;
  const now = (): Date => new Date(at);
  const err = (text: string): void => void written.push(text);
  const { tell, clear } = progressLine({ err, interactive, columns: 12, now } as Terminal);
  for (const second of seconds) {
    at = second * 1000;
    tell((milliseconds) => `after ${milliseconds / 1000} s`);
  }
  clear();
  return written;
}

test('a log gets a plain line every ten seconds', () => {
  expect(told(false, 0, 1, 9, 10, 11, 21)).toEqual(['after 10 s\n', 'after 21 s\n']);
});

test('on a terminal one line is redrawn five times a second, and is gone at the end', () => {
  expect(told(true, 0, 1, 1.1, 2)).toEqual(['\rafter 1 s  ', '\rafter 2 s  ', '\r           \r']);
});
