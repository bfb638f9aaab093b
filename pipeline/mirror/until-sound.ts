/** Bytes that a registry or the way to it spoiled: the next answer is often right. */
import { PipelineError } from '../error.ts';

/** Tries of one read or write, the first among them. */
const TRIES = 5;

/** Reads or sends something until its bytes have the right digest, five times at most. @throws PipelineError */
export async function untilSound<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isSpoiled(error) || tries === TRIES) throw error;
    }
  }
}

/** Whether bytes had another digest than they were asked for by. */
export function isSpoiled(error: unknown): boolean {
  return error instanceof PipelineError && error.code === 'corrupt';
}
