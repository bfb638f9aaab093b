/** Fetching several small streams at a time though they are read one after the other. */

export interface Fetch {
  /** In bytes. */
  readonly size: number;
  open(): AsyncIterable<Uint8Array>;
}

/** Streams that are fetched ahead of the one that is read. */
const AHEAD = 8;
/** Bytes of a stream that is fetched ahead, at most: it stays in memory until its turn. */
const SMALL = 4 * 1024 * 1024;

/** The streams in their order; while one is read, the next small ones are on their way. */
export function readAhead(fetches: readonly Fetch[]): readonly AsyncIterable<Uint8Array>[] {
  const started = new Map<number, Promise<readonly Uint8Array[]>>();
  const start = (i: number): void => {
    const fetch = fetches[i];
    if (!fetch || fetch.size > SMALL || started.has(i)) return;
    const chunks = collect(fetch);
    // Whoever reads it is told; nobody may, when an earlier one fails.
    chunks.catch(() => undefined);
    started.set(i, chunks);
  };
  const read = async function* (fetch: Fetch, i: number): AsyncGenerator<Uint8Array> {
    for (let next = i; next < i + AHEAD; next++) start(next);
    const chunks = started.get(i);
    if (!chunks) {
      yield* fetch.open();
      return;
    }
    yield* await chunks;
    started.delete(i);
  };
  return fetches.map((fetch, i) => read(fetch, i));
}

async function collect(fetch: Fetch): Promise<readonly Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of fetch.open()) chunks.push(chunk);
  return chunks;
}
