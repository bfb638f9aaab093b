import { describe, expect, test } from 'vitest';
import { costlyFile, ignoreMatcher } from '../../../catalog/fbc/ignore.ts';
import { cpuTime } from '../../fakes/cpu-time.ts';

describe('ignoreMatcher', () => {
  test.each([
    ['a', 'a', true],
    ['a', 'x/a/y', true],
    ['a', 'ab', false],
    ['*.md', 'docs/README.md', true],
    ['/ignore', 'ignore/x', true],
    ['/ignore', 'dir/ignore/x', false],
    ['dir/', 'dir/file', true],
    ['dir/', 'dir', false],
    ['a/b', 'a/b/c', true],
    ['a/b', 'x/a/b', false],
    ['/really/**/file1', 'really/long/path/file1', true],
    ['/really/**/file1', 'really/file1', true],
    ['a?c', 'abc', true],
    ['[a-c].yaml', 'b.yaml', true],
    ['[^a-c].yaml', 'b.yaml', false],
    ['[z-a].yaml', 'b.yaml', false],
    ['[\\]-a].yaml', '^.yaml', true],
    ['[\ue000-\u{1f600}].yaml', '\u{1f600}.yaml', true],
    ['[]', ']', false],
    ['[^]', '^', false],
    ['[-a]', 'a', false],
    ['[a-]', 'a', false],
    ['[', '[', false],
    ['a\\', 'a', false],
    ['*[', 'a', false],
    ['a/[', 'a/[', false],
    ['a/[/b', 'a/[/b', false],
    ['?', '\u{1f600}', true],
    ['*a*b', 'aabab', true],
    ['*a*b', 'aaba', false],
    ['a*?', 'a', false],
    ['**', 'x/y', true],
    ['a**b', 'acb', true],
    ['x/a**b', 'x/acb', false],
    ['\\*', '*', true],
    ['A', 'a', false],
    ['# a', 'a', false],
    ['  a  ', 'a', true],
    ['.', '.hidden', false],
    ['\u0085a', 'a', true],
    ['\ufeffa', 'a', false],
    ['(x)+', '(x)+', true],
  ])('%j on %j: %s', (pattern, path, ignored) => {
    expect(ignoreMatcher([['.indexignore', pattern]])(path)).toBe(ignored);
  });

  test('the last pattern that matches decides, and may take back what an ignored directory hid', () => {
    const ignored = ignoreMatcher([['.indexignore', 'dir\n!dir/keep.yaml']]);
    expect(ignored('dir/drop.yaml')).toBe(true);
    expect(ignored('dir/keep.yaml')).toBe(false);
  });

  test('a file below the root speaks for its own directory', () => {
    const ignored = ignoreMatcher([
      ['.indexignore', 'a'],
      ['dir1/.indexignore', 'b\n/ignore\n!a'],
    ]);
    expect(['a', 'b', 'dir1/a', 'dir1/b', 'dir1/ignore/x', 'ignore/x'].map(ignored)).toEqual([
      true,
      false,
      false,
      true,
      true,
      false,
    ]);
  });

  test('many stars in a pattern take no longer than one', () => {
    const ignored = ignoreMatcher([['.indexignore', `${'*a'.repeat(5)}*b`]]);
    const spent = cpuTime();
    expect(ignored('a'.repeat(100))).toBe(false);
    // Going back to each of them takes ten seconds here, and longer than anybody waits with two more.
    expect(spent()).toBeLessThan(1000);
  });

  test('43: more patterns than can be matched with the files are told, and nothing is matched', () => {
    const paths = Array.from({ length: 1000 }, (_, i) => `etcd/f${i}.yaml`);
    const file = (lines: number): readonly [string, string] => ['etcd/.indexignore', 'f*x\n'.repeat(lines)];
    expect(costlyFile([file(200_000)], paths)).toBe('etcd/.indexignore');
    expect(costlyFile([file(1000)], paths)).toBeUndefined();
    // Comments cost nothing, and neither do files of other folders.
    expect(costlyFile([['etcd/.indexignore', '# comment\n'.repeat(200_000)]], paths)).toBeUndefined();
    expect(costlyFile([['quay/.indexignore', 'f*x\n'.repeat(200_000)]], paths)).toBeUndefined();
  });

  test('86: more patterns than fit into memory are told, in one file or several', () => {
    const file = (name: string, lines: number): readonly [string, string] => [name, 'f*x\n'.repeat(lines)];
    expect(costlyFile([file('.indexignore', 300_000)], ['a'])).toBe('.indexignore');
    const several = ['a', 'b', 'c'].map((name) => file(`${name}/.indexignore`, 100_000));
    expect(costlyFile(several, ['x'])).toBe('c/.indexignore');
    expect(costlyFile(several.slice(0, 2), ['x'])).toBeUndefined();
  });
});
