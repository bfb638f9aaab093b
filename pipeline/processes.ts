/** Limits of a process that reads foreign content, and what happens when the process that started it is gone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir, totalmem } from 'node:os';
import { setFlagsFromString } from 'node:v8';

export interface ProcessLimits {
  /** Longest time, in s. */
  readonly seconds: number;
  /** Most memory, in MiB. */
  readonly memory: number;
}

/** A part of the memory that this process may use, in MiB. @param share of 1 */
export function memoryShare(share: number): number {
  // Without a limit of a container, Node gives 0 or more than the machine has.
  const own = process.constrainedMemory?.() || totalmem();
  return Math.floor((Math.min(own, totalmem()) * share) / 2 ** 20);
}

/** Node's options for a process with so much memory: what it holds beside the heap is counted by {@link watchProcess}. */
export function heapOptions({ memory }: Pick<ProcessLimits, 'memory'>): string[] {
  // A fifth is left for what is beside the heap, such as buffers.
  return [`--max-old-space-size=${Math.ceil(memory * 0.8)}`];
}

/**
 * Makes V8 optimize functions later. Checks of many merges run thousands of functions for some seconds: optimizing them takes a
 * quarter of the time of a processor. The V8 of Node 24 does not know the option, and has another compiler for such functions.
 */
export function optimizeLater(): void {
  // 11 is that of Node 20.
  if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=1000000');
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
  const unwatch = watchMemory(child, memory, () => end(tooLarge(memory)));
  return () => {
    clearTimeout(time);
    unwatch();
  };
}

/**
 * Watches the memory of a process.
 *
 * @param most MiB
 * @param end called once it has more; the process goes on until it is killed
 * @returns what ends the watch
 */
export function watchMemory(child: ChildProcess, most: number, end: () => void): () => void {
  const look = setInterval(() => {
    if (memoryOf(child.pid) > most) end();
  }, LOOK);
  return () => clearInterval(look);
}

/** Why a process ended. @param said the end of its standard error: the last words of V8 when its memory is full */
export function endText(
  { code, signal }: { readonly code: number | null; readonly signal: string | null },
  said: string,
  { memory }: Pick<ProcessLimits, 'memory'>,
): string {
  // V8 says the first of a full heap, and the second of a table that cannot grow.
  if (/out of memory|invalid size/.test(said)) return tooLarge(memory);
  return `its process ended with ${signal ?? code}`;
}

const tooLarge = (memory: number): string => `it needed more than ${memory} MiB of memory`;

/** Holds the system's report on a process, which has 1.5 kB. Reading into it costs a tenth of what `readFileSync` does. */
const REPORT = Buffer.alloc(4096);

/** The memory in MiB that a process has for itself, without files; 0 where the system does not report it. */
function memoryOf(pid: number | undefined): number {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/status`, 'r');
    const text = REPORT.toString('latin1', 0, readSync(file, REPORT));
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
  } catch {
    // Not Linux, or it has ended.
    return 0;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A command of a shell that ends the process `$1`: it has 2 s to remove its files. */
const END = 'kill "$1"; sleep 2; kill -9 "$1"';

/**
 * Ends a process when this one is gone, even if it hangs.
 *
 * @returns what ends the wait: the other process goes on
 */
export function endWithThisProcess({ pid }: ChildProcess): () => void {
  return pid === undefined ? () => undefined : afterProcess(END, String(pid));
}

/**
 * Runs a command of a shell when this process is gone. A shell waits for that: the end of its input is the end of the
 * process. It costs a tenth of what a thread would. Without a shell, nothing happens.
 *
 * @param command its words are `$1` and so on
 * @returns what ends the wait, without the command
 */
export function afterProcess(command: string, ...words: readonly string[]): () => void {
  // Of its own group, so that Ctrl-C does not end it, too.
  const shell = spawn('sh', ['-c', `read -r line || { ${command}; }`, 'sh', ...words], {
    cwd: tmpdir(),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  // Neither the shell nor its pipe keeps this process from ending.
  shell.unref();
  (shell.stdin as Partial<Socket>).unref?.();
  // A line, unlike the end of the input: `read` succeeds, and the shell does nothing.
  return () => shell.stdin.end('\n');
}
