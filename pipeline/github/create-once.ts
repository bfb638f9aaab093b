/** Creating something on GitHub once, although an answer may be lost. */
import { setTimeout } from 'node:timers/promises';
import { PipelineError } from '../error.ts';

const TRIES = 3;

/**
 * Creates something. A request that fails may have taken effect: before it is sent again, the thing is looked for.
 *
 * @param create sends the request, and does not send it again by itself
 * @param find what an earlier try has created
 * @param pause before it is looked for, in ms, for each try
 */
export async function createOnce<T>(
  create: () => Promise<T>,
  find: () => Promise<T | undefined>,
  pause = 500,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await create();
    } catch (error) {
      if (!isUncertain(error) || tries === TRIES) throw error;
    }
    await setTimeout(pause * tries);
    const found = await find();
    if (found !== undefined) return found;
  }
}

function isUncertain(error: unknown): boolean {
  return error instanceof PipelineError && (error.code === 'unreachable' || error.code === 'bad-answer');
}
