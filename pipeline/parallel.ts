/** Doing many things at a time, but not too many. */

/**
 * Does something with every item, at most `most` at a time. `work` must not fail: the other items would go on unwatched. An item
 * that is undefined would end the work.
 */
export async function eachOf<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
}

/** A number of bytes that may be on their way at a time. */
interface Allowance {
  /** Waits until so many fit, and does the work; something larger than all of it goes alone. */
  within<T>(bytes: number, work: () => Promise<T>): Promise<T>;
  /** Changes how many there may be. */
  resize(most: number): void;
}

/** Limits how many bytes are worked on at a time. Work waits in its order. @param start bytes, until `resize` */
export function createAllowance(start: number): Allowance {
  let most = start;
  let taken = 0;
  const waiting: { readonly bytes: number; readonly go: () => void }[] = [];
  const admit = (): void => {
    for (;;) {
      const [next] = waiting;
      // What is larger than the whole allowance goes alone.
      if (!next || (taken > 0 && taken + next.bytes > most)) return;
      waiting.shift();
      taken += next.bytes;
      next.go();
    }
  };
  return {
    within: async (bytes, work) => {
      await new Promise<void>((go) => {
        waiting.push({ bytes, go });
        admit();
      });
      try {
        return await work();
      } finally {
        taken -= bytes;
        admit();
      }
    },
    resize: (bytes) => {
      // Whoever waits is looked at when some work ends: nobody waits while none is under way.
      most = bytes;
    },
  };
}
