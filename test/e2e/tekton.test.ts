// Tekton's tasks as a cluster runs them: the step's script with the step's environment, and what it leaves as results.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { load, loadAll } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { INSTALL, withInstall } from '../../scripts/install.ts';
import { folder } from '../fakes/folder.ts';
import { buildProgram } from '../fakes/program.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';

interface Task {
  readonly spec: {
    readonly params: readonly { readonly name: string; readonly default?: string }[];
    readonly workspaces: readonly { readonly name: string; readonly optional?: boolean }[];
    readonly results: readonly { readonly name: string }[];
    readonly steps: readonly Step[];
  };
}

interface Step {
  readonly image: string;
  readonly script: string;
  readonly workingDir: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
}

const FOLDER = 'deploy/tekton';
const HARBOUR = 'catalogs/v4.20/harbour-operator/catalog.yaml';
const taskOf = (name: string): Task => load(readFileSync(join(FOLDER, `${name}.yaml`), 'utf8')) as Task;

beforeAll(buildProgram);

interface Run {
  readonly params: Readonly<Record<string, string>>;
  readonly source: string;
}

/** Runs the only step of a task. */
function runTask(name: string, { params, source }: Run) {
  const { spec } = taskOf(name);
  const [step] = spec.steps;
  if (!step) throw new Error(`${name} has no step`);
  const [results, work, bin] = [folder(), folder(), folder()];
  const given = new Map(spec.params.map((one) => [one.name, params[one.name] ?? one.default]));
  const filled = (text: string): string =>
    text.replaceAll(/\$\((params|workspaces|results)\.([\w-]+)(?:\.path)?\)/g, (_, kind, key) => {
      if (kind === 'results') return join(results, key);
      if (kind === 'workspaces') return key === 'source' ? source : '';
      const value = given.get(key);
      if (value === undefined) throw new Error(`${name} needs the parameter ${key}`);
      return value;
    });
  // In the image, the program is on the PATH; /work is a volume.
  const start = `#!/bin/sh\nexec "${process.execPath}" "${resolve('dist/portolan.mjs')}" "$@"\n`;
  writeFileSync(join(bin, 'portolan'), start, { mode: 0o755 });
  const env = Object.fromEntries(step.env.map((one) => [one.name, filled(one.value)]));
  const directory = filled(step.workingDir);
  const ended = spawnSync('sh', ['-c', step.script], {
    cwd: directory === '/work' ? work : directory,
    env: {
      ...env,
      ...{ HOME: work, TMPDIR: work },
      PATH: [bin, resolve(process.execPath, '..'), process.env['PATH']].join(delimiter),
    },
    encoding: 'utf8',
  });
  const written = readdirSync(results).map((key) => [key, readFileSync(join(results, key), 'utf8')]);
  return { exit: ended.status, log: ended.stdout + ended.stderr, results: Object.fromEntries(written) };
}

