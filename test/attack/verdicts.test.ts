/** Attack 33: a green status can be trusted at any time, whatever else happened to its commit: on every forge. */
import { afterEach, describe, expect, test } from 'vitest';
import { type GateAsked, type GateRequest, handleGate, handleGates } from '../../functions/gate.ts';
import { stateOf } from '../../pipeline/check/report.ts';
import { PipelineError } from '../../pipeline/error.ts';
import type { GateForge } from '../../pipeline/forge/forge.ts';
import { forgejoClient, forgejoForge } from '../../pipeline/forge/forgejo/forge.ts';
import { gitLabClient, gitLabForge } from '../../pipeline/forge/gitlab/forge.ts';
import { gateHead } from '../../pipeline/forge/head.ts';
import { setStatus } from '../../pipeline/forge/status.ts';
import { authorizationHeader } from '../../pipeline/git/process.ts';
import { gitHubForge } from '../../pipeline/github/forge.ts';
import { gateGroup } from '../../pipeline/github/group.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { FORGEJO_TOKEN, fakeForgejo } from '../fakes/forgejo.ts';
import { catalogOf, POLICY } from '../fakes/gate.ts';
import { gateRequest } from '../fakes/gate-request.ts';
import { unpaced } from '../fakes/github/client.ts';
import type { FakePull } from '../fakes/github/forge.ts';
import { fakeGitLab, GITLAB_TOKEN } from '../fakes/gitlab.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import type { Files } from '../fakes/repository.ts';

const NAME = { owner: 'example', repo: 'catalogs' };

interface Said {
  readonly state: string;
  readonly description: string;
}

interface Scene {
  readonly hub: Hub;
  readonly request: GateRequest;
  /** Statuses of a commit that a branch would be decided by, in their order. */
  readonly statuses: (pull: FakePull) => readonly Said[];
}

let opened: Hub | undefined;
afterEach(async () => {
  await opened?.close();
  expect(opened?.forge.defects).toEqual([]);
});

const SCENES: Readonly<Record<string, () => Promise<Scene>>> = {
  GitHub: async () => {
    const hub = await openHub();
    const github = unpaced(hub.forge);
    const request = gateRequest(hub, gitHubForge({ github, repository: NAME }));
    return {
      hub,
      request: {
        ...request,
        gateGroup: (ports, group) => gateGroup({ ...ports, github, repository: NAME }, group),
      },
      statuses: ({ head }) => hub.forge.statuses.filter(({ sha }) => sha === head),
    };
  },
  Forgejo: async () => {
    const hub = await openHub();
    const fake = await fakeForgejo(hub);
    const client = forgejoClient(fake.api, async () => FORGEJO_TOKEN);
    return {
      hub,
      request: gateRequest(hub, forgejoForge(client, NAME)),
      statuses: ({ head }) => fake.statuses.filter(({ sha }) => sha === head),
    };
  },
  GitLab: async () => {
    const hub = await openHub();
    const fake = await fakeGitLab(hub);
    const client = gitLabClient(fake.api, async () => GITLAB_TOKEN);
    return {
      hub,
      request: gateRequest(hub, gitLabForge(client, NAME)),
      statuses: ({ number }) =>
        fake.statusesOf(number).map((one) => ({ ...one, state: FROM_GITLAB[one.state] ?? one.state })),
    };
  },
};

const FROM_GITLAB: Readonly<Record<string, string>> = { failed: 'failure' };

const etcd = (...versions: string[]): Files => ({
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', ...versions]),
});

/** The same head, for another branch. */
function alsoFor(hub: Hub, pull: FakePull, branch: string, more: Partial<FakePull> = {}): FakePull {
  const number = Math.max(...hub.forge.pulls.keys()) + 1;
  const other = { ...pull, number, into: branch, labels: [], reviews: [], ...more };
  hub.forge.pulls.set(number, other);
  return other;
}

/** A branch beside `main`, with a policy of its own. */
function branchOff(hub: Hub, name: string, files: Files): void {
  hub.repository.commit(files, { parents: [hub.base()], branch: name });
}

