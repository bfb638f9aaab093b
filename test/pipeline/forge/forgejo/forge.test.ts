/** What only the adapter of Forgejo does; `test/attack/forges.test.ts` holds it to the contract of a forge. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CheckReport } from '../../../../pipeline/check/report.ts';
import { forgejoClient, forgejoForge } from '../../../../pipeline/forge/forgejo/forge.ts';
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
