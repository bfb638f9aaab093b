/** The way back as a way forward: a branch with one new commit, once who is stranded is accepted. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type SampleRepository, sampleRepository } from '../../../fakes/sample.ts';
import { portolan, type Ran, runCommand } from '../../../fakes/terminal.ts';

let sample: SampleRepository;
let head: string;
beforeAll(() => {
  sample = sampleRepository();
  head = sample.commit({ 'README.md': 'words' }, { parents: [sample.addition], branch: 'release' });
});
afterAll(() => sample.remove());

function rollback(...words: readonly string[]): Promise<Ran> {
  return portolan(sample.directory, 'rollback', 'v4.20', '--base', 'release', ...words);
}

test('who installed what came since is named, and nothing is proposed', async () => {
  const ran = await rollback('--to', sample.base);
  expect(ran).toMatchObject({ exit: 1, out: '', err: expect.stringContaining('--accept-stranding') });
  expect(ran.err).toContain('harbour-operator.v1.3.0');
  expect(sample.git('branch', '--list', 'portolan/*')).toBe('');
});

test('accepted, it is a commit on top of the branch, with the catalog as it was and everything else as it is', async () => {
  const ran = await rollback('--to', sample.base, '--accept-stranding');
  expect(ran.exit, ran.err).toBe(0);
  const branch = /branch {2}(\S+)/.exec(ran.out)?.[1] ?? '';
  expect(sample.git('rev-parse', `${branch}^`)).toBe(head);
  expect(sample.git('rev-parse', `${branch}:catalogs`)).toBe(
    sample.git('rev-parse', `${sample.base}:catalogs`),
  );
  expect(sample.git('show', `${branch}:README.md`)).toBe('words');
  expect(sample.git('status', '--porcelain', '--untracked-files=no')).not.toContain('README.md');
  // Proposed again, it is the same proposal.
  expect((await rollback('--to', sample.base, '--accept-stranding')).out).toBe(ran.out);
});

test('what cannot be rolled back to', async () => {
  expect(await rollback('--to', sample.addition)).toMatchObject({
    exit: 0,
    out: expect.stringContaining('nothing to do'),
  });
  expect(await rollback('--to', sample.stranding)).toMatchObject({
    exit: 2,
    err: expect.stringContaining('is not in the history'),
  });
  const none = await portolan(sample.directory, 'rollback', 'v9', '--base', 'release', '--to', sample.base);
  expect(none).toMatchObject({ exit: 2, err: expect.stringContaining('has a catalog "v9"') });
});

test.each([
  ['2026-03-01T12:00:00Z', 0],
  ['2026-03-02T00:00:00Z', 1],
])('a waiver until 2026-03-01 lets a rollback pass to the end of that day: %s', async (time, exit) => {
  const own = sampleRepository();
  onTestFinished(own.remove);
  const policy = own.git('show', `${own.base}:.github/portolan.yaml`);
  const rules = ['head-regression', 'upgrade-lost-v1', 'strands-installed-v0', 'strands-installed-v1'];
  const waivers = rules.map(
    (rule) => `{rule: graph/${rule}, package: harbour-operator, until: 2026-03-01, reason: known}`,
  );
  const branch = own.commit(
    { '.github/portolan.yaml': `${policy}\nwaivers: [${waivers.join(', ')}]\n` },
    { parents: [own.addition] },
  );
  const words = ['rollback', 'v4.20', '--base', branch, '--to', own.base];
  const ran = await runCommand(words, { directory: own.directory, now: () => new Date(time) });
  expect(ran.exit, ran.err).toBe(exit);
});
