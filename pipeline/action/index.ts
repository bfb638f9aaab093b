/** The Action's entry: reads the runner's environment once, into a typed value, and runs the check. */
import { readFileSync } from 'node:fs';
import { getInput } from '@actions/core';
import { isObject } from '../../catalog/shape.ts';
import { PipelineError } from '../error.ts';
import { type Event, eventOf } from './event.ts';
import { type RunInputs, run } from './main.ts';

void run(inputs);

function inputs(): RunInputs {
  const environment = process.env;
  const text = (name: string): string | undefined => getInput(name) || undefined;
  const directory = environment['GITHUB_WORKSPACE'] ?? process.cwd();
  return {
    directory,
    repository: text('repository') ?? '.',
    policy: text('policy'),
    base: text('base'),
    head: text('head'),
    event: readEvent(environment),
    authfile: text('authfile'),
    environment,
    temporary: environment['RUNNER_TEMP'] ?? directory,
    now: new Date(),
  };
}

function readEvent({
  GITHUB_EVENT_NAME: name = '',
  GITHUB_EVENT_PATH: path,
}: NodeJS.ProcessEnv): Event | undefined {
  if (path === undefined || !/^pull_request(_target)?$/.test(name)) return undefined;
  const payload: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (isObject(payload)) return eventOf(payload);
  throw new PipelineError('bad-answer', `${path} holds no event`);
}
