/** Limits of a process that reads foreign content, watched from the one that started it and from within. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { Worker } from 'node:worker_threads';

export interface ProcessLimits {
  /** Longest time, in s. */
  readonly seconds: number;
  /** Most memory, in MiB. */
  readonly memory: number;
}

/** A part of the memory that this process may use, in MiB. */
export function memoryShare(share: number): number {
  const own = process.constrainedMemory?.() || totalmem();
  return Math.floor((Math.min(own, totalmem()) * share) / 2 ** 20);
}

/** Node's options for a process with so much memory: what it holds beside the heap is counted by {@link watchProcess}. */
export function heapOptions({ memory }: Pick<ProcessLimits, 'memory'>): string[] {
  return [`--max-old-space-size=${Math.ceil(memory * 0.8)}`];
}

/** How often the memory is looked at, in ms. */
const LOOK = 100;

/**
 * Watches a process.
 *
 * @param end called with the reason, once it goes beyond a limit; the process goes on until it is killed
 * @returns what ends the watch
 */
export function watchProcess(
  child: ChildProcess,
  { seconds, memory }: ProcessLimits,
  end: (why: string) => void,
): () => void {
  const time = setTimeout(() => end(`it took more than ${seconds} s`), seconds * 1000);
  const look = setInterval(() => {
    if (memoryOf(child.pid) > memory) end(tooLarge(memory));
  }, LOOK);
  return () => {
    clearTimeout(time);
    clearInterval(look);
  };
}

/** Why a process ended. @param said the end of its standard error */
export function endText(
  { code, signal }: { readonly code: number | null; readonly signal: string | null },
  said: string,
  { memory }: Pick<ProcessLimits, 'memory'>,
): string {
  if (/out of memory|invalid size/.test(said)) return tooLarge(memory);
  return `its process ended with ${signal ?? code}`;
}

const tooLarge = (memory: number): string => `it needed more than ${memory} MiB of memory`;

/** Memory of a process in MiB; 0 if the system does not report it. */
function memoryOf(pid: number | undefined): number {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
  } catch {
    // Not Linux, or it has ended.
    return 0;
  }
}

/**
 * Ends this process when its parent is gone. A worker thread does that, because the main thread may hang.
 *
 * @param code exit code where it can still be given
 */
export function endWithParent(code: number): void {
  process.once('disconnect', () => process.exit(code));
  const watcher = new Worker(WATCHER, { eval: true, workerData: process.ppid, env: {} });
  watcher.unref();
}

/** The worker runs even if the main thread hangs. */
const WATCHER = `
const { workerData: parent } = require('node:worker_threads');
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, 500);
`;
