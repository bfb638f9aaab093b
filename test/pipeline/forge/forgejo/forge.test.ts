/** What only the adapter of Forgejo does; `test/attack/forges.test.ts` holds it to the contract of a forge. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CheckReport } from '../../../../pipeline/check/report.ts';
import {
  forgejoClient,
  forgejoForge,
  reportStatus,
  showsStatus,
} from '../../../../pipeline/forge/forgejo/forge.ts';
import type { CommitStatus } from '../../../../pipeline/ports.ts';
import { type FakeForgejo, FORGEJO_TOKEN, fakeForgejo } from '../../../fakes/forgejo.ts';
import { type Hub, openHub } from '../../../fakes/hub.ts';

let hub: Hub;
let fake: FakeForgejo;
beforeEach(async () => {
  hub = await openHub();
  fake = await fakeForgejo(hub);
});
afterEach(() => hub.close());

const NAME = { owner: 'example', repo: 'catalogs' };

function forge(token = FORGEJO_TOKEN) {
  return forgejoForge(
    forgejoClient(fake.api, async () => token),
    NAME,
  );
}

function reportOf(head: string, ...lines: readonly number[]): CheckReport {
  const findings = lines.map((line) => ({
    rule: 'channel/head',
    severity: 'error',
    message: `channel @bob has two heads`,
    location: { file: 'catalogs/a.yaml', line, column: 1 },
  }));
  return { head, findings } as unknown as CheckReport;
}

test('findings are one review at their lines: kept while they stay the same, replaced when they change', async () => {
  const { number, head } = hub.open({ 'README.md': 'x' });
  const post = (...lines: readonly number[]) =>
    forge().postFindings({ number, report: reportOf(head, ...lines) });
  const shown = () =>
    fake.reviews.map(({ id, comments }) => [id, ...comments.map((one) => one.new_position)]);
  await post(3, 5);
  const [[first] = []] = shown();
  await post(3, 5);
  expect(shown()).toEqual([[first, 3, 5]]);
  await post(4);
  expect(shown()).toEqual([[expect.any(Number), 4]]);
  expect(shown()[0]?.[0]).not.toBe(first);
  await post();
  expect(shown()).toEqual([]);
});

test('a status is shown where it is the newest one of its context', async () => {
  const client = forgejoClient(fake.api, async () => FORGEJO_TOKEN);
  const status = (description: string, context = 'portolan/publish v4.20', url?: string): CommitStatus => ({
    ...{ repository: 'example/catalogs', commit: hub.base(), context, state: 'error', description },
    ...(url === undefined ? {} : { url }),
  });
  const shows = (...of: Parameters<typeof status>) => showsStatus(client, NAME, status(...of));
  expect(await shows('one')).toBe(false);
  await reportStatus(client, NAME, status('one'));
  await reportStatus(client, NAME, status('two', 'portolan/publish v4.21'));
  expect(await shows('one')).toBe(true);
  expect(await shows('one', 'portolan/publish v4.20', 'https://example.com/')).toBe(false);
  await reportStatus(client, NAME, status('two'));
  expect([await shows('one'), await shows('two')]).toEqual([false, true]);
});

test('what catalogs say in a finding mentions nobody', async () => {
  const { number, head } = hub.open({ 'README.md': 'x' });
  await forge().postFindings({ number, report: reportOf(head, 3) });
  const [comment] = fake.reviews[0]?.comments ?? [];
  expect(comment?.body).toContain('has two heads');
  expect(comment?.body).not.toMatch(/(^|\s)@bob/);
});

test('a token that the forge does not take is denied, and is not in the message', async () => {
  const asked = forge('a-secret').readPull(1);
  await expect(asked).rejects.toMatchObject({ code: 'denied', retryable: false });
  await expect(asked).rejects.not.toThrow('a-secret');
});

test('a pull request that is not there is not found', async () => {
  await expect(forge().readPull(4711)).rejects.toMatchObject({ code: 'not-found' });
});

test('reviews are in the order of their times, also where the clock was set back between them', async () => {
  const { number, head, reviews } = hub.open({ 'README.md': 'x' });
  reviews.push({ by: 'bob', state: 'APPROVED', commit: head });
  reviews.push({ by: 'bob', state: 'CHANGES_REQUESTED', commit: head });
  const times = ['2026-10-25T02:30:00+02:00', '2026-10-25T02:10:00+01:00'];
  const bent = await fakeForgejo(hub, (what, value) =>
    what.endsWith('/reviews') && Array.isArray(value)
      ? value.map((one) => ({ ...one, submitted_at: times[one.id - 1] }))
      : value,
  );
  const client = forgejoClient(bent.api, async () => FORGEJO_TOKEN);
  const read = await forgejoForge(client, NAME).readReviews(number);
  expect(read.map(({ state }) => state)).toEqual(['approved', 'changes-requested']);
});

test('a change of a path is of a day in UTC, whatever time zone its committer was in', async () => {
  const bent = await fakeForgejo(hub, (what, value) =>
    what.endsWith('/commits') && Array.isArray(value)
      ? value.map((one) => ({ ...one, commit: { committer: { date: '2026-03-01T01:30:00+02:00' } } }))
      : value,
  );
  const client = forgejoClient(bent.api, async () => FORGEJO_TOKEN);
  const changes = await forgejoForge(client, NAME).readPathChanges(hub.base(), 'catalogs', 1);
  expect(changes).toEqual([{ commit: hub.base(), date: '2026-02-28' }]);
});

test('a team has the members that the account may see', async () => {
  fake.teams.set('acme/network', []);
  fake.teams.set('acme/compute', [{ id: 11, login: 'bob' }]);
  fake.teams.set('acme/storage', [{ id: 12, login: 'carol' }]);
  const team = (name: string) => ({ kind: 'team' as const, team: name });
  const read = () =>
    forge().readDirectory([team('acme/storage'), team('acme/absent'), team('other/storage')]);
  expect([...(await read()).teams]).toEqual([['acme/storage', [{ id: 12, login: 'carol' }]]]);
  // It is in the organization, and not in the team.
  fake.hidden.add('acme/storage');
  expect([...(await read()).teams]).toEqual([]);
});

test('a forge that is too busy to show an account is asked again, and the account is not left out', async () => {
  fake.refusals.push(503);
  const read = forge().readDirectory([{ kind: 'account', login: 'bob', id: undefined }]);
  await expect(read).rejects.toMatchObject({ code: 'bad-answer', retryable: true });
});
