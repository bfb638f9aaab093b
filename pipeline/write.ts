/**
 * Writing files so that a reader sees the old text or the new one, never a part.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileError } from './directory.ts';

/** What writing changed, by file name. */
export interface Written {
  readonly written: readonly string[];
  readonly unchanged: readonly string[];
  readonly removed: readonly string[];
}

/** Files that are written whole beside their places, and wait to be seen. */
export interface StagedFiles {
  /** Puts all of them in their places. @throws PipelineError `io` */
  commit(): Written;
  /** Leaves everything as it was. */
  discard(): void;
}

/**
 * Writes files into a folder, which is made if need be. A file that has its text already
 * is left alone, with its time.
 *
 * @param known names that may stand there from an earlier run; those without a text now are removed
 * @throws PipelineError `io` or `not-found`
 */
export function writeFiles(
  folder: string,
  files: ReadonlyMap<string, string>,
  known: readonly string[] = [],
): Written {
  return stageFiles(folder, files, known).commit();
}

/**
 * As {@link writeFiles}, in two steps: whatever can fail for want of room or permission fails in the
 * first, before anything else is done that the files speak of.
 *
 * @throws PipelineError `io` or `not-found`
 */
export function stageFiles(
  folder: string,
  files: ReadonlyMap<string, string>,
  known: readonly string[] = [],
): StagedFiles {
  const beside = (name: string): string => join(folder, `${name}.${process.pid}.part`);
  const changed: string[] = [];
  const discard = (): void => {
    for (const name of changed) rmSync(beside(name), { force: true });
  };
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of files) {
      if (textOf(join(folder, name)) === text) continue;
      changed.push(name);
      writeFileSync(beside(name), text, { flush: true });
    }
  } catch (error) {
    discard();
    throw fileError(error, folder);
  }
  const commit = (): Written => {
    try {
      for (const name of changed) renameSync(beside(name), join(folder, name));
      const stale = known.filter((name) => !files.has(name) && textOf(join(folder, name)) !== undefined);
      for (const name of stale) rmSync(join(folder, name));
      const unchanged = [...files.keys()].filter((name) => !changed.includes(name));
      return { written: changed, unchanged, removed: stale };
    } catch (error) {
      discard();
      throw fileError(error, folder);
    }
  };
  return { commit, discard };
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
