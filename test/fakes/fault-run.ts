/**
 * Merges on a host under faults: of the registry, of GitHub and of webhooks, and of what the host has of its own. Tags are looked
 * at every 20 ms. At the end every tag names the newest merge, none went backwards, and each merge whose webhook came has its
 * final statuses once.
 */
import { loadavg } from 'node:os';
import { expect } from 'vitest';
import type { Reference } from '../../catalog/reference.ts';
import { burst, CATALOGS, catalogOf, changedAt, PACE, pause } from './burst.ts';
import { type FakeGitHub, fakeGitHub, pushPayload } from './cloud.ts';
import { type Fault, faultProxy } from './fault-proxy.ts';
import { gitServer } from './git-server.ts';
import { dockerRegistry } from './real-registry.ts';

/** How long a fault of a server lasts, in ms. */
const LASTS = 3000;
const PASS: Fault = { kind: 'pass' };

/** A published image, by its receipt. */
interface Receipt {
  readonly catalog: string;
  readonly commit: string;
  readonly digest: string;
}

/** The host under test. */
export interface FaultHost {
  /** What it is, for the report. */
  readonly name: string;
  /** Sends a webhook. @returns whether it was taken */
  push(payload: string): Promise<boolean>;
  /** Sends a forged one. @returns the status */
  forge(payload: string): Promise<number>;
  readonly strikes: readonly (() => Promise<void>)[];
  /** Whether nothing waits and nothing is being handled. */
  isIdle(): Promise<boolean>;
  receipts(): Promise<readonly Receipt[]>;
  /** CPU seconds of all its processes; undefined where nobody knows. */
  cpu(): Promise<number | undefined>;
}

/** What a host is made from, and the faults that every host has. */
export interface FaultWorld {
  readonly git: string;
  /** Hosts that speak plain HTTP. */
  readonly registries: string;
  /** The address of GitHub's API. */
  readonly github: string;
  readonly registry: (fault: Fault, isFor?: (method: string) => boolean) => () => Promise<void>;
  readonly api: (fault: Fault) => () => Promise<void>;
  /** The webhook of the last merge again, and that of the first one. */
  readonly again: () => Promise<void>;
  readonly late: () => Promise<void>;
  readonly forged: () => Promise<void>;
}

export const isWrite = (method: string): boolean => method === 'PUT';
export const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';
export const answer = (status: number): Fault => ({
  ...{ kind: 'answer', status },
  headers: { 'retry-after': '1' },
});

