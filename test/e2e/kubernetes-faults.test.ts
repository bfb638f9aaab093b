/**
 * Merges on the Kubernetes host under thirty faults: of workers, of PostgreSQL, of the registry, of GitHub and of webhooks.
 * Tags are looked at every 20 ms. PORTOLAN_LOAD is the number of merges, PORTOLAN_WORKERS that of workers.
 */
import { execFileSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Reference } from '../../catalog/reference.ts';
import { openDatabase } from '../../functions/kubernetes/database.ts';
import { tableRecords } from '../../functions/kubernetes/records.ts';
import { fakeGitHub, pushPayload } from '../fakes/cloud.ts';
import { type Fault, faultProxy } from '../fakes/fault-proxy.ts';
import { folder } from '../fakes/folder.ts';
import { gitServer } from '../fakes/git-server.ts';
import { kubernetesHost, type Pod } from '../fakes/kubernetes.ts';
import { POSTGRES, postgres } from '../fakes/postgres.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { sampleFiles, sampleRepository } from '../fakes/sample.ts';
import { isOnPath } from '../fakes/tools.ts';

const isComplete = POSTGRES !== undefined && isOnPath('docker-registry');
const MANY = Number(process.env['PORTOLAN_LOAD'] ?? 30);
const WORKERS = Number(process.env['PORTOLAN_WORKERS'] ?? 2);
const CATALOGS = 5;
/** Between two merges, in ms. */
const PACE = 150;
const PASS: Fault = { kind: 'pass' };

beforeAll(() => {
  if (isComplete) buildProgram();
});

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

const catalogOf = (n: number): string => `v4.${20 + n}`;
const path = (n: number): string => `catalogs/${catalogOf(n)}/harbour-operator/catalog.yaml`;

