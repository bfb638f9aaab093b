/** Bytes that a registry or the way to it spoiled: the next answer is often right. */
import { PipelineError } from '../error.ts';

const TRIES = 5;

/** Does something until its bytes are what their digest says, five times at most. @throws PipelineError */
export async function untilSound<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isSpoiled(error) || tries === TRIES) throw error;
    }
  }
}

/** Whether bytes came that were not asked for. */
export function isSpoiled(error: unknown): boolean {
  return error instanceof PipelineError && error.code === 'corrupt';
}