/** The value below which a share of the numbers is. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** @param many merges @param open starts the host */
export async function expectToldOnce(
  many: number,
  open: (world: FaultWorld) => Promise<FaultHost>,
): Promise<void> {
  const registry = await dockerRegistry();
  const github = await fakeGitHub();
  let ofRegistry: (method: string) => Fault = () => PASS;
  let ofGitHub: Fault = PASS;
  const proxy = await faultProxy(registry.host, ({ method }) => ofRegistry(method));
  const api = await faultProxy(new URL(github.url).host, () => ofGitHub);
  const { commits, served, merge } = burst(many, proxy.host);
  let sentSoFar = 0;
  const send = async (commit: string): Promise<void> => {
    while (!(await host.push(pushPayload(commit, 'main')))) await pause(200);
  };
  const host: FaultHost = await open({
    git: await gitServer(served),
    registries: `${proxy.host},${registry.host}`,
    github: `http://${api.host}`,
    registry:
      (fault, isFor = () => true) =>
      async () => {
        ofRegistry = (method) => (isFor(method) ? fault : PASS);
        await pause(LASTS);
        ofRegistry = () => PASS;
      },
    api: (fault) => async () => {
      ofGitHub = fault;
      await pause(LASTS);
      ofGitHub = PASS;
    },
    again: () => send(commits[Math.max(0, sentSoFar - 1)] ?? ''),
    late: () => send(commits[0] ?? ''),
    forged: async () => expect(await host.forge(pushPayload(commits[0] ?? '', 'main'))).toBe(401),
  });
  expect(host.strikes).toHaveLength(30);
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
  const mergedAt: number[] = [];
  const began = performance.now();
  const sending = (async () => {
    for (const commit of commits) {
      merge(commit);
      mergedAt.push(performance.now());
      // Every tenth webhook is lost: the next one, or the reconciler, finds what it meant.
      if (sentSoFar % 10 !== 9 || commit === commits.at(-1)) await send(commit);
      sentSoFar++;
      await pause(PACE);
    }
  })();
  for (const [n, strike] of host.strikes.entries()) {
    while (sentSoFar < (n * commits.length) / (host.strikes.length + 1)) await pause(50);
    await strike();
  }
  await sending;
  const sent = performance.now() - began;
  for (let idle = 0; idle < 3; await pause(300))
    idle = (await host.isIdle().catch(() => false)) ? idle + 1 : 0;
  const took = performance.now() - began;
  isWatching = false;
  await watching;
  const cpu = await host.cpu();

  const versions = new Map(
    (await host.receipts()).map(({ catalog, commit, digest }) => [
      digest,
      changedAt(Number(catalog.slice(3)) - 20, commits.indexOf(commit)),
    ]),
  );
  const waits: number[] = [];
  const behind: string[] = [];
  let [moves, backwards] = [0, 0];
  for (let n = 0; n < CATALOGS; n++) {
    const tags = seen.get(catalogOf(n)) ?? [];
    const numbers = tags.map(({ digest }) => versions.get(digest) ?? -1);
    moves += numbers.length;
    backwards += numbers.filter((one, i) => one < (numbers[i - 1] ?? -1)).length;
    if (numbers.at(-1) !== changedAt(n, many - 1)) behind.push(catalogOf(n));
    for (let merge = n === 0 ? CATALOGS : n; merge < many; merge += CATALOGS) {
      const there = tags[numbers.findIndex((one) => one >= merge)];
      waits.push(((there?.at ?? Number.POSITIVE_INFINITY) - (mergedAt[merge] ?? 0)) / 1000);
    }
  }
  waits.sort((a, b) => a - b);
  const finals = finalsOf(github);
  const lost = commits.filter((_, n) => n % 10 === 9 && n !== many - 1);
  const heard = commits.filter((commit) => !lost.includes(commit));
  const silent = heard.filter((commit) => ![...finals.keys()].some((key) => key.startsWith(commit)));
  const repeated = [...finals.entries()].filter(([, said]) => said.length > 1);
  const bad = [...finals.values()].flat().filter((said) => !said.startsWith('success '));
  const load = loadavg().map((one) => one.toFixed(0));
  console.log(
    [
      `${host.name}: ${many} merges, ${host.strikes.length} faults, load ${load.join(' ')}`,
      `sent in ${(sent / 1000).toFixed(0)} s, done after ${(took / 1000).toFixed(0)} s`,
      `${moves} moves seen, ${backwards} backwards; tags behind: ${behind.join(', ') || 'none'}`,
      `merge to tag p50 ${percentile(waits, 0.5).toFixed(1)} s, p95 ${percentile(waits, 0.95).toFixed(1)} s`,
      cpu === undefined
        ? ''
        : `CPU ${(cpu / many).toFixed(2)} s a merge (without killed processes' last scrape)`,
      `without a final status ${silent.length} of ${heard.length}; more than one ${repeated.length}; not success ${bad.length}`,
      ...repeated.slice(0, 5).map(([key, states]) => `${key}: ${states.join(', ')}`),
    ].join('\n'),
  );
  expect(backwards).toBe(0);
  expect(behind).toEqual([]);
  expect(silent).toEqual([]);
  expect(repeated).toEqual([]);
}

/**
 * Final statuses of each commit, by context. An error is none: it says that a merge is "not published yet", when several
 * deliveries met a fault, and the next one may publish it. After a final status it is one too many.
 */
function finalsOf({ statuses }: FakeGitHub): Map<string, string[]> {
  const finals = new Map<string, string[]>();
  for (const { commit, context, state, description } of statuses) {
    const key = `${commit} ${context}`;
    const isFinal = state !== 'pending' && (state !== 'error' || finals.has(key));
    if (isFinal) finals.set(key, [...(finals.get(key) ?? []), `${state} ${description}`]);
  }
  return finals;
}
