/**
 * Objects by id, from one `git cat-file --batch-command` process: requests go out
 * without waiting for the answers before them.
 */
import type { ChildProcess } from 'node:child_process';
import { PipelineError } from '../error.ts';
import { failure, type GitRun, startError, startGit } from './process.ts';

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag';

export interface ObjectInfo {
  readonly type: ObjectType;
  /** In bytes. */
  readonly size: number;
}

export interface GitObject extends ObjectInfo {
  readonly bytes: Buffer;
}

export interface TreeEntry {
  readonly name: string;
  /** Octal, as git writes it: `100644`, `100755`, `120000` (link), `160000` (submodule), `40000` (tree). */
  readonly mode: string;
  readonly id: string;
}

/** Largest tree or commit that is read, in bytes. */
const STRUCTURE_BYTES = 64 * 1024 * 1024;

/** Trees that are kept, so that a second walk over the same folders costs nothing. */
const KEPT_TREES = 20_000;

/** How long requests for missing objects are gathered, in ms. */
const GATHERING = 5;

interface Request {
  readonly id: string;
  /** Contents are thrown away beyond this size; undefined when only the size is asked for. */
  readonly most: number | undefined;
  readonly resolve: (found: GitObject | ObjectInfo | undefined) => void;
  readonly reject: (error: PipelineError) => void;
}

/** Brings objects that are not here. */
export type FetchObjects = (ids: readonly string[]) => Promise<void>;

export class ObjectReader {
  readonly #run: GitRun;
  readonly #fetch: FetchObjects | undefined;
  /** Objects that were found missing and are about to be fetched. */
  #missing: string[] = [];
  #gathering: Promise<void> | undefined;
  readonly #brought = new Map<string, Promise<void>>();
  #child: ChildProcess | undefined;
  #waiting: Request[] = [];
  #answer: AnswerParser | undefined;
  readonly #trees = new Map<string, Promise<readonly TreeEntry[]>>();

  /** @param fetch asked for what is missing, for many objects at once; without, missing is missing */
  constructor(run: GitRun, fetch?: FetchObjects) {
    this.#run = run;
    this.#fetch = fetch;
  }

  /** Type and size of an object, or undefined when this clone does not have it. */
  info(id: string): Promise<ObjectInfo | undefined> {
    return this.#ask(id, undefined);
  }

  /**
   * An object with its bytes.
   *
   * @param most largest size that is taken, in bytes
   * @throws PipelineError `not-found` when this clone does not have it, `too-large`
   */
  async read(id: string, most: number = Number.POSITIVE_INFINITY): Promise<GitObject> {
    let found = await this.#ask(id, most);
    if (!found && this.#fetch) {
      await this.#bring(id);
      found = await this.#ask(id, most);
    }
    if (!found) throw missing(id);
    if ('bytes' in found) return found;
    throw new PipelineError('too-large', `object ${id} has ${found.size} bytes, the limit is ${most}`);
  }

