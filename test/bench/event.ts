// node scripts/run.mjs test/bench/event.ts [RUNS [LATENCY]]
//
// What people wait for: from the event of a pull request to its status, by the built Action as a runner
// starts it, cold, against a fake GitHub that serves a synthetic repository of 80,000 paths and 13,000
// commits over smart HTTP. Every answer can be held back by LATENCY ms. Prints bytes, requests and times, and of
// the last run what was asked when.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { catalogOf, PEOPLE } from '../fakes/gate.ts';
import { startForge, TOKEN } from '../fakes/github/forge.ts';
import { pullPayload } from '../fakes/github/payload.ts';
import { makeRepository } from '../fakes/repository.ts';

const [runs = '20', latency = '0'] = process.argv.slice(2);
const COMMITS = 13_000;
const PACKAGES = 400;
const VERSIONS = 20;
const FILES = 10;
const CATALOGS = ['v4.14', 'v4.15', 'v4.16', 'v4.17', 'v4.18', 'v4.19', 'v4.20'];

const repository = makeRepository();
synthesise();
const base = repository.git('rev-parse', 'main');
const versions = Array.from({ length: 30 }, (_, i) => `1.${i}.0`);
const forge = await startForge(
  repository,
  Object.values(PEOPLE).flatMap(({ login, id }) => (id === undefined ? [] : [{ login, id }])),
);
const front = await delayed(forge.url, Number(latency));
const times: number[] = [];
const ends: number[] = [];
const bytes: number[] = [];
/** Processor time of the step, git included, in ms. */
const cpu: number[] = [];
const requests: { api: number; git: number }[] = [];
/** Of the current run: when each request came and was answered, in ms since 1970. */
const trace: { from: number; to: number; what: string }[] = [];
for (let i = 0; i < Number(runs); i++) await measure(i);
const paths = 210 + PACKAGES * (1 + VERSIONS * FILES);
console.log(
  `${paths} paths, ${repository.git('rev-list', '--count', 'main')} commits, latency ${latency} ms, ${runs} runs`,
);
console.log(`event to status, ms: ${quantiles(times)}`);
console.log(`event to the end of the step, ms: ${quantiles(ends)}`);
console.log(`processor time of the step, ms: ${quantiles(cpu)}`);
console.log(`bytes by git: ${quantiles(bytes)}`);
console.log(`requests: ${requests[0]?.api} to the API, ${requests[0]?.git} by git`);
const [start = 0] = trace.map(({ from }) => from).sort((a, b) => a - b);
for (const { from, to, what } of trace)
  console.log(`  ${Math.round(from - start)} to ${Math.round(to - start)} ms: ${what}`);
await front.close();
await forge.close();
repository.remove();

async function measure(i: number): Promise<void> {
  const name = `package-${i % 30}`;
  const changed = Object.fromEntries(
    ['v4.18', 'v4.19', 'v4.20'].map((catalog) => [
      `catalogs/${catalog}/${name}/catalog.yaml`,
      catalogOf(name, [...versions, `2.${i}.0`]),
    ]),
  );
  const head = repository.commit(changed, { parents: [base], branch: `pull-${i}`, author: 'bob' });
  const pull = {
    number: i + 1,
    author: 'bob',
    base,
    head,
    branch: `pull-${i}`,
    pusher: 'bob',
    draft: false,
    state: 'open' as const,
    labels: [],
    reviews: [],
  };
  forge.pulls.set(pull.number, pull);
  trace.length = 0;
  const before = { bytes: forge.git.bytes, git: forge.git.requests, api: forge.asked.length };
  const said = forge.statuses.length;
  const started = performance.now();
  const watch = setInterval(() => {
    if (forge.statuses.length > said && times.length === i) times.push(performance.now() - started);
  }, 5);
  await step(pullPayload(forge, pull));
  clearInterval(watch);
  ends.push(performance.now() - started);
  if (forge.statuses.at(-1)?.state !== 'success') throw new Error(JSON.stringify(forge.statuses.at(-1)));
  bytes.push(forge.git.bytes - before.bytes);
  requests.push({ api: forge.asked.length - before.api, git: forge.git.requests - before.git });
}

