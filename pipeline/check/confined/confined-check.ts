/** The check of a pull request in a process of its own, with a limit of memory and time. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { PipelineError } from '../../error.ts';
import type { Repository } from '../../git/repository.ts';
import { startOf } from '../check.ts';
import { reportOf } from '../outcome.ts';
import type { CheckReport } from '../report.ts';
import type { CheckRequest } from '../request.ts';
import { type Answers, answersOf } from './answers.ts';
import { type FromReader, receivedError, sentError, type Task, type ToReader } from './messages.ts';

/** The check of one pull request: in this process, or in one of its own. */
export type Checker = (repository: Repository, request: CheckRequest) => Promise<CheckReport>;

/** The program that reads, and what it may use. */
export interface Confinement {
  /** A file of JavaScript that calls `serveReader` when it is started with `words`. */
  readonly file: string;
  readonly words: readonly string[];
  /** Longest time of one check, in s. */
  readonly seconds: number;
  /** Most memory of its process, in MiB. */
  readonly memory: number;
  readonly log: (line: string) => void;
}

/** Longest time of one check, in s: less than half of what a function may take. */
export const CHECK_SECONDS = 240;

/** Part of the memory that a check may have: the rest is for the process that started it, and for git. */
const SHARE = 0.6;

/** Most memory of a check by what this process may use, in MiB. */
export function checkMemory(): number {
  const own = process.constrainedMemory?.() || totalmem();
  return Math.floor((Math.min(own, totalmem()) * SHARE) / 2 ** 20);
}

/**
 * Checks as `check` does, in a process of its own: one at a time, so that all of them together keep to the limit. One that
 * hangs, crashes or needs too much gives a report that is inconclusive, and says why.
 *
 * @returns a check that throws PipelineErrors as `check`
 */
export function confinedCheck(confinement: Confinement): Checker {
  let last: Promise<unknown> = Promise.resolve();
  return (repository, request) => {
    const next = last.then(() => checkOnce(confinement, repository, request));
    last = next.catch(() => undefined);
    return next;
  };
}

async function checkOnce(
  confinement: Confinement,
  repository: Repository,
  request: CheckRequest,
): Promise<CheckReport> {
  const start = async () => {
    const [base = '', head = ''] = await repository.resolve([request.base, request.head]);
    return startOf(repository, { base, head }, request);
  };
  const answers = answersOf(repository, request, async () => (await start()).policy.policy);
  const ended = await readIn(confinement, taskOf(repository, request), answers);
  if (ended.kind === 'report') return ended.report;
  if (ended.kind === 'error') throw receivedError(ended.error);
  confinement.log(`check of ${request.head}: ${ended.why}`);
  return reportOf({
    ...(await start()),
    kind: 'ended',
    why: `the check could not be completed: ${ended.why}`,
  });
}

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

/** Characters of what the process says last that are kept. */
const LAST_WORDS = 4000;

async function readIn(confinement: Confinement, task: Task, answers: Answers): Promise<Ended> {
  const { file, words, seconds, memory } = confinement;
  const folder = mkdtempSync(join(tmpdir(), 'portolan-reader-'));
  const child = fork(file, [...words], {
    // Nothing of this process's environment: it may have credentials.
    env: { ...task.settings.parts, PATH: task.settings.searchPath ?? '', TMPDIR: folder },
    execArgv: [`--max-old-space-size=${Math.ceil(memory * 0.8)}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    return await endOf(child, task, { answers, seconds, memory });
  } finally {
    // It may not listen any more.
    child.kill('SIGKILL');
    await closed;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How often the memory is looked at, in ms. */
const LOOK = 100;

interface Watch extends Pick<Confinement, 'seconds' | 'memory'> {
  readonly answers: Answers;
}

function endOf(child: ChildProcess, task: Task, { answers, seconds, memory }: Watch): Promise<Ended> {
  const timers: NodeJS.Timeout[] = [];
  const ended = new Promise<Ended>((resolve) => {
    let said = '';
    const end = (why: string): void => resolve({ kind: 'ended', why });
    const tooLarge = `it needed more than ${memory} MiB of memory`;
    child.stderr?.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString('latin1')}`.slice(-LAST_WORDS);
    });
    child.on('message', (message: FromReader) => {
      if (message.kind === 'ask') void answer(child, answers, message);
      else resolve(message);
    });
    child.once('error', (error) => end(`its process cannot be started: ${error.message}`));
    child.once('close', (code, signal) =>
      end(/out of memory|invalid size/.test(said) ? tooLarge : `its process ended with ${signal ?? code}`),
    );
    timers.push(setTimeout(() => end(`it took more than ${seconds} s`), seconds * 1000));
    timers.push(
      setInterval(() => {
        if (memoryOf(child.pid) > memory) end(tooLarge);
      }, LOOK),
    );
  });
  send(child, { kind: 'task', task });
  return ended.finally(() => timers.forEach(clearTimeout));
}

/** Memory of a process in MiB; 0 where the system does not tell. */
function memoryOf(pid: number | undefined): number {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
  } catch {
    // Not Linux, or it has ended.
    return 0;
  }
}

async function answer(
  child: ChildProcess,
  answers: Answers,
  { id, what, words }: Extract<FromReader, { kind: 'ask' }>,
): Promise<void> {
  try {
    const ask = Object.hasOwn(answers, what) ? answers[what] : undefined;
    send(child, { kind: 'answer', id, value: await ask?.(...(words as never[])) });
  } catch (error) {
    const known = error instanceof PipelineError ? error : new PipelineError('bad-answer', String(error));
    send(child, { kind: 'refusal', id, error: sentError(known) });
  }
}

/** One that has ended hears nothing; its end says why. */
function send(child: ChildProcess, message: ToReader): void {
  if (child.connected) child.send(message, () => undefined);
}