  /**
   * The entries of a tree, in git's order.
   *
   * @param id of a tree, or of a commit for its root
   * @throws PipelineError `not-found`, `git` when it is not a tree
   */
  tree(id: string): Promise<readonly TreeEntry[]> {
    const kept = this.#trees.get(id);
    if (kept) return kept;
    const read = this.#readTree(id);
    if (this.#trees.size >= KEPT_TREES) this.#trees.clear();
    this.#trees.set(id, read);
    return read;
  }

  /** Id of the tree that a commit records. */
  async treeOf(commit: string): Promise<string> {
    const { type, bytes } = await this.read(commit, STRUCTURE_BYTES);
    const tree = /^tree ([0-9a-f]+)\n/.exec(bytes.toString('latin1', 0, 80))?.[1];
    if (type === 'commit' && tree !== undefined) return tree;
    throw new PipelineError('git', `object ${commit} is a ${type}, not a commit`);
  }

  async #readTree(id: string): Promise<readonly TreeEntry[]> {
    const { type, bytes } = await this.read(id, STRUCTURE_BYTES);
    if (type === 'tree') return parseTree(bytes, id.length / 2);
    if (type === 'commit') return this.tree(await this.treeOf(id));
    throw new PipelineError('git', `object ${id} is a ${type}, not a tree`);
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      child.once('close', () => resolve());
      child.stdin?.end();
    });
  }

  /** Whether what is not here can be fetched. */
  get isRemote(): boolean {
    return this.#fetch !== undefined;
  }

  /** Whether an object was not here and was asked for. */
  wasFetched(id: string): boolean {
    return this.#brought.has(id);
  }

  /** Fetches objects that will be read, all at once; those that are here cost nothing. */
  async prefetch(ids: readonly string[]): Promise<void> {
    if (!this.#fetch) return;
    const unique = [...new Set(ids)];
    const known = await Promise.all(unique.map((id) => this.info(id)));
    await Promise.all(unique.filter((_, i) => !known[i]).map((id) => this.#bring(id)));
  }

  /** Fetches an object once, together with all that are found missing at the same time. */
  #bring(id: string): Promise<void> {
    const known = this.#brought.get(id);
    if (known) return known;
    this.#missing.push(id);
    this.#gathering ??= new Promise((resolve, reject) => {
      setTimeout(() => this.#bringGathered().then(resolve, reject), GATHERING);
    });
    this.#brought.set(id, this.#gathering);
    return this.#gathering;
  }

  async #bringGathered(): Promise<void> {
    const ids = this.#missing;
    this.#missing = [];
    this.#gathering = undefined;
    await this.#fetch?.(ids);
  }

  #ask(id: string, most: number | undefined): Promise<GitObject | ObjectInfo | undefined> {
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id)) {
      return Promise.reject(new PipelineError('git', `${JSON.stringify(id)} is not an object id`));
    }
    return new Promise((resolve, reject) => {
      const child = this.#start();
      this.#waiting.push({ id, most, resolve, reject });
      child.stdin?.write(`${most === undefined ? 'info' : 'contents'} ${id}\n`);
    });
  }

  #start(): ChildProcess {
    if (this.#child) return this.#child;
    const child = startGit(this.#run, ['cat-file', '--batch-command']);
    let message = '';
    child.stdout?.on('data', (chunk: Buffer) => this.#receive(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      message += chunk.toString('utf8').slice(0, 1000);
    });
    child.stdin?.on('error', () => undefined);
    child.on('error', (error) => this.#fail(startError(error)));
    child.on('close', (code, signal) => this.#fail(failure('cat-file', code ?? signal, message)));
    this.#child = child;
    return child;
  }

  #fail(error: PipelineError): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#child = undefined;
    this.#answer = undefined;
    for (const request of waiting) request.reject(error);
  }

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

function missing(id: string): PipelineError {
  return new PipelineError('not-found', `object ${id} is not in this clone`, {
    hint: 'if the clone is shallow or partial: git fetch --unshallow, or git fetch --refetch --no-filter',
  });
}

const NEWLINE = 10;

/** Reads one answer: a line `<id> <type> <size>`, then the bytes and a line feed when contents were asked for. */
class AnswerParser {
  readonly #most: number | undefined;
  #head: Buffer = Buffer.alloc(0);
  #info: ObjectInfo | undefined;
  #bytes: Buffer | undefined;
  /** Bytes of contents, with the line feed behind them, that are still to come. */
  #left = 0;
  complete = false;

  constructor(most: number | undefined) {
    this.#most = most;
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

  #begin(line: string): void {
    const [, type, size] = /^[0-9a-f]+ (blob|tree|commit|tag) ([0-9]+)$/.exec(line) ?? [];
    if (type === undefined) {
      this.complete = true;
      return;
    }
    this.#info = { type: type as ObjectType, size: Number(size) };
    if (this.#most === undefined) {
      this.complete = true;
      return;
    }
    this.#left = this.#info.size + 1;
    if (this.#info.size <= this.#most) this.#bytes = Buffer.allocUnsafeSlow(this.#info.size);
  }

  #takeContents(chunk: Buffer): Buffer {
    const taken = Math.min(chunk.length, this.#left);
    if (this.#bytes) {
      const at = this.#bytes.length + 1 - this.#left;
      chunk.copy(this.#bytes, at, 0, Math.min(taken, this.#bytes.length - at));
    }
    this.#left -= taken;
    this.complete = this.#left === 0;
    return chunk.subarray(taken);
  }
}

/** Reads a tree object: `<mode> <name>\0<raw id>` again and again. */
function parseTree(bytes: Buffer, idLength: number): TreeEntry[] {
  const entries: TreeEntry[] = [];
  const names = new Set<string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at);
    const end = bytes.indexOf(0, space);
    if (space < 0 || end < 0 || end + 1 + idLength > bytes.length) {
      throw new PipelineError('git', 'a tree object is damaged');
    }
    const written = nameOf(bytes.subarray(space + 1, end));
    const name = names.has(written) ? `${BAD}${written}` : written;
    names.add(name);
    entries.push({
      mode: bytes.toString('latin1', at, space),
      name,
      id: bytes.toString('hex', end + 1, end + 1 + idLength),
    });
    at = end + 1 + idLength;
  }
  return entries;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Stands before names that git itself would not write; nothing that holds it is let pass. */
const BAD = '\ufffd';

function nameOf(bytes: Buffer): string {
  try {
    const name = UTF8.decode(bytes);
    return name === '' || name.includes('/') ? `${BAD}${name.replaceAll('/', BAD)}` : name;
  } catch {
    return `${BAD}${bytes.toString('latin1').replaceAll('/', BAD)}`;
  }
}
