/** One commit, several tags: a ring opens when the image has soaked in the ring before, and nothing speaks against it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { POLICY_PATH } from '../../../../pipeline/policy/read-policy.ts';
import type { StandingClaim } from '../../../../pipeline/ports.ts';
import { handleCatalog } from '../../../../pipeline/publish/delivery/catalog.ts';
import { handleMessage } from '../../../../pipeline/publish/delivery/handle-delivery.ts';
import { messageOf } from '../../../../pipeline/publish/delivery/message.ts';
import type { DeliveryPorts } from '../../../../pipeline/publish/delivery/ports.ts';
import { handlePush } from '../../../../pipeline/publish/delivery/push.ts';
import { reconcileBranch } from '../../../../pipeline/publish/delivery/reconcile.ts';
import { publishedIn } from '../../../../pipeline/publish/documents.ts';
import { changeRings, withHold, withoutHold } from '../../../../pipeline/publish/rings/acts.ts';
import { ringsListText } from '../../../../pipeline/publish/rings/look.ts';
import type { RingState } from '../../../../pipeline/publish/rings/state.ts';
import { recordRings, ringsIn } from '../../../../pipeline/publish/rings/store.ts';
import { deliveryWorld } from '../../../fakes/delivery.ts';
import { harbourRepository, type SampleRepository, sampleFiles } from '../../../fakes/sample.ts';

let sample: SampleRepository;
let ringed: string;
beforeAll(() => {
  sample = harbourRepository();
  ringed = withRings("[{tag: '{catalog}-canary'}, {tag: '{catalog}', after: 72h}]", sample.base);
});
afterAll(() => sample.remove());

const SOURCE = { repository: 'sea/catalogs', branch: 'trunk' };
const HARBOUR = 'catalogs/v4.20/harbour-operator/catalog.yaml';
const LIGHTHOUSE = 'catalogs/v4.20/lighthouse-operator/catalog.yaml';
const CANARY = 'v4.20-canary';
const ALL = 'v4.20';
const HOUR = 3_600_000;

/** A commit whose policy has rings. */
function withRings(rings: string, parent: string, ...beside: readonly string[]): string {
  const policy = sample.git('show', `${sample.base}:${POLICY_PATH}`);
  const changed = policy.replace(/( +)mirrorTo:/, (line, indent) =>
    [...[`rings: ${rings}`, ...beside].map((key) => `${indent}${key}`), line].join('\n'),
  );
  return sample.commit({ [POLICY_PATH]: changed }, { parents: [parent], branch: 'ringed' });
}

/** A commit with another text in the catalog. */
function changed(parent: string): string {
  const text = sample.git('show', `${parent}:${HARBOUR}`).replace('description: ', 'description: It also ');
  return sample.commit({ [HARBOUR]: `${text}\n` }, { parents: [parent], branch: 'changed' });
}

interface Sea {
  readonly ports: DeliveryPorts;
  readonly log: string[];
  /** Hours since the beginning, on the clock of whoever looks. */
  time: number;
  merge(commit: string): Promise<void>;
  look(own?: Partial<DeliveryPorts>): Promise<void>;
  at(tag: string): Promise<string | undefined>;
  rings(): Promise<RingState>;
}

async function sea(): Promise<Sea> {
  const queue = { send: async () => undefined };
  const world = await deliveryWorld({ directory: sample.directory, queue, reports: queue });
  const log: string[] = [];
  const of: Sea = {
    ports: {
      ...world.living('test'),
      log: (line) => log.push(line),
      now: () => new Date(Date.UTC(2026, 0, 1) + of.time * HOUR),
    },
    log,
    time: 0,
    merge: async (commit) => {
      sample.git('branch', '-f', 'trunk', commit);
      await handlePush({ v: 1, kind: 'push', ...SOURCE, commit }, of.ports);
      const ended = await handleCatalog(
        { v: 1, kind: 'catalog', ...SOURCE, commit, catalog: 'v4.20' },
        of.ports,
      );
      expect(ended).toMatchObject({ kind: 'published' });
    },
    look: async (own = {}) => {
      const { messages } = await reconcileBranch(SOURCE, of.ports);
      for (const message of messages) await handleMessage(messageOf(message).body, { ...of.ports, ...own });
    },
    at: async (tag) => {
      const reference = {
        kind: 'tag',
        registry: 'registry.example.com',
        repository: 'sea/catalog',
        tag,
      } as const;
      const digest = (await world.registry.resolve(reference))?.digest;
      const claimed = await claims(of.ports);
      return claimed.find((one) => one.digest === digest)?.commit;
    },
    rings: async () => {
      const [state] = (await ringsIn(world.records)).rings;
      if (!state) throw new Error('no rings');
      return state;
    },
  };
  return of;
}

