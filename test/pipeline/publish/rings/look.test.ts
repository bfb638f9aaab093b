/** One look at the rings: which images go on, and why the others wait. */
import { expect, test } from 'vitest';
import { PipelineError } from '../../../../pipeline/error.ts';
import type { StandingClaim } from '../../../../pipeline/ports.ts';
import { lookAtRings, type RingLook } from '../../../../pipeline/publish/rings/look.ts';
import { noRings, type RingState } from '../../../../pipeline/publish/rings/state.ts';
import type { RingPlace } from '../../../../pipeline/publish/target.ts';

const HOUR = 3_600_000;
const commit = (n: number): string => n.toString(16).padStart(40, '0');
const image = (n: number, epoch = 0) => ({ epoch, commit: commit(n), digest: `sha256:${commit(n)}` });
const claim = (n: number, more: Partial<StandingClaim> = {}): StandingClaim => {
  return { ...image(n), sequence: n, version: String(n), ...more };
};
const at = (hour: number): string => new Date(Date.UTC(2027, 0) + hour * HOUR).toISOString();

/** Three rings, a day between two of them. */
const RINGS = ['canary', 'early', 'all'].map((tag, i): RingPlace => {
  const reference = { kind: 'tag', registry: 'registry.example.com', repository: 'sea', tag } as const;
  const conditions = {
    after: i * 24 * HOUR,
    unless: ['hold', 'stranding'],
    checks: [],
    approvals: 1,
  } as const;
  return { tag, name: tag, place: { kind: 'registry', reference }, ...conditions };
});

type Claims = readonly (StandingClaim | undefined)[];

function look(
  before: RingState,
  hour: number,
  claims: Claims,
  { ring = {}, ...questions }: Partial<RingLook> & { readonly ring?: Partial<RingPlace> } = {},
): Promise<RingState> {
  return lookAtRings(before, {
    follows: async () => undefined,
    check: async () => undefined,
    strands: async () => undefined,
    has: async () => false,
    changes: async () => [],
    ...questions,
    rings: RINGS.map((one, i) => (i === 1 ? { ...one, ...ring } : one)),
    claims,
    now: new Date(at(hour)),
  });
}

/** What was seen in the first ring at some hours: one image each, the first one by the number 1. */
async function seen(...hours: readonly number[]): Promise<RingState> {
  let state = noRings('sea');
  for (const [i, hour] of hours.entries())
    state = await look(state, hour, [claim(i + 1), undefined, undefined]);
  return state;
}

const opened = ({ events }: RingState): string[] =>
  events.map((event) => `${event.what} ${event.ring} ${Number(`0x${event.commit}`)}`);
const arrived = ({ arrivals }: RingState): string[] =>
  arrivals.map((one) => `${one.ring} ${Number(`0x${one.commit}`)} ${one.at.slice(5, 13)}`);
/** Why images are not in the second ring. */
const whys = ({ waits }: RingState): string[] =>
  waits.filter(({ ring }) => ring === 'early').flatMap(({ why }) => why);

test('of several images that have soaked only the newest one is opened', async () => {
  expect(opened(await look(await seen(0, 10), 50, [claim(2), undefined, undefined]))).toEqual([
    'opened early 2',
  ]);
});

test('an image keeps the time at which it was first seen', async () => {
  const state = await look(await seen(0), 5, [claim(1), undefined, undefined]);
  expect(arrived(state)).toEqual(['canary 1 01-01T00']);
});

test('what a ring shows, or is opened for, waits for it no more, nor does what came before', async () => {
  const state = await seen(0, 10, 20);
  const shown = await look(state, 21, [claim(3), claim(2), undefined]);
  expect(arrived(shown)).toEqual(['canary 3 01-01T20', 'early 2 01-01T21']);
  const open = await look(state, 35, [claim(3), undefined, undefined]);
  expect(opened(open)).toEqual(['opened early 2']);
  expect(arrived(await look(open, 36, [claim(3), undefined, undefined]))).toEqual(['canary 3 01-01T20']);
});

test('of images in one part of the soak the last one is remembered, and a part is a minute at least', async () => {
  expect(arrived(await seen(0, 0.5, 0.9, 3))).toEqual([
    'canary 1 01-01T00',
    'canary 3 01-01T00',
    'canary 4 01-01T03',
  ]);
  // 24 parts of ten minutes would be 25 s.
  const soon = { ring: { after: HOUR / 6 } };
  let state = noRings('sea');
  for (const [i, second] of [0, 30, 50, 70].entries())
    state = await look(state, second / 3600, [claim(i + 1), undefined, undefined], soon);
  expect(arrived(state).map((text) => text.split(' ')[1])).toEqual(['1', '3', '4']);
});

test('nothing of a catalog that is retired waits or is shown', async () => {
  const state = await look(await seen(0), 50, [
    claim(1, { retired: 'delete' }),
    claim(0, { retired: 'delete' }),
    undefined,
  ]);
  expect([arrived(state), opened(state), whys(state)]).toEqual([[], [], []]);
  expect(state.rings.map((ring) => ring.image)).toEqual([undefined, undefined, undefined]);
});

test('nothing of a history that was rewritten goes on', async () => {
  const state = await look(await seen(0), 50, [claim(2, { epoch: 1 }), undefined, undefined]);
  expect([arrived(state), opened(state)]).toEqual([['canary 2 01-03T02'], []]);
});

test('no time is before that of the run before', async () => {
  const state = await look(await seen(10), 5, [claim(2), undefined, undefined]);
  expect(arrived(state)).toEqual(['canary 1 01-01T10', 'canary 2 01-01T10']);
  expect(state.clock).toBe(at(10));
});

