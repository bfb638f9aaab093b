/** The committed Action: a pull request may leave it out, and nobody may change it by hand. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, type TestRepository } from './fakes/repository.ts';

const [ACTION, NOTICES] = ['dist/action.cjs', 'dist/third-party.txt'];

/** The merge of a pull request with these files, and in dist/ what the sources of the merge build. */
function mergeOf(files: Readonly<Record<string, string>>): TestRepository {
  const repository = makeRepository();
  const base = repository.commit({ [ACTION]: 'old', [NOTICES]: 'notices', 'catalog/index.ts': 'old' });
  const head = repository.commit(files, { parents: [base], branch: 'change' });
  repository.commit(files, { parents: [base, head] });
  return built(repository);
}

function built(repository: TestRepository): TestRepository {
  repository.git('reset', '--hard', '--quiet');
  writeFileSync(join(repository.directory, ACTION), 'new');
  return repository;
}

function verify({ directory }: TestRepository, event: string): number | null {
  const env = { ...process.env, GITHUB_EVENT_NAME: event };
  const script = resolve('scripts/verify-action.mjs');
  return spawnSync(process.execPath, [script, '--built'], { cwd: directory, env }).status;
}

test.each([
  ['pull_request', 'leaves the Action out', { 'catalog/index.ts': 'new' }, 0],
  ['pull_request', 'brings what the sources build', { 'catalog/index.ts': 'new', [ACTION]: 'new' }, 0],
  ['pull_request', 'brings anything else', { [ACTION]: 'by hand' }, 1],
  ['push', 'leaves the Action out', { 'catalog/index.ts': 'new' }, 1],
  ['push', 'brings what the sources build', { 'catalog/index.ts': 'new', [ACTION]: 'new' }, 0],
])('%s: a merge that %s', (event, _, files, status) => {
  expect(verify(mergeOf(files), event)).toBe(status);
});

test('a pull request whose base is unknown must bring what the sources build', () => {
  const repository = makeRepository();
  repository.commit({ [ACTION]: 'old', [NOTICES]: 'notices' });
  expect(verify(built(repository), 'pull_request')).toBe(1);
});
