/**
 * Pushes, jobs that ask, and the reconciler with its publishes at once, over a branch that grows and breaks: whoever
 * comes first at each call of a port, the end is what the rules say of the branch.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import type { CommitStatus, RecordStore, StandingClaim } from '../../pipeline/ports.ts';
import {
  lastOutcomes,
  type Outcome,
  type OutcomeState,
  outcomeAt,
} from '../../pipeline/publish/delivery/outcome.ts';
import { type Current, PUBLISHED, publishedIn } from '../../pipeline/publish/documents.ts';
import { recordFence } from '../../pipeline/publish/fence-records.ts';
import type { PublishReceipt } from '../../pipeline/publish/receipt.ts';
import { generator, pick } from '../fakes/generator.ts';
import { inParallel } from '../fakes/parallel.ts';
import { openRace, type Race } from '../fakes/race.ts';
import type { Files } from '../fakes/repository.ts';
import { harbourRepository, type SampleRepository } from '../fakes/sample.ts';

const CATALOG = { repository: 'sea/catalogs', catalog: 'v4.20' } as const;
const PATH = 'catalogs/v4.20/harbour-operator/catalog.yaml';
const TAG = {
  kind: 'tag',
  registry: 'registry.example.com',
  repository: 'sea/catalog',
  tag: CATALOG.catalog,
} as const;

let sample: SampleRepository;
let text: string;
let policy: string;
beforeAll(() => {
  // One package: several hundred publishes.
  sample = harbourRepository();
  text = sample.git('show', `${sample.base}:${PATH}`);
  policy = sample.git('show', `${sample.base}:${POLICY_PATH}`);
});
afterAll(() => sample.remove());

const KINDS = ['good', 'beside', 'refused', 'failing', 'removed', 'unusable'] as const;
/** What of a commit's catalog is to become; one `beside` it changes nothing of that. */
type Kind = (typeof KINDS)[number];

interface Commit {
  readonly id: string;
  readonly kind: Exclude<Kind, 'beside'>;
  /** Equal for equal catalogs; undefined where it cannot be published. */
  readonly content: number | undefined;
}

interface Change {
  readonly kind: Kind;
  /** One of two: a branch often comes back to what is published. */
  readonly content: number;
}

/** What the commit of a number writes. */
function written({ kind, content }: Change, n: number): Files {
  const note = `${text}\n---\nschema: x.note\nname: n${content}\npackage: harbour-operator\n`;
  const missing = policy.replaceAll(/^( *)image: .*$/gm, '$&\n$1base: registry.example.com/sea/none:x');
  return {
    good: { [PATH]: note, [POLICY_PATH]: policy },
    beside: { README: `${n}` },
    refused: { [PATH]: `schema: olm.package\n# ${n}\n`, [POLICY_PATH]: policy },
    failing: { [PATH]: note, [POLICY_PATH]: missing },
    removed: { [PATH]: null, [POLICY_PATH]: policy },
    unusable: { [POLICY_PATH]: `nonsense: [ ${n}` },
  }[kind];
}

/** Commits on top of the newest one. */
function grown(commits: readonly Commit[], branch: string, change: Change): Commit {
  const newest = commits.at(-1)!;
  const files = written(change, commits.length);
  const id = sample.commit(files, { parents: [newest.id], branch });
  const { kind, content } = change;
  if (kind === 'beside') return { ...newest, id };
  return { id, kind, content: kind === 'good' ? content : undefined };
}

interface Raced {
  readonly race: Race;
  /** The branch, from its first commit on. */
  readonly commits: readonly Commit[];
}

