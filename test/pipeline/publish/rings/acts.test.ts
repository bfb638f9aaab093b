/** Holds, releases and promotions of rings, as they are written down. */
import { expect, test } from 'vitest';
import {
  changeRings,
  withHold,
  withoutHold,
  withPromotion,
} from '../../../../pipeline/publish/rings/acts.ts';
import { noRings, type RingState } from '../../../../pipeline/publish/rings/state.ts';
import type { RingPlace } from '../../../../pipeline/publish/target.ts';

const ANNA = { at: '2027-01-01T00:00:00.000Z', by: 'anna', why: 'loses data' };
const LATER = { ...ANNA, at: '2027-01-02T00:00:00.000Z' };
const BOB = { ...ANNA, by: 'bob' };
const image = (digit: string) => ({
  epoch: 0,
  commit: digit.repeat(40),
  digest: `sha256:${digit.repeat(64)}`,
});
const [ONE, TWO] = [image('1'), image('2')];
const NONE = noRings('sea');

test('the same hold twice is one; with another reason or by somebody else it takes the place of the first', () => {
  const held = withHold(NONE, {}, ANNA);
  expect(withHold(held, {}, LATER)).toBe(held);
  for (const act of [BOB, { ...ANNA, why: 'crashes' }]) {
    const other = withHold(held, {}, act);
    expect(other.holds).toEqual([act]);
    expect(other.events).toHaveLength(2);
  }
});

test('holds of commits and of bundles stand beside each other, and each is released by itself', () => {
  const about = [
    {},
    { commit: ONE.commit },
    { commit: TWO.commit },
    { bundle: 'etcd.v1' },
    { commit: ONE.commit, bundle: 'etcd.v1' },
  ];
  const all = about.reduce((state: RingState, held) => withHold(state, held, ANNA), NONE);
  expect(all.holds).toHaveLength(about.length);
  for (const held of about) {
    const left = withoutHold(all, held, BOB);
    expect(left.holds).toEqual(all.holds.filter((one) => one !== all.holds[about.indexOf(held)]));
    expect(left.events.at(-1)).toEqual({ what: 'released', ...held, ...BOB });
  }
});

test('a release that comes twice changes nothing; of what was never held it says so', () => {
  const released = withoutHold(withHold(NONE, {}, ANNA), {}, BOB);
  expect(withoutHold(released, {}, { ...BOB, at: LATER.at })).toBe(released);
  expect(() => withoutHold(released, {}, ANNA)).toThrow('there is no hold on sea');
  const held = withHold(NONE, { bundle: 'etcd.v1' }, ANNA);
  expect(() => withoutHold(held, {}, BOB)).toThrow('there is no hold on sea');
});

test('a release that comes late lets the hold stand that came after it', () => {
  const held = withHold(NONE, { bundle: 'etcd.v1' }, ANNA);
  const asked = (minutes: number) => new Date(Date.parse(ANNA.at) + minutes * 60_000).toISOString();
  expect(() => withoutHold(held, { bundle: 'etcd.v1' }, { ...ANNA, asked: asked(-60) })).toThrow(
    `there is no hold on sea for etcd.v1 from before ${asked(-60)}`,
  );
  // Clocks differ.
  for (const minutes of [-5, 0, 60])
    expect(withoutHold(held, { bundle: 'etcd.v1' }, { ...ANNA, asked: asked(minutes) }).holds).toEqual([]);
});

test('what somebody else writes meanwhile is not lost', async () => {
  let kept = { state: NONE, version: 1 };
  let reads = 0;
  const store = {
    read: async () => {
      const { state, version } = kept;
      if (reads++ === 0) kept = { state: withHold(state, { bundle: 'etcd.v1' }, BOB), version: 2 };
      return { state, version: String(version) };
    },
    replace: async (state: RingState, version: string | undefined) => {
      if (version !== String(kept.version)) return false;
      kept = { state, version: kept.version + 1 };
      return true;
    },
  };
  await changeRings(store, (state) => withHold(state, {}, ANNA));
  expect(kept.state.holds).toEqual([{ bundle: 'etcd.v1', ...BOB }, ANNA]);
});

