/**
 * What the caches of an index image cost `opm serve`: CPU, memory and open files over its start plus so many
 * ListBundles, with opm's JSON cache as the image has it, and with the pogreb cache that opm itself would make of
 * the same files. Needs opm and tar on the PATH, and Linux.
 *
 *     npm run build && node scripts/run.mjs bench/served-cache.ts [--history BUNDLE] [--keep DIR] [--calls 1,10,100] [--runs 5]
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../test/fakes/tools.ts';
import { makeInputs } from './inputs.ts';
import { medianText } from './median-text.ts';
import { timedRun } from './process.ts';
import { call, cpuOf, memoryOf } from './registry-api.ts';
import { repositoryOf } from './repository.ts';

const { values } = parseArgs({
  options: {
    history: { type: 'string', default: '../shared/data/pr-history.bundle' },
    keep: { type: 'string', default: join(tmpdir(), 'portolan-bench') },
    calls: { type: 'string', default: '1,10,100' },
    runs: { type: 'string', default: '5' },
  },
});

const SAMPLE_EVERY = 20;

const [big] = makeInputs(resolve(values.history), values.keep, new Set(['big']));
const scratch = mkdtempSync(join(tmpdir(), 'portolan-cache-'));
try {
  const root = await unpacked(big?.directory ?? '');
  const configs = join(root, 'configs');
  const pogreb = join(scratch, 'pogreb');
  mkdirSync(pogreb);
  const making = await timedRun(['opm', 'serve', configs, '--cache-dir', pogreb, '--cache-only']);
  console.log(`pogreb is made by opm in ${making.cpu.toFixed(1)} s of CPU; the image brings the JSON cache`);
  console.log('| cache | ListBundles | CPU s | MiB | open files | MB answered |');
  console.log('|---|---|---|---|---|---|');
  for (const calls of [0, ...values.calls.split(',').map(Number)]) {
    const rows: [string[], string[]] = [[], []];
    for (let run = 0; run < Number(values.runs); run++) {
      rows[0].push(await measure('JSON', { configs, cache: join(root, 'tmp/cache'), calls }));
      rows[1].push(await measure('pogreb', { configs, cache: pogreb, calls }));
    }
    for (const each of rows) console.log(medianText(each));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** The files of the image, as a node would have them. */
async function unpacked(packages: string): Promise<string> {
  const { directory } = repositoryOf(packages, [], scratch);
  const layout = join(scratch, 'layout');
  await timedRun([
    ...[process.execPath, 'dist/portolan.mjs', 'publish', '--repo', directory, '--commit', 'first'],
    ...['--catalog', 'big', '--to', `oci:${layout}:big`, '--fence', 'none', '--out', join(scratch, 'out')],
  ]);
  const root = join(scratch, 'root');
  mkdirSync(root);
  const read = (digest: string) => JSON.parse(readFileSync(blob(digest), 'utf8'));
  const blob = (digest: string): string => join(layout, 'blobs', digest.replace(':', '/'));
  const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'));
  // The record of the published commit has no tag.
  const list = index.manifests.find((one: { readonly annotations?: object }) => one.annotations);
  const { layers } = read(read(list.digest).manifests[0].digest);
  for (const { digest } of layers) execFileSync('tar', ['-xf', blob(digest), '-C', root]);
  return root;
}

/** A row of the table. */
async function measure(
  name: string,
  { configs, cache, calls }: { readonly configs: string; readonly cache: string; readonly calls: number },
): Promise<string> {
  // A server of pogreb writes into its cache.
  const own = join(scratch, 'own');
  cpSync(cache, own, { recursive: true });
  const port = await freePort();
  const server = spawn(
    'opm',
    [
      ...['serve', configs, '--cache-dir', own, '--cache-enforce-integrity', '--pprof-addr', ''],
      ...['--port', String(port), '--termination-log', join(scratch, 'end')],
    ],
    { stdio: 'ignore' },
  );
  let files = 0;
  const sampling = setInterval(() => {
    files = Math.max(files, openFiles(server));
  }, SAMPLE_EVERY);
  try {
    while (!(await isUp(port, server))) await new Promise((done) => setTimeout(done, 100));
    let bytes = 0;
    for (let call = 0; call < calls; call++) bytes += await listBundles(port);
    files = Math.max(files, openFiles(server));
    const cells = [cpuOf(server).toFixed(2), Math.round(memoryOf(server)), files, (bytes / 1e6).toFixed(0)];
    return `| ${name} | ${calls} | ${cells.join(' | ')} |`;
  } finally {
    clearInterval(sampling);
    server.kill('SIGKILL');
    rmSync(own, { recursive: true, force: true });
  }
}

/** Calls a method over a connection of its own. @returns bytes of the answer */
async function ask(port: number, path: string): Promise<number> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    // A server that is not up yet fails the call, too.
    session.on('error', () => undefined);
    return await call(session, path);
  } finally {
    session.close();
  }
}

/** @returns bytes of the answer */
function listBundles(port: number): Promise<number> {
  return ask(port, '/api.Registry/ListBundles');
}

/** Whether the server answers. @throws Error when it has ended */
async function isUp(port: number, server: ChildProcess): Promise<boolean> {
  if (server.exitCode !== null) throw new Error(`opm ended with ${server.exitCode}`);
  return ask(port, '/grpc.health.v1.Health/Check').then(
    () => true,
    () => false,
  );
}

/** How many files a process has open now. */
function openFiles({ pid }: ChildProcess): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    // Not there yet, or not any more.
    return 0;
  }
}
