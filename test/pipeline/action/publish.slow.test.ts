/** The Action from a push to a published image, in a clone that somebody else made: without a token, without GitHub. */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { builtFile } from '../../fakes/built.ts';
import { folder } from '../../fakes/folder.ts';
import { testClient } from '../../fakes/host.ts';
import { registry, type TestRegistry } from '../../fakes/registry.ts';
import { type SampleRepository, sampleFiles, sampleRepository } from '../../fakes/sample.ts';

const POLICY = '.github/portolan.yaml';
let to: TestRegistry;
let sample: SampleRepository;

beforeEach(async () => {
  to = await registry();
  const policy = String(sampleFiles()[POLICY]).replace('registry.example.com', to.host);
  sample = sampleRepository({ [POLICY]: policy });
  onTestFinished(() => sample.remove());
});

function clone(): string {
  const directory = join(folder(), 'clone');
  execFileSync('git', ['clone', '--quiet', sample.directory, directory]);
  return directory;
}

interface Ran {
  readonly status: number;
  readonly log: string;
  readonly published: Readonly<Record<string, { readonly digest: string }>>;
}

/** Runs the Action as a runner does, built from its sources. */
function publish(commit: string, inputs: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const temporary = folder();
  const at = (name: string): string => join(temporary, name);
  const event = {
    ref: 'refs/heads/main',
    before: '0'.repeat(40),
    after: commit,
    repository: { full_name: 'sea/catalogs' },
  };
  writeFileSync(at('event.json'), JSON.stringify(event));
  for (const name of ['summary', 'output']) writeFileSync(at(name), '');
  const env = {
    PATH: process.env['PATH'],
    INPUT_REPOSITORY: '.',
    'INPUT_PLAIN-HTTP': to.host,
    GITHUB_WORKSPACE: clone(),
    GITHUB_EVENT_NAME: 'push',
    GITHUB_EVENT_PATH: at('event.json'),
    GITHUB_STEP_SUMMARY: at('summary'),
    GITHUB_OUTPUT: at('output'),
    RUNNER_TEMP: temporary,
    HOME: temporary,
    ...inputs,
  };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [builtFile("import './pipeline/action/index.ts';")],
      { env },
      (error, out, err) => {
        const text = readFileSync(at('output'), 'utf8');
        const [, , published = '{}'] = /^published<<(\S+)\n([\s\S]*?)\n\1$/m.exec(text) ?? [];
        resolve({ status: Number(error?.code ?? 0), log: out + err, published: JSON.parse(published) });
      },
    );
  });
}

async function tagged(): Promise<string | undefined> {
  const tag = { registry: to.host, repository: 'sea/catalog', tag: 'v4.20' };
  return (await testClient([to.host]).resolve({ kind: 'tag', ...tag }))?.digest;
}

test('of three pushes, the oldest run last, in a new clone each, leaves the tag where it is', async () => {
  const first = await publish(sample.base);
  expect(first.status, first.log).toBe(0);
  expect(first.published['v4.20']?.digest).toBe(await tagged());
  const second = await publish(sample.addition);
  const newest = await tagged();
  expect(second.published['v4.20']?.digest).toBe(newest);
  expect(newest).not.toBe(first.published['v4.20']?.digest);
  const last = sample.commit({ 'README.md': 'x' }, { parents: [sample.addition], branch: 'last' });
  expect((await publish(last)).status).toBe(0);
  const late = await publish(sample.base);
  expect(late).toMatchObject({ status: 0, published: {} });
  expect(await tagged()).toBe(newest);
});

test.each([
  ['INPUT_MODE', 'the input mode is "no", expected auto or '],
  ['INPUT_DRY-RUN', 'the input dry-run is "no", expected true or false'],
  ['INPUT_COMMENT', 'the input comment is "no", expected true or false'],
  ['INPUT_MERGE', 'the input merge is "no", expected policy or off'],
])('%s is refused with a value that it does not know, not taken for the default', async (name, message) => {
  const { status, log } = await publish(sample.base, { [name]: 'no' });
  expect([status, log]).toEqual([1, expect.stringContaining(message)]);
});

test('a registry that does not answer keeps no other catalog from being published', async () => {
  const text = String(sampleFiles()[POLICY]).replace('registry.example.com', to.host);
  const policy = text.replace(
    '  catalogs:\n',
    "  catalogs:\n    v4.19: {image: '127.0.0.1:9/sea/catalog:v4.19'}\n",
  );
  expect(policy).not.toBe(text);
  const older = Object.entries(sampleFiles()).flatMap(([path, content]) =>
    path.startsWith('catalogs/v4.20/') ? [[path.replace('v4.20', 'v4.19'), content]] : [],
  );
  const commit = sample.commit(
    { [POLICY]: policy, ...Object.fromEntries(older) },
    { parents: [sample.base], branch: 'two' },
  );
  const { status, log, published } = await publish(commit);
  expect(status).toBe(1);
  expect(log).toContain('not published: v4.19');
  expect(log).toMatch(/^v4\.19: .*127\.0\.0\.1:9/m);
  expect(Object.keys(published)).toEqual(['v4.20']);
  expect(published['v4.20']?.digest).toBe(await tagged());
});

test('what needs GitHub, or changes something in a dry run, is not done', async () => {
  const url = await publish(sample.base, { 'INPUT_PUBLISH-URL': 'https://functions.example.com' });
  expect(url.status).toBe(1);
  expect(url.log).toContain('publish-url cannot be used with repository');
  const dry = await publish(sample.base, { 'INPUT_DRY-RUN': 'true' });
  expect(dry.log).toContain('would publish v4.20');
  expect(dry.status).toBe(0);
  expect(await tagged().catch(() => undefined)).toBeUndefined();
});