describe.each(Object.keys(SCENES))('%s', (name) => {
  const open = async (): Promise<Scene> => {
    const scene = await SCENES[name]?.();
    if (!scene) throw new Error(name);
    opened = scene.hub;
    return scene;
  };
  const last = ({ statuses }: Scene, pull: FakePull): Said | undefined => statuses(pull).at(-1);

  test('33: of two pull requests with one head, the worst result counts, and the other is named', async () => {
    const scene = await open();
    const { hub, request } = scene;
    branchOff(hub, 'dev', { [POLICY_PATH]: `${POLICY}enforce: off\n` });
    const denied = hub.open(etcd('1.2.0'), { author: 'mallory' });
    const free = alsoFor(hub, denied, 'dev');
    for (const number of [denied.number, free.number]) {
      await handleGate(number, request);
      expect(last(scene, denied)?.state).toBe('pending');
      // GitLab keeps the first description of a status that stays pending.
      if (name !== 'GitLab') expect(last(scene, denied)?.description).toContain(`#${free.number} to dev`);
    }
    // Alone, each is what it is.
    denied.state = 'closed';
    await handleGate(free.number, request);
    expect(last(scene, free)).toMatchObject({ state: 'success' });
  });

  test('33: whoever has the head of a pull request that was closed no longer waits for it', async () => {
    const scene = await open();
    const { hub, request } = scene;
    branchOff(hub, 'dev', { [POLICY_PATH]: `${POLICY}enforce: off\n` });
    const denied = hub.open(etcd('1.2.0'), { author: 'mallory' });
    const free = alsoFor(hub, denied, 'dev');
    await handleGate(free.number, request);
    expect(last(scene, free)?.state).toBe('pending');
    denied.state = 'closed';
    // The event names the one that was closed.
    await handleGate(denied.number, request);
    expect(last(scene, free)?.state).toBe('success');
  });

  test('33: whoever has the head that a push leaves no longer waits for it', async () => {
    const scene = await open();
    const { hub, request } = scene;
    branchOff(hub, 'dev', { [POLICY_PATH]: `${POLICY}enforce: off\n` });
    const denied = hub.open(etcd('1.2.0'), { author: 'mallory' });
    const free = alsoFor(hub, denied, 'dev');
    await handleGate(free.number, request);
    expect(last(scene, free)?.state).toBe('pending');
    const previousHead = denied.head;
    hub.push(denied, etcd('1.2.0', '1.3.0'));
    if (name === 'Forgejo') {
      // The event of the pull request does not name it; that of the branch does.
      await handleGates({ kind: 'moved', branch: denied.branch, before: previousHead }, request);
    } else {
      const selection = { kind: 'pull', number: denied.number, previousHead } as const;
      await handleGates({ kind: 'selected', selection }, request);
      expect(last(scene, denied)?.state).toBe('pending');
    }
    expect(last(scene, free)?.state).toBe('success');
  });

  test('33: a result is not said that something has changed under since', async () => {
    const scene = await open();
    const { hub, request } = scene;
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
    const reports = await handleGates(
      { kind: 'selected', selection: { kind: 'pull', number: pull.number } },
      request,
    );
    expect(last(scene, pull)?.state).toBe('success');
    // A hold is set. What was found before is said again: it is not the result any more.
    pull.labels.push('hold');
    let again = 0;
    await setStatus(request.forge, reports, async () => {
      again += 1;
      return [];
    });
    expect(again).toBe(1);
    await handleGate(pull.number, request);
    expect(last(scene, pull)?.state).toBe('pending');
    const statuses = scene.statuses(pull).length;
    await setStatus(request.forge, reports, async () => []);
    expect(scene.statuses(pull)).toHaveLength(statuses);
  });

  test.each(['closed', 'for a free branch'])(
    '33: one that was %s while it was checked counts when it is said',
    async (how) => {
      const scene = await open();
      const { hub, request } = scene;
      branchOff(hub, 'dev', { [POLICY_PATH]: `${POLICY}enforce: off\n` });
      branchOff(hub, 'free', { [POLICY_PATH]: `${POLICY}branches: [main]\n` });
      const allowed = hub.open(etcd('1.2.0'), { author: 'mallory', into: 'dev' });
      const denied = alsoFor(hub, allowed, how === 'closed' ? 'main' : 'free');
      if (how === 'closed') denied.state = 'closed';
      const { forge, git, source, token } = request;
      const remote = { url: source.url, header: authorizationHeader(token) };
      const pulls = [allowed.number, denied.number];
      const reports = await gateHead(
        { forge, git, remote, today: '2026-01-01' },
        { commit: allowed.head, pulls },
      );
      expect(reports.map(stateOf)).toEqual(['success']);
      [denied.state, denied.into] = ['open', 'main'];
      let again = 0;
      await setStatus(forge, reports, async () => {
        again += 1;
        return [];
      });
      expect(again).toBe(1);
      expect(scene.statuses(allowed)).toEqual([]);
    },
  );

  test('33: what changes while it is said has it checked again', async () => {
    const scene = await open();
    const { hub, request } = scene;
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
    const forge: GateForge = {
      ...request.forge,
      postStatus: async (status) => {
        await request.forge.postStatus(status);
        if (status.state === 'success' && !pull.labels.includes('hold')) pull.labels.push('hold');
      },
    };
    const reports = await handleGates(
      { kind: 'selected', selection: { kind: 'pull', number: pull.number } },
      { ...request, forge },
    );
    expect(last(scene, pull)?.state).toBe('pending');
    expect(reports.map(({ holds }) => holds)).toEqual([[expect.stringContaining('hold')]]);
  });

  test('33: a check that ends early leaves no older success, and says why', async () => {
    const scene = await open();
    const { hub, request } = scene;
    const pull = hub.open(etcd('1.2.0'));
    await handleGate(pull.number, request);
    expect(last(scene, pull)?.state).toBe('success');
    const forge: GateForge = {
      ...request.forge,
      readReviewed: undefined,
      readReviews: () => Promise.reject(new PipelineError('bad-answer', 'reviews: 500', { retryable: true })),
    };
    await expect(handleGate(pull.number, { ...request, forge })).rejects.toThrow('reviews: 500');
    expect(last(scene, pull)?.state).toBe('pending');
    // GitLab keeps the first description of a status that stays pending.
    if (name !== 'GitLab') expect(last(scene, pull)?.description).toContain('reviews: 500');
    await handleGate(pull.number, request);
    expect(last(scene, pull)?.state).toBe('success');
  });

  test('33: a push of an owner, a policy or a catalog has what was green checked again', async () => {
    const scene = await open();
    const { hub, request } = scene;
    const [pull, other] = [hub.open(etcd('1.2.0')), hub.open({ 'docs/a.md': 'x' }, { author: 'alice' })];
    for (const { number } of [pull, other]) await handleGate(number, request);
    expect(last(scene, pull)?.state).toBe('success');
    const moved = async (files: Files): Promise<number> => {
      const before = hub.base();
      hub.moveBase(files);
      const count = scene.statuses(pull).length;
      const asked: GateAsked = { kind: 'moved', branch: 'main', before };
      await handleGates(asked, request);
      return scene.statuses(pull).length - count;
    };
    // Nothing that a check of it reads.
    expect(await moved({ 'docs/b.md': 'x' })).toBe(0);
    expect(await moved({ 'operators/etcd/ci.yaml': 'reviewers: [carol]\n' })).toBeGreaterThan(0);
    expect(last(scene, pull)?.state).toBe('pending');
    expect(await moved({ 'operators/etcd/ci.yaml': 'reviewers: [bob]\n' })).toBeGreaterThan(0);
    expect(last(scene, pull)?.state).toBe('success');
    const before = hub.base();
    hub.moveBase({ 'docs/a.md': 'y' });
    const count = scene.statuses(other).length;
    await handleGates({ kind: 'moved', branch: 'main', before }, request);
    expect(scene.statuses(other).length, 'the same file').toBeGreaterThan(count);
  });

  test('33: where one check fails, the others are not left out', async () => {
    const scene = await open();
    const { hub, request } = scene;
    const [first, second] = [hub.open(etcd('1.2.0')), hub.open(etcd('1.3.0'))];
    const forge: GateForge = {
      ...request.forge,
      readReviewed: undefined,
      readReviews: (number) =>
        number === first.number
          ? Promise.reject(new PipelineError('unreachable', 'no answer', { retryable: true }))
          : request.forge.readReviews(number),
    };
    const asked = { kind: 'selected', selection: { kind: 'all' } } as const;
    await expect(handleGates(asked, { ...request, forge })).rejects.toThrow('no answer');
    expect([last(scene, first)?.state, last(scene, second)?.state]).toEqual(['pending', 'success']);
  });

  test('a branch that is not gated has no status', async () => {
    const scene = await open();
    const { hub, request } = scene;
    branchOff(hub, 'free', { [POLICY_PATH]: `${POLICY}branches: [main]\n` });
    const pull = hub.open(etcd('1.2.0'), { into: 'free' });
    await handleGate(pull.number, request);
    expect(scene.statuses(pull)).toEqual([]);
    // Nor does it keep one that is gated from passing.
    const gated = alsoFor(hub, pull, 'main');
    await handleGate(gated.number, request);
    expect(last(scene, gated)?.state).toBe('success');
  });
});