/** What is claimed of any tag, now and before. */
async function claims({ records }: DeliveryPorts): Promise<Pick<StandingClaim, 'commit' | 'digest'>[]> {
  const found: Pick<StandingClaim, 'commit' | 'digest'>[] = [];
  for (const key of await records.list('documents/')) {
    if (!key.endsWith('/receipt.json')) continue;
    found.push(JSON.parse(new TextDecoder().decode((await records.get(key))?.bytes)));
  }
  return found;
}

function storeOf({ ports }: Sea) {
  const key = { read: async () => (await ports.records.list('rings/'))[0]?.slice('rings/'.length) ?? '' };
  return key.read().then((name) => recordRings(ports.records, 'v4.20', name));
}

test('a merge moves the first ring alone; the next opens when the image has soaked, with the same digest', async () => {
  const of = await sea();
  await of.merge(ringed);
  expect([await of.at(CANARY), await of.at(ALL)]).toEqual([ringed, undefined]);
  await of.look();
  of.time = 71.9;
  await of.look();
  expect(await of.at(ALL)).toBeUndefined();
  expect((await of.rings()).waits).toMatchObject([
    { commit: ringed, opens: '2026-01-04T00:00:00.000Z', why: ['soaks for another 6 min of 72 h'] },
  ]);
  of.time = 72;
  await of.look();
  expect([await of.at(CANARY), await of.at(ALL)]).toEqual([ringed, ringed]);
  const { events, waits, arrivals } = await of.rings();
  expect([waits, arrivals]).toEqual([[], []]);
  expect(events).toMatchObject([
    { what: 'opened', ring: 'registry.example.com/sea/catalog:v4.20', commit: ringed, by: 'portolan' },
  ]);
  // What each ring has is in the records, and nothing of it is retired.
  expect((await publishedIn(of.ports.records)).map(({ image, retired }) => [image, retired])).toEqual([
    ['registry.example.com/sea/catalog:v4.20', undefined],
    ['registry.example.com/sea/catalog:v4.20-canary', undefined],
  ]);
});

test('a newer commit soaks for itself, and the older one goes on when its own time is over', async () => {
  const of = await sea();
  await of.merge(ringed);
  await of.look();
  of.time = 48;
  const newer = changed(ringed);
  await of.merge(newer);
  await of.look();
  of.time = 72;
  await of.look();
  expect([await of.at(CANARY), await of.at(ALL)]).toEqual([newer, ringed]);
  of.time = 119;
  await of.look();
  expect(await of.at(ALL)).toBe(ringed);
  of.time = 120;
  await of.look();
  expect(await of.at(ALL)).toBe(newer);
});

test('of two images that have soaked, the newer one goes on, and the older one never comes after it', async () => {
  const of = await sea();
  await of.merge(ringed);
  await of.look();
  of.time = 5;
  const newer = changed(ringed);
  await of.merge(newer);
  await of.look();
  of.time = 100;
  await of.look();
  expect(await of.at(ALL)).toBe(newer);
  of.time = 200;
  await of.look();
  expect(await of.at(ALL)).toBe(newer);
});

