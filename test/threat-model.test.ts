/** The threat model is a table of tests: each row names tests that there are. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const [page = ''] = readFileSync('docs/threat-model.md', 'utf8').split('## What a forge does not guarantee');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| attack |'))
  .map((line) => line.slice(2, -2).split(' | '));

function testsIn(path: string): string {
  if (!statSync(path).isDirectory()) return readFileSync(path, 'utf8');
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(path, file), 'utf8'))
    .join('\n');
}

describe('the threat model', () => {
  test.each(rows.map((cells) => [cells[0] ?? '', cells] as const))('has tests: %s', (attack, cells) => {
    const paths = [...(cells.at(-1) ?? '').matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) {
      expect(path).toMatch(/^test\//);
      expect(existsSync(path)).toBe(true);
      expect(testsIn(path)).toMatch(/\bexpect\w*\(/);
    }
    const [, number] = /^(\d+): /.exec(attack) ?? [];
    if (number === undefined) return;
    const named = new RegExp(`(?:attack )?\\b${number}: `);
    expect(paths.some((path) => named.test(testsIn(path)))).toBe(true);
  });

  test('has a row for each attack beyond the first list that a mutation names', () => {
    const files = readdirSync('test/mutations').map((file) =>
      readFileSync(join('test/mutations', file), 'utf8'),
    );
    const numbers = files.flatMap((text) =>
      [...text.matchAll(/attack: (\d+),/g)].map(([, one]) => Number(one)),
    );
    const own = new Set(rows.map(([attack = '']) => Number(/^(\d+): /.exec(attack)?.[1])));
    expect([...new Set(numbers)].filter((one) => one > 40 && !own.has(one))).toEqual([]);
  });
});

test('attack 55: the job that builds a release runs no install scripts', () => {
  const text = readFileSync('.github/workflows/release.yml', 'utf8');
  const installs = [...text.matchAll(/npm (?:ci|install)\b.*/g)].map(([line]) => line);
  expect(installs.length).toBeGreaterThan(0);
  for (const line of installs) expect(line).toContain('--ignore-scripts');
});

test('what documents tell people to run is pinned', () => {
  const examples = readdirSync('docs/examples').map((file) =>
    readFileSync(join('docs/examples', file), 'utf8'),
  );
  const images = examples.flatMap((text) => [...text.matchAll(/^\s*image: (.*)$/gm)].map(([, one]) => one));
  expect(images.length).toBeGreaterThan(0);
  for (const image of images) expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  const pages = readdirSync('docs').filter((file) => file.endsWith('.md'));
  const packages = pages.flatMap((file) =>
    [...readFileSync(join('docs', file), 'utf8').matchAll(/^npx (@\S+)/gm)].map(([, one]) => one),
  );
  expect(packages.length).toBeGreaterThan(0);
  for (const one of packages) expect(one).toMatch(/@\d+\.\d+\.\d+$/);
});
