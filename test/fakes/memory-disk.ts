/**
 * Puts the tests' temporary directory into memory, where the machine has room: they make and remove some thousand small
 * directories, which costs a disk ten times as much. Elsewhere (a container's small /dev/shm, another system) nothing changes.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';

/** Room that the tests never need, in bytes. */
const ROOM = 4e9;

/** @returns what removes the directory after the last test */
export function setup(): (() => void) | undefined {
  const directory = directoryInMemory();
  if (directory === undefined) return undefined;
  process.env['TMPDIR'] = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}

function directoryInMemory(): string | undefined {
  let directory: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ROOM) return undefined;
    directory = mkdtempSync(join(MEMORY, 'portolan-'));
    // Some tests start programs that they write.
    const program = join(directory, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    execFileSync(program);
    return directory;
  } catch {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    return undefined;
  }
}
