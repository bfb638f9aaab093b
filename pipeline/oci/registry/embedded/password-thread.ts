/** Passwords compared in a thread of their own, so that no request waits for those of others. */
import { Worker } from 'node:worker_threads';
import { PipelineError } from '../../../error.ts';
import { PROGRAM } from './password-program.ts';

interface Asked {
  readonly resolve: (isRight: boolean) => void;
  readonly reject: (error: PipelineError) => void;
}

/**
 * @returns what decides whether a password is the one of a bcrypt hash
 * @throws PipelineError `io`, from what is returned, when the thread ends; the next password starts another one
 */
export function passwordThread(): (password: string, hash: string) => Promise<boolean> {
  const asked = new Map<number, Asked>();
  let worker: Worker | undefined;
  let count = 0;
  const ended = (one: Worker): void => {
    if (worker === one) worker = undefined;
    for (const { reject } of asked.values())
      reject(new PipelineError('io', 'the thread that compares passwords has ended'));
    asked.clear();
  };
  const start = (): Worker => {
    const one = new Worker(PROGRAM, { eval: true, env: {} });
    one.on('message', ({ id, isRight }: { id: number; isRight: boolean }) => {
      asked.get(id)?.resolve(isRight);
      asked.delete(id);
    });
    one.once('error', () => ended(one));
    one.once('exit', () => ended(one));
    // It keeps no program from its end.
    one.unref();
    return one;
  };
  return (password, hash) =>
    new Promise((resolve, reject) => {
      worker ??= start();
      const id = count++;
      asked.set(id, { resolve, reject });
      worker.postMessage({ id, password, hash });
    });
}