test('what is held goes no further until it is released; a commit that is not held overtakes it', async () => {
  const of = await sea();
  await of.merge(ringed);
  await of.look();
  const store = await storeOf(of);
  const act = { at: '2026-01-01T01:00:00.000Z', by: 'anna', why: 'crashes on arm64' };
  await changeRings(store, (state) => withHold(state, {}, act));
  of.time = 80;
  await of.look();
  expect(await of.at(ALL)).toBeUndefined();
  expect((await of.rings()).waits[0]?.why).toEqual(['held by anna since 2026-01-01: crashes on arm64']);
  await changeRings(store, (state) => withHold(state, { commit: ringed }, act));
  await changeRings(store, (state) => withoutHold(state, {}, { ...act, why: 'fixed' }));
  const newer = changed(ringed);
  await of.merge(newer);
  await of.look();
  of.time = 152;
  await of.look();
  expect(await of.at(ALL)).toBe(newer);
  expect((await of.rings()).events.map(({ what, by }) => `${what} by ${by}`)).toEqual([
    'held by anna',
    'held by anna',
    'released by anna',
    'opened by portolan',
  ]);
});

test('a hold for a bundle holds every image that has it, and none without it', async () => {
  const of = await sea();
  const addition = sample.commit(
    { [HARBOUR]: sample.git('show', `${sample.addition}:${HARBOUR}`) },
    { parents: [ringed], branch: 'with' },
  );
  const without = sample.commit(
    { [HARBOUR]: sample.git('show', `${ringed}:${HARBOUR}`) },
    { parents: [addition], branch: 'without' },
  );
  await of.merge(addition);
  await of.look();
  const bundle = 'harbour-operator.v1.3.0';
  const act = { at: '2026-01-01T01:00:00.000Z', by: 'anna', why: 'loses data' };
  await changeRings(await storeOf(of), (state) => withHold(state, { bundle }, act));
  of.time = 80;
  await of.look();
  expect(await of.at(ALL)).toBeUndefined();
  expect((await of.rings()).waits[0]?.why[0]).toContain('held for harbour-operator.v1.3.0 by anna');
  await of.merge(without);
  await of.look();
  of.time = 152;
  await of.look();
  expect(await of.at(ALL)).toBe(without);
});

test('an image has what its own commit says, also where the layout has changed since', async () => {
  const laidOut = (at: string, ...roots: readonly string[]): Record<string, string> => ({
    [POLICY_PATH]: `${sample.git('show', `${at}:${POLICY_PATH}`)}\nlayout: {catalog: [${roots.map((root) => `'${root}/{catalog}/{package}/**'`).join(', ')}]}\n`,
  });
  const lighthouse = LIGHTHOUSE.replace('catalogs', 'extra');
  const withBundle = sample.git('show', `${sample.addition}:${HARBOUR}`);
  const bundle = 'harbour-operator.v1.3.0';
  // Where only some of the old files are found, and where none is.
  for (const others of [{ [lighthouse]: sampleFiles()[LIGHTHOUSE] ?? '' }, {}]) {
    const of = await sea();
    const addition = sample.commit(
      { ...laidOut(ringed, 'catalogs', 'extra'), ...others, [HARBOUR]: withBundle },
      { parents: [ringed], branch: 'with' },
    );
    await of.merge(addition);
    await of.look();
    const act = { at: '2026-01-01T01:00:00.000Z', by: 'anna', why: 'loses data' };
    await changeRings(await storeOf(of), (state) => withHold(state, { bundle }, act));
    of.time = 40;
    const moved = sample.commit(
      {
        ...laidOut(ringed, 'moved', 'extra'),
        [HARBOUR]: null,
        [HARBOUR.replace('catalogs', 'moved')]: `${withBundle}\n`,
      },
      { parents: [addition], branch: 'moved' },
    );
    await of.merge(moved);
    await of.look();
    of.time = 80;
    await of.look();
    expect(await of.at(ALL)).toBeUndefined();
    const whys = (await of.rings()).waits.map(({ commit, why }) => [commit, why.at(-1)?.slice(0, 20)]);
    expect(whys).toEqual([
      [moved, 'held for harbour-ope'],
      [addition, 'held for harbour-ope'],
    ]);
  }
});

