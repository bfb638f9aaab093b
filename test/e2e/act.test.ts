/** The Action in a workflow, run by nektos/act on this machine: checkout, the step, what it tells the next. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventOf } from '../fakes/event.ts';
import { folder } from '../fakes/folder.ts';
import { buildProgram } from '../fakes/program.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';
import { isOnPath } from '../fakes/tools.ts';

const WORKFLOW = `
on: pull_request_target
permissions: {contents: read}
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
        with: {fetch-depth: 0}
      - uses: ./
        id: portolan
      - run: |
          echo "told: $VERDICT, $AUTHORITY"
          cat "$GITHUB_STEP_SUMMARY" || true
        env:
          VERDICT: \${{ steps.portolan.outputs.verdict }}
          AUTHORITY: \${{ steps.portolan.outputs.authority }}
`;

let repository: SampleRepository;
beforeAll(() => {
  buildProgram();
  repository = sampleRepository({
    'action.yml': readFileSync('action.yml', 'utf8'),
    'dist/action.cjs': readFileSync('dist/action.cjs', 'utf8'),
    '.github/workflows/check.yaml': WORKFLOW,
  });
  repository.git('reset', '--hard', '--quiet', repository.base);
  return repository.remove;
});

function act(head: string, author: string): string {
  const event = join(folder(), 'event.json');
  writeFileSync(event, JSON.stringify(eventOf({ base: repository.base, head, author })));
  const home = folder();
  const { status, stdout, stderr } = spawnSync(
    'act',
    ['pull_request_target', '-e', event, '--no-cache-server', '-P', 'ubuntu-latest=-self-hosted'],
    {
      cwd: repository.directory,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: home, XDG_CACHE_HOME: home, XDG_CONFIG_HOME: home },
    },
  );
  expect(status, stdout + stderr).toBe(0);
  return stdout;
}

describe.skipIf(!isOnPath('act'))('a workflow under act', () => {
  test('lets an owner pass', () => {
    const log = act(repository.addition, 'anna');
    expect(log).toContain('told: pass, allow');
    expect(log).toContain('PASS: allowed, and all checks passed');
  });

  test('refuses a stranger', () => {
    const log = act(repository.addition, 'mallory');
    expect(log).toContain('told: pass, needs');
    expect(log).toMatch(/NOT YET: needs approval from .*@anna/);
  });

  test('names the version that would be stranded', () => {
    const log = act(repository.stranding, 'grace');
    expect(log).toContain('told: fail, allow');
    expect(log).toContain('graph/strands-installed-v0');
  });
});
