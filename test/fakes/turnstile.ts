/**
 * Tasks of which one runs at a time, from one of its turns to the next. Who is next is drawn, so that a seed says
 * how they come between each other.
 */
export interface Turnstile {
  /** Runs a task as soon as it is drawn. */
  start(task: () => Promise<void>): Promise<void>;
  /** Lets the task that is drawn go on, which may be the one that calls. */
  turn(): Promise<void>;
  /** Lets all others go on to their ends. */
  alone(): Promise<void>;
}

export function turnstile(random: () => number): Turnstile {
  const waiting: (() => void)[] = [];
  let tasks = 0;
  let running = 0;
  const next = (): void => {
    if (running > 0) return;
    const [go] = waiting.splice(Math.floor(random() * waiting.length), 1);
    if (!go) return;
    running++;
    go();
  };
  const drawn = (): Promise<void> => {
    const turn = new Promise<void>((resolve) => waiting.push(resolve));
    next();
    return turn;
  };
  const turn = (): Promise<void> => {
    running--;
    return drawn();
  };
  return {
    turn,
    start: async (task) => {
      tasks++;
      await drawn();
      try {
        await task();
      } finally {
        tasks--;
        running--;
        next();
      }
    },
    alone: async () => {
      while (tasks > 1) await turn();
    },
  };
}
