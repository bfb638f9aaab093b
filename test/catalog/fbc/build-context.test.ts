import { expect, test } from 'vitest';
import { contextMatcher } from '../../../catalog/fbc/build-context.ts';

const PATHS = ['catalog/etcd/catalog.yaml', 'docs/x.md', 'Makefile'];
const leftOut = (text: string | undefined): string[] => PATHS.filter(contextMatcher(PATHS)(text) ?? fail);

function fail(): never {
  throw new Error('too many steps');
}

/** The paths that lines of a `.dockerignore` leave out, as Docker and Podman read them. */
test.each<[string, readonly string[]]>([
  ['catalog', ['catalog/etcd/catalog.yaml']],
  ['/catalog/', ['catalog/etcd/catalog.yaml']],
  ['./catalog/**', ['catalog/etcd/catalog.yaml']],
  ['etcd', []],
  ['**/etcd', ['catalog/etcd/catalog.yaml']],
  ['catalog/*/catalog.yaml', ['catalog/etcd/catalog.yaml']],
  ['*.yaml', []],
  ['**/*.yaml', ['catalog/etcd/catalog.yaml']],
  ['*', PATHS],
  ['**', PATHS],
  ['*\n!catalog', ['docs/x.md', 'Makefile']],
  ['*\n!catalog/**', ['docs/x.md', 'Makefile']],
  ['*\n!/catalog/etcd\nMakefile', ['docs/x.md', 'Makefile']],
  ['!catalog\n*', PATHS],
  ['# catalog\n\n  docs', ['docs/x.md']],
  // What is not supported leaves nothing out.
  ['*\n!**.yaml', []],
  // Paths are cleaned, as by Go's filepath.Clean.
  ['../docs\n./x/../catalog//etcd/.', ['catalog/etcd/catalog.yaml']],
  ['/../docs\n.\n..', ['docs/x.md']],
])('%j', (text, expected) => {
  expect(leftOut(text)).toEqual(expected);
});

test('what takes too many steps is not known, and files that are alike are read once', () => {
  const many = Array.from({ length: 20_000 }, (_, i) => `catalog/${i}/${'x'.repeat(100)}`);
  const matcher = contextMatcher(many);
  const small = matcher('catalog');
  expect(many.filter(small ?? fail)).toEqual(many);
  expect(matcher('*y'.repeat(500))).toBeUndefined();
  expect(matcher('catalog')).toBe(small);
});

test('without an ignore file, nothing is left out', () => {
  expect(leftOut(undefined)).toEqual([]);
});