describe.each(readdirSync(FOLDER).map((file) => file.replace('.yaml', '')))('%s', (name) => {
  const { spec } = taskOf(name);

  test('reads what people give it from the environment, never from the text of its script', () => {
    for (const { script } of spec.steps) expect(script).not.toMatch(/\$\((?:params|workspaces|context)\b/);
  });

  test('runs from the image of the release, as nobody in particular', () => {
    for (const { image, script, securityContext } of spec.steps) {
      expect(image).toBe('{image}');
      expect(script).not.toMatch(/\bnp[mx]\b|curl|wget/);
      expect(securityContext).toMatchObject({
        runAsNonRoot: true,
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });
});

describe('portolan-check', () => {
  const checked = (sample: SampleRepository, head: string, author = 'anna') =>
    runTask('portolan-check', {
      params: { base: sample.base, head, author },
      source: sample.directory,
    });

  test('passes an addition of an owner', () => {
    const sample = sampleRepository();
    const { exit, results, log } = checked(sample, sample.addition);
    expect({ exit, verdict: results['VERDICT'] }, log).toEqual({ exit: 0, verdict: 'pass' });
    const output = JSON.parse(results['TEST_OUTPUT'] ?? '');
    expect(output).toMatchObject({ namespace: 'default', successes: 1, failures: 0 });
    expect(output.result).toMatch(/^(?:SUCCESS|WARNING)$/);
    sample.remove();
  });

  test('fails where all checks pass and an approval is missing, in its results as well', () => {
    const sample = sampleRepository();
    const { exit, results, log } = checked(sample, sample.addition, 'mallory');
    expect({ exit, verdict: results['VERDICT'] }, log).toEqual({ exit: 1, verdict: 'fail' });
    expect(JSON.parse(results['TEST_OUTPUT'] ?? '')).toMatchObject({
      ...{ result: 'FAILURE', successes: 0, failures: 1 },
      note: expect.stringContaining('approval'),
    });
    sample.remove();
  });

  test('fails what strands clusters, with the finding in the log', () => {
    const sample = sampleRepository();
    const { exit, results, log } = checked(sample, sample.stranding, 'grace');
    expect({ exit, verdict: results['VERDICT'] }).toEqual({ exit: 1, verdict: 'fail' });
    expect(JSON.parse(results['TEST_OUTPUT'] ?? '')).toMatchObject({ result: 'FAILURE', successes: 0 });
    expect(log).toMatch(/catalog\.yaml:\d+: error: under OLM v0 2\.0\.0 can no longer reach the head/);
    sample.remove();
  });

  test.each(['$(touch owned)', '"; touch owned; "', '`touch owned`'])(
    'a reference that is a command is none: %s',
    (head) => {
      const sample = sampleRepository();
      const { exit, results } = checked(sample, head);
      expect({ exit, verdict: results['VERDICT'] }).toEqual({ exit: 2, verdict: 'inconclusive' });
      expect(JSON.parse(results['TEST_OUTPUT'] ?? '')).toMatchObject({ result: 'ERROR' });
      expect(readdirSync(sample.directory)).not.toContain('owned');
      sample.remove();
    },
  );
});

test('portolan-publish writes the image, and names it by its digest', () => {
  const sample = sampleRepository();
  const layout = join(folder(), 'images');
  const { exit, results, log } = runTask('portolan-publish', {
    params: { catalog: 'v4.20', IMAGE: `oci:${layout}` },
    source: sample.directory,
  });
  expect(exit, log).toBe(0);
  const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'));
  expect(manifests.map(({ digest }: { digest: string }) => digest)).toContain(results['IMAGE_DIGEST']);
  expect(results['IMAGE_URL']).toContain(layout);
  sample.remove();
});

test('portolan-publish of an older commit in a new workspace leaves the tag where it is', () => {
  const sample = sampleRepository();
  const params = { catalog: 'v4.20', IMAGE: `oci:${join(folder(), 'images')}:v4.20` };
  const published = (commit: string) => {
    const source = join(folder(), 'source');
    execFileSync('git', ['clone', '--quiet', sample.directory, source]);
    const { exit, log, results } = runTask('portolan-publish', { params: { ...params, commit }, source });
    expect(exit, log).toBe(0);
    return results['IMAGE_DIGEST'];
  };
  const first = published(sample.base);
  const second = published(sample.addition);
  expect(second).not.toBe(first);
  const harbour = sample.git('show', `${sample.addition}:${HARBOUR}`).replace('runs harbours', 'runs more');
  const last = sample.commit({ [HARBOUR]: harbour }, { parents: [sample.addition], branch: 'last' });
  const newest = published(last);
  expect(newest).not.toBe(second);
  for (const late of [sample.base, sample.addition]) expect(published(late)).toBe(newest);
  sample.remove();
});

describe('portolan-mirror-sync', () => {
  test('a configuration that cannot be read is an error, not a mirror', () => {
    const source = folder();
    mkdirSync(source, { recursive: true });
    writeFileSync(join(source, 'imageset-config.yaml'), 'kind: Nothing\n');
    const { exit, results } = runTask('portolan-mirror-sync', { params: { to: '127.0.0.1:1/olm' }, source });
    expect(exit).toBe(2);
    expect(JSON.parse(results['TEST_OUTPUT'] ?? '')).toMatchObject({ result: 'ERROR', failures: 0 });
  });

  test('prune is true or false', () => {
    const { exit, log } = runTask('portolan-mirror-sync', {
      params: { to: 'mirror.example.com/olm', prune: 'yes; touch owned' },
      source: folder(),
    });
    expect({ exit, log }).toEqual({ exit: 2, log: expect.stringContaining('must be true or false') });
  });
});

test('the commands of the page, before the first release, apply each task by itself', () => {
  const page = withInstall(readFileSync('docs/tekton.md', 'utf8'), { ...INSTALL, published: false });
  const [, commands = ''] = /```\n(for task [\s\S]*?)```/.exec(page) ?? [];
  const applied = execFileSync('sh', ['-c', commands.replace('oc apply -f -', 'cat; echo ---')], {
    encoding: 'utf8',
  });
  const tasks = loadAll(applied).filter((task) => task !== null) as { readonly metadata: object }[];
  expect(tasks.map(({ metadata }) => metadata)).toMatchObject([
    { name: 'portolan-check' },
    { name: 'portolan-mirror-sync' },
    { name: 'portolan-publish' },
  ]);
  expect(applied).not.toMatch(/\{(?:image|version)\}/);
});
