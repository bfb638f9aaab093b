/**
 * The Kubernetes host with real servers: a burst of merges while workers and PostgreSQL are killed and the host's
 * processes are replaced, as in a rollout. What clusters see is looked at all the time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Reference } from '../../catalog/reference.ts';
import { openDatabase } from '../../functions/kubernetes/database.ts';
import { tableRecords } from '../../functions/kubernetes/records.ts';
import type { RecordStore, Registry } from '../../pipeline/ports.ts';
import { publishedIn } from '../../pipeline/publish/documents.ts';
import { type Burst, burst, CATALOGS, catalogOf, changedAt, PACE, pause } from '../fakes/burst.ts';
import { fakeGitHub, pushPayload } from '../fakes/cloud.ts';
import { folder } from '../fakes/folder.ts';
import { gitServer } from '../fakes/git-server.ts';
import { reply, startHost } from '../fakes/host.ts';
import { type KubernetesHost, kubernetesHost, type Pod } from '../fakes/kubernetes.ts';
import { POSTGRES, type Postgres, postgres } from '../fakes/postgres.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry, type RealRegistry } from '../fakes/real-registry.ts';
import { freePort, isOnPath } from '../fakes/tools.ts';

const isComplete = POSTGRES !== undefined && isOnPath('docker-registry');

beforeAll(() => {
  if (isComplete) buildProgram();
});

/** Merges in a burst. */
const MANY = Number(process.env['PORTOLAN_LOAD'] ?? 35);

interface Site extends Pick<Burst, 'commits' | 'merge'> {
  readonly host: KubernetesHost;
  readonly server: Postgres;
  readonly registry: RealRegistry;
  readonly github: Awaited<ReturnType<typeof fakeGitHub>>;
  readonly records: RecordStore;
  /** Messages that are not done, by queue. */
  queued(): Promise<Readonly<Record<string, number>>>;
}

/** @param more keys of the policy beside the image */
async function site(many: number, more = ''): Promise<Site> {
  const registry = await dockerRegistry();
  const server = await postgres();
  const { commits, served, merge } = burst(many, registry.host, more);
  merge(commits[0] ?? '');
  const github = await fakeGitHub();
  const git = await gitServer(served);
  const around = { git, branch: 'main', registry: registry.host, github: github.url };
  const database = openDatabase({ url: server.url, connections: 2, log: () => undefined });
  onTestFinished(() => database.close());
  return {
    host: kubernetesHost({ ...around, database: server.url }),
    ...{ server, registry, github, commits, merge },
    records: tableRecords(database),
    queued: async () => {
      const rows = await database.query<{ name: string; count: string }>(
        "select name, count(*) from portolan_queue.job where state < 'completed' group by name",
      );
      return Object.fromEntries(rows.map(({ name, count }) => [name, Number(count)]));
    },
  };
}

/** Waits until nothing is queued. */
async function drained({ queued }: Site): Promise<void> {
  for (let empty = 0; empty < 3; await pause(300)) {
    const open = await queued().catch(() => ({ unknown: 1 }));
    empty = Object.values(open).every((count) => count === 0) ? empty + 1 : 0;
  }
}

/** Which merge's catalog each image holds, by the receipts of publishes. */
async function versionsOf({ records, commits }: Site): Promise<Map<string, number>> {
  const versions = new Map<string, number>();
  for (const key of await records.list('documents/')) {
    if (!key.endsWith('/receipt.json')) continue;
    const { catalog, commit, digest } = JSON.parse(new TextDecoder().decode((await records.get(key))?.bytes));
    const version = changedAt(Number(catalog.slice('v4.'.length)) - 20, commits.indexOf(commit));
    expect(versions.get(digest) ?? version, 'an image is of one content').toBe(version);
    versions.set(digest, version);
  }
  return versions;
}

interface Watch {
  /** Digests that each catalog's tag named, in order, each once in a row. */
  readonly seen: ReadonlyMap<string, string[]>;
  end(): Promise<void>;
}

