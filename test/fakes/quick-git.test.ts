/** What is answered from memory is what git says. */
import { expect, test } from 'vitest';
import { quickGit } from './quick-git.ts';
import { makeRepository } from './repository.ts';

test('answers as git does', () => {
  const repository = makeRepository();
  const first = repository.commit({ 'a/one': '1', b: '1' });
  const second = repository.commit({ 'a/two': '2' }, { parents: [first] });
  const side = repository.commit({ b: '2' }, { parents: [first], branch: 'side' });
  const asked: readonly string[][] = [
    ['merge-base', second, side],
    ['merge-base', second, first],
    ['merge-base', 'main', side],
    ['rev-list', '--reverse', '--parents', `${side}..${second}`],
    ['rev-list', '--reverse', '--parents', `${second}..${second}`],
    ['rev-parse', '--verify', 'refs/heads/main'],
    ['rev-parse', '--verify', 'refs/heads/main:b'],
    ...['a', 'b', '.', 'c'].map((path) => [
      ...['log', '--max-count=5', '--format=%H %T %cI', second, '--', path],
    ]),
    ['log', '--max-count=1', '--format=%H %T %cI', second, '--', '.'],
  ];
  const quick = quickGit(repository, (branch) => ({ main: second, side })[branch]);
  const dates = (text: string): string => text.replaceAll('.000Z', 'Z').replaceAll('+00:00', 'Z');
  for (const words of asked)
    expect(dates(quick(...words)), words.join(' ')).toBe(dates(repository.git(...words)));
  repository.remove();
});

test('a repository knows files of the commits that it wrote, and moves branches, as git does', () => {
  const repository = makeRepository();
  const asGit = (...words: string[]): string => repository.feed('', ...words);
  const first = repository.commit({ 'a/one': ' é\n\n', link: { mode: '120000', text: 'a' } });
  const second = repository.commit({ 'a/one': null, 'a/two': '' }, { parents: [first] });
  for (const at of [`${first}:a/one`, `${first}:link`, `${first}:a`, `${second}:a/two`]) {
    expect(repository.git('show', at), at).toBe(asGit('show', at));
  }
  expect(repository.git('cat-file', 'blob', `${first}:a/one`)).toBe(asGit('show', `${first}:a/one`));
  expect(() => repository.git('show', `${second}:a/one`)).toThrow('does not exist in');
  repository.git('branch', '-f', 'side', first);
  repository.git('branch', '-f', 'other', 'side');
  expect(['side', 'other'].map((name) => asGit('rev-parse', name))).toEqual([first, first]);
  repository.git('repack', '-adq');
  expect(repository.git('show', `${second}:a/two`)).toBe('');
  repository.remove();
});
