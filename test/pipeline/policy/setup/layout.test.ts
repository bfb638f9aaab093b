import { describe, expect, test } from 'vitest';
import { layoutOf } from '../../../../pipeline/policy/setup/layout.ts';

const files = (...paths: string[]) => paths.map((path) => ({ path, package: 'etcd' }));

describe('the layout of a repository', () => {
  test.each<[string, string[], string[], string[]]>([
    [
      'as the community repositories have it',
      [
        'catalogs/v4.9/etcd/catalog.yaml',
        'catalogs/v4.20/etcd/catalog.yaml',
        'catalogs/v4.10/etcd/catalog.yaml',
      ],
      ['catalogs/{catalog}/{package}/**'],
      ['v4.9', 'v4.10', 'v4.20'],
    ],
    ['versions at the top', ['v4.19/etcd/catalog.yaml'], ['{catalog}/{package}/**'], ['v4.19']],
    ['one catalog', ['catalog/etcd/index.yaml'], ['catalog/{package}/**'], ['catalog']],
    ['versions below packages', ['etcd/v4.19/catalog.json'], ['{package}/{catalog}/**'], ['v4.19']],
    ['a folder for a whole catalog', ['configs/v4.19/all.yaml'], ['configs/{catalog}/**'], ['v4.19']],
    ['a file for a whole catalog', ['catalogs/v4.19.yaml'], ['catalogs/{catalog}.yaml'], ['v4.19']],
    ['nothing', [], [], []],
  ])('%s', (_, paths, patterns, catalogs) => {
    expect(layoutOf(files(...paths))).toEqual({ patterns, catalogs });
  });
});