/** Looks at all tags, again and again, as clusters do. */
function watch(client: Registry, host: string): Watch {
  const seen = new Map<string, string[]>();
  let isWatching = true;
  const look = async (): Promise<void> => {
    while (isWatching) {
      for (let n = 0; n < CATALOGS; n++) {
        const tag = catalogOf(n);
        const at: Reference = { kind: 'tag', registry: host, repository: 'sea/catalog', tag };
        const digest = (await client.resolve(at).catch(() => undefined))?.digest;
        const all = seen.get(tag) ?? [];
        if (digest !== undefined && all.at(-1) !== digest) all.push(digest);
        seen.set(tag, all);
      }
      await pause(50);
    }
  };
  const looking = look();
  const end = async (): Promise<void> => {
    isWatching = false;
    await looking;
  };
  return { seen, end };
}

/** Sends a push until it is accepted, as people do on GitHub's page. @returns how often it was not */
async function sendUntilTaken({ host }: Site, receivers: readonly Pod[], commit: string): Promise<number> {
  const payload = pushPayload(commit, 'main');
  for (let tries = 0; ; tries++) {
    const pod = receivers[tries % receivers.length];
    if (pod && (await host.push(pod, payload)) === 202) return tries;
    await pause(200);
  }
}

describe.skipIf(!isComplete)('on PostgreSQL', () => {
  test('of a burst with deaths of workers and of the database, and a rollout, every tag is right in the end, none moved backwards and nothing is lost', {
    timeout: 3_600_000,
  }, async () => {
    const here = await site(MANY);
    const { host, server, commits, github } = here;
    const receivers = [await host.start('receive'), await host.start('receive')];
    let workers = [await host.start('work'), await host.start('work')];
    const watched = watch(here.registry.client, here.registry.host);
    let deaths = 0;
    const killWorker = async (): Promise<void> => {
      const [first, ...others] = workers;
      await first?.kill();
      deaths++;
      workers = [...others, await host.start('work')];
    };
    const killDatabase = async (): Promise<void> => {
      await server.kill();
      deaths++;
      await pause(1000);
      await server.start();
    };
    const rollOut = async (): Promise<void> => {
      const old = workers;
      // Both versions work until the old one has stopped.
      workers = [await host.start('work'), await host.start('work')];
      const [gone] = receivers.splice(0, 1, await host.start('receive'));
      expect(await Promise.all([...old, ...(gone ? [gone] : [])].map((pod) => pod.stop()))).toEqual([
        0, 0, 0,
      ]);
    };
    const began = performance.now();
    let refused = 0;
    const sending = (async () => {
      for (const commit of commits) {
        here.merge(commit);
        refused += await sendUntilTaken(here, receivers, commit);
        // So that deaths come while there are still merges to come.
        await pause(PACE);
      }
      return (performance.now() - began) / 1000;
    })();
    const strikes = [killWorker, killDatabase, killWorker, rollOut, killDatabase, killWorker];
    for (const [n, strike] of strikes.entries()) {
      // Spread over the burst, however fast the machine is.
      const share = (n * commits.length) / (strikes.length + 1);
      while (new Set(github.statuses.map(({ commit }) => commit)).size < share) await pause(100);
      await strike();
    }
    const sent = await sending;
    await drained(here);
    const took = (performance.now() - began) / 1000;
    await watched.end();
    console.log(
      `${MANY} merges sent in ${sent.toFixed(1)} s (${refused} refused and sent again), ${deaths} deaths, a rollout; all done after ${took.toFixed(1)} s`,
    );
    const versions = await versionsOf(here);
    const newest = commits.length - 1;
    for (let n = 0; n < CATALOGS; n++) {
      const seen = watched.seen.get(catalogOf(n))?.map((digest) => versions.get(digest) ?? -1) ?? [];
      expect(seen, `${catalogOf(n)} moved backwards`).toEqual(seen.toSorted((a, b) => a - b));
      expect(seen.at(-1), `${catalogOf(n)} names an older merge`).toBe(changedAt(n, newest));
    }
    const moves = [...watched.seen.values()].reduce((sum, all) => sum + all.length, 0);
    console.log(`the tags were seen to move ${moves} times`);
    expect(moves).toBeGreaterThan(CATALOGS);
    const published = await publishedIn(here.records);
    expect(published).toHaveLength(CATALOGS);
    for (const { catalog, digest } of published) expect(digest).toBe(watched.seen.get(catalog)?.at(-1));
    const told = new Set(github.statuses.map(({ commit }) => commit));
    expect(commits.filter((commit) => !told.has(commit))).toEqual([]);
    const { out } = await host.run('status');
    expect(out).toContain('queued: 0, reports: 0, put aside: 0');
  });

  test('on one machine, started as docs/kubernetes.md says, a merge becomes an image', {
    timeout: 120_000,
  }, async () => {
    const { host, registry, commits } = await site(1);
    const [, section = ''] =
      /### On one machine([\s\S]*?)\n## /.exec(readFileSync('docs/kubernetes.md', 'utf8')) ?? [];
    const [file = '', lines = ''] = [...section.matchAll(/```\n([\s\S]*?)```/g)].map((match) => match[1]);
    const at = folder();
    const port = await freePort();
    const anonymous = join(at, 'auth.json');
    writeFileSync(anonymous, '{}');
    const ours: Readonly<Record<string, string>> = {
      ...host.environment,
      PORTOLAN_PORT: String(port),
      PORTOLAN_AUTHFILE: anonymous,
    };
    const named = file.replaceAll(/^(\w+)=.*/gm, (_, name: string) => `${name}='${ours[name]}'`);
    const collector = await startHost((_, response) => reply(response, 200, '{}'));
    // What a test has beside: servers without TLS, another GitHub, and a collector of traces.
    const beside = [
      ...['PORTOLAN_API', 'PORTOLAN_PLAIN_HTTP'].map((name) => `${name}=${ours[name]}`),
      `OTEL_EXPORTER_OTLP_ENDPOINT=${collector.url}`,
    ];
    writeFileSync(join(at, 'portolan.env'), `${named}${beside.join('\n')}\n`);
    const started = lines
      .trim()
      .split('\n')
      .map((line) =>
        line.replace('dist/', `${resolve('dist')}/`).replace(/METRICS_PORT=\d+/, 'METRICS_PORT=0'),
      );
    const start = (line = ''): ChildProcess => {
      const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
      const child = spawn('sh', ['-c', `exec env ${line}`], { cwd: at, env, stdio: 'ignore' });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    };
    for (const line of started.slice(0, 2)) start(line);
    const pod = { url: `http://127.0.0.1:${port}` };
    while ((await host.push(pod, pushPayload(commits[0] ?? '', 'main'))) !== 202) await pause(200);
    const tag = { registry: registry.host, repository: 'sea/catalog', tag: catalogOf(0) };
    while (!(await registry.client.resolve({ kind: 'tag', ...tag }).catch(() => undefined))) await pause(200);
    expect(await new Promise((done) => start(started[2]).once('close', done))).toBe(0);
    // The built program has the exporter in it.
    const spans = () => collector.asked.map(({ body }) => body.toString()).join('');
    for (const name of ['push', 'catalog', 'build', 'report'])
      await expect.poll(spans).toContain(`"name":"${name}"`);
  });

  test('with rings, a merge moves the first tag; a reconcile after the soak moves the next one, unless it is held', async () => {
    const here = await site(1, "rings: [{tag: '{catalog}-canary'}, {tag: '{catalog}', after: 72h}]");
    const { host, registry, records, commits, merge, server } = here;
    const database = openDatabase({ url: server.url, connections: 1, log: () => undefined });
    onTestFinished(() => database.close());
    const [receiver] = [await host.start('receive'), await host.start('work')];
    const at = async (tag: string): Promise<string | undefined> => {
      const name = { kind: 'tag', registry: registry.host, repository: 'sea/catalog', tag } as const;
      return (await registry.client.resolve(name))?.digest;
    };
    /** The run of the reconciler so many hours later: what it finds was written that much earlier. */
    const reconcile = async (hours: number): Promise<void> => {
      for (const key of await records.list('rings/')) {
        const { bytes } = (await records.get(key)) ?? {};
        const earlier = (time: string) => new Date(Date.parse(time) - hours * 3_600_000).toISOString();
        const text = new TextDecoder().decode(bytes).replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, earlier);
        await records.put(key, new TextEncoder().encode(text));
      }
      // Messages that are done are known for five minutes.
      await database.query("delete from portolan_queue.job where state = 'completed'");
      expect((await host.run('reconcile')).exit).toBe(0);
      await drained(here);
    };
    const act = (act: string, tag?: string) => {
      const of = { v: 1, kind: 'ring', repository: 'sea/catalogs', branch: 'main', catalog: 'v4.20' };
      return host.run('ring', JSON.stringify({ ...of, act, tag, by: 'anna', why: 'loses data' }));
    };
    const commit = commits[0] ?? '';
    merge(commit);
    expect(await host.push(receiver, pushPayload(commit, 'main'))).toBe(202);
    await drained(here);
    await reconcile(0);
    const [held, free] = [await at('v4.20-canary'), await at('v4.21-canary')];
    expect([held, await at('v4.20')]).toEqual([expect.stringMatching(/^sha256:/), undefined]);
    const { exit, out } = await act('hold');
    expect(exit, out).toBe(0);
    expect(out).toContain('soaks for another 72 h of 72 h');
    expect(out).toContain('held  the whole catalog by anna since');
    await reconcile(72);
    expect([await at('v4.20'), await at('v4.21')]).toEqual([undefined, free]);
    expect((await act('promote', 'v4.20')).out).toContain('is held by anna since');
    expect((await act('release')).exit).toBe(0);
    expect((await act('promote', 'v4.20')).exit).toBe(0);
    expect(await at('v4.20')).toBe(held);
    expect((await host.run('rings')).out).toContain(`  v4.20  ${commit.slice(0, 12)} ${held}`);
  });

  test('a service that cannot start ends its process, so that it is started again', async () => {
    const server = await postgres();
    const taken = await startHost((_, response) => reply(response, 200, ''));
    const ports = {
      PORTOLAN_PORT: new URL(taken.url).port,
      PORTOLAN_METRICS_PORT: String(await freePort()),
    };
    const nowhere = '127.0.0.1:9';
    const around = { git: `http://${nowhere}/x.git`, branch: 'main', registry: nowhere };
    const host = kubernetesHost({
      ...around,
      github: `http://${nowhere}`,
      database: server.url,
      more: ports,
    });
    const { exit, out } = await host.run('receive');
    expect([exit, out]).toEqual([1, expect.stringContaining('EADDRINUSE')]);
  });

  test('a worker that is told to stop finishes what it does, and answers probes until then', async () => {
    const { host, server, commits, merge, records } = await site(2);
    const database = openDatabase({ url: server.url, connections: 1, log: () => undefined });
    onTestFinished(() => database.close());
    const [receiver, worker] = [await host.start('receive'), await host.start('work')];
    merge(commits[0] ?? '');
    expect(await host.push(receiver, pushPayload(commits[0] ?? '', 'main'))).toBe(202);
    const active = async (): Promise<number> => {
      const rows = await database.query(
        "select 1 from portolan_queue.job where name = 'work' and state = 'active'",
      );
      return rows.length;
    };
    while ((await active()) === 0) await pause(10);
    const stopped = worker.stop();
    let answers = 0;
    for (let open = await active(); open > 0; answers++) {
      const status = await fetch(`${worker.internal}/healthz`).then(
        (answer) => answer.status,
        () => undefined,
      );
      open = await active();
      if (open > 0) expect(status).toBe(200);
    }
    expect(await stopped).toBe(0);
    expect(answers).toBeGreaterThan(0);
    expect(worker.lines.join('\n')).not.toContain('failed');
    const left = await database.query("select 1 from portolan_queue.job where state in ('retry', 'failed')");
    expect(left).toEqual([]);
    // What it was asked is recorded.
    expect((await records.list('last/')).length).toBeGreaterThan(0);
  });
});
