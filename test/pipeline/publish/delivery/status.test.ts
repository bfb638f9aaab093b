/** What people are told of catalogs that wait, were refused or failed, beside what is published of them. */
import { expect, test } from 'vitest';
import type { CommitStatus } from '../../../../pipeline/ports.ts';
import { memoryQueue } from '../../../../pipeline/publish/delivery/local.ts';
import type { CatalogMessage } from '../../../../pipeline/publish/delivery/message.ts';
import {
  type End,
  noteWaiting,
  outcomeAt,
  recordOutcome,
  recordWaiting,
} from '../../../../pipeline/publish/delivery/outcome.ts';
import { handleReport } from '../../../../pipeline/publish/delivery/report.ts';
import { isSettled, statusOf, statusText } from '../../../../pipeline/publish/delivery/status.ts';
import { directoryRecords } from '../../../../pipeline/publish/records/directory.ts';
import { folder } from '../../../fakes/folder.ts';

const [ONE, TWO] = ['1'.repeat(40), '2'.repeat(40)];

function world() {
  const records = directoryRecords(folder());
  const statuses: CommitStatus[] = [];
  const linkTo = (documents: string): string => `https://pages.example.com/${documents}page.html`;
  const forge = { report: async (status: CommitStatus) => void statuses.push(status) };
  const reports = memoryQueue();
  const ports = { records, reports };
  const told = { records, forge, log: () => undefined, linkTo };
  /** What GitHub has been told by now. */
  const saidBy = async (): Promise<readonly CommitStatus[]> => {
    await reports.drain((body) => handleReport(body, told));
    return statuses;
  };
  const messageFor = (commit: string): CatalogMessage => {
    return { v: 1, kind: 'catalog', repository: 'sea/catalogs', branch: 'main', commit, catalog: 'v4.20' };
  };
  const tell = (commit: string, end: End): Promise<void> => recordOutcome(ports, messageFor(commit), end);
  return { records, saidBy, tell, ports, messageFor };
}

test('a commit that waits stands beside what is published, and is told once it is begun with', async () => {
  const { records, saidBy, tell, ports, messageFor } = world();
  const waiting = messageFor(TWO);
  await noteWaiting(records, waiting);
  expect(statusText(await statusOf(records))).toContain(`  pending ${TWO}: ${TWO}`);
  expect(await saidBy()).toEqual([]);
  for (const _ of [1, 2]) {
    await recordWaiting(ports, waiting);
    expect((await saidBy()).map(({ state }) => state)).toEqual(['pending']);
  }
  await tell(TWO, { state: 'failed', detail: 'the registry answered 503' });
  // It comes again: what is known of it stays.
  await recordWaiting(ports, waiting);
  expect((await saidBy()).map(({ state }) => state)).toEqual(['pending', 'error']);
});

test('that a newer commit was published is told of what was said to wait, and noted of every one', async () => {
  const { records, saidBy, tell, messageFor } = world();
  for (const _ of [1, 2]) await tell(ONE, { state: 'superseded', detail: TWO });
  expect(await saidBy()).toEqual([]);
  expect(await outcomeAt(records, messageFor(ONE))).toMatchObject({ state: 'superseded', detail: TWO });
  const other = messageFor('3'.repeat(40));
  await noteWaiting(records, other);
  await tell(other.commit, { state: 'superseded', detail: TWO });
  expect((await saidBy()).map(({ description }) => description)).toEqual([
    `published as part of a newer commit: ${TWO}`,
  ]);
});

test.each([
  ['failed', 'error'],
  ['refused', 'failure'],
] as const)('a commit that is %s stands beside what is published', async (state, onGitHub) => {
  const { records, saidBy, tell } = world();
  await tell(ONE, { state: 'published', detail: 'sha256:1', documents: 'documents/x/' });
  const current = { catalog: 'v4.20', image: 'r/c:v4.20', epoch: 0, commit: ONE, digest: 'sha256:1' };
  const text = JSON.stringify({ ...current, documents: 'documents/x/' });
  await records.put('published/v4.20/x', new TextEncoder().encode(text));
  expect(isSettled(await statusOf(records))).toBe(true);
  await tell(TWO, { state, detail: 'the\u001b[31m registry answered 503' });
  const status = await statusOf(records);
  expect(isSettled(status)).toBe(false);
  expect(statusText(status)).toContain(`  commit  ${ONE}\n  ${state.padEnd(7)} ${TWO}: the`);
  expect(statusText(status)).not.toContain('\u001b');
  expect((await saidBy()).map(({ state: said, url }) => [said, url])).toEqual([
    ['success', 'https://pages.example.com/documents/x/page.html'],
    [onGitHub, undefined],
  ]);
});
