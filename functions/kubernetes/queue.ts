/**
 * Queues in PostgreSQL, as pg-boss keeps them: each group in order and one message of it at a time, one message of an
 * id, delivery again when a worker dies or fails, and a queue for what never succeeds.
 */
import { createHash } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import { PipelineError } from '../../pipeline/error.ts';
import type { Message, Queue } from '../../pipeline/ports.ts';
import type { QueuedMessage } from '../../pipeline/publish/delivery/handle-delivery.ts';
import type { Database, DatabaseOptions } from './database.ts';
import type { QueueDepth } from './telemetry.ts';

/** What is to be done, and what is to be reported of it. */
type QueueName = 'work' | 'reports';

/** The connections are the queues' own. */
interface QueuesOptions extends DatabaseOptions {
  /** Asked how much is queued. */
  readonly database: Database;
  /** Whether this process looks after messages whose worker died. */
  readonly supervises: boolean;
  readonly times?: Partial<QueueTimes>;
  /** Deliveries of a message before it is put aside; 12 of what is to be done, 300 of what is to be reported. */
  readonly deliveries?: number;
}

/** In s. */
export interface QueueTimes {
  /** After so long without a sign of life from its worker a message is delivered again; at least 10. */
  readonly silence: number;
  /** Between two looks for such messages. */
  readonly look: number;
  /** How long a message may be handled. */
  readonly longest: number;
  /** How long a message waits after its first failure; twice as long after each further one, up to five minutes. */
  readonly wait: number;
  /** How long a message that is done is known by its id. */
  readonly known: number;
}

/** A worker gives a sign of life each half `silence`; the largest builds take minutes, so an hour means that one hangs. */
const TIMES: QueueTimes = { silence: 30, look: 15, longest: 3600, wait: 15, known: 300 };

/** Deliveries of a message before it is put aside. GitHub may be away for a day. */
const DELIVERIES: Readonly<Record<QueueName, number>> = { work: 12, reports: 300 };
/** How long a message waits between two deliveries at most, in s. */
const LONGEST_WAIT = 300;
/** How long messages wait and are kept aside at most, in s: 14 days. */
const KEPT = 1_209_600;

/** The schema of the queues, and of the messages that were put aside. */
const SCHEMA = 'portolan_queue';
const ASIDE = 'aside';

interface Consumer {
  /** Messages at a time. */
  readonly parallel: number;
  readonly handle: (message: QueuedMessage) => Promise<void>;
}

export interface Queues {
  readonly queue: (name: QueueName) => Queue;
  /**
   * Queues a message, whether or not the same one was done before.
   *
   * @returns false, and nothing is queued, where the same one waits or is being handled
   */
  sendAgain(name: QueueName, message: Message): Promise<boolean>;
  consume(name: QueueName, consumer: Consumer): Promise<void>;
  /** What is not done, by queue, and what was put aside. */
  depths(): Promise<Readonly<Record<QueueName | 'aside', QueueDepth>>>;
  /** Puts messages that were put aside back into their queues. @returns how many */
  redrive(): Promise<number>;
  /** Takes no more messages, waits up to so many ms for those that are being handled, and ends. */
  stop(patience: number): Promise<void>;
}

