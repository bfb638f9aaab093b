/**
 * The catalog of a directory checked by two threads. Rules look at one package at a time, so what each thread finds
 * of its packages adds up to what one thread finds of all. Where it does not, one thread checks everything.
 */
import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { DEFAULT_LIMITS } from '../../catalog/fbc/load.ts';
import type { Blobs } from '../../catalog/fbc/model.ts';
import { compareFindings, type Finding } from '../../catalog/finding.ts';
import { checkCatalog } from '../../catalog/rules/check-catalog.ts';
import type { Rule } from '../../catalog/rules/rule.ts';
import type { SourceFile } from '../../catalog/source.ts';
import { directorySource } from '../directory.ts';
import type { Verdict } from './stored-verdicts.ts';

/** What the second thread is told. */
export interface ThreadTask {
  readonly root: string;
  /** The files that may be read. */
  readonly paths: readonly string[];
  /** Which thread has each part of the catalog: 0 until one takes it. */
  readonly takers: SharedArrayBuffer;
}

/** What one thread found of the parts that it took. */
export interface Share extends Verdict {
  /** What rules compare across files: names of packages, and schemas that have no domain. */
  readonly names: readonly string[];
}

export interface ThreadOptions {
  /** File of the second thread's program: it posts what `checkShare` gives for its `workerData`, a ThreadTask. */
  readonly program: string;
  /** Bytes of a catalog from which a second thread pays; 128 MiB when left out. */
  readonly least?: number;
  /** Processors; those of the machine when left out. */
  readonly processors?: number;
}

/** Each thread loads, compiles and optimizes the program by itself: below about 100 MB that takes as long as is gained. */
const LEAST = 128 << 20;
const FIRST = 1;
const SECOND = 2;

/**
 * What `checkCatalog` finds of a directory.
 *
 * @throws PipelineError `not-found` or `io`
 */
export async function checkDirectory(
  root: string,
  rules: readonly Rule[],
  { program, least = LEAST, processors = availableParallelism() }: ThreadOptions,
): Promise<Verdict> {
  const files = (await directorySource(root).files()).filter(({ unreadable }) => unreadable === undefined);
  const paths = files.map(({ path }) => path);
  if (processors > 1 && partsOf(paths).size > 1 && isLarge(files, least)) {
    const verdict = await checkShared(root, paths, rules, program);
    if (verdict) return verdict;
  }
  const { findings, catalog } = await checkCatalog(directorySource(root), rules);
  return { findings, packages: catalog.blobs.packages.length, bundles: catalog.blobs.bundles.length };
}

function isLarge(files: readonly SourceFile[], least: number): boolean {
  let bytes = 0;
  for (const file of files) {
    bytes += file.readPieces?.().size ?? 0;
    if (bytes >= least) return true;
  }
  return false;
}

/** Undefined when the shares do not add up, or the second thread failed. */
async function checkShared(
  root: string,
  paths: readonly string[],
  rules: readonly Rule[],
  program: string,
): Promise<Verdict | undefined> {
  const takers = new SharedArrayBuffer(partsOf(paths).size * Int32Array.BYTES_PER_ELEMENT);
  const task: ThreadTask = { root, paths, takers };
  const { Worker } = await import('node:worker_threads');
  // Both processors have work: threads that help to collect garbage would only interrupt it.
  setFlagsFromString('--no-parallel-scavenge');
  const worker = new Worker(program, { workerData: task });
  try {
    const answer = new Promise<Share | undefined>((resolve) => {
      worker.once('message', resolve);
      // One thread finds out what is wrong, and says so.
      worker.once('error', () => resolve(undefined));
      worker.once('exit', () => resolve(undefined));
    });
    const own = await checkShare(task, rules, FIRST);
    const other = await answer;
    return other && sumOf(own, other);
  } finally {
    await worker.terminate();
  }
}

/**
 * Checks the parts of a catalog that no other thread has taken yet.
 *
 * @throws Error in the second thread, when files are not there any more
 */
export async function checkShare(
  { root, paths, takers }: ThreadTask,
  rules: readonly Rule[],
  thread: number = SECOND,
): Promise<Share> {
  const parts = partsOf(paths);
  const takenBy = new Int32Array(takers);
  const isOwn = (path: string): boolean => {
    const part = parts.get(partOf(path));
    if (part === undefined) return false;
    const taker = Atomics.compareExchange(takenBy, part, 0, thread);
    return taker === 0 || taker === thread;
  };
  const known = new Set(paths);
  const all = await directorySource(root).files();
  const readable = all.filter(({ path }) => known.has(path));
  // Then one thread checks what is there.
  if (thread === SECOND && readable.length !== paths.length) throw new Error('the directory has changed');
  // What cannot be read at all is for the first thread to say.
  const files = (thread === FIRST ? all : readable).map((file): SourceFile => {
    const pieces = file.readPieces;
    if (!pieces || file.unreadable !== undefined) return file;
    return { ...file, readPieces: () => (isOwn(file.path) ? pieces() : { size: 0, pieces: [] }) };
  });
  // Half of the documents each: together they have no more than one thread may.
  const limits = { ...DEFAULT_LIMITS, documents: DEFAULT_LIMITS.documents / 2 };
  const { findings, catalog } = await checkCatalog({ files: async () => files }, rules, { limits });
  const { packages, bundles } = catalog.blobs;
  const names = namesIn(catalog.blobs);
  return { findings, packages: packages.length, bundles: bundles.length, names };
}

/** Numbers of the files and folders at the top of a catalog, by their names. */
function partsOf(paths: readonly string[]): ReadonlyMap<string, number> {
  const parts = new Map<string, number>();
  for (const path of paths) if (!parts.has(partOf(path))) parts.set(partOf(path), parts.size);
  return parts;
}

function partOf(path: string): string {
  const slash = path.indexOf('/');
  return slash < 0 ? path : path.slice(0, slash);
}

function namesIn({ packages, channels, bundles, deprecations, others }: Blobs): string[] {
  const names = new Set(packages.map(({ name }) => `package ${name}`));
  for (const { package: name } of [...channels, ...bundles, ...deprecations, ...others])
    names.add(`package ${name}`);
  for (const { schema } of others) if (!schema.includes('.')) names.add(`schema ${schema}`);
  return [...names];
}

/** What two threads found, as one; undefined when it may differ from what one thread finds of all. */
export function sumOf(a: Share, b: Share): Verdict | undefined {
  const names = new Set(a.names);
  if (b.names.some((name) => names.has(name))) return undefined;
  const findings: Finding[] = [...a.findings, ...b.findings];
  // A limit of the whole catalog is not the sum of two.
  if (findings.some(({ rule }) => rule === 'fbc/limits')) return undefined;
  return {
    findings: findings.sort(compareFindings),
    packages: a.packages + b.packages,
    bundles: a.bundles + b.bundles,
  };
}
