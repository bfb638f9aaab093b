/** How pages, examples and workflows get Portolan. */
import { readdirSync, readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { INSTALL, withInstall } from '../scripts/install.ts';

const FILES = ['docs', 'docs/workflows', 'docs/examples']
  .flatMap((folder) => readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()))
  .map(({ parentPath, name }) => `${parentPath}/${name}`)
  .concat('README.md')
  .filter((file) => /\.(?:md|ya?ml)$/.test(file));
const JOBS = FILES.filter((file) => /\.ya?ml$/.test(file));
const text = (file: string): string => readFileSync(file, 'utf8');

const BEFORE = { ...INSTALL, published: false };
const AFTER = { published: true, version: '7.8.9', commit: '7'.repeat(40) };

/** What marked places say, by file. */
const places = (install: typeof INSTALL): string =>
  FILES.flatMap(
    (file) => withInstall(text(file), install).match(/<!-- install: [\s\S]*?<!-- end of install -->/g) ?? [],
  ).join('\n');

test('workflows and examples take Portolan from one commit', () => {
  const named = FILES.flatMap((file) => [
    ...text(file).matchAll(/portolan\/portolan(?:@| )([0-9a-f]{40})\b/g),
  ]);
  expect(named.length).toBeGreaterThan(6);
  expect(new Set(named.map(([, commit]) => commit))).toEqual(new Set([INSTALL.commit]));
});

test('every file is as npm run generate writes it', () => {
  expect(FILES.filter((file) => withInstall(text(file), INSTALL) !== text(file))).toEqual([]);
});

test('the page for release engineers shows the workflow that publishes, on another schedule', () => {
  const [, block = ''] =
    /^ {3}```yaml\n( {3}name: portolan-publish\n[\s\S]*?)^ {3}```$/m.exec(
      text('docs/start-release-engineer.md'),
    ) ?? [];
  const { on, ...shown } = load(block) as Record<string, unknown>;
  const { on: written, ...workflow } = load(text('docs/workflows/portolan-publish.yml')) as Record<
    string,
    unknown
  >;
  expect(shown).toEqual(workflow);
  expect({ push: { branches: ['main'] }, ...(on as object) }).toEqual({
    ...(written as object),
    schedule: [{ cron: '30 2 * * *' }],
  });
});

describe('before the first release', () => {
  // Whoever registers a name on npm that nobody has claimed can run code where it is called.
  test.each(JOBS)('%s runs nothing from npm by the name portolan', (file) => {
    expect(withInstall(text(file), BEFORE)).not.toMatch(/npx|npm (?:install|i|exec)\b/);
  });

  test('no page tells to run it from npm', () => {
    const pages = [
      ...readdirSync('docs').filter((name) => name.endsWith('.md')),
      '../deploy/vscode/README.md',
    ];
    for (const page of pages.filter((name) => name !== 'releasing.md'))
      expect(text(`docs/${page}`), page).not.toMatch(
        /npm (?:install|i) (?:-g|--global) portolan|npx[", ]+portolan/,
      );
  });

  test('pages build it from a clone', () => {
    expect(places(BEFORE)).toContain('npm ci && npm run build && npm link');
    expect(places(BEFORE)).not.toMatch(/npm install|npx (?!portolan` outside)|ghcr\.io/);
  });
});

describe('after it', () => {
  test.each(JOBS)('%s installs one version, or none', (file) => {
    const changed = withInstall(text(file), AFTER);
    expect(() => load(changed)).not.toThrow();
    expect(changed).not.toContain('npm ci');
    expect(changed).not.toMatch(/built from a .*commit/);
    const installed = changed.match(/npm install .*/g) ?? [];
    const runs = changed.match(/node portolan\/\S+/g) ?? [];
    expect(installed.length).toBe(runs.length);
    expect(new Set(installed).size).toBeLessThan(2);
    for (const line of installed) expect(line).toMatch(/ portolan@7\.8\.9$/);
    for (const line of runs) expect(line).toBe('node portolan/node_modules/portolan/dist/portolan.mjs');
  });

  test('pages name the version, and no clone', () => {
    const said = places(AFTER);
    expect(said).toContain('npm install --global portolan@7.8.9');
    expect(said).toContain('oci://ghcr.io/portolan/portolan/chart/portolan --version 7.8.9');
    expect(said).not.toMatch(/clone|npm (?:ci|link)|not on npm/);
    expect(said.match(/\bportolan(?:@|:| --version )(?!7\.8\.9|7{40} # v7\.8\.9)[\w.]+/g)).toBeNull();
    expect(said.match(/npx portolan(?!@7\.8\.9)/g)).toBeNull();
  });

  test('the command of README puts it on the PATH', () => {
    const readme = withInstall(text('README.md'), AFTER);
    expect(readme).toContain('```\nnpm install --global portolan@7.8.9\n```');
    expect(readme).not.toContain('--prefix');
  });

  test.each(FILES)('%s can be taken back', (file) => {
    expect(withInstall(withInstall(text(file), AFTER), INSTALL)).toBe(text(file));
  });
});

test('a place that nobody knows is an error', () => {
  expect(() => withInstall('<!-- install: x -->\n<!-- end of install -->\n', INSTALL)).toThrow('install: x');
});