/** Opens the queues in the database. @throws PipelineError, retryable, while the database cannot be reached */
export async function openQueues({
  url,
  connections,
  database,
  supervises,
  times,
  deliveries,
  log,
}: QueuesOptions): Promise<Queues> {
  const { silence, look, longest, wait, known } = { ...TIMES, ...times };
  const boss = new PgBoss({
    connectionString: url,
    schema: SCHEMA,
    max: connections,
    supervise: supervises,
    // Nothing is scheduled in it: Kubernetes starts what runs by the clock.
    schedule: false,
    superviseIntervalSeconds: look,
    monitorIntervalSeconds: look,
    maintenanceIntervalSeconds: 60,
    queueCacheIntervalSeconds: look,
    connectionTimeoutMillis: 5000,
  });
  boss.on('error', (error) => log(`the queue: ${error.message}`));
  await withQueueError(async () => {
    await boss.start();
    await boss.createQueue(ASIDE, { retentionSeconds: KEPT });
    for (const name of ['work', 'reports'] as const) {
      const settings = {
        // The first delivery is not a retry.
        retryLimit: (deliveries ?? DELIVERIES[name]) - 1,
        retryDelay: wait,
        retryBackoff: true,
        retryDelayMax: LONGEST_WAIT,
        heartbeatSeconds: silence,
        expireInSeconds: longest,
        retentionSeconds: KEPT,
        deleteAfterSeconds: known,
        deadLetter: ASIDE,
      };
      // `createQueue` leaves a queue of an earlier version as it is.
      await boss.createQueue(name, { policy: 'key_strict_fifo', ...settings });
      await boss.updateQueue(name, settings);
    }
  }).catch(async (error: unknown) => {
    await boss.stop({ graceful: false });
    throw error;
  });
  const clearing = supervises ? setInterval(() => void clearFailed(database, log), look * 1000) : undefined;
  // By the key, pg-boss keeps the order of a group; it refuses an id that it has.
  const send = (name: QueueName, { group, id, body }: Message): Promise<string | null> =>
    withQueueError(() => boss.send(name, { group, body }, { id: uuidOf(id), singletonKey: group }));
  return {
    queue: (name) => ({ send: async (message) => void (await send(name, message)) }),
    sendAgain: async (name, message) => {
      // A message that is done is kept for a while, and pg-boss would refuse its id. The states are an ordered enum: those from
      // `completed` on are ends.
      await database.query(`delete from ${SCHEMA}.job where name = $1 and id = $2 and state >= 'completed'`, [
        name,
        uuidOf(message.id),
      ]);
      return (await send(name, message)) !== null;
    },
    consume: async (name, { parallel, handle }) => {
      await boss.work<{ group: string; body: string }>(
        name,
        // With a backlog, a worker takes the next message at once.
        { localConcurrency: parallel, pollingIntervalSeconds: 0.5, burstWhenReadyExceeds: 1 },
        async ([job]) => {
          if (!job) return;
          const { id, data, retryCount } = job;
          await handle({ id, group: String(data.group), body: String(data.body), tries: retryCount + 1 });
        },
      );
    },
    depths: async () => {
      const rows = await database.query<{ name: string; open: string; oldest: string }>(
        `select name, count(*) as open, extract(epoch from now() - min(created_on)) as oldest
         from ${SCHEMA}.job where state < 'completed' group by name`,
      );
      const depth = (name: string): QueueDepth => {
        const row = rows.find((one) => one.name === name);
        return { messages: Number(row?.open ?? 0), oldest: Math.max(0, Number(row?.oldest ?? 0)) };
      };
      return { work: depth('work'), reports: depth('reports'), aside: depth(ASIDE) };
    },
    redrive: () => withQueueError(async () => Number(await boss.redrive(ASIDE))),
    stop: async (timeout) => {
      clearInterval(clearing);
      await boss.stop({ graceful: true, timeout });
    },
  };
}

/**
 * Deletes failed messages from their queues. pg-boss has put a copy of each aside, but with `key_strict_fifo` the failed one
 * still blocks the messages of its group.
 */
async function clearFailed(database: Database, log: (line: string) => void): Promise<void> {
  try {
    await database.query(`delete from ${SCHEMA}.job where state = 'failed' and name <> $1`, [ASIDE]);
  } catch (error) {
    log(
      `cannot clear messages that were put aside: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Does something with the queue. A failure becomes a PipelineError with its code only: the rest may name the password. */
async function withQueueError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new PipelineError('unreachable', `the queue: ${why}`, { cause, retryable: true });
  }
}

/**
 * The UUID of a message, which pg-boss demands: a digest of its id, so the same id gives the same UUID. The two eights are the
 * version and the variant of RFC 9562.
 */
function uuidOf(id: string): string {
  const hex = createHash('sha256').update(id).digest('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join('-');
}
