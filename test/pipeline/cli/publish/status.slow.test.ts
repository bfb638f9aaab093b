/** What an operator is shown of each catalog, beside the branch and the registry; each thing that is wrong exits with 1. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLayout } from '../../../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../../../pipeline/oci/registry/layout/registry.ts';
import { POLICY_PATH } from '../../../../pipeline/policy/read-policy.ts';
import type { RecordStore, Registry } from '../../../../pipeline/ports.ts';
import { statusText } from '../../../../pipeline/publish/delivery/status.ts';
import { directoryRecords } from '../../../../pipeline/publish/records/directory.ts';
import { folder } from '../../../fakes/folder.ts';
import { manifestOf } from '../../../fakes/image.ts';
import { registry as openedRegistry } from '../../../fakes/registry.ts';
import { harbourRepository, type SampleRepository } from '../../../fakes/sample.ts';
import { type Ran, runCommand } from '../../../fakes/terminal.ts';

let sample: SampleRepository;
let directory: string;
beforeEach(async () => {
  sample = harbourRepository();
  directory = folder();
  sample.git('checkout', '--quiet', '--detach', sample.base);
  const ran = await run(
    'publish',
    '--repo',
    sample.directory,
    '--commit',
    sample.base,
    '--local',
    '.portolan',
  );
  expect(ran.exit, ran.err).toBe(0);
});
afterEach(() => sample.remove());

const run = (...words: readonly string[]): Promise<Ran> =>
  runCommand(words, { directory, environment: {}, now: () => new Date(Date.UTC(2030, 0, 3)) });

const status = (...words: readonly string[]): Promise<Ran> =>
  run('status', '--repo', sample.directory, ...words);

const TAG = {
  kind: 'tag',
  registry: 'registry.example.com',
  repository: 'sea/catalog',
  tag: 'v4.20',
} as const;

async function registry(): Promise<Registry> {
  return layoutRegistry(await openLayout(join(directory, '.portolan', 'registry'), { create: false }));
}

function records(): RecordStore {
  return directoryRecords(join(directory, '.portolan', 'records'));
}

function checkout(commit: string): void {
  sample.git('checkout', '--quiet', '--detach', commit);
}

test('all is as it should be: the commit, its age, the digest and the tag', async () => {
  const ran = await status();
  expect(ran.exit, ran.out).toBe(0);
  expect(ran.out).toMatch(
    /^local\/catalogs revision {2}v4\.20 {2}registry\.example\.com\/sea\/catalog:v4\.20\n/,
  );
  expect(ran.out).toMatch(new RegExp(`  commit  ${sample.base} \\(\\d+ days old, newest of revision\\)`));
  expect(ran.out).toMatch(/ {2}digest {2}sha256:[0-9a-f]{64}\n {2}tag {5}the same\n$/);
  const [one] = JSON.parse((await status('--json')).out).catalogs;
  expect(one).toMatchObject({ repository: 'local/catalogs', catalog: 'v4.20', behind: 0, problems: [] });
  expect(one.tag.registry).toBe(one.tag.digest);
});

test('commits that change nothing of a catalog leave it settled; those that do are behind', async () => {
  checkout(sample.commit({ 'README.md': 'words' }, { parents: [sample.base] }));
  const same = await status();
  expect(same.exit).toBe(0);
  expect(same.out).toContain('1 commit behind revision, same content');
  checkout(sample.addition);
  const behind = await status();
  expect(behind.exit).toBe(1);
  expect(behind.out).toContain('PROBLEM its newest content is not published');
  expect(JSON.parse((await status('--json')).out).catalogs).toMatchObject([{ behind: 1 }]);
});

test('a tag that is gone, or names another image', async () => {
  const images = await registry();
  const manifest = await images.getManifest(TAG);
  await images.deleteManifest(TAG);
  const gone = await status();
  expect(gone.exit).toBe(1);
  expect(gone.out).toContain('PROBLEM the tag registry.example.com/sea/catalog:v4.20 does not exist');
  if (!manifest) throw new Error('the tag had an image');
  const { bytes, mediaType } = manifest;
  const other = manifestOf(mediaType, {
    ...JSON.parse(new TextDecoder().decode(bytes)),
    annotations: { other: 'image' },
  });
  await images.putManifest(TAG, other);
  const different = await status();
  expect(different.exit).toBe(1);
  expect(different.out).toContain(`names ${other.digest}, which was not published last`);
});

test('a claim that cannot be read', async () => {
  const [key = ''] = await records().list('fence/');
  await records().put(key, new TextEncoder().encode('spoilt'));
  const ran = await status();
  expect(ran.exit).toBe(1);
  expect(ran.out).toContain(`PROBLEM ${key} is not a valid claim`);
});

test('a history that was rewritten', async () => {
  checkout(sample.git('commit-tree', `${sample.base}^{tree}`, '-m', 'another history').trim());
  const ran = await status();
  expect(ran.exit).toBe(1);
  expect(ran.out).toContain('PROBLEM the branch does not have the published');
});

test('the last failure is shown with its age, and a failure that lasts exits with 1', async () => {
  const failure = {
    ...{ repository: 'local/catalogs', catalog: 'v4.20', commit: sample.base, state: 'failed' },
    ...{ detail: 'the registry answered 503', at: '2030-01-02T22:00:00.000Z' },
  };
  const bytes = new TextEncoder().encode(JSON.stringify(failure));
  await records().put('failures/local/catalogs/v4.20', bytes);
  const over = await status();
  expect(over.exit).toBe(0);
  expect(over.out).toContain(`last failure  failed  ${sample.base} (2 hours old): the registry answered 503`);
  await records().put('last/local/catalogs/v4.20', bytes);
  const lasting = await status();
  expect(lasting.exit).toBe(1);
  expect(lasting.out).not.toContain('last failure');
  expect(lasting.out).toContain(`  failed  ${sample.base} (2 hours old): the registry answered 503`);
});

test('catalogs of one name in two repositories are two', () => {
  const at = (repository: string) => ({
    ...{ catalog: 'v4.20', image: `registry.example.com/${repository}:v4.20`, epoch: 0, commit: 'c' },
    ...{ digest: 'sha256:1', documents: 'documents/x/', from: { repository, branch: 'main' } },
  });
  const last = { catalog: 'v4.20', commit: 'd', state: 'refused', detail: 'why' } as const;
  const text = statusText({
    published: [at('sea/one'), at('sea/two')],
    last: [
      { ...last, repository: 'sea/two' },
      { ...last, repository: 'sea/three' },
    ],
  });
  const [one = '', two = '', three = ''] = text.split(/^(?=sea\/)/m);
  expect(one).not.toContain('refused');
  expect(two).toMatch(/^sea\/two main {2}v4\.20 {2}(?:.|\n)* {2}refused d: why/);
  expect(three).toMatch(/^sea\/three {2}v4\.20\n {2}refused d: why/);
});

test('with the refs of the Action as the only record', async () => {
  const { host } = await openedRegistry();
  const policy = sample.git('show', `${sample.base}:${POLICY_PATH}`);
  const image = `${host}/sea/catalog:v4.20`;
  const changed = policy.replace(
    'registry.example.com/sea/catalog:{catalog}',
    `${host}/sea/catalog:{catalog}`,
  );
  checkout(sample.commit({ [POLICY_PATH]: `${changed}\n` }, { parents: [sample.base] }));
  const refs = ['--fence', 'repo', '--insecure', host];
  const before = await status(...refs);
  expect(before.exit).toBe(1);
  expect(before.out).toContain('PROBLEM it has never been published');
  const publish = ['publish', '--repo', sample.directory, '--commit', 'HEAD', '--catalog', 'v4.20'];
  const ran = await run(...publish, '--insecure', host, '--out', folder());
  expect(ran.exit, ran.err).toBe(0);
  const after = await status(...refs);
  expect(after.exit, after.out).toBe(0);
  expect(after.out).toContain(`HEAD  v4.20  ${image}`);
  expect(after.out).toContain('tag     the same');
});

test('places that exclude each other', async () => {
  expect((await run('status', '.portolan', '--fence', 'repo')).exit).toBe(2);
  expect((await run('status', '--from', '-', '--repo', '.')).exit).toBe(2);
});
