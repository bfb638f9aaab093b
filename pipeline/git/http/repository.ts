/**
 * A repository over HTTP, read without git: commits, trees and files come when they are asked for, many in one request,
 * and are kept in memory only.
 */
import { PipelineError } from '../../error.ts';
import type { LruCache } from '../../lru-cache.ts';
import { readCommit } from '../commit.ts';
import { type GitObject, isObjectId, type ObjectInfo, ObjectReader, type ObjectStore } from '../objects.ts';
import type { Repository } from '../repository.ts';
import type { GitClient } from './client.ts';

interface HttpRepositoryOptions {
  readonly client: GitClient;
  /** Objects that earlier readers of the same repository fetched, by id; weighed in bytes. */
  readonly cache?: LruCache<GitObject>;
  /** Bytes of files that stay in memory when others are fetched; 256 MiB when left out. */
  readonly memory?: number;
  /** Called when the repository is closed. */
  readonly closed?: () => void;
}

const MEMORY = 256 * 1024 * 1024;
/** Bytes of memory that an object takes beside its own. */
const OVERHEAD = 200;

/** Opens a repository over HTTP. Nothing is asked for yet. */
export function openHttpRepository({
  client,
  cache,
  memory = MEMORY,
  closed,
}: HttpRepositoryOptions): Repository {
  const store = new MemoryStore(cache, memory);
  const objects = new ObjectReader(store, async (ids) => {
    store.makeRoom();
    store.keep(await client.fetch({ wants: ids, filter: 'tree:0', depth: 1 }));
  });
  const bring = (ids: readonly string[]): Promise<void> => objects.bring(ids);
  const histories = new Histories(client, store, objects);
  return {
    settings: {},
    objects,
    get scratch(): string {
      throw new PipelineError('git', 'this needs the git program, which does not take part here');
    },
    shallow: true,
    resolve: async (revisions) => {
      for (const id of revisions)
        if (!(isObjectId(id) && (await objects.info(id))?.type === 'commit')) throw unknownRevision(id);
      return [...revisions];
    },
    bring,
    bringHistory: async (commits) => {
      store.keep(await client.fetch({ wants: commits, filter: 'tree:0' }));
    },
    bringTrees: (trees) => objects.prefetch(trees),
    isAncestor: async (older, newer) => {
      await bring([older, newer]);
      return histories.isAncestor(older, newer);
    },
    close: async () => {
      await objects.close();
      closed?.();
    },
  };
}

function unknownRevision(revision: string): PipelineError {
  return new PipelineError('not-found', `${JSON.stringify(revision)} is not a fetched commit`, {
    hint: 'use a commit ID',
  });
}

/** Objects in memory. Of files, those that came first are dropped when others are fetched; they can come again. */
class MemoryStore implements ObjectStore {
  readonly #cache: LruCache<GitObject> | undefined;
  readonly #most: number;
  readonly #files = new Map<string, GitObject>();
  /** Commits and trees. */
  readonly #others = new Map<string, GitObject>();
  /** Bytes of files. */
  #bytes = 0;

  constructor(cache: LruCache<GitObject> | undefined, most: number) {
    this.#cache = cache;
    this.#most = most;
  }

  keep(objects: ReadonlyMap<string, GitObject>): void {
    for (const [id, object] of objects) {
      this.#hold(id, object);
      this.#cache?.keep(id, object, object.size + OVERHEAD);
    }
  }

  /** Drops files beyond the limit, those that came first. */
  makeRoom(): void {
    for (const [id, { size }] of this.#files) {
      if (this.#bytes <= this.#most) return;
      this.#files.delete(id);
      this.#bytes -= size + OVERHEAD;
    }
  }

  async find(id: string, most: number | undefined): Promise<GitObject | ObjectInfo | undefined> {
    const object = this.#get(id);
    return object && (most === undefined || object.size > most)
      ? { type: object.type, size: object.size }
      : object;
  }

  async close(): Promise<void> {
    this.#files.clear();
    this.#others.clear();
    this.#bytes = 0;
  }

  #get(id: string): GitObject | undefined {
    const own = this.#files.get(id) ?? this.#others.get(id);
    if (own) return own;
    const cached = this.#cache?.get(id);
    // Held from now on: the cache may drop it.
    if (cached) this.#hold(id, cached);
    return cached;
  }

  #hold(id: string, object: GitObject): void {
    if (object.type !== 'blob') return void this.#others.set(id, object);
    if (this.#files.has(id)) return;
    this.#files.set(id, object);
    this.#bytes += object.size + OVERHEAD;
  }
}

/** Which commit led to which. */
class Histories {
  readonly #client: GitClient;
  readonly #store: MemoryStore;
  readonly #objects: ObjectReader;
  readonly #answers = new Map<string, Promise<boolean>>();
  /** The keys of answers that were yes. */
  readonly #ancestors = new Set<string>();

  constructor(client: GitClient, store: MemoryStore, objects: ObjectReader) {
    this.#client = client;
    this.#store = store;
    this.#objects = objects;
  }

  /** Whether one commit leads to another. What was found out is kept; a question that failed is asked again. */
  isAncestor(older: string, newer: string): Promise<boolean> {
    if (older === newer) return Promise.resolve(true);
    const key = `${older} ${newer}`;
    const known = this.#answers.get(key);
    if (known) return known;
    const answer = this.#ask(older, newer);
    this.#answers.set(key, answer);
    answer.then(
      (isAncestor) => isAncestor && this.#ancestors.add(key),
      () => this.#answers.delete(key),
    );
    return answer;
  }

  /**
   * The server sends what the newer commit has and the older one has not. Commits between the two lead to the older
   * one and the older one does not have them, so all of them come: one of them has it as a parent, or nothing leads there.
   */
  async #ask(older: string, newer: string): Promise<boolean> {
    if (await this.#isParent(older, newer)) return true;
    // No commit is its own ancestor. An answer that is still to come is not waited for: it may wait for this one.
    if (this.#ancestors.has(`${newer} ${older}`)) return false;
    const found = await this.#client.fetch({ wants: [newer], haves: [older], filter: 'tree:0' });
    this.#store.keep(found);
    const seen = new Set([newer]);
    // The set grows while it is walked.
    for (const id of seen) {
      // What the older commit has already does not come.
      if (!found.has(id) && id !== newer) continue;
      const { parents } = await readCommit(this.#objects, id);
      if (parents.includes(older)) return true;
      for (const parent of parents) seen.add(parent);
    }
    return false;
  }

  async #isParent(parent: string, commit: string): Promise<boolean> {
    return (await readCommit(this.#objects, commit)).parents.includes(parent);
  }
}
