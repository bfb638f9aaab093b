/**
 * The files of a directory shared out to two threads, each with the same work: whichever is idle takes the next part.
 * If anything unusual happens, one thread has to do everything: the result never depends on the number of threads.
 */
import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { DEFAULT_LIMITS, type LoadLimits, valueRoom } from '../../catalog/fbc/load.ts';
import { compareFindings, type Finding } from '../../catalog/finding.ts';
import type { CatalogSource, SourceFile } from '../../catalog/source.ts';
import { directorySource } from '../directory.ts';

/** What both threads get. */
export interface ThreadTask {
  readonly root: string;
  /** The files that can be read, each with the number of the part that it belongs to. */
  readonly parts: ReadonlyMap<string, number>;
  /** Which thread has each part: 0 until one takes it. */
  readonly takers: SharedArrayBuffer;
}

export interface ThreadOptions {
  /** File of the second thread's program: it posts its share of the work for its `workerData`, a task. */
  readonly program: string;
  /** Bytes of a catalog from which a second thread pays; 128 MiB when left out. */
  readonly least?: number;
  /** Processors; those of the machine when left out. */
  readonly processors?: number;
}

export type Thread = typeof FIRST | typeof SECOND;
const FIRST = 1;
const SECOND = 2;

/** Each thread loads, compiles and optimizes the program by itself: below about 100 MB that takes as long as is gained. */
const LEAST = 128 << 20;

/** Half of the documents and values each: together they have no more than one thread may. */
export function halfLimits(): LoadLimits {
  return { ...DEFAULT_LIMITS, documents: DEFAULT_LIMITS.documents / 2, room: valueRoom(2) };
}

/**
 * Shares out a directory that is large enough; undefined when one thread is faster.
 *
 * @param partOf what of the files one thread has to do, such as a folder
 * @throws PipelineError `not-found` or `io`
 */
export async function sharedTask(
  root: string,
  { least = LEAST, processors = availableParallelism() }: Omit<ThreadOptions, 'program'>,
  partOf: (path: string) => string,
): Promise<ThreadTask | undefined> {
  if (processors < 2) return undefined;
  const files = (await directorySource(root).files()).filter(({ unreadable }) => unreadable === undefined);
  const numbers = new Map<string, number>();
  const numberOf = (part: string): number => {
    const number = numbers.get(part) ?? numbers.size;
    numbers.set(part, number);
    return number;
  };
  const parts = new Map(files.map(({ path }) => [path, numberOf(partOf(path))]));
  if (numbers.size < 2 || !isLarge(files, least)) return undefined;
  return { root, parts, takers: new SharedArrayBuffer(numbers.size * Int32Array.BYTES_PER_ELEMENT) };
}

/** Whether the files have so many bytes together that a second thread pays. */
function isLarge(files: readonly SourceFile[], least: number): boolean {
  let bytes = 0;
  for (const file of files) {
    bytes += file.readPieces?.().size ?? 0;
    if (bytes >= least) return true;
  }
  return false;
}

/**
 * Does the work in this thread and a second one.
 *
 * @param work what this thread does of the task
 * @returns the shares of both; undefined when a thread failed
 */
export async function inTwoThreads<Task extends ThreadTask, Share>(
  program: string,
  task: Task,
  work: (task: Task, thread: Thread) => Promise<Share>,
): Promise<readonly [Share, Share] | undefined> {
  const { Worker } = await import('node:worker_threads');
  // Both processors have work: threads that help to collect garbage would only interrupt it.
  setFlagsFromString('--no-parallel-scavenge');
  const worker = new Worker(program, { workerData: task });
  try {
    const answer = new Promise<Share | undefined>((resolve) => {
      worker.once('message', resolve);
      worker.once('error', () => resolve(undefined));
      worker.once('exit', () => resolve(undefined));
    });
    const own = await work(task, FIRST);
    const other = await answer;
    return other && [own, other];
  } catch {
    // The caller does all of it again in one thread, which meets the first error in order and reports it.
    return undefined;
  } finally {
    await worker.terminate();
  }
}

/**
 * The directory's files, of which those that the other thread takes are empty.
 *
 * @throws Error in the second thread, when files are not there any more
 */
export async function sourceOfShare(
  { root, parts, takers }: ThreadTask,
  thread: Thread = SECOND,
): Promise<CatalogSource> {
  const takenBy = new Int32Array(takers);
  // Takes the part of a file for this thread, unless the other one has it. Both threads take until nothing is left.
  const takeOrHas = (path: string): boolean => {
    const part = parts.get(path);
    // A file that came after the task has no part: without one, both threads could read it.
    if (part === undefined) return false;
    const taker = Atomics.compareExchange(takenBy, part, 0, thread);
    return taker === 0 || taker === thread;
  };
  const all = await directorySource(root).files();
  const readable = all.filter(({ path }) => parts.has(path));
  // The second thread lists the files later than the first: after this error, one thread reads what is there.
  if (thread === SECOND && readable.length !== parts.size) throw new Error('the directory has changed');
  // What cannot be read at all is for the first thread to say.
  const files = (thread === FIRST ? all : readable).map((file): SourceFile => {
    const pieces = file.readPieces;
    if (!pieces || file.unreadable !== undefined) return file;
    return { ...file, readPieces: () => (takeOrHas(file.path) ? pieces() : { size: 0, pieces: [] }) };
  });
  return { files: () => Promise.resolve(files) };
}

/** What both threads found; undefined when one thread may find something else. */
export function joinedFindings(a: readonly Finding[], b: readonly Finding[]): Finding[] | undefined {
  const findings = [...a, ...b];
  // Each thread had half of the limit: one thread, with the whole limit, might not reach it.
  if (findings.some(({ rule }) => rule === 'fbc/limits')) return undefined;
  return findings.sort(compareFindings);
}
