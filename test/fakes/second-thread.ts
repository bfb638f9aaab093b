/** Programs of a second thread. */
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { folder } from './folder.ts';

/** The program that is built. @returns its path */
export function builtThread(): string {
  const program = join(folder(), 'thread.cjs');
  buildSync({
    entryPoints: ['pipeline/cli/second-thread.ts'],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'error',
  });
  return program;
}

/** A program with this text, which may do anything. @returns its path */
export function threadOf(text: string): string {
  return join(folder({ 'thread.cjs': text }), 'thread.cjs');
}

/** The text of a program that answers at once. */
export function posting(share: object): string {
  return `require('node:worker_threads').parentPort.postMessage(${JSON.stringify(share)})`;
}