/** The value below which a share of the numbers is. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

describe.skipIf(!isComplete)('on PostgreSQL', () => {
  test('under thirty faults no tag moves backwards, nothing is lost, and each merge ends with one status', {
    timeout: 3_600_000,
  }, async () => {
    const registry = await dockerRegistry();
    const github = await fakeGitHub();
    let ofRegistry: (method: string) => Fault = () => PASS;
    let ofGitHub: Fault = PASS;
    const proxy = await faultProxy(registry.host, ({ method }) => ofRegistry(method));
    const api = await faultProxy(new URL(github.url).host, () => ofGitHub);
    const server = await postgres();
    const files = sampleFiles();
    const policy = String(files['.github/portolan.yaml']).replace('registry.example.com', proxy.host);
    const harbour = String(files[path(0)]);
    const changed = (n: number): string => harbour.replace('runs harbours', `runs ${n} harbours`);
    const all = Object.fromEntries(Array.from({ length: CATALOGS }, (_, n) => [path(n), changed(0)]));
    const sample = sampleRepository({ '.github/portolan.yaml': policy, ...all });
    onTestFinished(() => sample.remove());
    const commits = [sample.base];
    for (let n = 1; n < MANY; n++)
      commits.push(
        sample.commit(
          { [path(n % CATALOGS)]: changed(n) },
          { parents: [commits.at(-1) ?? ''], branch: 'burst' },
        ),
      );
    const served = join(folder(), 'catalogs.git');
    execFileSync('git', ['clone', '--quiet', '--bare', sample.directory, served]);
    execFileSync('git', ['-C', served, 'config', 'uploadpack.allowFilter', 'true']);
    const host = kubernetesHost({
      ...{ git: await gitServer(served), branch: 'main', registry: `${proxy.host},${registry.host}` },
      ...{ github: `http://${api.host}`, database: server.url },
    });
    const database = openDatabase({ url: server.url, connections: 2, log: () => undefined });
    onTestFinished(() => database.close());
    const records = tableRecords(database);
    const receivers = [await host.start('receive'), await host.start('receive')];
    let workers = await Promise.all(Array.from({ length: WORKERS }, () => host.start('work')));

    // What the processes have used, also those that are gone.
    let spent = 0;
    const cpuOf = async ({ internal }: Pod): Promise<number> => {
      const text = await fetch(`${internal}/metrics`).then((answer) => answer.text());
      return Number(/^process_cpu_seconds_total\{[^}]*\} (\S+)/m.exec(text)?.[1] ?? 0);
    };

    const seen = new Map<string, { readonly digest: string; readonly at: number }[]>();
    let isWatching = true;
    const watching = Promise.all(
      Array.from({ length: CATALOGS }, async (_, n) => {
        const moves: { digest: string; at: number }[] = [];
        seen.set(catalogOf(n), moves);
        const at: Reference = {
          ...{ kind: 'tag', registry: registry.host, repository: 'sea/catalog' },
          tag: catalogOf(n),
        };
        for (; isWatching; await pause(20)) {
          const digest = (await registry.client.resolve(at).catch(() => undefined))?.digest;
          if (digest !== undefined && moves.at(-1)?.digest !== digest)
            moves.push({ digest, at: performance.now() });
        }
      }),
    );

    const forAWhile = async (
      fault: Fault,
      isFor: (method: string) => boolean = () => true,
    ): Promise<void> => {
      ofRegistry = (method) => (isFor(method) ? fault : PASS);
      await pause(3000);
      ofRegistry = () => PASS;
    };
    let sentSoFar = 0;
    const send = async (commit: string): Promise<void> => {
      for (let tries = 0; ; tries++) {
        const pod = receivers[tries % receivers.length];
        if (pod && (await host.push(pod, pushPayload(commit, 'main'))) === 202) return;
        await pause(200);
      }
    };
    const killWorker = async (): Promise<void> => {
      const [first, ...others] = workers;
      if (first) spent += await cpuOf(first);
      await first?.kill();
      workers = [...others, await host.start('work')];
    };
    const killDatabase = async (): Promise<void> => {
      await server.kill();
      await pause(1000);
      await server.start();
    };
    const rollOut = async (): Promise<void> => {
      const old = workers;
      workers = await Promise.all(old.map(() => host.start('work')));
      for (const pod of old) spent += await cpuOf(pod);
      expect(await Promise.all(old.map((pod) => pod.stop()))).toEqual(old.map(() => 0));
    };
    const answer = (status: number): Fault => ({ kind: 'answer', status, headers: { 'retry-after': '1' } });
    const isWrite = (method: string): boolean => method === 'PUT';
    const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';
    const gitHubFails = async (fault: Fault): Promise<void> => {
      ofGitHub = fault;
      await pause(3000);
      ofGitHub = PASS;
    };
    const gitHubRefuses = () => gitHubFails({ kind: 'answer', status: 502 });
    // It takes what it is sent, and does not say so.
    const gitHubHangsUp = () => gitHubFails({ kind: 'cut-answer' });
    const again = async (): Promise<void> => send(commits[Math.max(0, sentSoFar - 1)] ?? '');
    const late = async (): Promise<void> => send(commits[0] ?? '');
    const forged = async (): Promise<void> => {
      const [pod] = receivers;
      const body = pushPayload(commits[0] ?? '', 'main');
      const headers = { 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
      const status = await fetch(`${pod?.url}/webhook`, { method: 'POST', headers, body }).then(
        (one) => one.status,
      );
      expect(status).toBe(401);
    };
    const strikes: readonly (() => Promise<void>)[] = [
      ...[killWorker, () => forAWhile(answer(500)), killDatabase, again, () => forAWhile(answer(429))],
      ...[
        killWorker,
        () => forAWhile({ kind: 'truncate', after: 100 }, isRead),
        late,
        rollOut,
        gitHubRefuses,
      ],
      ...[killWorker, () => forAWhile({ kind: 'cut-answer' }, isWrite), killDatabase, forged, killWorker],
      ...[
        () => forAWhile(answer(503), isWrite),
        again,
        () => forAWhile({ kind: 'stall', after: 50 }, isRead),
      ],
      ...[killWorker, () => forAWhile({ kind: 'cut' }), gitHubHangsUp, killDatabase, late, rollOut],
      ...[() => forAWhile(answer(500), isRead), killWorker, () => forAWhile(answer(429), isWrite)],
      ...[() => forAWhile({ kind: 'cut-request', after: 100 }, isWrite), killWorker, again],
    ];
    expect(strikes).toHaveLength(30);

    const mergedAt: number[] = [];
    const began = performance.now();
    const sending = (async () => {
      for (const commit of commits) {
        execFileSync('git', ['-C', served, 'update-ref', 'refs/heads/main', commit]);
        mergedAt.push(performance.now());
        // Every tenth webhook is lost: the next one, or the reconciler, finds what it meant.
        if (sentSoFar % 10 !== 9 || commit === commits.at(-1)) await send(commit);
        sentSoFar++;
        await pause(PACE);
      }
    })();
    for (const [n, strike] of strikes.entries()) {
      while (sentSoFar < (n * commits.length) / (strikes.length + 1)) await pause(50);
      await strike();
    }
    await sending;
    const sent = performance.now() - began;
    for (let empty = 0; empty < 3; await pause(300)) {
      const rows = await database
        .query("select 1 from portolan_queue.job where state < 'completed'")
        .catch(() => [{}]);
      empty = rows.length === 0 ? empty + 1 : 0;
    }
    const took = performance.now() - began;
    isWatching = false;
    await watching;
    for (const pod of [...workers, ...receivers]) spent += await cpuOf(pod);

    const changedAt = (catalog: number, upTo: number): number => {
      for (let at = upTo; at > 0; at--) if (at % CATALOGS === catalog) return at;
      return 0;
    };
    const versions = new Map<string, number>();
    for (const key of await records.list('documents/')) {
      if (!key.endsWith('/receipt.json')) continue;
      const { catalog, commit, digest } = JSON.parse(
        new TextDecoder().decode((await records.get(key))?.bytes),
      );
      versions.set(digest, changedAt(Number(catalog.slice(3)) - 20, commits.indexOf(commit)));
    }
    const waits: number[] = [];
    let [moves, backwards] = [0, 0];
    for (let n = 0; n < CATALOGS; n++) {
      const tags = seen.get(catalogOf(n)) ?? [];
      const numbers = tags.map(({ digest }) => versions.get(digest) ?? -1);
      moves += numbers.length;
      backwards += numbers.filter((one, i) => one < (numbers[i - 1] ?? -1)).length;
      expect(numbers.at(-1), `${catalogOf(n)} names an older merge`).toBe(changedAt(n, MANY - 1));
      for (let merge = n === 0 ? CATALOGS : n; merge < MANY; merge += CATALOGS) {
        const there = tags[numbers.findIndex((one) => one >= merge)];
        waits.push(((there?.at ?? Number.POSITIVE_INFINITY) - (mergedAt[merge] ?? 0)) / 1000);
      }
    }
    waits.sort((a, b) => a - b);
    /** Final states of each commit, by context. */
    const finals = new Map<string, string[]>();
    for (const { commit, context, state, description } of github.statuses)
      if (state !== 'pending')
        finals.set(`${commit} ${context}`, [
          ...(finals.get(`${commit} ${context}`) ?? []),
          `${state} ${description}`,
        ]);
    const lost = commits.filter((_, n) => n % 10 === 9 && n !== MANY - 1);
    const silent = commits.filter(
      (commit) => !lost.includes(commit) && ![...finals.keys()].some((key) => key.startsWith(commit)),
    );
    const repeated = [...finals.values()].filter((said) => said.length > 1);
    const several = [...finals.entries()].filter(([, said]) => new Set(said).size > 1);
    const bad = [...finals.values()].flat().filter((said) => !said.startsWith('success '));
    console.log(
      [
        `${MANY} merges, ${WORKERS} workers, ${strikes.length} faults, load ${loadavg()
          .map((one) => one.toFixed(0))
          .join(' ')}`,
        `sent in ${(sent / 1000).toFixed(0)} s, done after ${(took / 1000).toFixed(0)} s`,
        `${moves} moves seen, ${backwards} backwards`,
        `merge to tag p50 ${percentile(waits, 0.5).toFixed(1)} s, p95 ${percentile(waits, 0.95).toFixed(1)} s`,
        `CPU ${(spent / MANY).toFixed(2)} s a merge (without killed processes' last scrape)`,
        `without a final status ${silent.length} of ${MANY - lost.length}; several ${several.length}, repeated ${repeated.length}; not success ${bad.length}`,
        ...several.slice(0, 5).map(([key, states]) => `${key}: ${states.join(', ')}`),
      ].join('\n'),
    );
    expect(backwards).toBe(0);
    expect(silent).toEqual([]);
    expect(several).toEqual([]);
    expect(repeated).toEqual([]);
    expect((await host.run('status')).out).toContain('queued: 0, reports: 0, put aside: 0');
  });
});
