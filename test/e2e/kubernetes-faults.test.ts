/**
 * Merges on the Kubernetes host under thirty faults: of workers, of PostgreSQL, of the registry, of GitHub and of webhooks.
 * PORTOLAN_LOAD is the number of merges, PORTOLAN_WORKERS that of workers.
 */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../functions/kubernetes/database.ts';
import { tableRecords } from '../../functions/kubernetes/records.ts';
import { pause } from '../fakes/burst.ts';
import { answer, expectToldOnce, type FaultWorld, isRead, isWrite } from '../fakes/fault-run.ts';
import { kubernetesHost, type Pod } from '../fakes/kubernetes.ts';
import { POSTGRES, postgres } from '../fakes/postgres.ts';
import { buildProgram } from '../fakes/program.ts';
import { isOnPath } from '../fakes/tools.ts';

const isComplete = POSTGRES !== undefined && isOnPath('docker-registry');
const MANY = Number(process.env['PORTOLAN_LOAD'] ?? 30);
const WORKERS = Number(process.env['PORTOLAN_WORKERS'] ?? 2);

beforeAll(() => {
  if (isComplete) buildProgram();
});

async function cpuOf({ internal }: Pod): Promise<number> {
  const text = await fetch(`${internal}/metrics`).then((found) => found.text());
  return Number(/^process_cpu_seconds_total\{[^}]*\} (\S+)/m.exec(text)?.[1] ?? 0);
}

async function openHost(world: FaultWorld) {
  const server = await postgres();
  const { git, registries: registry, github, again, late, forged } = world;
  const host = kubernetesHost({ git, branch: 'main', registry, github, database: server.url });
  const database = openDatabase({ url: server.url, connections: 2, log: () => undefined });
  onTestFinished(() => database.close());
  const records = tableRecords(database);
  const receivers = [await host.start('receive'), await host.start('receive')];
  let workers = await Promise.all(Array.from({ length: WORKERS }, () => host.start('work')));
  // What the processes have used that are gone.
  let spent = 0;
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
  const strikes = [
    ...[killWorker, world.registry(answer(500)), killDatabase, again, world.registry(answer(429))],
    ...[killWorker, world.registry({ kind: 'truncate', after: 100 }, isRead), late, rollOut],
    ...[world.api(answer(502)), killWorker, world.registry({ kind: 'cut-answer' }, isWrite), killDatabase],
    ...[forged, killWorker, world.registry(answer(503), isWrite), again],
    ...[world.registry({ kind: 'stall', after: 50 }, isRead), killWorker, world.registry({ kind: 'cut' })],
    // GitHub takes what it is sent, and does not say so.
    ...[world.api({ kind: 'cut-answer' }), killDatabase, late, rollOut],
    ...[world.registry(answer(500), isRead), killWorker, world.registry(answer(429), isWrite)],
    ...[world.registry({ kind: 'cut-request', after: 100 }, isWrite), killWorker, again],
  ];
  let turn = 0;
  const pushed = { name: `Kubernetes, ${WORKERS} workers`, strikes, records, database, host };
  return Object.assign(pushed, {
    push: async (payload: string) => {
      const pod = receivers[turn++ % receivers.length];
      return pod !== undefined && (await host.push(pod, payload)) === 202;
    },
    forge: async (body: string) => {
      const headers = { 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
      return (await fetch(`${receivers[0]?.url}/webhook`, { method: 'POST', headers, body })).status;
    },
    isIdle: async () =>
      (await database.query("select 1 from portolan_queue.job where state < 'completed'")).length === 0,
    receipts: async () => {
      const keys = (await records.list('documents/')).filter((key) => key.endsWith('/receipt.json'));
      const read = async (key: string) =>
        JSON.parse(new TextDecoder().decode((await records.get(key))?.bytes));
      return Promise.all(keys.map(read));
    },
    cpu: async () => {
      for (const pod of [...workers, ...receivers]) spent += await cpuOf(pod);
      return spent;
    },
  });
}

describe.skipIf(!isComplete)('on PostgreSQL', () => {
  test('under thirty faults no tag moves backwards, nothing is lost, and each merge ends with one status', {
    timeout: 3_600_000,
  }, async () => {
    let opened: Awaited<ReturnType<typeof openHost>> | undefined;
    await expectToldOnce(MANY, async (world) => {
      opened = await openHost(world);
      return opened;
    });
    expect((await opened?.host.run('status'))?.out).toContain('queued: 0, reports: 0, put aside: 0');
  });
});
