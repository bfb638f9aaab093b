/** The time that a command may spend on a history, and what it then has left: a small clone may have costly merges. */
export interface TimeLimit {
  readonly isOver: () => boolean;
  /** Why something was not looked at. */
  readonly why: string;
  /** Merges or installations that were not looked at. */
  left: number;
}

/** Thrown where a limit is over and what was found so far is of no use. */
export class OutOfTime extends Error {}

/** @param now milliseconds since some moment */
export function timeLimit(seconds: number, now: () => number): TimeLimit {
  const end = now() + seconds * 1000;
  return {
    isOver: () => now() >= end,
    why: `the time limit of ${seconds} s was reached`,
    left: 0,
  };
}
