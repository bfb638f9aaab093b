/** What the runner reads of the Action: `action.yml`, by a reader that is not ours. */
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';

interface ActionFile {
  readonly inputs: Readonly<Record<string, { readonly description?: unknown }>>;
  readonly outputs: Readonly<Record<string, { readonly description?: unknown }>>;
}

const action = load(readFileSync('action.yml', 'utf8')) as ActionFile;
const reference = readFileSync('docs/action-reference.md', 'utf8');

test.each([...Object.entries(action.inputs), ...Object.entries(action.outputs)])(
  '%s has a description, and a place in the reference',
  (name, { description }) => {
    expect(description).toEqual(expect.stringMatching(/\.$/));
    expect(reference).toContain(`\`${name}\``);
  },
);

test('what the entry asks the runner for is an input', () => {
  const entry = readFileSync('pipeline/action/index.ts', 'utf8');
  const asked = [...entry.matchAll(/\b(?:text|flag|getInput|isTrue)\('([a-z-]+)'/g)].map(([, name]) => name);
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.filter((name = '') => !(name in action.inputs))).toEqual([]);
});
