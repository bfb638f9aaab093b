/**
 * Real merges, delivered badly: each twice, shuffled, late, in bursts; the registry is one that others
 * wrote. PORTOLAN_MERGES says how many (default 30), PORTOLAN_BURST how many at once (1 to 40 when unset).
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { openGitClient } from '../../pipeline/git/http/client.ts';
import { openHttpRepository } from '../../pipeline/git/http/repository.ts';
import { directoryStore } from '../../pipeline/oci/image/stores.ts';
import { openTransport } from '../../pipeline/oci/registry/client.ts';
import type { CommitStatus } from '../../pipeline/ports.ts';
import { handleMessage } from '../../pipeline/publish/delivery/handle-delivery.ts';
import { memoryQueue } from '../../pipeline/publish/delivery/local.ts';
import { messageOf } from '../../pipeline/publish/delivery/message.ts';
import type { DeliveryPorts, ReportPorts } from '../../pipeline/publish/delivery/ports.ts';
import { handleReport } from '../../pipeline/publish/delivery/report.ts';
import { statusOf } from '../../pipeline/publish/delivery/status.ts';
import { recordFence } from '../../pipeline/publish/fence-records.ts';
import { directoryRecords } from '../../pipeline/publish/records/directory.ts';
import { folder } from '../fakes/folder.ts';
import { gitServer } from '../fakes/git-server.ts';
import {
  bursts,
  expectPublished,
  hasHistory,
  historyRepository,
  moveBranch,
  percentile,
} from '../fakes/history.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { isOnPath } from '../fakes/tools.ts';

const MERGES = Number(process.env['PORTOLAN_MERGES'] ?? 30);
const BURST = process.env['PORTOLAN_BURST'] === undefined ? undefined : Number(process.env['PORTOLAN_BURST']);

describe.skipIf(!hasHistory || !isOnPath('docker-registry') || !isOnPath('skopeo'))('history', () => {
  test('the tags end at the newest commit, with all that belongs to it', { timeout: 3_000_000 }, async () => {
    const registry = await dockerRegistry();
    const history = historyRepository(registry.host, MERGES);
    const url = await gitServer(history.directory);
    const { host } = new URL(url);
    const transport = openTransport({ internal: [host], plainHttp: [host] });
    onTestFinished(transport.close);
    const client = openGitClient({ url, transport, authorization: async () => undefined });
    const records = directoryRecords(folder());
    const statuses = new Map<string, CommitStatus>();
    const queue = memoryQueue({ parallel: 2 });
    const reports = memoryQueue();
    const ports: DeliveryPorts & ReportPorts = {
      open: async ({ branch }) => {
        const tip = await client.tip(branch);
        const repository = openHttpRepository({ client });
        await repository.bring([tip]);
        return { repository, tip, close: repository.close };
      },
      registry: registry.client,
      fence: recordFence(records),
      records,
      queue,
      reports,
      forge: { report: async (status) => void statuses.set(`${status.commit} ${status.context}`, status) },
      now: () => new Date('2026-11-21T00:00:00Z'),
      log: () => undefined,
    };
    const store = directoryStore(folder());
    const durations: number[] = [];
    let published = 0;
    for (const { tip, done, size, deliveries } of bursts(history.commits, BURST)) {
      moveBranch(history, tip);
      const began = performance.now();
      for (const commit of deliveries) {
        await queue.send(
          messageOf({ v: 1, kind: 'push', repository: 'sea/catalogs', branch: 'main', commit }),
        );
      }
      await queue.drain((body) => {
        if (body.includes('"kind":"catalog"')) published++;
        return handleMessage(body, ports, { store });
      });
      await reports.drain((body) => handleReport(body, ports));
      const seconds = (performance.now() - began) / 1000;
      durations.push(seconds);
      console.log(`${done} merges, burst of ${size}, drained in ${seconds.toFixed(1)} s`);
    }
    expect([...queue.aside, ...reports.aside]).toEqual([]);
    const { published: current } = await statusOf(records);
    expect(current.length).toBeGreaterThan(5);
    await expectPublished(history, registry, current);
    for (const { catalog, documents } of current)
      expect(await records.list(`${documents}mapping.txt`), catalog).toHaveLength(1);
    const p95 = percentile(durations, 95).toFixed(1);
    const counted = `${history.commits.length} merges in ${durations.length} bursts`;
    console.log(`${counted}: ${published} messages for catalogs, p95 of a burst ${p95} s`);
  });
});
