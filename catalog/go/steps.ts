/** The work that one input may cause: patterns, rules and filters that people write charge what their engine does. */
export interface Steps {
  left: number;
}

/** Two seconds of the slowest engine. The owners' files of the largest repositories that are known need 300,000. */
export const MOST_STEPS = 5e7;

/** Thrown where an input asks for more work than it may cause. */
export class StepsError extends Error {
  constructor(message = 'the patterns or regular expressions take too many steps') {
    super(message);
    this.name = 'StepsError';
  }
}

/** What work gives; undefined if it asks for more steps than are left. */
export function withinSteps<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof StepsError) return undefined;
    throw error;
  }
}

/** Takes steps from a budget. @throws StepsError when fewer steps are left */
export function spendSteps(steps: Steps, count: number): void {
  steps.left -= count;
  if (steps.left < 0) throw new StepsError();
}
