/** The example workflows: what they may do, and that nothing of a pull request runs where something may be done. */
import { readdirSync, readFileSync } from 'node:fs';
import { buildSync } from 'esbuild';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string>>;
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: unknown;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly permissions?: Record<string, string>;
        readonly steps: readonly Step[];
        readonly environment?: string;
      }
    >
  >;
}

const folder = 'docs/workflows';
const files = readdirSync(folder);
const textOf = (file: string): string => readFileSync(`${folder}/${file}`, 'utf8');
const workflowOf = (file: string): Workflow => load(textOf(file)) as Workflow;
const steps = (file: string): Step[] => Object.values(workflowOf(file).jobs).flatMap((job) => [...job.steps]);

describe.each(files)('%s', (file) => {
  test('27: names actions by their commits only', () => {
    for (const { uses } of steps(file)) {
      if (uses !== undefined) expect(uses).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
    }
    expect(textOf(file).match(/uses: \S+@\S+(?! # v)$/gm)).toBeNull();
  });

  test('18: puts nothing that others write into a script', () => {
    for (const { run = '' } of steps(file)) expect(run).not.toContain('${{');
  });

  test('permissions are given job by job, nothing by default', () => {
    const { permissions } = workflowOf(file);
    expect([{}, { contents: 'read' }]).toContainEqual(permissions ?? null);
  });
});

test('nothing that is downloaded goes to a shell', () => {
  for (const file of files)
    for (const { run = '' } of steps(file))
      expect(run, file).not.toMatch(/(?:curl|wget)[^|;]*\|[^|]*\b(?:ba|z|da)?sh\b|<\(\s*(?:curl|wget)/);
});

test('1 and 2: where the gate runs, nothing is checked out', () => {
  for (const file of files) {
    const { on } = workflowOf(file);
    if (!('pull_request_target' in on || 'workflow_run' in on || 'issue_comment' in on)) continue;
    expect(steps(file).map(({ uses }) => uses?.split('@')[0])).toEqual([
      'portolan/portolan',
      'portolan/portolan',
      'portolan/portolan',
    ]);
    expect(steps(file).every(({ run }) => run === undefined)).toBe(true);
    expect(textOf(file)).not.toMatch(/allow-unsafe|pull_request\.head/);
  }
});

test('4: the status is said by workflows of the default branch only', () => {
  for (const file of files) {
    const { on, jobs } = workflowOf(file);
    const writes = Object.values(jobs).some(({ permissions }) => permissions?.['statuses'] === 'write');
    if (writes)
      expect(Object.keys(on).sort()).toEqual([
        'issue_comment',
        'merge_group',
        'pull_request_target',
        'push',
        'repository_dispatch',
        'schedule',
        'workflow_run',
      ]);
  }
});

test('what runs a pull request’s content has no right and no secret', () => {
  for (const file of files.filter(
    (one) => 'pull_request' in workflowOf(one).on || 'pull_request_review' in workflowOf(one).on,
  )) {
    const { permissions, jobs } = workflowOf(file);
    expect(Object.values((permissions ?? {}) as object).filter((right) => right !== 'read')).toEqual([]);
    expect(Object.values(jobs).flatMap((job) => Object.values(job.permissions ?? {}))).toEqual([]);
    expect(textOf(file)).not.toMatch(/secrets\.|id-token/);
  }
});

test('5: no artifact of another run is read', () => {
  for (const file of files.filter((one) => 'workflow_run' in workflowOf(one).on))
    expect(textOf(file)).not.toMatch(/download-artifact|run-id/);
});

test('28: the gate needs no secret', () => {
  expect(textOf('portolan.yml')).not.toContain('secrets.');
});

test('30: an identity token is given to the job that publishes, in its environment, on no pull request', () => {
  for (const file of files) {
    const { on, jobs } = workflowOf(file);
    for (const { permissions, environment } of Object.values(jobs)) {
      if (permissions?.['id-token'] === undefined) continue;
      expect(Object.keys(on).sort()).toEqual(['push', 'schedule', 'workflow_dispatch']);
      expect(environment).toBe('catalog-publish');
    }
  }
});

test('31: nothing is cached, by no workflow and not by the action', () => {
  for (const file of files) expect(textOf(file)).not.toMatch(/actions\/cache|cache:/);
  const { metafile } = buildSync({
    entryPoints: ['pipeline/action/index.ts'],
    bundle: true,
    platform: 'node',
    write: false,
    metafile: true,
    outdir: 'unused',
    // As in scripts/build.mjs.
    external: ['xmlbuilder2'],
    logLevel: 'silent',
  });
  const packages = Object.keys(metafile.inputs).join('\n');
  expect(packages).not.toContain('@actions/cache');
  expect(packages).not.toMatch(/@aws|@grpc/);
});

test('25: a review has the gate asked again, by a workflow that has no right', () => {
  expect(Object.keys(workflowOf('portolan-review.yml').on)).toEqual(['pull_request_review']);
  expect(workflowOf('portolan.yml').on['workflow_run']).toEqual({
    workflows: ['portolan-review', 'install'],
    types: ['completed'],
  });
});

test('what reads a pull request may not write a status; comments without a command start no job', () => {
  const { jobs } = workflowOf('portolan.yml');
  expect(Object.values(jobs['analyze']?.permissions ?? {}).filter((right) => right !== 'read')).toEqual([]);
  expect(textOf('portolan.yml')).toMatch(/if: github\.event_name != 'issue_comment' \|\| \(.*'\/recheck'\)/);
  // A group of the whole workflow would let any comment cancel a check that waits.
  expect(Object.keys(load(textOf('portolan.yml')) as object)).not.toContain('concurrency');
});

test('the check that the policy names is a job with one name', () => {
  expect(readFileSync('docs/policy.md', 'utf8')).toContain('{name: installed, app: 15368');
  const { jobs } = workflowOf('install-test.yml');
  expect(Object.keys(jobs).at(-1)).toBe('installed');
  expect(jobs['installed']).not.toHaveProperty('strategy');
});

test('26: groups of the queue are judged by the workflow that judges pull requests', () => {
  expect(workflowOf('portolan.yml').on['merge_group']).toEqual({ types: ['checks_requested'] });
});

test('24: what a merge by a workflow’s own token brings is published by the schedule', () => {
  expect(Object.keys(workflowOf('portolan-publish.yml').on)).toContain('schedule');
});
