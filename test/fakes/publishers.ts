/**
 * Publishers of one tag, and the reconciler, as an explicit-state search sees them. The code under test is the real
 * one: each publisher runs `claimTag` and `moveFollowers`, the reconciler reads the claim and runs `moveFollowers`, and every call
 * of a port is one atomic step. A process's state is what its calls were answered, so its next call is found by
 * running it again on those answers.
 *
 * Things that go wrong, together as many as an exploration allows: a process dies before or after a call, or while
 * the tag's new value is on its way to the registry, which may take it much later; the registry's answer to that is
 * lost, and the process lives; a process stops for so long that its lease ends. What came of a process that died or
 * failed is run again from its beginning.
 *
 * A search may be reduced: states that go on alike are one.
 * - A read that only a conditional write asks for is one step with it. If something came between them, the write would
 *   be refused and the read done again. So a process that waits for the lease is at one place, until it takes it.
 * - Who has claimed, or finds a newer claim when it begins, does what every other one does then, the reconciler as
 *   well: it reads the claim and moves the tag. Which of them is where makes no difference. It holds while claims only
 *   grow and everybody converges.
 * - Of the claim that a process saw last only that counts which its next calls compare: nothing before it reads the
 *   claim under the lease, and whether it is still the newest after it moved the tag.
 */
import { PipelineError } from '../../pipeline/error.ts';
import type { Claim, Clock, Fence, StandingClaim, StandingLease } from '../../pipeline/ports.ts';
import { claimTag, type Fencing, type Follower, moveFollowers } from '../../pipeline/publish/fence.ts';
import { compactSet } from './compact-set.ts';

export interface Exploration {
  readonly publishers: number;
  /** Whether the reconciler runs beside them. */
  readonly reconciles?: boolean;
  /** How many things may go wrong. */
  readonly faults: number;
  /** Whether states that go on alike are one. */
  readonly reduced?: boolean;
  /** Replaces the conditional write by a look and a write. */
  readonly checkThenPut?: boolean;
  /** Ends after the first move of the tag. */
  readonly lookOnce?: boolean;
  /** Moves the tag to the claim that was read before the lease was taken. */
  readonly readOnce?: boolean;
  /** Gives the lease to everybody. */
  readonly leaseless?: boolean;
}

export interface Explored {
  readonly states: number;
  readonly transitions: number;
  /** What the tag names in the states where everybody is done. */
  readonly ends: ReadonlySet<string>;
  /** Moves of the tag to an older commit's image, each written once. */
  readonly backwards: ReadonlySet<string>;
}

/** What the processes share. */
interface World {
  readonly claim: StandingClaim | undefined;
  readonly tag: string;
  readonly lease: StandingLease | undefined;
  /** Who uses the lease; undefined when nobody does, and it only has to end. */
  readonly holder: number | undefined;
  /** What is on its way to the registry, and nobody waits for. */
  readonly under: string | undefined;
}

type Call =
  | { readonly kind: 'read' }
  | { readonly kind: 'replace'; readonly claim: Claim; readonly version: string | undefined }
  | { readonly kind: 'overwrite'; readonly claim: Claim }
  | { readonly kind: 'readLease' }
  | { readonly kind: 'replaceLease'; readonly isTaken: boolean; readonly version: string | undefined }
  | { readonly kind: 'sleep' }
  | { readonly kind: 'tag' }
  | { readonly kind: 'move'; readonly digest: string };

/** Where a process stands: what its calls were answered, and the call that comes next. */
interface Local {
  readonly answers: readonly Answer[];
  /** Undefined when it is done. */
  readonly call: Call | undefined;
  /** Whether it ends with an error, and is run again. */
  readonly fails: boolean;
  /** Equal for those that go on alike, but for the lease that they have seen. */
  readonly key: string;
  /** The version of a lease, where it still matters. */
  readonly lease: string | undefined;
  /** The key without the claim that was seen last, and which claim that is. */
  readonly bare: string;
  readonly seen: string | undefined;
  /** What of that claim counts: nothing, whether it still stands, all. */
  readonly counts: 'nothing' | 'standing' | 'all';
}

