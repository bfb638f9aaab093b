/**
 * Publishers of one tag as an explicit-state search sees them. The code under test is the real one:
 * each publisher runs `claim` and `converge`, and every call of a port is one atomic step. A
 * publisher's state is what its calls were answered, so its next call is found by running it again
 * on those answers.
 */
import type { Claim, Fence, StandingClaim } from '../../pipeline/ports.ts';
import { claim, converge, type Fencing, type Follower } from '../../pipeline/publish/fence.ts';

export interface Exploration {
  readonly publishers: number;
  /** How often publishers may die, altogether; each is then run again from its beginning. */
  readonly deaths: number;
  /** Replaces the conditional write by a look and a write. */
  readonly checkThenPut?: boolean;
  /** Ends after the first move of the tag. */
  readonly lookOnce?: boolean;
}

/** What the publishers share. */
interface World {
  readonly claim: StandingClaim | undefined;
  readonly tag: string;
}

type Call =
  | { readonly kind: 'read' }
  | { readonly kind: 'replace'; readonly claim: Claim; readonly version: string | undefined }
  | { readonly kind: 'overwrite'; readonly claim: Claim }
  | { readonly kind: 'tag' }
  | { readonly kind: 'move'; readonly digest: string };

/** Where a publisher stands: what its calls were answered, and the call that comes next. */
interface Local {
  readonly answers: readonly string[];
  /** Undefined when it is done. */
  readonly call: Call | undefined;
  /**
   * Equal for those that go on alike. All that the functions keep is the claim that they saw last,
   * and whether they claim or converge.
   */
  readonly key: string;
}

interface State {
  readonly world: World;
  readonly locals: readonly Local[];
  readonly deaths: number;
}

/** The digest of commit `n`'s image. */
export function digestOf(n: number): string {
  return `digest-${n}`;
}

/** @returns how many states there are, and what the tag names in those where everybody is done */
export async function explore(how: Exploration): Promise<{ states: number; ends: Set<string> }> {
  const stepOf = localSteps(how);
  const births: Local[] = [];
  for (let n = 1; n <= how.publishers; n++) births.push(await stepOf(n, undefined, ''));
  const start: State = { world: { claim: undefined, tag: '' }, locals: births, deaths: how.deaths };
  const seen = new Set<string>([keyOf(start)]);
  const ends = new Set<string>();
  const open: State[] = [start];
  for (let state = open.pop(); state; state = open.pop()) {
    if (state.locals.every(({ call }) => call === undefined)) ends.add(state.world.tag);
    for (const [i, local] of state.locals.entries()) {
      if (!local.call) continue;
      const [world, answer] = done(state.world, local.call);
      const stepped = stepOf(i + 1, local, JSON.stringify(answer ?? null));
      // Waiting only where it must: most steps were taken before.
      const next = stepped instanceof Promise ? await stepped : stepped;
      for (const following of after(state, i, { world, next, birth: births[i] ?? local })) {
        const key = keyOf(following);
        if (seen.has(key)) continue;
        seen.add(key);
        open.push(following);
      }
    }
  }
  return { states: seen.size, ends };
}

function keyOf({ world, locals, deaths }: State): string {
  return `${world.claim?.version} ${world.tag} ${deaths} ${locals.map(({ key }) => key).join(' ')}`;
}

/** The publisher's call is answered; or it dies before, or after, its call was done, and begins anew. */
function after(
  { world: before, locals, deaths }: State,
  i: number,
  { world, next, birth }: { readonly world: World; readonly next: Local; readonly birth: Local },
): State[] {
  const answered = { world, locals: locals.with(i, next), deaths };
  if (deaths === 0) return [answered];
  const born = locals.with(i, birth);
  return [
    answered,
    { world: before, locals: born, deaths: deaths - 1 },
    { world, locals: born, deaths: deaths - 1 },
  ];
}

function done(world: World, call: Call): [World, unknown] {
  if (call.kind === 'read') return [world, world.claim];
  if (call.kind === 'tag') return [world, world.tag];
  if (call.kind === 'move') return [{ ...world, tag: call.digest }, null];
  if (call.kind === 'replace' && world.claim?.version !== call.version) return [world, null];
  const sequence = (world.claim?.sequence ?? 0) + 1;
  const claim: StandingClaim = { ...call.claim, sequence, version: `${sequence}-${call.claim.commit}` };
  return [{ ...world, claim }, claim];
}

type Step = (n: number, from: Local | undefined, answer: string) => Local | Promise<Local>;

/** The steps of publisher `n`, which publishes commit `n`; each is found once. */
function localSteps(how: Exploration): Step {
  const steps = new Map<string, Local>();
  const locals = new Map<string, Local>();
  return (n, from, answer) => {
    const step = `${n} ${from?.key} ${answer}`;
    const known = steps.get(step);
    if (known) return known;
    const answers = from ? [...from.answers, answer] : [];
    return nextCall(how, n, answers).then((call) => {
      const local = { answers, call, key: localKey(call, answers) };
      const same = locals.get(`${n} ${local.key}`) ?? local;
      locals.set(`${n} ${local.key}`, same);
      steps.set(step, same);
      return same;
    });
  };
}

function localKey(call: Call | undefined, answers: readonly string[]): string {
  if (!call) return 'done';
  const lastClaim = answers.findLast((answer) => answer.startsWith('{')) ?? '';
  const converges = answers.some((answer) => answer.startsWith('"')) || call.kind === 'tag';
  return `${JSON.stringify(call)}${lastClaim}${converges}`;
}

function nextCall(how: Exploration, n: number, answers: readonly string[]): Promise<Call | undefined> {
  return new Promise((resolve, reject) => {
    let at = 0;
    const ask = (call: Call): Promise<never> => {
      const answer = answers[at++];
      if (answer !== undefined) return Promise.resolve((JSON.parse(answer) ?? undefined) as never);
      resolve(call);
      return new Promise(() => undefined);
    };
    published(how, n, ask).then(() => resolve(undefined), reject);
  });
}

async function published(how: Exploration, n: number, ask: (call: Call) => Promise<never>): Promise<void> {
  const fence: Fence = {
    read: () => ask({ kind: 'read' }),
    replace: (_, made, standing) =>
      ask(
        how.checkThenPut
          ? { kind: 'overwrite', claim: made }
          : { kind: 'replace', claim: made, version: standing?.version },
      ),
  };
  const tag: Follower = {
    follows: async ({ digest }) => (await ask({ kind: 'tag' })) === digest,
    move: ({ digest }) => ask({ kind: 'move', digest }),
  };
  const fencing: Fencing = { fence, name: 'v1/place', isAncestor: async (a, b) => Number(a) <= Number(b) };
  const claimed = await claim(fencing, { commit: String(n), digest: digestOf(n) });
  if (!how.lookOnce) await converge(fencing, claimed.claim, [tag]);
  else if (!(await tag.follows(claimed.claim))) await tag.move(claimed.claim);
}
