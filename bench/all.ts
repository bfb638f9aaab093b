/**
 * npm run bench: the tables of bench/measurements.md in one go, as Markdown to
 * paste. Medians of five, beside the peers that are on the PATH (opm, yq, crane). 15 to 20 minutes on an idle machine.
 *
 *     npm run bench [-- --history BUNDLE --catalog DIR --keep DIR --runs 5 --only performance,index-image,references]
 *
 * Each table is the output of a program that can be run by itself. What takes minutes is run once: opm on `huge`, the
 * first publish, 20,000 tags.
 */
import { spawnSync } from 'node:child_process';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { medianText } from './median-text.ts';

const { values } = parseArgs({
  options: {
    history: { type: 'string', default: '../shared/data/pr-history.bundle' },
    keep: { type: 'string', default: join(tmpdir(), 'portolan-bench') },
    catalog: { type: 'string', default: '../shared/data/catalogs/v4.20' },
    runs: { type: 'string', default: '5' },
    only: { type: 'string', default: 'performance,index-image,references' },
  },
});

interface Table {
  readonly page: 'performance' | 'index-image' | 'references';
  readonly title: string;
  /** Program and its arguments. */
  readonly program: readonly string[];
  /** How often the program is run; programs with medians of their own once. */
  readonly times?: number;
}

const inputs = ['--history', values.history, '--keep', values.keep];
const runs = ['--runs', values.runs];
const COLD = 'validate;render -o json;render -o yaml';

const TABLES: readonly Table[] = [
  main('Results', '--inputs', 'text,base64,big', '--tasks', COLD, '--peers', 'opm'),
  main('Results, huge', '--inputs', 'huge', '--tasks', 'validate', '--peers', 'opm', '--peer-runs', '1'),
  main(
    'One core',
    ...['--inputs', 'text,base64,big', '--tasks', 'validate', '--peers', 'opm', '--cores', '1'],
    ...['--peer-runs', '1'],
  ),
  main(
    'With --cache',
    ...['--inputs', 'big', '--tasks', 'validate, unchanged;validate, one file changed', '--peers', ''],
  ),
  main(
    'Parsing alone',
    ...['--inputs', 'text,base64,big', '--tasks', 'validate', '--peers', 'js-yaml,yq', '--peer-runs', '1'],
  ),
  {
    page: 'performance',
    title: 'Serving',
    program: ['bench/serve.ts', '--catalog', values.catalog, ...runs],
  },
  {
    page: 'index-image',
    title: 'What it costs',
    program: ['bench/publish.ts', ...inputs, '--packages', '8'],
  },
  {
    page: 'index-image',
    title: 'Merges of a community repository',
    program: ['bench/replay.ts', '--history', values.history, '--merges', '10'],
  },
  { page: 'index-image', title: 'What a node pulls', program: ['bench/pull.ts', ...inputs, ...runs] },
  {
    page: 'index-image',
    title: 'What a node and a pod pay',
    program: ['bench/served-cache.ts', ...inputs, ...runs, '--calls', '1'],
  },
  {
    page: 'references',
    title: '400 tags',
    program: ['test/bench/registry.ts', '400', '400', '50'],
    times: Number(values.runs),
  },
  {
    page: 'references',
    title: '20,000 tags',
    program: ['test/bench/registry.ts', '20000', '400', '50', 'alone'],
  },
];

const began = performance.now();
console.log(
  `Node ${process.version}, ${cpus()[0]?.model} × ${cpus().length}, load ${loadavg()[0]?.toFixed(1)}`,
);
for (const table of TABLES) if (values.only.split(',').includes(table.page)) print(table);
console.log(
  `\n${((performance.now() - began) / 60_000).toFixed(0)} minutes, load ${loadavg()[0]?.toFixed(1)}`,
);

/** A table that bench/main.ts prints. */
function main(title: string, ...parameters: readonly string[]): Table {
  return { page: 'performance', title, program: ['bench/main.ts', ...inputs, ...runs, ...parameters] };
}

/** Runs the program of a table, and prints the table with the medians of all runs. */
function print({ page, title, program, times = 1 }: Table): void {
  console.log(`\n### ${page}: ${title}\n`);
  const texts = Array.from({ length: times }, () => run(program));
  console.log(medianText(texts));
}

/** What a program prints; a failure is part of it, and the other tables go on. */
function run(program: readonly string[]): string {
  const { stdout, status } = spawnSync(process.execPath, ['scripts/run.mjs', ...program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trimEnd() : `${stdout}\n${program.join(' ')} ended with ${status}`;
}
