/** How pages, examples and workflows get Portolan. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FILES = ['docs', 'docs/workflows', 'docs/examples']
  .flatMap((folder) => readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()))
  .map(({ parentPath, name }) => `${parentPath}/${name}`);

/** The commits of Portolan that a file names. */
function commits(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/portolan\/portolan(?:@| )([0-9a-f]{40})\b/g)].map(([, commit = '']) => commit);
}

test('workflows and examples take Portolan from one commit', () => {
  const all = FILES.flatMap(commits);
  expect(all.length).toBeGreaterThan(6);
  expect(new Set(all).size).toBe(1);
});

// The name is not registered on npm: whoever registers it could run code in these jobs.
test.each(FILES.filter((file) => /\.ya?ml$/.test(file)))(
  '%s runs nothing from npm by the name portolan',
  (file) => {
    expect(readFileSync(file, 'utf8')).not.toMatch(/npx|npm (?:install|i|exec)\b/);
  },
);
