/** Patterns of CODEOWNERS, also in comparison with a program of Snyk's that puts GitHub's exceptions on ignore patterns. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OwnershipEngine } from '@snyk/github-codeowners/dist/lib/ownership/OwnershipEngine.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePattern } from '../../../../pipeline/policy/owners/code-owners-pattern.ts';
import { patternsAndPaths } from '../../../fakes/code-owners-pairs.ts';
import { folder } from '../../../fakes/folder.ts';
import { runs } from '../../../fakes/runs.ts';

const PATHS = 50;

describe('a pattern of CODEOWNERS', () => {
  test('attack 41: matches the same paths as in another implementation', () => {
    const file = join(folder(), 'CODEOWNERS');
    let matched = 0;
    fc.assert(
      fc.property(patternsAndPaths(PATHS), ({ pattern, paths }) => {
        const own = parsePattern(pattern);
        // It splits escaped spaces, so it cannot compare them.
        if (!own.isSupported || pattern.includes('\\')) return;
        writeFileSync(file, `${pattern} @owner\n`);
        const other = OwnershipEngine.FromCodeownersFile(file);
        for (const path of paths) {
          const isMatch = other.calcFileOwnership(path).length > 0;
          if (own.matches(path) !== isMatch) throw new Error(`${pattern} and ${path}: expected ${isMatch}`);
          if (isMatch) matched++;
        }
      }),
      runs(4000),
    );
    expect(matched).toBeGreaterThan(runs(4000).numRuns * 5);
  });

  test.each([
    ['**/quay/*', 'catalogs/quay/catalog.yaml', true],
    ['**/quay/*', 'catalogs/quay/v4.20/catalog.yaml', false],
    ['catalogs/**/*', 'catalogs/v4.20/quay/catalog.yaml', true],
    ['/**', 'a/b/c', true],
    ['/**/q*y/*', 'catalogs/v4.20/quay/catalog.yaml', true],
    ['/*', 'a', true],
    ['/*', 'a/b', false],
    ['a/**', 'a', false],
    ['a/**/b', 'a/b', true],
    ['catalogs/', 'catalogs', false],
    ['Quay', 'quay', false],
    ['a.b', 'axb', false],
    ['a\\ b', 'a b/c', true],
    ['q?ay', 'q/ay', false],
    ['*', '\n', true],
  ])('attack 41: %s and %j: %s', (pattern, path, expected) => {
    const { isSupported, matches } = parsePattern(pattern);
    expect([isSupported, matches(path)]).toEqual([true, expected]);
  });

  test.each([
    ['[ab]', 'x', true],
    ['!catalogs/', 'x', true],
    ['\\#x', 'x', true],
    ['a\\*', 'x', true],
    ['***', 'x', true],
    ['**/', 'x', true],
    ['a/**/**/b', 'x', true],
    ['/', 'x', true],
    ['//', 'x', true],
    ['a//b', 'x', true],
    ['../x', 'x', true],
    ['a\u00a0b', 'x', true],
    ['/docs/[ab]', 'docs/x', true],
    ['/docs/[ab]', 'catalogs/x', false],
    ['docs/[ab]', 'catalogs/x', true],
    ['/do*s/[ab]', 'catalogs/x', true],
  ])('attack 41: %j is not supported; might it match %s: %s', (pattern, path, expected) => {
    const { isSupported, matches } = parsePattern(pattern);
    expect([isSupported, matches(path)]).toEqual([false, expected]);
  });

  test('a hostile pattern takes few steps', () => {
    const { matches } = parsePattern(`/${'**/*a*a*a*a*a*a*a*a*b/'.repeat(2000)}x`);
    expect(matches(`${'aaaaaaaaaaaaaaaaaaaaaaaaaaaa/'.repeat(140)}x`)).toBe(false);
  });
});