interface Answer {
  readonly kind: Call['kind'];
  /** As JSON; undefined when the call failed. */
  readonly value: string | undefined;
  /** Whether it came so late that the lease is over. */
  readonly isLate: boolean;
}

interface State {
  readonly world: World;
  readonly locals: readonly Local[];
  readonly faults: number;
}

/** The digest of commit `n`'s image. */
export function digestOf(n: number): string {
  return `digest-${n}`;
}

/** Time stands still in the search: a lease ends where the search says so. */
const NOW = 1_000_000;
const LATE = 2 * NOW;

export async function explore(how: Exploration): Promise<Explored> {
  const stepOf = localSteps(how);
  const births: Local[] = [];
  for (let n = 1; n <= how.publishers; n++) births.push(await stepOf(n, undefined, undefined));
  if (how.reconciles) births.push(await stepOf(0, undefined, undefined));
  const world: World = { claim: undefined, tag: '', lease: undefined, holder: undefined, under: undefined };
  const start: State = { world, locals: births, faults: how.faults };
  const seen = compactSet();
  const nameOf = how.reduced ? (state: State): string => sharedKeyOf(state, how) : keyOf;
  seen.add(nameOf(start));
  const ends = new Set<string>();
  const backwards = new Set<string>();
  const open: State[] = [start];
  let transitions = 0;
  for (let state = open.pop(); state; state = open.pop()) {
    if (state.world.under === undefined && state.locals.every(({ call }) => call === undefined))
      ends.add(state.world.tag);
    for (const following of await nexts(state, how, { births, stepOf })) {
      transitions++;
      const [from, to] = [state.world.tag, following.world.tag];
      if (from !== to && numberOf(to) < numberOf(from)) backwards.add(`${from} to ${to}`);
      if (seen.add(nameOf(following))) open.push(following);
    }
  }
  return { states: seen.size(), transitions, ends, backwards };
}

function numberOf(digest: string): number {
  return Number(digest.split('-')[1] ?? 0);
}

function keyOf({ world, locals, faults }: State): string {
  const { claim: { version } = {}, tag, lease, holder, under } = world;
  // A version of a lease is only compared with the one that stands.
  const all = locals.map((local) => `${local.key}${local.lease && local.lease === lease?.version}`).join(' ');
  return `${version} ${tag} ${lease && lease.until === 0} ${holder} ${under} ${faults} ${all}`;
}

/** Equal for states that go on alike, whoever is where. */
function sharedKeyOf({ world, locals, faults }: State, how: Exploration): string {
  const { claim: { version, commit = '0' } = {}, tag, lease, holder, under } = world;
  const all = locals.map((local, i) => {
    if (!local.call) return 'done';
    if (local.answers.length === 0) {
      const n = i < how.publishers ? i + 1 : 0;
      return `begins ${n > Number(commit) || !sharesNames(how) ? n : ''}`;
    }
    const counts = sharesNames(how) && !how.readOnce && !how.leaseless ? local.counts : 'all';
    const claim = { nothing: '', standing: local.seen === version, all: local.seen }[counts];
    const name = sharesNames(how) ? '' : i;
    return `${name} ${holder === i} ${local.lease && local.lease === lease?.version} ${claim} ${local.bare}`;
  });
  const isLeft = lease && lease.until !== 0 && holder === undefined;
  return `${version} ${tag} ${lease && lease.until === 0} ${isLeft} ${under} ${faults} ${all.sort().join('\n')}`;
}

/** Whether it makes no difference who of those that have claimed is where. */
function sharesNames({ checkThenPut, lookOnce }: Exploration): boolean {
  return !checkThenPut && !lookOnce;
}

interface Running {
  readonly births: readonly Local[];
  readonly stepOf: Step;
}

