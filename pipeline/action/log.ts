/** The log of a step. Other files of the Action do not write to it: no line may be a command of the runner that content wrote. */
import { randomUUID } from 'node:crypto';
import { info as write } from '@actions/core';
import { linesText } from '../text.ts';

/** Lines of text, which may begin with a name that somebody else chose. */
export function info(text: string): void {
  write(linesText(text.split('\n')).trimEnd());
}

/** Text of a pull request, which must not be taken for a command of the runner. */
export function logText(text: string): void {
  const stop = randomUUID();
  write(`::stop-commands::${stop}`);
  write(text.trimEnd());
  write(`::${stop}::`);
}
