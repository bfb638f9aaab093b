/**
 * Rings as an explicit-state search sees them: merges, lookers whose clocks differ, people who hold, and time, in any
 * order. The code under test is the real one: each looker runs `moveRings`, and every call of its store and its fence is
 * one atomic step; a looker may die before each, and its call may have been done. What a looker does next is found by running it again
 * on the answers that it got. Tags follow claims, which `publishers.ts` searches; here they do so at once.
 */
import type { Fence, Registry, StandingClaim } from '../../pipeline/ports.ts';
import { fenceName } from '../../pipeline/publish/fence.ts';
import { withHold } from '../../pipeline/publish/rings/acts.ts';
import { moveRings } from '../../pipeline/publish/rings/move.ts';
import { noRings, type RingState } from '../../pipeline/publish/rings/state.ts';
import type { RingPlace } from '../../pipeline/publish/target.ts';

export interface RingExploration {
  /** Rings, the first one included. */
  readonly rings: number;
  /** Commits that are merged, one after the other. */
  readonly commits: number;
  /** How far the clock of each looker is ahead of the time, in hours. */
  readonly clocks: readonly number[];
  /** Hours between two rings. */
  readonly after: number;
  /** Hours that pass. */
  readonly hours: number;
  /** Looks that each looker begins. */
  readonly looks: number;
  readonly deaths: number;
  /** The commit that somebody may hold at any time; none when left out. */
  readonly held?: number;
  /** Breaks the code: writes whatever stands there. */
  readonly broken?: 'claims' | 'record';
}

export interface RingsExplored {
  readonly states: number;
  readonly transitions: number;
  /** What must not be, each written once. */
  readonly wrong: ReadonlySet<string>;
  /** Commits of the last ring in the states where nothing more happens. */
  readonly ends: ReadonlySet<number>;
}

const HOUR = 3_600_000;
const START = Date.UTC(2027, 0);

interface World {
  readonly time: number;
  /** By ring: the commit that is claimed, 0 for none. */
  readonly claims: readonly number[];
  /** By ring: when each commit was claimed there first, by the true time. */
  readonly since: readonly (readonly (number | undefined)[])[];
  readonly record: RingState;
  readonly version: number;
  readonly merged: number;
}

interface Looker {
  /** What its calls were answered, as JSON. */
  readonly answers: readonly string[];
  readonly left: number;
  readonly isAtRest: boolean;
}

interface State {
  readonly world: World;
  readonly lookers: readonly Looker[];
  readonly deaths: number;
}

type Call =
  | { readonly kind: 'now' }
  | { readonly kind: 'record' }
  | { readonly kind: 'write'; readonly state: RingState; readonly version: string | undefined }
  | { readonly kind: 'claim'; readonly ring: number }
  | { readonly kind: 'replace'; readonly ring: number; readonly commit: number; readonly standing: number };

const COMMIT = (n: number): string => String(n).padStart(40, '0');
const DIGEST = (n: number): string => `sha256:${String(n).padStart(64, '0')}`;

function ringsOf(count: number, after: number): RingPlace[] {
  return Array.from({ length: count }, (_, i) => {
    const reference = {
      kind: 'tag',
      registry: 'registry.example.com',
      repository: 'sea',
      tag: `ring-${i}`,
    } as const;
    return {
      tag: `ring-${i}`,
      name: `registry.example.com/sea:ring-${i}`,
      place: { kind: 'registry', reference },
      after: i === 0 ? 0 : after * HOUR,
      unless: ['hold'],
      checks: [],
      approvals: 1,
    };
  });
}