describe('GitHub', () => {
  const open = async (): Promise<Scene> => {
    const scene = await SCENES['GitHub']?.();
    if (!scene) throw new Error('no scene');
    opened = scene.hub;
    return scene;
  };
  const states = ({ statuses }: Scene, pull: FakePull): string[] => statuses(pull).map(({ state }) => state);

  test('33: a success is never the last status that GitHub takes, and the comment says why', async () => {
    const scene = await open();
    const { hub, request } = scene;
    const pull = hub.open(etcd('1.2.0'));
    const others = (count: number, context: string) =>
      hub.forge.statuses.push(
        ...Array.from({ length: count }, () => ({ sha: pull.head, context, state: 'pending' })),
      );
    // Those of others do not count.
    others(970, 'portolan');
    others(200, 'ci');
    await handleGate(pull.number, request);
    expect(states(scene, pull).at(-1)).toBe('success');
    others(10, 'portolan');
    await expect(handleGate(pull.number, request)).rejects.toThrow(/takes no more than 1000/);
    expect(scene.statuses(pull).at(-1)).toMatchObject({
      state: 'pending',
      description: expect.stringContaining('no more than 1000'),
    });
    expect(hub.forge.comments.get(pull.number)?.[0]?.body).toContain('the status portolan could not be set');
  });

  test('33: a status that somebody else set is set again, and an own one is not', async () => {
    const scene = await open();
    const { hub, request } = scene;
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    await handleGate(pull.number, request);
    const asked = { kind: 'set', commit: pull.head } as const;
    await handleGates(asked, request);
    expect(states(scene, pull)).toEqual(['pending', 'pending']);
    const creator = { login: 'mallory', id: 66 };
    hub.forge.statuses.push({ sha: pull.head, context: 'portolan', state: 'success', creator });
    await handleGates(asked, request);
    expect(states(scene, pull).slice(2)).toEqual(['success', 'pending', 'pending']);
  });

  test('33: an approval of a pull request from a fork is found by its commit', async () => {
    const scene = await open();
    const pull = scene.hub.open(etcd('1.2.0'), { author: 'mallory' });
    pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
    await handleGates({ kind: 'selected', selection: { kind: 'commit', commit: pull.head } }, scene.request);
    expect(states(scene, pull)).toEqual(['pending', 'success']);
  });

  test('33: a group of the queue is checked; where the queue cannot be read, it fails and does not wait', async () => {
    const scene = await open();
    const { hub, request } = scene;
    const pull = hub.open(etcd('1.2.0'));
    const [head = ''] = hub.queue([pull]);
    const asked = { kind: 'group', group: { base: hub.base(), head, branch: 'main' } } as const;
    const group = { ...pull, head };
    await handleGates(asked, request);
    expect(states(scene, group)).toEqual(['pending', 'success']);
    hub.forge.readsQueues = false;
    await handleGates(asked, request);
    expect(states(scene, group).at(-1)).toBe('failure');
    expect(scene.statuses(group).at(-1)?.description).toContain('GitHub App');
  });

  test('33: what was created although the answer was lost is not created again', async () => {
    const scene = await open();
    const { hub, request } = scene;
    const pull = hub.open(etcd('1.2.0'));
    let lost = 0;
    hub.forge.deaf = () => {
      const { operation = '' } = hub.forge.asked.at(-1) ?? {};
      const isCreation = /^POST .*(?:\/comments|\/check-runs)$/.test(operation);
      if (isCreation) lost += 1;
      return isCreation;
    };
    await handleGate(pull.number, request);
    expect(lost).toBe(2);
    expect(hub.forge.comments.get(pull.number)).toHaveLength(1);
    expect(hub.forge.checkRuns).toHaveLength(1);
    hub.forge.deaf = undefined;
    // One that an older version wrote twice is removed, and nobody else's.
    const [own] = hub.forge.comments.get(pull.number) ?? [];
    if (!own) throw new Error('no comment');
    hub.forge.comments.get(pull.number)?.push({ ...own, id: 77 }, { ...own, id: 78, by: 'mallory' });
    await handleGate(pull.number, request);
    expect(hub.forge.comments.get(pull.number)?.map(({ id }) => id)).toEqual([own.id, 78]);
  });

  test('33: GraphQL of GitHub Enterprise Server is beside its REST API', async () => {
    const scene = await open();
    const { sendQuery: graphql } = await import('../../pipeline/github/graphql.ts');
    const github = unpaced({ url: `${scene.hub.forge.url}/api/v3` });
    const asked: string[] = [];
    github.hook.wrap('request', async (_, options) => {
      asked.push(options.url);
      return { data: { data: {} } } as never;
    });
    await graphql(github, 'query { viewer { databaseId } }', {});
    expect(asked).toEqual([`${scene.hub.forge.url}/api/graphql`]);
  });
});
