/**
 * Attack 33: sequences of events that fast-check draws, played by the Action's jobs, which also merge. After each event the
 * status of every head is pending, or what a fresh check of all its open pull requests says; and nothing is merged, or
 * put into the queue, that a fresh check would not merge.
 *
 * SEQUENCES says how many are drawn, a quarter of them here (200), SEED which.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Event } from '../../pipeline/action/event.ts';
import { type CheckReport, stateOf } from '../../pipeline/check/report.ts';
import { gatePullRequest } from '../../pipeline/forge/gate.ts';
import { openRepository, type Repository } from '../../pipeline/git/repository.ts';
import { gitHubForge } from '../../pipeline/github/forge.ts';
import { gateGroup } from '../../pipeline/github/group.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { rerunReport, runWorkflow, type WorkflowRun } from '../fakes/action-jobs.ts';
import { BASE, catalogOf, PEOPLE, POLICY, type Who } from '../fakes/gate.ts';
import { gateRequest } from '../fakes/gate-request.ts';
import { unpaced } from '../fakes/github/client.ts';
import type { FakePull } from '../fakes/github/forge.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { quickGit } from '../fakes/quick-git.ts';

const SEQUENCES = Number(process.env['SEQUENCES'] ?? 200) / 4;
const SEED = Number(process.env['SEED'] ?? 37);
const NAME = { owner: 'example', repo: 'catalogs' };
const TEAM = 'example/etcd';

/** What happens at the requests of a job, and what was checked once of the same commits and people. */
const here = vi.hoisted(() => ({
  repository: undefined as unknown,
  checked: new Map<string, unknown>(),
  team: '',
  watch: undefined as
    | ((request: { url: string; method: string }, isBefore: boolean) => Promise<void>)
    | undefined,
}));
vi.mock('@actions/core', async () => (await import('../fakes/action-core.ts')).CORE);
vi.mock('../../pipeline/git/remote.ts', async (original) => ({
  ...(await original<object>()),
  openRemote: () => ({ ...(here.repository as object), close: async () => undefined }),
}));
vi.mock('../../pipeline/git/merge.ts', async (original) => {
  const real = await original<typeof import('../../pipeline/git/merge.ts')>();
  const { once } = await import('../fakes/quick-git.ts');
  return { ...real, mergedTree: once(real.mergedTree) };
});
vi.mock('../../pipeline/check/check.ts', async (original) => {
  const real = await original<typeof import('../../pipeline/check/check.ts')>();
  const checkPullRequest: typeof real.checkPullRequest = async (repository, request) => {
    const { base, head, ancestor, people } = request;
    const key = JSON.stringify([base, head, ancestor, people, here.team]);
    const known = here.checked.get(key) ?? (await real.checkPullRequest(repository, request));
    here.checked.set(key, known);
    return known as CheckReport;
  };
  return { ...real, checkPullRequest };
});
vi.mock('../../pipeline/action/clone.ts', async (original) => ({
  ...(await original<object>()),
  checkerOf:
    () =>
    async (...all: Parameters<typeof import('../../pipeline/check/check.ts').checkPullRequest>) =>
      (await import('../../pipeline/check/check.ts')).checkPullRequest(...all),
}));
vi.mock('../../pipeline/action/outputs.ts', async (original) => ({
  ...(await original<object>()),
  logText: () => undefined,
  setReportOutputs: async (reports: readonly CheckReport[], { attempt }: { attempt: string }) => {
    const { packedResults } = await import('../../pipeline/report/packed-report.ts');
    const { CORE } = await import('../fakes/action-core.ts');
    CORE.setOutput('result', packedResults({ attempt, reports }));
  },
}));
vi.mock('../../pipeline/github/client.ts', async (original) => ({
  ...(await original<object>()),
  openGitHub: () => {
    const github = unpaced(hub.forge);
    github.hook.wrap('request', async (request, options) => {
      const { watch } = here;
      await watch?.(options, true);
      const answer = await request(options);
      await watch?.(options, false);
      return answer;
    });
    return github;
  },
}));