test('a promotion that comes again opens no ring for an image that nobody promoted', async () => {
  for (const approvals of [1, 2]) {
    const of = await sea();
    const first = withRings(
      `[{tag: '{catalog}-canary'}, {tag: '{catalog}', after: 72h, approvals: ${approvals}}]`,
      sample.base,
    );
    await of.merge(first);
    const promotion = (by: string, asked?: string) => {
      const about = { catalog: 'v4.20', act: 'promote', tag: ALL, by, why: 'CVE-2027-1' } as const;
      const work = {
        v: 1,
        kind: 'ring',
        ...SOURCE,
        ...about,
        ...(asked === undefined ? {} : { asked }),
      } as const;
      return handleMessage(messageOf(work).body, of.ports);
    };
    await promotion('anna', '2026-01-01T00:00:00.000Z');
    const second = changed(first);
    await of.merge(second);
    await promotion('anna', '2026-01-01T00:00:00.000Z');
    expect(await of.at(ALL)).toBe(approvals === 1 ? first : undefined);
    if (approvals === 2) {
      // What bob says is of the newer image, of which anna has said nothing.
      await promotion('bob', '2026-01-01T00:00:00.000Z');
      expect(await of.at(ALL)).toBeUndefined();
    }
    // What was put aside and comes back later is of another day.
    await expect(promotion('carol', '2025-12-31T22:00:00.000Z')).rejects.toThrow('names no commit');
    await promotion('anna', '2026-01-01T02:00:00.000Z');
    expect(await of.at(ALL)).toBe(second);
    await promotion('anna', '2026-01-01T02:00:00.000Z');
    expect(await of.at(ALL)).toBe(second);
  }
});

test('a check that the ring waits for: only success opens it, and what cannot be read does not', async () => {
  const of = await sea();
  const commit = withRings(
    "[{tag: '{catalog}-canary'}, {tag: '{catalog}', after: 0h, checks: [smoke]}]",
    sample.base,
  );
  await of.merge(commit);
  const whys: unknown[] = [];
  for (const state of [undefined, 'pending', 'failure'] as const) {
    await of.look({ checkOf: async () => state });
    whys.push((await of.rings()).waits[0]?.why[0]);
  }
  await of.look();
  whys.push((await of.rings()).waits[0]?.why[0]);
  expect(whys).toEqual([
    'the check smoke was not found',
    'the check smoke has not ended',
    'the check smoke has failed',
    'the check smoke cannot be read here',
  ]);
  expect(await of.at(ALL)).toBeUndefined();
  const asked: unknown[] = [];
  await of.look({
    checkOf: async (of, name) => {
      asked.push([of.repository, of.commit, name]);
      return 'success';
    },
  });
  expect(asked).toEqual([['sea/catalogs', commit, 'smoke']]);
  expect(await of.at(ALL)).toBe(commit);
});

test('a step that strands installed versions does not open the ring; without the condition it does', async () => {
  for (const [unless, opens] of [
    ['', false],
    [', unless: [hold]', true],
  ] as const) {
    const of = await sea();
    const before = sample.commit(
      { [LIGHTHOUSE]: sampleFiles()[LIGHTHOUSE] ?? '' },
      { parents: [sample.base], branch: 'lit' },
    );
    const first = withRings(`[{tag: '{catalog}-canary'}, {tag: '{catalog}', after: 1h${unless}}]`, before);
    await of.merge(first);
    await of.look();
    of.time = 1;
    await of.look();
    const text = sample.git('show', `${sample.stranding}:${LIGHTHOUSE}`);
    const stranding = sample.commit({ [LIGHTHOUSE]: `${text}\n` }, { parents: [first], branch: 'dark' });
    await of.merge(stranding);
    expect(await of.at(CANARY)).toBe(stranding);
    await of.look();
    of.time = 3;
    await of.look();
    expect(await of.at(ALL)).toBe(opens ? stranding : first);
    if (!opens) expect((await of.rings()).waits[0]?.why[0]).toBe('strands lighthouse-operator 2.0.0');
  }
});

