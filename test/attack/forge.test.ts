/** Attacks and traps of GitHub itself, by the numbers of the design's list; the gate against a fake GitHub. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CheckReport, stateOf } from '../../pipeline/check/report.ts';
import { type GateOutcome, type GateRequest, gatePullRequest } from '../../pipeline/forge/gate.ts';
import { headsOf } from '../../pipeline/forge/head.ts';
import { authorizationHeader } from '../../pipeline/git/process.ts';
import { openGitHub } from '../../pipeline/github/client.ts';
import { type GatePorts, gitHubForge } from '../../pipeline/github/forge.ts';
import { gateGroup } from '../../pipeline/github/group.ts';
import { mergeChecked } from '../../pipeline/github/merge.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { catalogOf, documents, PEOPLE, POLICY } from '../fakes/gate.ts';
import { type FakePull, TOKEN } from '../fakes/github/forge.ts';
import { withoutGraphql } from '../fakes/github/server.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import type { Files } from '../fakes/repository.ts';

let hub: Hub;
let ports: GatePorts;
beforeEach(async () => {
  hub = await openHub();
  const log = (line: string): void => void hub.log.push(line);
  const github = openGitHub({ url: hub.forge.url, identity: { kind: 'token', token: TOKEN }, log });
  const remote = { url: `${hub.forge.url}/example/catalogs.git`, header: authorizationHeader(TOKEN) };
  const repository = { owner: 'example', repo: 'catalogs' };
  ports = { github, repository, remote, git: { searchPath: process.env['PATH'] }, today: '2026-01-01' };
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

const etcd = (...versions: string[]): Files => ({
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', ...versions]),
});
const quay = (...versions: string[]): Files => ({
  'catalogs/v4.20/quay/catalog.yaml': catalogOf('quay', ['3.0.0', '3.1.0', ...versions]),
});

function gateOnGitHub(asked: GatePorts, request: GateRequest): Promise<GateOutcome> {
  return gatePullRequest({ ...asked, forge: gitHubForge(asked) }, request);
}

async function judge(pull: FakePull, pushed?: { by: string; head?: string }): Promise<CheckReport> {
  const { number } = pull;
  const by = pushed && { by: PEOPLE[pushed.by as 'bob'], head: pushed.head ?? pull.head, number };
  const outcome = await gateOnGitHub(ports, { number, ...(by ? { pushed: by } : {}) });
  if (outcome.kind !== 'checked') throw new Error(outcome.why);
  return outcome.report;
}

const decisionOn = async (pull: FakePull): Promise<string> => (await judge(pull)).authority.decision;

describe('what is read', () => {
  test('3 and 11: policy and owners are those of the branch’s tip, whatever the event and the pull request say', async () => {
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    expect(await decisionOn(pull)).toBe('needs');
    // The event still names the commit that the branch was at.
    hub.moveBase({ 'operators/etcd/ci.yaml': 'reviewers: [mallory]\n' });
    expect(await decisionOn(pull)).toBe('allow');
    const own = hub.open(
      { ...etcd('1.2.0'), 'operators/etcd/ci.yaml': 'reviewers: [dan]\n' },
      { author: 'dan' },
    );
    expect(await decisionOn(own)).toBe('needs');
    const policy = hub.open(
      {
        [POLICY_PATH]: `${POLICY.replace("['alice#1', amy]", '[mallory, dan]')}approval: {required: {gate: admins}}\n`,
      },
      { author: 'mallory' },
    );
    policy.reviews.push({ by: 'dan', state: 'APPROVED', commit: policy.head });
    expect(await decisionOn(policy)).toBe('needs');
  });

  test('8: what is judged is the merge with the tip, where the branch has moved on in the same file', async () => {
    const pull = hub.open(etcd('1.2.0'));
    hub.moveBase({ 'README.md': 'moved\n', ...quay('3.2.0') });
    const report = await judge(pull);
    expect(report.packages.map(({ name }) => name)).toEqual(['etcd']);
    hub.moveBase(etcd('1.3.0'));
    expect(await judge(pull)).toMatchObject({
      verdict: 'inconclusive',
      headline: expect.stringContaining('resolve the conflict'),
    });
  });

  test('10: git says what changes; no list of the API does', async () => {
    await judge(hub.open(etcd('1.2.0')));
    const asked = hub.forge.asked.map(({ operation }) => operation);
    expect(asked.filter((operation) => /\/files|\/git\/trees|\/contents/.test(operation))).toEqual([]);
  });

  test('only what is judged is fetched, and in few requests', async () => {
    const big = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [
        `operators/other${i}/0.1.0/manifests/csv.yaml`,
        'x'.repeat(20_000) + i,
      ]),
    );
    hub.moveBase(big);
    await judge(hub.open(etcd('1.2.0')));
    expect(hub.forge.git.bytes).toBeLessThan(30_000);
    expect(hub.forge.git.requests).toBeLessThan(9);
  });

  test('what was published once and is gone still counts, without the history', async () => {
    hub.moveBase({ 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.0.1', '1.1.0']) });
    hub.moveBase({ 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.1.0']) });
    hub.forge.git.bytes = 0;
    // The upgrade path from 1.0.1, which only the past knows, ends here.
    const pull = hub.open({ 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.2.0']) });
    const report = await judge(pull);
    expect(report.unchecked).not.toContainEqual(
      expect.objectContaining({ what: expect.stringContaining('earlier') }),
    );
    const installed = report.findings.flatMap((finding) => finding.installed ?? []);
    expect(installed).toContain('1.0.1');
    expect(hub.forge.git.bytes).toBeLessThan(40_000);
  });

  test('a merge of what both sides changed fetches their versions', async () => {
    const lines = (first: string, last: string): Files => ({
      'operators/etcd/Makefile': [first, ...Array.from({ length: 20 }, (_, i) => `line ${i}`), last].join(
        '\n',
      ),
    });
    hub.moveBase(lines('a', 'z'));
    const pull = hub.open(lines('mine', 'z'));
    hub.moveBase(lines('a', 'theirs'));
    expect(await judge(pull)).toMatchObject({ verdict: 'pass', packages: [{ name: 'etcd' }] });
  });
});

describe('who it is', () => {
  test('6 and 7: a review approves the content of a package that it saw, and nothing that was pushed since', async () => {
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
    expect(await decisionOn(pull)).toBe('allow');
    const approved = pull.head;
    hub.push(pull, etcd('1.2.0', '6.6.6'));
    expect(await decisionOn(pull)).toBe('needs');
    hub.push(pull, { ...etcd('1.2.0'), ...quay('3.2.0') });
    expect((await judge(pull)).authority.needs).toMatchObject([
      expect.stringMatching(/@carol or @dan .*package quay/),
    ]);
    // Back to what was approved, as another commit.
    hub.push(pull, {
      ...etcd('1.2.0'),
      'catalogs/v4.20/quay/catalog.yaml': catalogOf('quay', ['3.0.0', '3.1.0']),
    });
    expect(pull.head).not.toBe(approved);
    expect(await decisionOn(pull)).toBe('allow');
  });

  /** The same files as the head has, or those of its merge, on top of the branch as it is now. */
  function reparent(pull: FakePull, how: 'as they are' | 'merged'): void {
    const { repository } = hub;
    const tree =
      how === 'merged'
        ? repository.git('merge-tree', '--write-tree', hub.base(), pull.head)
        : repository.git('rev-parse', `${pull.head}^{tree}`);
    pull.head = repository.git('commit-tree', tree, '-p', hub.base(), '-m', 'again');
    repository.git('update-ref', `refs/heads/pull-${pull.number}`, pull.head);
  }

  /** A pull request with approvals of its head, which are enough. */
  async function approved(head: Files, by: readonly string[]): Promise<FakePull> {
    const pull = hub.open(head, { author: 'mallory' });
    for (const login of by) pull.reviews.push({ by: login, state: 'APPROVED', commit: pull.head });
    expect(await decisionOn(pull)).toBe('allow');
    return pull;
  }

  const deprecation = { schema: 'olm.deprecations', package: 'etcd', entries: [] };
  const fileOf = (...versions: string[]): string => String(Object.values(etcd(...versions))[0]);

  test.each<[string, { head: Files; by: string[]; before?: Files; moved: Files }]>([
    [
      'an edit of the policy reverts what was blocked since',
      {
        head: { [POLICY_PATH]: `${POLICY}suggestions: false\n` },
        by: ['alice', 'amy'],
        moved: { [POLICY_PATH]: POLICY.replace('blocked: []', "blocked: ['dan#13']") },
      },
    ],
    [
      'a version that was added changes published content since',
      {
        head: { 'operators/etcd/1.2.0/manifests/csv.yaml': 'kind: mine\n' },
        by: ['bob'],
        moved: { 'operators/etcd/1.2.0/manifests/csv.yaml': 'kind: published\n' },
      },
    ],
    [
      'a version that was added takes a deprecation away',
      {
        head: etcd('1.2.0'),
        by: ['bob'],
        moved: { 'catalogs/v4.20/etcd/catalog.yaml': fileOf() + documents(deprecation) },
      },
    ],
    [
      'a package that was pruned from one catalog is gone from all of them',
      {
        before: { 'catalogs/v4.19/free/catalog.yaml': catalogOf('free', ['0.1.0']) },
        head: { 'catalogs/v4.20/free/catalog.yaml': null },
        by: ['alice'],
        moved: { 'catalogs/v4.19/free/catalog.yaml': null },
      },
    ],
  ])('39: %s: the approvals were of another change', async (_, { head, by, before, moved }) => {
    if (before) hub.moveBase(before);
    const pull = await approved(head, by);
    hub.moveBase(moved);
    // The same files where both changed one; a merge would keep what the branch has, or is a conflict.
    reparent(pull, Object.keys(head).some((path) => path in moved) ? 'as they are' : 'merged');
    const { authority } = await judge(pull);
    expect(authority).toMatchObject({
      decision: 'needs',
      reasons: expect.arrayContaining(
        by.map((login) => expect.stringContaining(`@${login} approved different content`)),
      ),
    });
    for (const login of by) pull.reviews.push({ by: login, state: 'APPROVED', commit: pull.head });
    expect((await judge(pull)).authority.reasons.join()).not.toContain('different content');
  });

  test('39: a branch that moves elsewhere keeps approvals, whether the head comes along or not', async () => {
    const version = await approved(etcd('1.2.0'), ['bob']);
    const bundle = await approved({ 'operators/etcd/1.2.0/manifests/csv.yaml': 'kind: mine\n' }, ['bob']);
    const policy = await approved({ [POLICY_PATH]: `${POLICY}suggestions: false\n` }, ['alice', 'amy']);
    hub.moveBase({ ...quay('3.2.0'), 'README.md': 'moved', 'operators/etcd/1.1.0/manifests/csv.yaml': 'x' });
    for (const pull of [version, bundle, policy]) {
      expect(await decisionOn(pull)).toBe('allow');
      reparent(pull, 'merged');
      expect(await decisionOn(pull)).toBe('allow');
    }
  });

  test('39: what an ancestor of the head brought is not taken back with it, once it is merged on its own', async () => {
    for (const [file, decision] of [
      [POLICY_PATH, 'needs'],
      ['README.md', 'allow'],
    ] as const) {
      const guarded = POLICY.replace('blocked: []', "blocked: ['dan#13']");
      const first = { [file]: file === POLICY_PATH ? guarded : 'guarded' };
      const { repository } = hub;
      const below = repository.commit(first, { parents: [hub.base()], branch: 'below' });
      // Against the branch, the two commits together change nothing but the suggestions.
      const both = { [POLICY_PATH]: `${POLICY}suggestions: false\n` };
      const head = repository.commit(both, { parents: [below], branch: 'above' });
      const pull = hub.open(both, { author: 'mallory', head });
      for (const by of ['alice', 'amy']) pull.reviews.push({ by, state: 'APPROVED', commit: head });
      if (file === POLICY_PATH) expect(await decisionOn(pull)).toBe('allow');
      hub.moveBase(first, below);
      expect(await decisionOn(pull)).toBe(decision);
      hub.moveBase({ [POLICY_PATH]: POLICY });
    }
  });

  test('39: a branch that is far ahead keeps approvals, and asks GitHub page by page', async () => {
    const pull = await approved(etcd('1.2.0'), ['bob']);
    const { repository } = hub;
    let tip = hub.base();
    const tree = repository.git('rev-parse', `${tip}^{tree}`);
    for (let i = 0; i < 120; i++) tip = repository.git('commit-tree', tree, '-p', tip, '-m', 'more');
    hub.moveBase({ 'README.md': 'moved' }, tip);
    expect(await decisionOn(pull)).toBe('allow');
    hub.push(pull, { 'operators/etcd/Makefile': 'x' });
    expect(await decisionOn(pull)).toBe('needs');
  });

  test('39: where the merge itself changes something else, the branch must be merged before it is approved', async () => {
    const lines = (first: string, last: string): Files => ({
      'operators/etcd/Makefile': [first, ...Array.from({ length: 20 }, (_, i) => `line ${i}`), last].join(
        '\n',
      ),
    });
    hub.moveBase(lines('a', 'z'));
    const pull = await approved(lines('mine', 'z'), ['bob']);
    hub.moveBase(lines('a', 'theirs'));
    const outdated = await judge(pull);
    expect(outdated.authority.decision).toBe('needs');
    expect(outdated.headline).toContain(
      'needs a new commit: the base branch has since changed what this pull request replaces in package etcd',
    );
    // Another approval of the same head says no more than the first.
    pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
    expect(await decisionOn(pull)).toBe('needs');
    reparent(pull, 'merged');
    expect((await judge(pull)).headline).toContain('needs approval from @bob');
    pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
    expect(await decisionOn(pull)).toBe('allow');
  });

  test('6: a review of a commit that GitHub forgot approves nothing', async () => {
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    for (const commit of [null, 'f'.repeat(40)]) {
      pull.reviews.splice(0, 1, { by: 'bob', state: 'APPROVED', commit });
      expect(await decisionOn(pull)).toBe('needs');
    }
  });

  test('13: a login that nobody has any more owns nothing', async () => {
    const pull = hub.open(etcd('1.2.0'));
    expect(await decisionOn(pull)).toBe('allow');
    hub.forge.accounts.splice(
      hub.forge.accounts.findIndex(({ login }) => login === 'bob'),
      1,
      { login: 'bob', id: 666 },
    );
    hub.moveBase({ 'operators/etcd/ci.yaml': "reviewers: ['bob#11', nobody-any-more]\n" });
    const report = await judge(pull);
    expect(report.authority.decision).toBe('needs');
    expect(report.authority.warnings).toEqual([
      expect.stringContaining('the login now belongs to account 666'),
      expect.stringContaining('nobody-any-more: no such GitHub account'),
    ]);
  });

  test('13: members of a team are asked for; a team that may not be read is nobody', async () => {
    hub.moveBase({ 'operators/etcd/ci.yaml': "reviewers: ['@example/etcd']\n" });
    const pull = hub.open(etcd('1.2.0'));
    expect((await judge(pull)).authority).toMatchObject({
      decision: 'needs',
      warnings: [expect.stringContaining('requires the token of a GitHub App')],
    });
    hub.forge.teams.set('example/etcd', ['bob']);
    expect(await decisionOn(pull)).toBe('allow');
  });

  test('14: names in commits give no right', async () => {
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    pull.commits = [
      {
        sha: pull.head,
        author: 'bob',
        verified: true,
        message: 'x\n\nCo-authored-by: bob <11+bob@users.noreply.github.com>',
      },
    ];
    expect(await decisionOn(pull)).toBe('needs');
  });

  test('15: somebody else’s push or commit in an owner’s pull request takes an owner’s look', async () => {
    const pull = hub.open(etcd('1.2.0'));
    expect((await judge(pull, { by: 'bob' })).authority.decision).toBe('allow');
    expect((await judge(pull, { by: 'mallory' })).authority.decision).toBe('needs');
    // Who pushed is asked for when the event does not say it, or says it of another head.
    pull.pusher = 'mallory';
    expect(await decisionOn(pull)).toBe('needs');
    expect((await judge(pull, { by: 'bob', head: 'e'.repeat(40) })).authority.decision).toBe('needs');
    pull.pusher = undefined;
    expect(await decisionOn(pull)).toBe('needs');
    pull.pusher = 'bob';
    pull.commits = [
      { sha: pull.head, author: 'bob' },
      { sha: 'a'.repeat(40), author: 'mallory' },
    ];
    expect(await decisionOn(pull)).toBe('needs');
  });

  test('15: commits beyond those that GitHub lists are nobody’s', async () => {
    const pull = hub.open(etcd('1.2.0'));
    pull.commits = Array.from({ length: 260 }, (_, i) => ({
      sha: i.toString(16).padStart(40, '0'),
      author: 'bob',
    }));
    hub.forge.faults = [
      ({ operation, query }) =>
        operation.endsWith('/pulls/{pull_number}/commits') && Number(query['page'] ?? 1) > 2
          ? { data: [] }
          : undefined,
    ];
    expect((await judge(pull)).authority.warnings).toEqual([
      expect.stringContaining('more than GitHub lists'),
    ]);
  });

  test('16: comments approve nothing, nor do programs', async () => {
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    pull.reviews.push({ by: 'bob', state: 'COMMENTED', commit: pull.head });
    expect(await decisionOn(pull)).toBe('needs');
    hub.moveBase({ 'operators/etcd/ci.yaml': "reviewers: ['github-actions[bot]', bob]\n" });
    pull.reviews.push({ by: 'github-actions[bot]', state: 'APPROVED', commit: pull.head });
    expect(await decisionOn(pull)).toBe('needs');
  });
});

