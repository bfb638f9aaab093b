/** A directory of files and the command line in it, fresh for each test of a file. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { runCommandLine } from '../../pipeline/cli/main.ts';
import { capture } from '../conformance/fbc-terminal.ts';

export interface Workbench {
  /** The absolute path of a file, or of the directory itself. */
  at(path?: string): string;
  /** Runs one command line to its end. */
  run(...words: string[]): Promise<{ code: number; out: string; err: string }>;
  /** Writes a file, and the directories that it needs. */
  write(path: string, text: string): void;
  read(path: string): string;
}

/** Gives every test of the file a directory of its own; to be called beside the tests, not in one. */
export function workbench(): Workbench {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'portolan-test-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  const at = (path = ''): string => join(directory, path);
  return {
    at,
    async run(...words) {
      const { terminal, printed, complaints } = capture(directory, '');
      const code = await runCommandLine(words, '0.0.0', terminal);
      return { code, out: printed(), err: complaints() };
    },
    write(path, text) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
    },
    read: (path) => readFileSync(at(path), 'utf8'),
  };
}