function step(payload: unknown): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const at = (name: string): string => join(temporary, name);
  writeFileSync(at('event.json'), JSON.stringify(payload));
  for (const name of ['summary', 'output']) writeFileSync(at(name), '');
  const program = [process.execPath, process.env['PORTOLAN_ACTION'] ?? resolve('dist/action.cjs')];
  const child = spawn('/usr/bin/time', ['-f', '%U %S', '-o', at('cpu'), ...program], {
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      GITHUB_WORKSPACE: temporary,
      GITHUB_REPOSITORY: 'example/catalogs',
      GITHUB_EVENT_NAME: 'pull_request_target',
      GITHUB_EVENT_PATH: at('event.json'),
      GITHUB_STEP_SUMMARY: at('summary'),
      GITHUB_OUTPUT: at('output'),
      GITHUB_API_URL: front.url,
      GITHUB_SERVER_URL: front.url,
      'INPUT_GITHUB-TOKEN': TOKEN,
      RUNNER_TEMP: temporary,
    },
  });
  return new Promise((done) => {
    child.on('close', () => {
      const spent = readFileSync(at('cpu'), 'utf8').trim().split(' ').map(Number);
      cpu.push(spent.reduce((sum, one) => sum + one * 1000, 0));
      rmSync(temporary, { recursive: true, force: true });
      done();
    });
  });
}

/** A front that holds every request back. */
async function delayed(
  target: string,
  milliseconds: number,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((incoming, outgoing) => {
    const asked = { from: Date.now(), to: 0, what: `${incoming.method} ${incoming.url}`.slice(0, 120) };
    trace.push(asked);
    outgoing.on('close', () => {
      asked.to = Date.now();
    });
    setTimeout(() => {
      const { method, headers, url } = incoming;
      const forward = ask(new URL(url ?? '/', target), { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(forward);
    }, milliseconds);
  });
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', () => up()));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((down) => {
      server.closeAllConnections();
      server.close(() => down());
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

/** One commit with everything, then one a changed file. */
function synthesise(): void {
  const chunks: string[] = [];
  const commit = (n: number): void => {
    chunks.push(
      `commit refs/heads/main\ncommitter anna <anna@example.com> ${1_600_000_000 + n * 60} +0000\ndata 1\nx\n`,
    );
  };
  const file = (path: string, text: string): void => {
    chunks.push(`M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
  };
  commit(0);
  for (let p = 0; p < PACKAGES; p++) {
    file(`operators/package-${p}/ci.yaml`, 'reviewers: [bob]\n');
    for (let v = 0; v < VERSIONS; v++)
      for (let f = 0; f < FILES; f++)
        file(
          `operators/package-${p}/1.${v}.0/manifests/file-${f}.yaml`,
          `kind: Thing\nname: ${p}-${v}-${f}\n${'x: y\n'.repeat(20)}`,
        );
  }
  const published = Array.from({ length: 30 }, (_, i) => `1.${i}.0`);
  for (const catalog of CATALOGS)
    for (let p = 0; p < 30; p++)
      file(`catalogs/${catalog}/package-${p}/catalog.yaml`, catalogOf(`package-${p}`, published));
  for (let n = 1; n < COMMITS; n++) {
    commit(n);
    if (n % 12 === 0) {
      // As in a real repository, where one commit in twelve is one of a catalog.
      const catalog = CATALOGS[n % CATALOGS.length] ?? '';
      const name = `package-${Math.floor(n / 12) % 30}`;
      file(`catalogs/${catalog}/${name}/catalog.yaml`, catalogOf(name, published.slice(0, 10 + (n % 20))));
      continue;
    }
    file(
      `operators/package-${n % PACKAGES}/1.${n % VERSIONS}.0/manifests/file-${n % FILES}.yaml`,
      `kind: Thing\nname: change ${n}\n`,
    );
  }
  repository.feed(Buffer.from(chunks.join('')), 'fast-import', '--quiet');
  execFileSync('git', ['-C', repository.directory, 'repack', '-adq', '--write-bitmap-index']);
}

function quantiles(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return `p50 ${at(0.5)} p95 ${at(0.95)} max ${at(1)}`;
}
