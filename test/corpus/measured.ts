/** Runs the built program, and measures what it and its git processes use. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface Run {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
  /** CPU time of the program and its children, in seconds. */
  readonly seconds: number;
  /** Most memory of the program, in MB. */
  readonly megabytes: number;
}

const PROGRAM = resolve('dist/portolan.mjs');
const SCRIPT = '"$@"; code=$?; times > "$TIMES"; exit $code';
const HOOK = `data:text/javascript,${encodeURIComponent(
  "import fs from 'node:fs';process.on('exit',()=>fs.writeFileSync(process.env.MEMORY,String(process.resourceUsage().maxRSS)))",
)}`;

export function runPortolan(args: readonly string[]): Run {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-measured-'));
  const [times, memory] = [join(folder, 'times'), join(folder, 'memory')];
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['-c', SCRIPT, 'bash', process.execPath, '--import', HOOK, PROGRAM, ...args],
    { encoding: 'utf8', maxBuffer: 1024 ** 3, env: { ...process.env, TIMES: times, MEMORY: memory } },
  );
  const [, children = ''] = readFileSync(times, 'utf8').trim().split('\n');
  return {
    code: status ?? -1,
    output: stdout,
    errors: stderr,
    seconds: children.split(' ').reduce((sum, text) => sum + secondsOf(text), 0),
    megabytes: Math.round(Number(readFileSync(memory, 'utf8')) / 1024),
  };
}

/** Seconds of `1m2.345s`. */
function secondsOf(text: string): number {
  const [, minutes = '0', seconds = '0'] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
  return Number(minutes) * 60 + Number(seconds);
}
