/** Runs of other processes under GNU time, while this one goes on answering them. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Run {
  /** Seconds. */
  readonly wall: number;
  /** Seconds of user and system together. */
  readonly cpu: number;
  /** MiB at the peak. */
  readonly memory: number;
  readonly out: string;
}

/** @throws Error when the process fails, with what it wrote */
export async function timedRun(command: readonly string[]): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-time-'));
  const figures = join(folder, 'figures');
  try {
    const began = process.hrtime.bigint();
    const { status, out, err } = await ended(['-f', '%U %S %M', '-o', figures, ...command]);
    const wall = Number(process.hrtime.bigint() - began) / 1e9;
    if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${err}`);
    const [user = 0, system = 0, kilobytes = 0] = readFileSync(figures, 'utf8').trim().split(' ').map(Number);
    return { wall, cpu: user + system, memory: kilobytes / 1024, out };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs GNU time to its end. */
function ended(
  parameters: readonly string[],
): Promise<{ readonly status: number | null; readonly out: string; readonly err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('/usr/bin/time', parameters, { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, out, err }));
  });
}