/** All that may come next. */
async function nexts(state: State, how: Exploration, running: Running): Promise<State[]> {
  const { world, locals, faults } = state;
  const found: State[] = [];
  // What is on its way comes to its end before the lease does: that is what the lease's time is for.
  if (world.under !== undefined)
    found.push({ ...state, world: { ...world, tag: world.under, under: undefined } });
  const isHeld = world.lease !== undefined && world.lease.until !== 0;
  if (isHeld && world.holder === undefined)
    found.push({ ...state, world: { ...world, lease: ended(world.lease), under: undefined } });
  for (const [i, start] of locals.entries()) {
    if (!start.call || (start.call.kind === 'sleep' && isHeld)) continue;
    const n = i < how.publishers ? i + 1 : 0;
    if (how.reduced && start.call.kind === 'readLease' && isHeld) {
      // It waits, and may die meanwhile.
      const born = locals.with(i, running.births[i] ?? start);
      if (faults > 0) found.push({ world, locals: born, faults: faults - 1 });
      continue;
    }
    const local = how.reduced ? await atWrite(state, { i, n, local: start, how }, running) : start;
    const { call } = local;
    if (!call) continue;
    const take = async (after: World, answer: Omit<Answer, 'kind'>, left: number): Promise<void> => {
      const stepped = running.stepOf(n, local, { kind: call.kind, ...answer });
      // Waiting only where it must: most steps were taken before.
      const awake = stepped instanceof Promise ? await stepped : stepped;
      const next =
        how.reduced && awake.call?.kind === 'sleep'
          ? await running.stepOf(n, awake, { kind: 'sleep', value: 'null', isLate: false })
          : awake;
      const isOver = next.fails || next.call === undefined;
      const left_ = isOver && after.holder === i ? { ...after, holder: undefined } : after;
      const stands = next.fails ? (running.births[i] ?? next) : next;
      found.push({ world: left_, locals: locals.with(i, stands), faults: left });
    };
    const [after, value] = done(state, call, i, how);
    const answer = { value: JSON.stringify(value ?? null), isLate: false };
    await take(after, answer, faults);
    if (faults === 0) continue;
    const dead = (left: World): State => ({
      world: left.holder === i ? { ...left, holder: undefined } : left,
      locals: locals.with(i, running.births[i] ?? local),
      faults: faults - 1,
    });
    found.push(dead(world), dead(after));
    if (call.kind === 'move' && world.under === undefined) {
      const under = { ...world, under: call.digest };
      found.push(dead(under));
      await take(under, { value: undefined, isLate: false }, faults - 1);
    }
    if (after.holder === i)
      await take(
        { ...after, lease: ended(after.lease), holder: undefined },
        { ...answer, isLate: true },
        faults - 1,
      );
  }
  return found;
}

interface AtWrite {
  /** Its place among the processes, and its number. */
  readonly i: number;
  readonly n: number;
  readonly local: Local;
  readonly how: Exploration;
}

/** Where a process stands that is about to read for a conditional write: at that write. */
async function atWrite(state: State, { i, n, local, how }: AtWrite, { stepOf }: Running): Promise<Local> {
  const { call } = local;
  if (call?.kind !== 'read' && call?.kind !== 'readLease') return local;
  const [, value] = done(state, call, i, how);
  const next = await stepOf(n, local, {
    kind: call.kind,
    value: JSON.stringify(value ?? null),
    isLate: false,
  });
  const isWrite = next.call?.kind === 'replace' || (next.call?.kind === 'replaceLease' && next.call.isTaken);
  return isWrite ? next : local;
}

function ended(lease: StandingLease | undefined): StandingLease | undefined {
  return lease && { ...lease, until: 0 };
}

function done({ world, locals }: State, call: Call, i: number, how: Exploration): [World, unknown] {
  switch (call.kind) {
    case 'read':
      return [world, world.claim];
    case 'tag':
      return [world, world.tag];
    case 'sleep':
      return [world, null];
    case 'readLease':
      return [world, world.lease];
    case 'move':
      return [{ ...world, tag: call.digest }, null];
    case 'replaceLease':
      return leased(world, call, { i, locals });
    default: {
      if (call.kind === 'replace' && world.claim?.version !== call.version) return [world, null];
      // Nothing looks at it. While claims only grow, there is one of each commit.
      const sequence = how.reduced ? Number(call.claim.commit) : (world.claim?.sequence ?? 0) + 1;
      const made: StandingClaim = { ...call.claim, sequence, version: `${sequence}-${call.claim.commit}` };
      return [{ ...world, claim: made }, made];
    }
  }
}