const etcd = (...versions: string[]) => ({
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', ...versions]),
});
const AUTO = `${POLICY}merge: {mode: auto, via: direct}\n`;
/** What a push to main may bring. */
const PUSHES = [
  { 'README.md': 'nothing that a check reads' },
  { 'operators/etcd/ci.yaml': 'reviewers: [carol]\n' },
  { 'operators/etcd/ci.yaml': 'reviewers: [bob, carol]\n' },
  { 'operators/etcd/ci.yaml': `reviewers: ['@${TEAM}']\n` },
  { [POLICY_PATH]: AUTO },
  { [POLICY_PATH]: `${AUTO}approval: {ownerSelfApproval: false}\n` },
  { [POLICY_PATH]: `${POLICY}merge: {mode: off}\n` },
  { [POLICY_PATH]: 'not: [a policy' },
];
const TEAMS = [['bob'], ['carol'], []];
const HEADS = [
  etcd('1.2.0'),
  etcd('1.3.0'),
  { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.1.0']) },
];

const KINDS = [
  ...['open', 'same head', 'push', 'approve', 'request changes', 'dismiss', 'label', 'draft', 'retarget'],
  ...['close', 'reopen', 'base moves', 'policy or owners', 'team', 'recheck', 'poke', 'rerun of a report'],
  ...['sweep', 'merge group', 'rerun of all jobs', 'approve', 'base moves', 'push', 'same head'],
  // What is missed most easily is drawn more often.
  ...['label', 'draft', 'request changes', 'label', 'draft', 'recheck'],
] as const;
/** What can make a green pull request another one while it is handled. */
const SPOILERS = [
  'label',
  'draft',
  'request changes',
  'dismiss',
  'same head',
  'policy or owners',
  'base moves',
  'push',
] as const;
const moment = fc.record({
  kind: fc.constantFrom(...KINDS),
  /** Which pull request, head, push. */
  which: fc.nat(7),
  who: fc.constantFrom<Who>('bob', 'bob', 'carol', 'mallory'),
});
const drawn = fc.record({
  first: moment,
  trouble: fc.option(
    fc.record({
      /** At which request. */
      at: fc.oneof(fc.nat(12), fc.integer({ min: 12, max: 30 })),
      kind: fc.constantFrom('outage', 'outage after the effect', 'another event', 'another event'),
      second: fc.oneof(
        moment,
        moment.chain((one) => fc.constantFrom(...SPOILERS).map((kind) => ({ ...one, kind }))),
      ),
    }),
    { freq: 2 },
  ),
});
type Moment = typeof moment extends fc.Arbitrary<infer T> ? T : never;
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;
/** A run of the workflow, or one that is run again. */
type Handled = WorkflowRun | { readonly again: WorkflowRun; readonly all: boolean } | undefined;
/** Most of what can go wrong begins with a green status. */
const GREEN: Drawn = { first: { kind: 'open', which: 0, who: 'bob' }, trouble: null };

let hub: Hub;
let local: Repository;
let first = '';
let heads: string[] = [];
let dev = '';
let tip = '';
const made = new Map<string, string>();
const counts = new Map<string, number>();
const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

/** A commit on top of another one, always the same for the same words. */
function commitOn(parent: string, what: string, files: Readonly<Record<string, string>>): string {
  const key = `${parent} ${what}`;
  const id = made.get(key) ?? hub.repository.commit(files, { parents: [parent], branch: 'made' });
  made.set(key, id);
  return id;
}

function moveMain(to: string): void {
  if (tip === to) return;
  tip = to;
  writeFileSync(join(hub.repository.directory, '.git/refs/heads/main'), `${to}\n`);
}

function setTeam(members: readonly string[]): void {
  here.team = members.join();
  hub.forge.teams.set(TEAM, [...members]);
}

/** What a merge of a head leaves on main. */
function mergedOn(base: string, head: string): string {
  return commitOn(base, `merge ${head}`, HEADS[heads.indexOf(head)] ?? {});
}

class Sequence {
  #number = 6;
  #run = 0;
  /** Runs of the workflow that may be run again. */
  readonly #old: WorkflowRun[] = [];
  readonly #groups: { base: string; head: string }[] = [];
  #merges = 0;

  /** @param merges whether the first policy has what is green merged */
  constructor(merges: boolean) {
    const { forge } = hub;
    expect(forge.defects).toEqual([]);
    forge.pulls.clear();
    forge.comments.clear();
    for (const list of [
      forge.statuses,
      forge.asked,
      forge.merges,
      forge.checkRuns,
      forge.dispatches,
      forge.queue,
    ])
      list.length = 0;
    moveMain(merges ? commitOn(first, 'push 4', PUSHES[4] ?? {}) : first);
    setTeam(['bob']);
  }

  async play({ first: one, trouble }: Drawn): Promise<void> {
    count(one.kind);
    const { forge } = hub;
    const run = this.#happen(one);
    if (!trouble) await this.#handle(run);
    else if (trouble.kind === 'another event') {
      count('two at once');
      await this.#handle(run, trouble.at, async () => {
        count(trouble.second.kind);
        await this.#handle(this.#happen(trouble.second));
      });
    } else {
      count(trouble.kind);
      await this.#fail(run, trouble.at, trouble.kind === 'outage');
    }
    // A merge with the job's own token is told by an event of its own.
    for (let told = forge.dispatches.shift(); told; told = forge.dispatches.shift()) {
      const { before, branch } = told.client_payload;
      await this.#handle(this.#runOf({ kind: 'moved', branch, before, commit: tip }));
    }
    await this.#expectRight(new Set());
  }

  #runOf(event: Event): WorkflowRun {
    return { event, id: ++this.#run, attempt: 1, failures: [] };
  }

  #pulls(state?: string): FakePull[] {
    return [...hub.forge.pulls.values()].filter((pull) => !state || pull.state === state);
  }

  #open(head: string, author: Who, into: string): FakePull {
    const number = ++this.#number;
    const more = { draft: false, state: 'open' as const, labels: [], reviews: [], branch: `pull-${number}` };
    const pull: FakePull = { number, author, head, into, pusher: author, base: first, ...more };
    hub.forge.pulls.set(number, pull);
    return pull;
  }

  /** Changes the world. @returns the run that it starts, or the one that is run again */
  #happen({ kind, which, who }: Moment): Handled {
    const head = heads[which % heads.length] ?? '';
    const open = this.#pulls('open');
    const pull = open[which % Math.max(1, open.length)];
    switch (kind) {
      case 'base moves':
      case 'policy or owners': {
        const before = tip;
        const index = kind === 'base moves' ? which % 4 : 4 + (which % 4);
        moveMain(commitOn(tip, `push ${index}`, PUSHES[index] ?? {}));
        return this.#runOf({ kind: 'moved', branch: 'main', before, commit: tip });
      }
      case 'team':
        setTeam(TEAMS[which % TEAMS.length] ?? []);
        // No event says so: the schedule finds it.
        return this.#runOf({ kind: 'clock' });
      case 'sweep':
        return this.#runOf({ kind: 'clock' });
      case 'poke':
        return this.#runOf({ kind: 'commit signal', commit: head });
      case 'rerun of a report':
      case 'rerun of all jobs': {
        const again = this.#old[which % Math.max(1, this.#old.length)];
        return again && { again, all: kind === 'rerun of all jobs' };
      }
      case 'reopen': {
        const closed = this.#pulls('closed').filter(({ merged }) => !merged);
        const one = closed[which % Math.max(1, closed.length)];
        if (!one) return undefined;
        one.state = 'open';
        return this.#about(one, 'reopened');
      }
    }
    if (kind === 'open' || !pull)
      return this.#about(this.#open(head, who, which % 4 === 3 ? 'dev' : 'main'), 'opened');
    return this.#change(pull, { kind, which, who });
  }

  #change(pull: FakePull, { kind, which, who }: Moment): WorkflowRun | undefined {
    const head = heads[which % heads.length] ?? '';
    const poke = () => this.#runOf({ kind: 'commit signal', commit: pull.head });
    switch (kind) {
      case 'same head':
        return this.#about(this.#open(pull.head, who, which % 2 === 0 ? 'dev' : 'main'), 'opened');
      case 'push': {
        const left = pull.head;
        pull.head = head;
        return this.#about(pull, 'synchronize', left);
      }
      case 'approve':
      case 'request changes':
        pull.reviews.push({
          by: who,
          state: kind === 'approve' ? 'APPROVED' : 'CHANGES_REQUESTED',
          commit: pull.head,
        });
        return poke();
      case 'dismiss':
        for (const review of pull.reviews) review.state = 'DISMISSED';
        return poke();
      case 'label':
        pull.labels = pull.labels.length > 0 ? [] : ['hold'];
        return this.#about(pull, 'labeled');
      case 'draft':
        pull.draft = !pull.draft;
        return this.#about(pull, 'converted_to_draft');
      case 'retarget':
        pull.into = pull.into === 'dev' ? 'main' : 'dev';
        return this.#about(pull, 'edited');
      case 'close':
        pull.state = 'closed';
        return this.#about(pull, 'closed');
      case 'merge group': {
        const group = {
          base: tip,
          head: commitOn(tip, `group ${pull.head}`, HEADS[heads.indexOf(pull.head)] ?? {}),
        };
        hub.forge.queue.push({ number: pull.number, pullHead: pull.head, ...group });
        this.#groups.push(group);
        return this.#runOf({ kind: 'group', branch: 'main', ...group });
      }
      default:
        return this.#runOf({ kind: 'recheck', number: pull.number });
    }
  }

  #about(pull: FakePull, action: string, left?: string): WorkflowRun {
    const { number, head, into = 'main', draft } = pull;
    const author = PEOPLE[pull.author as Who];
    const people = { author, pusher: action === 'synchronize' ? author : undefined };
    const base = into === 'main' ? tip : dev;
    return this.#runOf({
      kind: 'pull request',
      number,
      action,
      base,
      head,
      previousHead: left,
      branch: into,
      draft,
      ...people,
    });
  }

  async #handle(
    asked: Handled,
    at = Number.POSITIVE_INFINITY,
    happen: (isBefore: boolean) => Promise<void> = async () => undefined,
    whenBefore = true,
  ): Promise<void> {
    if (!asked) return;
    const outer = here.watch;
    let [number, isDone] = [0, false];
    here.watch = async (request, isBefore) => {
      const own = here.watch;
      here.watch = undefined;
      if (isBefore && request.url.endsWith('/merge')) await this.#expectMergeable(request);
      if (isBefore) number++;
      if (!isDone && number > at && isBefore === whenBefore) {
        isDone = true;
        await happen(isBefore);
      }
      here.watch = own;
      if (!isBefore && request.url.endsWith('/merge')) this.#afterMerge();
    };
    try {
      if ('again' in asked) {
        if (!asked.all) await rerunReport(asked.again, hub.forge);
        else {
          asked.again.attempt += 1;
          await runWorkflow(asked.again, hub.forge);
        }
      } else {
        await runWorkflow(asked, hub.forge);
        this.#old.push(asked);
      }
    } finally {
      here.watch = outer;
    }
  }

  /** A request fails. People run all jobs again; whatever could be said before must be right already. */
  async #fail(asked: Handled, at: number, isBefore: boolean): Promise<void> {
    let isHit = false;
    const fail = async (): Promise<void> => {
      isHit = true;
      const request = { method: 'GET', url: hub.forge.url };
      throw Object.assign(new Error('no answer'), { status: 500, request });
    };
    await this.#handle(asked, at, fail, isBefore);
    const run = asked && ('again' in asked ? asked.again : asked);
    if (!isHit || !run) return;
    // Where the first job fails, the statuses stay as they are until it is run again.
    if (run.started !== undefined) await this.#expectRight(new Set());
    await this.#handle({ again: run, all: true });
  }

  #afterMerge(): void {
    for (; this.#merges < hub.forge.merges.length; this.#merges++) {
      count('merged');
      const { sha, number } = hub.forge.merges[this.#merges] ?? { sha: '', number: 0 };
      if (hub.forge.pulls.get(number)?.into !== 'dev') moveMain(mergedOn(tip, sha));
    }
  }

  /** Whatever a fresh check would not merge is not asked for. */
  async #expectMergeable(request: { url: string }): Promise<void> {
    const { pull_number: number, sha } = request as unknown as { pull_number: number; sha: string };
    const pull = hub.forge.pulls.get(number);
    // GitHub refuses a head that it does not have any more.
    if (!pull || pull.head !== sha || pull.state !== 'open') return;
    count('merge asked for');
    const same = this.#pulls('open').filter(({ head }) => head === sha);
    const states = await Promise.all(same.map(async (one) => stateIn(await this.#fresh(one))));
    expect(states, `merge of #${number}`).toEqual(same.map(() => 'success'));
    const own = await this.#fresh(pull);
    expect(own?.request?.merge.mode, `merge of #${number}`).toBe('auto');
  }

  async #expectRight(excused: ReadonlySet<string>): Promise<void> {
    const stateAt = (commit: string) => hub.forge.statuses.findLast(({ sha }) => sha === commit)?.state;
    for (const pull of this.#pulls('open')) {
      const state = stateAt(pull.head);
      if (excused.has(pull.head) || state === 'pending' || state === undefined) continue;
      const same = this.#pulls('open').filter(({ head }) => head === pull.head);
      const states = await Promise.all(same.map(async (one) => stateIn(await this.#fresh(one))));
      const worst = ['failure', 'pending', 'success'].find((one) => states.includes(one));
      expect(state, `#${pull.number} of ${same.map(({ number }) => number)}`).toBe(worst);
    }
    for (const group of this.#groups.splice(0)) {
      const state = stateAt(group.head);
      if (state === 'pending' || state === undefined || group.base !== tip) continue;
      const outcome = await gateGroup(
        { ...this.#ports(), github: unpaced(hub.forge), repository: NAME },
        { ...group, branch: 'main' },
      );
      if (outcome.kind === 'checked') expect(state, 'merge group').toBe(stateOf(outcome.report));
    }
  }

  #ports() {
    const forge = gitHubForge({ github: unpaced(hub.forge), repository: NAME });
    const { source, git } = gateRequest(hub, forge);
    return { forge, remote: { url: source.url }, git, today: '2026-01-01' };
  }

  /** What a check says now: of the same pull request it says the same, whatever number that has. */
  async #fresh(pull: FakePull): Promise<CheckReport | undefined> {
    const { number, ...rest } = pull;
    const key = JSON.stringify([rest, tip, here.team]);
    if (!fresh.has(key)) {
      const outcome = await gatePullRequest(this.#ports(), { number });
      fresh.set(key, outcome.kind === 'checked' ? outcome.report : undefined);
    }
    return fresh.get(key);
  }
}

const fresh = new Map<string, CheckReport | undefined>();

/** One that is not gated keeps nothing from being merged. */
function stateIn(report: CheckReport | undefined): string {
  return report ? stateOf(report) : 'success';
}

beforeAll(async () => {
  const opened = await openHub(BASE);
  first = opened.base();
  const { repository } = opened;
  heads = HEADS.map((files, i) =>
    repository.commit(files, { parents: [first], branch: `head-${i}`, author: 'bob' }),
  );
  dev = repository.commit({ [POLICY_PATH]: `${POLICY}enforce: off\n` }, { parents: [first], branch: 'dev' });
  Object.assign(repository, { git: quickGit(repository, (branch) => ({ main: tip, dev })[branch]) });
  const at = (branch: string): string => (branch === 'dev' ? dev : tip);
  hub = { ...opened, base: () => tip, tip: at };
  local = await openRepository(repository.directory, { searchPath: process.env['PATH'] });
  here.repository = local;
});
afterAll(async () => {
  await local.close();
  await hub.close();
  process.stdout.write(`${[...counts].map(([kind, times]) => `${kind} ${times}`).join(', ')}\n`);
});

test('33: whatever happens to the Action, a status is right, and nothing is merged that is not', {
  timeout: 36_000_000,
}, async () => {
  const play = async (events: readonly Drawn[]): Promise<void> => {
    count('sequences');
    const sequence = new Sequence(events.length % 2 === 0);
    for (const one of [GREEN, ...events]) await sequence.play(one);
  };
  await fc.assert(fc.asyncProperty(fc.array(drawn, { minLength: 2, maxLength: 7 }), play), {
    numRuns: Math.ceil(SEQUENCES),
    seed: SEED,
  });
  expect(hub.forge.defects).toEqual([]);
});