describe('what others say', () => {
  const policy = `${POLICY}checks:
  required: [{name: install, app: 15368, workflow: .github/workflows/install-test.yml}]
`;

  test('22 and 4: a required check counts only from its app and its workflow, at the judged head', async () => {
    hub.moveBase({ [POLICY_PATH]: policy });
    const pull = hub.open(etcd('1.2.0'));
    const waits = async (): Promise<readonly string[]> => (await judge(pull)).waitsFor;
    expect(await waits()).toEqual(['the required check "install" does not exist yet']);
    const check = {
      name: 'install',
      head: pull.head,
      app: 666,
      suite: 1,
      status: 'completed',
      conclusion: 'success',
    };
    const somebodyElse = [
      'the required check "install" was created by another app than the one in the policy',
    ];
    hub.forge.checks.push(check);
    hub.forge.workflows.push({ suite: 1, path: '.github/workflows/install-test.yml', head: pull.head });
    expect(await waits()).toEqual(somebodyElse);
    hub.forge.workflows.splice(0, 1, { suite: 1, path: '.github/workflows/evil.yml', head: pull.head });
    hub.forge.checks.push({ ...check, app: 15368 });
    expect(await waits()).toEqual(somebodyElse);
    hub.forge.workflows.splice(0, 1, {
      suite: 1,
      path: '.github/workflows/install-test.yml',
      head: pull.head,
    });
    const report = await judge(pull);
    expect([report.waitsFor, stateOf(report)]).toEqual([[], 'success']);
    // A second run at the same commit that failed is not outvoted.
    hub.forge.checks.push({ ...check, app: 15368, conclusion: 'failure' });
    expect(await waits()).toEqual(['the required check "install" ended with failure']);
    hub.push(pull, etcd('1.2.0', '1.3.0'));
    expect(await waits()).toEqual(['the required check "install" does not exist yet']);
  });

  test('5: a poke names a commit; whose pull request that is, GitHub says', async () => {
    const pull = hub.open(etcd('1.2.0'));
    hub.open(quay('3.2.0'), { author: 'mallory' });
    const open = await gitHubForge(ports).readOpen();
    expect(headsOf(open, { kind: 'commit', commit: pull.head })).toMatchObject([{ pulls: [pull.number] }]);
    expect(headsOf(open, { kind: 'commit', commit: 'a'.repeat(40) })).toEqual([]);
  });

  test('25: a review that comes later is seen when the gate is poked', async () => {
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    expect(stateOf(await judge(pull))).toBe('pending');
    pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
    expect(stateOf(await judge(pull))).toBe('success');
  });

  test('drafts and labels hold what is allowed and green', async () => {
    const pull = hub.open(etcd('1.2.0'), {
      draft: true,
      labels: ['do-not-merge/work-in-progress', 'kind/bug'],
    });
    const report = await judge(pull);
    expect(report.holds).toEqual([
      'the pull request is a draft',
      'it has the label "do-not-merge/work-in-progress"',
    ]);
    expect(stateOf(report)).toBe('pending');
  });
});

