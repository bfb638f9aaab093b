import { expect, onTestFinished, test } from 'vitest';
import { auditHistory, type HarmfulMerge } from '../../../../pipeline/check/rehearsal/history.ts';
import { openRepository } from '../../../../pipeline/git/repository.ts';
import { bundleName, type WrittenPackage, written } from '../../../catalog/olm/universe.ts';
import { catalogOf } from '../../../fakes/gate.ts';
import { type Files, makeRepository, type TestRepository } from '../../../fakes/repository.ts';

const MERGES = 12;

/** A package with so many versions, each of which replaces the one before. */
function chain(count: number): WrittenPackage {
  const versions = Array.from({ length: count }, (_, i) => `1.${i}.0`);
  const entries = versions.map((version, i) => ({
    name: bundleName(version),
    ...(i > 0 ? { replaces: bundleName(`1.${i - 1}.0`) } : {}),
  }));
  return { versions, channels: { a: entries } };
}

/** A repository to which a version was added with each merge, but for two that took versions away. */
async function past(
  beside: Files = {},
): Promise<{ directory: string; ids: string[]; git: TestRepository['git'] }> {
  const git = makeRepository();
  onTestFinished(git.remove);
  let last = git.commit({ 'README.md': 'a', ...beside });
  const ids: string[] = [];
  for (let i = 0; i < MERGES; i++) {
    const count = i === 4 || i === 9 ? 1 : i + 3;
    const file = written({ p: chain(count) });
    last = git.commit({ 'catalogs/v4.20/p/catalog.json': file }, { parents: [last] });
    ids.push(last);
  }
  git.git('reset', '--hard', '--quiet', last);
  return { directory: git.directory, ids, git: git.git };
}

test('the latest merges are judged first, and each that did harm is told before the next is judged', async () => {
  const { directory, ids } = await past();
  const repository = await openRepository(directory);
  onTestFinished(() => repository.close());
  const told: string[] = [];
  const { harmful, merges } = await auditHistory(repository, {
    head: 'HEAD',
    paths: ['catalogs'],
    progress: ({ done, harmful: count }) => void told.push(`${done} done, ${count} harmful`),
    found: ({ commit }: HarmfulMerge) => void told.push(commit),
  });
  expect(merges).toBe(MERGES);
  expect(harmful.map(({ commit }) => commit)).toEqual([ids[9], ids[4]]);
  expect(told.indexOf(ids[9] ?? '')).toBe(told.indexOf('3 done, 1 harmful') - 1);
  expect(told.indexOf(ids[4] ?? '')).toBe(told.indexOf('8 done, 2 harmful') - 1);
});

/** How often the audit of a past reads each blob of its files, by id. */
async function blobReads(directory: string): Promise<Map<string, number>> {
  const repository = await openRepository(directory);
  onTestFinished(() => repository.close());
  const reads = new Map<string, number>();
  const { objects } = repository;
  const read = objects.read.bind(objects);
  objects.read = async (id, most) => {
    const object = await read(id, most);
    if (object.type === 'blob') reads.set(id, (reads.get(id) ?? 0) + 1);
    return object;
  };
  await auditHistory(repository, { head: 'HEAD', paths: ['catalogs'] });
  return reads;
}

test('each version of a file is read twice: as a catalog, and as the past of later merges', async () => {
  const { directory } = await past();
  const reads = await blobReads(directory);
  expect(reads.size).toBe(MERGES - 1);
  expect(Math.max(...reads.values())).toBe(2);
});

test('the other packages of a catalog are read once, however many merges there are', async () => {
  const others = { 'catalogs/v4.20/q/catalog.yaml': catalogOf('q', ['1.0.0']) };
  const { directory, git } = await past({ ...others, 'catalogs/v4.19/q/catalog.yaml': catalogOf('q', []) });
  const reads = await blobReads(directory);
  expect(reads.get(git('rev-parse', 'HEAD:catalogs/v4.20/q/catalog.yaml'))).toBe(1);
  expect(reads.get(git('rev-parse', 'HEAD:catalogs/v4.19/q/catalog.yaml'))).toBeUndefined();
});
