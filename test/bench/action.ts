/** What the benches of the Action share: a large synthetic repository, a GitHub far away, a step as a runner starts it. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { catalogOf } from '../fakes/gate.ts';
import { TOKEN } from '../fakes/github/forge.ts';
import type { TestRepository } from '../fakes/repository.ts';

export interface Step {
  /** URL of GitHub, and of its API. */
  readonly github: string;
  readonly event: string;
  readonly payload: unknown;
  /** Inputs of the step, by the names that a runner gives them. */
  readonly inputs?: Readonly<Record<string, string>>;
}

/** Runs the built Action, or the one at PORTOLAN_ACTION; gives its processor time in ms, git included. */
export function runStep({ github, event, payload, inputs = {} }: Step): Promise<number> {
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
      GITHUB_EVENT_NAME: event,
      GITHUB_EVENT_PATH: at('event.json'),
      GITHUB_STEP_SUMMARY: at('summary'),
      GITHUB_OUTPUT: at('output'),
      GITHUB_API_URL: github,
      GITHUB_SERVER_URL: github,
      'INPUT_GITHUB-TOKEN': TOKEN,
      RUNNER_TEMP: temporary,
      ...inputs,
    },
  });
  return new Promise((done) => {
    child.on('close', () => {
      const spent = readFileSync(at('cpu'), 'utf8').trim().split(/\s+/).slice(-2).map(Number);
      rmSync(temporary, { recursive: true, force: true });
      done(spent.reduce((sum, one) => sum + one * 1000, 0));
    });
  });
}

/** When a request came and was answered, in ms since 1970. */
export interface Asked {
  readonly from: number;
  to: number;
  readonly what: string;
}

export interface Front {
  readonly url: string;
  readonly asked: Asked[];
  close(): Promise<void>;
}

/** A front that holds every request back. */
export async function delayed(target: string, milliseconds: number): Promise<Front> {
  const trace: Asked[] = [];
  const server = createServer((incoming, outgoing) => {
    const asked: Asked = {
      from: Date.now(),
      to: 0,
      what: `${incoming.method} ${incoming.url}`.slice(0, 120),
    };
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
  return { url: `http://127.0.0.1:${port}`, asked: trace, close };
}

const COMMITS = 13_000;
const PACKAGES = 400;
const VERSIONS = 20;
const FILES = 10;
const CATALOGS = ['v4.14', 'v4.15', 'v4.16', 'v4.17', 'v4.18', 'v4.19', 'v4.20'];

/** How many paths the repository has. */
export const PATHS: number = 210 + PACKAGES * (1 + VERSIONS * FILES);

/** Prints what the last run asked, and when. */
export function printAsked({ asked }: Front): void {
  const start = Math.min(...asked.map(({ from }) => from));
  for (const { from, to, what } of asked)
    console.log(`  ${Math.round(from - start)} to ${Math.round(to - start)} ms: ${what}`);
}

/** One commit with everything, then one a changed file. */
export function synthesise(repository: TestRepository): void {
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

export function quantiles(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return `p50 ${at(0.5)} p95 ${at(0.95)} max ${at(1)}`;
}
