import { PipelineError } from '../../error.ts';
import type { Clock } from '../../ports.ts';

/** The clock of the machine. */
export const systemClock: Clock = { now: Date.now, sleep };

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(stopped(signal));
    const stop = (): void => {
      clearTimeout(timer);
      reject(stopped(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** The error of work that its caller ended. */
export function stopped(signal: AbortSignal | undefined): PipelineError {
  return new PipelineError('unreachable', 'stopped before the registry responded', {
    retryable: false,
    cause: signal?.reason,
  });
}
