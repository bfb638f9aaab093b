/** Patterns of CODEOWNERS, in comparison with two programs of others: hmarr/codeowners (Go), and Snyk's in npm test. */

import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePattern } from '../../pipeline/policy/owners/code-owners.ts';
import { patternsAndPaths } from '../fakes/code-owners-pairs.ts';
import { isOnPath } from '../fakes/tools.ts';

const PATTERNS = 4000;
const PATHS = 50;

test.skipIf(!isOnPath('go'))('the same patterns match the same paths as in Go', () => {
  const pairs = fc
    .sample(patternsAndPaths(PATHS), PATTERNS)
    .filter(({ pattern }) => parsePattern(pattern).isSupported)
    .flatMap(({ pattern, paths }) => paths.map((path) => [pattern, path] as const));
  const input = pairs.map((pair) => `${JSON.stringify(pair)}\n`).join('');
  const cwd = `${import.meta.dirname}/code-owners-go`;
  const answers = execFileSync('go', ['run', '.'], { cwd, input, maxBuffer: 1 << 26, encoding: 'utf8' });
  const own = pairs.map(([pattern, path]) => (parsePattern(pattern).matches(path) ? '1' : '0'));
  const differences = pairs.filter((_, i) => own[i] !== answers[i]);
  process.stdout.write(
    `${pairs.length} pairs, of which ${own.filter((one) => one === '1').length} match; ${differences.length} differ\n`,
  );
  expect(pairs.length).toBeGreaterThan(100_000);
  expect(differences).toEqual([]);
});
