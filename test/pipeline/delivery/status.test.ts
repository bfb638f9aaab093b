/** What people are told of catalogs that wait, were refused or failed, beside what is published of them. */
import { expect, test } from 'vitest';
import type { CatalogMessage } from '../../../pipeline/delivery/message.ts';
import { type Outcome, tellOutcome } from '../../../pipeline/delivery/outcome.ts';
import { isSettled, statusOf, statusText } from '../../../pipeline/delivery/status.ts';
import type { CommitStatus } from '../../../pipeline/ports.ts';
import { directoryRecords } from '../../../pipeline/records/directory.ts';
import { folder } from '../../fakes/folder.ts';

const [ONE, TWO] = ['1'.repeat(40), '2'.repeat(40)];

function world() {
  const records = directoryRecords(folder());
  const statuses: CommitStatus[] = [];
  const linkTo = (documents: string): string => `https://pages.example.com/${documents}page.html`;
  const forge = { report: async (status: CommitStatus) => void statuses.push(status) };
  const tell = (commit: string, what: Pick<Outcome, 'state' | 'detail' | 'documents'>): Promise<void> => {
    const named = { repository: 'sea/catalogs', branch: 'main', commit, catalog: 'v4.20' };
    const message: CatalogMessage = { v: 1, kind: 'catalog', ...named };
    return tellOutcome({ records, forge, log: () => undefined, linkTo }, message, what);
  };
  return { records, statuses, tell };
}

test.each([
  ['pending', 'pending'],
  ['failed', 'error'],
  ['refused', 'failure'],
] as const)('a commit that is %s stands beside what is published', async (state, onGitHub) => {
  const { records, statuses, tell } = world();
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
  expect(statuses.map(({ state: said, url }) => [said, url])).toEqual([
    ['success', 'https://pages.example.com/documents/x/page.html'],
    [onGitHub, undefined],
  ]);
});
