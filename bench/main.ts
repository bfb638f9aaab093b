/**
 * How long validate and render take, and how much memory, next to the peers that are on the PATH.
 *
 *     npm run build && node scripts/run.mjs bench/main.ts [--history BUNDLE] [--keep DIR] [--runs N]
 *       [--inputs text,base64,big,huge] [--peers opm,js-yaml,yq] [--peer-runs N] [--cores 1]
 *       [--tasks 'validate;validate, unchanged;validate, one file changed;render -o json;render -o yaml']
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
import { changeOneFile, type Input, makeInputs, track } from './inputs.ts';

const { values } = parseArgs({
  options: {
    history: { type: 'string', default: '../shared/data/pr-history.bundle' },
    keep: { type: 'string', default: join(tmpdir(), 'portolan-bench') },
    inputs: { type: 'string', default: 'text,base64,big' },
    runs: { type: 'string', default: '5' },
    tasks: { type: 'string' },
    peers: { type: 'string', default: 'opm,js-yaml,yq' },
    'peer-runs': { type: 'string' },
    cores: { type: 'string' },
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
const cache = join(values.keep, 'cache');

interface Task {
  readonly name: string;
  /** What is done before each run, the time of which does not count. */
  readonly prepare?: (input: Input, run: number) => void;
  readonly contenders: readonly Contender[];
}

const tasks: readonly Task[] = [
  {
    name: 'validate',
    contenders: [
      { name: 'portolan', command: ({ directory }) => [...portolan, 'validate', directory] },
      ...peer('opm', ({ directory }) => ['opm', 'validate', directory]),
      // They only read: what a catalog means they do not know.
      ...peer(
        'js-yaml',
        ({ directory }) => [process.execPath, resolve('bench/js-yaml.mjs'), directory],
        process.execPath,
      ),
      ...peer('yq', ({ directory }) => ['yq', '.', ...filesIn(directory)]),
    ],
  },
  remembered('validate, unchanged', (input) => track(input)),
  remembered('validate, one file changed', (input, run) => changeOneFile(input, run)),
  ...(['json', 'yaml'] as const).map((format) => ({
    name: `render -o ${format}`,
    contenders: [
      {
        name: 'portolan',
        command: ({ directory }: Input) => [...portolan, 'render', directory, '-o', format],
      },
      ...peer('opm', ({ directory }) => ['opm', 'render', directory, '-o', format]),
    ],
  })),
];

/** Validation with a cache that was filled before, by a run that is not counted; a peer has none. */
function remembered(name: string, prepare: (input: Input, run: number) => void): Task {
  const command = ({ directory }: Input): string[] => [...portolan, 'validate', '--cache', cache, directory];
  return {
    name,
    prepare: (input, run) => {
      if (run === 0) {
        track(input);
        timed(command(input));
      }
      prepare(input, run + 1);
    },
    contenders: [
      { name: 'portolan', command },
      ...peer('opm', ({ directory }) => ['opm', 'validate', directory]),
    ],
  };
}

mkdirSync(values.keep, { recursive: true });
const inputs = makeInputs(resolve(values.history), values.keep, new Set(values.inputs.split(',')));
console.log(
  `Node ${process.version}, ${cpus()[0]?.model ?? 'unknown'} × ${cpus().length}, ${new Date().toISOString().slice(0, 10)}`,
);
console.log('minimum, median, maximum:');
console.log(['task', 'input', 'MB', 'who', 'wall s', 'CPU s', 'peak MB', 'wall ×', 'CPU ×'].join(' | '));
/** Medians, as the documentation has them. */
const table: string[] = [];
const chosen = tasks.filter(
  ({ name }) => values.tasks === undefined || values.tasks.split(';').includes(name),
);
for (const task of chosen) for (const input of inputs) measure(task, input);
console.log(`\n${heading()}\n${table.join('\n')}`);

/** @param program what has to be there; the peer's own name when left out */
function peer(name: string, command: Contender['command'], program: string = name): Contender[] {
  return values.peers.split(',').includes(name) && isOnPath(program) ? [{ name, command }] : [];
}

/** The head of the table: three columns for each contender, then how many times as long each peer takes. */
function heading(): string {
  const names = chosen[0]?.contenders.map(({ name }) => name) ?? [];
  const columns = [
    ...['task', 'input'],
    ...names.flatMap((name) => [`${name}: wall s`, 'CPU s', 'peak MB']),
    ...names
      .slice(1)
      .flatMap((name) => (names.length === 2 ? ['wall ×', 'CPU ×'] : [`${name}: wall ×`, 'CPU ×'])),
  ];
  return `| ${columns.join(' | ')} |\n|${'---|'.repeat(columns.length)}`;
}

/** Whether a program, or one at a path, can be run. */
function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(resolve(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Runs all contenders in turn, prints what each took, and adds their medians to the table. */
function measure({ name, prepare, contenders }: Task, input: Input): void {
  const samples = new Map<string, Sample[]>(contenders.map((contender) => [contender.name, []]));
  for (let run = 0; run < Number(values.runs); run++) {
    prepare?.(input, run);
    for (const contender of contenders) {
      if (contender.name !== 'portolan' && run >= Number(values['peer-runs'] ?? values.runs)) continue;
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
  const all = [...samples.values()];
  const cells = all.flatMap((taken) => [
    median(taken, 'wall').toFixed(2),
    median(taken, 'cpu').toFixed(2),
    median(taken, 'memory').toFixed(0),
  ]);
  const ratios = all
    .slice(1)
    .flatMap((taken) =>
      (['wall', 'cpu'] as const).map((key) => (median(taken, key) / median(ours, key)).toFixed(1)),
    );
  table.push(`| ${[name, input.name, ...cells, ...ratios].join(' | ')} |`);
}

/** Runs a command under GNU time. */
function timed(command: readonly string[]): Sample {
  const figures = join(values.keep, 'figures');
  const began = process.hrtime.bigint();
  const { cores } = values;
  const bound = cores === undefined ? [] : ['taskset', '-c', cores];
  const parameters = ['-f', '%U %S %M', '-o', figures, ...bound, ...command];
  const { status, error } = spawnSync('/usr/bin/time', parameters, { stdio: ['ignore', 'ignore', 'ignore'] });
  const wall = Number(process.hrtime.bigint() - began) / 1e9;
  if (error) throw error;
  const lines = readFileSync(figures, 'utf8').trim().split('\n');
  const [user = 0, system = 0, kilobytes = 0] = (lines.at(-1) ?? '').split(' ').map(Number);
  if (status !== 0) console.error(`${command.join(' ')} ended with ${status}`);
  writeFileSync(figures, '');
  return { wall, cpu: user + system, memory: kilobytes / 1024 };
}

/** The upper one of the two in the middle, where the samples are even in number. */
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

/** All files below a directory. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** The bytes of all files below a directory. */
function sizeOf(directory: string): number {
  return filesIn(directory).reduce((sum, file) => sum + statSync(file).size, 0);
}
