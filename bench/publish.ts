/**
 * What a publish costs at 260 packages: the first, an unchanged one, and one after a bundle was added; beside
 * `crane append` of one layer when crane is on the PATH. Four platforms.
 *
 *     npm run build && node scripts/run.mjs bench/publish.ts [--history BUNDLE] [--keep DIR] [--packages 5]
 *
 * `--packages 260` adds a bundle to every package, one after the other.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { OCI_INDEX } from '../pipeline/oci/media-types.ts';
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
    packages: { type: 'string', default: '5' },
  },
});

/** Packages that get a bundle, evenly from the smallest to the largest. */
const COUNT = Number(values.packages);
const PARTS = Array.from({ length: COUNT }, (_, i) => (i + 0.5) / COUNT);
const [big] = makeInputs(resolve(values.history), values.keep, new Set(['big']));
const scratch = mkdtempSync(join(tmpdir(), 'portolan-publish-'));
const registry = await countedRegistry();
try {
  const repository = repositoryOf(big?.directory ?? '', PARTS, scratch);
  console.log(`Node ${process.version}, ${cpus()[0]?.model ?? 'unknown'} × ${cpus().length}`);
  console.log(`a bundle each for ${new Set(repository.added.map((one) => one.package)).size} packages`);
  console.log('| what | sent MB | received MB | requests | CPU s | wall s | peak MiB |');
  console.log('|---|---|---|---|---|---|---|');
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

/**
 * Publishes by Portolan: the first time, unchanged, and once for each bundle, always after the first publish: what it has
 * remembered and its tag are put back each time.
 */
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
  const tag = `http://${registry.host}/v2/ours/${compression}/manifests/big`;
  const first = await fetch(tag, { headers: { accept: OCI_INDEX } });
  const manifest = await first.text();
  cpSync(memory, `${memory}-first`, { recursive: true });
  row(`portolan, ${compression}, unchanged`, [await publish('first')]);
  const changes: Sample[] = [];
  for (const i of added.keys()) {
    changes.push(await publish(String(i)));
    rmSync(memory, { recursive: true });
    cpSync(`${memory}-first`, memory, { recursive: true });
    await fetch(tag, { method: 'PUT', headers: { 'content-type': OCI_INDEX }, body: manifest });
  }
  for (const [name, part] of [
    ['median', 0.5],
    ['95th of a hundred', 0.95],
    ['most', 1],
  ] as const) {
    row(`portolan, ${compression}, one bundle, ${name}`, changes, part);
  }
  changes.sort((a, b) => b.count.sent - a.count.sent);
  for (const [i, { count, run }] of [...changes.entries()].slice(0, 3)) {
    console.log(`${i + 1}: ${(count.sent / 1e6).toFixed(2)} MB, ${run.cpu.toFixed(2)} s`);
  }
}

/** The way of today, of one platform and without opm's cache: all of the catalog is one layer. */
async function theirs(directory: string): Promise<void> {
  const layer = join(scratch, 'layer.tar');
  for (const commit of ['first', '0']) {
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

/** Each column by itself. @param part 0.5 for the median, 1 for the most */
function row(name: string, taken: readonly Sample[], part = 0.5): void {
  const at = (of: (one: Sample) => number): number =>
    taken.map(of).sort((a, b) => a - b)[Math.min(taken.length - 1, Math.floor(taken.length * part))] ??
    Number.NaN;
  const cells = [
    at(({ count }) => count.sent / 1e6).toFixed(3),
    at(({ count }) => count.received / 1e6).toFixed(3),
    at(({ count }) => count.requests),
    at(({ run }) => run.cpu).toFixed(2),
    at(({ run }) => run.wall).toFixed(2),
    at(({ run }) => run.memory).toFixed(0),
  ];
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
