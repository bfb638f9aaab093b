import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readPolicy } from '../../../../pipeline/policy/read-policy.ts';
import { sampleRepository } from '../../../fakes/sample.ts';
import { portolan } from '../../../fakes/terminal.ts';

test('one admin can keep working with what it writes, and hears what a second one changes', async () => {
  const repository = sampleRepository({ '.github/portolan.yaml': null });
  onTestFinished(repository.remove);
  const commit = repository.git('rev-parse', 'HEAD');
  const { out } = await portolan(repository.directory, 'setup', '--commit', commit, '--admin', 'alice');
  expect(out).toContain(
    'alice is the only admin, and may change the gate alone; once you add a second admin',
  );
  const two = await portolan(repository.directory, 'setup', '--commit', commit, '--admin', 'alice,bob');
  expect(two.out).not.toContain('only admin');
  const policy = ['--policy', '.github/portolan.yaml', '--author', 'alice'];
  for (const path of ['docs/index.md', '.github/workflows/portolan.yml', '.github/dependabot.yml']) {
    const head = repository.commit({ [path]: 'x' }, { parents: [commit] });
    const checked = await portolan(
      repository.directory,
      'check',
      '--base',
      commit,
      '--head',
      head,
      ...policy,
    );
    expect(checked.out, path).toMatch(/^PASS/);
    expect(checked.exit).toBe(0);
  }
});

test('writes a policy that holds, and workflows that name one action by its commit', async () => {
  const repository = sampleRepository({
    '.github/portolan.yaml': null,
    '.github/workflows/portolan-drift.yml': 'on: push\n',
  });
  onTestFinished(repository.remove);
  const commit = repository.git('rev-parse', 'HEAD');
  const pin = `acme/portolan@${'a'.repeat(40)}`;
  const options = ['--commit', commit, '--admin', 'alice,@acme/admins', '--action', pin];
  const { exit, out } = await portolan(repository.directory, 'setup', ...options);
  expect(exit).toBe(0);
  expect(out).toContain('kept .github/workflows/portolan-drift.yml');
  const written = (path: string): string => readFileSync(join(repository.directory, path), 'utf8');
  const { policy, findings } = readPolicy(Buffer.from(written('.github/portolan.yaml')));
  expect(findings).toEqual([]);
  expect(policy?.owners.admins).toMatchObject([{ login: 'alice' }, { team: 'acme/admins' }]);
  expect(written('.github/portolan.yaml')).toMatch(/^# yaml-language-server: \$schema=/);
  expect(written('.github/workflows/portolan.yml')).toContain(`uses: ${pin}\n`);
  expect(existsSync(join(repository.directory, '.github/workflows/portolan-drift.yml'))).toBe(false);
  // Said again before anything is committed, it leaves what it wrote.
  const again = await portolan(repository.directory, 'setup', '--commit', commit, '--admin', 'mallory');
  expect([again.exit, again.out]).toEqual([0, expect.stringContaining('kept .github/portolan.yaml')]);
  expect(written('.github/portolan.yaml')).not.toContain('mallory');
});