/** Searches every order. */
export async function exploreRings(how: RingExploration): Promise<RingsExplored> {
  const rings = ringsOf(how.rings, how.after);
  const none = rings.map(() => 0);
  const world: World = {
    time: 0,
    claims: none,
    since: rings.map(() => []),
    record: noRings('sea'),
    version: 0,
    merged: 0,
  };
  const lookers = how.clocks.map((): Looker => ({ answers: [], left: how.looks, isAtRest: true }));
  const start: State = { world, lookers, deaths: how.deaths };
  const calls = new Map<string, Call | undefined>();
  const known = new Map<string, number>();
  const idOf = (value: unknown): number => {
    const text = JSON.stringify(value);
    const id = known.get(text) ?? known.size;
    known.set(text, id);
    return id;
  };
  const nameOf = ({ world: { record, ...rest }, lookers: all, deaths }: State): string =>
    `${idOf(record)} ${idOf(rest)} ${deaths} ${all.map((one) => idOf(one)).join(' ')}`;
  const seen = new Set([nameOf(start)]);
  const open = [start];
  const wrong = new Set<string>();
  const ends = new Set<number>();
  let transitions = 0;
  // What is broken is found once.
  for (let state = open.pop(); state && !(how.broken && wrong.size > 0); state = open.pop()) {
    const following = await nexts(state, how, { rings, calls, wrong });
    if (following.length === 0) ends.add(state.world.claims.at(-1) ?? 0);
    for (const next of following) {
      transitions++;
      for (const text of faultsOf(state.world, next.world, how)) wrong.add(text);
      const key = nameOf(next);
      if (seen.has(key)) continue;
      seen.add(key);
      open.push(next);
    }
  }
  return { states: seen.size, transitions, wrong, ends };
}

