/** A delivery with no cloud, whose ports may die: the sample's repository, a layout, records, a queue. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PipelineError } from '../../pipeline/error.ts';
import { openRepository, type Repository } from '../../pipeline/git/repository.ts';
import { openLayout } from '../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../pipeline/oci/registry/layout/registry.ts';
import type { CommitStatus, Queue, RecordStore, Registry } from '../../pipeline/ports.ts';
import { handleMessage } from '../../pipeline/publish/delivery/handle-delivery.ts';
import { memoryQueue } from '../../pipeline/publish/delivery/local.ts';
import { type CatalogMessage, messageOf, type PushMessage } from '../../pipeline/publish/delivery/message.ts';
import type { DeliveryPorts, Deployment, ReportPorts } from '../../pipeline/publish/delivery/ports.ts';
import { handleReport } from '../../pipeline/publish/delivery/report.ts';
import { recordFence } from '../../pipeline/publish/fence-records.ts';
import { versionIn } from '../../pipeline/publish/immutable-tag.ts';
import { directoryRecords } from '../../pipeline/publish/records/directory.ts';
import { testClock } from './clock.ts';
import { folder } from './folder.ts';

const SETTINGS = { searchPath: process.env['PATH'] };

/** What dies with a process. */
export class Death extends Error {}

/** Who called a port, and with what. */
export interface Caller {
  readonly caller: string;
  readonly parameters: readonly unknown[];
}

/** A process dies before or after its call was done; or the call fails, and the process lives. */
export type Fated = 'before' | 'after' | 'fails' | undefined;

/** Decides for each call of a port, counted over the whole run, what becomes of it. */
export type Fate = (call: number, name: string, by: Caller) => Fated | Promise<Fated>;

export interface Delivered {
  /** Everything that people or clusters can see in the end. */
  readonly state: unknown;
  /** Calls of ports, by name, in order. */
  readonly calls: readonly string[];
  /** Who made each of them: the kind of the message that was handled. */
  readonly callers: readonly string[];
  /** How often a repository was opened. */
  readonly opens: number;
  readonly aside: number;
}

export interface Run {
  readonly directory: string;
  /** Pushes in the order in which they come; between two of them the branch is moved by `before`. */
  readonly pushes: readonly (PushMessage | CatalogMessage)[];
  readonly fate?: Fate;
  readonly attempts?: number;
  /** Whether GitHub refuses every status. */
  readonly denies?: boolean;
  /** Done at the end, over the same world: each call of its parameter gives the ports of another process. */
  readonly last?: (living: () => DeliveryPorts & ReportPorts) => Promise<unknown>;
}

/** What processes share, and their ports. */
export interface World extends Pick<Delivered, 'calls' | 'callers'> {
  readonly records: RecordStore;
  readonly registry: Registry;
  readonly statuses: ReadonlyMap<string, CommitStatus>;
  readonly deployments: ReadonlyMap<string, string>;
  opens(): number;
  /** Ports of another process. */
  living(caller: string): DeliveryPorts & ReportPorts;
}

