import { describe, expect, test } from 'vitest';
import type { WrittenPattern } from '../../../../pipeline/policy/policy-file.ts';
import { catalogNamer } from '../../../../pipeline/policy/setup/catalog-names.ts';
import { layoutOf } from '../../../../pipeline/policy/setup/layout.ts';

/** Files of a catalog by path: the packages that each defines. */
type Holds = Readonly<Record<string, string | readonly string[]>>;

function found(holds: Holds, others: readonly string[] = []) {
  const files = Object.entries(holds).map(([path, names]) => {
    const packages = typeof names === 'string' ? [names] : names;
    const defines = /bundles|channels/.test(path) ? [] : packages;
    return { path, packages, defines, hasContent: true, isWhole: !/catalog-4-14/.test(path) };
  });
  return layoutOf(files, [...Object.keys(holds), ...others]);
}

const etcd = (...paths: string[]): Holds => Object.fromEntries(paths.map((path) => [path, 'etcd']));

describe('the layout of a repository', () => {
  test.each<[string, Holds, readonly string[], WrittenPattern[], string[]]>([
    [
      'as the community repositories have it',
      etcd(
        'catalogs/v4.9/etcd/catalog.yaml',
        'catalogs/v4.20/etcd/catalog.yaml',
        'catalogs/v4.10/etcd/catalog.yaml',
      ),
      [],
      ['catalogs/{catalog}/{package}/catalog.yaml'],
      ['v4.9', 'v4.10', 'v4.20'],
    ],
    [
      'a file at the top of each version, beside what builds it',
      etcd('v4.18/catalog.yaml', 'v5.0/catalog.yaml', 'v4.22/catalog.yaml'),
      ['v4.18/Containerfile', 'docs/index.md', '.tekton/push.yaml', 'hack/render.sh'],
      ['{catalog:v*.*}/catalog.yaml'],
      ['v4.18', 'v4.22', 'v5.0'],
    ],
    [
      'packages below versions',
      etcd('v4.19/etcd/catalog.yaml'),
      [],
      ['{catalog:v*.*}/{package}/catalog.yaml'],
      ['v4.19'],
    ],
    [
      'as Konflux has it',
      etcd('v4.18/catalog/etcd/catalog.json', 'v4.19/catalog/etcd/catalog.json'),
      ['v4.18/catalog-template.yaml', 'v4.18/Containerfile'],
      ['{catalog:v*.*}/catalog/{package}/catalog.json'],
      ['v4.18', 'v4.19'],
    ],
    [
      'a folder that is called otherwise than its package',
      etcd('v4.18/catalog/my-operator/catalog.json'),
      [],
      ['{catalog:v*.*}/catalog/my-operator/catalog.json'],
      ['v4.18'],
    ],
    [
      'folders that are called otherwise than their packages',
      { 'catalogs/v4.18/etcd-fbc/index.yaml': 'etcd', 'catalogs/v4.18/kafka-fbc/index.yaml': 'kafka' },
      [],
      ['catalogs/{catalog}/*/index.yaml'],
      ['v4.18'],
    ],
    [
      'two stages with the same versions',
      etcd('stage/v4.19/etcd/catalog.yaml', 'prod/v4.18/etcd/catalog.yaml', 'prod/v4.19/etcd/catalog.yaml'),
      [],
      [
        { path: 'prod/{catalog}/{package}/catalog.yaml', name: 'prod-{catalog}' },
        { path: 'stage/{catalog}/{package}/catalog.yaml', name: 'stage-{catalog}' },
      ],
      ['prod-v4.18', 'prod-v4.19', 'stage-v4.19'],
    ],
    [
      'stages below versions',
      etcd('v4.19/stage/etcd/catalog.yaml', 'v4.19/prod/etcd/catalog.yaml'),
      [],
      [
        { path: '{catalog:v*.*}/prod/{package}/catalog.yaml', name: '{catalog}-prod' },
        { path: '{catalog:v*.*}/stage/{package}/catalog.yaml', name: '{catalog}-stage' },
      ],
      ['v4.19-prod', 'v4.19-stage'],
    ],
    [
      'a file for each part of a catalog',
      etcd('catalog-4-14/package.yaml', 'catalog-4-14/bundles/1.yaml', 'catalog-4-14/channels/2.yaml'),
      ['Dockerfile'],
      ['catalog-{catalog}/**'],
      ['4-14'],
    ],
    [
      'such files beside others',
      etcd('catalog-4-14/package.yaml', 'catalog-4-14/bundles/1.yaml', 'catalog-4-14/bundles/2.yaml'),
      ['catalog-4-14/README.md'],
      ['catalog-{catalog}/package.yaml', 'catalog-{catalog}/bundles/**'],
      ['4-14'],
    ],
    [
      'a version at the end of a name',
      etcd('my-catalog-4.18/index.yaml', 'my-catalog-v4.19/index.yaml'),
      [],
      ['my-catalog-{catalog}/index.yaml'],
      ['4.18', 'v4.19'],
    ],
    ['one catalog', etcd('catalog/etcd/index.yaml'), [], ['catalog/{package}/index.yaml'], ['catalog']],
    [
      'one catalog in one file beside its Dockerfile',
      etcd('my-catalog/catalog.yaml'),
      ['my-catalog.Dockerfile'],
      [{ path: 'my-catalog/catalog.yaml', name: 'my-catalog' }],
      ['my-catalog'],
    ],
    [
      'one file at the top',
      etcd('catalog.json'),
      ['package.json'],
      [{ path: 'catalog.json', name: 'catalog' }],
      ['catalog'],
    ],
    [
      'versions below a package, whose own they are',
      etcd('etcd/v4.19/catalog.json'),
      [],
      ['etcd/{catalog}/catalog.json'],
      ['v4.19'],
    ],
    [
      'a folder for a whole catalog',
      etcd('configs/v4.19/all.yaml'),
      [],
      ['configs/{catalog}/all.yaml'],
      ['v4.19'],
    ],
    ['a file for a whole catalog', etcd('catalogs/v4.19.yaml'), [], ['catalogs/{catalog}.yaml'], ['v4.19']],
    [
      'a file for a whole catalog at the top, beside other JSON',
      etcd('v4.18.json', 'v4.19.json'),
      ['package.json', 'renovate.json'],
      ['{catalog:v*.*}.json'],
      ['v4.18', 'v4.19'],
    ],
    [
      'a prefix before the version of a file',
      etcd('catalog-v4.18.json', 'catalog-v4.19.json'),
      [],
      ['catalog-{catalog}.json'],
      ['v4.18', 'v4.19'],
    ],
    [
      'catalogs that are not called after versions',
      etcd('catalogs/dev/etcd/catalog.yaml', 'catalogs/live/etcd/catalog.yaml'),
      [],
      ['catalogs/{catalog}/{package}/catalog.yaml'],
      ['dev', 'live'],
    ],
    [
      'a file for each alternative of one catalog',
      etcd('made/catalog/released.yaml', 'made/catalog/y-stream.yaml'),
      ['templates/released.yaml'],
      ['made/catalog/{catalog}.yaml'],
      ['released', 'y-stream'],
    ],
    [
      'such files beside others',
      etcd('fbc/prod.yaml', 'fbc/stage.yaml'),
      ['fbc/values.yaml'],
      [
        { path: 'fbc/prod.yaml', name: 'prod' },
        { path: 'fbc/stage.yaml', name: 'stage' },
      ],
      ['prod', 'stage'],
    ],
    [
      'such files for each version',
      etcd('v4.18/prod.yaml', 'v4.18/stage.yaml', 'v4.19/prod.yaml', 'v4.19/stage.yaml'),
      [],
      [
        { path: '{catalog:v*.*}/prod.yaml', name: '{catalog}-prod' },
        { path: '{catalog:v*.*}/stage.yaml', name: '{catalog}-stage' },
      ],
      ['v4.18-prod', 'v4.18-stage', 'v4.19-prod', 'v4.19-stage'],
    ],
    [
      'versions of the operator',
      etcd('v10.16/catalog/etcd/catalog.json', 'v11.0/catalog/etcd/catalog.json'),
      [],
      ['{catalog:v*.*}/catalog/{package}/catalog.json'],
      ['v10.16', 'v11.0'],
    ],
    [
      'files that are called after versions of the operator',
      etcd('catalog/etcd/etcd.yaml', 'catalog/etcd/bundles.v1.6.1.yaml', 'catalog/etcd/bundles-4.5.yaml'),
      [],
      ['catalog/{package}/**'],
      ['catalog'],
    ],
    ['nothing', {}, ['README.md'], [], []],
  ])('%s', (_, holds, others, patterns, catalogs) => {
    expect(found(holds, others)).toEqual({ patterns, catalogs, others: [] });
  });

  test('says nothing of a file that has no channels and no bundles', () => {
    const files = [
      {
        path: 'hack/operator.yaml',
        packages: ['etcd'],
        defines: ['etcd'],
        hasContent: false,
        isWhole: false,
      },
      { path: 'v4.18/catalog.yaml', packages: ['etcd'], defines: ['etcd'], hasContent: true, isWhole: true },
    ];
    const paths = files.map(({ path }) => path);
    expect(layoutOf(files, paths)).toMatchObject({
      patterns: ['{catalog:v*.*}/catalog.yaml'],
      others: ['hack/operator.yaml'],
    });
  });

  test('the only catalog in one file may be split where images are called after versions', () => {
    const file = { path: 'fbc/product/catalog.yaml', packages: ['etcd'], defines: ['etcd'] };
    const patterns = (...beside: readonly string[]): unknown =>
      layoutOf([{ ...file, hasContent: true, isWhole: true }], [file.path, 'fbc/template.yaml', ...beside])
        .patterns;
    const images = ['Dockerfile-4.19.catalog', 'Dockerfile-4.20.catalog'];
    expect(patterns(...images)).toEqual(['fbc/{catalog:product*}/catalog.yaml']);
    const literal = [{ path: 'fbc/product/catalog.yaml', name: 'product' }];
    expect(patterns('Dockerfile')).toEqual(literal);
    expect(patterns(...images, 'fbc/product-test/catalog.yaml')).toEqual(literal);
  });

  test('takes no file that was not read for a part, if a whole catalog beside it has its name', () => {
    const paths = ['v4.18', 'v4.19'].map((one) => `${one}/catalog/etcd/catalog.yaml`);
    const files = paths.map((path) => ({
      ...{ path, packages: ['etcd'], defines: ['etcd'], hasContent: true, isWhole: true },
    }));
    const beside = (name: string): unknown =>
      layoutOf(files, [...paths, `v4.18/catalog/etcd/${name}`], new Set(paths)).patterns;
    expect(beside('catalog.json')).toEqual(['{catalog:v*.*}/catalog/{package}/catalog.yaml']);
    expect(beside('bundles.json')).toEqual(['{catalog:v*.*}/catalog/{package}/**']);
  });

  test('a file with channels that a whole catalog has as well is a source of it', () => {
    const whole = { packages: ['etcd'], defines: ['etcd'], hasContent: true, isWhole: true };
    const channels = { packages: ['etcd'], defines: [], hasContent: true, isWhole: false };
    const files = [
      { path: 'v4.18/graph.yaml', ...channels },
      { path: 'v4.18/catalog/etcd/catalog.json', ...whole },
    ];
    expect(
      layoutOf(
        files,
        files.map(({ path }) => path),
      ),
    ).toMatchObject({
      patterns: ['{catalog:v*.*}/catalog/{package}/catalog.json'],
      others: ['v4.18/graph.yaml'],
    });
    // Where nothing else has them they are the catalog's.
    const parts = files.map((file) => ({ ...file, isWhole: false }));
    expect(
      layoutOf(
        parts,
        parts.map(({ path }) => path),
      ).others,
    ).toEqual([]);
  });

  test.each(['{{ github.token }}x', 'a{b', 'a}b'])('no pattern can name the folder %s', (folder) => {
    const namer = catalogNamer([`${folder}/{catalog}/**`, 'c/{catalog}/**']);
    expect(['c/v4.20/x.yaml', `${folder}/v4.20/x.yaml`].map(namer)).toEqual(['v4.20', undefined]);
    expect(
      found(etcd(`${folder}/v4.20/etcd/catalog.yaml`, `${folder}/v4.21/etcd/catalog.yaml`)),
    ).toMatchObject({
      patterns: [],
    });
  });
});
