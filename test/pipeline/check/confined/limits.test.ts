/** A process that reads foreign content ends with the one that started it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';

/** Starts itself again, says the other's process id once that one hangs, and hangs as well. */
const PROGRAM = `
import { fork } from 'node:child_process';
import { endWithParent } from './pipeline/check/confined/limits.ts';
if (process.argv[2] === 'child') {
  endWithParent(2);
  // Its thread takes a moment to start.
  setTimeout(() => { process.send(process.pid, () => { for (;;); }); }, 500);
} else {
  fork(process.argv[1], ['child']).once('message', (pid) => console.log(pid));
}`;

function programFile(): string {
  mkdirSync('node_modules/.cache', { recursive: true });
  const folder = mkdtempSync('node_modules/.cache/limits-');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(process.cwd(), folder, 'program.mjs');
  const stdin = { contents: PROGRAM, resolveDir: process.cwd(), loader: 'ts' as const };
  buildSync({ stdin, outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20' });
  return outfile;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('45: a process that hangs ends when the one that started it is killed', async () => {
  const parent = spawn(process.execPath, [programFile()], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(text.toString());
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
});
