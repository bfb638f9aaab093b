import { expect, test } from 'vitest';
import { readMapping } from '../../../catalog/mirror/mapping.ts';
import { copyJobs } from '../../../pipeline/mirror/copy-jobs.ts';

const D = `sha256:${'1'.repeat(64)}`;
const tags = (...names: readonly string[]) => ({
  async *listTags() {
    yield* names;
  },
});

async function jobs(text: string, to?: string, names: readonly string[] = []) {
  const { mappings, findings } = readMapping(text, 'mapping.txt');
  const read = await copyJobs(mappings, tags(...names), to);
  return {
    jobs: read.jobs.map(({ source, destination }) => `${source} -> ${destination}`),
    wrong: [...findings, ...read.findings].map(({ message, location }) => `${location.line}: ${message}`),
  };
}

test("oc's lines, with comments, several destinations and spaces", async () => {
  const text = `# from oc\nquay.io/a/b@${D}=m.io/x/b:1\n\nquay.io/a/c:v1 m.io/x/c:v1 m.io/y/c:v1  # twice\nquay.io/a/d:v2=m.io/x/d\n`;
  expect(await jobs(text)).toEqual({
    jobs: [
      `quay.io/a/b@${D} -> m.io/x/b:1`,
      'quay.io/a/c:v1 -> m.io/x/c:v1',
      'quay.io/a/c:v1 -> m.io/y/c:v1',
      'quay.io/a/d:v2 -> m.io/x/d:v2',
    ],
    wrong: [],
  });
});

test("oc-mirror's stop at its own registry is left out", async () => {
  const cache = 'docker://localhost:55000';
  const text = [
    `docker://quay.io/a/b@${D}=${cache}/a/b:sha256-1`,
    `${cache}/a/b:sha256-1=docker://m.io/olm/a/b:sha256-1`,
    `docker://quay.io/my/index@${D}=${cache}/my/index:latest`,
    `docker://quay.io/my/index@${D}=docker://m.io/olm/my/index:latest`,
  ].join('\n');
  expect(await jobs(text)).toEqual({
    jobs: [`quay.io/a/b@${D} -> m.io/olm/a/b:sha256-1`, `quay.io/my/index@${D} -> m.io/olm/my/index:latest`],
    wrong: [],
  });
  const preview = `docker://quay.io/a/b@${D}=${cache}/a/b:sha256-1\n`;
  expect((await jobs(preview, 'm.io/olm')).jobs).toEqual([`quay.io/a/b@${D} -> m.io/olm/a/b:sha256-1`]);
});

test('patterns of tags', async () => {
  const names = ['v1', 'v1.2', 'v2', 'latest'];
  expect((await jobs('quay.io/a/b:v1*=m.io/b\n', undefined, names)).jobs).toEqual([
    'quay.io/a/b:v1 -> m.io/b:v1',
    'quay.io/a/b:v1.2 -> m.io/b:v1.2',
  ]);
  expect((await jobs('quay.io/a/b=m.io/b\n', undefined, names)).jobs).toHaveLength(4);
  expect((await jobs('quay.io/a/b:*.*2=m.io/b\n', undefined, names)).jobs).toEqual([
    'quay.io/a/b:v1.2 -> m.io/b:v1.2',
  ]);
  expect((await jobs('quay.io/a/b:x*=m.io/b\n', undefined, names)).wrong).toEqual([
    '1: quay.io/a/b has no tag x*',
  ]);
});

test('equal digests of two repositories on one tag are one image', async () => {
  const { jobs: good, wrong } = await jobs(`quay.io/a/b@${D}=m.io/b:1\nquay.io/a/c@${D}=m.io/b:1\n`);
  expect(good).toEqual([`quay.io/a/b@${D} -> m.io/b:1`]);
  expect(wrong).toEqual([]);
});

test('what cannot be carried out is said of its line, and spoils no other', async () => {
  const text = `quay.io/a/b@${D}=m.io/b:1\nquay.io/a/c:v1=m.io/b:1\nfile://local/x@${D}=m.io/c:1\nnonsense\nquay.io/a/d:v1=m.io/d:1\nquay.io/a/e:v1=m.io\n`;
  const { jobs: good, wrong } = await jobs(text);
  expect(good).toEqual([`quay.io/a/b@${D} -> m.io/b:1`, 'quay.io/a/d:v1 -> m.io/d:1']);
  expect(wrong).toEqual([
    '2: m.io/b:1 is already the destination of line 1: a tag names one image',
    '4: expected SOURCE=DESTINATION',
    '6: m.io is a registry without a repository, expected REGISTRY/REPOSITORY',
    '2: m.io/b:1 is already the destination of another image',
    expect.stringContaining('3: file://local/x@'),
  ]);
});

test('a mirror at a local port is not taken for the registry of oc-mirror', async () => {
  const text =
    'quay.io/a/b:v1=m.io/x:v1\nquay.io/a/b:v1=localhost:5000/x:v1\nlocalhost:5000/x:v1=n.io/x:v1\n';
  expect((await jobs(text)).jobs).toEqual([
    'quay.io/a/b:v1 -> m.io/x:v1',
    'quay.io/a/b:v1 -> localhost:5000/x:v1',
    'localhost:5000/x:v1 -> n.io/x:v1',
  ]);
});

test('two images on one tag are refused, however the registry is spelled', async () => {
  const text =
    'quay.io/a/b:v1=M.io/x:v1\nquay.io/a/c:v1=m.io:443/x:v1\nquay.io/a/b:v1=x/y:v1\nquay.io/a/c:v1=index.docker.io/x/y:v1\n';
  expect((await jobs(text)).wrong).toEqual([
    '2: m.io:443/x:v1 is already the destination of another image',
    '4: index.docker.io/x/y:v1 is already the destination of another image',
  ]);
});
