/** Checks a pull request in a separate process, with a limit of memory and time. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { PipelineError } from '../../error.ts';
import { mergeTrees } from '../../git/merge.ts';
import type { Repository } from '../../git/repository.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Registry } from '../../ports.ts';
import {
  endText,
  endWithThisProcess,
  heapOptions,
  memoryShare,
  type ProcessLimits,
  watchProcess,
} from '../../processes.ts';
import { withoutSecretsIn } from '../../secrets.ts';
import { temporaryFolder } from '../../write.ts';
import { startOf } from '../check.ts';
import { reportOf, type Start } from '../outcome/outcome.ts';
import type { CheckReport } from '../report.ts';
import type { CheckRequest } from '../request.ts';
import { type FromReader, receivedError, sentError, type Task, type ToReader } from './messages.ts';

/** Checks one pull request, in this process or in a separate one. */
export type Checker = (repository: Repository, request: CheckRequest) => Promise<CheckReport>;

export interface ReaderProgram {
  /** A file of JavaScript that calls `serveReader` when it is started with `words`. */
  readonly file: string;
  readonly words: readonly string[];
}

/** The program that reads, and what it may use. */
interface Confinement extends ReaderProgram, ProcessLimits {
  readonly log: (line: string) => void;
}

/** Longest time of one check, in s: less than half of what a function may take. */
const CHECK_SECONDS = 240;

/** Part of the memory that a check may have: the rest is for the process that started it, and for git. */
const SHARE = 0.6;

/** The limits of one check. */
export const checkLimits = (): ProcessLimits => ({ seconds: CHECK_SECONDS, memory: memoryShare(SHARE) });

/**
 * Checks as `check` does, in a process of its own: one at a time, so that all of them together keep to the limit. One that
 * hangs, crashes or needs too much gives a report that is inconclusive, and says why.
 *
 * @returns a check that throws PipelineErrors as `check`, and `io` where its program is missing
 */
export function confinedCheck(confinement: Confinement): Checker {
  let last: Promise<unknown> = Promise.resolve();
  return (repository, request) => {
    const next = last.then(() => checkOnce(confinement, repository, request));
    last = next.catch(() => undefined);
    return next;
  };
}

/** Runs a check in a process of its own, once. If that ends without a report, the report says why nothing was checked. */
async function checkOnce(
  confinement: Confinement,
  repository: Repository,
  request: CheckRequest,
): Promise<CheckReport> {
  if (!existsSync(confinement.file))
    throw new PipelineError('io', `the program that reads pull requests is missing: ${confinement.file}`);
  const policyOf = async () => (await startCheck(repository, request)).policy.policy;
  const answers = answersOf(repository, request, policyOf);
  const ended = await readIn(confinement, taskOf(repository, request), answers);
  if (ended.kind === 'report') return withoutSecretsIn(ended.report);
  if (ended.kind === 'error') throw receivedError(ended.error);
  confinement.log(`check of ${request.head}: ${ended.why}`);
  return endedCheck(ended.why)(repository, request);
}

/** The report of a check that did not get to its end: nothing of the pull request is read. */
export function endedCheck(why: string): Checker {
  return async (repository, request) =>
    reportOf({
      ...(await startCheck(repository, request)),
      kind: 'ended',
      why: `the check could not be completed: ${why}`,
    });
}

/** What a report says of a check before anything of the pull request is read. */
async function startCheck(repository: Repository, request: CheckRequest): Promise<Start> {
  const [base = '', head = ''] = await repository.resolve([request.base, request.head]);
  return startOf(repository, { base, head }, request);
}

/** The data of a check that the process gets. Functions stay here: the process asks for what they give. */
function taskOf(repository: Repository, request: CheckRequest): Task {
  const { historyOf, registryFor, cache, people, kept: _, otherCatalogs, crds, manifests, ...data } = request;
  if (otherCatalogs || crds || manifests)
    throw new Error('a confined check has no clones or bundle directories beside the repository');
  const { searchPath, parts } = repository.settings;
  const { directoryFor, leftBaseAt, ...known } = people ?? { directoryFor: undefined, leftBaseAt: undefined };
  return {
    settings: { searchPath, parts },
    scratch: repository.scratch,
    shallow: repository.shallow,
    isRemote: repository.objects.isRemote,
    brought: repository.objects.brought,
    request: data,
    people: 'author' in known ? known : undefined,
    has: {
      history: historyOf !== undefined,
      registry: registryFor !== undefined,
      cache: cache !== undefined,
      directory: directoryFor !== undefined,
      leftBase: leftBaseAt !== undefined,
    },
  };
}

type Ended = Exclude<FromReader, { kind: 'ask' }> | { readonly kind: 'ended'; readonly why: string };

/** Characters of the process's last output that are kept. */
const LAST_WORDS = 4000;

