/** The Action as a runner starts it: dist/action.cjs, the runner's environment, an event in a file. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventOf } from '../fakes/event.ts';
import { folder } from '../fakes/folder.ts';
import { buildProgram } from '../fakes/program.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';

let repository: SampleRepository;
beforeAll(() => {
  buildProgram();
  repository = sampleRepository();
  return repository.remove;
});

interface Step {
  readonly head: string;
  readonly author: string;
  readonly draft?: boolean;
  readonly action?: string;
  /** What the event says was done. */
  readonly done?: string;
}

function runStep({ head, author, draft = false, action = resolve('dist/action.cjs'), done }: Step) {
  const temporary = folder();
  const at = (name: string): string => join(temporary, name);
  const event = eventOf({
    base: repository.base,
    head,
    author,
    draft,
    ...(done === undefined ? {} : { action: done }),
  });
  writeFileSync(at('event.json'), JSON.stringify(event));
  for (const name of ['summary', 'output']) writeFileSync(at(name), '');
  const { status, stdout } = spawnSync(process.execPath, [action], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      INPUT_REPOSITORY: '.',
      GITHUB_WORKSPACE: repository.directory,
      GITHUB_EVENT_NAME: 'pull_request_target',
      GITHUB_EVENT_PATH: at('event.json'),
      GITHUB_STEP_SUMMARY: at('summary'),
      GITHUB_OUTPUT: at('output'),
      RUNNER_TEMP: temporary,
    },
  });
  return {
    status,
    log: stdout,
    summary: readFileSync(at('summary'), 'utf8'),
    outputs: outputsIn(readFileSync(at('output'), 'utf8')),
    report: existsSync(at('portolan-report.json'))
      ? JSON.parse(readFileSync(at('portolan-report.json'), 'utf8'))
      : undefined,
  };
}

/** Outputs as the runner reads them: `name<<DELIMITER`, the value, the delimiter. */
function outputsIn(text: string): Record<string, string> {
  const pattern = /^(\w+)<<(\S+)\n([\s\S]*?)\n\2$/gm;
  return Object.fromEntries([...text.matchAll(pattern)].map(([, name = '', , value = '']) => [name, value]));
}

describe('a step of a workflow', () => {
  test('allows what an owner adds', () => {
    const { status, summary, outputs, report } = runStep({ head: repository.addition, author: 'anna' });
    expect(status).toBe(0);
    expect(outputs).toMatchObject({
      verdict: 'pass',
      authority: 'allow',
      headline: expect.stringMatching(
        /^allowed, and all checks passed, with a warning: package "harbour-operator": users/,
      ),
    });
    expect(report).toMatchObject({ kind: 'CheckReport', verdict: 'pass', head: repository.addition });
    expect(summary).toContain('✅');
    expect(summary).toContain('harbour-operator');
  });

  test('names who must approve what a stranger adds, and does not fail', () => {
    const { status, summary, outputs } = runStep({ head: repository.addition, author: 'mallory' });
    expect(status).toBe(0);
    expect(outputs).toMatchObject({ verdict: 'pass', authority: 'needs' });
    expect(summary).toContain('anna');
  });

  test('15: takes nobody for the pusher whom the event does not show to have pushed', () => {
    const { outputs } = runStep({ head: repository.addition, author: 'anna', done: 'reopened' });
    expect(outputs).toMatchObject({ verdict: 'pass', authority: 'needs' });
  });

  test('45: says that the check is inconclusive where what reads the pull request crashes', () => {
    const action = join(folder(), 'action.cjs');
    const crash = "if (process.argv[2] === 'read') process.abort();\n";
    writeFileSync(action, crash + readFileSync('dist/action.cjs', 'utf8'));
    const { status, log, outputs } = runStep({ head: repository.addition, author: 'anna', action });
    expect(status).toBe(0);
    expect(outputs).toMatchObject({
      verdict: 'inconclusive',
      headline: 'the check could not be completed: its process ended with SIGABRT',
    });
    expect(log).toContain('its process ended with SIGABRT');
  });

  test('annotates the line that strands clusters', () => {
    const { status, log, outputs } = runStep({ head: repository.stranding, author: 'grace' });
    expect(status).toBe(0);
    expect(outputs['verdict']).toBe('fail');
    expect(log).toMatch(
      /^::error title=graph\/strands-installed-v0,file=catalogs\/v4\.20\/lighthouse-operator\/catalog\.yaml,line=\d+,col=\d+::/m,
    );
  });

  test('stops commands around text of the pull request', () => {
    const { log } = runStep({ head: repository.addition, author: 'anna' });
    const [, token = ''] = /^::stop-commands::(\S+)$/m.exec(log) ?? [];
    expect(log.indexOf('PASS')).toBeGreaterThan(log.indexOf(token));
    expect(log).toContain(`\n::${token}::\n`);
  });

  test('fails, and says what to do, when the head is not in the clone', () => {
    const { status, log, outputs } = runStep({ head: 'f'.repeat(40), author: 'anna' });
    expect(status).toBe(1);
    expect(log).toContain('::error::');
    expect(log).toContain('git fetch origin pull/7/head');
    expect(outputs).toEqual({});
  });
});
