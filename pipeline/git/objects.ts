/** Objects by id: those that are here, and those that are fetched when they are read. */
import { PipelineError } from '../error.ts';
import { LruCache } from '../lru-cache.ts';

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

/** Most trees with their entries that are kept, so that a second walk over the same folders costs nothing. */
const KEPT_ENTRIES = 200_000;

/** Most objects whose types and sizes are kept. */
const KEPT_INFOS = 10_000;

/** Most bytes of contents that are kept: several steps of a check read the same file, and merges in turn the same files. */
const KEPT_BYTES = 4 * 1024 * 1024;

/** How long requests for missing objects are gathered, in ms. */
const GATHERING = 5;

/** Objects that are asked for in one request. */
const TOGETHER = 2000;

/** Errors that one object may cause for all that are asked for together with it. */
const OF_ONE: ReadonlySet<string> = new Set(['too-large', 'not-found']);

/** Objects of one request that may fail by themselves. Where more do, the rest fails with the last of them. */
const MOST_APART = 10;

/** How often an object is fetched for one reader at most. */
const MOST_TRIES = 3;

/** Where the objects are that are here. */
export interface ObjectStore {
  /**
   * An object, or undefined when it is not here.
   *
   * @param most contents are left out beyond this size; undefined when only the size is asked for
   */
  find(id: string, most: number | undefined): Promise<GitObject | ObjectInfo | undefined>;
  close(): Promise<void>;
}

/** Brings objects that are not here. */
type FetchObjects = (ids: readonly string[]) => Promise<void>;

/** Set once the server failed: why nothing that was gathered can be fetched any more. */
interface Failed {
  why?: unknown;
}

/** An object that is on its way. */
class Bringing {
  readonly promise: Promise<void>;
  resolve: () => void = () => undefined;
  reject: (error: unknown) => void = () => undefined;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

export class ObjectReader {
  readonly #store: ObjectStore;
  readonly #fetch: FetchObjects | undefined;
  /** Objects that were found missing and are about to be fetched. */
  #missing: string[] = [];
  /** Objects that are missing or on their way. */
  readonly #bringing = new Map<string, Bringing>();
  /** Those that are too large to be fetched: each try costs as much as the first. */
  readonly #refused = new Map<string, PipelineError>();
  readonly #brought: Set<string>;
  readonly #trees = new LruCache<readonly TreeEntry[]>(KEPT_ENTRIES);
  readonly #infos = new LruCache<ObjectInfo>(KEPT_INFOS);
  readonly #contents = new LruCache<GitObject>(KEPT_BYTES);
  /** Trees that are being read. */
  readonly #reading = new Map<string, Promise<readonly TreeEntry[]>>();

  /**
   * @param fetch asked for what is missing, for many objects at once; without, missing is missing
   * @param brought ids of those that another reader of the same store has fetched
   */
  constructor(store: ObjectStore, fetch?: FetchObjects, brought: readonly string[] = []) {
    this.#store = store;
    this.#fetch = fetch;
    this.#brought = new Set(brought);
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
    // More than once only where room was made for other objects before this one was looked at.
    for (let tries = 0; !found && this.#fetch && tries < MOST_TRIES; tries++) {
      await this.#bring(id);
      found = await this.#ask(id, most);
    }
    if (!found) throw missingObject(id);
    if ('bytes' in found) return found;
    throw new PipelineError('too-large', `object ${id} has ${found.size} bytes, the limit is ${most}`);
  }

  /**
   * The entries of a tree, in git's order.
   *
   * @param id of a tree, or of a commit for its root
   * @throws PipelineError `not-found`, `git` when it is not a tree
   */
  async tree(id: string): Promise<readonly TreeEntry[]> {
    const keptEntries = this.#trees.get(id);
    if (keptEntries) return keptEntries;
    const read = this.#reading.get(id) ?? this.#readTree(id).finally(() => this.#reading.delete(id));
    this.#reading.set(id, read);
    const entries = await read;
    this.#trees.keep(id, entries, 1 + entries.length);
    return entries;
  }

