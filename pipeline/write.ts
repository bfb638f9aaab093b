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
  try {
    mkdirSync(folder, { recursive: true });
    const changed = [...files].filter(([name, text]) => textOf(join(folder, name)) !== text);
    for (const [name, text] of changed) replace(join(folder, name), text);
    const stale = known.filter((name) => !files.has(name) && textOf(join(folder, name)) !== undefined);
    for (const name of stale) rmSync(join(folder, name));
    const written = changed.map(([name]) => name);
    const unchanged = [...files.keys()].filter((name) => !written.includes(name));
    return { written, unchanged, removed: stale };
  } catch (error) {
    throw fileError(error, folder);
  }
}

function replace(path: string, text: string): void {
  const beside = `${path}.${process.pid}.part`;
  try {
    writeFileSync(beside, text, { flush: true });
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