/** @param repository what all processes read; without, each opens the directory */
export async function deliveryWorld({
  directory,
  repository: shared,
  queue,
  reports,
  fate,
  denies = false,
}: Pick<Run, 'directory' | 'fate' | 'denies'> & {
  readonly repository?: Repository;
  readonly queue: Queue;
  readonly reports: Queue;
}): Promise<World> {
  const records = directoryRecords(folder());
  const registry = layoutRegistry(await openLayout(folder(), { create: true }));
  const statuses = new Map<string, CommitStatus>();
  const deployments = new Map<string, string>();
  const calls: string[] = [];
  const callers: string[] = [];
  let opens = 0;
  const clock = testClock();
  const living = (caller: string): DeliveryPorts & ReportPorts => {
    let dead = false;
    const mortal = <T extends object>(name: string, port: T): T =>
      new Proxy(port, {
        get: (of, key) => {
          const called = async (...parameters: unknown[]): Promise<unknown> => {
            if (dead) throw new Death();
            const call = calls.push(`${name}.${String(key)}`);
            callers.push(caller);
            const end = await fate?.(call, `${name}.${String(key)}`, { caller, parameters });
            // While this call waited, another one may have been the last.
            if (dead) throw new Death();
            if (end === 'fails') throw new PipelineError('unreachable', `no ${name}`, { retryable: true });
            dead = end !== undefined;
            if (end === 'before') throw new Death();
            const answer = await (of as Record<string | symbol, (...all: unknown[]) => unknown>)[key]?.(
              ...parameters,
            );
            if (end === 'after') throw new Death();
            return answer;
          };
          if (key !== 'listTags') return called;
          return async function* (...parameters: unknown[]) {
            yield* (await called(...parameters)) as AsyncIterable<string>;
          };
        },
      });
    return {
      open: async ({ branch }) => {
        opens++;
        const repository = shared ?? (await openRepository(directory, SETTINGS));
        const tip = readFileSync(join(directory, '.git/refs/heads', branch), 'utf8').trim();
        return { repository, tip, close: shared ? async () => undefined : repository.close };
      },
      registry: mortal<Registry>('registry', registry),
      fence: mortal('fence', recordFence(records)),
      lease: { clock },
      records: mortal<RecordStore>('records', records),
      queue: mortal('queue', { send: queue.send }),
      reports: mortal('reports', { send: reports.send }),
      forge: mortal('forge', {
        report: async (status: CommitStatus) => {
          if (denies) throw new PipelineError('denied', 'GitHub answered 403');
          statuses.set(`${status.commit} ${status.context}`, status);
        },
      }),
      deployed: mortal('forge', {
        deployed: async ({ receipt }: Deployment) =>
          void deployments.set(`${receipt.commit} ${receipt.catalog}`, receipt.digest),
      }).deployed,
      linkTo: (documents) => `https://pages.example.com/${documents}page.html`,
      announce: mortal('bus', { announce: async () => undefined }).announce,
      now: () => new Date('2026-01-01T00:00:00Z'),
      log: () => undefined,
    };
  };
  return { records, registry, statuses, deployments, calls, callers, opens: () => opens, living };
}

/** Handles the pushes to the end, each step in a process of its own that may die. */
export async function deliver(run: Run): Promise<Delivered> {
  const repository = await openRepository(run.directory, SETTINGS);
  return delivered({ ...run, repository }).finally(repository.close);
}

async function delivered({
  pushes,
  attempts = 5,
  last,
  ...run
}: Run & { readonly repository: Repository }): Promise<Delivered> {
  const queue = memoryQueue({ attempts, parallel: 1 });
  const reports = memoryQueue({ attempts, parallel: 1 });
  const world = await deliveryWorld({ ...run, queue, reports });
  const { records, registry, statuses, deployments, calls, callers, living } = world;
  for (const push of pushes) {
    await queue.send(messageOf(push));
    await queue.drain((body) => handleMessage(body, living(JSON.parse(body).kind)));
    await reports.drain((body) => handleReport(body, living('report')));
  }
  await last?.(() => living('last'));
  await reports.drain((body) => handleReport(body, living('report')));
  const state = { ...(await stateOf(records, registry, statuses)), deployments: [...deployments].sort() };
  return { state, calls, callers, opens: world.opens(), aside: queue.aside.length + reports.aside.length };
}

async function stateOf(
  records: RecordStore,
  registry: Registry,
  statuses: ReadonlyMap<string, CommitStatus>,
) {
  const texts: Record<string, string> = {};
  for (const key of await records.list('')) {
    // It counts its holders: who died and came again is one more.
    if (key.startsWith('lease/')) continue;
    // They tell what went wrong on the way.
    if (key.startsWith('failures/')) continue;
    texts[key] = new TextDecoder().decode((await records.get(key))?.bytes);
  }
  const tags: Record<string, string | undefined> = {};
  const of = { registry: 'registry.example.com', repository: 'sea/catalog' };
  for await (const tag of registry.listTags(of)) {
    // Which commits of a burst have tags of their own depends on who was first.
    if (versionIn(tag, 'v4.20') !== undefined) continue;
    tags[tag] = (await registry.resolve({ kind: 'tag', ...of, tag }))?.digest;
  }
  return { texts, tags, statuses: [...statuses.values()].map((status) => JSON.stringify(status)).sort() };
}
