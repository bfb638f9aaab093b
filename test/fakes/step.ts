/** The Action as a runner starts it: dist/action.cjs, the runner's environment, an event in a file. Its pauses are short. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CheckReport } from '../../pipeline/check/report.ts';
import { folder } from './folder.ts';
import { TOKEN } from './github/forge.ts';

export interface Step {
  readonly event: string;
  readonly payload: unknown;
  /** The fake GitHub; without it the step has no token. */
  readonly forge?: { readonly url: string };
  readonly inputs?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** The Action's file; this project's without it. */
  readonly action?: string;
}

export interface Stepped {
  readonly status: number | null;
  readonly log: string;
  readonly summary: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly report: CheckReport | undefined;
  readonly temporary: string;
  readonly milliseconds: number;
}

/** Runs a step to its end. */
export async function runStep({
  event,
  payload,
  forge,
  inputs = {},
  environment = {},
  action = resolve('dist/action.cjs'),
}: Step): Promise<Stepped> {
  const temporary = folder();
  const at = (name: string): string => join(temporary, name);
  writeFileSync(at('event.json'), JSON.stringify(payload));
  for (const name of ['summary', 'output']) writeFileSync(at(name), '');
  const github = forge && {
    GITHUB_API_URL: forge.url,
    GITHUB_SERVER_URL: forge.url,
    'INPUT_GITHUB-TOKEN': TOKEN,
  };
  const given = Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  const started = performance.now();
  const child = spawn(process.execPath, ['--require', resolve('test/fakes/quick-timers.cjs'), action], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      GITHUB_WORKSPACE: temporary,
      GITHUB_REPOSITORY: 'example/catalogs',
      GITHUB_RUN_ID: '17',
      GITHUB_EVENT_NAME: event,
      GITHUB_EVENT_PATH: at('event.json'),
      GITHUB_STEP_SUMMARY: at('summary'),
      GITHUB_OUTPUT: at('output'),
      RUNNER_TEMP: temporary,
      ...github,
      ...Object.fromEntries(given),
      ...environment,
    },
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      log += chunk.toString('utf8');
    });
  const status = await new Promise<number | null>((done) => child.on('close', done));
  const file = at('portolan-report.json');
  return {
    status,
    log,
    milliseconds: performance.now() - started,
    temporary,
    summary: readFileSync(at('summary'), 'utf8'),
    outputs: outputsIn(readFileSync(at('output'), 'utf8')),
    report: existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined,
  };
}

/** Outputs as the runner reads them: `name<<DELIMITER`, the value, the delimiter. */
function outputsIn(text: string): Record<string, string> {
  const pattern = /^([\w-]+)<<(\S+)\n([\s\S]*?)\n\2$/gm;
  return Object.fromEntries([...text.matchAll(pattern)].map(([, name = '', , value = '']) => [name, value]));
}
