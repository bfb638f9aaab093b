/**
 * The last merges of a history as publishes of every catalog that they touch: bytes, requests and time of each,
 * beside `crane append` of one layer when crane is on the PATH.
 *
 *     npm run build && node scripts/run.mjs bench/replay.ts [--history BUNDLE] [--merges N]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isOnPath } from '../test/fakes/tools.ts';
import { type Count, countedRegistry } from './counted-registry.ts';
import { type Run, timedRun } from './process.ts';

const { values } = parseArgs({
  options: {
    history: { type: 'string', default: '../shared/data/pr-history.bundle' },
    merges: { type: 'string', default: '100' },
  },
});

interface Sample extends Count, Pick<Run, 'wall' | 'cpu' | 'memory'> {}

const scratch = mkdtempSync(join(tmpdir(), 'portolan-replay-'));
const clone = join(scratch, 'history.git');
execFileSync('git', ['clone', '--quiet', '--bare', resolve(values.history), clone], { stdio: 'ignore' });
const registry = await countedRegistry();
const samples = { ours: [] as Sample[], theirs: [] as Sample[] };
try {
  await replay();
} finally {
  await registry.close();
  rmSync(scratch, { recursive: true, force: true });
}

/** Runs git in the clone. @returns what it printed */
function git(...words: readonly string[]): string {
  return execFileSync('git', ['-C', clone, ...words], { encoding: 'utf8' });
}

/** Publishes the catalogs before the merges, then those of each merge, and prints what the latter took. */
async function replay(): Promise<void> {
  const log = git('log', '--first-parent', '--format=%H', `-${Number(values.merges) + 1}`, 'HEAD');
  const [start = '', ...merges] = log.trim().split('\n').reverse();
  for (const catalog of new Set(merges.flatMap(catalogsOf))) {
    if (git('ls-tree', start, `catalogs/${catalog}`) !== '') await ours(start, catalog);
  }
  // The first publish of a catalog is not that of a merge.
  samples.ours.length = 0;
  let refused = 0;
  for (const commit of merges) {
    for (const catalog of catalogsOf(commit)) {
      const published = await ours(commit, catalog).then(
        () => true,
        () => false,
      );
      if (!published) refused++;
      else if (isOnPath('crane')) await theirs(commit, catalog);
    }
  }
  console.log(`${merges.length} merges, ${samples.ours.length} publishes, ${refused} refused`);
  console.log('| per publish | sent kB: median, mean, most | requests | wall s | CPU s | peak MiB |');
  console.log('|---|---|---|---|---|---|');
  for (const [who, taken] of Object.entries(samples)) if (taken.length > 0) row(who, taken);
}

/** The catalogs that a commit changes and still has. */
function catalogsOf(commit: string): string[] {
  const files = git('diff', '--name-only', `${commit}^`, commit, '--', 'catalogs').split('\n');
  const touched = new Set(files.flatMap((file) => /^catalogs\/([^/]+)\/./.exec(file)?.[1] ?? []));
  return [...touched].filter((name) => git('ls-tree', commit, `catalogs/${name}`) !== '');
}

/** Publishes by Portolan, and adds what that took to the samples. */
async function ours(commit: string, catalog: string): Promise<void> {
  registry.take();
  const run = await timedRun([
    ...[process.execPath, 'dist/portolan.mjs', 'publish', '--repo', clone, '--commit', commit],
    ...['--catalog', catalog, '--to', `${registry.host}/ours:${catalog}`, '--insecure', registry.host],
    ...['--fence', 'none', '--memory', join(scratch, 'memory'), '--out', join(scratch, 'out')],
  ]);
  samples.ours.push({ ...run, ...registry.take() });
}

/** The way of today, of one platform and without opm's cache. */
async function theirs(commit: string, catalog: string): Promise<void> {
  const layer = join(scratch, 'layer.tar');
  const tree = `${commit}:catalogs/${catalog}`;
  git('archive', '--format=tar', '--prefix=configs/', '-o', layer, tree);
  registry.take();
  const to = `${registry.host}/theirs:${catalog}`;
  const run = await timedRun(['crane', 'append', '--insecure', '--oci-empty-base', '-f', layer, '-t', to]);
  samples.theirs.push({ ...run, ...registry.take() });
}

/** Prints a row of medians; of what was sent, also the mean and the most. */
function row(who: string, taken: readonly Sample[]): void {
  const sorted = (of: (one: Sample) => number): number[] => taken.map(of).sort((a, b) => a - b);
  const median = (of: (one: Sample) => number): number =>
    sorted(of)[Math.floor(taken.length / 2)] ?? Number.NaN;
  const sent = sorted((one) => one.sent / 1e3);
  const mean = sent.reduce((sum, kilobytes) => sum + kilobytes, 0) / sent.length;
  const cells = [
    [median((one) => one.sent / 1e3), mean, sent.at(-1) ?? 0]
      .map((kilobytes) => kilobytes.toFixed(0))
      .join(', '),
    median((one) => one.requests),
    median((one) => one.wall).toFixed(2),
    median((one) => one.cpu).toFixed(2),
    median((one) => one.memory).toFixed(0),
  ];
  console.log(`| ${who === 'ours' ? 'portolan' : 'crane append'} | ${cells.join(' | ')} |`);
}
