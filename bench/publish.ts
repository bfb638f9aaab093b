/**
 * What a publish costs at 260 packages: the first, an unchanged one, and one after a bundle was added; beside
 * `crane append` of one layer when crane is on the PATH. Four platforms.
 *
 *     npm run build && node scripts/run.mjs bench/publish.ts [--history BUNDLE] [--keep DIR]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isOnPath } from '../test/fakes/tools.ts';
import { type Count, countedRegistry } from './counted-registry.ts';
import { makeInputs } from './inputs.ts';
import { type Run, timedRun } from './process.ts';
import { type Repository, repositoryOf } from './repository.ts';

const { values } = parseArgs({
  options: {
    history: { type: 'string', default: '../shared/data/pr-history.bundle' },
    keep: { type: 'string', default: join(tmpdir(), 'portolan-bench') },
    compression: { type: 'string', default: 'gzip,zstd' },
  },
});

/** Packages that get a bundle, from the smallest to the largest. */
const PARTS = [0.05, 0.25, 0.5, 0.75, 0.95];
const [big] = makeInputs(resolve(values.history), values.keep, new Set(['big']));
const scratch = mkdtempSync(join(tmpdir(), 'portolan-publish-'));
const registry = await countedRegistry();
try {
  const repository = repositoryOf(big?.directory ?? '', PARTS, scratch);
  console.log(`Node ${process.version}, ${cpus()[0]?.model ?? 'unknown'} × ${cpus().length}`);
  for (const { package: name, bytes, text } of repository.added) {
    console.log(
      `${name}: ${(text.length / 1e3).toFixed(0)} kB, of which the new bundle ${(bytes / 1e3).toFixed(0)}`,
    );
  }
  console.log('| what | sent MB | requests | CPU s | wall s | peak MiB |');
  console.log('|---|---|---|---|---|---|');
  for (const compression of values.compression.split(',')) await ours(repository, compression);
  if (isOnPath('crane')) await theirs(repository.directory);
} finally {
  await registry.close();
  rmSync(scratch, { recursive: true, force: true });
}

interface Sample {
  readonly run: Run;
  readonly count: Count;
}

async function ours({ directory, added }: Repository, compression: string): Promise<void> {
  const memory = join(scratch, `memory-${compression}`);
  const publish = async (commit: string): Promise<Sample> => {
    registry.take();
    const run = await timedRun([
      ...[process.execPath, 'dist/portolan.mjs', 'publish', '--repo', directory, '--commit', commit],
      ...[
        '--catalog',
        'big',
        '--to',
        `${registry.host}/ours/${compression}:big`,
        '--insecure',
        registry.host,
      ],
      ...['--fence', 'none', '--memory', memory, '--compression', compression, '--out', join(scratch, 'out')],
    ]);
    return { run, count: registry.take() };
  };
  row(`portolan, ${compression}, first`, [await publish('first')]);
  row(`portolan, ${compression}, unchanged`, [await publish('first')]);
  const changes: Sample[] = [];
  for (const i of added.keys()) {
    changes.push(await publish(String(i)));
    await publish('first');
  }
  row(`portolan, ${compression}, one bundle, median`, changes);
  row(
    `portolan, ${compression}, one bundle, most`,
    changes.sort((a, b) => b.count.sent - a.count.sent).slice(0, 1),
  );
}

/** The way of today, of one platform and without opm's cache: all of the catalog is one layer. */
async function theirs(directory: string): Promise<void> {
  const layer = join(scratch, 'layer.tar');
  for (const commit of ['first', '2']) {
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

function row(name: string, taken: readonly Sample[]): void {
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
