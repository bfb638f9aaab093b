/** Queue, records and fence of the Kubernetes host in a real PostgreSQL, by the contracts of every host. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase } from '../../functions/kubernetes/database.ts';
import { settingsFrom } from '../../functions/kubernetes/env.ts';
import { openHost, recordsIn } from '../../functions/kubernetes/host.ts';
import { openQueues, type Queues, type QueueTimes } from '../../functions/kubernetes/queue.ts';
import { createRecords, removeOldRecords, tableRecords } from '../../functions/kubernetes/records.ts';
import { telemetryOf } from '../../functions/kubernetes/telemetry.ts';
import { prefixOf } from '../../pipeline/publish/documents.ts';
import { recordFence } from '../../pipeline/publish/fence-records.ts';
import { recordRings } from '../../pipeline/publish/rings/store.ts';
import {
  expectConditional,
  expectNewest,
  expectOneTurn,
  expectOneWinner,
  type TwoViews,
} from '../fakes/fence-contract.ts';
import { killedCheck } from '../fakes/killed-check.ts';
import { ministackForSdk } from '../fakes/ministack.ts';
import { POSTGRES, postgres } from '../fakes/postgres.ts';
import {
  expectAgain,
  expectDeath,
  expectEndedCheck,
  expectOneOfAnId,
  expectOrder,
  expectPoison,
  type QueuePlace,
} from '../fakes/queue-contract.ts';
import { isOnPath } from '../fakes/tools.ts';

const silent = (): void => undefined;

function databaseAt(url: string): Database {
  const database = openDatabase({ url, connections: 4, log: silent });
  onTestFinished(() => database.close());
  return database;
}

/** Short, where it can be: a test waits for each. */
const TIMES: QueueTimes = { silence: 10, look: 1, longest: 600, wait: 0, known: 300 };

const DELIVERIES = 3;

async function queuesAt(url: string): Promise<Queues> {
  const database = databaseAt(url);
  const settings = {
    url,
    connections: 4,
    database,
    supervises: true,
    times: TIMES,
    deliveries: DELIVERIES,
    log: silent,
  };
  const queues = await openQueues(settings);
  onTestFinished(() => queues.stop(0));
  return queues;
}

async function queuePlace(): Promise<QueuePlace> {
  const { url } = await postgres();
  const sender = await queuesAt(url);
  return {
    queue: sender.queue('work'),
    deliveries: DELIVERIES,
    work: async (handle) => {
      const way = await wayTo(url);
      const queues = await queuesAt(way.url);
      await queues.consume('work', { parallel: 3, handle });
      return { kill: way.cut };
    },
    aside: async () => (await sender.depths()).aside.messages,
  };
}

/** A way to the database that can be cut: whoever is behind it is as good as dead. */
async function wayTo(url: string): Promise<{ readonly url: string; readonly cut: () => void }> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(Number(port), hostname);
    for (const end of [socket, onward]) {
      sockets.add(end);
      end.on('error', () => undefined).on('close', () => sockets.delete(end));
    }
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const cut = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(cut);
  return { url: url.replace(`:${port}/`, `:${(server.address() as AddressInfo).port}/`), cut };
}

