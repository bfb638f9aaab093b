import { type Command, type Invocation, usageError } from './command.ts';

/** The whole number that an option holds; undefined where it was left out. @throws PipelineError `usage` */
export function numberOption(command: Command, { text }: Invocation, option: string): number | undefined {
  const value = text(option);
  if (value === undefined) return undefined;
  if (/^-?\d+$/.test(value)) return Number(value);
  throw usageError(command, `--${option} must be a whole number, not ${JSON.stringify(value)}`);
}

/** A number of things of which there must be one at least. @throws PipelineError `usage` */
export function countOption(command: Command, invocation: Invocation, option: string): number | undefined {
  const count = numberOption(command, invocation, option);
  if (count === undefined || count > 0) return count;
  throw usageError(command, `--${option} must be 1 or more, not ${count}`);
}
