/** Patterns of CODEOWNERS with paths, for comparisons with other programs. */
import fc from 'fast-check';

export interface PatternAndPaths {
  readonly pattern: string;
  readonly paths: readonly string[];
}

const NAMES = [
  'catalogs',
  'quay',
  'qay',
  'q',
  'v4.20',
  'a',
  'ab',
  'b',
  '.x',
  'catalog.yaml',
  'README.md',
  'a b',
];
const WRITTEN = ['*', '**', '*', '**', 'q*y', 'q?ay', '*.md', '*.yaml', 'a*', '*b', '?', 'a**b', 'a\\ b'];

const written = fc.oneof(fc.constantFrom(...NAMES.slice(0, -1)), fc.constantFrom(...WRITTEN));
const pattern = fc
  .tuple(
    fc.constantFrom('', '', '/'),
    fc.array(written, { minLength: 1, maxLength: 5 }),
    fc.constantFrom('', '', '/'),
  )
  .map(([start, names, end]) => start + names.join('/') + end);
const path = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 5 })
  .map((names) => names.join('/'));

/** A path that the pattern may match: each wildcard is replaced by something. */
function pathLike(of: string): fc.Arbitrary<string> {
  const names = of
    .replaceAll('\\ ', ' ')
    .split('/')
    .filter((name) => name !== '');
  const parts = names.map((name) =>
    name === '**'
      ? fc.array(fc.constantFrom(...NAMES), { maxLength: 2 })
      : fc.constantFrom('', 'a', 'ua').map((one) => [name.replaceAll('*', one).replaceAll('?', 'u') || 'q']),
  );
  const around = fc.array(fc.constantFrom(...NAMES), { maxLength: 2 });
  return fc
    .tuple(fc.constantFrom(true, false, false), around, fc.tuple(...parts), around)
    .map(
      ([isDeeper, before, inner, behind]) =>
        [...(isDeeper ? before : []), ...inner.flat(), ...behind].join('/') || 'q',
    );
}

/** A pattern with a number of paths, half of which look like it. */
export function patternsAndPaths(paths: number): fc.Arbitrary<PatternAndPaths> {
  const half = { minLength: paths / 2, maxLength: paths / 2 };
  return pattern.chain((one) =>
    fc
      .tuple(fc.array(path, half), fc.array(pathLike(one), half))
      .map(([any, like]) => ({ pattern: one, paths: [...any, ...like] })),
  );
}
