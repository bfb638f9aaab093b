import { describe, expect, test } from 'vitest';
import {
  bundleFolderOf,
  compileLayout,
  type LayoutPattern,
  patternDefect,
} from '../../../pipeline/policy/layout.ts';
import { matchesGlob } from '../../../pipeline/text.ts';

const PATTERNS: LayoutPattern[] = [
  { kind: 'catalog', pattern: 'catalogs/{catalog}/{package}/**' },
  { kind: 'template', pattern: 'operators/{package}/catalog-templates/**' },
  { kind: 'packageConfig', pattern: 'operators/{package}/{ci.yaml,Makefile}' },
  { kind: 'bundle', pattern: 'operators/{package}/{version}/**' },
];

describe('a layout', () => {
  const layout = compileLayout(PATTERNS);

  test.each([
    ['catalogs/v4.20/etcd/catalog.yaml', 'catalog v4.20 etcd -'],
    ['catalogs/v4.20/etcd/deep/er/x', 'catalog v4.20 etcd -'],
    ['operators/etcd/catalog-templates/basic.yaml', 'template - etcd -'],
    ['operators/etcd/ci.yaml', 'packageConfig - etcd -'],
    ['operators/etcd/1.0.0/manifests/csv.yaml', 'bundle - etcd 1.0.0'],
    ['operators/etcd/v4.12.0-202401/metadata/a', 'bundle - etcd v4.12.0-202401'],
  ])('says what %s is', (path, expected) => {
    const { kind, catalog = '-', package: name = '-', version = '-' } = layout.match(path) ?? {};
    expect(`${kind} ${catalog} ${name} ${version}`).toBe(expected);
  });

  test.each([
    'catalogs/v4.20/etcd',
    'catalogs/v4.20/.indexignore',
    'operators/etcd/ci.yaml/x',
    'operators/etcd/README.md',
    'operators/etcd/tests/x',
    'operators/etcd/cixyaml',
    'Catalogs/v4.20/etcd/catalog.yaml',
    'x/catalogs/v4.20/etcd/catalog.yaml',
    'catalogs//etcd/x',
  ])('does not know %s', (path) => expect(layout.match(path)).toBeUndefined());

  test('knows in whose area an unknown path lies', () => {
    expect(layout.packageAt('operators/etcd/OWNERS')).toBe('etcd');
    expect(layout.packageAt('catalogs/v4.20/etcd')).toBe('etcd');
    expect(layout.packageAt('catalogs/v4.20')).toBeUndefined();
    expect(layout.packageAt('README.md')).toBeUndefined();
  });

  test('knows the folder of a package, also of one that is called as a folder above it', () => {
    expect(layout.packageFolder('operators/etcd/1.0.0/manifests/a.yaml')).toBe('operators/etcd');
    expect(layout.packageFolder('operators/operators/OWNERS')).toBe('operators/operators');
    expect(layout.packageFolder('operators/README.md/x')).toBe('operators/README.md');
    expect(layout.packageFolder('README.md')).toBeUndefined();
  });

  test('knows where its patterns begin', () => {
    for (const path of ['catalogs', 'catalogs/x', 'operators/a/b/c']) expect(layout.governs(path)).toBe(true);
    for (const path of ['README.md', 'catalogs2', 'docs/catalogs']) expect(layout.governs(path)).toBe(false);
  });

  test('a name at the top that could be any governs nothing but versions of the platform', () => {
    const open = compileLayout([{ kind: 'catalog', pattern: '{catalog}/catalog/{package}/catalog.json' }]);
    for (const path of ['v4.18', 'v4.18/catalog/etcd/link', 'x/catalog/etcd', 'x/catalog/etcd/catalog.json'])
      expect(open.governs(path), path).toBe(true);
    for (const path of ['operator', 'docs/x', 'v4.18/Dockerfile'])
      expect(open.governs(path), path).toBe(false);
  });

  test('a name may have a glob, and a catalog another name than its folder', () => {
    const pattern = '{catalog:v*.*}/{package}/catalog.yaml';
    const named = compileLayout([{ kind: 'catalog', pattern, name: 'stage-{catalog}' }]);
    expect(named.match('v4.18/etcd/catalog.yaml')).toMatchObject({ catalog: 'stage-v4.18', package: 'etcd' });
    expect(named.match('docs/etcd/catalog.yaml')).toBeUndefined();
  });

  test('takes the first pattern that matches', () => {
    const reversed = compileLayout(PATTERNS.toReversed());
    expect(layout.match('catalogs/1.0/2.0/x')?.kind).toBe('catalog');
    expect(reversed.match('operators/etcd/catalog-templates/x')?.kind).toBe('template');
  });

  test('wants a repeated name to be the same', () => {
    const twice = compileLayout([{ kind: 'catalog', pattern: 'c/{package}/{catalog}/{package}.*' }]);
    expect(twice.match('c/etcd/v1/etcd.yaml')).toMatchObject({ package: 'etcd', catalog: 'v1' });
    expect(twice.match('c/etcd/v1/other.yaml')).toBeUndefined();
  });

  test('takes everything but its own signs as plain text', () => {
    const odd = compileLayout([{ kind: 'catalog', pattern: 'a.b(c)+/[x]/{p|q,r.s}/{catalog}' }]);
    expect(odd.match('a.b(c)+/[x]/r.s/v1')?.catalog).toBe('v1');
    expect(odd.match('a.b(c)+/[x]/p|q/v1')?.catalog).toBe('v1');
    expect(odd.match('aXb(c)+/[x]/r.s/v1')).toBeUndefined();
    expect(odd.match('a.b(c)+/x/r.s/v1')).toBeUndefined();
  });
});