/** Starts the process, waits for its end, and removes all that it left. */
async function readIn(confinement: Confinement, task: Task, answers: Answers): Promise<Ended> {
  const { file, words } = confinement;
  const folder = temporaryFolder('reader');
  const child = fork(file, [...words], {
    // Pass nothing of this process's environment: it may contain credentials.
    env: { ...task.settings.parts, PATH: task.settings.searchPath ?? '', TMPDIR: folder },
    execArgv: heapOptions(confinement),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const release = endWithThisProcess(child);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    return await endOf(child, task, { answers, limits: confinement });
  } finally {
    // A process that hangs handles no milder signal.
    child.kill('SIGKILL');
    await closed;
    release();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Watch {
  readonly answers: Answers;
  readonly limits: ProcessLimits;
}

/** How the process ends: with a report, an error, or a reason such as a limit. Answers its questions until then. */
function endOf(child: ChildProcess, task: Task, { answers, limits }: Watch): Promise<Ended> {
  let unwatch: (() => void) | undefined;
  const ended = new Promise<Ended>((resolve) => {
    let said = '';
    const end = (why: string): void => resolve({ kind: 'ended', why });
    child.stderr?.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString('latin1')}`.slice(-LAST_WORDS);
    });
    child.on('message', (message: FromReader) => {
      if (message.kind === 'ask') void answerReader(child, answers, message);
      else resolve(message);
    });
    child.once('error', (error) => end(`its process cannot be started: ${error.message}`));
    child.once('close', (code, signal) => end(endText({ code, signal }, said, limits)));
    unwatch = watchProcess(child, limits, end);
  });
  sendToReader(child, { kind: 'task', task });
  return ended.finally(unwatch);
}

/** Answers one question of the process, if it is one of those that it may ask. */
async function answerReader(
  child: ChildProcess,
  answers: Answers,
  { id, what, parameters }: Extract<FromReader, { kind: 'ask' }>,
): Promise<void> {
  try {
    const ask = Object.hasOwn(answers, what) ? answers[what] : undefined;
    sendToReader(child, { kind: 'answer', id, value: await ask?.(...(parameters as never[])) });
  } catch (error) {
    const known = error instanceof PipelineError ? error : new PipelineError('bad-answer', String(error));
    sendToReader(child, { kind: 'refusal', id, error: sentError(known) });
  }
}

/** A process that has ended receives no messages; its end explains why. */
function sendToReader(child: ChildProcess, message: ToReader): void {
  if (child.connected) child.send(message, () => undefined);
}

// The requests that a check in a separate process may send. Its parent answers them, with its own
// credentials.

/** Answers by what is asked. Their arguments come from a process that may do anything: each is validated where it is used. */
type Answers = Readonly<Record<string, (...parameters: never[]) => unknown>>;

/**
 * The questions that the process may ask, each with a function that answers it.
 *
 * @param policyOf reads the base branch's policy, which lists the allowed registries; undefined if it cannot be read
 */
function answersOf(
  repository: Repository,
  { historyOf, registryFor, cache, people }: CheckRequest,
  policyOf: () => Promise<Policy | undefined>,
): Answers {
  let opened: Promise<Registry | undefined> | undefined;
  const registry = async (): Promise<Registry> => {
    opened ??= policyOf().then((policy) => policy && registryFor?.(policy));
    const found = await opened;
    if (!found) throw new Error('the policy names no registry');
    return found;
  };
  return {
    fetch: (ids: string[]) => repository.objects.bring(ids),
    resolve: (revisions: string[]) => repository.resolve(revisions),
    bring: (commits: string[]) => repository.bring(commits),
    bringHistory: (commits: string[]) => repository.bringHistory(commits),
    bringTrees: (trees: string[], levels: number) => repository.bringTrees(trees, levels),
    mergeTrees: (base: string, head: string) => mergeTrees(repository, base, head),
    history: (places: Parameters<NonNullable<typeof historyOf>>[0]) => historyOf?.(places),
    cached: (key: string) => cache?.get(key),
    keep: (key: string, bytes: Uint8Array) => cache?.put(key, bytes),
    directory: (identities: never) => people?.directoryFor?.(identities),
    leftBase: (commit: string) => people?.leftBaseAt?.(commit),
    resolveImage: async (of: Parameters<Registry['resolve']>[0]) => (await registry()).resolve(of),
    getManifest: async (of: Parameters<Registry['getManifest']>[0]) => (await registry()).getManifest(of),
    hasBlob: async (...parameters: Parameters<Registry['hasBlob']>) =>
      (await registry()).hasBlob(...parameters),
    listReferrers: async (...parameters: Parameters<Registry['listReferrers']>) =>
      (await registry()).listReferrers(...parameters),
    ...streamsOf(registry),
  };
}

/**
 * Questions about data that is large: it is read a part at a time, so that a slow reader holds little. `getBlob` and
 * `listTags` answer with a number, for which `next` gives one part, and `end` lets go of the rest.
 */
function streamsOf(registry: () => Promise<Registry>): Answers {
  const open = new Map<number, AsyncIterator<unknown>>();
  let count = 0;
  const opened = (parts: AsyncIterable<unknown>): number => {
    open.set(count, parts[Symbol.asyncIterator]());
    return count++;
  };
  return {
    getBlob: async (...parameters: Parameters<Registry['getBlob']>) =>
      opened((await registry()).getBlob(...parameters)),
    listTags: async (of: Parameters<Registry['listTags']>[0]) => opened((await registry()).listTags(of)),
    next: async (handle: number) => (await open.get(handle)?.next()) ?? { done: true },
    end: async (handle: number) => {
      await open.get(handle)?.return?.();
      open.delete(handle);
    },
  };
}