test('a stamp from the future opens nothing, and says so', async () => {
  const state = await look(await seen(100), 10, [claim(1), undefined, undefined]);
  expect(whys(state)).toEqual(['its time stamp is 90 h in the future: a clock is wrong']);
});

const HOLD = { at: at(1), by: 'anna', why: 'bad' };

test.each([
  ['the catalog', HOLD, ['held by anna since 2027-01-01: bad']],
  ['its commit', { ...HOLD, commit: commit(1) }, ['held by anna since 2027-01-01: bad']],
  ['another commit', { ...HOLD, commit: commit(2) }, []],
  ['its bundle', { ...HOLD, bundle: 'etcd.v1' }, ['held for etcd.v1 by anna since 2027-01-01: bad']],
  ['another bundle', { ...HOLD, bundle: 'etcd.v2' }, []],
])('a hold of %s', async (_, hold, expected) => {
  const has = async (_commit: string, bundle: string) => bundle === 'etcd.v1';
  const before = { ...(await seen(0)), holds: [hold] };
  const state = await look(before, 50, [claim(1), undefined, undefined], { has });
  expect(whys(state)).toEqual(expected);
  expect(opened(state)).toHaveLength(expected.length === 0 ? 1 : 0);
});

test('an image that can never be looked into stays closed, and keeps no other back', async () => {
  const gone = async (id: string) => {
    if (id === commit(1)) throw new PipelineError('not-found', `the commit ${id} no longer exists`);
    return false;
  };
  const before = { ...(await seen(0)), holds: [{ ...HOLD, bundle: 'etcd.v1' }] };
  const first = await look(before, 50, [claim(2), undefined, undefined], { has: gone });
  expect(whys(first)).toEqual([
    'soaks for another 24 h of 24 h',
    `it cannot be checked: the commit ${commit(1)} no longer exists`,
  ]);
  expect(arrived(first)).toContain('canary 2 01-03T02');
  expect(opened(await look(first, 75, [claim(2), undefined, undefined], { has: gone }))).toEqual([
    'opened early 2',
  ]);
  // What may be answered the next time ends the run.
  const unreachable = async () => {
    throw new PipelineError('unreachable', 'no answer', { retryable: true });
  };
  await expect(look(before, 50, [claim(2), undefined, undefined], { has: unreachable })).rejects.toThrow(
    'no answer',
  );
});

test('a ring that holds do not close opens for what is held', async () => {
  const before = { ...(await seen(0)), holds: [HOLD] };
  const of = { ring: { unless: ['stranding'] } } as const;
  expect(opened(await look(before, 50, [claim(1), undefined, undefined], of))).toEqual(['opened early 1']);
});

test('what costs requests is asked when nothing else keeps the ring closed', async () => {
  const asked: string[] = [];
  const ask = (name: string, answer?: string) => async () => {
    asked.push(name);
    return answer;
  };
  const questions = { follows: ask('follows'), check: ask('check', 'red'), strands: ask('strands') };
  const ring = { checks: ['smoke', 'e2e'] };
  const claims: Claims = [claim(1), claim(0), undefined];
  await look(await seen(0), 5, claims, { ...questions, ring });
  await look({ ...(await seen(0)), holds: [HOLD] }, 50, claims, { ...questions, ring });
  expect(asked).toEqual([]);
  expect(whys(await look(await seen(0), 50, claims, { ...questions, ring }))).toEqual(['red', 'red']);
  expect(asked).toEqual(['follows', 'check', 'check']);
  asked.length = 0;
  const older = { ...questions, follows: ask('follows', 'older') };
  expect(whys(await look(await seen(0), 50, claims, { ...older, ring }))).toEqual(['older']);
  expect(asked).toEqual(['follows']);
});

test.each<[string, Partial<RingPlace>, StandingClaim | undefined, readonly string[]]>([
  ['from what the ring has', {}, claim(0), ['strands etcd']],
  ['where stranding does not close the ring', { unless: ['hold'] }, claim(0), []],
  ['where the ring has nothing', {}, undefined, []],
  ['where the catalog was retired', {}, claim(0, { retired: 'keep' }), []],
])('the step is simulated %s', async (_, ring, there, expected) => {
  const asked: unknown[] = [];
  const strands = async (from: string, to: string) => {
    asked.push([from, to]);
    return 'strands etcd';
  };
  const state = await look(await seen(0), 50, [claim(1), there, undefined], { ring, strands });
  expect(whys(state)).toEqual(expected);
  expect(asked).toEqual(expected.length === 0 ? [] : [[commit(0), commit(1)]]);
});

test('what waits names the packages that differ, and is looked at anew each time', async () => {
  const changes = async (from: string, to: string) => [
    from === commit(0) && to === commit(1) ? 'etcd' : 'other',
  ];
  const first = await look(await seen(0), 5, [claim(1), claim(0), undefined], { changes });
  expect(first.waits.slice(0, 1)).toMatchObject([
    { ring: 'early', packages: ['etcd'], opens: at(24), at: at(0) },
  ]);
  const second = await look(first, 6, [claim(1), claim(0), undefined], { changes });
  expect(whys(second)).toEqual(['soaks for another 18 h of 24 h']);
});

test('the next opening takes the place of the one before, and what people said of it is over', async () => {
  const said = { ...HOLD, ...image(1) };
  const before = {
    ...(await seen(0)),
    approvals: [
      { ...said, ring: 'early' },
      { ...said, ring: 'all' },
    ],
  };
  const one = await look(before, 24, [claim(1), undefined, undefined]);
  expect(one.approvals.map(({ ring }) => ring)).toEqual(['all']);
  const next = await look(one, 25, [claim(2), claim(1), undefined]);
  const two = await look(next, 50, [claim(2), claim(1), undefined]);
  expect(two.opened.map(({ ring, commit: id }) => [ring, Number(`0x${id}`)])).toEqual([['early', 2]]);
});
