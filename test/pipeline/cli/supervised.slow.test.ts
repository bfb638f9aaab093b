/** `portolan check` runs in a process that may hang, crash or need too much. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { ENDED, runSupervised } from '../../../pipeline/cli/supervised.ts';
import { builtFile } from '../../fakes/built.ts';
import { isAlive } from '../../fakes/process.ts';
import { sampleRepository } from '../../fakes/sample.ts';
import { runCommand } from '../../fakes/terminal.ts';

const LIMITS = { seconds: 60, memory: 1024 };

test.each([
  ['process.exit(0)', 0],
  ['process.exit(1)', 1],
  ['process.exit(2)', 2],
  ['process.exit(7)', 'its process ended with 7'],
  ['process.abort()', 'its process ended with SIGABRT'],
])('45: a command that does %s', async (does, expected) => {
  expect(await runSupervised(['-e', does], process.env, LIMITS)).toBe(expected);
});

test.each([
  ['for (;;);', { seconds: 0.5 }, 'it took more than 0.5 s'],
  [
    'const all = []; setInterval(() => all.push(Buffer.alloc(2 ** 24, 1)));',
    { memory: 300 },
    'it needed more than 300 MiB of memory',
  ],
])('45: a command that does %s is ended', async (does, limits, expected) => {
  expect(await runSupervised(['-e', does], process.env, { ...LIMITS, ...limits })).toBe(expected);
});

/** Runs a command that says its process id and hangs. */
const HANGS = `
import { runSupervised } from './pipeline/cli/supervised.ts';
runSupervised(['-e', 'process.stdout.write(String(process.pid), () => { for (;;); })'], process.env);`;

test.each(['SIGKILL', 'SIGTERM'] as const)(
  '45: a command that hangs ends when %s ends the process that started it',
  async (signal) => {
    const parent = spawn(process.execPath, [builtFile(HANGS)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [text] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(text.toString());
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    expect(isAlive(pid)).toBe(true);
    parent.kill(signal);
    await expect.poll(() => isAlive(pid)).toBe(false);
  },
);

test.each([
  [{ [ENDED]: 'it took more than 1800 s' }, 2, 'inconclusive'],
  [{}, 0, 'pass'],
])(
  '45: a check that ended early is inconclusive, in the format that was asked for: %j',
  async (environment, exit, verdict) => {
    const { directory, base, addition, remove } = sampleRepository();
    onTestFinished(remove);
    const words = ['check', '--base', base, '--head', addition, '--format', 'json'];
    const ran = await runCommand(words, { directory, environment: { ...process.env, ...environment } });
    expect([ran.exit, JSON.parse(ran.out).verdict]).toEqual([exit, verdict]);
  },
);