  /** Id of the tree that a commit records. */
  async treeOf(commit: string): Promise<string> {
    const { type, bytes } = await this.read(commit, STRUCTURE_BYTES);
    // The first line of a commit, which has 70 bytes at most.
    const tree = /^tree ([0-9a-f]+)\n/.exec(bytes.toString('latin1', 0, 70))?.[1];
    if (type === 'commit' && tree !== undefined) return tree;
    const defect = type === 'commit' ? 'is a commit without a tree' : `is a ${type}, not a commit`;
    throw new PipelineError('git', `object ${commit} ${defect}`);
  }

  async #readTree(id: string): Promise<readonly TreeEntry[]> {
    const { type, bytes } = await this.read(id, STRUCTURE_BYTES);
    if (type === 'tree') return parseTree(bytes, id.length / 2);
    if (type === 'commit') return this.tree(await this.treeOf(id));
    throw new PipelineError('git', `object ${id} is a ${type}, not a tree`);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** Whether what is not here can be fetched. */
  get isRemote(): boolean {
    return this.#fetch !== undefined;
  }

  /** Ids of the objects that were not here and were asked for. */
  get brought(): readonly string[] {
    return [...this.#brought];
  }

  /** Whether an object was not here and was asked for. */
  wasFetched(id: string): boolean {
    return this.#brought.has(id);
  }

  /**
   * Fetches objects that will be read, all at once; those that are here cost nothing. One that cannot be fetched fails
   * when it is read.
   *
   * @throws PipelineError for what concerns all of them, such as `unreachable`
   */
  async prefetch(ids: readonly string[]): Promise<void> {
    try {
      await this.bring(ids);
    } catch (error) {
      if (!(error instanceof PipelineError && OF_ONE.has(error.code))) throw error;
    }
  }

  /**
   * Fetches the objects that are not here.
   *
   * @throws PipelineError for the first that cannot be fetched, when all others are here
   */
  async bring(ids: readonly string[]): Promise<void> {
    if (!this.#fetch) return;
    const unique = [...new Set(ids)];
    const known = await Promise.all(unique.map((id) => this.info(id)));
    const brought = await Promise.allSettled(unique.filter((_, i) => !known[i]).map((id) => this.#bring(id)));
    for (const one of brought) if (one.status === 'rejected') throw one.reason;
  }

  /** Fetches an object, together with all that are found missing at the same time. */
  #bring(id: string): Promise<void> {
    const refused = this.#refused.get(id);
    if (refused) return Promise.reject(refused);
    const known = this.#bringing.get(id);
    if (known) return known.promise;
    if (this.#missing.push(id) === 1) setTimeout(() => void this.#bringGathered(), GATHERING);
    const bringing = new Bringing();
    this.#bringing.set(id, bringing);
    this.#brought.add(id);
    return bringing.promise;
  }

  /** Fetches all that was found missing since the last fetch. */
  async #bringGathered(): Promise<void> {
    const ids = this.#missing;
    this.#missing = [];
    const failed: Failed = {};
    for (let i = 0; i < ids.length; i += TOGETHER)
      await this.#bringTogether(ids.slice(i, i + TOGETHER), { left: MOST_APART, failed });
  }

  /**
   * Fetches objects in one request, or in halves where one of them may be why the whole fails. A server that does not answer
   * is not asked again.
   *
   * @param apart `left`: how many objects may still fail by themselves before the rest fails with them
   */
  async #bringTogether(ids: readonly string[], apart: { left: number; failed: Failed }): Promise<void> {
    const { failed } = apart;
    if (failed.why) return this.#settle(ids, ({ reject }) => reject(failed.why));
    try {
      await this.#fetch?.(ids);
      this.#settle(ids, ({ resolve }) => resolve());
    } catch (error) {
      const isOfOne = error instanceof PipelineError && OF_ONE.has(error.code);
      if (isOfOne && ids.length > 1 && apart.left > 0) {
        const half = Math.ceil(ids.length / 2);
        await this.#bringTogether(ids.slice(0, half), apart);
        return this.#bringTogether(ids.slice(half), apart);
      }
      if (!isOfOne) failed.why = error;
      if (ids.length === 1) {
        apart.left--;
        if (isOfOne && error.code === 'too-large') this.#refused.set(ids[0] ?? '', error);
      }
      this.#settle(ids, ({ reject }) => reject(error));
    }
  }

  #settle(ids: readonly string[], settle: (bringing: Bringing) => void): void {
    for (const id of ids) {
      const bringing = this.#bringing.get(id);
      this.#bringing.delete(id);
      if (bringing) settle(bringing);
    }
  }

  /** What the store has of an object, from memory if it was read before. @param most as in `ObjectStore.find` */
  async #ask(id: string, most: number | undefined): Promise<GitObject | ObjectInfo | undefined> {
    if (!isObjectId(id)) throw notAnId(id);
    const known = most === undefined ? this.#infos.get(id) : this.#contents.get(id);
    if (known && known.size <= (most ?? known.size)) return known;
    const found = await this.#store.find(id, most);
    // Where objects are fetched, the store drops some to make room: one that is remembered here would not come again.
    if (found && !this.#fetch) {
      this.#infos.keep(id, { type: found.type, size: found.size }, 1);
      if ('bytes' in found && found.type === 'blob') this.#contents.keep(id, found, found.size);
    }
    return found;
  }
}

/** Whether a text is the id of an object. */
export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** The bytes of an object; undefined for one that has more than `most`. @throws PipelineError as {@link ObjectReader.read} */
export async function bytesWithin(
  objects: ObjectReader,
  id: string,
  most: number,
): Promise<Buffer | undefined> {
  try {
    return (await objects.read(id, most)).bytes;
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'too-large') return undefined;
    throw error;
  }
}