describe('merging', () => {
  const how = { mode: 'auto', method: 'squash', via: 'queue-if-enabled' } as const;
  const mergeOf = (pull: FakePull, report: CheckReport) =>
    mergeChecked(ports.github, ports.repository, {
      number: pull.number,
      head: report.head,
      base: report.base,
      branch: 'main',
      merge: how,
    });

  test('33: only the judged head is merged', async () => {
    const pull = hub.open(etcd('1.2.0'));
    const report = await judge(pull);
    hub.push(pull, etcd('6.6.6'));
    expect(await mergeOf(pull, report)).toMatchObject({ kind: 'moved' });
    expect(hub.forge.merges).toEqual([]);
    expect(await mergeOf(pull, await judge(pull))).toMatchObject({ kind: 'merged' });
    expect(hub.forge.merges).toEqual([{ number: pull.number, sha: pull.head, method: 'squash' }]);
  });

  test('8: not with a base that has moved since it was judged', async () => {
    const pull = hub.open(etcd('1.2.0'));
    const report = await judge(pull);
    hub.moveBase(quay('3.2.0'));
    expect(await mergeOf(pull, report)).toMatchObject({ kind: 'moved' });
    expect(hub.forge.merges).toEqual([]);
  });

  test('33: by the queue where the branch has one, at the judged head', async () => {
    hub.forge.rules = ['merge_queue'];
    const pull = hub.open(etcd('1.2.0'));
    const report = await judge(pull);
    const judged = pull.head;
    hub.push(pull, etcd('6.6.6'));
    expect(await mergeOf(pull, report)).toMatchObject({ kind: 'refused' });
    expect(hub.forge.enqueued).toEqual([]);
    pull.head = judged;
    expect(await mergeOf(pull, report)).toEqual({ kind: 'queued' });
    expect(hub.forge.enqueued).toEqual([{ number: pull.number, head: judged }]);
  });

  test('22: a rule of the branch that refuses is not bypassed', async () => {
    const pull = hub.open(etcd('1.2.0'));
    const report = await judge(pull);
    hub.forge.faults = [
      ({ operation }) =>
        operation.startsWith('PUT')
          ? { status: 405, data: { message: 'Required status check is expected.' } }
          : undefined,
    ];
    expect(await mergeOf(pull, report)).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('Required'),
    });
  });

  test('26: a group of the queue is judged as it would be merged, with everybody who is in it', async () => {
    const first = hub.open(etcd('1.2.0'));
    const second = hub.open(quay('3.2.0'), { author: 'carol' });
    const groups = hub.queue([first, second]);
    const judgeGroup = async (): Promise<CheckReport> => {
      const outcome = await gateGroup(ports, { base: hub.base(), head: groups.at(-1) ?? '', branch: 'main' });
      if (outcome.kind !== 'checked') throw new Error(outcome.why);
      return outcome.report;
    };
    const report = await judgeGroup();
    expect(report).toMatchObject({ head: groups.at(-1), verdict: 'pass', authority: { decision: 'allow' } });
    expect(report.packages.map(({ name }) => name)).toEqual(['etcd', 'quay']);
    // One who may not keeps the group out; so does a queue that does not tell.
    second.author = 'mallory';
    expect(stateOf(await judgeGroup())).toBe('failure');
    second.author = 'carol';
    hub.forge.queue.splice(0, 1);
    expect(await judgeGroup()).toMatchObject({ headline: expect.stringContaining('GitHub does not say') });
  });
});

