/** CODEOWNERS as GitHub reads it, as far as its page tells. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OwnershipEngine } from '@snyk/github-codeowners/dist/lib/ownership/OwnershipEngine.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MOST_STEPS, StepsError } from '../../../../catalog/go/steps.ts';
import { formatIdentity, parseIdentity } from '../../../../pipeline/policy/identity.ts';
import {
  type CodeOwnersLine,
  linesFor,
  namesOthers,
  parsePattern,
  readCodeOwners,
} from '../../../../pipeline/policy/owners/code-owners.ts';
import { patternsAndPaths } from '../../../fakes/code-owners-pairs.ts';
import { folder } from '../../../fakes/folder.ts';
import { runs } from '../../../fakes/runs.ts';

function lineFor(lines: readonly CodeOwnersLine[], path: string): CodeOwnersLine | undefined {
  return linesFor(lines, [path], { left: MOST_STEPS })[0];
}

/** Number of the line that counts, with its owners. */
function counts(text: string, path: string): string {
  const found = lineFor(readCodeOwners(text), path);
  return found ? `${found.line} ${found.owners.map(formatIdentity).join(' ')}`.trim() : 'none';
}

describe('the line that counts', () => {
  // The examples of GitHub's page.
  test.each([
    ['* @global', 'any/file.yaml', '1 global'],
    ['*.js @js #This is an inline comment.', 'deep/in/file.js', '1 js'],
    ['/build/logs/ @doctocat', 'build/logs/a/b.log', '1 doctocat'],
    ['/build/logs/ @doctocat', 'other/build/logs/a', 'none'],
    ['docs/* @docs', 'docs/getting-started.md', '1 docs'],
    ['docs/* @docs', 'docs/build-app/troubleshooting.md', 'none'],
    ['apps/ @octocat', 'deep/apps/x', '1 octocat'],
    ['/docs/ @doctocat', 'docs/a/b', '1 doctocat'],
    ['**/logs @octocat', 'deeply/nested/logs/x', '1 octocat'],
    ['/apps/ @octocat\n/apps/github', 'apps/github/x', '2'],
    ['/apps/ @octocat\n/apps/github', 'apps/other', '1 octocat'],
    ['* @first\n*.yaml @second', 'catalogs/a.yaml', '2 second'],
    ['/catalogs/*/etcd/ @bob @org/team', 'catalogs/v4.20/etcd/catalog.yaml', '1 bob @org/team'],
    ['a\\ b/ @bob', 'a b/c', '1 bob'],
    ['# @bob\n', 'catalogs/x', 'none'],
    ['* @bob\n/catalogs/quay/', 'catalogs/quay/x', '2'],
    // The program of GitHub skips such lines, or reads them in a way of its own.
    ['* @bob\n!catalogs/ @carol', 'catalogs/x', '2'],
    ['* @bob\n/catalogs/[q]uay/ @carol', 'catalogs/x', '2'],
    ['* @bob\n/catalogs/[q]uay/ @carol', 'docs/x', '1 bob'],
    ['* @bob\n/catalogs/ @dave carol', 'catalogs/x', '2'],
    ['* @bob\n/catalogs/ @dave carol@example.com', 'catalogs/x', '2 dave'],
    ['* @bob\r\n**/quay/* @carol\r\n', 'catalogs/quay/catalog.yaml', '2 carol'],
  ])('%s: %s', (text, path, expected) => {
    expect(counts(text, path)).toBe(expected);
  });
});

describe('others than the owners', () => {
  const isOther = (text: string, ...owners: readonly string[]): boolean | undefined => {
    const line = lineFor(readCodeOwners(text), 'catalogs/v4.20/etcd/catalog.yaml');
    return (
      line &&
      namesOthers(
        line,
        owners.flatMap((owner) => parseIdentity(owner) ?? []),
      )
    );
  };

  test('are people of whom none is an owner', () => {
    expect(isOther('/catalogs/ @carol @dan', 'bob')).toBe(true);
    expect(isOther('/catalogs/ @carol @Bob', 'bob#11')).toBe(false);
  });

  test('are not told where that cannot be known, or is meant for everything', () => {
    expect(isOther('* @carol', 'bob')).toBe(false);
    expect(isOther('/catalogs/ @org/team', 'bob')).toBe(false);
    expect(isOther('/catalogs/ carol@example.com', 'bob')).toBe(false);
    expect(isOther('/catalogs/', 'bob')).toBe(false);
    expect(isOther('/catalogs/ @carol')).toBe(false);
    expect(isOther('/catalogs/ @carol', '@org/team')).toBe(false);
  });
});

test('71: a pattern that takes more steps than are left is an error', () => {
  const lines = readCodeOwners(`${'*a'.repeat(50)}b @bob\n`);
  const paths = ['a'.repeat(200)];
  expect(() => linesFor(lines, paths, { left: 150 })).toThrow(StepsError);
  expect(linesFor(lines, paths, { left: 1000 })).toEqual([undefined]);
  const many = readCodeOwners('/b @bob\n'.repeat(100));
  expect(() => linesFor(many, ['a'], { left: 1000 })).toThrow(StepsError);
  expect(linesFor(many, ['a'], { left: 5000 })).toEqual([undefined]);
});

// Patterns of CODEOWNERS, also in comparison with a program of Snyk's that puts GitHub's exceptions on ignore patterns.

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
    ['docs/api/[ab]', 'docs/api/a', true],
    ['/docs/api/[ab]', 'docs/web/x', false],
  ])('attack 41: %j is not supported; might it match %s: %s', (pattern, path, expected) => {
    const { isSupported, matches } = parsePattern(pattern);
    expect([isSupported, matches(path)]).toEqual([false, expected]);
  });

  test('a hostile pattern takes few steps', () => {
    const { matches } = parsePattern(`/${'**/*a*a*a*a*a*a*a*a*b/'.repeat(2000)}x`);
    expect(matches(`${'aaaaaaaaaaaaaaaaaaaaaaaaaaaa/'.repeat(140)}x`)).toBe(false);
  });
});
