/**
 * Objects of a git directory, from one `git cat-file --batch-command` process: requests go out
 * without waiting for the answers before them.
 */
import type { ChildProcess } from 'node:child_process';
import type { PipelineError } from '../error.ts';
import type { GitObject, ObjectInfo, ObjectStore, ObjectType } from './objects.ts';
import { type GitRun, gitFailure, startError, startGit } from './process.ts';

interface Request {
  /** Contents are thrown away beyond this size; undefined when only the size is asked for. */
  readonly most: number | undefined;
  readonly resolve: (found: GitObject | ObjectInfo | undefined) => void;
  readonly reject: (error: PipelineError) => void;
}

export class BatchProcess implements ObjectStore {
  readonly #run: GitRun;
  #child: ChildProcess | undefined;
  #waiting: Request[] = [];
  #unsent = '';
  #answer: AnswerParser | undefined;

  constructor(run: GitRun) {
    this.#run = run;
  }

  find(id: string, most: number | undefined): Promise<GitObject | ObjectInfo | undefined> {
    return new Promise((resolve, reject) => {
      this.#start();
      this.#waiting.push({ most, resolve, reject });
      // Requests of the same moment go out in one write.
      if (this.#unsent === '') process.nextTick(() => this.#send());
      this.#unsent += `${most === undefined ? 'info' : 'contents'} ${id}\n`;
    });
  }

  #send(): void {
    if (this.#unsent !== '') this.#child?.stdin?.write(this.#unsent);
    this.#unsent = '';
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    this.#send();
    await new Promise<void>((resolve) => {
      child.once('close', () => resolve());
      child.stdin?.end();
    });
  }

  /** Starts git, unless it runs already. */
  #start(): void {
    if (this.#child) return;
    const child = startGit(this.#run, ['cat-file', '--batch-command']);
    let message = '';
    child.stdout?.on('data', (chunk: Buffer) => this.#receive(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      message += chunk.toString('utf8').slice(0, 1000);
    });
    // A git that takes no more input ends, and its end says why.
    child.stdin?.on('error', () => undefined);
    // A process may have a successor when it closes, after an error.
    const end = (error: PipelineError): void => {
      if (this.#child === child) this.#fail(error);
    };
    child.on('error', (error) => end(startError(error)));
    child.on('close', (code, signal) => end(gitFailure('cat-file', code ?? signal, message)));
    this.#child = child;
  }

  /** Rejects all requests that wait. The next request starts another process. */
  #fail(error: PipelineError): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#unsent = '';
    this.#child = undefined;
    this.#answer = undefined;
    for (const request of waiting) request.reject(error);
  }

  /** Gives bytes of git to the requests that wait, in their order. */
  #receive(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      const [request] = this.#waiting;
      if (!request) return;
      this.#answer ??= new AnswerParser(request.most);
      rest = this.#answer.take(rest);
      if (!this.#answer.complete) return;
      const { found } = this.#answer;
      this.#answer = undefined;
      this.#waiting.shift();
      request.resolve(found);
    }
  }
}

const NEWLINE = 10;

/** Reads one answer: a line `<id> <type> <size>`, then the bytes and a line feed when contents were asked for. */
class AnswerParser {
  readonly #mostBytes: number | undefined;
  #head: Buffer = Buffer.alloc(0);
  #info: ObjectInfo | undefined;
  #bytes: Buffer | undefined;
  /** Bytes of contents, with the line feed behind them, that are still to come. */
  #bytesLeft = 0;
  complete = false;

  constructor(most: number | undefined) {
    this.#mostBytes = most;
  }

  get found(): GitObject | ObjectInfo | undefined {
    return this.#info && this.#bytes ? { ...this.#info, bytes: this.#bytes } : this.#info;
  }

  /** Takes what belongs to this answer and gives back the rest. */
  take(chunk: Buffer): Buffer {
    if (this.#info) return this.#takeContents(chunk);
    const end = chunk.indexOf(NEWLINE);
    if (end < 0) {
      this.#head = Buffer.concat([this.#head, chunk]);
      return chunk.subarray(chunk.length);
    }
    this.#begin(Buffer.concat([this.#head, chunk.subarray(0, end)]).toString('latin1'));
    const rest = chunk.subarray(end + 1);
    return this.complete ? rest : this.#takeContents(rest);
  }

  /** Reads the head of an answer: the object's type and size, or that there is none. */
  #begin(line: string): void {
    const [, type, size] = /^[0-9a-f]+ (blob|tree|commit|tag) ([0-9]+)$/.exec(line) ?? [];
    if (type === undefined) {
      this.complete = true;
      return;
    }
    this.#info = { type: type as ObjectType, size: Number(size) };
    // Only the type and the size were asked for: no contents follow.
    if (this.#mostBytes === undefined) {
      this.complete = true;
      return;
    }
    // A line feed follows the contents. Contents that are too large are read past, and not kept.
    this.#bytesLeft = this.#info.size + 1;
    if (this.#info.size <= this.#mostBytes) this.#bytes = Buffer.allocUnsafeSlow(this.#info.size);
  }

  /** Takes bytes of the contents and the line feed behind them, which is not kept. */
  #takeContents(chunk: Buffer): Buffer {
    const taken = Math.min(chunk.length, this.#bytesLeft);
    if (this.#bytes) {
      const at = this.#bytes.length + 1 - this.#bytesLeft;
      chunk.copy(this.#bytes, at, 0, Math.min(taken, this.#bytes.length - at));
    }
    this.#bytesLeft -= taken;
    this.complete = this.#bytesLeft === 0;
    return chunk.subarray(taken);
  }
}
