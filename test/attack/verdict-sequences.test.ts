/**
 * Attack 33: sequences of events that fast-check draws, on the fake of each forge. After each event the status of every
 * head is pending, or what a fresh check of all its open pull requests says.
 *
 * SEQUENCES says how many are drawn (200), SEED which.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type GateAsked, type GateRequest, handleGates } from '../../functions/gate.ts';
import { type CheckReport, stateOf } from '../../pipeline/check/report.ts';
import { PipelineError } from '../../pipeline/error.ts';
import type { GateForge } from '../../pipeline/forge/forge.ts';
import { forgejoClient, forgejoForge } from '../../pipeline/forge/forgejo/forge.ts';
import { gatePullRequest } from '../../pipeline/forge/gate.ts';
import { gitLabClient, gitLabForge } from '../../pipeline/forge/gitlab/forge.ts';
import { gateAgain } from '../../pipeline/forge/head.ts';
import { setStatus } from '../../pipeline/forge/status.ts';
import { openRepository, type Repository } from '../../pipeline/git/repository.ts';
import { gitHubForge } from '../../pipeline/github/forge.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { FORGEJO_TOKEN, fakeForgejo } from '../fakes/forgejo.ts';
import { BASE, catalogOf, POLICY } from '../fakes/gate.ts';
import { gateRequest } from '../fakes/gate-request.ts';
import { unpaced } from '../fakes/github/client.ts';
import type { FakePull } from '../fakes/github/forge.ts';
import { fakeGitLab, GITLAB_TOKEN } from '../fakes/gitlab.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { quickGit } from '../fakes/quick-git.ts';

const SEQUENCES = Number(process.env['SEQUENCES'] ?? 200);
const SEED = Number(process.env['SEED'] ?? 37);
const NAME = { owner: 'example', repo: 'catalogs' };

/** The repository is here: nothing is fetched, and what was checked once of the same commits and people is known. */
const here = vi.hoisted(() => ({ repository: undefined as unknown, checked: new Map<string, unknown>() }));
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
    const key = JSON.stringify([base, head, ancestor, people]);
    const known = here.checked.get(key) ?? (await real.checkPullRequest(repository, request));
    here.checked.set(key, known);
    return known as CheckReport;
  };
  return { ...real, checkPullRequest };
});

const etcd = (...versions: string[]) => ({
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', ...versions]),
});

/** The commits of all sequences. */
interface Commits {
  /** Each tip of main after the one before. */
  readonly mains: readonly string[];
  readonly dev: string;
  readonly heads: readonly string[];
}

