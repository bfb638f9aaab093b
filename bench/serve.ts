/**
 * What answers cost: calls of ListBundles and ListPackages, many at once, asked of `portolan serve` and of `opm serve` in turn.
 * Time until all are answered, CPU and peak memory of the server. Needs opm on the PATH, and Linux.
 *
 *     npm run build && node scripts/run.mjs bench/serve.ts [--catalog DIR] [--runs 5] [--at-once 200]
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, connect } from 'node:http2';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../test/fakes/tools.ts';
import { call, cpuOf, memoryOf } from './registry-api.ts';

const { values } = parseArgs({
  options: {
    catalog: { type: 'string', default: '../shared/data/catalogs/v4.20' },
    runs: { type: 'string', default: '5' },
    'at-once': { type: 'string', default: '200' },
  },
});

const CALLS = { ListBundles: 400, ListPackages: 8000 } as const;
/** Calls share connections, as those of one client do. */
const CONNECTIONS = 4;

interface Sample {
  readonly wall: number;
  readonly cpu: number;
  readonly started: number;
  readonly memory: number;
  readonly bytes: number;
}

const scratch = mkdtempSync(join(tmpdir(), 'portolan-serve-'));
try {
  const catalog = resolve(values.catalog);
  const cache = join(scratch, 'cache');
  execFileSync('opm', ['serve', catalog, '--cache-dir', cache, '--cache-only'], { stdio: 'ignore' });
  console.log(`Node ${process.version}, ${cpus()[0]?.model} × ${cpus().length}, load ${loadavg()[0]}`);
  console.log('| method | calls | server | wall s | CPU s | CPU s to start | peak MiB | MB answered |');
  console.log('|---|---|---|---|---|---|---|---|');
  for (const [method, calls] of Object.entries(CALLS)) {
    const [ours, theirs]: [Sample[], Sample[]] = [[], []];
    for (let run = 0; run < Number(values.runs); run++) {
      ours.push(await measured(portolan(catalog), method, calls));
      theirs.push(await measured(opm(catalog, cache), method, calls));
    }
    row(method, calls, 'portolan', ours);
    row(method, calls, 'opm', theirs);
    const ratios = theirs.map(({ wall }, i) => wall / (ours[i]?.wall ?? Number.NaN));
    console.log(`${method}: opm takes ${ratios.map((each) => each.toFixed(1)).join(', ')} times as long`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

type Start = (port: number) => ChildProcess;

/** Starts `portolan serve` for gRPC alone. */
function portolan(catalog: string): Start {
  const words = ['dist/portolan.mjs', 'serve', catalog, '--http', 'off', '--listen'];
  return (port) => spawn(process.execPath, [...words, `127.0.0.1:${port}`], { stdio: 'ignore' });
}

/** Starts `opm serve` with a cache that is filled already. */
function opm(catalog: string, cache: string): Start {
  const words = ['serve', catalog, '--cache-dir', cache, '--pprof-addr', '', '--termination-log'];
  return (port) => spawn('opm', [...words, join(scratch, 'end'), '--port', `${port}`], { stdio: 'ignore' });
}

/** Starts a server, asks it, and ends it: CPU and memory are those of the server. */
async function measured(start: Start, method: string, calls: number): Promise<Sample> {
  const port = await freePort();
  const server = start(port);
  try {
    const sessions = [await connected(port, server)];
    while (sessions.length < CONNECTIONS) sessions.push(await connected(port, server));
    const started = cpuOf(server);
    const began = performance.now();
    const bytes = await askAll(sessions, method, calls);
    const wall = (performance.now() - began) / 1000;
    for (const session of sessions) session.close();
    return { wall, cpu: cpuOf(server) - started, started, memory: memoryOf(server), bytes };
  } finally {
    server.kill('SIGKILL');
  }
}

/** A connection, once the server is up. @throws Error when the server has ended */
async function connected(port: number, server: ChildProcess): Promise<ClientHttp2Session> {
  while (server.exitCode === null) {
    const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 1 << 20 } });
    const isUp = await new Promise((done) => {
      session.on('connect', () => done(true)).on('error', () => done(false));
    });
    if (isUp) {
      session.setLocalWindowSize(1 << 24);
      return session;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`the server ended with ${server.exitCode}`);
}

/** @returns bytes of all answers */
async function askAll(
  sessions: readonly ClientHttp2Session[],
  method: string,
  calls: number,
): Promise<number> {
  let [asked, bytes] = [0, 0];
  const askOn = async (session: ClientHttp2Session): Promise<void> => {
    while (asked++ < calls) {
      // Others add to the sum meanwhile.
      const answered = await call(session, `/api.Registry/${method}`);
      bytes += answered;
    }
  };
  const askers = Array.from({ length: Number(values['at-once']) }, (_, i) =>
    askOn(sessions[i % sessions.length] as ClientHttp2Session),
  );
  await Promise.all(askers);
  return bytes;
}

/** Each column's median by itself. */
function row(method: string, calls: number, server: string, samples: readonly Sample[]): void {
  const at = (of: (one: Sample) => number): number =>
    samples.map(of).sort((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN;
  const cells = [
    at(({ wall }) => wall).toFixed(2),
    at(({ cpu }) => cpu).toFixed(2),
    at(({ started }) => started).toFixed(2),
    at(({ memory }) => memory).toFixed(0),
    at(({ bytes }) => bytes / 1e6).toFixed(1),
  ];
  console.log(`| ${method} | ${calls} | ${server} | ${cells.join(' | ')} |`);
}
