/** A process that reads foreign content ends with the one that started it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { builtFile } from '../fakes/built.ts';
import { isAlive } from '../fakes/process.ts';

/** Starts itself again, and says the other's process id once that one hangs. */
const PROGRAM = `
import { fork } from 'node:child_process';
import { endWithThisProcess } from './pipeline/processes.ts';
if (process.argv[2] === 'child') {
  process.send(process.pid, () => { for (;;); });
} else {
  const child = fork(process.argv[1], ['child']);
  endWithThisProcess(child);
  child.once('message', (pid) => console.log(pid));
}`;

test('45: a process that hangs ends when the one that started it is killed', async () => {
  const parent = spawn(process.execPath, [builtFile(PROGRAM)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(text.toString());
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await expect.poll(() => isAlive(pid)).toBe(false);
});
