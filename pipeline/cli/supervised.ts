/** A command that reads foreign content runs in a process of its own, which may hang, crash or need too much. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '../oci/registry/http/proxy.ts';
import {
  endText,
  endWithThisProcess,
  heapOptions,
  memoryShare,
  type ProcessLimits,
  watchProcess,
} from '../processes.ts';

/** Tells `portolan check` why its process ended: it then reports that instead of checking. */
export const ENDED = 'PORTOLAN_CHECK_ENDED';

/** Longest time of a command, in s: the largest checks that are known take a minute, registries that limit requests more. */
const LONGEST = 1800;

/** Part of the memory that a command may have, of 1: the rest is for this process and the system. */
const SHARE = 0.8;

/** Exit codes of the program; any other one is not its own. */
const OWN_CODES = [0, 1, 2];

/**
 * Runs a program with the same input and output, to its end.
 *
 * @param words the program's file, and its arguments
 * @param environment this process's
 * @returns its exit code, or why it did not get to its end
 */
export async function runSupervised(
  words: readonly string[],
  environment: Environment,
  limits: ProcessLimits = { seconds: LONGEST, memory: memoryShare(SHARE) },
): Promise<number | string> {
  const child = spawn(process.execPath, [...heapOptions(limits), ...words], {
    stdio: 'inherit',
    env: environment,
  });
  const release = endWithThisProcess(child);
  let ended: string | undefined;
  const unwatch = watchProcess(child, limits, (why) => {
    ended ??= why;
    child.kill('SIGKILL');
  });
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (ended === undefined && code !== null && OWN_CODES.includes(code)) return code;
    // Its standard error went to the terminal: what it said is not known here.
    return ended ?? endText({ code, signal }, '', limits);
  } catch (error) {
    return `its process cannot be started: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    unwatch();
    release();
  }
}
