/** Rings in situations that are seldom: an image that is gone, a history that was rewritten, rings in another order. */
import { expect, test } from 'vitest';
import { PipelineError } from '../../../../pipeline/error.ts';
import { openLayout } from '../../../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../../../pipeline/oci/registry/layout/registry.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import type { Claim } from '../../../../pipeline/ports.ts';
import { fenceName } from '../../../../pipeline/publish/fence.ts';
import { recordFence } from '../../../../pipeline/publish/fence-records.ts';
import { directoryRecords } from '../../../../pipeline/publish/records/directory.ts';
import { moveRings } from '../../../../pipeline/publish/rings/move.ts';
import { noRings, type RingImage, type RingState } from '../../../../pipeline/publish/rings/state.ts';
import { recordRings } from '../../../../pipeline/publish/rings/store.ts';
import type { RingPlace } from '../../../../pipeline/publish/target.ts';
import { folder } from '../../../fakes/folder.ts';
import { sampleImage } from '../../../fakes/image.ts';

const HOUR = 3_600_000;
const PLACE = { registry: 'registry.example.com', repository: 'sea/catalog' } as const;
const commit = (n: number): string => String(n).padStart(40, '0');
const at = (hour: number): string => new Date(Date.UTC(2027, 0) + hour * HOUR).toISOString();
const ringOf = (tag: string, i: number): RingPlace => {
  const place = { kind: 'registry', reference: { kind: 'tag', ...PLACE, tag } } as const;
  return { tag, name: `ring-${tag}`, place, after: i * HOUR, unless: ['hold'], checks: [], approvals: 1 };
};

/** A catalog with images of commits that follow each other; those below 10 are gone with a rewritten history. */
async function sea(tags: readonly string[]) {
  const records = directoryRecords(folder());
  const fence = recordFence(records);
  const registry = layoutRegistry(await openLayout(folder(), { create: true }));
  const store = recordRings(records, 'sea', 'sea/x');
  const rings = tags.map(ringOf);
  const log: string[] = [];
  const imageOf = async (n: number, epoch = 0): Promise<RingImage> => {
    const image = sampleImage({ layers: [`of ${n}`] });
    await pushImage(registry, { kind: 'digest', ...PLACE, digest: image.root.digest }, { image });
    return { epoch, commit: commit(n), digest: image.root.digest };
  };
  const of = {
    ...{ records, fence, registry, store, log, imageOf },
    claim: async (tag: string, claim: Claim) => {
      const name = fenceName('sea', `ring-${tag}`);
      await fence.replace(name, claim, await fence.read(name));
    },
    /** Writes the record. */
    keep: async (state: Partial<RingState>) => {
      const { version } = await store.read();
      expect(await store.replace({ ...noRings('sea'), clock: at(0), ...state }, version)).toBe(true);
    },
    move: (hour: number, own: Partial<typeof store> = {}) =>
      moveRings(
        { catalog: 'sea', rings },
        {
          check: async () => undefined,
          strands: async () => undefined,
          has: async () => false,
          changes: async () => [],
        },
        {
          ...{ fence, registry, store: { ...store, ...own } },
          isAncestor: async (older, newer) => {
            const [a, b] = [Number(older), Number(newer)];
            if (a === b) return true;
            if (a < 10 || b < 10) throw new PipelineError('not-found', `commit ${Math.min(a, b)} is gone`);
            // Those from 90 on are of another line.
            return a <= b && a >= 90 === b >= 90;
          },
          now: () => new Date(at(hour)),
          log: (line) => log.push(line),
        },
      ),
    digestAt: async (tag: string) => (await registry.resolve({ kind: 'tag', ...PLACE, tag }))?.digest,
  };
  return of;
}

const OPEN = { at: at(0), by: 'anna', why: 'CVE-2027-1', early: true } as const;

test('rings in another order: none gets ahead of the ring that is before it now', async () => {
  // It was opened for `all`, and nobody has moved the tag yet; then the policy put `early` before it.
  const of = await sea(['canary', 'early', 'all']);
  const [older, newer] = [await of.imageOf(10), await of.imageOf(11)];
  await of.claim('canary', newer);
  await of.claim('early', older);
  await of.claim('all', older);
  await of.keep({ opened: [{ ring: 'ring-all', ...OPEN, ...newer }] });
  await of.move(0);
  expect(await of.digestAt('all')).toBe(older.digest);
  await of.move(1);
  expect([await of.digestAt('early'), await of.digestAt('all')]).toEqual([newer.digest, newer.digest]);
});

