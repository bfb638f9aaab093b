/** From `git clone` to a green status: the commands of the README as they are typed, with an empty npm cache. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { BUILD } from '../../scripts/install.ts';
import { folder } from '../fakes/folder.ts';
import { BASE, catalogOf } from '../fakes/gate.ts';
import { pullPayload } from '../fakes/github/payload.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { runStep } from '../fakes/step.ts';

const FIVE_MINUTES = 300_000;

let hub: Hub;
beforeEach(async () => {
  const { [POLICY_PATH]: _, ...files } = BASE;
  hub = await openHub(files);
  hub.repository.git('reset', '--hard', '--quiet', hub.base());
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

const README = readFileSync('README.md', 'utf8');

/** The only line of a block of the README that begins so. */
function typed(start: string): string {
  const lines = README.split('\n').filter((line) => line.startsWith(start));
  expect(lines).toHaveLength(1);
  return lines[0] ?? '';
}

test(
  'a newcomer has a green status after four commands',
  async () => {
    const clone = join(folder(), 'portolan');
    const prefix = folder();
    const env = {
      ...process.env,
      PATH: `${join(prefix, 'bin')}${delimiter}${process.env['PATH']}`,
      npm_config_prefix: prefix,
      npm_config_cache: folder(),
    };
    const seconds: [step: string, seconds: number][] = [];
    const run = (command: string, directory: string): string => {
      const from = performance.now();
      const { status, stdout, stderr } = spawnSync('bash', ['-c', command], {
        cwd: directory,
        env,
        encoding: 'utf8',
      });
      expect(status, `${command}\n${stdout}${stderr}`).toBe(0);
      seconds.push([command, (performance.now() - from) / 1000]);
      return stdout;
    };

    run(`git clone --quiet ${resolve('.')} ${clone}`, '.');
    run(BUILD, clone);
    const { directory, git } = hub.repository;
    const said = run(typed('portolan setup --admin').replace('YOUR_LOGIN', 'amy'), directory);
    expect(said).toContain(`wrote ${POLICY_PATH}`);
    git('add', '.');
    hub.moveBase(
      Object.fromEntries(
        git('diff', '--cached', '--name-only')
          .split('\n')
          .map((path) => [path, readFileSync(join(directory, path), 'utf8')]),
      ),
    );

    const pull = hub.open({
      'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']),
    });
    const { status, log, milliseconds } = await runStep({
      event: 'pull_request_target',
      payload: pullPayload(hub.forge, pull),
      forge: hub.forge,
      action: join(clone, 'dist/action.cjs'),
    });
    seconds.push(['the Action checks a pull request', milliseconds / 1000]);
    expect(status, log).toBe(0);
    expect(hub.forge.statuses.at(-1)).toMatchObject({ context: 'portolan', state: 'success' });
    const total = seconds.reduce((sum, [, one]) => sum + one, 0);
    for (const [step, one] of [...seconds, ['together', total] as const])
      process.stdout.write(`${one.toFixed(1).padStart(7)} s  ${step}\n`);
    expect(readdirSync(join(prefix, 'bin'))).toEqual(['portolan']);
  },
  FIVE_MINUTES,
);
