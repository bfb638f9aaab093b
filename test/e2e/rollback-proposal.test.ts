/** The way back as a pull request: on the newest tip, once, and with who is stranded in its text. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { authorizationHeader } from '../../pipeline/git/process.ts';
import { openRemote } from '../../pipeline/git/remote.ts';
import { type ProposedRollback, proposeRollback } from '../../pipeline/github/proposals/rollback.ts';
import { unpaced } from '../fakes/github/client.ts';
import { type FakeForge, startForge, TOKEN } from '../fakes/github/forge.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';
import { runCommand } from '../fakes/terminal.ts';

let sample: SampleRepository;
let forge: FakeForge;
beforeEach(async () => {
  sample = sampleRepository();
  forge = await startForge(sample, []);
  move({ 'README.md': 'words' }, sample.addition);
});
afterEach(async () => {
  await forge.close();
  sample.remove();
  expect(forge.defects).toEqual([]);
});

function move(files: Readonly<Record<string, string>>, parent = 'main'): string {
  return sample.commit(files, { parents: [parent], branch: 'main' });
}

async function back(to: string, acceptStranding: boolean): Promise<ProposedRollback> {
  const url = `${forge.url}/example/catalogs.git`;
  const repository = openRemote(
    { url, header: authorizationHeader(TOKEN) },
    { searchPath: process.env['PATH'] },
  );
  const ports = { github: unpaced(forge), name: { owner: 'example', repo: 'catalogs' }, repository };
  const now = new Date('2026-01-01T00:00:00Z');
  try {
    return await proposeRollback(ports, { catalog: 'v4.20', to, base: 'main', acceptStranding, now });
  } finally {
    await repository.close();
  }
}

const BRANCH = 'portolan/rollback/v4.20';

test('who would be stranded must be accepted; then it is one pull request that names them', async () => {
  expect(await back(sample.base, false)).toMatchObject({
    restored: { kind: 'refused', stranding: true },
    proposed: { kind: 'left' },
  });
  expect(forge.pulls.size).toBe(0);
  const { restored, proposed } = await back(sample.base.slice(0, 10), true);
  expect([restored.kind, proposed.kind]).toEqual(['restored', 'opened']);
  expect(sample.git('rev-parse', `${BRANCH}:catalogs`)).toBe(
    sample.git('rev-parse', `${sample.base}:catalogs`),
  );
  expect(sample.git('show', `${BRANCH}:README.md`)).toBe('words');
  const [pull] = forge.pulls.values();
  expect(pull?.title).toBe(`Roll v4.20 back to ${sample.base.slice(0, 12)}`);
  expect(pull?.body).toContain('harbour\\-operator.v1.3.0');
  expect((await back(sample.base, true)).proposed).toMatchObject({ kind: 'standing', number: 7 });
  // What came meanwhile outside of the catalog stays; what came in it goes too.
  move({ 'README.md': 'other words' });
  expect((await back(sample.base, true)).proposed.kind).toBe('standing');
  move({ 'catalogs/v4.20/ferry-operator/README.md': 'in the catalog' });
  expect((await back(sample.base, true)).proposed).toMatchObject({ kind: 'updated', number: 7 });
  expect(sample.git('diff', '--name-only', `main...${BRANCH}`).split('\n')).toEqual([
    'catalogs/v4.20/ferry-operator/README.md',
    'catalogs/v4.20/harbour-operator/catalog.yaml',
  ]);
  // Refused, it leaves what stands; with nothing to go back to, it is closed.
  expect((await back(sample.base, false)).proposed.kind).toBe('left');
  await expect(back('main', true)).rejects.toMatchObject({ code: 'not-found' });
  expect((await back(sample.git('rev-parse', 'main'), true)).proposed).toMatchObject({ kind: 'closed' });
});

test('the command asks the repository that it names, and says why it cannot', async () => {
  const environment = { PATH: process.env['PATH'], GITHUB_API_URL: forge.url, GITHUB_SERVER_URL: forge.url };
  const words = ['rollback', 'v4.20', '--to', sample.base, '--repo', 'example/catalogs'];
  expect(await runCommand(words, { environment })).toMatchObject({
    exit: 2,
    err: expect.stringContaining('set GITHUB_TOKEN'),
  });
  const ran = await runCommand(words, { environment: { ...environment, GITHUB_TOKEN: TOKEN } });
  expect(ran).toMatchObject({ exit: 1, out: '', err: expect.stringContaining('--accept-stranding') });
  expect(ran.err).toContain('harbour-operator.v1.3.0');
  expect(ran.err).not.toContain(TOKEN);
});
