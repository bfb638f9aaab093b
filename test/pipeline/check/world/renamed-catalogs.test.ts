/** A catalog that a merge renames is one catalog for its clusters; one of another platform is not. */
import { expect, test } from 'vitest';
import type { CatalogUnit } from '../../../../pipeline/change/unit.ts';
import { renamedCatalogs } from '../../../../pipeline/check/world/renamed-catalogs.ts';

/** Catalogs with one package each, written `catalog package id`. */
function units(...written: readonly string[]): Map<string, CatalogUnit> {
  return new Map(
    written.map((words) => {
      const [catalog = '', name = '', id = ''] = words.split(' ');
      const root = `catalogs/${catalog}`;
      const path = `${root}/${name}`;
      return [path, { path, id, mode: '40000', catalog, package: name, root }];
    }),
  );
}

test.each<[string, string[], string[], string[]]>([
  ['no catalog is gone', ['v4.19 p 1'], ['v4.19 p 1', 'v4.20 p 1'], []],
  ['no catalog is new', ['v4.19 p 1', 'v4.20 p 1'], ['v4.19 p 1'], []],
  ['equal content of one platform', ['a-v4.20 p 1'], ['b-v4.20 p 1'], ['a-v4.20 b-v4.20']],
  ['a package in common', ['a-v4.20 p 1'], ['b-v4.20 p 2'], ['a-v4.20 b-v4.20']],
  ['no package in common', ['a-v4.20 p 1'], ['b-v4.20 q 2'], []],
  ['another platform', ['v4.19 p 1'], ['v4.20 p 1'], []],
  ['equal content, and a platform in one name', ['stable p 1'], ['v4.20 p 1'], ['stable v4.20']],
  ['the only ones, and a platform in one name', ['v4.20 p 1'], ['stable p 2'], ['v4.20 stable']],
  ['the only ones, and no platform', ['old p 1'], ['new p 2'], []],
  ['equal content, and no platform', ['old p 1'], ['new p 1'], []],
  ['one that is split by platforms', ['stable p 1'], ['v4.19 p 2', 'v4.20 p 3'], ['stable v4.19']],
  ['one that is split, and no platform in one name', ['stable p 1'], ['v4.19 p 2', 'fast p 3'], []],
  ['one of two, a platform in one name', ['v4.20 p 1'], ['stable p 2', 'fast p 3'], []],
  [
    'two with equal content: one is the new name, the other a copy',
    ['a-v4.20 p 1'],
    ['b-v4.20 p 1', 'c-v4.20 p 1'],
    ['a-v4.20 b-v4.20'],
  ],
  [
    'one new catalog: it is the new name of one only',
    ['a-v4.20 p 1', 'b-v4.20 p 1'],
    ['c-v4.20 p 1'],
    ['a-v4.20 c-v4.20'],
  ],
  [
    'equal content goes before a package in common',
    ['a-v4.20 p 1', 'b-v4.20 p 2'],
    ['c-v4.20 p 2', 'd-v4.20 p 3'],
    ['b-v4.20 c-v4.20', 'a-v4.20 d-v4.20'],
  ],
])('%s', (_, before, after, expected) => {
  const renamed = renamedCatalogs(units(...before), units(...after));
  expect(renamed.map(({ from, to }) => `${from} ${to}`)).toEqual(expected);
  for (const { from, root } of renamed) expect(root).toBe(`catalogs/${from}`);
});
