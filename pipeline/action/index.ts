/** The Action's entry: reads the runner's environment once, into a typed value, and runs the mode. */
import { join, resolve } from 'node:path';
import { getInput, setSecret } from '@actions/core';
import { isObject } from '../../catalog/go/shape.ts';
import { parseJson } from '../../catalog/json.ts';
import { serveReader } from '../check/confined/reader.ts';
import { PipelineError } from '../error.ts';
import { readRegular } from '../file-pieces.ts';
import { type Event, eventOf } from './event.ts';
import { type ForgeInputs, MODES, type PostingInputs, type PublishInputs, type RunInputs } from './inputs.ts';
import { runStep } from './main.ts';

/** What makes this file the program that reads a pull request. */
const READER = 'read';
if (process.argv[2] === READER) serveReader();
else void runStep(inputs);

/** Gives an input of the step; undefined if it is left out or empty. */
type Text = (name: string) => string | undefined;

/** The inputs of the Action and what it needs of its environment. */
function inputs(): RunInputs {
  const environment = process.env;
  // The runner gives an input that the workflow leaves out as an empty text.
  const text: Text = (name) => getInput(name) || undefined;
  const directory = environment['GITHUB_WORKSPACE'] ?? process.cwd();
  const temporary = environment['RUNNER_TEMP'] ?? directory;
  return {
    mode: choiceOf('mode', text('mode') ?? 'auto', MODES),
    dryRun: switchOf('dry-run', text('dry-run') ?? 'false'),
    directory,
    clone: text('repository'),
    policy: text('policy'),
    base: text('base'),
    head: text('head'),
    event: readEvent(environment),
    result: text('result'),
    started: text('started'),
    attempt: environment['GITHUB_RUN_ATTEMPT'] ?? '1',
    forge: forgeOf(text, environment),
    posting: postingInputs(text, environment),
    publish: publishOf(text, temporary),
    // This file once more, as a process of its own.
    reader: { file: process.argv[1] ?? '', words: [READER] },
    authfile: text('authfile'),
    environment,
    temporary,
    now: new Date(),
  };
}

/** The choice that an input names. @throws PipelineError `usage` for a text that is not one of the choices */
function choiceOf<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((one) => one === text);
  if (choice !== undefined) return choice;
  const expected = choices.join(' or ');
  throw new PipelineError('usage', `the input ${name} is ${JSON.stringify(text)}, expected ${expected}`);
}

/** Whether an input is on. @throws PipelineError `usage` for a text that is not true or false */
function switchOf(name: string, text: string): boolean {
  return choiceOf(name, text, ['true', 'false']) === 'true';
}

/**
 * The event that started the workflow, from the file that the runner wrote.
 *
 * @throws PipelineError `bad-answer`
 */
function readEvent({ GITHUB_EVENT_NAME: name = '', GITHUB_EVENT_PATH: path }: NodeJS.ProcessEnv): Event {
  if (path === undefined) return { kind: 'none', why: 'the event is missing' };
  const payload: unknown = parseJson(readRegular(path).toString('utf8'));
  if (isObject(payload)) return eventOf(name, payload);
  throw new PipelineError('bad-answer', `${path} is not a valid event`);
}

/**
 * How to reach GitHub; undefined without a repository or without a token or App.
 *
 * @throws PipelineError `usage` for half an App
 */
function forgeOf(text: Text, environment: NodeJS.ProcessEnv): ForgeInputs | undefined {
  const token = text('github-token');
  const [id, privateKey] = [text('app-id'), text('app-private-key')];
  const repository = environment['GITHUB_REPOSITORY'];
  if (token !== undefined) setSecret(token);
  if ((id === undefined) !== (privateKey === undefined))
    throw new PipelineError('usage', 'the inputs app-id and app-private-key must be set together');
  if (repository === undefined || (token === undefined && id === undefined)) return undefined;
  return {
    api: environment['GITHUB_API_URL'] ?? 'https://api.github.com',
    server: environment['GITHUB_SERVER_URL'] ?? 'https://github.com',
    repository,
    token,
    app: id === undefined || privateKey === undefined ? undefined : { id, privateKey },
  };
}

/** What the step writes to GitHub. The number of annotations is that of action.yml. */
function postingInputs(text: Text, environment: NodeJS.ProcessEnv): PostingInputs {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: id } = environment;
  return {
    link: server && repository && id ? `${server}/${repository}/actions/runs/${id}` : undefined,
    annotations: mostAnnotations(text('annotations-max')) ?? 200,
    comment: switchOf('comment', text('comment') ?? 'true'),
    merge: choiceOf('merge', text('merge') ?? 'policy', ['policy', 'off']) === 'policy',
  };
}

/** The input `annotations-max`, at most 9999; undefined where it is left out. @throws PipelineError `usage` */
function mostAnnotations(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[0-9]{1,4}$/.test(text)) return Number(text);
  throw new PipelineError('usage', `the input annotations-max is ${JSON.stringify(text)}, expected a number`);
}

/** What the mode `publish` is told by the inputs. */
function publishOf(text: Text, temporary: string): PublishInputs {
  return {
    out: resolve(text('out') ?? join(temporary, 'portolan-published')),
    url: text('publish-url'),
    // One a line, or in one line with commas or blanks between them.
    plainHttp: (text('plain-http') ?? '').split(/[\s,]+/).filter((host) => host !== ''),
    everything: text('catalogs') === 'all',
  };
}
