/** What GitHub and contributors read at the root and in `.github`. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';

const WORKFLOWS = '.github/workflows';
const FORMS = '.github/ISSUE_TEMPLATE';
const text = (path: string): string => readFileSync(path, 'utf8');

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, { readonly 'timeout-minutes'?: number }>>;
}

describe.each(readdirSync(WORKFLOWS))('%s', (file) => {
  const workflow = load(text(`${WORKFLOWS}/${file}`)) as Workflow;

  test('each action is pinned by its commit, with its version beside it', () => {
    const used = text(`${WORKFLOWS}/${file}`).match(/uses: .*/g) ?? [];
    const loose = used.filter((line) => !/^uses: [\w./-]+@[0-9a-f]{40} # v[\d.]+$/.test(line));
    expect(used).not.toEqual([]);
    expect(loose).toEqual([]);
  });

  test('a job may read, writes only what it lists, and ends', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const endless = Object.entries(workflow.jobs).filter(([, job]) => job['timeout-minutes'] === undefined);
    expect(endless).toEqual([]);
  });
});

test('CI runs each part of what contributors run', () => {
  const workflow = text(`${WORKFLOWS}/ci.yml`);
  const [, parts = ''] = /^PARTS=\((.*)\)$/m.exec(text('.ci/run')) ?? [];
  expect(parts).not.toBe('');
  expect(workflow).toContain(`        part: [${parts.split(' ').join(', ')}]\n`);
  expect(workflow).toMatch(/^ {6}- run: \.ci\/run \$\{\{ matrix\.part \}\}$/m);
});

test.each(readdirSync(FORMS).filter((file) => file !== 'config.yml'))(
  '%s asks for something, each field once',
  (file) => {
    const form = load(text(`${FORMS}/${file}`)) as {
      readonly name: string;
      readonly description: string;
      readonly body: readonly { readonly id: string; readonly attributes: { readonly label: string } }[];
    };
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) });
    const ids = form.body.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(0);
  },
);

test('AGENTS.md names only files that are there', () => {
  const named = [...text('AGENTS.md').matchAll(/\]\(([^)#]+)\)/g)].map(([, path = '']) => path);
  expect(named).not.toEqual([]);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});

test.each([
  ['the checksums of a release', 0],
  ['the checksumms of a release', 1],
])('running only the tests named "%s" ends with %i', (title, status) => {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'test/release-checksums.test.ts', '-t', title];
  expect(spawnSync(process.execPath, vitest).status).toBe(status);
});
