/**
 * Real merges, delivered badly: each twice, shuffled, late, in bursts; the registry is one that others
 * wrote. PORTOLAN_MERGES says how many (default 30).
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { memoryQueue } from '../../pipeline/delivery/memory-queue.ts';
import { messageOf } from '../../pipeline/delivery/message.ts';
import type { DeliveryPorts } from '../../pipeline/delivery/ports.ts';
import { statusOf } from '../../pipeline/delivery/status.ts';
import { handleWork } from '../../pipeline/delivery/work.ts';
import { fetchBranch } from '../../pipeline/git/fetch.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import { directoryStore } from '../../pipeline/image/directory-store.ts';
import type { CommitStatus } from '../../pipeline/ports.ts';
import { recordFence } from '../../pipeline/publish/fence-records.ts';
import { directoryRecords } from '../../pipeline/records/directory.ts';
import { folder } from '../fakes/folder.ts';
import { gitServer } from '../fakes/git-server.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { isOnPath, run } from '../fakes/tools.ts';

const HISTORY = join(process.env['PORTOLAN_GOLDEN'] ?? '../shared/golden', '../data/pr-history.bundle');
const MERGES = Number(process.env['PORTOLAN_MERGES'] ?? 30);
const settings = { searchPath: process.env['PATH'] };

describe.skipIf(!existsSync(HISTORY) || !isOnPath('docker-registry') || !isOnPath('skopeo'))(
  'history',
  () => {
    test('the tags end at the newest commit, with all that belongs to it', {
      timeout: 3_000_000,
    }, async () => {
      const registry = await dockerRegistry();
      const { directory, commits } = withPolicy(registry.host);
      const url = await gitServer(directory);
      const clone = folder();
      const records = directoryRecords(folder());
      const statuses = new Map<string, CommitStatus>();
      const queue = memoryQueue({ parallel: 2 });
      const ports: DeliveryPorts = {
        open: async ({ branch }) => {
          const tip = await fetchBranch({ url, branch, directory: clone, settings, reach: {} });
          const repository = await openRepository(clone, settings);
          return { repository, tip, close: repository.close };
        },
        registry: registry.client,
        fence: recordFence(records),
        records,
        queue,
        forge: { report: async (status) => void statuses.set(`${status.commit} ${status.context}`, status) },
        now: () => new Date('2026-11-21T00:00:00Z'),
        log: () => undefined,
      };
      const store = directoryStore(folder());
      const random = generator(1);
      const durations: number[] = [];
      const late: string[] = [];
      let done = 0;
      let published = 0;
      while (done < commits.length) {
        const burst = Math.min(commits.length - done, done === 0 ? 1 : 1 + Math.floor(random() * 40));
        const fresh = commits.slice(done, done + burst);
        done += burst;
        execFileSync('git', ['-C', directory, 'update-ref', 'refs/heads/main', commits[done - 1] ?? '']);
        // Some come with the next burst, some twice, none in order.
        const held = fresh.slice(0, -1).filter(() => random() < 0.2);
        const now = [...fresh, ...fresh.filter(() => random() < 0.5), ...late.splice(0)].filter(
          (commit) => !held.includes(commit),
        );
        late.push(...held);
        const began = performance.now();
        for (const commit of now.sort(() => random() - 0.5)) {
          await queue.send(
            messageOf({ v: 1, kind: 'push', repository: 'sea/catalogs', branch: 'main', commit }),
          );
        }
        await queue.drain((body) => {
          if (body.includes('"kind":"catalog"')) published++;
          return handleWork(body, ports, { store });
        });
        const seconds = (performance.now() - began) / 1000;
        durations.push(seconds);
        console.log(`${done} merges, burst of ${burst}, drained in ${seconds.toFixed(1)} s`);
      }
      expect(queue.aside).toEqual([]);
      const { published: current } = await statusOf(records);
      expect(current.length).toBeGreaterThan(5);
      for (const { catalog, image, commit, digest, documents } of current) {
        const words = ['inspect', '--raw', ...registry.skopeo, `docker://${image}`];
        const raw = await run('skopeo', ...words);
        expect(`sha256:${hash(raw)}`, catalog).toBe(digest);
        expect(await records.list(`${documents}mapping.txt`), catalog).toHaveLength(1);
        // What is published is the content of the branch's newest commit.
        const places = [`${commit}:catalogs/${catalog}`, `main:catalogs/${catalog}`];
        const trees = execFileSync('git', ['-C', directory, 'rev-parse', ...places])
          .toString()
          .trim()
          .split('\n');
        expect(trees[0], catalog).toBe(trees[1]);
      }
      const sorted = durations.toSorted((a, b) => a - b);
      const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;
      console.log(
        `${commits.length} merges in ${durations.length} bursts: ${published} messages for catalogs, p95 of a burst ${p95.toFixed(1)} s`,
      );
    });
  },
);

function hash(bytes: Uint8Array): string {
  return execFileSync('sha256sum', { input: bytes }).toString().slice(0, 64);
}

/** The last merges of the history, each with a policy that publishes every catalog. */
function withPolicy(host: string): { directory: string; commits: string[] } {
  const directory = join(folder(), 'catalogs.git');
  execFileSync('git', ['clone', '--quiet', '--bare', HISTORY, directory]);
  const environment = { ...process.env, GIT_INDEX_FILE: join(directory, 'portolan-index') };
  for (const role of ['AUTHOR', 'COMMITTER']) {
    Object.assign(environment, { [`GIT_${role}_NAME`]: 'anna', [`GIT_${role}_EMAIL`]: 'anna@example.com' });
  }
  const git = (parameters: readonly string[], input = ''): string =>
    execFileSync('git', ['-C', directory, ...parameters], { env: environment, input })
      .toString()
      .trim();
  const policy = [
    'apiVersion: portolan/v1alpha1',
    'kind: Portolan',
    'publish:',
    '  catalogs:',
    `    'v*': {image: '${host}/sea/catalog:{catalog}', mirrorTo: mirror.example.com/olm}`,
    '',
  ].join('\n');
  const blob = git(['hash-object', '-w', '--stdin'], policy);
  const old = git(['rev-list', '--first-parent', `--max-count=${MERGES}`, 'HEAD', '--', 'catalogs']).split(
    '\n',
  );
  const commits: string[] = [];
  for (const commit of old.reverse()) {
    git(['read-tree', commit]);
    git(['update-index', '--add', '--cacheinfo', `100644,${blob},.github/portolan.yaml`]);
    const parents = commits.slice(-1).flatMap((parent) => ['-p', parent]);
    commits.push(git(['commit-tree', git(['write-tree']), ...parents, '-m', commit]));
  }
  return { directory, commits };
}

/** Numbers from 0 to 1 that follow from the seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
