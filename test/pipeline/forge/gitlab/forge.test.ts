/** What only the adapter of GitLab does; `test/attack/forges.test.ts` holds it to the contract of a forge. */
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  answerStatusChecks,
  gitLabClient,
  gitLabForge,
  projectName,
  reportGitLabStatus,
  showsGitLabStatus,
  withoutCommands,
} from '../../../../pipeline/forge/gitlab/forge.ts';
import { statusOf } from '../../../../pipeline/forge/status.ts';
import type { CommitStatus } from '../../../../pipeline/ports.ts';
import { type FakeGitLab, fakeGitLab, GITLAB_TOKEN } from '../../../fakes/gitlab.ts';
import { type Hub, openHub } from '../../../fakes/hub.ts';
import { GREEN } from '../../../fakes/report.ts';

let hub: Hub;
let fake: FakeGitLab;
beforeEach(async () => {
  hub = await openHub();
  fake = await fakeGitLab(hub);
});
afterEach(() => hub.close());

const NAME = { owner: 'example', repo: 'catalogs' };

function client(token = GITLAB_TOKEN) {
  return gitLabClient(fake.api, async () => token);
}

test('a group lies in groups', () => {
  expect(projectName('acme/operators/catalogs')).toEqual({ owner: 'acme/operators', repo: 'catalogs' });
});

test('an approval is of the version that there was, and of none where GitLab does not say when it was given', async () => {
  const { number, head } = hub.open({ 'README.md': 'x' });
  const pull = hub.forge.pulls.get(number);
  if (!pull) throw new Error('no pull request');
  pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: head });
  hub.push(pull, { 'README.md': 'y' });
  const read = () => gitLabForge(client(), NAME).readReviews(number);
  expect(await read()).toMatchObject([{ author: { login: 'bob' }, state: 'approved', commit: head }]);
  // Before the first version.
  pull.reviews.splice(0, 1, { by: 'bob', state: 'APPROVED', commit: '0'.repeat(40) });
  expect(await read()).toMatchObject([{ state: 'approved', commit: undefined }]);
});

test('GitLab does not vouch for everything: Portolan does not merge there', () => {
  expect(gitLabForge(client(), NAME).missingGuarantees.join()).toContain('approvals do not name the commit');
});

test('a request for changes stands, whoever has approved beside', async () => {
  const { number, head, reviews } = hub.open({ 'README.md': 'x' });
  reviews.push({ by: 'carol', state: 'APPROVED', commit: head });
  reviews.push({ by: 'bob', state: 'CHANGES_REQUESTED', commit: head });
  const read = await gitLabForge(client(), NAME).readReviews(number);
  expect(read.map(({ author, state }) => [author.login, state])).toEqual([
    ['carol', 'approved'],
    ['bob', 'changes-requested'],
  ]);
});

test('an address is that of the account that shows it, not of one that the search finds by its name', async () => {
  const authorOf = async (author: string) => {
    const { number } = hub.open({ [`${author}.md`]: 'x' }, { author });
    const [commit] = await gitLabForge(client(), NAME).readCommits(number);
    return commit?.author.account?.login;
  };
  expect(await authorOf('bob')).toBe('bob');
  expect(await authorOf('nobody')).toBeUndefined();
});

