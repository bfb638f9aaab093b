/** Creating something on GitHub once, although an answer may be lost. */
import { setTimeout } from 'node:timers/promises';
import { PipelineError } from '../error.ts';

const TRIES = 3;
/** Before GitHub is asked whether it created something, in ms, for each try. */
const PAUSE = 500;

/**
 * Creates something. A request that fails may have taken effect: before it is sent again, the thing is looked for.
 *
 * @param create sends the request, and does not send it again by itself
 * @param find what an earlier try has created
 */
export async function createOnce<T>(
  create: () => Promise<T>,
  find: () => Promise<T | undefined>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await create();
    } catch (error) {
      if (!isUncertain(error) || tries === TRIES) throw error;
    }
    await setTimeout(PAUSE * tries);
    const found = await find();
    if (found !== undefined) return found;
  }
}

function isUncertain(error: unknown): boolean {
  return error instanceof PipelineError && (error.code === 'unreachable' || error.code === 'bad-answer');
}