test('a clock that runs backwards opens nothing, and stamps nothing with an earlier time', async () => {
  const of = await sea();
  await of.merge(ringed);
  of.time = 100;
  await of.look();
  of.time = 20;
  await of.look();
  expect((await of.rings()).waits[0]?.why).toEqual([
    'its time stamp is 80 h in the future: a clock is wrong',
  ]);
  const newer = changed(ringed);
  await of.merge(newer);
  await of.look();
  expect((await of.rings()).arrivals.map(({ at }) => at)).toEqual([
    '2026-01-05T04:00:00.000Z',
    '2026-01-05T04:00:00.000Z',
  ]);
  of.time = 171;
  await of.look();
  expect(await of.at(ALL)).toBeUndefined();
  of.time = 172;
  await of.look();
  expect(await of.at(ALL)).toBe(newer);
});

test('over a record that cannot be read no ring opens, and nothing is written; a machine whose clock is not set opens none', async () => {
  const of = await sea();
  await of.merge(ringed);
  await of.look();
  of.time = 80;
  const [key = ''] = await of.ports.records.list('rings/');
  const whole = new TextDecoder().decode((await of.ports.records.get(key))?.bytes);
  await of.ports.records.put(key, new TextEncoder().encode(whole.replace('"holds":[]', '"holds":[null]')));
  const spoiled = await of.ports.records.get(key);
  await expect(of.look()).rejects.toThrow(
    `cannot read the rings in ${key}: holds[0]: found null, expected an object`,
  );
  expect(await of.at(ALL)).toBeUndefined();
  expect(await of.ports.records.get(key)).toEqual(spoiled);
  await of.ports.records.put(key, new TextEncoder().encode(whole));
  await expect(of.look({ now: () => new Date(0) })).rejects.toThrow('the clock of this machine is wrong');
  expect(await of.at(ALL)).toBeUndefined();
  await of.look();
  expect(await of.at(ALL)).toBe(ringed);
});

/** The same commit, made in 2001: its immutable tag is sorted before all others. */
function dated2001(commit: string): string {
  const text = sample.git('cat-file', 'commit', commit).replace(/^(committer .*>) \d+/m, '$1 1000000000');
  return sample.feed(`${text}\n`, 'hash-object', '-t', 'commit', '-w', '--stdin');
}

test('keep deletes no image that a ring shows or waits for, however old its commit says it is; what is behind goes', async () => {
  const of = await sea();
  const rings = "[{tag: '{catalog}-canary'}, {tag: '{catalog}', after: 72h}]";
  const first = withRings(rings, sample.base, 'keep: 2');
  const second = dated2001(changed(first));
  const third = changed(second);
  const fourth = changed(third);
  const commits = [first, second, third, fourth, changed(fourth)];
  const stay = async (): Promise<number[]> => {
    const place = { kind: 'digest', registry: 'registry.example.com', repository: 'sea/catalog' } as const;
    const known = await claims(of.ports);
    const digests = commits.map((commit) => known.find((one) => one.commit === commit)?.digest);
    const found = await Promise.all(
      digests.map((digest) => digest !== undefined && of.ports.registry.resolve({ ...place, digest })),
    );
    return found.flatMap((one, i) => (one ? [i] : []));
  };
  const mergeAt = async (time: number, commit = ''): Promise<void> => {
    of.time = time;
    await of.merge(commit);
    await of.look();
  };
  await mergeAt(0, commits[0]);
  of.time = 72;
  await of.look();
  // From here on the last ring has the first, and the second seems to be older than that.
  for (const i of [1, 2, 3]) await mergeAt(70 + i * 10, commits[i]);
  expect(await stay()).toEqual([0, 1, 2, 3]);
  const opened: (string | undefined)[] = [];
  for (const time of [152, 162]) {
    of.time = time;
    await of.look();
    opened.push(await of.at(ALL));
  }
  expect(opened).toEqual(commits.slice(1, 3));
  await of.merge(commits[4] ?? '');
  // The last ring has the third; the first two are behind it.
  expect(await stay()).toEqual([2, 3, 4]);
});

