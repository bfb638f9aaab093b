/** The log of a step. Other files of the Action do not write to it: no line may be a command of the runner that content wrote. */
import { randomUUID } from 'node:crypto';
import { info as write } from '@actions/core';
import { linesText } from '../text.ts';

/** Writes lines of text. Each may begin with a name that somebody else chose, so what looks like a command is escaped. */
export function info(text: string): void {
  write(linesText(text.split('\n')).trimEnd());
}

/**
 * Writes text of a pull request as it is. The runner obeys no command until a line has the token, which nobody can guess.
 */
export function logText(text: string): void {
  const stop = randomUUID();
  write(`::stop-commands::${stop}`);
  write(text.trimEnd());
  write(`::${stop}::`);
}
