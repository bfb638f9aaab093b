/**
 * The index of a layout on the disk: `index.json`, and where many changes come, a journal of those that it does not
 * have yet. So a push costs as much with the two-thousandth tag as with the first, an acknowledged one is on the disk,
 * and whoever reads `index.json` alone finds a whole index, at most {@link FOLD_AFTER} ms old.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  afterChange,
  EMPTY_INDEX,
  type Entry,
  formatChange,
  formatIndex,
  type IndexChange,
  type LayoutIndex,
  parseChanges,
  parseIndex,
} from './entries.ts';
import { ABSENT, appendToFile, readIfThere, replaceFile, stampOf } from './files.ts';
import { withLock } from './lock.ts';

export const INDEX = 'index.json';
export const JOURNAL = '.portolan-journal';
/** Bytes of an index or a journal at most. */
const LARGEST_INDEX = 64 * 1024 * 1024;
/** Milliseconds from a change in the journal until the index has it. */
const FOLD_AFTER = 500;

/** Makes a change that depends on the index. @returns whether anything changed */
type Change = (work: (index: LayoutIndex) => Promise<IndexChange | undefined>) => Promise<boolean>;

interface IndexStore {
  read(): Promise<LayoutIndex>;
  readonly change: Change;
  /** Does work that makes changes while nobody else changes the index. */
  inTurn<T>(work: (change: Change) => Promise<T>): Promise<T>;
  /** Writes what only the journal has into the index. */
  fold(): Promise<void>;
  /** Does work while nobody else changes the index; `write` replaces its entries. */
  alone<T>(
    work: (index: LayoutIndex, write: (entries: readonly Entry[]) => Promise<void>) => Promise<T>,
  ): Promise<T>;
}

interface KnownIndex {
  /** Stamps of both files when they were read. */
  readonly indexStamp: string;
  readonly journalStamp: string;
  readonly index: LayoutIndex;
}

/** Opens the index of a layout for reading and changing. @param journaled whether changes go into the journal first */
export function openIndex(directory: string, journaled: boolean): IndexStore {
  const path = join(directory, INDEX);
  const journal = join(directory, JOURNAL);
  let latest: KnownIndex | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  /** When the index was written last, by `performance.now()`. */
  let writtenAt = -Infinity;

  const read = async (): Promise<KnownIndex> => {
    const [indexStamp, journalStamp] = await Promise.all([stampOf(path), stampOf(journal)]);
    if (latest?.indexStamp === indexStamp && latest.journalStamp === journalStamp) return latest;
    // The journal first: a change that another process moves into the index meanwhile is then read twice, which does no harm.
    // In the other order it would be missed.
    const pending = journalStamp === ABSENT ? undefined : await readIfThere(journal, LARGEST_INDEX);
    const bytes = await readIfThere(path, LARGEST_INDEX);
    const index = bytes === undefined ? EMPTY_INDEX : parseIndex(bytes, path);
    const changes = pending === undefined ? [] : parseChanges(pending.toString('utf8'), journal);
    latest = {
      indexStamp,
      journalStamp,
      index: { ...index, entries: changes.reduce(afterChange, index.entries) },
    };
    return latest;
  };
  /** Writes the index with all changes so far, then drops the journal: a crash in between loses none of them. */
  const write = async (index: LayoutIndex): Promise<void> => {
    const indexStamp = await replaceFile(path, new TextEncoder().encode(formatIndex(index)));
    await rm(journal, { force: true });
    latest = { indexStamp, journalStamp: ABSENT, index };
    writtenAt = performance.now();
  };
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = queue.then(() => withLock(`${path}.lock`, work));
    queue = turn.catch(() => undefined);
    return turn;
  };
  const fold = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if ((await stampOf(journal)) === ABSENT) return;
    await inTurn(async () => {
      const { journalStamp, index } = await read();
      // While this one waited for its turn, another may have done it.
      if (journalStamp !== ABSENT) await write(index);
    });
  };
  const change: Change = async (work) => {
    const { indexStamp, index } = await read();
    const next = await work(index);
    if (next === undefined) return false;
    const entries = afterChange(index.entries, next);
    if (isSame(entries, index.entries)) return false;
    // A change that comes alone goes straight into the index.
    if (!journaled || performance.now() - writtenAt > FOLD_AFTER) {
      await write({ ...index, entries });
      return true;
    }
    const journalStamp = await appendToFile(journal, formatChange(next));
    latest = { indexStamp, journalStamp, index: { ...index, entries } };
    // Where it fails the journal stays, and the next change tries again.
    timer ??= setTimeout(() => void fold().catch(() => undefined), FOLD_AFTER).unref();
    return true;
  };
  const alone: IndexStore['alone'] = (work) =>
    inTurn(async () => {
      const { index } = await read();
      return work(index, (entries) => write({ ...index, entries }));
    });
  return {
    read: async () => (await read()).index,
    change: (work) => inTurn(() => change(work)),
    inTurn: (work) => inTurn(() => work(change)),
    fold,
    alone,
  };
}

/** Whether two lists have the very same entries: a change that changes nothing hands its entries on. */
function isSame(a: readonly Entry[], b: readonly Entry[]): boolean {
  return a.length === b.length && a.every((entry, i) => entry === b[i]);
}