describe('bad moments of GitHub', () => {
  const slowly = 20_000;

  test('failures that pass are asked again, limits are waited for', { timeout: slowly }, async () => {
    const pull = hub.open(etcd('1.2.0'));
    let left = 2;
    hub.forge.faults = [
      withoutGraphql,
      ({ operation }) => {
        if (!operation.endsWith('/reviews') || left-- <= 0) return undefined;
        if (left === 1) return { status: 502, data: { message: 'Server Error' } };
        return {
          status: 403,
          headers: { 'retry-after': '1' },
          data: { message: 'You have exceeded a secondary rate limit. Please wait.' },
        };
      },
    ];
    expect(await decisionOn(pull)).toBe('allow');
    expect(hub.log.join()).toMatch(/requires waiting 1 s/);
  });

  test('a limit that lasts is an error that may be tried again, and no verdict', async () => {
    const pull = hub.open(etcd('1.2.0'));
    hub.forge.faults = [
      withoutGraphql,
      ({ operation }) =>
        operation.endsWith('/reviews')
          ? {
              status: 403,
              headers: { 'retry-after': '3600' },
              data: { message: 'You have exceeded a secondary rate limit.' },
            }
          : undefined,
    ];
    await expect(judge(pull)).rejects.toMatchObject({ code: 'rate-limited', retryable: true });
  });

  test('28: an error names no token', async () => {
    const pull = hub.open(etcd('1.2.0'));
    hub.forge.faults = [() => ({ status: 403, data: { message: 'Resource not accessible by integration' } })];
    const error = await judge(pull).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'denied' });
    expect(String(error)).not.toContain(TOKEN);
    const lost = { ...ports, remote: { ...ports.remote, header: `Authorization: basic ${TOKEN}` } };
    hub.forge.faults = [];
    const refused = await gateOnGitHub(lost, { number: pull.number }).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ code: 'denied' });
    expect(String(refused)).not.toContain(TOKEN);
  });
});

