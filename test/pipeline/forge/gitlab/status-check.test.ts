import { expect, onTestFinished, test } from 'vitest';
import { gitLabClient, gitLabForge } from '../../../../pipeline/forge/gitlab/forge.ts';
import { answerStatusChecks } from '../../../../pipeline/forge/gitlab/status-check.ts';
import { statusOf } from '../../../../pipeline/forge/status.ts';
import { fakeGitLab, GITLAB_TOKEN } from '../../../fakes/gitlab.ts';
import { openHub } from '../../../fakes/hub.ts';
import { GREEN } from '../../../fakes/report.ts';

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
