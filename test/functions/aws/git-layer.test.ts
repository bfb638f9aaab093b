/** git out of a layer, for a server that sends whole repositories only: it is not where it was built to be. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settingsFrom } from '../../../functions/aws/env.ts';
import { portsOf } from '../../../functions/aws/ports.ts';
import { folder } from '../../fakes/folder.ts';
import { gitServer } from '../../fakes/git-server.ts';
import { makeRepository } from '../../fakes/repository.ts';

/** What docs/functions.md#git packs: git, and of its programs those that fetch. */
function layer(): string {
  const root = folder();
  const programs = join(root, 'libexec', 'git-core');
  for (const directory of [join(root, 'bin'), programs]) mkdirSync(directory, { recursive: true });
  const real = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();
  for (const name of ['git-remote-http', 'git-remote-https'])
    symlinkSync(join(real, name), join(programs, name));
  const git = join(root, 'bin', 'git');
  const lines = [
    '#!/bin/sh',
    'case "$LD_LIBRARY_PATH" in */opt/lib) ;; *) echo "git: libpcre2-8.so.0: cannot open" >&2; exit 127;; esac',
    `exec "${real}/git" --exec-path="\${GIT_EXEC_PATH:-${root}/where-it-was-built-for}" "$@"`,
  ];
  writeFileSync(git, `${lines.join('\n')}\n`);
  chmodSync(git, 0o755);
  return root;
}

test('a branch is fetched and read', async () => {
  const repository = makeRepository();
  const commit = repository.commit({ 'README.md': 'words' }, { branch: 'main' });
  const root = layer();
  const url = await gitServer(join(repository.directory, '.git'));
  const settings = settingsFrom({
    PATH: `${join(root, 'bin')}:/usr/bin:/bin`,
    // As the template and Lambda's runtime set them.
    GIT_EXEC_PATH: join(root, 'libexec', 'git-core'),
    LD_LIBRARY_PATH: '/var/lang/lib:/lib64:/opt/lib',
    PORTOLAN_QUEUE: 'queue',
    PORTOLAN_REPORTS: 'queue',
    PORTOLAN_TABLE: 'table',
    PORTOLAN_BUCKET: 'bucket',
    PORTOLAN_PLAIN_HTTP: new URL(url).host,
    PORTOLAN_SOURCES: JSON.stringify([{ repository: 'sea/catalogs', id: 1, branch: 'main', url }]),
    AWS_REGION: 'us-east-1',
  });
  const telemetry = { log: () => {}, count: () => {}, time: () => {}, flush: () => {} };
  const { open } = portsOf(settings, telemetry);
  const branch = await open({ repository: 'sea/catalogs', branch: 'main' });
  expect(branch.tip).toBe(commit);
  expect((await branch.repository.objects.read(commit)).bytes.toString()).toContain('tree ');
  await branch.close();
  repository.remove();
});