test('no line of a note is a command, whatever a catalog says', async () => {
  const text = withoutCommands('first\n/merge\n  /approve\n> /close\na/b');
  expect(text).toBe('first\n&#47;merge\n  &#47;approve\n> &#47;close\na/b');
  const { number, head } = hub.open({ 'README.md': 'x' });
  const headline = 'first\n/merge';
  await gitLabForge(client(), NAME).postComment({ number, report: { ...GREEN, head, headline } });
  const [note] = fake.notes;
  expect(note?.body).toContain('merge');
  expect(note?.body).not.toMatch(/^[\s>]*\//m);
});

test('a second pending status is none, and other refusals are errors', async () => {
  const status = (state: 'pending' | 'success') =>
    reportGitLabStatus(client(), {
      ...{ repository: 'example/catalogs', commit: 'a'.repeat(40), context: 'portolan/publish v4.20' },
      ...{ state, description: 'x' },
    });
  await status('pending');
  await status('pending');
  await status('success');
  expect(fake.statuses.map(({ state }) => state)).toEqual(['pending', 'success']);
  await expect(
    reportGitLabStatus(client(), {
      ...{
        repository: 'example/others',
        commit: 'a'.repeat(40),
        context: 'c',
        state: 'pending',
        description: 'x',
      },
    }),
  ).rejects.toMatchObject({ code: 'not-found' });
});

test('a status is shown where it is the newest one of its name', async () => {
  const status = (description: string, context = 'portolan/publish v4.20', url?: string): CommitStatus => ({
    ...{ repository: 'example/catalogs', commit: hub.base(), context, state: 'error', description },
    ...(url === undefined ? {} : { url }),
  });
  const shows = (...of: Parameters<typeof status>) => showsGitLabStatus(client(), status(...of));
  expect(await shows('one')).toBe(false);
  await reportGitLabStatus(client(), status('one'));
  await reportGitLabStatus(client(), status('two', 'portolan/publish v4.21'));
  expect(await shows('one')).toBe(true);
  expect(await shows('one', 'portolan/publish v4.20', 'https://example.com/')).toBe(false);
  await reportGitLabStatus(client(), status('two'));
  expect([await shows('one'), await shows('two')]).toEqual([false, true]);
});

test('the newest status is found behind many older ones, which GitLab lists first', async () => {
  const status = {
    repository: 'example/catalogs',
    commit: hub.base(),
    context: 'portolan',
    description: 'x',
  };
  await reportGitLabStatus(client(), { ...status, state: 'error' });
  fake.statuses.push(...Array.from({ length: 100 }, () => ({ ...fake.statuses[0] }) as never));
  const [newest] = await gitLabForge(client(), NAME).readStatuses(hub.base());
  expect(newest?.id).toBe(101);
});

test('what a merged branch had before its last commit is no change of the branch', async () => {
  const base = hub.base();
  const first = hub.repository.commit({ 'catalogs/a': '1' }, { parents: [base] });
  const second = hub.repository.commit({ 'catalogs/a': '2' }, { parents: [first] });
  hub.moveBase({ 'README.md': 'x' });
  const merge = hub.moveBase({ 'catalogs/a': '2' }, second);
  const changes = await gitLabForge(client(), NAME).readPathChanges(merge, 'catalogs/a', 10);
  expect(changes?.map(({ commit }) => commit)).toEqual([merge]);
});

test('a status that GitLab is busy to set comes again, and one that the role may not set does not', async () => {
  const report = () =>
    reportGitLabStatus(client(), {
      ...{ repository: 'example/catalogs', commit: hub.base(), context: 'portolan/publish v4.20' },
      ...{ state: 'success', description: 'x' },
    });
  fake.refusals.push(409, 429);
  await expect(report()).rejects.toMatchObject({ code: 'conflict', retryable: true });
  await expect(report()).rejects.toMatchObject({ code: 'rate-limited', retryable: true });
  fake.role = 'Developer';
  await expect(report()).rejects.toMatchObject({ code: 'denied', retryable: false });
  expect(fake.statuses).toEqual([]);
  fake.role = 'Maintainer';
  await report();
  expect(fake.statuses).toHaveLength(1);
});

/** Says that a merge request passed. */
async function pass(number: number, head: string): Promise<void> {
  const { request } = GREEN;
  if (!request) throw new Error('no request');
  const report = { ...GREEN, head, request: { ...request, number } };
  await gitLabForge(client(), NAME).postStatus(statusOf([report]));
}

test('the status is in the pipeline that decides: that of the branch, or one for the merge request', async () => {
  fake.role = 'Developer';
  const { number, head, branch } = hub.open({ 'README.md': 'x' });
  await pass(number, head);
  expect(fake.pipelines).toMatchObject([{ sha: head, ref: branch, source: 'external' }]);
  expect(fake.statusesOf(number)).toMatchObject([{ name: 'portolan', state: 'success' }]);
  // A pipeline for the merge request begins, and its event has the status set anew.
  const pipeline = {
    sha: head,
    ref: `refs/merge-requests/${number}/head`,
    source: 'merge_request_event' as const,
  };
  fake.pipelines.push({ id: 2, ...pipeline });
  expect(fake.statusesOf(number)).toEqual([]);
  await pass(number, head);
  expect(fake.statusesOf(number)).toMatchObject([{ name: 'portolan', pipeline: 2 }]);
  // One for merged results is of the commit of the merge.
  const merged = hub.repository.commit({ 'README.md': 'x' }, { parents: [hub.base(), head] });
  fake.pipelines.push({ ...pipeline, id: 3, sha: merged, ref: `refs/merge-requests/${number}/merge` });
  await pass(number, head);
  expect(fake.statusesOf(number)).toMatchObject([{ name: 'portolan', sha: merged, pipeline: 3 }]);
});

test("a head's result does not go to the pipeline of a later head", async () => {
  const pull = hub.open({ 'README.md': 'x' });
  const { number, head } = pull;
  hub.push(pull, { 'README.md': 'y' });
  for (const [id, ref] of [
    [1, 'head'],
    [2, 'merge'],
  ] as const)
    fake.pipelines.push({
      id,
      sha: pull.head,
      ref: `refs/merge-requests/${number}/${ref}`,
      source: 'merge_request_event',
    });
  await pass(number, head);
  expect(fake.statusesOf(number)).toEqual([]);
});

test('the status of a merge request from a fork is never that of a branch of the project', async () => {
  fake.role = 'Developer';
  const { number, head } = hub.open({ 'README.md': 'x' }, { branch: 'main' });
  fake.forks.add(number);
  await pass(number, head);
  expect(fake.pipelines).toMatchObject([{ sha: head, ref: `refs/merge-requests/${number}/head` }]);
  // Somebody of the project runs its pipeline there.
  const ref = `refs/merge-requests/${number}/head`;
  fake.pipelines.push({ id: 2, sha: head, ref, source: 'merge_request_event' });
  await pass(number, head);
  expect(fake.statusesOf(number)).toMatchObject([{ name: 'portolan' }]);
});

test('who pushed a tag of the same name did not push the branch', async () => {
  const { number, branch, head } = hub.open({ 'README.md': 'x' }, { author: 'mallory' });
  const bob = { id: 11, username: 'bob' };
  const tag = { author: bob, push_data: { ref_type: 'tag', ref: branch, commit_to: head } };
  let page = 0;
  const bent = await fakeGitLab(hub, (what, value) =>
    what.endsWith('/events') && Array.isArray(value) && page++ === 0 ? [tag, ...value] : value,
  );
  const forge = gitLabForge(
    gitLabClient(bent.api, async () => GITLAB_TOKEN),
    NAME,
  );
  expect(await forge.readPusher(await forge.readPull(number))).toMatchObject({ login: 'mallory' });
});

test('members of a group count from the role Developer on, while they are active', async () => {
  const member = (id: number, username: string, level: number, state = 'active') => ({
    ...{ id, username, access_level: level, state },
  });
  fake.groups.set('acme/storage', [
    member(1, 'guest', 10),
    member(2, 'developer', 30),
    member(3, 'blocked', 40, 'blocked'),
    member(4, 'owner', 50),
  ]);
  const { teams } = await gitLabForge(client(), NAME).readDirectory([
    { kind: 'team', team: 'acme/storage' },
    { kind: 'team', team: 'acme/hidden' },
  ]);
  expect([...teams].map(([name, people]) => [name, people.map(({ login }) => login)])).toEqual([
    ['acme/storage', ['developer', 'owner']],
  ]);
});

test('a token that GitLab does not take is denied, and is not in the message', async () => {
  const asked = gitLabForge(client('a-secret'), NAME).readPull(1);
  await expect(asked).rejects.toMatchObject({ code: 'denied', retryable: false });
  await expect(asked).rejects.not.toThrow('a-secret');
});

async function opened() {
  const hub = await openHub();
  onTestFinished(() => hub.close());
  const fake = await fakeGitLab(hub);
  const pull = hub.open({ 'README.md': 'x' });
  return { hub, fake, pull, client: gitLabClient(fake.api, async () => GITLAB_TOKEN) };
}

test('the external status check of that name is answered, for the newest head only', async () => {
  const { hub, fake, pull, client } = await opened();
  const { number, head } = pull;
  const at = `/projects/example%2Fcatalogs/merge_requests/${number}`;
  const say = (passed: boolean) => answerStatusChecks(client, at, 'portolan', { commit: head, passed });
  await say(true);
  expect(fake.answers, 'without the plan').toEqual([]);
  fake.statusChecks.push({ id: 4, name: 'other' }, { id: 5, name: 'portolan' });
  await say(false);
  await say(true);
  hub.push(pull, { 'README.md': 'y' });
  await say(true);
  const answer = { number, external_status_check_id: 5, sha: head };
  expect(fake.answers).toEqual([
    { ...answer, status: 'failed' },
    { ...answer, status: 'passed' },
  ]);
});

test('it is answered with the status of the commit, whatever becomes of that', async () => {
  const { fake, pull, client } = await opened();
  const { request } = GREEN;
  if (!request) throw new Error('no request');
  fake.statusChecks.push({ id: 5, name: 'portolan' });
  fake.refusals.push(429);
  const report = { ...GREEN, head: pull.head, request: { ...request, number: pull.number } };
  const forge = gitLabForge(client, { owner: 'example', repo: 'catalogs' });
  await expect(forge.postStatus(statusOf([report]))).rejects.toMatchObject({
    code: 'rate-limited',
  });
  expect(fake.statuses).toEqual([]);
  await expect.poll(() => fake.answers).toMatchObject([{ status: 'passed' }]);
});