function leased(
  world: World,
  { isTaken, version }: Extract<Call, { kind: 'replaceLease' }>,
  { i, locals }: { readonly i: number; readonly locals: readonly Local[] },
): [World, unknown] {
  if (world.lease?.version !== version) return [world, null];
  // One that nobody knows any more: so there are few of them.
  const known = new Set([version, ...locals.map(({ lease }) => lease)]);
  let turn = 1;
  while (known.has(String(turn))) turn++;
  const made: StandingLease = { turn, until: isTaken ? LATE : 0, version: String(turn) };
  return [{ ...world, lease: made, holder: isTaken ? i : undefined }, made];
}

type Step = (n: number, from: Local | undefined, answer: Answer | undefined) => Local | Promise<Local>;

/** The steps of publisher `n`, which publishes commit `n`, and of the reconciler, 0; each is found once. */
function localSteps(how: Exploration): Step {
  const steps = new Map<string, Local>();
  const locals = new Map<string, Local>();
  return (n, from, answer) => {
    const step = `${n} ${from?.key} ${from?.lease} ${answer?.value} ${answer?.isLate}`;
    const known = steps.get(step);
    if (known) return known;
    const answers = from && answer ? [...from.answers, answer] : [];
    return nextCall(how, n, answers).then(({ call, fails }) => {
      const local = { answers, call, fails, ...localKey(how, call, answers) };
      const key = `${n} ${fails} ${local.key} ${local.lease}`;
      const same = locals.get(key) ?? local;
      locals.set(key, same);
      steps.set(step, same);
      return same;
    });
  };
}

/**
 * All that the functions keep: the claim and the lease that they saw last, whether they claim, converge or hold the
 * lease, and whether that is over or in doubt.
 */
function localKey(
  how: Exploration,
  call: Call | undefined,
  answers: readonly Answer[],
): Pick<Local, 'key' | 'lease' | 'bare' | 'seen' | 'counts'> {
  if (!call) return { key: 'done', lease: undefined, bare: 'done', seen: undefined, counts: 'nothing' };
  const claim = answers.findLast(({ kind, value }) => CLAIMS.has(kind) && value !== 'null')?.value ?? '';
  const converges = answers.some(({ kind }) => kind === 'tag') || call.kind === 'tag';
  const taken = answers.findLastIndex(({ kind }) => kind === 'replaceLease');
  const held: StandingLease | null = JSON.parse(answers[taken]?.value ?? 'null');
  const since = held && held.until > 0 ? answers.slice(taken) : [];
  const isLate = since.some((answer) => answer.isLate);
  const state = [converges, since.length > 0, isLate, since.some(({ kind }) => kind === 'read')];
  // Too late to move the tag, it fails once it has given the lease back, unless the tag was right.
  const seen = isLate ? answers.findLast(({ kind }) => kind === 'tag')?.value : '';
  // Without the lease's calls nothing else tells the two reads of a turn apart.
  const before = how.leaseless ? JSON.stringify(answers.slice(-2)) : '';
  const asked = call.kind === 'replaceLease' ? call.version : undefined;
  const next = JSON.stringify(call.kind === 'replaceLease' ? { ...call, version: undefined } : call);
  const bare = `${next}${state}${seen}${before}`;
  const isRead = since.some(({ kind }) => kind === 'read');
  return {
    key: `${claim}${bare}`,
    lease: since.length > 0 ? held?.version : asked,
    bare,
    seen: claim === '' ? undefined : (JSON.parse(claim) as StandingClaim).version,
    counts: countsFor(call, { converges, isHeld: since.length > 0, isRead }),
  };
}

