/**
 * npm run bench: how long validate and render take, and how much memory, next to the peers that are on the PATH.
 *
 *     npm run bench -- [--history BUNDLE] [--keep DIR] [--inputs text,base64,big,huge] [--runs N]
 *
 * Runs of ours and of a peer alternate, so that a busy machine slows both. GNU time gives the CPU and the memory.
 */
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Input, makeInputs } from './inputs.ts';

const { values } = parseArgs({
  options: {
    history: { type: 'string', default: '../shared/data/pr-history.bundle' },
    keep: { type: 'string', default: join(tmpdir(), 'portolan-bench') },
    inputs: { type: 'string', default: 'text,base64,big' },
    runs: { type: 'string', default: '5' },
  },
});

interface Contender {
  readonly name: string;
  readonly command: (input: Input) => readonly string[];
}

interface Sample {
  readonly wall: number;
  readonly cpu: number;
  readonly memory: number;
}

const portolan = [process.execPath, resolve('dist/portolan.mjs')];
const tasks: readonly { readonly name: string; readonly contenders: readonly Contender[] }[] = [
  {
    name: 'validate',
    contenders: [
      { name: 'portolan', command: ({ directory }) => [...portolan, 'validate', directory] },
      ...peer('opm', ({ directory }) => ['opm', 'validate', directory]),
    ],
  },
  {
    name: 'render -o json',
    contenders: [
      { name: 'portolan', command: ({ directory }) => [...portolan, 'render', directory, '-o', 'json'] },
      ...peer('opm', ({ directory }) => ['opm', 'render', directory, '-o', 'json']),
    ],
  },
];

mkdirSync(values.keep, { recursive: true });
const inputs = makeInputs(resolve(values.history), values.keep, new Set(values.inputs.split(',')));
console.log(
  `Node ${process.version}, ${cpus()[0]?.model ?? 'unknown'} × ${cpus().length}, ${new Date().toISOString().slice(0, 10)}`,
);
console.log(['task', 'input', 'MB', 'who', 'wall s', 'CPU s', 'peak MB', 'wall ×', 'CPU ×'].join(' | '));
for (const input of inputs) for (const task of tasks) measure(task, input);

function peer(name: string, command: Contender['command']): Contender[] {
  return isOnPath(name) ? [{ name, command }] : [];
}

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function measure({ name, contenders }: (typeof tasks)[number], input: Input): void {
  const samples = new Map<string, Sample[]>(contenders.map((contender) => [contender.name, []]));
  for (let run = 0; run < Number(values.runs); run++) {
    for (const contender of contenders) {
      samples.get(contender.name)?.push(timed(contender.command(input)));
    }
  }
  const size = (sizeOf(input.directory) / 1e6).toFixed(0);
  const ours = samples.get('portolan') ?? [];
  for (const [who, taken] of samples) {
    const ratio = (key: 'wall' | 'cpu'): string =>
      who === 'portolan' ? '' : (median(taken, key) / median(ours, key)).toFixed(1);
    const row = [
      name,
      input.name,
      size,
      who,
      spread(taken, 'wall'),
      spread(taken, 'cpu'),
      spread(taken, 'memory', 0),
    ];
    console.log([...row, ratio('wall'), ratio('cpu')].join(' | '));
  }
}

/** Runs a command under GNU time. */
function timed(command: readonly string[]): Sample {
  const figures = join(values.keep, 'figures');
  const began = process.hrtime.bigint();
  const { status, error } = spawnSync('/usr/bin/time', ['-f', '%U %S %M', '-o', figures, ...command], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const wall = Number(process.hrtime.bigint() - began) / 1e9;
  if (error) throw error;
  const lines = readFileSync(figures, 'utf8').trim().split('\n');
  const [user = 0, system = 0, kilobytes = 0] = (lines.at(-1) ?? '').split(' ').map(Number);
  if (status !== 0) console.error(`${command.join(' ')} ended with ${status}`);
  writeFileSync(figures, '');
  return { wall, cpu: user + system, memory: kilobytes / 1024 };
}

function median(samples: readonly Sample[], key: keyof Sample): number {
  const sorted = samples.map((sample) => sample[key]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** `min median max`. */
function spread(samples: readonly Sample[], key: keyof Sample, digits = 2): string {
  const numbers = samples.map((sample) => sample[key]);
  return [Math.min(...numbers), median(samples, key), Math.max(...numbers)]
    .map((n) => n.toFixed(digits))
    .join(' ');
}

function sizeOf(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
