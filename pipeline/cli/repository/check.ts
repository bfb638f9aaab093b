import type { Command } from '../command.ts';
import { CHECK } from './check-options.ts';

export const command: Command = {
  ...CHECK,
  // Its help is asked for without all that a check needs.
  run: async (invocation, terminal) => (await import('./run-check.ts')).runCheck(invocation, terminal),
};