/** Everything comes at once, in an order that the seed says; at the end the reconciler comes by its schedule. */
async function raced(seed: number, most: number): Promise<Raced> {
  const random = generator(seed * 7919);
  const branch = `race-${seed}-${most}`;
  const race = await openRace({ directory: sample.directory, branch, random, most });
  const commits: Commit[] = [{ id: sample.base, kind: 'good', content: -1 }];
  sample.git('branch', branch, sample.base);
  // Some branches are always good.
  const kinds = seed % 4 > 0 ? (['good', 'good', ...KINDS] as const) : (['good', 'good', 'beside'] as const);
  const late: string[] = [];
  const act = (): void => {
    const what = random();
    if (what < 0.55) {
      const commit = grown(commits, branch, { kind: pick(random, kinds), content: pick(random, [1, 2]) });
      race.events.push(`${commit.id} is ${commit.kind} ${commit.content ?? ''}`);
      commits.push(commit);
      // GitHub tells some pushes late, and some twice.
      const fate = random();
      if (fate < 0.15 || fate > 0.9) late.push(commit.id);
      if (fate >= 0.15) race.push(commit.id);
    } else if (what < 0.7) race.ask(pick(random, commits).id);
    else if (what < 0.8) race.push(late.shift() ?? pick(random, commits).id);
    else race.reconcile();
  };
  await race.start(async () => {
    race.push(sample.base);
    for (let left = 6 + Math.floor(random() * 8); left > 0; left--) {
      for (let turns = Math.floor(random() * random() * 60); turns > 0; turns--) await race.turn();
      if (random() < 0.3) await race.alone();
      if (random() < 0.3) race.forget();
      act();
    }
    await race.alone();
    for (const commit of late) race.push(commit);
    await race.alone();
    race.heal();
    for (let round = 0; round < 2; round++) {
      race.reconcile();
      await race.alone();
    }
  });
  return { race, commits };
}

/** What people and clusters see in the end. */
interface End extends Raced {
  readonly tag: string | undefined;
  readonly claim: StandingClaim | undefined;
  readonly current: Current | undefined;
  /** Those of commits of which something was told. */
  readonly outcomes: readonly Told[];
  readonly last: Outcome | undefined;
  /** The receipt of a publish, by the prefix of its documents. */
  readonly receipts: ReadonlyMap<string | undefined, PublishReceipt>;
}

interface Told {
  readonly commit: Commit;
  readonly outcome: Outcome;
  readonly status: CommitStatus | undefined;
}

async function endOf({ race, commits }: Raced): Promise<End> {
  const { records, registry, statuses } = race.world;
  const [current] = await publishedIn(records);
  const [key] = await records.list(PUBLISHED);
  const outcomes: Told[] = [];
  for (const commit of commits) {
    const outcome = await outcomeAt(records, { ...CATALOG, commit: commit.id });
    const status = statuses.get(`${commit.id} portolan/publish ${CATALOG.catalog}`);
    if (outcome) outcomes.push({ commit, outcome, status });
  }
  return {
    race,
    commits,
    tag: (await registry.resolve(TAG))?.digest,
    // Where every commit removes the catalog or cannot be used, nothing was ever published.
    claim: key === undefined ? undefined : await recordFence(records).read(key.slice(PUBLISHED.length)),
    current,
    outcomes,
    last: (await lastOutcomes(records))[0],
    receipts: await receiptsIn(records),
  };
}

async function receiptsIn(records: RecordStore): Promise<ReadonlyMap<string, PublishReceipt>> {
  const receipts = new Map<string, PublishReceipt>();
  for (const key of await records.list('documents/')) {
    if (!key.endsWith('/receipt.json')) continue;
    const text = new TextDecoder().decode((await records.get(key))?.bytes);
    receipts.set(key.slice(0, -'receipt.json'.length), JSON.parse(text));
  }
  return receipts;
}

const STATES: Readonly<Record<OutcomeState, CommitStatus['state']>> = {
  pending: 'pending',
  published: 'success',
  superseded: 'success',
  refused: 'failure',
  failed: 'error',
  retired: 'success',
};

