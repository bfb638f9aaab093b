/** `index.json` of a layout on the disk: read again only when it has changed, changed by one at a time. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EMPTY_INDEX, type Entry, formatIndex, type LayoutIndex, parseIndex } from './entries.ts';
import { fileError, isAbsent, readIfThere, replaceFile, withLock } from './files.ts';

const LARGEST_INDEX = 64 * 1024 * 1024;

export interface IndexStore {
  read(): Promise<LayoutIndex>;
  /** @returns whether anything changed */
  change(work: (index: LayoutIndex) => Promise<readonly Entry[]>): Promise<boolean>;
}

/** The index of the layout in a directory. */
export function indexStore(directory: string): IndexStore {
  const path = join(directory, 'index.json');
  let cached: { readonly stamp: string; readonly index: LayoutIndex } | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  const read = async (): Promise<LayoutIndex> => {
    const stamp = await stampOf(path);
    if (cached?.stamp === stamp) return cached.index;
    const bytes = await readIfThere(path, LARGEST_INDEX);
    const index = bytes === undefined ? EMPTY_INDEX : parseIndex(bytes, path);
    cached = { stamp, index };
    return index;
  };
  const change: IndexStore['change'] = (work) => {
    const turn = queue.then(() =>
      withLock(`${path}.lock`, async () => {
        const index = await read();
        const entries = await work(index);
        if (isSame(entries, index.entries)) return false;
        await replaceFile(path, new TextEncoder().encode(formatIndex({ ...index, entries })));
        return true;
      }),
    );
    queue = turn.catch(() => undefined);
    return turn;
  };
  return { read, change };
}

/** What changes when a file is replaced or written to. */
async function stampOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    if (isAbsent(error)) return 'absent';
    throw fileError(`cannot look at ${path}`, error);
  }
}

function isSame(a: readonly Entry[], b: readonly Entry[]): boolean {
  return a.length === b.length && a.every((entry, i) => entry === b[i]);
}