function countsFor(
  call: Call,
  {
    converges,
    isHeld,
    isRead,
  }: { readonly converges: boolean; readonly isHeld: boolean; readonly isRead: boolean },
): Local['counts'] {
  if (!converges) return 'all';
  // The claim is read anew under the lease.
  if (call.kind === 'readLease' || (call.kind === 'read' && isHeld && !isRead)) return 'nothing';
  const isAfter = (call.kind === 'replaceLease' && !call.isTaken) || (call.kind === 'read' && !isHeld);
  return isAfter ? 'standing' : 'all';
}

const CLAIMS: ReadonlySet<Call['kind']> = new Set(['read', 'replace', 'overwrite']);

interface Next {
  readonly call: Call | undefined;
  readonly fails: boolean;
}

function nextCall(how: Exploration, n: number, answers: readonly Answer[]): Promise<Next> {
  return new Promise((resolve, reject) => {
    let at = 0;
    let now = NOW;
    const ask = (call: Call): Promise<never> => {
      const answer = answers[at++];
      if (!answer) {
        resolve({ call, fails: false });
        return new Promise(() => undefined);
      }
      // The next lease is timed anew.
      if (answer.isLate) now = LATE;
      else if (call.kind === 'readLease') now = NOW;
      if (answer.value === undefined) {
        const error = new PipelineError('unreachable', 'no answer', { retryable: true });
        return Promise.reject(error);
      }
      return Promise.resolve((JSON.parse(answer.value) ?? undefined) as never);
    };
    const clock: Clock = { now: () => now, sleep: () => ask({ kind: 'sleep' }) };
    processOf(how, n, { ask, clock }).then(
      () => resolve({ call: undefined, fails: false }),
      (error: unknown) => {
        if (error instanceof PipelineError) resolve({ call: undefined, fails: true });
        else reject(error);
      },
    );
  });
}

interface Asking {
  readonly ask: (call: Call) => Promise<never>;
  readonly clock: Clock;
}

async function processOf(how: Exploration, n: number, { ask, clock }: Asking): Promise<void> {
  const fence = fenceOf(how, ask);
  const tag: Follower = {
    follows: async ({ digest }) => (await ask({ kind: 'tag' })) === digest,
    move: ({ digest }, turn) => {
      turn.timeLeft();
      return ask({ kind: 'move', digest });
    },
  };
  const isAncestor: Fencing['isAncestor'] = async (a, b) => Number(a) <= Number(b);
  const lease = { clock, patience: Number.POSITIVE_INFINITY };
  const fencing: Fencing = { fence, name: 'v1/place', isAncestor, lease };
  if (n === 0) {
    const standing = await fence.read(fencing.name);
    if (standing) await moveFollowers(fencing, standing, [tag]);
    return;
  }
  const claimed = await claimTag(fencing, { commit: String(n), digest: digestOf(n) });
  if (!how.lookOnce) await moveFollowers(fencing, claimed.claim, [tag]);
  else if (!(await tag.follows(claimed.claim))) await ask({ kind: 'move', digest: claimed.claim.digest });
}

function fenceOf(how: Exploration, ask: Asking['ask']): Fence {
  let isOurs = false;
  let last: StandingClaim | undefined;
  const noted = (claim: StandingClaim | undefined): StandingClaim | undefined => {
    last = claim ?? last;
    return claim;
  };
  return {
    read: async () => {
      if (isOurs && how.readOnce) return last;
      return noted(await ask({ kind: 'read' }));
    },
    replace: async (_, made, standing) =>
      noted(
        await ask(
          how.checkThenPut
            ? { kind: 'overwrite', claim: made }
            : { kind: 'replace', claim: made, version: standing?.version },
        ),
      ),
    readLease: async () => (how.leaseless ? undefined : ask({ kind: 'readLease' })),
    replaceLease: async (_, until, standing) => {
      if (how.leaseless) return { turn: 1, until, version: '1' };
      const lease: StandingLease | undefined = await ask({
        kind: 'replaceLease',
        isTaken: until !== 0,
        version: standing?.version,
      });
      isOurs = until !== 0 && lease !== undefined;
      return lease;
    },
  };
}
