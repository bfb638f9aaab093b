/**
 * Real merges through the functions as they are deployed, on a stand-in for AWS: each is a signed webhook, some
 * come twice, late, in any order. PORTOLAN_CLOUD_MERGES says how many (default 6), PORTOLAN_BURST how many
 * at once (1 to 40 when unset), PORTOLAN_LARGE names a folder of packages into which bundles are merged in place of
 * the history.
 */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readText } from '../../pipeline/directory.ts';
import type { DeliveryStatus } from '../../pipeline/publish/delivery/status.ts';
import { type Cloud, cloud, fakeGitHub, pushPayload, type SeenStatus } from '../fakes/cloud.ts';
import { cloudQueues } from '../fakes/cloud-queues.ts';
import { folder } from '../fakes/folder.ts';
import { gitServer } from '../fakes/git-server.ts';
import {
  bursts,
  expectPublished,
  hasHistory,
  historyRepository,
  largeRepository,
  moveBranch,
  percentile,
} from '../fakes/history.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { isOnPath } from '../fakes/tools.ts';

const MERGES = Number(process.env['PORTOLAN_CLOUD_MERGES'] ?? 6);
const BURST = process.env['PORTOLAN_BURST'] === undefined ? undefined : Number(process.env['PORTOLAN_BURST']);
const LARGE = process.env['PORTOLAN_LARGE'];
/** Of a burst, in s. */
const LONGEST = 3000;
const isComplete = hasHistory && ['ministack', 'aws', 'docker-registry', 'skopeo'].every(isOnPath);

beforeAll(() => {
  if (isComplete) buildProgram();
});

describe.skipIf(!isComplete)('history on a stand-in for AWS', () => {
  test('tags and documents end at the newest commit', { timeout: 9_000_000 }, async () => {
    const registry = await dockerRegistry();
    const history =
      LARGE === undefined
        ? historyRepository(registry.host, MERGES)
        : largeRepository(registry.host, LARGE, MERGES);
    const github = await fakeGitHub();
    const git = await gitServer(history.directory);
    const at = await cloud({ git, branch: 'main', registry: registry.host, github: github.url });
    const queues = cloudQueues(at);
    const drains: number[] = [];
    const merged = new Map<string, number>();
    for (const { tip, done, size, deliveries } of bursts(history.commits, BURST)) {
      moveBranch(history, tip);
      const began = performance.now();
      merged.set(tip, began);
      // GitHub writes another time into each event; the same one twice is not even queued.
      for (const [i, commit] of deliveries.entries()) {
        expect(await at.push(pushPayload(commit, 'main', Date.now() - i * 1000))).toBe(202);
      }
      await queues.drained('Queue', LONGEST);
      const seconds = (performance.now() - began) / 1000;
      drains.push(seconds);
      console.log(`${done} merges, burst of ${size}, drained in ${seconds.toFixed(1)} s`);
    }
    await queues.drained('Reports', LONGEST);
    expect(await queues.count('Aside')).toBe(0);
    const { published, last } = await status(at);
    expect(last.filter(({ state }) => state !== 'published')).toEqual([]);
    expect(published.length).toBeGreaterThan(LARGE === undefined ? 5 : 0);
    await expectPublished(history, registry, published);
    const listing = ['--bucket', at.outputs['Records'] ?? '', '--prefix', 'documents/'];
    const listed = (await at.aws('s3api', 'list-objects-v2', ...listing)) as { Contents: { Key: string }[] };
    const keys = new Set(listed.Contents.map(({ Key }) => Key));
    for (const { catalog, documents } of published)
      expect(keys.has(`${documents}mapping.txt`), catalog).toBe(true);
    const waits = waitsOf(github.statuses, merged);
    console.log(
      `${history.commits.length} merges in ${drains.length} bursts: a burst drained in ${percentile(drains, 95).toFixed(1)} s (p95), ` +
        `${percentile(drains, 100).toFixed(1)} s at most; merge → tag, documents, status of ${waits.length} catalogs: ` +
        `${percentile(waits, 50).toFixed(1)} s (p50), ${percentile(waits, 95).toFixed(1)} s (p95)`,
    );
  });
});

/** From the moving of the branch to the end of each catalog of its newest commit, in s. */
function waitsOf(statuses: readonly SeenStatus[], merged: ReadonlyMap<string, number>): number[] {
  return statuses.flatMap(({ commit, state, at }) => {
    const began = merged.get(commit);
    return state === 'success' && began !== undefined ? [(at - began) / 1000] : [];
  });
}

async function status(at: Cloud): Promise<DeliveryStatus> {
  const answer = join(folder(), 'status.json');
  await at.aws('lambda', 'invoke', '--function-name', 'portolan-status', answer);
  return JSON.parse(readText(answer));
}