describe.skipIf(POSTGRES === undefined)('in PostgreSQL', () => {
  async function views(): Promise<TwoViews> {
    const { url } = await postgres();
    const [one, two] = [databaseAt(url), databaseAt(url)];
    await Promise.all([createRecords(one), createRecords(two)]);
    return [recordFence(tableRecords(one)), recordFence(tableRecords(two))];
  }

  test('a claim is replaced only by who has read it', async () => expectConditional(await views()));
  test('of eight at once one has the lease, until it ends', async () => expectOneTurn(await views()));
  test('of eight at once one is first, ten times', async () => expectOneWinner(await views(), 10));
  test('of four at once the newest commit wins, and the tag follows it', async () =>
    expectNewest(await views()));

  test('messages of a group are handled in order, one at a time', async () =>
    expectOrder(await queuePlace()));
  test('messages of one id are one message', async () => expectOneOfAnId(await queuePlace()));
  test('a message is queued again once it is done, and not while it waits', async () => {
    const { url } = await postgres();
    const queues = await queuesAt(url);
    const message = { group: 'a', id: '1', body: '{}' };
    expect(await queues.sendAgain('work', message)).toBe(true);
    expect(await queues.sendAgain('work', message)).toBe(false);
    let handled = 0;
    await queues.consume('work', { parallel: 1, handle: async () => void handled++ });
    await expect.poll(() => handled).toBe(1);
    await expect.poll(async () => (await queues.depths()).work.messages).toBe(0);
    // The same message is known for a while, and is not queued by a sender that wants it once.
    await queues.queue('work').send(message);
    expect((await queues.depths()).work.messages).toBe(0);
    expect(await queues.sendAgain('work', message)).toBe(true);
    await expect.poll(() => handled).toBe(2);
  });
  test('what fails comes again, and its group waits', async () => expectAgain(await queuePlace()));
  test('what a dead worker had taken goes to another one', async () => expectDeath(await queuePlace()));
  test('what never succeeds is put aside', async () => expectPoison(await queuePlace()));
  test('45: a pull request that kills its check is delivered once', async () =>
    expectEndedCheck(await queuePlace(), await killedCheck()));

  test('several processes make the tables and queues at the same time', async () => {
    const { url } = await postgres();
    const all = await Promise.all(Array.from({ length: 4 }, () => queuesAt(url)));
    await all[0]?.queue('work').send({ group: 'a', id: '1', body: '{}' });
    expect(await all[3]?.depths()).toMatchObject({
      work: { messages: 1 },
      reports: { messages: 0 },
      aside: { messages: 0 },
    });
  });

  test('a host that may not make its tables leaves no connection behind', async () => {
    const { url } = await postgres();
    const owner = databaseAt(url);
    await owner.query('create role poor login');
    const open = () =>
      openHost(
        settingsFrom({
          PORTOLAN_SOURCES:
            '[{"repository":"a/b","id":1,"branch":"main","url":"https://git.example/a/b.git"}]',
          PORTOLAN_DATABASE: url.replace('portolan@', 'poor@'),
        }),
        telemetryOf('work', silent),
        true,
      );
    await expect(open()).rejects.toThrow('the database: 42501');
    // With the records' tables there, the queue's are missing.
    await createRecords(owner);
    await owner.query('grant usage on schema portolan to poor');
    await owner.query('grant select on portolan.record to poor');
    await expect(open()).rejects.toThrow('the queue: 42501');
    await expect.poll(() => owner.query("select 1 from pg_stat_activity where usename = 'poor'")).toEqual([]);
  });

  test('what was put aside goes back into its queue', async () => {
    const { url } = await postgres();
    const queues = await queuesAt(url);
    let isBroken = true;
    const seen: string[] = [];
    await queues.queue('work').send({ group: 'a', id: '1', body: 'x' });
    await queues.consume('work', {
      parallel: 1,
      handle: async ({ body }) => {
        if (isBroken) throw new Error('the registry is away');
        seen.push(body);
      },
    });
    while ((await queues.depths()).aside.messages === 0) await new Promise((done) => setTimeout(done, 100));
    isBroken = false;
    expect(await queues.redrive()).toBe(1);
    while (seen.length === 0) await new Promise((done) => setTimeout(done, 100));
    expect(seen).toEqual(['x']);
  });

  test('records are listed by their beginning, and old ones that only save work are removed', async () => {
    const { url } = await postgres();
    const database = databaseAt(url);
    await createRecords(database);
    const records = tableRecords(database);
    const bytes = new Uint8Array([0, 255, 10]);
    const keys = ['deliveries/old', 'deliveries/new', 'documents/a/b', 'documents/a_b', 'documents/aé'];
    for (const key of keys) await records.put(key, bytes);
    expect(await records.list('documents/a/')).toEqual(['documents/a/b']);
    expect(await records.list('documents/')).toEqual(['documents/a/b', 'documents/a_b', 'documents/aé']);
    expect(await records.list('documents/a%')).toEqual([]);
    expect((await records.get('documents/a/b'))?.bytes).toEqual(bytes);
    const age = "update portolan.record set written = now() - interval '8 days' where key in ($1, $2)";
    await database.query(age, ['deliveries/old', 'documents/a/b']);
    const forever = { outcomes: undefined, documents: undefined };
    expect(await removeOldRecords(database, forever)).toBe(1);
    expect(await records.list('de')).toEqual(['deliveries/new']);
    expect(await records.list('documents/a/')).toEqual(['documents/a/b']);
  });

  test('outcomes and documents are removed after the days that are set; what is current, and what rings know, stays', async () => {
    const { url } = await postgres();
    const database = databaseAt(url);
    await createRecords(database);
    const records = tableRecords(database);
    const put = (key: string, value: unknown) =>
      records.put(key, new TextEncoder().encode(JSON.stringify(value)));
    const image = (n: number) => ({
      epoch: 0,
      commit: String(n).repeat(40),
      digest: `sha256:${String(n).repeat(64)}`,
    });
    const documents = [1, 2, 3, 4, 5].map((n) => prefixOf('v4.20/x', image(n)));
    for (const prefix of documents) await put(`${prefix}receipt.json`, {});
    await put('outcomes/sea/catalogs/v4.20/old', {});
    await put('published/v4.20/x', {
      ...{ catalog: 'v4.20', image: 'x', documents: documents[3] },
      ...image(4),
    });
    const store = recordRings(records, 'v4.20', 'x');
    const { state, version } = await store.read();
    const at = '2026-01-01T00:00:00.000Z';
    const approval = { ...image(5), ring: 'x', at, by: 'alice', why: 'urgent' };
    const arrivals = [{ ...image(3), ring: 'x', at }];
    await store.replace({ ...state, arrivals, approvals: [approval] }, version);
    await database.query(
      "update portolan.record set written = now() - interval '31 days' where key not like $1",
      [`${documents[1]}%`],
    );
    const days = { outcomes: 30, documents: 30 };
    await put('published/v4.21/x', 'spoilt');
    expect(await removeOldRecords(database, { outcomes: undefined, documents: 30 })).toBe(0);
    await database.query("delete from portolan.record where key = 'published/v4.21/x'");
    expect(await removeOldRecords(database, { outcomes: 32, documents: 32 })).toBe(0);
    expect(await removeOldRecords(database, days)).toBe(2);
    const left = await records.list('documents/');
    expect(left).toEqual(documents.slice(1).map((prefix) => `${prefix}receipt.json`));
    expect(await records.list('outcomes/')).toEqual([]);
  });

  test.skipIf(!isOnPath('ministack'))(
    'documents are in a bucket where one is named, and nothing else is',
    async () => {
      const { endpoint } = await ministackForSdk();
      const client = new S3Client({ forcePathStyle: true });
      onTestFinished(() => client.destroy());
      await client.send(new CreateBucketCommand({ Bucket: 'documents' }));
      const { url } = await postgres();
      const database = databaseAt(url);
      await createRecords(database);
      const settings = { bucket: 'documents', environment: { AWS_ENDPOINT_URL: endpoint } };
      const records = recordsIn(settings, database);
      const bytes = new Uint8Array([1]);
      for (const key of ['documents/v4.20/receipt.json', 'published/v4.20', 'last/v4.20'])
        await records.put(key, bytes);
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: 'documents' }));
      expect(Contents.map(({ Key }) => Key)).toEqual(['documents/v4.20/receipt.json']);
      expect(await records.list('documents/')).toEqual(['documents/v4.20/receipt.json']);
      expect((await records.get('documents/v4.20/receipt.json'))?.bytes).toEqual(bytes);
      expect(await tableRecords(database).list('')).toEqual(['last/v4.20', 'published/v4.20']);
    },
  );

  test('while the database is away every port says that it may come back, and it does', async () => {
    const server = await postgres();
    const database = databaseAt(server.url);
    await createRecords(database);
    const records = tableRecords(database);
    const queues = await queuesAt(server.url);
    await records.put('last/x', new Uint8Array([1]));
    await server.kill();
    const away = { code: 'unreachable', retryable: true };
    await expect(records.get('last/x')).rejects.toMatchObject(away);
    await expect(queues.queue('work').send({ group: 'a', id: '1', body: 'x' })).rejects.toMatchObject(away);
    await server.start();
    expect((await records.get('last/x'))?.bytes).toEqual(new Uint8Array([1]));
    await queues.queue('work').send({ group: 'a', id: '1', body: 'x' });
    expect((await queues.depths()).work.messages).toBe(1);
  });

  test('a wrong password is told without it', async () => {
    const { url } = await postgres();
    const database = databaseAt(url.replace('portolan@', 'nobody:secret@'));
    const error = await database.query('select 1').catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'denied', retryable: false });
    expect(String(error)).not.toContain('secret');
  });
});