/** Three rings; opening the second one takes two people, the last one alone one. */
const RINGS = ['canary', 'early', 'all'].map((tag, i): RingPlace => {
  const reference = { kind: 'tag', registry: 'registry.example.com', repository: 'sea', tag } as const;
  const conditions = { after: 0, unless: [], checks: [], approvals: i === 1 ? 2 : 1 } as const;
  return { tag, name: tag, place: { kind: 'registry', reference }, ...conditions };
});

function promoted(state: RingState, tag: string, act = ANNA, of = ONE) {
  return withPromotion(state, { rings: RINGS, tag, image: of, act, has: async () => true });
}

test.each(['canary', 'other', ''])('%j is not a ring that can be opened', async (tag) => {
  await expect(promoted(NONE, tag)).rejects.toMatchObject({ code: 'usage', hint: 'rings: early, all' });
});

test('what is held is not promoted', async () => {
  for (const held of [{}, { commit: ONE.commit }, { bundle: 'etcd.v1' }])
    await expect(promoted(withHold(NONE, held, BOB), 'all')).rejects.toMatchObject({ code: 'denied' });
  expect(await promoted(withHold(NONE, { commit: TWO.commit }, BOB), 'all')).toMatchObject({ missing: 1 });
});

test('the last ring takes as many people as any ring before it, and opens all of them for one image', async () => {
  const first = await promoted(NONE, 'all');
  expect(first).toMatchObject({ missing: 1, state: { opened: [], clock: ANNA.at } });
  expect(await promoted(first.state, 'all', LATER)).toMatchObject({ missing: 1, state: { opened: [] } });
  const capital = { ...LATER, by: ' Anna' };
  expect(await promoted(first.state, 'all', capital)).toMatchObject({ missing: 1, state: { opened: [] } });
  // What was said of another ring or of another image is not said of this one.
  expect(await promoted(first.state, 'early', BOB)).toMatchObject({ missing: 1 });
  expect(await promoted(first.state, 'all', BOB, TWO)).toMatchObject({ missing: 1 });
  const { state, missing } = await promoted(first.state, 'all', { ...BOB, at: LATER.at });
  expect(missing).toBe(0);
  expect(state.opened.map(({ ring, by, early, commit }) => [ring, by, early, commit])).toEqual([
    ['early', 'anna, bob', true, ONE.commit],
    ['all', 'anna, bob', true, ONE.commit],
  ]);
  expect([state.approvals, state.clock]).toEqual([[], LATER.at]);
});

test('an approval of one person for each image and ring is kept', async () => {
  let state = NONE;
  for (const [tag, of] of [
    ['all', ONE],
    ['all', TWO],
    ['early', ONE],
    ['all', ONE],
  ] as const)
    state = (await promoted(state, tag, ANNA, of)).state;
  expect(state.approvals.map(({ ring, commit }) => `${ring} ${commit[0]}`)).toEqual([
    'all 2',
    'early 1',
    'all 1',
  ]);
});

test('a promotion that comes twice changes nothing; of another image, or of a ring that soaked, it opens', async () => {
  const { state } = await promoted((await promoted(NONE, 'all')).state, 'all', BOB);
  expect((await promoted(state, 'all')).state).toBe(state);
  expect(await promoted(state, 'all', ANNA, TWO)).toMatchObject({ missing: 1 });
  const alone = { ...state, opened: state.opened.filter(({ ring }) => ring === 'all') };
  expect(await promoted(alone, 'all')).toMatchObject({ missing: 1 });
  const soaked = { ...state, opened: state.opened.map(({ early: _, ...rest }) => rest) };
  expect(await promoted(soaked, 'all')).toMatchObject({ missing: 1 });
});
