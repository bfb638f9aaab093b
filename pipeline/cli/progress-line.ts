/** Progress for people: one line that is redrawn on a terminal, a line now and then in a log. */
import type { Terminal } from '../terminal.ts';

interface ProgressLine {
  /** @param line makes the line from the milliseconds since the beginning, where it is due */
  readonly tell: (line: (milliseconds: number) => string) => void;
  /** Leaves the terminal with an empty line, for other output or for the end. */
  readonly clear: () => void;
}

/** Milliseconds between two lines: redrawn on a terminal, and in a log, which keeps all of them. */
const REDRAWN = 200;
const LOGGED = 10_000;

/** A line of progress: drawn again in place on a terminal, and written now and then elsewhere. */
export function progressLine({ err, interactive, now, columns }: Terminal): ProgressLine {
  const start = now().getTime();
  // A terminal shows the first line at once; short work writes nothing to a log.
  let last = interactive ? 0 : start;
  let isDrawn = false;
  return {
    tell: (line) => {
      const at = now().getTime();
      if (at - last < (interactive ? REDRAWN : LOGGED)) return;
      last = at;
      const text = line(at - start);
      // Padded over the line before; a text in the last column would begin another line.
      err(interactive ? `\r${text.slice(0, columns - 1).padEnd(columns - 1)}` : `${text}\n`);
      isDrawn = interactive;
    },
    clear: () => {
      if (isDrawn) err(`\r${' '.repeat(columns - 1)}\r`);
      isDrawn = false;
    },
  };
}