test('a ring that is taken out of the policy is announced as retired, once', async () => {
  const of = await sea();
  await of.merge(ringed);
  await of.look();
  of.time = 72;
  await of.look();
  const fewer = withRings("[{tag: '{catalog}-early'}, {tag: '{catalog}', after: 72h}]", ringed);
  const sent: string[] = [];
  const reports = { send: async ({ body }: { readonly body: string }) => void sent.push(body) };
  sample.git('branch', '-f', 'trunk', fewer);
  await of.look({ reports });
  const told = sent.map((body) => JSON.parse(body)).filter(({ what }) => what === 'retirement');
  expect(told).toMatchObject([{ image: 'registry.example.com/sea/catalog:v4.20-canary', retired: 'keep' }]);
  const records = await publishedIn(of.ports.records);
  expect(records.map(({ image, retired }) => [image, retired])).toEqual([
    ['registry.example.com/sea/catalog:v4.20', undefined],
    ['registry.example.com/sea/catalog:v4.20-canary', 'keep'],
    ['registry.example.com/sea/catalog:v4.20-early', undefined],
  ]);
  sent.length = 0;
  await of.look({ reports });
  expect(sent.filter((body) => JSON.parse(body).what === 'retirement')).toEqual([]);
});

test('the rings and the tags agree: after a merge, after a ring is taken out, and when it comes back', async () => {
  const of = await sea();
  const digestOf = async (tag: string): Promise<string | undefined> => {
    const place = { registry: 'registry.example.com', repository: 'sea/catalog' } as const;
    return (await of.ports.registry.resolve({ kind: 'tag', ...place, tag }))?.digest;
  };
  /** Each ring that is shown has what its tag names. */
  const expectAgreement = async (...tags: readonly string[]): Promise<void> => {
    const { rings } = await of.rings();
    expect(rings.map(({ tag }) => tag)).toEqual(tags);
    for (const { tag, image } of rings) expect(image?.digest, tag).toBe(await digestOf(tag));
  };
  await of.merge(ringed);
  await of.look();
  await expectAgreement(CANARY, ALL);
  // Nobody has looked at the rings since.
  const newer = changed(ringed);
  await of.merge(newer);
  expect(await of.at(CANARY)).toBe(newer);
  await expectAgreement(CANARY, ALL);
  of.time = 100;
  await of.look();
  of.time = 200;
  await of.look();
  expect(await of.at(ALL)).toBe(newer);
  await changeRings(await storeOf(of), (state) =>
    withHold(state, {}, { at: '2026-01-09T00:00:00.000Z', by: 'anna', why: 'x' }),
  );

  // Without rings: one tag, nothing waits, and the hold is still there.
  const policy = sample.git('show', `${sample.base}:${POLICY_PATH}`);
  const none = sample.commit({ [POLICY_PATH]: policy }, { parents: [newer], branch: 'none' });
  sample.git('branch', '-f', 'trunk', none);
  await of.look();
  const ended = await of.rings();
  expect(ended).toMatchObject({ rings: [], arrivals: [], opened: [], approvals: [], waits: [] });
  expect(ended.holds).toHaveLength(1);
  expect(ringsListText([ended])).toBe('v4.20\n  held  the whole catalog by anna since 2026-01-09: x\n');
  expect(ringsListText([{ ...ended, holds: [] }])).toBe('no rings have been looked at yet\n');
  // Retired images are kept: the tag of the ring that is gone stays at what it had.
  expect(await digestOf(CANARY)).toBe(await digestOf(ALL));

  // It comes back: what was opened before says nothing of it.
  const again = withRings("[{tag: '{catalog}-canary'}, {tag: '{catalog}', after: 72h}]", changed(none));
  await of.merge(again);
  await of.look();
  await expectAgreement(CANARY, ALL);
  expect(await digestOf(CANARY)).not.toBe(await digestOf(ALL));
  expect((await of.rings()).opened).toEqual([]);
});
