import { expect, test } from 'vitest';
import { compareWalk } from '../../catalog/source.ts';

test('files are walked in the order of the bytes of their names, folder by folder', () => {
  const ordered = [
    'a/b',
    'a/b/c',
    'a-b',
    'a.b',
    'ab',
    '\ue000',
    '\uff01',
    '\u{1f600}',
    '\u{1f600}/a',
    '\u{1f601}',
  ];
  expect(ordered.toReversed().sort(compareWalk)).toEqual(ordered);
});