function commitsOf(hub: Hub): Commits {
  const { repository } = hub;
  const mains = [hub.base()];
  for (const files of [
    { 'README.md': 'nothing that a check reads' },
    { 'operators/etcd/ci.yaml': 'reviewers: [carol]\n' },
    { [POLICY_PATH]: `${POLICY}approval: {self: false}\n` },
    { 'operators/etcd/ci.yaml': 'reviewers: [bob, carol]\n' },
  ])
    mains.push(repository.commit(files, { parents: mains.slice(-1) }));
  const [first = ''] = mains;
  const off = { [POLICY_PATH]: `${POLICY}enforce: off\n` };
  const dev = repository.commit(off, { parents: [first], branch: 'dev' });
  const heads = [
    etcd('1.2.0'),
    etcd('1.3.0'),
    { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.1.0']) },
  ];
  const ids = heads.map((files, i) =>
    repository.commit(files, { parents: [first], branch: `head-${i}`, author: 'bob' }),
  );
  return { mains, dev, heads: ids };
}

interface Scene {
  readonly hub: Hub;
  readonly forge: GateForge;
  readonly stateOf: (pull: FakePull) => string | undefined;
  readonly clear: () => void;
}

const SCENES: Readonly<Record<string, (hub: Hub) => Promise<Scene>>> = {
  GitHub: async (hub) => ({
    hub,
    forge: gitHubForge({ github: unpaced(hub.forge), repository: NAME }),
    stateOf: ({ head }) => hub.forge.statuses.findLast(({ sha }) => sha === head)?.state,
    clear: () => {
      expect(hub.forge.defects).toEqual([]);
      for (const list of [hub.forge.statuses, hub.forge.asked]) list.length = 0;
    },
  }),
  Forgejo: async (hub) => {
    const fake = await fakeForgejo(hub);
    return {
      hub,
      forge: forgejoForge(
        forgejoClient(fake.api, async () => FORGEJO_TOKEN),
        NAME,
      ),
      stateOf: ({ head }) => fake.statuses.findLast(({ sha }) => sha === head)?.state,
      clear: () => {
        for (const list of [fake.statuses, fake.asked]) list.length = 0;
      },
    };
  },
  GitLab: async (hub) => {
    const fake = await fakeGitLab(hub);
    return {
      hub,
      forge: gitLabForge(
        gitLabClient(fake.api, async () => GITLAB_TOKEN),
        NAME,
      ),
      stateOf: ({ number }) => {
        const state = fake.statusesOf(number).at(-1)?.state;
        return state === 'failed' ? 'failure' : state;
      },
      clear: () => {
        for (const list of [fake.statuses, fake.pipelines]) list.length = 0;
      },
    };
  },
};

const KINDS = [
  ...['open', 'same head', 'push', 'approve', 'request changes', 'dismiss', 'label', 'draft', 'retarget'],
  ...['close', 'reopen', 'base moves', 'comment', 'poke', 'old result', 'all'],
  // What is missed most easily is drawn more often.
  ...['old result', 'old result', 'old result', 'label', 'label', 'draft'],
] as const;

/** Something that happens, and what happens while it is handled. */
const moment = fc.record({
  kind: fc.constantFrom(...KINDS),
  /** Which pull request, head, person. */
  which: fc.nat(5),
  who: fc.constantFrom('bob', 'bob', 'carol', 'mallory'),
});
const event = fc.record({
  first: moment,
  trouble: fc.option(
    fc.record({
      /** At which request. */
      at: fc.nat(14),
      kind: fc.constantFrom('outage', 'outage after the effect', 'another event', 'another event'),
      second: moment,
    }),
    { freq: 2 },
  ),
});
const GREEN: Event = { first: { kind: 'open', which: 0, who: 'bob' }, trouble: null };
type Moment = typeof moment extends fc.Arbitrary<infer T> ? T : never;
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

/** One sequence: the world, and what the gate is asked. */
class Sequence {
  readonly #scene: Scene;
  readonly #commits: Commits;
  readonly #counts: Map<string, number>;
  #main = 0;
  #number = 6;
  /** Results of earlier runs, which may be said again. */
  readonly #old: (readonly CheckReport[])[] = [];

  constructor(scene: Scene, commits: Commits, counts: Map<string, number>) {
    this.#scene = scene;
    this.#commits = commits;
    this.#counts = counts;
    scene.hub.forge.pulls.clear();
    scene.clear();
    this.#moveMain(0);
  }

  get tips(): Readonly<Record<string, string>> {
    return { main: this.#commits.mains[this.#main] ?? '', dev: this.#commits.dev };
  }

  /** Lets it happen and has it handled; afterwards every status must be right. */
  async play({ first, trouble }: Event): Promise<void> {
    this.#count(first.kind);
    const asked = this.#happen(first);
    if (!trouble) await this.#handle(asked);
    else if (trouble.kind === 'another event') {
      this.#count('two at once');
      const interrupt = async () => this.#handle(this.#happen(trouble.second));
      await this.#handle(asked, this.#watched(trouble.at, interrupt));
    } else {
      this.#count(trouble.kind);
      await this.#fail(asked, trouble.at, trouble.kind === 'outage');
      // The message comes again.
      await this.#handle(asked);
    }
    await this.#expectRight(new Set());
  }

  #count(kind: string): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  #pulls(state?: string): FakePull[] {
    return [...this.#scene.hub.forge.pulls.values()].filter((pull) => !state || pull.state === state);
  }

  #open(head: string, author: string, into: string): FakePull {
    const number = ++this.#number;
    const more = { draft: false, state: 'open' as const, labels: [], reviews: [], branch: `pull-${number}` };
    const pull: FakePull = {
      number,
      author,
      head,
      into,
      pusher: author,
      base: this.tips['main'] ?? '',
      ...more,
    };
    pull.base = this.#commits.mains[0] ?? '';
    this.#scene.hub.forge.pulls.set(number, pull);
    return pull;
  }

  #moveMain(to: number): void {
    this.#main = to;
    const { directory } = this.#scene.hub.repository;
    writeFileSync(join(directory, '.git/refs/heads/main'), `${this.tips['main']}\n`);
  }

  /** Changes the world. @returns what the event asks of the gate */
  #happen({ kind, which, who }: Moment): GateAsked | CheckReport[] | undefined {
    const { heads, mains } = this.#commits;
    const head = heads[which % heads.length] ?? '';
    const open = this.#pulls('open');
    const pull = open[which % Math.max(1, open.length)];
    const about = (one: FakePull | undefined): GateAsked | undefined =>
      one && { kind: 'selected', selection: { kind: 'pull', number: one.number } };
    switch (kind) {
      case 'base moves': {
        const before = this.tips['main'];
        if (this.#main + 1 < mains.length) this.#moveMain(this.#main + 1);
        return { kind: 'moved', branch: 'main', before };
      }
      case 'all':
        return { kind: 'selected', selection: { kind: 'all' } };
      case 'poke':
        return { kind: 'selected', selection: { kind: 'commit', commit: head } };
      case 'old result':
        return [...(this.#old[which % Math.max(1, this.#old.length)] ?? [])];
      case 'reopen': {
        const closed = this.#pulls('closed').at(which % Math.max(1, this.#pulls('closed').length));
        if (closed) closed.state = 'open';
        return about(closed);
      }
    }
    if (kind === 'open' || !pull) return about(this.#open(head, who, which % 4 === 3 ? 'dev' : 'main'));
    switch (kind) {
      case 'same head':
        return about(this.#open(pull.head, who, which % 2 === 0 ? 'dev' : 'main'));
      case 'push': {
        const previousHead = pull.head;
        pull.head = head;
        // Forgejo names it in the event of the branch alone.
        return { kind: 'selected', selection: { kind: 'pull', number: pull.number, previousHead } };
      }
      case 'approve':
      case 'request changes': {
        const state = kind === 'approve' ? 'APPROVED' : 'CHANGES_REQUESTED';
        pull.reviews.push({ by: who, state, commit: pull.head });
        return about(pull);
      }
      case 'dismiss':
        for (const review of pull.reviews) review.state = 'DISMISSED';
        return about(pull);
      case 'label':
        pull.labels = pull.labels.length > 0 ? [] : ['hold'];
        return about(pull);
      case 'draft':
        pull.draft = !pull.draft;
        return about(pull);
      case 'retarget':
        pull.into = pull.into === 'dev' ? 'main' : 'dev';
        return about(pull);
      case 'close':
        pull.state = 'closed';
        return about(pull);
      case 'comment':
        return about(pull);
    }
  }

  async #handle(asked: GateAsked | CheckReport[] | undefined, forge = this.#scene.forge): Promise<void> {
    if (!asked) return;
    if (!Array.isArray(asked)) {
      const reports = await handleGates(asked, this.#request(forge));
      if (reports.length > 0) this.#old.push(reports.filter(({ head }) => head === reports[0]?.head));
      return;
    }
    const [{ head } = { head: '' }] = asked;
    if (head === '') return;
    const { source, git } = this.#request(forge);
    const ports = { forge, remote: { url: source.url }, git, today: '2026-01-01' };
    await setStatus(forge, asked, () => gateAgain(ports, head));
  }

  #request(forge: GateForge): GateRequest {
    return gateRequest(this.#scene.hub, {
      ...forge,
      postFindings: async () => undefined,
      postComment: async () => true,
    });
  }

  /** A request fails. What could be said before it must be right already. */
  async #fail(asked: GateAsked | CheckReport[] | undefined, at: number, isBefore: boolean): Promise<void> {
    const said = new Set<string>();
    let failing = '';
    const fail = async (name: string): Promise<void> => {
      failing = name;
      throw new PipelineError('unreachable', 'no answer', { retryable: true });
    };
    const forge = this.#watched(at, fail, { isBefore, said });
    try {
      await this.#handle(asked, forge);
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
    }
    // Until the list, the policy and the status were reached, nothing can be said.
    const isUnsaid = ['readOpen', 'readFile', 'readTip', 'readPull of the closed', 'postStatus'].includes(
      failing,
    );
    const excused = this.#pulls().filter(({ head }) => isUnsaid && !said.has(head));
    await this.#expectRight(new Set(excused.map(({ head }) => head)));
  }

  /** The forge, where something happens at a request. */
  #watched(
    at: number,
    happen: (name: string) => Promise<void>,
    { isBefore = true, said = new Set<string>() } = {},
  ): GateForge {
    let count = 0;
    return new Proxy(this.#scene.forge, {
      get: (forge, name: keyof GateForge) => {
        const own = forge[name];
        if (typeof own !== 'function' || name === 'expectPathChanges') return own;
        return async (...words: never[]) => {
          const isMeant = count++ === at;
          if (isMeant && isBefore) await happen(name);
          const answer = await (own as (...of: never[]) => Promise<unknown>)(...words);
          if (name === 'postStatus') said.add((words[0] as unknown as { commit: string }).commit);
          if (isMeant && !isBefore) await happen(name);
          return answer;
        };
      },
    });
  }

  async #expectRight(excused: ReadonlySet<string>): Promise<void> {
    for (const pull of this.#pulls('open')) {
      const state = this.#scene.stateOf(pull);
      if (excused.has(pull.head) || state === 'pending' || state === undefined) continue;
      const same = this.#pulls('open').filter(({ head }) => head === pull.head);
      const states = await Promise.all(same.map((one) => this.#fresh(one)));
      const worst = ['failure', 'pending', 'success'].find((one) => states.includes(one));
      expect(state, `#${pull.number} of ${same.map(({ number }) => number)}`).toBe(worst);
    }
  }

  /** What a check says now: of the same pull request it says the same, whatever number that has. */
  async #fresh(pull: FakePull): Promise<string> {
    const { number, ...rest } = pull;
    const key = JSON.stringify([this.#scene.forge.name, rest, this.tips]);
    const known = fresh.get(key) ?? (await this.#check(number));
    fresh.set(key, known);
    return known;
  }

  async #check(number: number): Promise<string> {
    const { source, git } = this.#request(this.#scene.forge);
    const ports = { forge: this.#scene.forge, remote: { url: source.url }, git, today: '2026-01-01' };
    const outcome = await gatePullRequest(ports, { number });
    return outcome.kind === 'checked' ? stateOf(outcome.report) : 'success';
  }
}

const fresh = new Map<string, string>();

describe('33: the status is pending or right after every event', () => {
  let hub: Hub;
  let local: Repository;
  let commits: Commits;
  let current: Sequence | undefined;
  const counts = new Map<string, number>();

  beforeAll(async () => {
    const opened = await openHub(BASE);
    commits = commitsOf(opened);
    Object.assign(opened.repository, { git: quickGit(opened.repository, (branch) => current?.tips[branch]) });
    const tip = (branch: string): string => current?.tips[branch] ?? '';
    hub = { ...opened, base: () => tip('main'), tip };
    local = await openRepository(opened.repository.directory, { searchPath: process.env['PATH'] });
    here.repository = local;
  });
  afterAll(async () => {
    await local.close();
    await hub.close();
    const lines = [...counts].map(([kind, count]) => `${kind} ${count}`);
    process.stdout.write(`${lines.join(', ')}\n`);
  });

  test.each(Object.keys(SCENES))('33: on %s', { timeout: 36_000_000 }, async (name) => {
    const index = Object.keys(SCENES).indexOf(name);
    const scene = await SCENES[name]?.(hub);
    if (!scene) throw new Error(name);
    const play = async (events: readonly Event[]): Promise<void> => {
      current = new Sequence(scene, commits, counts);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      // Most of what can go wrong begins with a green status.
      for (const one of [GREEN, ...events]) await current.play(one);
    };
    const numRuns = Math.ceil(SEQUENCES / Object.keys(SCENES).length);
    await fc.assert(fc.asyncProperty(fc.array(event, { minLength: 2, maxLength: 7 }), play), {
      numRuns,
      seed: SEED + index,
    });
  });
});
