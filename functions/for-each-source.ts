/** What is done on a schedule for every repository: what is wrong with one keeps the others back from nothing. */
import { PipelineError } from '../pipeline/error.ts';
import type { Source } from './receive.ts';

/**
 * @param failed called with each source for which it could not be done
 * @returns what came of the others
 * @throws PipelineError the last one, when it could be done for none
 */
export async function forEachSource<T>(
  sources: readonly Source[],
  work: (source: Source) => Promise<T>,
  failed: (source: Source, error: PipelineError) => void,
): Promise<T[]> {
  const done: T[] = [];
  let last: PipelineError | undefined;
  for (const source of sources) {
    try {
      done.push(await work(source));
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      last = error;
      failed(source, error);
    }
  }
  if (last && done.length === 0) throw last;
  return done;
}