describe('61: history that merges otherwise than it looks', () => {
  /** A branch that was merged once, and whose author merged the base branch before that: two latest common ancestors. */
  function crissCross(): FakePull {
    const { repository } = hub;
    const first = hub.base();
    // An admin repairs quay; the branch has its own commit.
    const repaired = hub.moveBase(quay('3.2.0'));
    const own = repository.commit(etcd('1.2.0'), { parents: [first], branch: 'side', author: 'bob' });
    // Each is merged into the other, and quay's repair is undone in the branch.
    hub.moveBase(etcd('1.2.0'), own);
    const undone = { ...etcd('1.2.0'), ...quay() };
    const merged = repository.commit(undone, { parents: [own, repaired], branch: 'side', author: 'bob' });
    const pull = hub.open({}, {});
    pull.head = repository.commit(etcd('1.2.0', '1.3.0'), {
      parents: [merged],
      branch: `pull-${pull.number}`,
      author: 'bob',
    });
    return pull;
  }

  test('61: what several common ancestors change is what git says, whichever of them GitHub names', async () => {
    const pull = crissCross();
    const { repository } = hub;
    const bases = repository.git('merge-base', '--all', hub.base(), pull.head).split('\n');
    expect(bases).toHaveLength(2);
    const tree = repository.git('merge-tree', '--write-tree', hub.base(), pull.head);
    const report = await judge(pull);
    expect(report.tree).toBe(tree);
    const changed = repository.git('diff-tree', '-r', '--name-only', `${hub.base()}^{tree}`, tree);
    expect(changed.includes('quay')).toBe(report.packages.some(({ name }) => name === 'quay'));
  });

  test('61: a branch that took in the base branch is checked as before', async () => {
    const pull = hub.open(etcd('1.2.0'));
    const base = hub.moveBase(quay('3.2.0'));
    const both = { ...etcd('1.2.0'), ...quay('3.2.0') };
    pull.head = hub.repository.commit(both, {
      parents: [pull.head, base],
      branch: `pull-${pull.number}`,
      author: 'bob',
    });
    const report = await judge(pull);
    expect(report.authority.decision).toBe('allow');
    expect(report.packages.map(({ name }) => name)).toEqual(['etcd']);
  });

  test('61: commits are replayed by a merge only on top of the branch, in a line', async () => {
    const merge = { mode: 'auto', method: 'rebase', via: 'direct' } as const;
    const asked = (pull: FakePull) =>
      mergeChecked(ports.github, ports.repository, {
        number: pull.number,
        head: pull.head,
        base: hub.base(),
        branch: 'main',
        merge,
      });
    const behind = hub.open(etcd('1.2.0'));
    hub.moveBase(quay('3.2.0'));
    expect(await asked(behind)).toEqual({
      kind: 'refused',
      why: expect.stringContaining('rebase the pull request'),
    });
    const onTop = hub.open(etcd('1.2.0'));
    expect(await asked(onTop)).toMatchObject({ kind: 'merged' });
  });
});
