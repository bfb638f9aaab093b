/** The CI component for GitLab, as a runner runs its job. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { loadAll } from 'js-yaml';
import { beforeAll, expect, test } from 'vitest';
import { folder } from '../fakes/folder.ts';
import { buildProgram } from '../fakes/program.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';

interface Job {
  readonly image: { readonly name: string };
  readonly script: readonly string[];
  readonly artifacts: { readonly reports: { readonly codequality: string } };
}

interface Header {
  readonly spec: {
    readonly inputs: { readonly image: { readonly regex: string; readonly default?: string } };
  };
}

const [HEADER, JOBS] = loadAll(readFileSync('deploy/gitlab/templates/portolan-check.yml', 'utf8')) as [
  Header,
  { readonly 'portolan-check': Job },
];
const JOB = JOBS['portolan-check'];

beforeAll(buildProgram);

/** Runs the job in a merge request to main. */
function runJob(sample: SampleRepository, commit: string, target = 'main') {
  sample.git('update-ref', 'refs/remotes/origin/main', sample.base);
  const bin = folder();
  const start = `#!/bin/sh\nexec "${process.execPath}" "${resolve('dist/portolan.mjs')}" "$@"\n`;
  writeFileSync(join(bin, 'portolan'), start, { mode: 0o755 });
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', JOB.script.join('\n')], {
    cwd: sample.directory,
    env: {
      CI_PROJECT_DIR: sample.directory,
      CI_COMMIT_SHA: commit,
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: target,
      HOME: bin,
      PATH: [bin, process.env['PATH']].join(delimiter),
    },
    encoding: 'utf8',
  });
  const report = readFileSync(join(sample.directory, JOB.artifacts.reports.codequality), 'utf8');
  return { exit: status, log: stdout + stderr, report };
}

test('the image has a digest, and nothing else is downloaded', () => {
  const { regex, default: other } = HEADER.spec.inputs.image;
  expect(other).toBeUndefined();
  expect(`ghcr.io/portolan/portolan:1.0.0@sha256:${'a'.repeat(64)}`).toMatch(new RegExp(regex));
  expect('ghcr.io/portolan/portolan:1.0.0').not.toMatch(new RegExp(regex));
  expect(JOB.script.join('\n')).not.toMatch(/\bnp[mx]\b|curl|wget|\$\[\[/);
});

test('an addition passes, and what strands clusters fails with a finding at its line', () => {
  const sample = sampleRepository();
  expect(runJob(sample, sample.addition)).toMatchObject({ exit: 0 });
  const { exit, log, report } = runJob(sample, sample.stranding);
  expect({ exit, log }).toMatchObject({
    exit: 1,
    log: expect.stringMatching(/under OLM v0 2\.0\.0 can no longer reach the head/),
  });
  expect(JSON.parse(report)).toContainEqual(
    expect.objectContaining({
      severity: 'critical',
      location: { path: expect.stringMatching(/catalog\.yaml$/), lines: { begin: expect.any(Number) } },
    }),
  );
  sample.remove();
});

test('a branch whose name is a command is none, and the job fails', () => {
  const sample = sampleRepository();
  expect(runJob(sample, sample.addition, '$(touch owned)').exit).toBe(2);
  expect(readdirSync(sample.directory)).not.toContain('owned');
  sample.remove();
});
