/** The example workflows as a maintainer copies them, run by nektos/act on this machine against a fake GitHub. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { folder } from '../fakes/folder.ts';
import { catalogOf, POLICY } from '../fakes/gate.ts';
import { TOKEN } from '../fakes/github/forge.ts';
import { example, pullPayload } from '../fakes/github/payload.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { buildProgram } from '../fakes/program.ts';
import { registry } from '../fakes/registry.ts';
import { makeRepository } from '../fakes/repository.ts';
import { isOnPath } from '../fakes/tools.ts';

beforeAll(buildProgram);

let hub: Hub;
beforeEach(async () => {
  hub = await openHub();
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

const ADDITION = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };

interface Run {
  readonly workflow: string;
  readonly event: string;
  readonly payload: unknown;
  readonly more?: readonly string[];
  /** Inputs of the action's step that a repository adds. */
  readonly inputs?: string;
}

/** Actions by the commits that a workflow names: ours is the one that was built, others do nothing. */
function localActions(text: string, place: string): string[] {
  const ours = join(place, 'portolan');
  mkdirSync(join(ours, 'dist'), { recursive: true });
  cpSync('action.yml', join(ours, 'action.yml'));
  cpSync('dist/action.cjs', join(ours, 'dist/action.cjs'));
  const other = join(place, 'other');
  mkdirSync(other);
  writeFileSync(
    join(other, 'action.yml'),
    "name: other\nruns: {using: composite, steps: [{run: 'true', shell: bash}]}\n",
  );
  const named = new Set([...text.matchAll(/uses: (\S+@[0-9a-f]{40})/g)].map(([, name = '']) => name));
  return [...named].map(
    (name) => `--local-repository=${name}=${name.startsWith('portolan/') ? ours : other}`,
  );
}

async function act({ workflow, event, payload, more = [], inputs = '' }: Run): Promise<string> {
  const place = folder();
  const text = readFileSync(resolve('docs/workflows', workflow), 'utf8');
  const clone = makeRepository('--template=');
  const adapted = text.replace(/^( +)mode: publish$/m, (line, margin) => `${line}\n${margin}${inputs}`);
  clone.commit({ [`.github/workflows/${workflow}`]: adapted });
  clone.git('reset', '--hard', '--quiet', 'main');
  clone.git('remote', 'add', 'origin', 'https://github.com/example/catalogs.git');
  writeFileSync(join(place, 'event.json'), JSON.stringify(payload));
  const parameters = [
    event,
    '--workflows',
    `.github/workflows/${workflow}`,
    '--eventpath',
    join(place, 'event.json'),
    '--no-cache-server',
    '--platform',
    'ubuntu-latest=-self-hosted',
    '--secret',
    `GITHUB_TOKEN=${TOKEN}`,
    '--env',
    `GITHUB_API_URL=${hub.forge.url}`,
    '--env',
    `GITHUB_SERVER_URL=${hub.forge.url}`,
    ...localActions(text, place),
    ...more,
  ];
  const home = folder();
  const child = spawn('act', parameters, {
    cwd: clone.directory,
    env: { PATH: process.env['PATH'], HOME: home, XDG_CACHE_HOME: home, XDG_CONFIG_HOME: home },
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      log += chunk.toString('utf8');
    });
  const status = await new Promise((done) => child.on('close', done));
  clone.remove();
  expect(status, log).toBe(0);
  return log;
}

describe.skipIf(!isOnPath('act'))('the example workflows', () => {
  test('a pull request is judged by one job, and the result said by another', async () => {
    const pull = hub.open(ADDITION);
    const payload = pullPayload(hub.forge, pull);
    const log = await act({ workflow: 'portolan.yml', event: 'pull_request_target', payload });
    expect(log).toContain('PASS: allowed, and all checks passed');
    const [first, last, ...more] = hub.forge.statuses;
    expect([first, more]).toMatchObject([{ sha: pull.head, state: 'pending' }, []]);
    expect([last]).toMatchObject([{ sha: pull.head, context: 'portolan', state: 'success' }]);
    expect(hub.forge.comments.get(pull.number)).toHaveLength(1);
  });

  test('a group of the merge queue', async () => {
    const pull = hub.open(ADDITION);
    const [head = ''] = hub.queue([pull]);
    const payload = example('merge_group', 'checks_requested');
    const group = { head_sha: head, base_sha: hub.base(), base_ref: 'refs/heads/main' };
    Object.assign(payload['merge_group'] as object, group);
    await act({ workflow: 'portolan.yml', event: 'merge_group', payload });
    expect(hub.forge.statuses).toMatchObject([
      { sha: head, state: 'pending' },
      { sha: head, state: 'success' },
    ]);
  });

  test('a push is published', async () => {
    const { host } = await registry();
    const image = `${host}/catalog:{catalog}`;
    hub.moveBase({ [POLICY_PATH]: `${POLICY}publish: {catalogs: {'*': {image: '${image}'}}}\n` });
    const payload = example('push');
    Object.assign(payload, { ref: 'refs/heads/main', after: hub.base(), deleted: false });
    const more = ['--secret', 'REGISTRY_AUTH={"auths":{}}'];
    const inputs = `plain-http: '${host}'`;
    const log = await act({ workflow: 'portolan-publish.yml', event: 'push', payload, more, inputs });
    expect(log).toContain('publishing v4.20');
    expect(hub.forge.deployments.map(({ environment, states }) => [environment, states])).toEqual([
      ['catalog/v4.19', ['success']],
      ['catalog/v4.20', ['success']],
    ]);
  });

  test('what has drifted is said', async () => {
    const log = await act({
      workflow: 'portolan-drift.yml',
      event: 'schedule',
      payload: { schedule: '41 5 * * *' },
    });
    expect(log).toContain('Success - Main portolan/portolan');
  });
});
