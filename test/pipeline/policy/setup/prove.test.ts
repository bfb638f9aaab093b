/** Why a layout cannot be the one of a commit's files. */
import { expect, test } from 'vitest';
import type { CatalogFacts } from '../../../../pipeline/policy/setup/catalog-files.ts';
import { layoutContradictions } from '../../../../pipeline/policy/setup/prove.ts';

const key = (...parts: readonly string[]): string => JSON.stringify(parts);

/** A file that defines a package, with a bundle and a channel; or what else is said of it. */
function file(path: string, name: string, more: Partial<CatalogFacts> = {}): CatalogFacts {
  return {
    path,
    packages: [name],
    defines: [name],
    bundles: [key(name, `${name}.v1.0.0`)],
    channels: [key(name, 'stable')],
    hasContent: true,
    isWhole: true,
    unnamed: 0,
    defect: undefined,
    invalid: undefined,
    invalidBundle: undefined,
    blobs: undefined,
    ...more,
  };
}

const FLAT = ['catalogs/{catalog}/{package}.yaml'];
const [A, B] = ['catalogs/v4.20/a.yaml', 'catalogs/v4.20/b.yaml'];

interface More {
  readonly paths?: readonly string[];
  readonly templates?: readonly string[];
  readonly read?: readonly string[];
  readonly leftOut?: readonly string[];
  readonly patterns?: readonly string[];
}

function why(catalogs: readonly CatalogFacts[], more: More = {}): string[] {
  const own = catalogs.map(({ path }) => path);
  return layoutContradictions(more.patterns ?? FLAT, {
    catalogs,
    templates: more.templates ?? [],
    paths: [...own, ...(more.paths ?? [])],
    read: new Set([...own, ...(more.read ?? [])]),
    leftOut: new Set(more.leftOut ?? []),
  });
}

const empty = { bundles: [], channels: [] };

test.each<[string, CatalogFacts[], More, string[]]>([
  ['two packages in a catalog', [file(A, 'a'), file(B, 'b')], {}, []],
  ['the same package in two catalogs', [file(A, 'a'), file('catalogs/v4.19/a.yaml', 'a')], {}, []],
  [
    'a package that two files define',
    [file(A, 'a'), file(B, 'a', empty)],
    {},
    [`catalog v4.20 defines 1 package twice: ${A} and ${B}`],
  ],
  [
    'a package that three files define',
    [file(A, 'a'), file(B, 'a', empty), file(A.replace('a.yaml', 'c.yaml'), 'a', empty)],
    {},
    [`catalog v4.20 defines 1 package twice: ${A} and ${B}`],
  ],
  [
    'bundles that two files define',
    [
      file(A, 'a', { bundles: ['1', '2', '3'], channels: [] }),
      file(B, 'b', { bundles: ['2', '3'], channels: [] }),
    ],
    {},
    [`catalog v4.20 defines 2 bundles twice: ${A} and ${B}`],
  ],
  [
    'a channel that two files define',
    [file(A, 'a'), file(B, 'b', { channels: [key('a', 'stable')] })],
    {},
    [`catalog v4.20 defines 1 channel twice: ${A} and ${B}`],
  ],
  ['a bundle twice in one file', [file(A, 'a', { bundles: ['1', '1'], channels: [] })], {}, []],
  [
    'a file of a package that no file defines',
    [file(A, 'a'), file(B, 'b', { ...empty, defines: [], packages: ['c'] })],
    {},
    [`${B} is of the package c, of which catalog v4.20 has no olm.package`],
  ],
  [
    'the same beside a file that cannot be read',
    [file(A, 'a', { defect: 'not YAML' }), file(B, 'b', { ...empty, defines: [], packages: ['c'] })],
    {},
    [],
  ],
  [
    'a package with a channel and no bundle',
    [file(A, 'a'), file(B, 'b', { bundles: [] })],
    {},
    [`catalog v4.20 has no bundle of b (${B})`],
  ],
  [
    'the same with a file that was not read',
    [file(A, 'a'), file(B, 'b', { bundles: [] })],
    { paths: ['catalogs/v4.20/c.yaml'] },
    [],
  ],
  ['no bundle at all', [file(A, 'a', empty)], {}, ['no catalog has a bundle']],
  [
    'no file that is in a catalog',
    [file('a.yaml', 'a')],
    {},
    ['no file with blobs is in a catalog', 'a.yaml has blobs, and is in no catalog'],
  ],
  ['such a file that is left out', [file(A, 'a'), file('a.yaml', 'a')], { leftOut: ['a.yaml'] }, []],
  [
    'a template in a catalog',
    [file(A, 'a')],
    { paths: [B], templates: [B], read: [B] },
    [`${B} is in a catalog, and has no blobs of one`],
  ],
  [
    'another file in a catalog',
    [file(A, 'a')],
    { paths: ['catalogs/v4.20/a/README.md'], patterns: ['catalogs/{catalog}/**'] },
    ['catalogs/v4.20/a/README.md is in a catalog, and has no blobs of one'],
  ],
  [
    'a hidden file in a catalog',
    [file(A, 'a')],
    { paths: ['catalogs/v4.20/.keep'], patterns: ['catalogs/{catalog}/**'] },
    [],
  ],
  [
    'a file in two catalogs',
    [file('a/b/c.yaml', 'a')],
    { patterns: ['{catalog}/b/{package}.yaml', 'a/{catalog}/{package}.yaml'] },
    ['a/b/c.yaml is in two catalogs: a and b'],
  ],
])('%s', (_, catalogs, more, expected) => {
  expect(why(catalogs, more)).toEqual(expected);
});