/** What must not come of a step. */
function faultsOf(before: World, after: World, how: RingExploration): string[] {
  const found: string[] = [];
  const skew = Math.max(...how.clocks, 0) - Math.min(...how.clocks, 0);
  for (const [ring, commit] of after.claims.entries()) {
    const was = before.claims[ring] ?? 0;
    if (commit < was) found.push(`ring ${ring} went back`);
    if (ring > 0 && commit > (after.claims[ring - 1] ?? 0))
      found.push(`ring ${ring} is ahead of its predecessor`);
    if (ring === 0 || commit === was) continue;
    const since = after.since[ring - 1]?.[commit];
    if (since === undefined || after.time - since < how.after - skew)
      found.push(`ring ${ring} opened too early`);
  }
  const opened = after.record.opened.filter((one) => !before.record.opened.some((old) => same(old, one)));
  for (const { commit } of opened) {
    // Over the record that was there when it was written.
    if (before.record.holds.some((hold) => hold.commit === commit)) found.push('a held commit was opened');
  }
  if (before.record.holds.length > after.record.holds.length) found.push('a hold was lost');
  return found;
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

interface Search {
  readonly rings: readonly RingPlace[];
  readonly calls: Map<string, Call | undefined>;
  readonly wrong: Set<string>;
}

async function nexts(state: State, how: RingExploration, search: Search): Promise<State[]> {
  const { world, lookers, deaths } = state;
  const found: State[] = [];
  if (world.merged < how.commits) {
    const merged = world.merged + 1;
    found.push({ ...state, world: claimed({ ...world, merged }, 0, merged) });
  }
  if (world.time < how.hours) found.push({ ...state, world: { ...world, time: world.time + 1 } });
  const { held } = how;
  if (held !== undefined && world.record.holds.length === 0) {
    const record = withHold(world.record, { commit: COMMIT(held) }, { at: '', by: 'anna', why: 'bad' });
    found.push({ ...state, world: { ...world, record, version: world.version + 1 } });
  }
  for (const [i, looker] of lookers.entries()) {
    const set = (next: Partial<Looker>, after: World = world, left = deaths): void => {
      found.push({ world: after, lookers: lookers.with(i, { ...looker, ...next }), deaths: left });
    };
    if (looker.isAtRest) {
      if (looker.left > 0) set({ isAtRest: false, left: looker.left - 1 });
      continue;
    }
    const call = await callOf(looker, search);
    if (!call) {
      set({ answers: [], isAtRest: true });
      continue;
    }
    const [after, answer] = done(world, call, { ...how, clock: how.clocks[i] ?? 0 });
    set({ answers: [...looker.answers, answer] }, after);
    if (deaths === 0) continue;
    const isWrite = call.kind === 'write' || call.kind === 'replace';
    set({ answers: [], isAtRest: true }, world, deaths - 1);
    if (isWrite) set({ answers: [], isAtRest: true }, after, deaths - 1);
  }
  return found;
}

function claimed(world: World, ring: number, commit: number): World {
  const claims = world.claims.with(ring, commit);
  const since = world.since.map((times, i) => {
    if (i !== ring || times[commit] !== undefined) return times;
    const copy = [...times];
    while (copy.length <= commit) copy.push(undefined);
    return copy.with(commit, world.time);
  });
  return { ...world, claims, since };
}

/** What a call does, and what it is answered, as JSON. */
function done(
  world: World,
  call: Call,
  { broken, clock }: Pick<RingExploration, 'broken'> & { readonly clock: number },
): [World, string] {
  switch (call.kind) {
    case 'now':
      return [world, JSON.stringify(world.time + clock)];
    case 'record':
      return [world, JSON.stringify({ state: world.record, version: String(world.version) })];
    case 'claim':
      return [world, JSON.stringify(world.claims[call.ring] ?? 0)];
    case 'write': {
      if (broken !== 'record' && call.version !== String(world.version)) return [world, 'false'];
      return [{ ...world, record: call.state, version: world.version + 1 }, 'true'];
    }
    case 'replace':
      if (broken !== 'claims' && world.claims[call.ring] !== call.standing) return [world, '0'];
      return [claimed(world, call.ring, call.commit), JSON.stringify(call.commit)];
  }
}

/** The next call of a look that got some answers; undefined when it has ended. */
async function callOf({ answers }: Looker, { rings, calls, wrong }: Search): Promise<Call | undefined> {
  const key = answers.join('\n');
  if (calls.has(key)) return calls.get(key);
  const call = await new Promise<Call | undefined>((resolve) => {
    let at = 0;
    const ask = <T>(next: Call): Promise<T> => {
      const answer = answers[at++];
      if (answer !== undefined) return Promise.resolve(JSON.parse(answer) as T);
      resolve(next);
      return new Promise(() => undefined);
    };
    const now = (): Date => {
      const answer = answers[at++];
      if (answer !== undefined) return new Date(START + Number(answer) * HOUR);
      resolve({ kind: 'now' });
      throw new Unanswered();
    };
    look(rings, { ask, now }).then(
      () => resolve(undefined),
      (error: unknown) => {
        if (!(error instanceof Unanswered)) wrong.add(String(error));
        resolve(undefined);
      },
    );
  });
  calls.set(key, call);
  return call;
}

/** Ends a run whose next call is known. */
class Unanswered extends Error {}

interface Asking {
  readonly ask: <T>(call: Call) => Promise<T>;
  readonly now: () => Date;
}

function look(rings: readonly RingPlace[], { ask, now }: Asking): Promise<unknown> {
  const names = rings.map(({ name }) => fenceName('sea', name));
  const claimOf = (commit: number): StandingClaim | undefined =>
    commit === 0
      ? undefined
      : {
          epoch: 0,
          sequence: commit,
          version: String(commit),
          commit: COMMIT(commit),
          digest: DIGEST(commit),
        };
  const fence: Fence = {
    read: async (name) => claimOf(await ask<number>({ kind: 'claim', ring: names.indexOf(name) })),
    replace: async (name, claim, standing) => {
      const commit = Number(claim.commit);
      const ring = names.indexOf(name);
      return claimOf(
        await ask<number>({ kind: 'replace', ring, commit, standing: Number(standing?.version ?? 0) }),
      );
    },
    readLease: async () => undefined,
    replaceLease: async () => undefined,
  };
  // Every tag is as it is claimed, and every image is there.
  let named = '';
  const registry = {
    resolve: async (reference: { digest?: string }) => ({ digest: reference.digest ?? named }),
  } as unknown as Registry;
  const followed: Fence = {
    ...fence,
    read: async (name) => {
      const claim = await fence.read(name);
      named = claim?.digest ?? '';
      return claim;
    },
    replace: async (name, claim, standing) => {
      const made = await fence.replace(name, claim, standing);
      named = made?.digest ?? named;
      return made;
    },
  };
  return moveRings(
    { catalog: 'sea', rings },
    {
      check: async () => undefined,
      strands: async () => undefined,
      has: async () => false,
      changes: async () => [],
    },
    {
      store: {
        read: () => ask({ kind: 'record' }),
        replace: (state, version) => ask({ kind: 'write', state: forgetful(state), version }),
      },
      fence: followed,
      registry,
      isAncestor: async (older, newer) => Number(older) <= Number(newer),
      now,
      log: () => undefined,
    },
  );
}

/** Without what nothing depends on, so that fewer states differ. */
function forgetful(state: RingState): RingState {
  return { ...state, rings: [], waits: [], events: [] };
}