test('nothing is opened behind a ring that is retired, and what is retired stays as it is', async () => {
  const of = await sea(['canary', 'all']);
  const [older, newer] = [await of.imageOf(10), await of.imageOf(11)];
  await of.claim('canary', { ...newer, retired: 'keep' });
  await of.claim('all', older);
  await of.keep({ opened: [{ ring: 'ring-all', ...OPEN, ...newer }] });
  await of.move(5);
  expect(await of.digestAt('all')).toBe(older.digest);
  // Somebody has put the image of a retired catalog there again.
  await of.claim('all', { ...older, retired: 'delete' });
  await of.move(6);
  expect(await of.digestAt('all')).toBe(older.digest);
});

test('of a history that was rewritten, what was opened goes no further; what is published anew does', async () => {
  const of = await sea(['canary', 'all']);
  const [shown, gone, anew] = [await of.imageOf(1), await of.imageOf(2), await of.imageOf(11, 1)];
  await of.claim('canary', anew);
  await of.claim('all', shown);
  await of.keep({ opened: [{ ring: 'ring-all', ...OPEN, ...gone }] });
  await of.move(0);
  expect(await of.digestAt('all')).toBe(shown.digest);
  await of.move(1);
  expect(await of.digestAt('all')).toBe(anew.digest);
});

test('an image that is gone is not claimed, and does not stop the rings', async () => {
  const of = await sea(['canary', 'all']);
  const [older, newer] = [await of.imageOf(10), await of.imageOf(12)];
  const gone = { epoch: 0, commit: commit(11), digest: `sha256:${'0'.repeat(64)}` };
  await of.claim('canary', newer);
  await of.claim('all', older);
  await of.keep({ opened: [{ ring: 'ring-all', ...OPEN, ...gone }] });
  await of.move(0);
  expect(await of.digestAt('all')).toBe(older.digest);
  await of.keep({
    arrivals: [
      { ring: 'ring-canary', at: at(0), ...gone },
      { ring: 'ring-canary', at: at(1), ...newer },
    ],
  });
  const { waits, events } = await of.move(1.5);
  expect(waits[1]?.why).toEqual([`its image ${gone.digest} no longer exists`]);
  expect(events).toEqual([]);
});

test('an image waits while the ring has a newer commit, one of another line, or the image is gone', async () => {
  const of = await sea(['canary', 'all']);
  const [older, newer, other] = [await of.imageOf(10), await of.imageOf(11), await of.imageOf(90)];
  const why = async (first: Claim, last: Claim): Promise<unknown> => {
    await of.keep({ arrivals: [{ ring: 'ring-canary', at: at(0), ...first }] });
    await of.claim('canary', first);
    await of.claim('all', last);
    const { waits, events } = await of.move(5);
    expect(events).toEqual([]);
    return waits[0]?.why;
  };
  expect(await why(older, newer)).toEqual(['all has a newer commit']);
  expect(await why(other, newer)).toEqual([expect.stringContaining('is not a descendant of the published')]);
  expect(await of.digestAt('all')).toBe(newer.digest);
});

test('what has nothing to wait for writes nothing; what waits writes the time of the run', async () => {
  const of = await sea(['canary', 'all']);
  const one = await of.imageOf(10);
  await of.claim('canary', one);
  await of.claim('all', one);
  await of.move(0);
  const { version } = await of.store.read();
  await of.move(1);
  expect((await of.store.read()).version).toBe(version);
  const next = await of.imageOf(11);
  await of.claim('canary', next);
  await of.keep({
    arrivals: [{ ring: 'ring-canary', at: at(0), ...next }],
    holds: [{ at: at(0), by: 'anna', why: 'x' }],
  });
  for (const hour of [5, 6]) {
    await of.move(hour);
    expect((await of.store.read()).state.clock).toBe(at(hour));
  }
});

test('what somebody else writes meanwhile is looked at before anything opens', async () => {
  const of = await sea(['canary', 'all']);
  const one = await of.imageOf(10);
  await of.claim('canary', one);
  await of.keep({ arrivals: [{ ring: 'ring-canary', at: at(0), ...one }] });
  let lost = 0;
  const replace: typeof of.store.replace = async (state, version) => {
    if (lost++ > 0) return of.store.replace(state, version);
    await of.keep({ ...(await of.store.read()).state, holds: [{ at: at(0), by: 'anna', why: 'x' }] });
    return of.store.replace(state, version);
  };
  const { waits, opened } = await of.move(5, { replace });
  expect([waits[0]?.why, opened, of.log]).toEqual([['held by anna since 2027-01-01: x'], [], []]);
  expect(await of.digestAt('all')).toBeUndefined();
});