/**
 * Refuses ids that git could take for options or names.
 *
 * @throws PipelineError `git` where one of them is not the id of an object
 */
export function checkObjectIds(ids: readonly string[]): void {
  for (const id of ids) if (!isObjectId(id)) throw notAnId(id);
}

function notAnId(text: string): PipelineError {
  return new PipelineError('git', `${JSON.stringify(text)} is not an object id`);
}

function missingObject(id: string): PipelineError {
  return new PipelineError('not-found', `object ${id} is not in this clone`, {
    hint: 'if the clone is shallow or partial: git fetch --unshallow, or git fetch --refetch --no-filter',
  });
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
    // Git writes no name twice. The second is marked, so that it is refused: it would hide the first.
    const name = names.has(written) ? `${UNWRITABLE}${written}` : written;
    names.add(name);
    entries.push({
      mode: modeOf(bytes.toString('latin1', at, space)),
      name,
      id: bytes.toString('hex', end + 1, end + 1 + idLength),
    });
    at = end + 1 + idLength;
  }
  return entries;
}

/** The usual modes, each as one text for all entries. */
const MODES: ReadonlyMap<string, string> = new Map(
  ['100644', '100755', '120000', '160000', '40000'].map((mode) => [mode, mode]),
);

function modeOf(written: string): string {
  return MODES.get(written) ?? written;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Stands in names that git itself would not write. Paths with this character are refused. */
export const UNWRITABLE = '\ufffd';

/** The name of a tree's entry. One that is empty, is not UTF-8 or has a slash is marked, so that it is refused. */
function nameOf(bytes: Buffer): string {
  try {
    const name = UTF8.decode(bytes);
    return name === '' || name.includes('/') ? `${UNWRITABLE}${name.replaceAll('/', UNWRITABLE)}` : name;
  } catch {
    return `${UNWRITABLE}${bytes.toString('latin1').replaceAll('/', UNWRITABLE)}`;
  }
}