/** What the rules say of an end; each gives what does not keep to it. */
const RULES: Readonly<Record<string, (end: End) => readonly unknown[]>> = {
  'only ports fail': ({ race }) => race.bugs,

  'tag, record and documents follow the claim': ({ tag, claim, current, receipts }) => {
    const receipt = receipts.get(current?.documents);
    const all = [tag, current?.digest].map((digest) => digest === claim?.digest);
    all.push(current?.commit === claim?.commit);
    // Of a catalog that is retired nothing was built.
    if (claim?.retired === undefined)
      all.push(receipt?.digest === claim?.digest, receipt?.commit === claim?.commit);
    return all.filter((is) => !is);
  },

  'the newest content is published that can be': ({ commits, claim }) => {
    const tip = commits.at(-1);
    // A catalog that is removed asks for nothing; under a policy that cannot be used, nothing can be published.
    if (tip?.kind === 'removed' || (tip?.kind === 'unusable' && !claim)) return [];
    const newest = commits.findLast(({ content }) => content !== undefined);
    // What a later commit removed is not published for the first time, nor again while the policy of the newest cannot be used.
    const isRemoved = commits
      .slice(newest ? commits.indexOf(newest) : 0)
      .some(({ kind }) => kind === 'removed');
    if (isRemoved && (tip?.kind === 'unusable' || !claim)) return [];
    const published = commits.find(({ id }) => id === claim?.commit);
    // A commit that no longer had the catalog stands until a newer one has it again.
    if (claim?.retired !== undefined) {
      const later = commits.slice(commits.findIndex(({ id }) => id === claim.commit) + 1);
      return later.filter(({ content }) => content !== undefined);
    }
    return published?.content === newest?.content ? [] : [{ newest, published }];
  },

  'nothing stays pending': ({ outcomes, last, race }) =>
    [...outcomes.map(({ outcome }) => outcome), last, ...race.world.statuses.values()].filter(
      (one) => one?.state === 'pending',
    ),

  'what is superseded is by a newer commit that was published': ({ outcomes, commits, receipts }) =>
    outcomes.filter(({ commit, outcome: { state, detail } }) => {
      if (state !== 'superseded') return false;
      const by = commits.findIndex(({ id }) => id === detail);
      const isPublished = [...receipts.values()].some((receipt) => receipt.commit === detail);
      return by <= commits.indexOf(commit) || !isPublished;
    }),

  'what is published has its own documents': ({ outcomes, receipts }) =>
    outcomes.filter(({ commit, outcome: { state, detail, documents } }) => {
      const receipt = receipts.get(documents);
      return state === 'published' && (receipt?.commit !== commit.id || receipt.digest !== detail);
    }),

  'a good commit is not refused and does not fail, no other is published': ({ outcomes }) =>
    outcomes.filter(({ commit, outcome: { state } }) => {
      const isGood = commit.content !== undefined;
      return isGood ? state === 'refused' || state === 'failed' : state === 'published';
    }),

  'the status of a commit says its outcome': ({ outcomes }) =>
    outcomes.filter(({ outcome: { state }, status }) =>
      // That a newer commit made it needless is told only where it was heard of.
      status ? status.state !== STATES[state] : state !== 'superseded',
    ),

  'the newest commit has the last word': ({ commits, outcomes, last }) => {
    const tip = commits.at(-1);
    const told = outcomes.find(({ commit }) => commit === tip)?.outcome;
    const isWrong = told?.state === 'refused' || told?.state === 'failed';
    if (isWrong) return last?.commit === tip?.id && last?.state === told.state ? [] : [last];
    return tip?.content === undefined || last?.state === 'published' ? [] : [last];
  },

  'a job gets the receipt of its commit or a newer one, and is refused no good one': ({ race, commits }) =>
    race.answers.filter(({ commit, answer }) => {
      const asked = commits.findIndex(({ id }) => id === commit);
      if (answer.status === 422) return commits[asked]?.content !== undefined;
      if (answer.status !== 200) return answer.status !== 503;
      const receipt = answer.body.receipt as PublishReceipt;
      return commits.findIndex(({ id }) => id === receipt.commit) < asked;
    }),
};

/** What is wrong in an end, each with the rule that it breaks. */
function wrongIn(end: End): string[] {
  return Object.entries(RULES).flatMap(([rule, broken]) =>
    broken(end).map((what) => `${rule}: ${JSON.stringify(what)}`),
  );
}

/** What happened in order, and what came of it; commits have short names. */
function storyOf({ race, commits }: Raced, wrong: readonly string[]): string {
  const lines = [...race.events, ...wrong].join('\n');
  return commits.reduce((text, { id }, i) => text.replaceAll(id, `C${i}`), lines);
}

/** Races of many seeds. @returns how many calls went wrong */
async function judged(seeds: number, most: number): Promise<number> {
  let faults = 0;
  const stories = new Map<number, string>();
  await inParallel(
    Array.from({ length: seeds }, (_, i) => i + 1),
    async (seed) => {
      const end = await endOf(await raced(seed, most));
      const wrong = wrongIn(end);
      if (wrong.length > 0) stories.set(seed, storyOf(end, wrong));
      faults += end.race.faults();
    },
  );
  const [first] = stories;
  expect([...stories.keys()], `seed ${first?.join('\n')}`).toEqual([]);
  return faults;
}

/** Milliseconds: beside other suites, 40 runs take five minutes. */
const LONG = 900_000;

test(
  'whoever comes first',
  async () => {
    expect(await judged(40, 0)).toBe(0);
  },
  LONG,
);

test(
  'whoever comes first, and whatever dies or fails',
  async () => {
    const faults = await judged(40, 5);
    console.log(`races: ${faults} deaths and failures in 40 runs`);
    expect(faults).toBeGreaterThan(100);
  },
  LONG,
);