test.each([
  ['a/{package}/**', undefined],
  ['{catalog:v*.*}/{package:my-*}/**', undefined],
  ['a/*b*c*d/{package}', undefined],
  ['a/*b*c*d*/{package}', 'at most 3 names and wildcards'],
  ['{catalog:v*}-*-{version}-*/a', 'at most 3 names and wildcards'],
  ['{package:*a*b*c*}/x', 'at most 3 names and wildcards'],
  ['{package:*a*}-{version}-*/x', 'at most 3 names and wildcards'],
  ['{catalog:v*:x}/a', 'is not {catalog}'],
  ['{catalog:a}{catalog}/x', 'must not use a name twice'],
  ['**', 'must start with'],
  ['a//b', 'relative'],
  ['/a', 'relative'],
  ['a/../b', 'relative'],
  ['a/{b', 'not closed'],
  ['a/{ci/yaml,Makefile}', 'contains a slash'],
  ['{catalog:v/x}/a', 'contains a slash'],
  ['a/b}', 'not closed'],
  ['a/{nonsense}', 'is not {catalog}'],
  ['a/{package}-{package}', 'twice'],
])('the pattern %s: %s', (pattern, defect) => {
  if (defect === undefined) expect(patternDefect(pattern)).toBeUndefined();
  else expect(patternDefect(pattern)).toContain(defect);
});

test('globs take their signs literally but for *', () => {
  expect(matchesGlob('*', '')).toBe(true);
  expect(matchesGlob('ack-*', 'ack-s3')).toBe(true);
  expect(matchesGlob('ack-*', 'xack-s3')).toBe(false);
  expect(matchesGlob('a.c', 'abc')).toBe(false);
  expect(matchesGlob('a*b*c', 'a-b-bc')).toBe(true);
  expect(matchesGlob('ab*bc', 'abc')).toBe(false);
  expect(matchesGlob('a', 'ab')).toBe(false);
});

test('a pattern of many stars costs no time', () => {
  expect(matchesGlob(`${'*a'.repeat(60)}*b`, 'a'.repeat(128))).toBe(false);
});

test.each([
  ['operators/{package}/{version}/**', 'operators/etcd/1.0.0/manifests/a.yaml', 'operators/etcd/1.0.0'],
  ['operators/{package}/{version}', 'operators/etcd/1.0.0', 'operators/etcd/1.0.0'],
  [
    'operators/{package}/bundle/manifests/**',
    'operators/etcd/bundle/manifests/a.yaml',
    'operators/etcd/bundle',
  ],
  ['operators/{package}/bundle/Dockerfile', 'operators/etcd/bundle/Dockerfile', 'operators/etcd/bundle'],
  ['operators/{package}/**/a.yaml', 'operators/etcd/x/a.yaml', 'operators/etcd'],
  ['manifests/**', 'manifests/a.yaml', ''],
])('the pattern %s has the bundle of %s in the directory "%s"', (pattern, path, folder) => {
  expect(bundleFolderOf(compileLayout([{ kind: 'bundle', pattern }]), path)).toBe(folder);
});
