/**
 * What a publish costs at 260 packages: the first, an unchanged one, and one after a bundle was added; beside
 * `crane append` of one layer when crane is on the PATH. Four platforms.
 *
 *     npm run build && node scripts/run.mjs bench/publish.ts [--history BUNDLE] [--keep DIR] [--runs N]
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isOnPath } from '../test/fakes/tools.ts';
import { type Count, countedRegistry } from './counted-registry.ts';
import { makeInputs } from './inputs.ts';
import { addOneBundle } from './one-bundle.ts';
import { type Run, timedRun } from './process.ts';

const { values } = parseArgs({
  options: {
    history: { type: 'string', default: '../shared/data/pr-history.bundle' },
    keep: { type: 'string', default: join(tmpdir(), 'portolan-bench') },
    runs: { type: 'string', default: '3' },
    compression: { type: 'string', default: 'gzip,zstd' },
  },
});

const [big] = makeInputs(resolve(values.history), values.keep, new Set(['big']));
const scratch = mkdtempSync(join(tmpdir(), 'portolan-publish-'));
const registry = await countedRegistry();
try {
  const repository = repositoryOf(big?.directory ?? '');
  console.log(
    `Node ${process.version}, ${cpus()[0]?.model ?? 'unknown'} × ${cpus().length}, one bundle of ` +
      `${(repository.bytes / 1e3).toFixed(0)} kB in ${repository.package}`,
  );
  console.log('| what | sent MB | requests | CPU s | wall s | peak MiB |');
  console.log('|---|---|---|---|---|---|');
  for (const compression of values.compression.split(',')) await ours(repository.directory, compression);
  if (isOnPath('crane')) await theirs(repository.directory);
} finally {
  await registry.close();
  rmSync(scratch, { recursive: true, force: true });
}

interface Repository {
  readonly directory: string;
  readonly package: string;
  readonly bytes: number;
}

/** A repository with the commits `first` and `second`, between which one bundle was added. */
function repositoryOf(packages: string): Repository {
  const directory = join(scratch, 'repository');
  cpSync(packages, join(directory, 'catalogs/big'), { recursive: true });
  const git = (...words: string[]): void => {
    execFileSync('git', ['-C', directory, '-c', 'user.name=b', '-c', 'user.email=b@example.com', ...words], {
      stdio: 'ignore',
    });
  };
  git('init', '-q');
  const commit = (name: string): void => {
    git('add', '.');
    git('commit', '-q', '-m', name);
    git('tag', name);
  };
  commit('first');
  const changed = addOneBundle(join(directory, 'catalogs/big'), 1.7e6);
  commit('second');
  git('repack', '-adq');
  return { directory, ...changed };
}

async function ours(directory: string, compression: string): Promise<void> {
  const rounds: Record<string, { readonly run: Run; readonly count: Count }[]> = {};
  for (let round = 0; round < Number(values.runs); round++) {
    const memory = join(scratch, `memory-${compression}-${round}`);
    const to = `${registry.host}/ours/${compression}-${round}:big`;
    for (const [name, commit] of [
      ['first', 'first'],
      ['unchanged', 'first'],
      ['one bundle', 'second'],
    ] as const) {
      registry.take();
      const run = await timedRun([
        ...[process.execPath, 'dist/portolan.mjs', 'publish', '--repo', directory, '--commit', commit],
        ...['--catalog', 'big', '--to', to, '--insecure', registry.host, '--memory', memory],
        ...['--compression', compression, '--out', join(scratch, 'out')],
      ]);
      rounds[name] = [...(rounds[name] ?? []), { run, count: registry.take() }];
    }
  }
  for (const [name, taken] of Object.entries(rounds)) row(`portolan, ${compression}, ${name}`, taken);
}

/** The way of today, of one platform and without opm's cache: all of the catalog is one layer. */
async function theirs(directory: string): Promise<void> {
  const layer = join(scratch, 'layer.tar');
  for (const commit of ['first', 'second']) {
    execFileSync('git', [
      ...['-C', directory, 'archive', '--format=tar', '--prefix=configs/', '-o', layer],
      `${commit}:catalogs/big`,
    ]);
    registry.take();
    const run = await timedRun([
      ...['crane', 'append', '--insecure', '--oci-empty-base', '-f', layer, '-t'],
      `${registry.host}/theirs:big`,
    ]);
    row(`crane append, ${commit === 'first' ? 'first' : 'one bundle'}`, [{ run, count: registry.take() }]);
  }
}

function row(name: string, taken: readonly { readonly run: Run; readonly count: Count }[]): void {
  const median = (of: (one: (typeof taken)[number]) => number): number =>
    taken.map(of).sort((a, b) => a - b)[Math.floor(taken.length / 2)] ?? Number.NaN;
  const cells = [
    (median(({ count }) => count.sent) / 1e6).toFixed(3),
    median(({ count }) => count.requests),
    median(({ run }) => run.cpu).toFixed(2),
    median(({ run }) => run.wall).toFixed(2),
    median(({ run }) => run.memory).toFixed(0),
  ];
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
