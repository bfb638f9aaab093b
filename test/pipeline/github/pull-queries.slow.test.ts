/** What one question of GraphQL answers is what the REST API says in many requests. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { gitHubForge } from '../../../pipeline/github/forge.ts';
import { parseIdentity } from '../../../pipeline/policy/identity.ts';
import { catalogOf } from '../../fakes/gate.ts';
import { unpaced } from '../../fakes/github/client.ts';
import type { FakePull } from '../../fakes/github/forge.ts';
import { withoutGraphql } from '../../fakes/github/server.ts';
import { type Hub, openHub } from '../../fakes/hub.ts';

let hub: Hub;
beforeEach(async () => {
  hub = await openHub();
});
afterEach(async () => {
  expect(hub.forge.defects).toEqual([]);
  await hub.close();
});

const CHANGE = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };
const forge = () =>
  gitHubForge({ github: unpaced(hub.forge), repository: { owner: 'example', repo: 'catalogs' } });

test('the newest status is found behind pages of statuses of others', async () => {
  const { head } = hub.open(CHANGE);
  const status = (context: string, state = 'pending') => ({ sha: head, context, state });
  hub.forge.statuses.push(status('portolan'), status('portolan', 'success'));
  hub.forge.statuses.push(...Array.from({ length: 250 }, (_, i) => status(`ci/${i}`)));
  const [newest] = await forge().readStatuses(head);
  expect(newest).toMatchObject({ id: 2, state: 'success' });
});

/** Both answers to the same, and how many requests each took. */
async function bothWays<T>(act: (of: ReturnType<typeof forge>) => Promise<T>) {
  const once = async (faults: typeof hub.forge.faults) => {
    hub.forge.faults = faults;
    const before = hub.forge.asked.length;
    const said = await act(forge());
    const asked = hub.forge.asked.slice(before).map(({ operation }) => operation);
    return { said, asked };
  };
  const [question, rest] = [await once([]), await once([withoutGraphql])];
  return { question, rest };
}

/** By the port's parts, as where no question answers all. */
async function reviewedByParts(of: ReturnType<typeof forge>, number: number) {
  return { pull: await of.readPull(number), reviews: await of.readReviews(number) };
}

const PULLS: Readonly<Record<string, (pull: FakePull) => void>> = {
  'as it is opened': () => undefined,
  'a draft with labels': (pull) => Object.assign(pull, { draft: true, labels: ['hold', 'wip'] }),
  'closed, for another branch': (pull) => Object.assign(pull, { state: 'closed', into: 'dev' }),
  'by an app': (pull) => Object.assign(pull, { author: 'github-actions[bot]' }),
  'with reviews of every kind': (pull) => {
    const states = ['COMMENTED', 'CHANGES_REQUESTED', 'APPROVED', 'DISMISSED', 'PENDING'];
    pull.reviews.push(
      ...states.map((state) => ({ by: 'carol', state, commit: pull.head })),
      { by: 'nobody-any-more', state: 'APPROVED', commit: null },
      { by: 'github-actions[bot]', state: 'APPROVED', commit: pull.base },
    );
  },
};

test.each(Object.entries(PULLS))('a pull request %s', async (_, change) => {
  const pull = hub.open(CHANGE);
  change(pull);
  const { question, rest } = await bothWays((of) => of.readOpen());
  expect(question.said.map(({ head: { hasNoStatus: _, ...head }, ...open }) => ({ ...open, head }))).toEqual(
    rest.said,
  );
  hub.forge.faults = [];
  const reviewed = await forge().readReviewed?.(pull.number);
  expect(reviewed).toEqual(await reviewedByParts(forge(), pull.number));
  const again = await forge().readAgain?.([pull.number], ['main']);
  expect(again?.reviews.get(pull.number)).toEqual(reviewed?.reviews);
  expect(again?.tips.get('main')).toBe(hub.base());
  expect(again?.open.map(({ number }) => number)).toEqual(rest.said.map(({ number }) => number));
});

test('more than GitHub gives at once is asked of the REST API', async () => {
  const pulls = Array.from({ length: 3 }, () => hub.open(CHANGE));
  const [many, one] = pulls as [FakePull, FakePull];
  many.reviews.push(
    ...Array.from({ length: 101 }, () => ({ by: 'bob', state: 'COMMENTED', commit: many.head })),
  );
  expect(await forge().readReviewed?.(many.number)).toBeUndefined();
  expect(await forge().readAgain?.([many.number], ['main'])).toBeUndefined();
  expect(await forge().readReviewed?.(one.number)).toBeDefined();
  expect(await forge().readAgain?.([one.number], ['no-such-branch'])).toBeUndefined();
  for (let number = 100; number < 250; number++) hub.forge.pulls.set(number, { ...one, number });
  const before = hub.forge.asked.length;
  expect(await forge().readOpen()).toHaveLength(153);
  expect((await forge().readAgain?.([one.number], ['main']))?.open).toHaveLength(153);
  expect(hub.forge.asked.length - before).toBe(4);
});

test('33: only a head without any status is said to have none', async () => {
  const pull = hub.open(CHANGE);
  const hasNoStatus = async () => (await forge().readOpen())[0]?.head.hasNoStatus;
  expect(await hasNoStatus()).toBe(true);
  hub.forge.statuses.push({ sha: pull.head, context: 'other', state: 'success' });
  expect(await hasNoStatus()).toBe(true);
  hub.forge.statuses.push({ sha: pull.head, context: 'portolan', state: 'pending' });
  expect(await hasNoStatus()).toBeUndefined();
});

test('names and the history of folders come by one question', async () => {
  hub.forge.teams.set('example/etcd', ['bob', 'carol']);
  const names = ['Bob', 'carol#12', 'nobody', 'github-actions[bot]', '@example/etcd', '@example/none'];
  const identities = names.flatMap((name) => parseIdentity(name) ?? []);
  const folders = ['catalogs/v4.19/etcd', 'catalogs/v4.20/etcd'];
  const { question, rest } = await bothWays(async (of) => {
    of.expectPathChanges?.(hub.base(), folders, 60);
    const { accounts, teams } = await of.readDirectory(identities);
    const changes = await Promise.all(folders.map((path) => of.readPathChanges(hub.base(), path, 60)));
    return { accounts: [...accounts], teams: [...teams], changes };
  });
  expect(question.said).toEqual(rest.said);
  expect(question.said.changes.map((one) => one?.length)).toEqual([1, 1]);
  // Those that GraphQL does not know are asked for once more: a login that nobody has, an app, a team.
  expect(question.asked).toHaveLength(4);
  expect(rest.asked.length).toBeGreaterThan(8);
});
