/** The table of costs follows from its script, and the script from the calls that a publish makes. */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { deliver } from '../../fakes/delivery.ts';
import { sampleRepository } from '../../fakes/sample.ts';

const { costTable, MERGE, CATALOGS } = (await import(pathToFileURL('scripts/function-costs.mjs').href)) as {
  costTable: () => string;
  MERGE: Readonly<Record<'written' | 'read' | 'fenceRead' | 'fenceWritten' | 'messages', number>>;
  CATALOGS: number;
};

test('the page has the table that the script prints', () => {
  expect(readFileSync('docs/functions.md', 'utf8')).toContain(costTable());
});

test('a publish makes no more calls than are counted, and not far fewer', async () => {
  const sample = sampleRepository();
  const push = (commit: string, branch: string) =>
    ({ v: 1, kind: 'push', repository: 'sea/catalogs', branch, commit }) as const;
  const first = push(sample.base, 'main');
  const next = push(sample.addition, 'addition');
  const before = (await deliver({ directory: sample.directory, pushes: [first] })).calls.length;
  const calls = (await deliver({ directory: sample.directory, pushes: [first, next] })).calls.slice(before);
  sample.remove();
  const count = (...names: readonly string[]): number => calls.filter((name) => names.includes(name)).length;
  // Where no build is remembered: that is one record more of each kind, or two.
  const counted = {
    written: count('records.put', 'records.replace'),
    read: count('records.get'),
    fenceRead: count('fence.read', 'fence.readLease'),
    fenceWritten: count('fence.replace', 'fence.replaceLease'),
  };
  for (const [name, calls] of Object.entries(counted)) {
    const assumed = MERGE[name as keyof typeof counted] / CATALOGS;
    expect(assumed, name).toBeGreaterThanOrEqual(calls);
    expect(assumed, name).toBeLessThanOrEqual(calls * 1.6);
  }
});
