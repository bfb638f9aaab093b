/** Five hundred webhooks at once, and what a function takes to start. */
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { receive } from '../../functions/receive.ts';
import type { Message } from '../../pipeline/ports.ts';
import { directoryRecords } from '../../pipeline/publish/records/directory.ts';
import { REPOSITORY_ID } from '../fakes/cloud.ts';
import { folder } from '../fakes/folder.ts';
import { listen } from '../fakes/host.ts';
import { buildProgram } from '../fakes/program.ts';

beforeAll(buildProgram);

const SECRET = 'secret';
const MANY = 500;

test('500 webhooks in 10 s: none is lost, all are answered in time, in order', async () => {
  const queued: Message[] = [];
  const records = directoryRecords(folder());
  const source = {
    repository: 'sea/catalogs',
    id: REPOSITORY_ID,
    branch: 'main',
    url: 'https://example.com/x.git',
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = request.headers as Record<string, string>;
    const { status, text } = await receive(
      { headers, body: Buffer.concat(chunks) },
      {
        secret: async () => SECRET,
        sources: [source],
        checksPulls: false,
        queue: { send: async (message) => void queued.push(message) },
        records,
        now: () => new Date(),
        log: () => undefined,
      },
    );
    response.writeHead(status).end(text);
  });
  const host = await listen(server);
  const began = performance.now();
  const durations = await Promise.all(
    Array.from({ length: MANY }, async (_, i) => {
      await new Promise((done) => setTimeout(done, (i * 10_000) / MANY));
      const sent = performance.now();
      const answer = await fetch(`http://${host}/webhook`, { method: 'POST', ...delivery(i) });
      await answer.text();
      expect(answer.status).toBe(202);
      return performance.now() - sent;
    }),
  );
  const sorted = durations.toSorted((a, b) => a - b);
  const [p50 = 0, p99 = 0, most = 0] = [0.5, 0.99, 1].map((part) => sorted[Math.ceil(MANY * part) - 1]);
  console.log(
    `${MANY} webhooks in ${((performance.now() - began) / 1000).toFixed(1)} s: answered in ${p50.toFixed(1)} ms (p50), ${p99.toFixed(1)} ms (p99), ${most.toFixed(1)} ms at most`,
  );
  const commits = queued.map(({ body }) => JSON.parse(body).commit);
  expect(new Set(commits).size).toBe(MANY);
  expect(most).toBeLessThan(10_000);
});

function delivery(i: number) {
  const repository = {
    id: REPOSITORY_ID,
    full_name: 'sea/catalogs',
    pushed_at: Math.floor(Date.now() / 1000),
  };
  const after = i.toString(16).padStart(40, '0');
  // As large as a push of a few commits.
  const commits = Array.from({ length: 5 }, () => ({
    message: 'x'.repeat(500),
    modified: ['catalogs/v4.20/x'],
  }));
  const body = JSON.stringify({ ref: 'refs/heads/main', after, deleted: false, repository, commits });
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  return { body, headers: { 'x-github-event': 'push', 'x-hub-signature-256': signature } };
}

/** What every function finds in its environment. */
const ENVIRONMENT = {
  PATH: process.env['PATH'],
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  PORTOLAN_SOURCES: JSON.stringify([
    { repository: 'sea/catalogs', id: 1, branch: 'main', url: 'https://example.com/x.git' },
  ]),
  PORTOLAN_QUEUE: 'https://example.com/queue',
  PORTOLAN_REPORTS: 'https://example.com/queue',
  PORTOLAN_TABLE: 'table',
  PORTOLAN_BUCKET: 'bucket',
};

test('from the start of a process to a handler that is ready, next to a bare one', () => {
  const bare = join(folder(), 'index.mjs');
  execFileSync('sh', ['-c', `echo 'export async function handler() {}' > ${bare}`]);
  const rows = readdirSync('dist/functions').map(
    (name) => [name, `dist/functions/${name}/index.mjs`] as const,
  );
  for (const [name, file] of [['bare', bare] as const, ...rows]) {
    const runs = Array.from({ length: 7 }, () => ready(file));
    const least = (of: (run: Ready) => number): string => Math.min(...runs.map(of)).toFixed(0);
    const kilobytes = Math.round(statSync(file).size / 1000);
    const size = `${name.padEnd(10)} ${String(kilobytes).padStart(5)} kB`;
    console.log(
      `${size}, ready after ${least(({ wall }) => wall)} ms, ${least(({ cpu }) => cpu)} ms of CPU, ${least(({ memory }) => memory)} MB`,
    );
    // Of the largest, 150 kB are re2js, 84 kB the methods of @octokit/rest and 61 kB js-yaml (ADR 0002).
    expect(kilobytes).toBeLessThan(3300);
  }
});

interface Ready {
  /** From the start of the process, in ms. */
  readonly wall: number;
  /** In ms. */
  readonly cpu: number;
  /** Resident, in MB. */
  readonly memory: number;
}

/** A process of its own that imports a function, as a cold sandbox does. */
function ready(file: string): Ready {
  const call = [
    `const { handler } = await import(${JSON.stringify(pathToFileURL(file).href)});`,
    `if (typeof handler !== 'function') process.exit(1);`,
    'const { user, system } = process.cpuUsage();',
    'const memory = process.resourceUsage().maxRSS / 1000;',
    'console.log(JSON.stringify({ wall: performance.now(), cpu: (user + system) / 1000, memory }));',
  ].join('\n');
  const parameters = ['--no-warnings', '--input-type=module', '-e', call];
  return JSON.parse(execFileSync(process.execPath, parameters, { env: ENVIRONMENT, encoding: 'utf8' }));
}
